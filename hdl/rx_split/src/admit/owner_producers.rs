//! The owners' producer indices, shown for two owners at a time.
//!
//! Timing: outputs follow their owners in the same cycle; an update shows in the next cycle.
//!
//! Invariants:
//! 1. Indices that were not written since their owner was enabled count as 0.

use crate::admit::messages::OwnerUpdate;
use stream::prelude::*;

/// Producer indices of an owner.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct Producers {
    /// Slots produced so far.
    pub header: Bits<32>,
    /// Slow buffers handed out so far.
    pub slow: Bits<32>,
}

/// The indices. See the module's head.
#[derive(LogicBlock, Default)]
pub struct OwnerProducers<const OWNER_BITS: usize> {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,

    /// New producer indices of an owner.
    pub update: PulseSink<OwnerUpdate>,
    /// Owner whose indices are shown.
    pub owner: Signal<In, Bits<OWNER_BITS>>,
    /// The indices of `owner` were written since it was enabled.
    pub is_written: Signal<In, Bit>,
    /// Indices of `owner`; 0 unless `is_written`.
    pub producers: Signal<Out, Producers>,
    /// Indices of `owner` as they are stored, written or not.
    pub stored: Signal<Out, Producers>,
    /// Second owner whose indices are shown.
    pub other_owner: Signal<In, Bits<OWNER_BITS>>,
    /// The indices of `other_owner` were written since it was enabled.
    pub other_written: Signal<In, Bit>,
    /// Indices of `other_owner`; 0 unless `other_written`.
    pub other: Signal<Out, Producers>,

    /// Header and slow, then both again for the other owner.
    indices: [LutRam<Bits<32>, OWNER_BITS>; 4],
}

impl<const OWNER_BITS: usize> Logic for OwnerProducers<OWNER_BITS> {
    #[hdl_gen]
    fn update(&mut self) {
        for i in 0..4 {
            self.indices[i].clock.next = self.clock.val();
            self.indices[i].read_address.next = self.owner.val();
            self.indices[i].write_address.next =
                bit_cast::<OWNER_BITS, 8>(self.update.payload.val().owner);
            self.indices[i].write_data.next = self.update.payload.val().header_producer;
            self.indices[i].write_enable.next = self.update.valid.val();
        }
        self.indices[1].write_data.next = self.update.payload.val().slow_producer;
        self.indices[3].write_data.next = self.update.payload.val().slow_producer;
        self.indices[2].read_address.next = self.other_owner.val();
        self.indices[3].read_address.next = self.other_owner.val();

        self.stored.next.header = self.indices[0].read_data.val();
        self.stored.next.slow = self.indices[1].read_data.val();
        self.producers.next.header = 0.into();
        self.producers.next.slow = 0.into();
        if self.is_written.val() {
            self.producers.next.header = self.indices[0].read_data.val();
            self.producers.next.slow = self.indices[1].read_data.val();
        }
        self.other.next.header = 0.into();
        self.other.next.slow = 0.into();
        if self.other_written.val() {
            self.other.next.header = self.indices[2].read_data.val();
            self.other.next.slow = self.indices[3].read_data.val();
        }
    }
}
