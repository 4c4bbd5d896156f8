//! A memory whose entries are stamped with the epoch in which they were written.
//!
//! Timing: what is read with `read_enable` is latched, and shows one cycle later with
//! `register_enable`; one read a cycle. A write is seen by a read of the next cycle.
//!
//! Invariants:
//! 1. The stamps power up as zeros and no epoch is 0: an entry that was never written, or was
//!    written with stamp 0, is of no epoch. Content without a stamp of the current epoch is
//!    undefined.

use stream::prelude::*;

/// The memory, 2^A entries of T. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct EpochRam<T: Synth, const A: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,

    /// Entry to read.
    pub read_address: Signal<In, Bits<A>>,
    /// Latch it.
    pub read_enable: Signal<In, Bit>,
    /// What was latched before moves on to `read_data` and `read_epoch`.
    pub register_enable: Signal<In, Bit>,
    /// The entry that moved on last, from the cycle behind on.
    pub read_data: Signal<Out, T>,
    /// Its stamp.
    pub read_epoch: Signal<Out, Bits<16>>,

    /// Entry to write.
    pub write_address: Signal<In, Bits<A>>,
    /// Its new value.
    pub write_data: Signal<In, T>,
    /// Its stamp; 0 removes it.
    pub write_epoch: Signal<In, Bits<16>>,
    /// Write in this cycle.
    pub write_enable: Signal<In, Bit>,

    content: BlockRam<T, A>,
    #[value(BlockRam::zeroed())]
    stamps: BlockRam<Bits<16>, A>,
}

impl<T: Synth, const A: usize> Logic for EpochRam<T, A> {
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, content, stamps);
        self.content.read_enable.next = self.read_enable.val();
        self.content.register_enable.next = self.register_enable.val();
        self.content.read_address.next = self.read_address.val();
        self.content.write_address.next = self.write_address.val();
        self.content.write_data.next = self.write_data.val();
        self.content.write_enable.next = self.write_enable.val();
        self.read_data.next = self.content.read_data.val();

        self.stamps.read_enable.next = self.read_enable.val();
        self.stamps.register_enable.next = self.register_enable.val();
        self.stamps.read_address.next = self.read_address.val();
        self.stamps.write_address.next = self.write_address.val();
        self.stamps.write_data.next = self.write_epoch.val();
        self.stamps.write_enable.next = self.write_enable.val();
        self.read_epoch.next = self.stamps.read_data.val();
    }
}
