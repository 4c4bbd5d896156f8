//! The register CONTROL: which directions run, and the command that starts an epoch.
//!
//! ```text
//!  settings ──► enables, starts_epoch
//! ```
//! Timing: `starts_epoch` follows the write in the same cycle, `enables` in the next one.
//!
//! Invariants:
//! 1. `reset` clears both enables.
//!
//! Source: `abi::registers`, CONTROL.

use abi::registers as r;
use stream::prelude::*;

// The literal of the kernel.
const _: () = assert!(r::CONTROL_RESET == 1 << 2);

/// The register. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct ControlWord {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// An epoch begins: no direction runs.
    pub reset: Signal<In, Bit>,
    /// Register writes of the host.
    pub settings: PulseSink<RegisterWrite>,
    /// Bit 0: receive runs. Bit 1: send runs.
    pub enables: Signal<Out, Bits<2>>,
    /// Software starts an epoch (one cycle).
    pub starts_epoch: Signal<Out, Bit>,

    running: DFF<Bits<2>>,

    written: Signal<Local, Bit>,
    value: Signal<Local, Bits<32>>,
    #[value(u64::from(r::CONTROL))]
    control_address: Constant<Bits<24>>,
}

impl Logic for ControlWord {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, running);
        self.value.next = self.settings.payload.val().data;
        self.written.next = self.settings.valid.val()
            & (self.settings.payload.val().address == self.control_address.val());
        self.starts_epoch.next = self.written.val() & self.value.val().get_bit(2);
        if self.written.val() {
            self.running.d.next = self.value.val().get_bits::<2>(0);
        }
        if self.reset.val() {
            self.running.d.next = bits::<2>(0);
        }
        self.enables.next = self.running.q.val();
    }
}
