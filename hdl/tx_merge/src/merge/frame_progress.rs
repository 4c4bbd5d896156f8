//! Keeps the frame that merge puts together, and how much of it is appended already.
//!
//! ```text
//!  cut ──► frame ──► bytes left of header and payload
//! ```
//! Timing: `cut.ready` follows `done` in the same cycle: the next frame comes without a pause. All
//! other outputs are functions of registers.

use crate::messages::{FrameCut, HeaderLayout};
use stream::prelude::*;

/// The frame. See the module's head.
#[derive(LogicBlock, Default)]
pub struct FrameProgress {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Drops the frame.
    pub reset: Signal<In, Bit>,

    /// Frames to put together.
    pub cut: MessageSink<FrameCut>,
    /// An item of the frame is appended.
    pub step: Signal<In, Bit>,
    /// With `step`, after the header: bytes that the read data's beat has for the frame.
    pub beat_rest: Signal<In, Bits<7>>,
    /// The frame is complete: go to the next one.
    pub done: Signal<In, Bit>,

    /// There is a frame.
    pub valid: Signal<Out, Bit>,
    /// The frame.
    pub frame: Signal<Out, FrameCut>,
    /// No item of the frame is appended yet.
    pub first: Signal<Out, Bit>,
    /// The frame's next item is of its header.
    pub in_header: Signal<Out, Bit>,
    /// Bytes of the header that the next item takes: at most a beat.
    pub header_count: Signal<Out, Bits<7>>,
    /// The next header item is the last item of a frame without payload.
    pub header_last: Signal<Out, Bit>,
    /// Payload bytes of the frame that are not appended yet.
    pub payload_rest: Signal<Out, Bits<14>>,

    held_valid: DFF<Bit>,
    held: DFF<FrameCut>,
    untouched: DFF<Bit>,
    at_header: DFF<Bit>,
    header_bytes: DFF<Bits<8>>,
    header_ends: DFF<Bit>,
    frame_ends: DFF<Bit>,
    payload_bytes: DFF<Bits<14>>,

    next_cut: Signal<Local, FrameCut>,
    next_layout: Signal<Local, HeaderLayout>,
    free: Signal<Local, Bit>,
}

impl Logic for FrameProgress {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, held_valid, held, untouched);
        dff_setup!(self, clock, at_header, header_bytes, header_ends, frame_ends, payload_bytes);
        self.valid.next = self.held_valid.q.val();
        self.frame.next = self.held.q.val();
        self.first.next = self.untouched.q.val();
        self.in_header.next = self.at_header.q.val();
        self.header_count.next = 64.into();
        if self.header_ends.q.val() {
            self.header_count.next = bit_cast::<7, 8>(self.header_bytes.q.val());
        }
        self.header_last.next = self.frame_ends.q.val();
        self.payload_rest.next = self.payload_bytes.q.val();

        if self.step.val() {
            self.untouched.d.next = false;
            if self.at_header.q.val() {
                self.at_header.d.next = !self.header_ends.q.val();
                self.header_bytes.d.next = self.header_bytes.q.val() - 64;
                self.header_ends.d.next = self.header_bytes.q.val() <= 128;
                self.frame_ends.d.next =
                    (self.header_bytes.q.val() <= 128) & !self.payload_bytes.q.val().any();
            } else {
                self.payload_bytes.d.next =
                    self.payload_bytes.q.val() - bit_cast::<14, 7>(self.beat_rest.val());
            }
        }
        self.next_cut.next = self.cut.payload.val();
        self.next_layout.next = self.next_cut.val().layout;
        self.free.next = !self.held_valid.q.val() | self.done.val();
        self.cut.ready.next = self.free.val();
        if self.free.val() {
            self.held_valid.d.next = self.cut.valid.val();
            self.held.d.next = self.cut.payload.val();
            self.untouched.d.next = true;
            self.at_header.d.next = true;
            self.header_bytes.d.next = self.next_layout.val().header_bytes;
            self.header_ends.d.next = self.next_layout.val().header_bytes <= 64;
            self.frame_ends.d.next = (self.next_layout.val().header_bytes <= 64)
                & !self.next_cut.val().payload_bytes.any();
            self.payload_bytes.d.next = self.next_cut.val().payload_bytes;
        }
        if self.reset.val() {
            self.held_valid.d.next = false;
        }
    }
}
