//! Keeps what software has set for the header profiles.
//!
//! ```text
//!  settings ──► 3 x (port, layout) ──► kept (to the MAC's clock: profiles)
//! ```
//! A block of its own: register writes come from the die of PCIe, and the parser is in that of the
//! MAC, with another one between them on some boards.
//!
//! Timing: one cycle.
//!
//! Invariants:
//! 1. A setting lasts until it is written again, across resets too.
//!
//! Source: `abi::registers`, PROFILES.

use abi::registers::{PROFILES, PROFILE_STRIDE};
use stream::prelude::*;

use crate::transport::profiles::ProfileTable;

/// The registers. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct ProfileRegisters {
    /// PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Register writes; `PROFILES` of profiles 1 to 3 are kept.
    pub settings: PulseSink<RegisterWrite>,
    /// What is set.
    pub kept: Signal<Out, ProfileTable>,

    held: DFF<ProfileTable>,

    address: Signal<Local, Bits<24>>,
    value: Signal<Local, Bits<32>>,
    #[value(|word| u64::from(PROFILES + PROFILE_STRIDE + 4 * word as u32))]
    registers: [Constant<Bits<24>>; 6],
}

impl Logic for ProfileRegisters {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, held);
        self.kept.next = self.held.q.val();
        self.address.next = self.settings.payload.val().address;
        self.value.next = self.settings.payload.val().data;
        if self.settings.valid.val() {
            if self.address.val() == self.registers[0].val() {
                self.held.d.next.enabled_1 = self.value.val().get_bit(16);
                self.held.d.next.port_1 = self.value.val().get_bits::<16>(0);
            }
            if self.address.val() == self.registers[1].val() {
                self.held.d.next.layout_1 = self.value.val();
            }
            if self.address.val() == self.registers[2].val() {
                self.held.d.next.enabled_2 = self.value.val().get_bit(16);
                self.held.d.next.port_2 = self.value.val().get_bits::<16>(0);
            }
            if self.address.val() == self.registers[3].val() {
                self.held.d.next.layout_2 = self.value.val();
            }
            if self.address.val() == self.registers[4].val() {
                self.held.d.next.enabled_3 = self.value.val().get_bit(16);
                self.held.d.next.port_3 = self.value.val().get_bits::<16>(0);
            }
            if self.address.val() == self.registers[5].val() {
                self.held.d.next.layout_3 = self.value.val();
            }
        }
    }
}
