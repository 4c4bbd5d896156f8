//! Up to which producer index an owner's rings have room.
//!
//! ```text
//!  write ─► [sizes, producers] ─► [used, consumer + size] ─► used > size? ─► limits
//! ```
//! Timing: a write is in the limits three cycles later; one write a cycle. `source_write` is the
//! write as it leaves, so that enabling takes effect with its limits.
//!
//! Invariants:
//! 1. A limit is the consumer index plus the size, modulo 2^17.
//! 2. A consumer index that runs ahead of the producer leaves no room: a wrong doorbell harms its
//!    owner only.

use crate::admit::owner_decode::OwnerWrite;
use stream::prelude::*;

/// New limits.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct OwnerLimits {
    /// The header queue's is new.
    pub header_new: Bit,
    /// First slot index without room.
    pub header: Bits<17>,
    /// The slow buffers' is new.
    pub slow_new: Bit,
    /// First slow buffer index without room.
    pub slow: Bits<17>,
}

/// One ring: what a write does to it.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct RingRoom {
    /// Entries.
    pub size: Bits<32>,
    /// Producer index.
    pub producer: Bits<32>,
    /// Entries used after the doorbell.
    pub used: Bits<32>,
    /// Limit after the doorbell.
    pub limit: Bits<32>,
}

/// The limits. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct OwnerLimit<const B: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch: writes inside are forgotten.
    pub reset: Signal<In, Bit>,

    /// A decoded register write.
    pub write: Signal<In, OwnerWrite>,
    /// Whose.
    pub owner: Signal<In, Bits<B>>,
    /// Whose sizes and producers are wanted.
    pub read_owner: Signal<Out, Bits<B>>,
    /// Its sizes.
    pub sizes: Signal<In, Bits<32>>,
    /// Its header producer.
    pub header_producer: Signal<In, Bits<32>>,
    /// Its slow buffer producer.
    pub slow_producer: Signal<In, Bits<32>>,
    /// The write, three cycles later.
    pub source_write: Signal<Out, OwnerWrite>,
    /// Whose.
    pub source_owner: Signal<Out, Bits<B>>,
    /// The limits that it makes.
    pub limits: Signal<Out, OwnerLimits>,

    writes: [DFF<OwnerWrite>; 3],
    owners: [DFF<Bits<B>>; 3],
    header_read: DFF<RingRoom>,
    slow_read: DFF<RingRoom>,
    header_used: DFF<RingRoom>,
    slow_used: DFF<RingRoom>,

    asked: Signal<Local, OwnerWrite>,
    consumer: Signal<Local, Bits<32>>,
    passing: Signal<Local, OwnerWrite>,
    enables: Signal<Local, Bit>,
    #[value(1)]
    one: Constant<Bits<32>>,
    #[value(OwnerWrite::default())]
    no_write: Constant<OwnerWrite>,
}

impl<const B: usize> Logic for OwnerLimit<B> {
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
            self.writes[0].d.next = self.no_write.val();
            self.writes[1].d.next = self.no_write.val();
            self.writes[2].d.next = self.no_write.val();
        }

        self.read_owner.next = self.owners[0].q.val();
        self.header_read.d.next.size =
            self.one.val() << bit_cast::<32, 4>(self.sizes.val().get_bits::<4>(16));
        self.header_read.d.next.producer = self.header_producer.val();
        self.slow_read.d.next.size =
            self.one.val() << bit_cast::<32, 4>(self.sizes.val().get_bits::<4>(24));
        self.slow_read.d.next.producer = self.slow_producer.val();

        self.asked.next = self.writes[1].q.val();
        self.consumer.next = self.asked.val().data;
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
