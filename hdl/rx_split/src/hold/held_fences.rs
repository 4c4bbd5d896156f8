//! Owner 0's confirmations that wait for everything held before them, of any owner.
//!
//! ```text
//!  push ─► [16 fences] ─► head ─► popped counts of all queues ─► [head.ready]
//! ```
//! Owner 0 may change what belongs to others; its confirmations are a fence for all. Confirmations
//! of other owners wait in the queue that holds their owner's entries.
//!
//! Timing: a fence shows the cycle after its push and is ready one cycle later at the earliest; for
//! two cycles after a pop none is ready.
//!
//! Invariants:
//! 1. Fences leave in order, each when all queues have popped what they had been given before it.
//!
//! Source: docs/specification.md, Hold; decision 6.

use crate::hold::messages::{HeldFence, HeldHead, HeldItem};
use stream::prelude::*;

/// The fences. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct HeldFences {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch: all fences are forgotten.
    pub reset: Signal<In, Bit>,

    /// One confirmation more, only with `has_space`.
    pub push: Signal<In, Bit>,
    /// The confirmation that is pushed.
    pub item: Signal<In, HeldItem>,
    /// There is space for one confirmation more.
    pub has_space: Signal<Out, Bit>,
    /// No fence is held.
    pub empty: Signal<Out, Bit>,
    /// Items that queue 1 was given.
    pub pushed_1: Signal<In, Bits<32>>,
    /// Items that queue 2 was given.
    pub pushed_2: Signal<In, Bits<32>>,
    /// Items that queue 3 was given.
    pub pushed_3: Signal<In, Bits<32>>,
    /// Items that queue 1 has popped.
    pub popped_1: Signal<In, Bits<32>>,
    /// Items that queue 2 has popped.
    pub popped_2: Signal<In, Bits<32>>,
    /// Items that queue 3 has popped.
    pub popped_3: Signal<In, Bits<32>>,
    /// The oldest fence.
    pub head: Signal<Out, HeldHead>,
    /// The oldest fence is taken.
    pub pop: Signal<In, Bit>,

    fences: Fifo<HeldFence, 4, 5>,
    is_ready: DFF<Bit>,
    oldest: Signal<Local, HeldFence>,
    as_item: Signal<Local, HeldItem>,
    waits: Signal<Local, Bit>,
    #[value(HeldItem::default())]
    none: Constant<HeldItem>,
}

impl Logic for HeldFences {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, is_ready);
        clock!(self, clock, fences);
        self.fences.reset.next = self.reset.val();
        self.has_space.next = self.fences.sink.ready.val();
        self.empty.next = !self.fences.source.valid.val();
        self.fences.sink.valid.next = self.push.val();
        self.fences.sink.payload.next.owner = self.item.val().owner;
        self.fences.sink.payload.next.index = self.item.val().index;
        self.fences.sink.payload.next.status = self.item.val().status;
        self.fences.sink.payload.next.pushed_1 = self.pushed_1.val();
        self.fences.sink.payload.next.pushed_2 = self.pushed_2.val();
        self.fences.sink.payload.next.pushed_3 = self.pushed_3.val();
        self.fences.source.ready.next = self.pop.val();

        // A difference below zero: the queue has not yet popped so many.
        self.oldest.next = self.fences.source.payload.val();
        self.waits.next = (self.popped_1.val() - self.oldest.val().pushed_1).get_bit(31)
            | (self.popped_2.val() - self.oldest.val().pushed_2).get_bit(31)
            | (self.popped_3.val() - self.oldest.val().pushed_3).get_bit(31);
        self.as_item.next = self.none.val();
        self.as_item.next.confirms = true;
        self.as_item.next.owner = self.oldest.val().owner;
        self.as_item.next.index = self.oldest.val().index;
        self.as_item.next.status = self.oldest.val().status;
        self.head.next.item = self.as_item.val();
        self.head.next.at = 0.into();
        self.head.next.unflushed = false;
        self.is_ready.d.next = self.fences.source.valid.val() & !self.waits.val() & !self.pop.val();
        self.head.next.ready = self.is_ready.q.val();
        if self.reset.val() {
            self.is_ready.d.next = false;
        }
    }
}
