//! The header profiles: keeps their settings and picks one by destination port.
//!
//! ```text
//!  settings ──► 3 x (port, layout)      port ──► [first enabled match] ──► profile, layout
//! ```
//! | port | direction | meaning |
//! |---|---|---|
//! | settings | in | register writes; `PROFILES` of profiles 1 to 3 are kept |
//! | port | in | UDP destination port as a number |
//! | profile, layout | out | the first enabled profile of that port, else 0, and its word 1 |
//!
//! Timing: outputs are combinational from `port`; a setting holds from the next cycle on.

use abi::registers::{PROFILES, PROFILE_STRIDE};
use stream::prelude::*;

/// The profiles. See the module's head.
#[derive(LogicBlock)]
pub struct Profiles {
    /// Clock.
    pub clock: Signal<In, Clock>,

    /// Register writes.
    pub settings: PulseSink<RegisterWrite>,
    /// Destination port.
    pub port: Signal<In, Bits<16>>,
    /// Profile of that port.
    pub profile: Signal<Out, Bits<2>>,
    /// Word 1 of that profile's registers.
    pub layout: Signal<Out, Bits<32>>,

    selector_1: DFF<Bits<17>>,
    selector_2: DFF<Bits<17>>,
    selector_3: DFF<Bits<17>>,
    layout_1: DFF<Bits<32>>,
    layout_2: DFF<Bits<32>>,
    layout_3: DFF<Bits<32>>,

    address: Signal<Local, Bits<24>>,
    value: Signal<Local, Bits<32>>,
    match_1: Signal<Local, Bit>,
    match_2: Signal<Local, Bit>,
    match_3: Signal<Local, Bit>,
    registers: [Constant<Bits<24>>; 6],
}

impl Default for Profiles {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            settings: Default::default(),
            port: Default::default(),
            profile: Default::default(),
            layout: Default::default(),
            selector_1: Default::default(),
            selector_2: Default::default(),
            selector_3: Default::default(),
            layout_1: Default::default(),
            layout_2: Default::default(),
            layout_3: Default::default(),
            address: Default::default(),
            value: Default::default(),
            match_1: Default::default(),
            match_2: Default::default(),
            match_3: Default::default(),
            registers: std::array::from_fn(|word| {
                let at = PROFILES + PROFILE_STRIDE + 4 * word as u32;
                Constant::new(u64::from(at).to_bits())
            }),
        }
    }
}

impl Logic for Profiles {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, selector_1, selector_2, selector_3);
        dff_setup!(self, clock, layout_1, layout_2, layout_3);
        self.address.next = self.settings.payload.val().address;
        self.value.next = self.settings.payload.val().data;
        if self.settings.valid.val() {
            if self.address.val() == self.registers[0].val() {
                self.selector_1.d.next = self.value.val().get_bits::<17>(0);
            }
            if self.address.val() == self.registers[1].val() {
                self.layout_1.d.next = self.value.val();
            }
            if self.address.val() == self.registers[2].val() {
                self.selector_2.d.next = self.value.val().get_bits::<17>(0);
            }
            if self.address.val() == self.registers[3].val() {
                self.layout_2.d.next = self.value.val();
            }
            if self.address.val() == self.registers[4].val() {
                self.selector_3.d.next = self.value.val().get_bits::<17>(0);
            }
            if self.address.val() == self.registers[5].val() {
                self.layout_3.d.next = self.value.val();
            }
        }

        self.match_1.next = self.selector_1.q.val().get_bit(16)
            & (self.selector_1.q.val().get_bits::<16>(0) == self.port.val());
        self.match_2.next = self.selector_2.q.val().get_bit(16)
            & (self.selector_2.q.val().get_bits::<16>(0) == self.port.val());
        self.match_3.next = self.selector_3.q.val().get_bit(16)
            & (self.selector_3.q.val().get_bits::<16>(0) == self.port.val());
        self.profile.next = bits::<2>(0);
        self.layout.next = bits::<32>(0);
        if self.match_1.val() {
            self.profile.next = bits::<2>(1);
            self.layout.next = self.layout_1.q.val();
        } else if self.match_2.val() {
            self.profile.next = bits::<2>(2);
            self.layout.next = self.layout_2.q.val();
        } else if self.match_3.val() {
            self.profile.next = bits::<2>(3);
            self.layout.next = self.layout_3.q.val();
        }
    }
}
