//! A memory whose entries are stamped with the epoch in which they were written.
//!
//! Timing: an entry read with `read_enable` is latched, and is shown one cycle later with
//! `register_enable`; one read per cycle. A write is seen by a read of the next cycle.
//!
//! Invariants:
//! 1. The stamps power up as zeros and no epoch is 0: an entry that was never written, or was
//!    written with stamp 0, belongs to no epoch. Content without a stamp of the current epoch is
//!    undefined.

use stream::prelude::*;

/// The memory: 2^`ADDRESS_BITS` entries of `T`. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct EpochRam<T: Synth, const ADDRESS_BITS: usize> {
    /// Clock of both sides.
    pub clock: Signal<In, Clock>,

    /// Entry to read.
    pub read_address: Signal<In, Bits<ADDRESS_BITS>>,
    /// Latch the entry at `read_address`.
    pub read_enable: Signal<In, Bit>,
    /// Move what was latched before to `read_data` and `read_epoch`.
    pub register_enable: Signal<In, Bit>,
    /// Entry that moved on last, from the next cycle on.
    pub read_data: Signal<Out, T>,
    /// Stamp of the entry in `read_data`.
    pub read_epoch: Signal<Out, Bits<16>>,

    /// Entry to write.
    pub write_address: Signal<In, Bits<ADDRESS_BITS>>,
    /// New content of the entry.
    pub write_data: Signal<In, T>,
    /// New stamp of the entry; 0 removes it.
    pub write_epoch: Signal<In, Bits<16>>,
    /// Write in this cycle.
    pub write_enable: Signal<In, Bit>,

    content: BlockRam<T, ADDRESS_BITS>,
    #[value(BlockRam::zeroed())]
    stamps: BlockRam<Bits<16>, ADDRESS_BITS>,
}

impl<T: Synth, const ADDRESS_BITS: usize> Logic for EpochRam<T, ADDRESS_BITS> {
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
