//! Messages between the parts of `hold`.

use stream::prelude::*;

/// A slot or a confirmation that waits for flush reads, or in order after one that does.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct HeldItem {
    /// The item is a confirmation; otherwise a slot.
    pub confirms: Bit,
    /// Owner of the entry, or of the command confirmed.
    pub owner: Bits<8>,
    /// Producer index after the entry, or index of the command confirmed.
    pub index: Bits<32>,
    /// Status of the command confirmed.
    pub status: StatusCode,
    /// Bus address of the slot.
    pub address: Bits<64>,
    /// Bytes of the slot that are written, 1 to 128.
    pub bytes: Bits<8>,
    /// The slot publishes its entry.
    pub publish: Bit,
    /// Memories that are to be flushed before the item leaves, one bit each.
    pub memories: Bits<4>,
}

/// The oldest item of a queue.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct HeldHead {
    /// The oldest item.
    pub item: HeldItem,
    /// Place of the item in the hold memory.
    pub at: Bits<8>,
    /// The item waits no longer: it may leave.
    pub ready: Bit,
    /// A flush read that the item waited for failed.
    pub unflushed: Bit,
}

/// A confirmation that waits for everything held before it.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct HeldFence {
    /// Owner of the command.
    pub owner: Bits<8>,
    /// Index of the command.
    pub index: Bits<32>,
    /// Status of the command.
    pub status: StatusCode,
    /// Items that queue 1 had been given when the fence was pushed.
    pub pushed_1: Bits<32>,
    /// Items that queue 2 had been given when the fence was pushed.
    pub pushed_2: Bits<32>,
    /// Items that queue 3 had been given when the fence was pushed.
    pub pushed_3: Bits<32>,
}
