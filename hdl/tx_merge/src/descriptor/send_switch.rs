//! Keeps whether the send direction runs: bit 1 of the `CONTROL` register.
//!
//! ```text
//!  settings ──► running
//! ```
//! Timing: `running` is a register: it changes in the cycle after the write, and is low after
//! reset.

use abi::registers::{CONTROL, CONTROL_TX};
use stream::prelude::*;

// The literals of the kernel.
const _: () = assert!(CONTROL == 0x18 && CONTROL_TX == 1 << 1);

/// The switch. See the module's head.
#[derive(LogicBlock, Default)]
pub struct SendSwitch {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Stops the send direction.
    pub reset: Signal<In, Bit>,
    /// Register writes.
    pub settings: PulseSink<RegisterWrite>,
    /// The send direction runs.
    pub running: Signal<Out, Bit>,

    state: DFF<Bit>,
}

impl Logic for SendSwitch {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, state);
        self.running.next = self.state.q.val();
        if self.settings.valid.val() & (self.settings.payload.val().address == 0x18) {
            self.state.d.next = self.settings.payload.val().data.get_bit(1);
        }
        if self.reset.val() {
            self.state.d.next = false;
        }
    }
}
