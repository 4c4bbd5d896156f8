//! Counts through the frames of a descriptor: payload, lengths and the values of each.
//!
//! ```text
//!  plan, template ──► registers: bytes sent, frames sent ──► values, payload_bytes, is_last
//! ```
//! Timing: outputs follow the registers in the same cycle; `advance` moves to the next frame,
//! after the last one to the first of the next descriptor.

use crate::header_field::FrameValues;
use crate::plan::{HeaderLayout, SendPlan};
use stream::prelude::*;

/// The counters. See the module's head.
#[derive(LogicBlock, Default)]
pub struct SegmentFrame {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Forgets everything.
    pub reset: Signal<In, Bit>,
    /// The descriptor's plan.
    pub plan: Signal<In, SendPlan>,
    /// Identification, sequence number and flags of the template, in this order.
    pub template: Signal<In, Bits<56>>,
    /// Go to the next frame.
    pub advance: Signal<In, Bit>,

    /// Values of this frame.
    pub values: Signal<Out, FrameValues>,
    /// Its payload.
    pub payload_bytes: Signal<Out, Bits<14>>,
    /// Its header and payload.
    pub frame_bytes: Signal<Out, Bits<16>>,
    /// It is the last of its descriptor.
    pub is_last: Signal<Out, Bit>,

    sent_bytes: DFF<Bits<18>>,
    sent_frames: DFF<Bits<16>>,

    layout: Signal<Local, HeaderLayout>,
    rest_bytes: Signal<Local, Bits<18>>,
    chunk_bytes: Signal<Local, Bits<18>>,
    last: Signal<Local, Bit>,
    flag_mask: Signal<Local, Bits<8>>,
}

impl Logic for SegmentFrame {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, sent_bytes, sent_frames);
        self.layout.next = self.plan.val().layout;
        self.rest_bytes.next = self.plan.val().payload_bytes - self.sent_bytes.q.val();
        self.last.next = true;
        self.chunk_bytes.next = self.rest_bytes.val();
        if self.rest_bytes.val() > bit_cast::<18, 14>(self.plan.val().mss_bytes) {
            self.last.next = false;
            self.chunk_bytes.next = bit_cast::<18, 14>(self.plan.val().mss_bytes);
        }
        self.is_last.next = self.last.val();
        self.payload_bytes.next = bit_cast::<14, 18>(self.chunk_bytes.val());
        self.frame_bytes.next = bit_cast::<16, 18>(self.chunk_bytes.val())
            + bit_cast::<16, 8>(self.layout.val().header_bytes);

        // CWR belongs to the first frame, FIN and PSH to the last.
        self.flag_mask.next = 0x76.into();
        if !self.sent_frames.q.val().any() & self.last.val() {
            self.flag_mask.next = 0xff.into();
        } else if !self.sent_frames.q.val().any() {
            self.flag_mask.next = 0xf6.into();
        } else if self.last.val() {
            self.flag_mask.next = 0x7f.into();
        }
        self.values.next.flags = self.template.val().get_bits::<8>(0) & self.flag_mask.val();
        self.values.next.sequence = self.template.val().get_bits::<32>(8)
            + bit_cast::<32, 18>(self.plan.val().trim_bytes)
            + bit_cast::<32, 18>(self.sent_bytes.q.val());
        self.values.next.identification =
            self.template.val().get_bits::<16>(40) + self.sent_frames.q.val();

        if self.advance.val() {
            self.sent_bytes.d.next = self.sent_bytes.q.val() + self.chunk_bytes.val();
            self.sent_frames.d.next = self.sent_frames.q.val() + 1;
        }
        if self.reset.val() | (self.advance.val() & self.last.val()) {
            self.sent_bytes.d.next = 0.into();
            self.sent_frames.d.next = 0.into();
        }
    }
}
