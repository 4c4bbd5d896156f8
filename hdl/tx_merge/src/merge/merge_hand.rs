//! What merge has in hand: the frame that it puts together, and the answer that it takes from.
//!
//! ```text
//!  cut ────► frame  ──► bytes left of header and payload
//!  answer ─► answer ──► place in its beat, bytes left of it
//! ```
//! Timing: `ready` follows `done`, or `uses_up`, in the same cycle: the next frame and the next
//! answer come without a pause. All other outputs are registers.

use crate::messages::{AnswerFacts, FrameCut, HeaderLayout};
use stream::prelude::*;

/// The frame. See the module's head.
#[derive(LogicBlock, Default)]
pub struct FrameHand {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Forgets it.
    pub reset: Signal<In, Bit>,

    /// Frames.
    pub cut: MessageSink<FrameCut>,
    /// An item of it goes.
    pub step: Signal<In, Bit>,
    /// With `step`, behind the header: bytes that the answer's beat has for it.
    pub beat_rest: Signal<In, Bits<7>>,
    /// It is complete: the next one.
    pub done: Signal<In, Bit>,

    /// There is a frame.
    pub valid: Signal<Out, Bit>,
    /// It.
    pub frame: Signal<Out, FrameCut>,
    /// Nothing of it has gone yet.
    pub first: Signal<Out, Bit>,
    /// Its next item is of its header.
    pub in_header: Signal<Out, Bit>,
    /// Bytes of the header that the next item takes: at most a beat.
    pub header_count: Signal<Out, Bits<7>>,
    /// They are the last of a frame without payload.
    pub header_last: Signal<Out, Bit>,
    /// Bytes left of the payload.
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

impl Logic for FrameHand {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, held_valid, held, untouched);
        dff_setup!(
            self,
            clock,
            at_header,
            header_bytes,
            header_ends,
            frame_ends,
            payload_bytes
        );
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

/// The answer. See the module's head.
#[derive(LogicBlock, Default)]
pub struct AnswerHand {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Forgets it.
    pub reset: Signal<In, Bit>,

    /// Answers.
    pub answer: MessageSink<AnswerFacts>,
    /// An item takes bytes of its beat.
    pub step: Signal<In, Bit>,
    /// With `step`: so many, if the beat has more.
    pub payload_rest: Signal<In, Bits<14>>,
    /// With `step`: all that the beat has.
    pub uses_up: Signal<In, Bit>,

    /// There is an answer.
    pub valid: Signal<Out, Bit>,
    /// It could not be read.
    pub failed: Signal<Out, Bit>,
    /// First byte of its beat that is not taken.
    pub start: Signal<Out, Bits<6>>,
    /// Bytes from there on, 1 to 64.
    pub beat_rest: Signal<Out, Bits<7>>,

    held_valid: DFF<Bit>,
    held: DFF<AnswerFacts>,
    taken: DFF<Bits<6>>,
    rest: DFF<Bits<7>>,

    next_beat: Signal<Local, Bit>,
    free: Signal<Local, Bit>,
}

impl Logic for AnswerHand {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, held_valid, held, taken, rest);
        self.valid.next = self.held_valid.q.val();
        self.failed.next = self.held.q.val().failed;
        self.start.next = self.taken.q.val();
        self.beat_rest.next = self.rest.q.val();

        self.next_beat.next = self.step.val() & self.uses_up.val();
        if self.step.val() {
            self.taken.d.next = self.taken.q.val() + bit_cast::<6, 14>(self.payload_rest.val());
            self.rest.d.next = self.rest.q.val() - bit_cast::<7, 14>(self.payload_rest.val());
        }
        if self.next_beat.val() {
            self.held.d.next.beats = self.held.q.val().beats - 1;
            self.taken.d.next = 0.into();
            self.rest.d.next = 64.into();
            if self.held.q.val().beats == 1 {
                self.rest.d.next = self.held.q.val().last_bytes;
            }
        }
        self.free.next =
            !self.held_valid.q.val() | (self.next_beat.val() & !self.held.q.val().beats.any());
        self.answer.ready.next = self.free.val();
        if self.free.val() {
            self.held_valid.d.next = self.answer.valid.val();
            self.held.d.next = self.answer.payload.val();
            self.taken.d.next = 0.into();
            self.rest.d.next = 64.into();
            if !self.answer.payload.val().beats.any() {
                self.rest.d.next = self.answer.payload.val().last_bytes;
            }
        }
        if self.reset.val() {
            self.held_valid.d.next = false;
        }
    }
}
