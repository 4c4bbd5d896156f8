//! Counts the packets that a reset takes along.
//!
//! ```text
//!  [taken] ─► under way ◄─ [dropped, settled]      reset: under way ─► lost ─► waits, reason
//! ```
//! Timing: a lost packet is counted when no other drop is, every other cycle at most, and not
//! during `reset`.
//!
//! Invariants:
//! 1. Every packet taken is dropped, settled or lost: once.

use abi::reason::DropReason;
use stream::prelude::*;

/// The counters. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct Lost {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch: nothing is taken, dropped or settled.
    pub reset: Signal<In, Bit>,

    /// A packet went in.
    pub taken: Signal<In, Bit>,
    /// A packet was dropped.
    pub dropped: Signal<In, Bit>,
    /// A packet was settled.
    pub settled: Signal<In, Bit>,
    /// Another drop is counted in this cycle.
    pub drop_busy: Signal<In, Bit>,
    /// A lost packet waits: it is counted in this cycle, unless another drop is.
    pub waits: Signal<Out, Bit>,
    /// Its DropReason.
    pub reason: Signal<Out, DropCode>,

    went_in: DFF<Bit>,
    was_dropped: DFF<Bit>,
    was_settled: DFF<Bit>,
    under_way: DFF<Bits<12>>,
    lost: DFF<Bits<12>>,
    has_lost: DFF<Bit>,

    less: Signal<Local, Bits<2>>,
    moved: Signal<Local, Bits<2>>,
    change: Signal<Local, Bits<12>>,
    left: Signal<Local, Bits<12>>,
    counts: Signal<Local, Bit>,
    lost_change: Signal<Local, Bits<12>>,
    #[value(0)]
    none: Constant<Bits<12>>,
    #[value(0xffc)]
    minus_four: Constant<Bits<12>>,
    #[value(0xfff)]
    minus_one: Constant<Bits<12>>,
    #[value(DropReason::Stopped as u64)]
    stopped: Constant<DropCode>,
}

impl Logic for Lost {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, went_in, was_dropped, was_settled);
        dff_setup!(self, clock, under_way, lost, has_lost);
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

        self.waits.next = self.has_lost.q.val() & !self.reset.val();
        self.reason.next = self.stopped.val();
        self.counts.next = self.has_lost.q.val() & !self.drop_busy.val() & !self.reset.val();
        self.left.next = self.under_way.q.val() + self.change.val();
        self.under_way.d.next = self.left.val();
        self.lost_change.next = self.minus_one.val();
        if self.reset.val() {
            self.under_way.d.next = self.none.val();
            self.lost_change.next = self.left.val();
        }
        if self.reset.val() | self.counts.val() {
            self.lost.d.next = self.lost.q.val() + self.lost_change.val();
        }
        // Every other cycle at most: what is left is known in the cycle behind a count.
        self.has_lost.d.next = self.lost.q.val().any() & !self.counts.val();
    }
}
