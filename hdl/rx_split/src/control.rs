//! The settings that belong to no owner: whether receive runs, and where each memory is flushed.
//!
//! Timing: a setting holds from the cycle after its register write; `flush_address` follows
//! `memory` in the same cycle.
//!
//! Invariants:
//! 1. `reset` stops receive until `CONTROL` is written again; flush addresses stay.
//!
//! Source: `abi::registers`, CONTROL and FLUSH; docs/specification.md, Settings.

use abi::registers::{CONTROL, FLUSH};
use stream::prelude::*;

/// The settings. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct Control {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch: receive is stopped; flush addresses are kept.
    pub reset: Signal<In, Bit>,

    /// Register writes; `CONTROL` and the flush addresses are kept.
    pub settings: PulseSink<RegisterWrite>,
    /// Receive runs.
    pub running: Signal<Out, Bit>,
    /// Memory whose flush address is shown.
    pub memory: Signal<In, Bits<2>>,
    /// Address of the flush read of `memory`, in the same cycle.
    pub flush_address: Signal<Out, Bits<64>>,

    flush_low: LutRam<Bits<32>, 2>,
    flush_high: LutRam<Bits<32>, 2>,
    runs: DFF<Bit>,

    address: Signal<Local, Bits<24>>,
    value: Signal<Local, Bits<32>>,
    in_flush: Signal<Local, Bit>,
    #[value(u64::from(CONTROL))]
    control: Constant<Bits<24>>,
    #[value(u64::from(FLUSH >> 5))]
    flush_tag: Constant<Bits<24>>,
}

impl Logic for Control {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, runs);
        clock!(self, clock, flush_low, flush_high);
        self.running.next = self.runs.q.val();
        self.address.next = self.settings.payload.val().address;
        self.value.next = self.settings.payload.val().data;
        self.in_flush.next =
            self.settings.valid.val() & ((self.address.val() >> 5) == self.flush_tag.val());

        self.flush_low.read_address.next = self.memory.val();
        self.flush_low.write_address.next = self.address.val().get_bits::<2>(3);
        self.flush_low.write_data.next = self.value.val();
        self.flush_low.write_enable.next = self.in_flush.val() & !self.address.val().get_bit(2);
        self.flush_high.read_address.next = self.memory.val();
        self.flush_high.write_address.next = self.address.val().get_bits::<2>(3);
        self.flush_high.write_data.next = self.value.val();
        self.flush_high.write_enable.next = self.in_flush.val() & self.address.val().get_bit(2);
        self.flush_address.next = bit_cast::<64, 32>(self.flush_low.read_data.val())
            | (bit_cast::<64, 32>(self.flush_high.read_data.val()) << 32);

        if self.settings.valid.val() & (self.address.val() == self.control.val()) {
            self.runs.d.next = self.value.val().get_bit(0);
        }
        if self.reset.val() {
            self.runs.d.next = false;
        }
    }
}
