//! The 16 bytes in front of every message.
//!
//! ```text
//!   0      2         4            8          12         16
//!   │ id   │ command │ size, all  │ flags    │ error    │ payload ...
//!                                   3:0 type, 4 no reply, 5 error
//! ```
//! Invariants
//! 1. A decoded header has a size that holds it and that [`MESSAGE_BYTES_MAX`] allows.
//!
//! Source: vfio-user protocol specification (QEMU, `docs/interop/vfio-user.rst`), Header.

use rustix::io::Errno;

use super::bytes::Reader;
use super::error::CodecError;
use super::sizes::{HEADER_BYTES, MESSAGE_BYTES_MAX};

const KIND_MASK: u32 = 0xf;
const KIND_COMMAND: u32 = 0;
const KIND_REPLY: u32 = 1;
const NO_REPLY: u32 = 1 << 4;
const ERROR: u32 = 1 << 5;
const ERRNO_MAX: u32 = 4095;

/// What a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An order.
    Command {
        /// The sender wants no reply.
        no_reply: bool,
    },
    /// The answer to the command of the same id.
    Reply {
        /// Why it was not carried out.
        error: Option<Errno>,
    },
}

/// A header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Chosen by the sender of the command, repeated in its reply.
    pub id: u16,
    /// Number of the command; see [`super::request::Command`].
    pub command: u16,
    /// What the message is.
    pub kind: Kind,
    /// Bytes behind the header.
    pub payload_bytes: usize,
}

impl Header {
    /// Takes a header apart.
    pub fn decode(bytes: &[u8; HEADER_BYTES]) -> Result<Self, CodecError> {
        let mut fields = Reader::new(bytes);
        let (id, command, size) = (fields.u16()?, fields.u16()?, fields.u32()?);
        let (flags, error) = (fields.u32()?, fields.u32()?);
        let payload_bytes =
            (size as usize).checked_sub(HEADER_BYTES).ok_or(CodecError::BelowHeader(size))?;
        if size as usize > MESSAGE_BYTES_MAX {
            return Err(CodecError::AboveLimit(size));
        }
        let kind = match flags & KIND_MASK {
            KIND_COMMAND => Kind::Command { no_reply: flags & NO_REPLY != 0 },
            KIND_REPLY => {
                let failed = flags & ERROR != 0;
                Kind::Reply { error: failed.then(|| errno(error)) }
            }
            other => return Err(CodecError::Kind(other)),
        };
        Ok(Self { id, command, kind, payload_bytes })
    }

    /// The bytes of the header.
    pub fn encode(&self) -> [u8; HEADER_BYTES] {
        let (flags, error) = match self.kind {
            Kind::Command { no_reply: false } => (KIND_COMMAND, 0),
            Kind::Command { no_reply: true } => (KIND_COMMAND | NO_REPLY, 0),
            Kind::Reply { error: None } => (KIND_REPLY, 0),
            Kind::Reply { error: Some(error) } => {
                (KIND_REPLY | ERROR, error.raw_os_error().unsigned_abs())
            }
        };
        let size = (HEADER_BYTES + self.payload_bytes) as u32;
        let mut bytes = [0; HEADER_BYTES];
        bytes[..2].copy_from_slice(&self.id.to_ne_bytes());
        bytes[2..4].copy_from_slice(&self.command.to_ne_bytes());
        bytes[4..8].copy_from_slice(&size.to_ne_bytes());
        bytes[8..12].copy_from_slice(&flags.to_ne_bytes());
        bytes[12..].copy_from_slice(&error.to_ne_bytes());
        bytes
    }
}

/// The number of a reply, which its sender may leave out or get wrong.
fn errno(number: u32) -> Errno {
    match number {
        1..=ERRNO_MAX => Errno::from_raw_os_error(number as i32),
        _ => Errno::PROTO,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Command 9, id 0x1234, 40 bytes; as the table of the specification lays it out.
    const READ: [u8; 16] = [0x34, 0x12, 9, 0, 40, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];

    #[test]
    fn header_follows_specification_layout() {
        let header = Header::decode(&READ).unwrap();
        let kind = Kind::Command { no_reply: false };
        assert_eq!(header, Header { id: 0x1234, command: 9, kind, payload_bytes: 24 });
        assert_eq!(header.encode(), READ);
    }

    #[test]
    fn reply_carries_its_error_number() {
        let kind = Kind::Reply { error: Some(Errno::BUSY) };
        let bytes = Header { id: 7, command: 1, kind, payload_bytes: 0 }.encode();
        assert_eq!(bytes, [7, 0, 1, 0, 16, 0, 0, 0, 0x21, 0, 0, 0, 16, 0, 0, 0]);
    }

    #[test]
    fn size_must_hold_header_within_limit() {
        let mut bytes = READ;
        for (size, expected) in [
            (0, Err(CodecError::BelowHeader(0))),
            (15, Err(CodecError::BelowHeader(15))),
            (16, Ok(0)),
            (MESSAGE_BYTES_MAX as u32, Ok(MESSAGE_BYTES_MAX - 16)),
            (MESSAGE_BYTES_MAX as u32 + 1, Err(CodecError::AboveLimit(0x10_1011))),
            (u32::MAX, Err(CodecError::AboveLimit(u32::MAX))),
        ] {
            bytes[4..8].copy_from_slice(&size.to_ne_bytes());
            assert_eq!(Header::decode(&bytes).map(|header| header.payload_bytes), expected);
        }
    }

    #[test]
    fn unknown_error_numbers_cause_no_panic() {
        for number in [0, 4096, 0x8000_0000, u32::MAX] {
            assert_eq!(errno(number), Errno::PROTO, "{number}");
        }
        assert_eq!(errno(16), Errno::BUSY);
    }

    #[test]
    fn unknown_type_is_refused() {
        let mut bytes = READ;
        bytes[8] = 2;
        assert_eq!(Header::decode(&bytes), Err(CodecError::Kind(2)));
    }
}
