//! What a message may have wrong, with the number that was wrong, and its error number.

use rustix::io::Errno;
use thiserror::Error;

use super::sizes::{HEADER_BYTES, MESSAGE_BYTES_MAX};

/// A message that breaks the protocol.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum CodecError {
    /// The size in a header leaves no room for the header itself.
    #[error("a message of {0} bytes, less than its header of {HEADER_BYTES}")]
    BelowHeader(u32),
    /// The size in a header is more than anybody may send.
    #[error("a message of {0} bytes, limit {MESSAGE_BYTES_MAX}")]
    AboveLimit(u32),
    /// Neither command nor reply.
    #[error("a message of type {0}, neither command (0) nor reply (1)")]
    Kind(u32),
    /// A command number that the protocol does not have, or that nobody here handles.
    #[error("command {0} is not supported")]
    Command(u16),
    /// A payload that ends inside a field.
    #[error("a payload of {bytes} bytes, {needed} needed")]
    TooShort {
        /// Its length.
        bytes: usize,
        /// What its fields need, as far as they were read.
        needed: usize,
    },
    /// A payload that goes on behind its last field.
    #[error("a payload of {bytes} bytes, {needed} expected")]
    TooLong {
        /// Its length.
        bytes: usize,
        /// What its fields are.
        needed: usize,
    },
    /// The sender says less room for the reply, or less of a structure, than the fixed part has.
    #[error("argsz {argsz}, at least {needed} needed")]
    Argsz {
        /// What the sender says.
        argsz: u32,
        /// The fixed part.
        needed: u32,
    },
    /// Flags that the command does not have, or that exclude each other.
    #[error("flags {0:#x} are not allowed here")]
    Flags(u32),
    /// More data in one message than was agreed upon.
    #[error("a transfer of {count} bytes, limit {limit}")]
    Count {
        /// Bytes.
        count: u64,
        /// Agreed limit.
        limit: u64,
    },
    /// A range whose end is beyond the largest address.
    #[error("{bytes:#x} bytes at {address:#x} go beyond the last address")]
    Range {
        /// First byte.
        address: u64,
        /// Length.
        bytes: u64,
    },
    /// The text behind the version is no JSON, does not end with 0, or has a wrong type.
    #[error("capabilities: {0}")]
    Capabilities(String),
    /// A capability of a region at an offset outside the reply, or in a circle.
    #[error("a region capability at offset {0} of the reply")]
    CapabilityOffset(u32),
}

impl CodecError {
    /// The number that the reply carries.
    pub fn errno(&self) -> Errno {
        match self {
            Self::Command(_) => Errno::OPNOTSUPP,
            Self::Count { .. } | Self::AboveLimit(_) => Errno::MSGSIZE,
            _ => Errno::INVAL,
        }
    }
}
