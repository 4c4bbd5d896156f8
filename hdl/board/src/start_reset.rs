//! A reset after configuration, and whenever its clock was not what it should be.
//!
//! ```text
//!   locked ____/‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾\____/‾‾
//!   reset  ‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾\______________/‾‾‾‾‾‾   4,096 cycles of clock
//! ```
//! Timing: 41 us at 100 MHz, from the third cycle with `locked` on.
//!
//! Invariants:
//! 1. High from configuration on, until `locked` has been high for 4,096 cycles; low as long as it
//!    stays so.

use stream::prelude::*;

/// The block. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct StartReset {
    /// Clock of the reset.
    pub clock: Signal<In, Clock>,
    /// The clock has its frequency; of no clock.
    pub locked: Signal<In, Bit>,
    /// The reset.
    pub reset: Signal<Out, Bit>,

    stable: Synchronizer<Bits<1>>,
    cycle: DFF<Bits<13>>,
    #[value(1)]
    one: Constant<Bits<13>>,
}

impl Logic for StartReset {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, cycle);
        clock!(self, clock, stable);
        self.stable.d.next = bit_cast::<1, 1>(self.locked.val().into());
        if !self.stable.q.val().any() {
            self.cycle.d.next = 0.into();
        } else if !self.cycle.q.val().get_bit(12) {
            self.cycle.d.next = self.cycle.q.val() + self.one.val();
        }
        self.reset.next = !self.cycle.q.val().get_bit(12);
    }
}
