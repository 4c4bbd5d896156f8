//! The messages between the stages of this crate.

use stream::prelude::*;

/// An access to the window.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct WindowAccess {
    /// Write, else read.
    pub write: Bit,
    /// Byte offset in BAR 0, of one dword.
    pub address: Bits<20>,
    /// Data of a write.
    pub data: Bits<32>,
    /// Descriptor of the request, for the reply to a read.
    pub descriptor: Bits<128>,
    /// Byte enables of the request.
    pub first_be: Bits<4>,
}
