//! Checks that the layers which a descriptor names fit its header.
//!
//! ```text
//!  layout ──► ends of the layers ──► register ──► compare ──► fits
//! ```
//! The layers fit if all of these hold:
//! 1. The IP header (20 bytes, IPv6 40) starts at byte 14 or later and ends at or before the start
//!    of the L4 header.
//! 2. The L4 header (TCP 20, UDP 8) ends inside the header.
//! 3. Both start at even offsets, or both at odd ones.
//!
//! Timing: `fits` holds from the second cycle on in which `layout` is unchanged.
//!
//! Source: docs/specification.md, Descriptor checks.

use crate::messages::HeaderLayout;
use stream::prelude::*;

/// The check. See the module's head.
#[derive(LogicBlock, Default)]
pub struct LayersCheck {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Where the layers lie.
    pub layout: Signal<In, HeaderLayout>,
    /// The layers fit the header.
    pub fits: Signal<Out, Bit>,

    l3_end: DFF<Bits<9>>,
    l4_end: DFF<Bits<9>>,

    l3_offset: Signal<Local, Bits<8>>,
    l4_offset: Signal<Local, Bits<8>>,
}

impl Logic for LayersCheck {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, l3_end, l4_end);
        self.l3_offset.next = self.layout.val().l3_offset;
        self.l4_offset.next = self.layout.val().l4_offset;
        self.l3_end.d.next = bit_cast::<9, 8>(self.l3_offset.val()) + 20;
        if self.layout.val().ipv6 {
            self.l3_end.d.next = bit_cast::<9, 8>(self.l3_offset.val()) + 40;
        }
        self.l4_end.d.next = bit_cast::<9, 8>(self.l4_offset.val()) + 20;
        if self.layout.val().udp {
            self.l4_end.d.next = bit_cast::<9, 8>(self.l4_offset.val()) + 8;
        }
        self.fits.next = (self.l3_offset.val() > 13)
            & (self.l3_end.q.val() <= bit_cast::<9, 8>(self.l4_offset.val()))
            & (self.l4_end.q.val() <= bit_cast::<9, 8>(self.layout.val().header_bytes))
            & (self.l3_offset.val().get_bit(0) == self.l4_offset.val().get_bit(0));
    }
}
