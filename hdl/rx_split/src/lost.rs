//! Counts the packets that a reset takes along.
//!
//! ```text
//!  taken ─► under way ◄─ dropped, settled      reset: under way ─► lost ─► drop_count
//! ```
//! Timing: a lost packet is counted when no other drop is.
//!
//! Invariants:
//! 1. Every packet taken is dropped, settled or lost: once.

use abi::reason::DropReason;
use stream::prelude::*;

/// The counters. See the module's head.
#[derive(LogicBlock)]
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
    /// A lost packet.
    pub drop_count: PulseSource<Bits<4>>,

    under_way: DFF<Bits<12>>,
    lost: DFF<Bits<12>>,

    more: Signal<Local, Bits<12>>,
    less: Signal<Local, Bits<12>>,
    counts: Signal<Local, Bit>,
    left: Signal<Local, Bits<12>>,
    none: Constant<Bits<12>>,
    stopped: Constant<Bits<4>>,
}

impl Default for Lost {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            taken: Default::default(),
            dropped: Default::default(),
            settled: Default::default(),
            drop_busy: Default::default(),
            drop_count: Default::default(),
            under_way: Default::default(),
            lost: Default::default(),
            more: Default::default(),
            less: Default::default(),
            counts: Default::default(),
            left: Default::default(),
            none: Constant::new(0u64.to_bits()),
            stopped: Constant::new((DropReason::Stopped as u64).to_bits()),
        }
    }
}

impl Logic for Lost {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, under_way, lost);
        self.more.next = self.under_way.q.val() + bit_cast::<12, 1>(self.taken.val().into());
        self.less.next = bit_cast::<12, 1>(self.dropped.val().into())
            + bit_cast::<12, 1>(self.settled.val().into());
        self.counts.next = self.lost.q.val().any() & !self.drop_busy.val();
        self.left.next = self.lost.q.val() - bit_cast::<12, 1>(self.counts.val().into());
        self.drop_count.valid.next = self.counts.val();
        self.drop_count.payload.next = self.stopped.val();
        self.under_way.d.next = self.more.val() - self.less.val();
        self.lost.d.next = self.left.val();
        if self.reset.val() {
            self.under_way.d.next = self.none.val();
            self.lost.d.next = (self.left.val() + self.more.val()) - self.less.val();
        }
    }
}
