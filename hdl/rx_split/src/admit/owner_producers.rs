//! The owners' producer indices, shown for two owners at a time.
//!
//! Timing: `room` and `other` follow their owners in the same cycle; an update shows in the next.
//!
//! Invariants:
//! 1. Indices that were not written since their owner was enabled count as 0.

use crate::admit::messages::OwnerUpdate;
use stream::prelude::*;

/// Producer indices of an owner.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct Producers {
    /// Slots produced.
    pub header: Bits<32>,
    /// Slow buffers handed out.
    pub slow: Bits<32>,
}

/// The indices. See the module's head.
#[derive(LogicBlock, Default)]
pub struct OwnerProducers<const B: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,

    /// New indices.
    pub update: PulseSink<OwnerUpdate>,
    /// Whose to show.
    pub room_owner: Signal<In, Bits<B>>,
    /// They were written.
    pub room_written: Signal<In, Bit>,
    /// They.
    pub room: Signal<Out, Producers>,
    /// What is stored there, written or not.
    pub stored: Signal<Out, Producers>,
    /// Whose to show beside them.
    pub other_owner: Signal<In, Bits<B>>,
    /// They were written.
    pub other_written: Signal<In, Bit>,
    /// They.
    pub other: Signal<Out, Producers>,

    /// Header and slow, then both again for the other owner.
    indices: [LutRam<Bits<32>, B>; 4],
}

impl<const B: usize> Logic for OwnerProducers<B> {
    #[hdl_gen]
    fn update(&mut self) {
        for i in 0..4 {
            self.indices[i].clock.next = self.clock.val();
            self.indices[i].read_address.next = self.room_owner.val();
            self.indices[i].write_address.next = bit_cast::<B, 8>(self.update.payload.val().owner);
            self.indices[i].write_data.next = self.update.payload.val().header_producer;
            self.indices[i].write_enable.next = self.update.valid.val();
        }
        self.indices[1].write_data.next = self.update.payload.val().slow_producer;
        self.indices[3].write_data.next = self.update.payload.val().slow_producer;
        self.indices[2].read_address.next = self.other_owner.val();
        self.indices[3].read_address.next = self.other_owner.val();

        self.stored.next.header = self.indices[0].read_data.val();
        self.stored.next.slow = self.indices[1].read_data.val();
        self.room.next.header = bits::<32>(0);
        self.room.next.slow = bits::<32>(0);
        if self.room_written.val() {
            self.room.next.header = self.indices[0].read_data.val();
            self.room.next.slow = self.indices[1].read_data.val();
        }
        self.other.next.header = bits::<32>(0);
        self.other.next.slow = bits::<32>(0);
        if self.other_written.val() {
            self.other.next.header = self.indices[2].read_data.val();
            self.other.next.slow = self.indices[3].read_data.val();
        }
    }
}
