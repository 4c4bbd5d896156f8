//! Sizes of the protocol, in bytes.

/// The header in front of every message.
pub const HEADER_BYTES: usize = 16;
/// What one message carries for a region or for memory, where its receiver has said nothing else.
pub const TRANSFER_BYTES: u64 = 1 << 20;
/// The longest message that is read at all: a transfer, the fields before it, and as much again as
/// a capability text may take.
pub const MESSAGE_BYTES_MAX: usize = HEADER_BYTES + TRANSFER_BYTES as usize + 4096;
