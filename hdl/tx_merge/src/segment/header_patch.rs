//! Sets what segmentation and checksum insertion change in a header, beat by beat.
//!
//! ```text
//!  work ──► two windows of 16 bytes ──► register ──┐
//!  data ───────────────────────────────────────────┴──► replace ──► patched
//! ```
//! | Window | Byte | Value | Changed when |
//! |---|---|---|---|
//! | from 2 bytes into the IP header | 0, 1 | IPv4 total length | rewrite, IPv4 |
//! | | 2, 3 | identification, or IPv6 payload length | rewrite |
//! | | 8, 9 | IPv4 header checksum: 0 | IP insertion |
//! | from 4 bytes into the L4 header | 0 to 3 | TCP sequence number | rewrite, TCP |
//! | | 9 | TCP flags | rewrite, TCP |
//! | | 12, 13 | TCP checksum: 0 | L4 insertion, TCP |
//! | | 0, 1 | UDP length | rewrite, UDP |
//! | | 2, 3 | UDP checksum: 0 | L4 insertion, UDP |
//!
//! Timing: `patched` is combinational from `data`, which comes one cycle after its work.
//!
//! Source: docs/specification.md, Segmentation; RFC 791, RFC 8200, RFC 9293, RFC 768 (offsets).

use crate::segment::header_window::{L3Window, L4Window};
use crate::segment::segment_frame::HeaderWork;
use crate::segment::window_put::WindowPut;
use stream::prelude::*;

/// The patch. See the module's head.
#[derive(LogicBlock, Default)]
pub struct HeaderPatch {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// The header beat to make.
    pub work: Signal<In, HeaderWork>,
    /// Beat of the template, one cycle after its work.
    pub data: Signal<In, Bits<512>>,
    /// Beat of the frame's header.
    pub patched: Signal<Out, Bits<512>>,

    l3: L3Window,
    l4: L4Window,
    l3_put: WindowPut,
    l4_put: WindowPut,
    beat: DFF<Bits<3>>,
}

impl Logic for HeaderPatch {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, beat);
        clock!(self, clock, l3, l4);
        self.l3.work.next = self.work.val();
        self.l4.work.next = self.work.val();
        self.beat.d.next = bit_cast::<3, 2>(self.work.val().beat);

        self.l3_put.beat.next = self.beat.q.val();
        self.l3_put.start.next = self.l3.start.val();
        self.l3_put.window.next = self.l3.window.val();
        self.l3_put.mask.next = self.l3.mask.val();
        self.l4_put.beat.next = self.beat.q.val();
        self.l4_put.start.next = self.l4.start.val();
        self.l4_put.window.next = self.l4.window.val();
        self.l4_put.mask.next = self.l4.mask.val();
        self.patched.next = (self.data.val()
            & !(self.l3_put.lanes.val() | self.l4_put.lanes.val()))
            | (self.l3_put.placed.val() & self.l3_put.lanes.val())
            | (self.l4_put.placed.val() & self.l4_put.lanes.val());
    }
}
