//! The first message each way: version and capabilities.
//!
//! ```text
//!   0       2       4
//!   │ major │ minor │ {"capabilities":{"max_msg_fds":16, ...}} 0
//! ```
//! Invariants
//! 1. What a peer does not say has the value that the specification gives it.
//! 2. A capability of a wrong type is an error; an unknown one is not.
//!
//! Source: vfio-user protocol specification, VFIO_USER_VERSION.

use serde_json::{json, Map, Value};

use super::bytes::{Reader, Writer};
use super::error::CodecError;
use super::sizes::TRANSFER_BYTES;

/// The major version spoken here.
pub const MAJOR: u16 = 0;
/// The newest minor version spoken here.
pub const MINOR: u16 = 1;
/// Descriptors that are taken with one message here.
pub const DESCRIPTORS: usize = 16;
/// Ranges of memory that a server keeps at once: as many as there are by default.
pub const MAPS: u64 = 65_535;
/// The page sizes of DMA that are supported by default: whole pages of 4 KiB.
pub const PAGE_SIZES: u64 = 4096;

/// What a side can take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Descriptors with one message.
    pub descriptors: u64,
    /// Bytes of a region or of memory in one message.
    pub transfer_bytes: u64,
    /// Ranges of memory mapped at once.
    pub maps: u64,
    /// Page sizes of DMA, a bit each.
    pub page_sizes: u64,
    /// Several register writes may come in one message.
    pub writes_many: bool,
}

impl Default for Capabilities {
    /// Those of a peer that says nothing.
    fn default() -> Self {
        Self {
            descriptors: 1,
            transfer_bytes: TRANSFER_BYTES,
            maps: MAPS,
            page_sizes: PAGE_SIZES,
            writes_many: false,
        }
    }
}

impl Capabilities {
    /// Those of this crate.
    pub fn own() -> Self {
        Self { descriptors: DESCRIPTORS as u64, writes_many: true, ..Self::default() }
    }

    fn decode(text: &[u8]) -> Result<Self, CodecError> {
        let wrong = |text: &str| CodecError::Capabilities(text.to_owned());
        let text = text.strip_suffix(&[0]).ok_or_else(|| wrong("the text does not end with 0"))?;
        let all: Value = serde_json::from_slice(text).map_err(|error| wrong(&error.to_string()))?;
        let all = all.as_object().ok_or_else(|| wrong("no object"))?;
        let Some(list) = all.get("capabilities") else { return Ok(Self::default()) };
        let list = list.as_object().ok_or_else(|| wrong("capabilities are no object"))?;
        let default = Self::default();
        let writes_many = match list.get("write_multiple") {
            None => default.writes_many,
            Some(value) => value.as_bool().ok_or_else(|| wrong("write_multiple is no boolean"))?,
        };
        Ok(Self {
            descriptors: number(list, "max_msg_fds", default.descriptors)?,
            transfer_bytes: number(list, "max_data_xfer_size", default.transfer_bytes)?,
            maps: number(list, "max_dma_maps", default.maps)?,
            page_sizes: number(list, "pgsizes", default.page_sizes)?,
            writes_many,
        })
    }

    fn encode(&self) -> Vec<u8> {
        let mut list = json!({
            "max_msg_fds": self.descriptors,
            "max_data_xfer_size": self.transfer_bytes,
            "max_dma_maps": self.maps,
            "pgsizes": self.page_sizes,
        });
        if self.writes_many {
            list["write_multiple"] = true.into();
        }
        let mut text = json!({ "capabilities": list }).to_string().into_bytes();
        text.push(0);
        text
    }
}

fn number(list: &Map<String, Value>, name: &str, default: u64) -> Result<u64, CodecError> {
    let Some(value) = list.get(name) else { return Ok(default) };
    let number = value.as_u64();
    number.ok_or_else(|| CodecError::Capabilities(format!("{name} is {value}, no number from 0")))
}

/// Version and capabilities of one side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version {
    /// The same on both sides.
    pub major: u16,
    /// The server's is the smaller of both.
    pub minor: u16,
    /// What the sender can take.
    pub capabilities: Capabilities,
}

impl Version {
    /// That of this crate.
    pub fn own() -> Self {
        Self { major: MAJOR, minor: MINOR, capabilities: Capabilities::own() }
    }

    /// Takes the payload of a command or of its reply apart.
    pub fn decode(payload: &[u8]) -> Result<Self, CodecError> {
        let mut fields = Reader::new(payload);
        let (major, minor) = (fields.u16()?, fields.u16()?);
        let text = fields.rest();
        let capabilities = match text {
            [] => Capabilities::default(),
            text => Capabilities::decode(text)?,
        };
        Ok(Self { major, minor, capabilities })
    }

    /// The payload.
    pub fn encode(&self) -> Vec<u8> {
        Writer::default().u16(self.major).u16(self.minor).bytes(&self.capabilities.encode()).0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn capabilities(text: &str) -> Result<Capabilities, CodecError> {
        let mut payload = vec![0, 0, 1, 0];
        payload.extend(text.as_bytes());
        Version::decode(&payload).map(|version| version.capabilities)
    }

    #[test]
    fn version_reads_back_as_sent() {
        let version = Version::own();
        assert_eq!(Version::decode(&version.encode()), Ok(version));
        assert_eq!(version.encode()[..4], [0, 0, 1, 0]);
    }

    #[test]
    fn silent_peer_has_the_defaults() {
        for text in ["", "{}\0", "{\"capabilities\":{}}\0", "{\"capabilities\":{\"x\":[]}}\0"] {
            assert_eq!(capabilities(text), Ok(Capabilities::default()), "{text}");
        }
    }

    #[test]
    fn what_a_peer_says_is_taken() {
        let text = "{\"capabilities\":{\"max_msg_fds\":8,\"max_data_xfer_size\":1024,\
                    \"max_dma_maps\":3,\"pgsizes\":2097152,\"write_multiple\":true}}\0";
        let expected = Capabilities {
            descriptors: 8,
            transfer_bytes: 1024,
            maps: 3,
            page_sizes: 2 << 20,
            writes_many: true,
        };
        assert_eq!(capabilities(text), Ok(expected));
    }

    #[test]
    fn wrong_text_is_an_error() {
        for text in [
            "{}",
            "\0",
            "[]\0",
            "{\0",
            "{\"capabilities\":1}\0",
            "{\"capabilities\":{\"max_msg_fds\":-1}}\0",
            "{\"capabilities\":{\"max_msg_fds\":\"8\"}}\0",
            "{\"capabilities\":{\"write_multiple\":1}}\0",
            "{}\0\0",
        ] {
            let result = capabilities(text);
            assert!(matches!(result, Err(CodecError::Capabilities(_))), "{text}: {result:?}");
        }
    }

    #[test]
    fn deeply_nested_text_does_not_overflow() {
        let text = format!("{}\0", "[".repeat(1 << 20));
        assert!(capabilities(&text).is_err());
    }

    #[test]
    fn half_a_version_is_an_error() {
        let short = CodecError::TooShort { bytes: 3, needed: 4 };
        assert_eq!(Version::decode(&[0, 0, 1]), Err(short));
    }
}
