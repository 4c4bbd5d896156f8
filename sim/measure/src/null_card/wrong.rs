//! What a null card may find wrong.

use thiserror::Error;

/// Something that the host must not do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Wrong {
    /// A command that the tables refuse, a floor that moves back among them.
    #[error("command {opcode} refused: {status}")]
    Command {
        /// Opcode.
        opcode: u8,
        /// Name of the status.
        status: &'static str,
    },
    /// A field of a descriptor or its header.
    #[error("{what} is {found:#x} instead of {expected:#x}")]
    Field {
        /// Name of the field.
        what: &'static str,
        /// Its value.
        found: u64,
        /// The right one.
        expected: u64,
    },
    /// A header that is not TCP, or that of no peer.
    #[error("a header of {bytes} bytes is that of no peer")]
    Header {
        /// Length of the header.
        bytes: usize,
    },
    /// Payload that no segment of the send list holds.
    #[error("{bytes} bytes at {position:#x} are not posted from list index {index} on")]
    Range {
        /// Position of the first byte.
        position: u32,
        /// Length.
        bytes: u32,
        /// List index in the descriptor.
        index: u16,
    },
    /// A number outside its limits.
    #[error("{what} {number:#x} is not from {from:#x} to {to:#x}")]
    Outside {
        /// What the number is.
        what: &'static str,
        /// The number.
        number: u32,
        /// Least.
        from: u32,
        /// Greatest.
        to: u32,
    },
}

/// `number` must be in a range of positions, both ends included.
pub(super) fn within(what: &'static str, number: u32, from: u32, to: u32) -> Result<(), Wrong> {
    match number.wrapping_sub(from) <= to.wrapping_sub(from) {
        true => Ok(()),
        false => Err(Wrong::Outside { what, number, from, to }),
    }
}

/// A field must have this value.
pub(super) fn equal(
    what: &'static str,
    found: impl Into<u64>,
    expected: impl Into<u64>,
) -> Result<(), Wrong> {
    let (found, expected) = (found.into(), expected.into());
    match found == expected {
        true => Ok(()),
        false => Err(Wrong::Field { what, found, expected }),
    }
}
