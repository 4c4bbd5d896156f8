//! A reset after configuration, and none later.
//!
//! ```text
//!   reset ‾‾‾‾‾‾‾‾‾‾\_____________________   4,096 cycles of clock
//! ```
//! Timing: 41 us at 100 MHz.
//!
//! Invariants:
//! 1. High from configuration on, low for ever after.

use stream::prelude::*;

/// The block. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct StartReset {
    /// Clock of the reset.
    pub clock: Signal<In, Clock>,
    /// The reset.
    pub reset: Signal<Out, Bit>,

    cycle: DFF<Bits<13>>,
    #[value(1)]
    one: Constant<Bits<13>>,
}

impl Logic for StartReset {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, cycle);
        if !self.cycle.q.val().get_bit(12) {
            self.cycle.d.next = self.cycle.q.val() + self.one.val();
        }
        self.reset.next = !self.cycle.q.val().get_bit(12);
    }
}
