//! Which of three steps behind each other hold something.
//!
//! Timing: bit n of `held` is `enters` of n + 1 cycles before.
//!
//! Invariants:
//! 1. `reset` empties all steps.

use stream::prelude::*;

/// The bits. See the module's head.
#[derive(LogicBlock, Default)]
pub struct Stages {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch.
    pub reset: Signal<In, Bit>,
    /// Something enters the first step.
    pub enters: Signal<In, Bit>,
    /// Steps that hold something.
    pub held: Signal<Out, Bits<3>>,

    valid: DFF<Bits<3>>,
}

impl Logic for Stages {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, valid);
        self.held.next = self.valid.q.val();
        self.valid.d.next = (self.valid.q.val() << 1) | bit_cast::<3, 1>(self.enters.val().into());
        if self.reset.val() {
            self.valid.d.next = 0.into();
        }
    }
}
