//! Puts frames together: for each cut its header's beats, then payload out of the answers of the
//! reads.
//!
//! ```text
//!  cut ───────────┐                       ┌──► facts (layers, for checksum)
//!  answer_facts ──┴──► items (which bytes) ┴──► ended (to report)
//!                        │ (2)
//!  header, answers ──────┴──► align ──► frames
//! ```
//! | Port | Direction | Bits | Meaning and duty |
//! |---|---|---|---|
//! | `cut` | in | message | one for each frame and refused descriptor |
//! | `header` | in | message | header beats; there before their cut |
//! | `answers` | in | packet | payload |
//! | `answer_facts` | in | message | one for each answer |
//! | `facts` | out | message | one for each frame, before its first beat |
//! | `frames` | out | packet | frames, aborted when a part could not be read |
//! | `ended` | out | message | see [`crate::merge::merge_item`] |
//!
//! Timing: one item a cycle: every header beat, every answer beat once for each frame that it is
//! part of. Which bytes an item has is decided from lengths alone, a cycle before its beat is used.
//!
//! Invariants: those of [`crate::merge::merge_item`].

pub mod align;
pub mod align_join;
pub mod merge_hand;
pub mod merge_item;

use crate::merge::align::Align;
use crate::merge::merge_item::MergeItem;
use crate::messages::{AnswerFacts, FrameCut, HeaderLayout, ItemCut};
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
    /// What is known of it.
    pub answer_facts: MessageSink<AnswerFacts>,
    /// What checksum needs to know.
    pub facts: MessageSource<HeaderLayout>,
    /// The frames.
    pub frames: PacketSource,
    /// A descriptor is finished; 1: failed.
    pub ended: MessageSource<Bits<1>>,

    item: MergeItem,
    items: Fifo<ItemCut, 1, 2>,
    align: Align,

    chosen: Signal<Local, ItemCut>,
    beat_valid: Signal<Local, Bit>,
}

impl Logic for Merge {
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, item, items, align);
        self.item.reset.next = self.reset.val();
        self.items.reset.next = self.reset.val();
        self.align.reset.next = self.reset.val();
        MessageSink::<FrameCut>::link(&mut self.cut, &mut self.item.cut);
        MessageSink::<AnswerFacts>::link(&mut self.answer_facts, &mut self.item.answer);
        MessageSource::<HeaderLayout>::link(&mut self.facts, &mut self.item.facts);
        MessageSource::<Bits<1>>::link(&mut self.ended, &mut self.item.ended);
        MessageSource::<ItemCut>::join(&mut self.item.item, &mut self.items.sink);
        PacketSource::link(&mut self.frames, &mut self.align.frames);

        // An item goes when its beat is there.
        self.chosen.next = self.items.source.payload.val();
        self.beat_valid.next = (self.chosen.val().in_header & self.header.valid.val())
            | (!self.chosen.val().in_header & self.answers.valid.val());
        self.align.item.valid.next = self.items.source.valid.val() & self.beat_valid.val();
        self.items.source.ready.next = self.beat_valid.val() & self.align.item.ready.val();
        self.header.ready.next = self.items.source.valid.val()
            & self.chosen.val().in_header
            & self.align.item.ready.val();
        self.answers.ready.next = self.items.source.valid.val()
            & self.chosen.val().answer_done
            & self.align.item.ready.val();

        self.align.item.payload.next.data = self.answers.data.val();
        if self.chosen.val().in_header {
            self.align.item.payload.next.data = self.header.payload.val();
        }
        self.align.item.payload.next.start = self.chosen.val().start;
        self.align.item.payload.next.byte_count = self.chosen.val().byte_count;
        self.align.item.payload.next.last = self.chosen.val().last;
        self.align.item.payload.next.abort = self.chosen.val().abort;
    }
}
