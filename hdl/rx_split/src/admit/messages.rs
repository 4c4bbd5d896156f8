//! What `admit` keeps and learns about the rings of an owner.

use stream::prelude::*;

/// Where an owner's rings lie.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct OwnerContext {
    /// Bus address of the header queue.
    pub header_base: Bits<64>,
    /// Bus address of the slow buffers.
    pub slow_base: Bits<64>,
    /// log2 slots of the header queue.
    pub header_bits: Bits<4>,
    /// log2 slow buffers.
    pub slow_bits: Bits<4>,
}

/// What can be had of an owner's rings.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct OwnerRoom {
    /// The owner is enabled.
    pub enabled: Bit,
    /// A slot is free.
    pub one_slot: Bit,
    /// Two slots are free.
    pub two_slots: Bit,
    /// A slow buffer is free.
    pub slow: Bit,
    /// Slots produced.
    pub header_producer: Bits<32>,
    /// Slow buffers handed out.
    pub slow_producer: Bits<32>,
}

/// New producer indices.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct OwnerUpdate {
    /// Whose.
    pub owner: Bits<8>,
    /// Slots produced.
    pub header_producer: Bits<32>,
    /// Slow buffers handed out.
    pub slow_producer: Bits<32>,
}
