//! Puts frames together: for each cut its header's beats, then payload out of the answers of the reads.
//!
//! ```text
//!  cut ─────┐
//!  header ──┼──► items (where in a beat, how many bytes) ──► align ──► frames
//!  answers ─┘──► facts (layers, for checksum)   ──► ended (to report)
//! ```
//! | Port | Direction | Bits | Meaning and duty |
//! |---|---|---|---|
//! | `cut` | in | message | one for each frame and refused descriptor |
//! | `header` | in | message | header beats; there before their cut |
//! | `answers` | in | packet | payload, `abort` on all beats of an answer that failed |
//! | `facts` | out | message | one for each frame, before its first beat |
//! | `frames` | out | packet | frames, aborted when a part could not be read |
//! | `ended` | out | message | one for each descriptor, 1: a frame of it was aborted |
//!
//! Timing: one item a cycle: every header beat, every answer beat once for each frame that it is part of.
//!
//! Invariants:
//! 1. `ended` comes after the last byte of the descriptor's last answer was taken.

use crate::align::Align;
use crate::plan::{FrameCut, HeaderBeat, HeaderLayout};
use stream::prelude::*;

/// The stage. See the module's head.
#[derive(LogicBlock, Default)]
pub struct Merge {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Forgets everything.
    pub reset: Signal<In, Bit>,

    /// Frames to put together.
    pub cut: MessageSink<FrameCut>,
    /// Their headers.
    pub header: MessageSink<HeaderBeat>,
    /// Their payload.
    pub answers: PacketSink,
    /// What checksum needs to know.
    pub facts: MessageSource<HeaderLayout>,
    /// The frames.
    pub frames: PacketSource,
    /// A descriptor is finished; 1: failed.
    pub ended: MessageSource<Bits<1>>,

    align: Align,
    header_sent: DFF<Bits<8>>,
    payload_sent: DFF<Bits<14>>,
    answer_start: DFF<Bits<7>>,
    frame_failed: DFF<Bit>,
    descriptor_failed: DFF<Bit>,

    layout: Signal<Local, HeaderLayout>,
    header_rest: Signal<Local, Bits<8>>,
    payload_rest: Signal<Local, Bits<14>>,
    answer_rest: Signal<Local, Bits<7>>,
    in_header: Signal<Local, Bit>,
    last: Signal<Local, Bit>,
    failed: Signal<Local, Bit>,
    offer: Signal<Local, Bit>,
    take: Signal<Local, Bit>,
    count: Signal<Local, Bits<7>>,
    end_needed: Signal<Local, Bit>,
}

impl Logic for Merge {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            header_sent,
            payload_sent,
            answer_start,
            frame_failed,
            descriptor_failed
        );
        self.align.clock.next = self.clock.val();
        self.align.reset.next = self.reset.val();
        PacketSource::link(&mut self.frames, &mut self.align.frames);

        // The next item: up to a beat of the header, then what this answer beat has for the frame.
        self.layout.next = self.cut.payload.val().layout;
        self.header_rest.next = self.layout.val().header_bytes - self.header_sent.q.val();
        self.payload_rest.next = self.cut.payload.val().payload_bytes - self.payload_sent.q.val();
        self.answer_rest.next = self.answers.byte_count.val() - self.answer_start.q.val();
        self.in_header.next = self.header_rest.val().any();
        self.align.item.payload.next.data = self.answers.data.val();
        self.align.item.payload.next.start = bit_cast::<6, 7>(self.answer_start.q.val());
        self.count.next = self.answer_rest.val();
        self.last.next = false;
        if self.in_header.val() {
            self.align.item.payload.next.data = self.header.payload.val().data;
            self.align.item.payload.next.start = 0.into();
            self.count.next = 64.into();
            if self.header_rest.val() <= 64 {
                self.count.next = bit_cast::<7, 8>(self.header_rest.val());
                self.last.next = !self.cut.payload.val().payload_bytes.any();
            }
        } else if self.payload_rest.val() <= bit_cast::<14, 7>(self.answer_rest.val()) {
            self.count.next = bit_cast::<7, 14>(self.payload_rest.val());
            self.last.next = true;
        }
        self.failed.next =
            self.frame_failed.q.val() | (!self.in_header.val() & self.answers.abort.val());
        self.align.item.payload.next.byte_count = self.count.val();
        self.align.item.payload.next.last = self.last.val();
        self.align.item.payload.next.abort = self.failed.val();

        // It goes when its beat is there and the messages that go with it are taken.
        self.end_needed.next = self.last.val() & self.cut.payload.val().descriptor_end;
        self.offer.next = self.cut.valid.val()
            & !self.cut.payload.val().refused
            & ((self.in_header.val() & self.header.valid.val())
                | (!self.in_header.val() & self.answers.valid.val()))
            & (self.facts.ready.val() | self.header_sent.q.val().any())
            & (self.ended.ready.val() | !self.end_needed.val());
        self.align.item.valid.next = self.offer.val();
        self.take.next = self.offer.val() & self.align.item.ready.val();
        self.facts.valid.next = self.take.val() & !self.header_sent.q.val().any();
        self.facts.payload.next = self.layout.val();
        self.header.ready.next = self.take.val() & self.in_header.val();
        self.answers.ready.next =
            self.take.val() & !self.in_header.val() & (self.count.val() == self.answer_rest.val());
        self.ended.valid.next = (self.take.val() & self.end_needed.val())
            | (self.cut.valid.val() & self.cut.payload.val().refused);
        self.ended.payload.next = 0.into();
        if (self.failed.val() | self.descriptor_failed.q.val()) & !self.cut.payload.val().refused {
            self.ended.payload.next = 1.into();
        }
        self.cut.ready.next = (self.take.val() & self.last.val())
            | (self.cut.payload.val().refused & self.ended.ready.val());
        if self.take.val() {
            if self.in_header.val() {
                self.header_sent.d.next =
                    self.header_sent.q.val() + bit_cast::<8, 7>(self.count.val());
            } else {
                self.payload_sent.d.next =
                    self.payload_sent.q.val() + bit_cast::<14, 7>(self.count.val());
                self.answer_start.d.next = self.answer_start.q.val() + self.count.val();
                if self.count.val() == self.answer_rest.val() {
                    self.answer_start.d.next = 0.into();
                }
            }
            self.frame_failed.d.next = self.failed.val();
            if self.last.val() {
                self.header_sent.d.next = 0.into();
                self.payload_sent.d.next = 0.into();
                self.frame_failed.d.next = false;
                self.descriptor_failed.d.next = (self.failed.val()
                    | self.descriptor_failed.q.val())
                    & !self.cut.payload.val().descriptor_end;
            }
        }
        if self.reset.val() {
            self.header_sent.d.next = 0.into();
            self.payload_sent.d.next = 0.into();
            self.answer_start.d.next = 0.into();
            self.frame_failed.d.next = false;
            self.descriptor_failed.d.next = false;
        }
    }
}
