//! Judges whether a header has room for the layers that it names.
//!
//! ```text
//!  layout ──► ends of the layers ──► register ──► compare ──► fits
//! ```
//! The IP header (20 bytes, IPv6 40) lies behind the first 14 bytes and ends at or before the L4
//! header, that (TCP 20, UDP 8) ends inside the header, and the two start an even number of bytes
//! apart.
//!
//! Timing: `fits` holds from the second cycle on in which `layout` is unchanged.

use crate::messages::HeaderLayout;
use stream::prelude::*;

/// The check. See the module's head.
#[derive(LogicBlock, Default)]
pub struct LayersCheck {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Where the layers lie.
    pub layout: Signal<In, HeaderLayout>,
    /// There is room for them.
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
