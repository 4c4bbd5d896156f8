//! The header profiles: picks one by destination port.
//!
//! ```text
//!  kept: 3 x (port, layout) ──► cross ──► port ──► [first match] ──► profile, layout
//! ```
//! Timing: outputs are combinational from `port`. A setting takes effect after it has crossed to
//! the MAC's clock, some 10 cycles later. Settings that are written together may take effect one by
//! one.
//!
//! Invariants:
//! 1. `profile` is the first enabled profile of 1 to 3 whose port is `port`, else 0.
//!
//! Source: docs/specification.md, Parsing; `abi::registers`, PROFILES.

use abi::config::PROFILE_BITS;
use stream::prelude::*;

/// The settings of the three profiles.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct ProfileTable {
    /// Profile 1 is enabled.
    pub enabled_1: Bit,
    /// Profile 2 is enabled.
    pub enabled_2: Bit,
    /// Profile 3 is enabled.
    pub enabled_3: Bit,
    /// Port of profile 1.
    pub port_1: Bits<16>,
    /// Port of profile 2.
    pub port_2: Bits<16>,
    /// Port of profile 3.
    pub port_3: Bits<16>,
    /// Word 1 of profile 1.
    pub layout_1: Bits<32>,
    /// Word 1 of profile 2.
    pub layout_2: Bits<32>,
    /// Word 1 of profile 3.
    pub layout_3: Bits<32>,
}

/// The profiles. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct Profiles {
    /// PCIe user clock, 250 MHz: the clock of `kept`.
    pub clock: Signal<In, Clock>,
    /// MAC clock, 322 MHz: the clock of the other ports.
    pub mac_clock: Signal<In, Clock>,

    /// What software has set.
    pub kept: Signal<In, ProfileTable>,
    /// UDP destination port as a number.
    pub port: Signal<In, Bits<16>>,
    /// Profile of `port`, or 0, in the same cycle.
    pub profile: Signal<Out, Bits<PROFILE_BITS>>,
    /// Word 1 of that profile's registers, or 0.
    pub layout: Signal<Out, Bits<32>>,

    crossing: ValueCrossing<ProfileTable>,

    known: Signal<Local, ProfileTable>,
    match_1: Signal<Local, Bit>,
    match_2: Signal<Local, Bit>,
    match_3: Signal<Local, Bit>,
}

impl Logic for Profiles {
    #[hdl_gen]
    fn update(&mut self) {
        self.crossing.write_clock.next = self.clock.val();
        self.crossing.read_clock.next = self.mac_clock.val();
        self.crossing.value.next = self.kept.val();
        self.known.next = self.crossing.latest.val();
        self.match_1.next =
            self.known.val().enabled_1 & (self.known.val().port_1 == self.port.val());
        self.match_2.next =
            self.known.val().enabled_2 & (self.known.val().port_2 == self.port.val());
        self.match_3.next =
            self.known.val().enabled_3 & (self.known.val().port_3 == self.port.val());
        self.profile.next = 0.into();
        self.layout.next = 0.into();
        if self.match_1.val() {
            self.profile.next = bits::<2>(1);
            self.layout.next = self.known.val().layout_1;
        } else if self.match_2.val() {
            self.profile.next = bits::<2>(2);
            self.layout.next = self.known.val().layout_2;
        } else if self.match_3.val() {
            self.profile.next = bits::<2>(3);
            self.layout.next = self.known.val().layout_3;
        }
    }
}
