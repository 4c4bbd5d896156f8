//! Says what is appended next to the frame under construction, ahead of the bytes themselves.
//!
//! ```text
//!  cut ────► frame in hand  ─┬─► next item: up to a beat of the header,
//!  answer ─► answer in hand ─┤              then what the answer's beat has for the frame
//!                            ├─► facts (with a frame's first item)
//!                            └─► ended (with a descriptor's last)
//! ```
//! | Port | Direction | Bits | Meaning and duty |
//! |---|---|---|---|
//! | `cut` | in | message | one for each frame and refused descriptor |
//! | `answer` | in | message | length and verdict of each answer, when it is there to its end |
//! | `item` | out | message | which bytes to append, of the header's beat or of the answer's |
//! | `facts` | out | message | one for each frame, with its first item |
//! | `ended` | out | message | one for each descriptor, 1: a frame of it was aborted |
//!
//! Timing: one item a cycle, offered the cycle after its cut and its answer came; the next frame
//! and the next answer follow without a pause. Nothing is offered before `item`, `ended` and, for a
//! frame's first item, `facts` are ready: these are all registers at the far end.
//!
//! Invariants:
//! 1. Every item of a header takes a beat of it; `answer_done` marks the one that takes the rest of
//!    an answer's beat.
//! 2. `last` marks the item that completes the frame.
//! 3. `ended` comes after the last byte of the descriptor's last answer has arrived.

use crate::merge::merge_hand::{AnswerHand, FrameHand};
use crate::messages::{AnswerFacts, FrameCut, HeaderLayout, ItemCut};
use stream::prelude::*;

/// The decision. See the module's head.
#[derive(LogicBlock, Default)]
pub struct MergeItem {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Forgets everything.
    pub reset: Signal<In, Bit>,

    /// Frames to put together.
    pub cut: MessageSink<FrameCut>,
    /// What is known of their payload.
    pub answer: MessageSink<AnswerFacts>,
    /// What to append.
    pub item: MessageSource<ItemCut>,
    /// What checksum needs to know.
    pub facts: MessageSource<HeaderLayout>,
    /// A descriptor is finished; 1: failed.
    pub ended: MessageSource<Bits<1>>,

    frame: FrameHand,
    read: AnswerHand,
    frame_failed: DFF<Bit>,
    failed: DFF<Bit>,

    cut_now: Signal<Local, FrameCut>,
    go: Signal<Local, Bit>,
    beat_rest: Signal<Local, Bits<14>>,
    payload_ends: Signal<Local, Bit>,
    beat_ends: Signal<Local, Bit>,
    last: Signal<Local, Bit>,
    abort: Signal<Local, Bit>,
    done: Signal<Local, Bit>,
}

impl Logic for MergeItem {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, frame_failed, failed);
        clock!(self, clock, frame, read);
        self.frame.reset.next = self.reset.val();
        self.read.reset.next = self.reset.val();
        MessageSink::<FrameCut>::link(&mut self.cut, &mut self.frame.cut);
        MessageSink::<AnswerFacts>::link(&mut self.answer, &mut self.read.answer);

        // An item goes when all that may come with it would be taken, whatever it is.
        self.cut_now.next = self.frame.frame.val();
        self.go.next = self.frame.valid.val()
            & !self.cut_now.val().refused
            & (self.frame.in_header.val() | self.read.valid.val())
            & (self.facts.ready.val() | !self.frame.first.val())
            & self.item.ready.val()
            & self.ended.ready.val();

        // The payload ends in the answer's beat, or the beat is used up, or both.
        self.beat_rest.next = bit_cast::<14, 7>(self.read.beat_rest.val());
        self.payload_ends.next = self.frame.payload_rest.val() <= self.beat_rest.val();
        self.beat_ends.next = self.frame.payload_rest.val() >= self.beat_rest.val();
        self.item.payload.next.start = self.read.start.val();
        self.item.payload.next.byte_count = self.read.beat_rest.val();
        self.last.next = self.payload_ends.val();
        if self.payload_ends.val() {
            self.item.payload.next.byte_count = bit_cast::<7, 14>(self.frame.payload_rest.val());
        }
        if self.frame.in_header.val() {
            self.item.payload.next.start = 0.into();
            self.item.payload.next.byte_count = self.frame.header_count.val();
            self.last.next = self.frame.header_last.val();
        }
        self.abort.next =
            self.frame_failed.q.val() | (!self.frame.in_header.val() & self.read.failed.val());
        self.item.valid.next = self.go.val();
        self.item.payload.next.in_header = self.frame.in_header.val();
        self.item.payload.next.answer_done = !self.frame.in_header.val() & self.beat_ends.val();
        self.item.payload.next.last = self.last.val();
        self.item.payload.next.abort = self.abort.val();
        self.facts.valid.next = self.go.val() & self.frame.first.val();
        self.facts.payload.next = self.cut_now.val().layout;

        self.frame.step.next = self.go.val();
        self.frame.beat_rest.next = self.read.beat_rest.val();
        self.done.next = (self.go.val() & self.last.val())
            | (self.frame.valid.val() & self.cut_now.val().refused & self.ended.ready.val());
        self.frame.done.next = self.done.val();
        self.read.step.next = self.go.val() & !self.frame.in_header.val();
        self.read.payload_rest.next = self.frame.payload_rest.val();
        self.read.uses_up.next = self.beat_ends.val();

        // A descriptor failed when one of its frames did; one that is refused has none.
        self.ended.valid.next = self.done.val() & self.cut_now.val().descriptor_end;
        self.ended.payload.next = 0.into();
        if self.abort.val() | self.failed.q.val() {
            self.ended.payload.next = 1.into();
        }
        if self.go.val() {
            self.frame_failed.d.next = self.abort.val() & !self.last.val();
        }
        if self.go.val() & self.last.val() {
            self.failed.d.next =
                (self.abort.val() | self.failed.q.val()) & !self.cut_now.val().descriptor_end;
        }
        if self.reset.val() {
            self.frame_failed.d.next = false;
            self.failed.d.next = false;
        }
    }
}
