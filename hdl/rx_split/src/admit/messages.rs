//! Messages between the parts of `admit`: what is kept and known of an owner's rings.

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

/// Free space in an owner's rings.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct OwnerSpace {
    /// The owner is enabled.
    pub enabled: Bit,
    /// One slot of the header queue is free.
    pub one_slot: Bit,
    /// Two slots of the header queue are free.
    pub two_slots: Bit,
    /// A slow buffer is free.
    pub slow: Bit,
    /// Slots produced so far.
    pub header_producer: Bits<32>,
    /// Slow buffers handed out so far.
    pub slow_producer: Bits<32>,
}

/// New producer indices.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct OwnerUpdate {
    /// Owner of the indices.
    pub owner: Bits<8>,
    /// Slots produced so far.
    pub header_producer: Bits<32>,
    /// Slow buffers handed out so far.
    pub slow_producer: Bits<32>,
}
