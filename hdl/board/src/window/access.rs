//! What the blocks of the board window are asked, and what they answer.
//!
//! ```text
//!   WindowAccess (one pulse) ──► block ──► WindowReply (one pulse, later)
//! ```
//! Invariants:
//! 1. A block gives exactly one reply for each access, and gets no access before it.

use stream::prelude::*;

/// Access of one word.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct WindowAccess {
    /// The access writes; otherwise it reads.
    pub write: Bit,
    /// Offset of the word in BAR 0, bytes.
    pub address: Bits<20>,
    /// Word to write.
    pub data: Bits<32>,
}

/// End of an access.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct WindowReply {
    /// Word read.
    pub data: Bits<32>,
    /// Response of AXI4-Lite: [`OKAY`], [`SLAVE_ERROR`] or [`DECODE_ERROR`].
    pub response: Bits<2>,
}

/// The access was done.
pub const OKAY: u64 = 0;
/// The block refuses the access, or does not answer.
pub const SLAVE_ERROR: u64 = 2;
/// There is no block.
pub const DECODE_ERROR: u64 = 3;
