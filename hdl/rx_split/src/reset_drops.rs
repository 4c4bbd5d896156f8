//! Counts the packets that a reset flushed.
//!
//! ```text
//!  [taken] ─► under way ◄─ [dropped, settled]   reset: under way ─► flushed ─► waits, reason
//! ```
//! Timing: a flushed packet is counted in a cycle without another drop, every other cycle at most,
//! and not during `reset`.
//!
//! Invariants:
//! 1. Every packet taken is dropped, settled or flushed: once.
//!
//! Source: docs/specification.md, Reset (`stopped`).

use abi::reason::DropReason;
use stream::prelude::*;

/// The counters. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct ResetDrops {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch: every packet under way becomes a flushed one. Nothing is taken, dropped
    /// or settled meanwhile; flushed packets that are not counted yet are kept.
    pub reset: Signal<In, Bit>,

    /// A packet entered the placement stages.
    pub taken: Signal<In, Bit>,
    /// A packet was dropped by the share check.
    pub dropped: Signal<In, Bit>,
    /// A packet was settled by `admit`.
    pub settled: Signal<In, Bit>,
    /// Another drop is counted in this cycle.
    pub drop_busy: Signal<In, Bit>,
    /// A flushed packet waits: it is counted in this cycle unless `drop_busy` is high.
    pub waits: Signal<Out, Bit>,
    /// DropReason of flushed packets: `stopped`.
    pub reason: Signal<Out, DropCode>,

    went_in: DFF<Bit>,
    was_dropped: DFF<Bit>,
    was_settled: DFF<Bit>,
    under_way: DFF<Bits<12>>,
    flushed: DFF<Bits<12>>,
    has_flushed: DFF<Bit>,

    less: Signal<Local, Bits<2>>,
    moved: Signal<Local, Bits<2>>,
    change: Signal<Local, Bits<12>>,
    left: Signal<Local, Bits<12>>,
    counts: Signal<Local, Bit>,
    flushed_change: Signal<Local, Bits<12>>,
    #[value(0xffc)]
    minus_four: Constant<Bits<12>>,
    #[value(0xfff)]
    minus_one: Constant<Bits<12>>,
    #[value(DropReason::Stopped as u64)]
    stopped: Constant<DropCode>,
}

impl Logic for ResetDrops {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, went_in, was_dropped, was_settled);
        dff_setup!(self, clock, under_way, flushed, has_flushed);
        self.went_in.d.next = self.taken.val();
        self.was_dropped.d.next = self.dropped.val();
        self.was_settled.d.next = self.settled.val();

        // One more to two fewer, modulo 4; what is less than 0 is so in all bits.
        self.less.next = bit_cast::<2, 1>(self.was_dropped.q.val().into())
            + bit_cast::<2, 1>(self.was_settled.q.val().into());
        self.moved.next = bit_cast::<2, 1>(self.went_in.q.val().into()) - self.less.val();
        self.change.next = bit_cast::<12, 2>(self.moved.val());
        if self.moved.val().get_bit(1) {
            self.change.next = bit_cast::<12, 2>(self.moved.val()) | self.minus_four.val();
        }

        self.waits.next = self.has_flushed.q.val() & !self.reset.val();
        self.reason.next = self.stopped.val();
        self.counts.next = self.has_flushed.q.val() & !self.drop_busy.val() & !self.reset.val();
        self.left.next = self.under_way.q.val() + self.change.val();
        self.under_way.d.next = self.left.val();
        self.flushed_change.next = self.minus_one.val();
        if self.reset.val() {
            self.under_way.d.next = 0.into();
            self.flushed_change.next = self.left.val();
        }
        if self.reset.val() | self.counts.val() {
            self.flushed.d.next = self.flushed.q.val() + self.flushed_change.val();
        }
        // Every other cycle at most: what is left is known in the cycle after a count.
        self.has_flushed.d.next = self.flushed.q.val().any() & !self.counts.val();
    }
}
