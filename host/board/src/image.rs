//! Image files: what a build writes for a board's flash, read and judged.
//!
//! ```text
//!   NAME.zimg ──► Image { header, data }   length, keys, values, hash: each wrong one is an error
//!   NAME.bit ───► BitFile { part, data }   what Vivado writes; it has no header of ours
//!   data ───────► idcode                   the device that the configuration data are for
//! ```
//! Nothing here knows boards: whether an image is for the board at hand is its user's to compare.
//!
//! Source: [`abi::image`]; UG570 (configuration data).

mod bit;
mod data;
mod header;

use std::path::{Path, PathBuf};

use abi::image::HEADER_BYTES;
use sha2::{Digest, Sha256};
use thiserror::Error;

pub use bit::{BitError, BitFile};
pub use data::{idcode, same_device, sync_offset_bytes, IDCODE_REVISION};
pub use header::{Header, HeaderError};

/// Most bytes of an image file: more than the largest device takes (XCU250: 81 MB), and the largest
/// flash of a board.
pub const IMAGE_BYTES_MAX: u64 = 256 << 20;

/// Why an image file cannot be used.
#[derive(Debug, Error)]
pub enum ImageError {
    /// The file cannot be read.
    #[error("{}: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: std::io::Error,
    },
    /// The file is larger than any flash.
    #[error("{bytes} bytes, more than the {IMAGE_BYTES_MAX} of any flash")]
    Large {
        /// Its size, bytes.
        bytes: u64,
    },
    /// The header is not that of an image.
    #[error(transparent)]
    Header(#[from] HeaderError),
    /// A file of Vivado, without a header of ours.
    #[error(
        "a .bit file of Vivado for {part}, without a header; the image is the .zimg beside it"
    )]
    NoHeader {
        /// The part that it names.
        part: String,
    },
    /// Data are missing at the end.
    #[error("short: {found} of {expected} bytes of data")]
    Short {
        /// What the header says, bytes.
        expected: u64,
        /// What there is, bytes.
        found: u64,
    },
    /// There is more than the header says.
    #[error("{found} bytes of data, the header says {expected}")]
    Long {
        /// What the header says, bytes.
        expected: u64,
        /// What there is, bytes.
        found: u64,
    },
    /// The data are not those that were written.
    #[error("damaged: SHA-256 of the data is {found}, the header says {expected}")]
    Damaged {
        /// What the header says.
        expected: String,
        /// That of the data.
        found: String,
    },
    /// The data are no configuration of a device.
    #[error("no sync word in the first {searched} bytes of the data")]
    NoSync {
        /// Where it was looked for, bytes.
        searched: usize,
    },
}

/// An image: what is known of it, and what goes into the flash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// What the file says of it. Its size and hash are those of the data.
    pub header: Header,
    /// Configuration data.
    pub data: Vec<u8>,
}

impl Image {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<Self, ImageError> {
        let failed = |error| ImageError::File { path: path.to_path_buf(), error };
        let bytes = std::fs::metadata(path).map_err(failed)?.len();
        if bytes > IMAGE_BYTES_MAX {
            return Err(ImageError::Large { bytes });
        }
        Self::parse(&std::fs::read(path).map_err(failed)?)
    }

    /// Reads the bytes of a file.
    pub fn parse(file: &[u8]) -> Result<Self, ImageError> {
        if let Ok(bit) = BitFile::parse(file) {
            return Err(ImageError::NoHeader { part: bit.part });
        }
        let header = Header::parse(file)?;
        let data = &file[HEADER_BYTES..];
        let (expected, found) = (header.bytes, data.len() as u64);
        if found < expected {
            return Err(ImageError::Short { expected, found });
        }
        if found > expected {
            return Err(ImageError::Long { expected, found });
        }
        let hash = sha256(data);
        if hash != header.sha256 {
            return Err(ImageError::Damaged { expected: header.sha256, found: hash });
        }
        if sync_offset_bytes(data).is_none() {
            return Err(ImageError::NoSync { searched: data.len().min(data::SYNC_WITHIN_BYTES) });
        }
        Ok(Self { header, data: data.to_vec() })
    }

    /// An image of data; size and hash of the header become theirs.
    pub fn new(mut header: Header, data: Vec<u8>) -> Self {
        header.bytes = data.len() as u64;
        header.sha256 = sha256(&data);
        Self { header, data }
    }

    /// The bytes of its file.
    pub fn file(&self) -> Result<Vec<u8>, HeaderError> {
        let mut bytes = self.header.text()?;
        bytes.extend(&self.data);
        Ok(bytes)
    }
}

/// SHA-256 as 64 hexadecimal digits.
pub fn sha256(data: &[u8]) -> String {
    let digest = Sha256::digest(data);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests;
