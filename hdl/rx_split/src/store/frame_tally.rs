//! One pulse for each frame that came in, from two kinds of news that may come at once.
//!
//! Timing: a pulse a cycle; at most one frame a cycle comes in for long.
//!
//! Invariants:
//! 1. As many pulses as news, of both kinds together.

use stream::prelude::*;

/// The tally. See the module's head.
#[derive(LogicBlock, Default)]
pub struct FrameTally {
    /// Clock.
    pub clock: Signal<In, Clock>,

    /// A packet was taken.
    pub taken: Signal<In, Bit>,
    /// A frame was dropped.
    pub dropped: Signal<In, Bit>,
    /// A frame came in.
    pub frame_done: Signal<Out, Bit>,

    uncounted: DFF<Bits<8>>,
    more: Signal<Local, Bits<8>>,
    counts: Signal<Local, Bit>,
}

impl Logic for FrameTally {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, uncounted);
        self.counts.next = self.uncounted.q.val().any();
        self.frame_done.next = self.counts.val();
        self.more.next =
            bit_cast::<8, 1>(self.taken.val().into()) + bit_cast::<8, 1>(self.dropped.val().into());
        self.uncounted.d.next =
            (self.uncounted.q.val() + self.more.val()) - bit_cast::<8, 1>(self.counts.val().into());
    }
}
