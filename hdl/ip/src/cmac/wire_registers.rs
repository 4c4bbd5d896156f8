//! The registers of the wire.
//!
//! ```text
//!  settings ──► MAC_CONTROL, PAUSE_LIMIT, PAUSE_BEATS ──► values
//! ```
//! Timing: a write counts in the cycle after its pulse.
//!
//! Invariants:
//! 1. After `reset`, and at power-up, the values are those of `abi::registers`. The registers hold
//!    the difference to them, so that they start as 0.
//! 2. PAUSE_BEATS has 16 bits. What needs more is kept as 0xffff, which is more than any buffer
//!    holds: no pause is asked for.
//!
//! Source: `abi::registers`.

use abi::registers as r;
use stream::prelude::*;

use super::messages::WireSettings;

// The literals of the kernel.
const _: () = assert!(
    r::MAC_CONTROL_SENDS_FAIL == 1 && r::MAC_CONTROL_PAUSE_TX == 2 && r::MAC_CONTROL_PAUSE_RX == 4
);

/// The registers. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct WireRegisters {
    /// PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// An epoch begins: the values are those of power-up.
    pub reset: Signal<In, Bit>,
    /// Register writes; those of the wire are kept.
    pub settings: PulseSink<RegisterWrite>,
    /// What software has set.
    pub values: Signal<Out, WireSettings>,

    control: DFF<Bits<3>>,
    limit: DFF<Bits<32>>,
    beats: DFF<Bits<16>>,

    address: Signal<Local, Bits<24>>,
    value: Signal<Local, Bits<32>>,
    beats_value: Signal<Local, Bits<16>>,
    #[value(u64::from(r::MAC_CONTROL))]
    control_at: Constant<Bits<24>>,
    #[value(u64::from(r::PAUSE_LIMIT))]
    limit_at: Constant<Bits<24>>,
    #[value(u64::from(r::PAUSE_LIMIT_CYCLES))]
    limit_start: Constant<Bits<32>>,
    #[value(u64::from(r::PAUSE_BEATS))]
    beats_at: Constant<Bits<24>>,
    #[value(u64::from(r::PAUSE_BEATS_START))]
    beats_start: Constant<Bits<16>>,
    #[value(0xffff)]
    beats_max: Constant<Bits<16>>,
}

impl Logic for WireRegisters {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, control, limit, beats);
        self.address.next = self.settings.payload.val().address;
        self.value.next = self.settings.payload.val().data;
        self.beats_value.next = self.value.val().get_bits::<16>(0);
        if self.value.val().get_bits::<16>(16).any() {
            self.beats_value.next = self.beats_max.val();
        }
        if self.settings.valid.val() & (self.address.val() == self.control_at.val()) {
            self.control.d.next = self.value.val().get_bits::<3>(0);
        }
        if self.settings.valid.val() & (self.address.val() == self.limit_at.val()) {
            self.limit.d.next = self.value.val() ^ self.limit_start.val();
        }
        if self.settings.valid.val() & (self.address.val() == self.beats_at.val()) {
            self.beats.d.next = self.beats_value.val() ^ self.beats_start.val();
        }
        self.values.next.sends_fail = self.control.q.val().get_bit(0);
        self.values.next.asks_pause = self.control.q.val().get_bit(1);
        self.values.next.obeys_pause = self.control.q.val().get_bit(2);
        self.values.next.limit_cycles = self.limit.q.val() ^ self.limit_start.val();
        self.values.next.pause_beats = self.beats.q.val() ^ self.beats_start.val();
        if self.reset.val() {
            self.control.d.next = 0.into();
            self.limit.d.next = 0.into();
            self.beats.d.next = 0.into();
        }
    }
}
