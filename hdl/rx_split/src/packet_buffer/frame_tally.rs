//! One pulse for each frame that came in, from two sources that may report one in the same cycle.
//!
//! Timing: one pulse per cycle, at the earliest one cycle after its report; 255 reports may wait,
//! and in the long run at most one frame per cycle comes in.
//!
//! Invariants:
//! 1. There are as many pulses as reports of both sources together, across resets too.

use stream::prelude::*;

/// The tally. See the module's head.
#[derive(LogicBlock, Default)]
pub struct FrameTally {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,

    /// A verified packet was taken from the queue.
    pub taken: Signal<In, Bit>,
    /// A frame was dropped.
    pub dropped: Signal<In, Bit>,
    /// One pulse for each frame that came in.
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
