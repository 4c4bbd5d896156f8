//! The valid bits of a pipeline of three stages that never stalls.
//!
//! Timing: bit n of `held` is `enters` of n + 1 cycles before.
//!
//! Invariants:
//! 1. `reset` empties all stages.

use stream::prelude::*;

/// The valid bits. See the module's head.
#[derive(LogicBlock, Default)]
pub struct StageValids {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch: all stages are empty.
    pub reset: Signal<In, Bit>,
    /// Something enters the first stage.
    pub enters: Signal<In, Bit>,
    /// Stages that hold something, the first in bit 0.
    pub held: Signal<Out, Bits<3>>,

    valid: DFF<Bits<3>>,
}

impl Logic for StageValids {
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
