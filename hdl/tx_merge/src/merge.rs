//! Puts frames together: for each cut its header's beats, then payload out of the answers of the
//! reads.
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
//! Timing: one item a cycle: every header beat, every answer beat once for each frame that it is
//! part of.
//!
//! Invariants:
//! 1. `ended` comes after the last byte of the descriptor's last answer was taken.

use crate::align::Align;
use crate::merge_item::MergeItem;
use crate::plan::{FrameCut, HeaderLayout};
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
    pub header: MessageSink<Bits<512>>,
    /// Their payload.
    pub answers: PacketSink,
    /// What checksum needs to know.
    pub facts: MessageSource<HeaderLayout>,
    /// The frames.
    pub frames: PacketSource,
    /// A descriptor is finished; 1: failed.
    pub ended: MessageSource<Bits<1>>,

    item: MergeItem,
    align: Align,
    failed: DFF<Bit>,

    cut_now: Signal<Local, FrameCut>,
    layout: Signal<Local, HeaderLayout>,
    answer: Signal<Local, PacketBeat>,
    last: Signal<Local, Bit>,
    abort: Signal<Local, Bit>,
    ends: Signal<Local, Bit>,
    refuses: Signal<Local, Bit>,
    offer: Signal<Local, Bit>,
    take: Signal<Local, Bit>,
}

impl Logic for Merge {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, failed);
        self.item.clock.next = self.clock.val();
        self.item.reset.next = self.reset.val();
        self.align.clock.next = self.clock.val();
        self.align.reset.next = self.reset.val();
        PacketSource::link(&mut self.frames, &mut self.align.frames);

        self.cut_now.next = self.cut.payload.val();
        self.layout.next = self.cut_now.val().layout;
        self.answer.next.data = self.answers.data.val();
        self.answer.next.byte_count = self.answers.byte_count.val();
        self.answer.next.last = self.answers.last.val();
        self.answer.next.abort = self.answers.abort.val();
        self.item.cut.next = self.cut_now.val();
        self.item.header_data.next = self.header.payload.val();
        self.item.answer.next = self.answer.val();
        self.align.item.payload.next = self.item.item.val();
        self.last.next = self.item.item.val().last;
        self.abort.next = self.item.item.val().abort | self.failed.q.val();

        // An item goes when its beat is there and the messages that go with it would be taken.
        self.refuses.next = self.cut.valid.val() & self.cut_now.val().refused;
        self.ends.next = self.last.val() & self.cut_now.val().descriptor_end;
        self.offer.next = self.cut.valid.val()
            & !self.cut_now.val().refused
            & ((self.item.in_header.val() & self.header.valid.val())
                | (!self.item.in_header.val() & self.answers.valid.val()))
            & (self.facts.ready.val() | !self.item.first.val())
            & (self.ended.ready.val() | !self.ends.val());
        self.take.next = self.offer.val() & self.align.item.ready.val();
        self.align.item.valid.next = self.offer.val();
        self.item.take.next = self.take.val();
        self.header.ready.next = self.take.val() & self.item.in_header.val();
        self.answers.ready.next = self.take.val() & self.item.answer_done.val();
        self.cut.ready.next =
            (self.take.val() & self.last.val()) | (self.refuses.val() & self.ended.ready.val());
        self.facts.valid.next = self.take.val() & self.item.first.val();
        self.facts.payload.next = self.layout.val();

        // A descriptor failed when one of its frames did.
        self.ended.valid.next = (self.take.val() & self.ends.val()) | self.refuses.val();
        self.ended.payload.next = 0.into();
        if self.abort.val() & !self.refuses.val() {
            self.ended.payload.next = 1.into();
        }
        if self.take.val() & self.last.val() {
            self.failed.d.next = self.abort.val() & !self.cut_now.val().descriptor_end;
        }
        if self.reset.val() {
            self.failed.d.next = false;
        }
    }
}
