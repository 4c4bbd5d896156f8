//! Up to which producer index an owner's rings have free space.
//!
//! ```text
//!  write ─► [sizes, producers] ─► [used, consumer + size] ─► used > size? ─► limits
//! ```
//! Timing: latency three cycles from a write to its limits; one write per cycle. `source_write` is
//! the write as it leaves, so that enabling takes effect together with its limits.
//!
//! Invariants:
//! 1. A limit is the consumer index plus the size, modulo 2^17.
//! 2. A consumer index that runs ahead of the producer leaves no free space: a wrong doorbell harms
//!    its owner only.
//!
//! Source: docs/specification.md, Rings; decision 7.

use crate::owner_decode::OwnerWrite;
use stream::prelude::*;

/// New limits of an owner's rings.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct OwnerLimits {
    /// The limit of the header queue is new.
    pub header_new: Bit,
    /// First slot index without free space, modulo 2^17.
    pub header: Bits<17>,
    /// The limit of the slow buffers is new.
    pub slow_new: Bit,
    /// First slow buffer index without free space, modulo 2^17.
    pub slow: Bits<17>,
}

/// One ring, and what a write does to it.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct RingSpace {
    /// Entries of the ring.
    pub size: Bits<32>,
    /// Producer index of the ring.
    pub producer: Bits<32>,
    /// Entries in use after the doorbell.
    pub used: Bits<32>,
    /// Limit after the doorbell.
    pub limit: Bits<32>,
}

/// The limits. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct OwnerLimit<const OWNER_BITS: usize> {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch: writes inside are forgotten.
    pub reset: Signal<In, Bit>,

    /// A decoded register write.
    pub write: Signal<In, OwnerWrite>,
    /// Owner that the write addresses.
    pub owner: Signal<In, Bits<OWNER_BITS>>,
    /// Owner whose sizes and producer indices are read.
    pub read_owner: Signal<Out, Bits<OWNER_BITS>>,
    /// Sizes of the rings of `read_owner`, in the same cycle.
    pub sizes: Signal<In, Bits<32>>,
    /// Slots produced by `read_owner`, in the same cycle.
    pub header_producer: Signal<In, Bits<32>>,
    /// Slow buffers handed out by `read_owner`, in the same cycle.
    pub slow_producer: Signal<In, Bits<32>>,
    /// The write of three cycles ago.
    pub source_write: Signal<Out, OwnerWrite>,
    /// Owner that `source_write` addresses.
    pub source_owner: Signal<Out, Bits<OWNER_BITS>>,
    /// Limits that `source_write` makes.
    pub limits: Signal<Out, OwnerLimits>,

    writes: [DFF<OwnerWrite>; 3],
    owners: [DFF<Bits<OWNER_BITS>>; 3],
    header_read: DFF<RingSpace>,
    slow_read: DFF<RingSpace>,
    header_used: DFF<RingSpace>,
    slow_used: DFF<RingSpace>,

    consumer: Signal<Local, Bits<32>>,
    passing: Signal<Local, OwnerWrite>,
    enables: Signal<Local, Bit>,
    #[value(1)]
    one: Constant<Bits<32>>,
    #[value(OwnerWrite::default())]
    none: Constant<OwnerWrite>,
}

impl<const OWNER_BITS: usize> Logic for OwnerLimit<OWNER_BITS> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, header_read, slow_read, header_used, slow_used);
        for i in 0..3 {
            self.writes[i].clock.next = self.clock.val();
            self.owners[i].clock.next = self.clock.val();
        }
        self.writes[0].d.next = self.write.val();
        self.owners[0].d.next = self.owner.val();
        for i in 1..3 {
            self.writes[i].d.next = self.writes[i - 1].q.val();
            self.owners[i].d.next = self.owners[i - 1].q.val();
        }
        if self.reset.val() {
            self.writes[0].d.next = self.none.val();
            self.writes[1].d.next = self.none.val();
            self.writes[2].d.next = self.none.val();
        }

        self.read_owner.next = self.owners[0].q.val();
        self.header_read.d.next.size =
            self.one.val() << bit_cast::<32, 4>(self.sizes.val().get_bits::<4>(16));
        self.header_read.d.next.producer = self.header_producer.val();
        self.slow_read.d.next.size =
            self.one.val() << bit_cast::<32, 4>(self.sizes.val().get_bits::<4>(24));
        self.slow_read.d.next.producer = self.slow_producer.val();

        self.consumer.next = self.writes[1].q.val().data;
        self.header_used.d.next = self.header_read.q.val();
        self.header_used.d.next.used = self.header_read.q.val().producer - self.consumer.val();
        self.header_used.d.next.limit = self.consumer.val() + self.header_read.q.val().size;
        self.slow_used.d.next = self.slow_read.q.val();
        self.slow_used.d.next.used = self.slow_read.q.val().producer - self.consumer.val();
        self.slow_used.d.next.limit = self.consumer.val() + self.slow_read.q.val().size;

        self.passing.next = self.writes[2].q.val();
        self.enables.next = self.passing.val().enable & self.passing.val().switch;
        self.source_write.next = self.passing.val();
        self.source_owner.next = self.owners[2].q.val();
        self.limits.next.header_new = self.enables.val() | self.passing.val().header_doorbell;
        self.limits.next.header = bit_cast::<17, 32>(self.header_used.q.val().limit);
        if self.header_used.q.val().used > self.header_used.q.val().size {
            self.limits.next.header = bit_cast::<17, 32>(self.header_used.q.val().producer);
        }
        self.limits.next.slow_new = self.enables.val() | self.passing.val().slow_doorbell;
        self.limits.next.slow = bit_cast::<17, 32>(self.slow_used.q.val().limit);
        if self.slow_used.q.val().used > self.slow_used.q.val().size {
            self.limits.next.slow = bit_cast::<17, 32>(self.slow_used.q.val().producer);
        }
        if self.enables.val() {
            self.limits.next.header = bit_cast::<17, 32>(self.header_used.q.val().size);
            self.limits.next.slow = bit_cast::<17, 32>(self.slow_used.q.val().size);
        }
    }
}
