//! Puts frames together: the beats of each frame's header, then its payload out of the read data.
//!
//! ```text
//!  cut ─────────┐                         ┌──► facts (layers, for checksum)
//!  read_facts ──┴──► items (which bytes) ─┴──► ended (to report)
//!                        │ (2)
//!  header, payload ──────┴──► align ──► frames
//! ```
//! Timing: one item per cycle: every header beat, and every beat of read data once for each frame
//! that it is part of. Which bytes an item has is decided from lengths alone, a cycle before its
//! beat is used. `header.ready` and `payload.ready` follow `frames.ready`, and each other's
//! `valid`, in the same cycle.
//!
//! Invariants: those of [`crate::merge::merge_item`].
//!
//! On error: a frame with payload that could not be read ends with `abort`.

pub mod align;
pub mod align_join;
pub mod frame_progress;
pub mod merge_item;
pub mod read_progress;

use crate::merge::align::Align;
use crate::merge::merge_item::MergeItem;
use crate::messages::{FrameCut, HeaderLayout, ItemCut, ReadFacts};
use stream::prelude::*;

/// The stage. See the module's head.
#[derive(LogicBlock, Default)]
pub struct Merge {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Drops the frame under construction and all items.
    pub reset: Signal<In, Bit>,

    /// Frames to put together, and the ends of refused descriptors, in ring order.
    pub cut: MessageSink<FrameCut>,
    /// Header beats, no later than their cut.
    pub header: MessageSink<Bits<512>>,
    /// Data of the reads, in the order of the cuts.
    pub payload: PacketSink,
    /// Length and verdict of each read, in order, when its data are complete.
    pub read_facts: MessageSink<ReadFacts>,
    /// Layers and insertions of each frame, before its first beat.
    pub facts: MessageSource<HeaderLayout>,
    /// Frames, aborted where a part could not be read.
    pub frames: PacketSource,
    /// One message for each descriptor at its end; 1: a frame of it was aborted.
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
        MessageSink::<ReadFacts>::link(&mut self.read_facts, &mut self.item.read_facts);
        MessageSource::<HeaderLayout>::link(&mut self.facts, &mut self.item.facts);
        MessageSource::<Bits<1>>::link(&mut self.ended, &mut self.item.ended);
        MessageSource::<ItemCut>::join(&mut self.item.item, &mut self.items.sink);
        PacketSource::link(&mut self.frames, &mut self.align.frames);

        // An item is appended when its beat is there.
        self.chosen.next = self.items.source.payload.val();
        self.beat_valid.next = (self.chosen.val().in_header & self.header.valid.val())
            | (!self.chosen.val().in_header & self.payload.valid.val());
        self.align.item.valid.next = self.items.source.valid.val() & self.beat_valid.val();
        self.items.source.ready.next = self.beat_valid.val() & self.align.item.ready.val();
        self.header.ready.next = self.items.source.valid.val()
            & self.chosen.val().in_header
            & self.align.item.ready.val();
        self.payload.ready.next = self.items.source.valid.val()
            & self.chosen.val().read_beat_done
            & self.align.item.ready.val();

        self.align.item.payload.next.data = self.payload.data.val();
        if self.chosen.val().in_header {
            self.align.item.payload.next.data = self.header.payload.val();
        }
        self.align.item.payload.next.start = self.chosen.val().start;
        self.align.item.payload.next.byte_count = self.chosen.val().byte_count;
        self.align.item.payload.next.last = self.chosen.val().last;
        self.align.item.payload.next.abort = self.chosen.val().abort;
    }
}
