//! Decides which bytes are appended next to the frame under construction, before the bytes are
//! used.
//!
//! ```text
//!  cut ─────────► frame in progress ─┬──► next item: up to a beat of the header,
//!  read_facts ──► read in progress ──┤               then what the read's beat has for the frame
//!                                    ├──► facts (with a frame's first item)
//!                                    └──► ended (with a descriptor's last)
//! ```
//! Timing: one item per cycle, offered the cycle after its cut and its read facts came; the next
//! frame and the next read follow without a pause. Nothing is offered before `item`, `ended` and,
//! for a frame's first item, `facts` are ready: `valid` of each follows `ready` of all three in the
//! same cycle. All three are registers at the far end.
//!
//! Invariants:
//! 1. Every item of a header takes a beat of it; `read_beat_done` marks the one that takes the rest
//!    of a beat of read data.
//! 2. `last` marks the item that completes the frame.
//! 3. `ended` comes after the last byte of the descriptor's last read has arrived.
//!
//! On error: a read that failed aborts the frames that it feeds.

use crate::merge::frame_progress::FrameProgress;
use crate::merge::read_progress::ReadProgress;
use crate::messages::{FrameCut, HeaderLayout, ItemCut, ReadFacts};
use stream::prelude::*;

/// The decision. See the module's head.
#[derive(LogicBlock, Default)]
pub struct MergeItem {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Drops the frame and the read in progress.
    pub reset: Signal<In, Bit>,

    /// Frames to put together, and the ends of refused descriptors.
    pub cut: MessageSink<FrameCut>,
    /// Length and verdict of each read, when its data are complete.
    pub read_facts: MessageSink<ReadFacts>,
    /// Bytes to append, of the header's beat or of the read data's.
    pub item: MessageSource<ItemCut>,
    /// Layers and insertions of each frame, with its first item.
    pub facts: MessageSource<HeaderLayout>,
    /// One message for each descriptor at its end; 1: a frame of it was aborted.
    pub ended: MessageSource<Bits<1>>,

    frame: FrameProgress,
    read: ReadProgress,
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
        MessageSink::<ReadFacts>::link(&mut self.read_facts, &mut self.read.facts);

        // An item is offered when all that may come with it would be taken, whether it comes or
        // not.
        self.cut_now.next = self.frame.frame.val();
        self.go.next = self.frame.valid.val()
            & !self.cut_now.val().refused
            & (self.frame.in_header.val() | self.read.valid.val())
            & (self.facts.ready.val() | !self.frame.first.val())
            & self.item.ready.val()
            & self.ended.ready.val();

        // The payload ends in the read's beat, or the beat is used up, or both.
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
        self.item.payload.next.read_beat_done = !self.frame.in_header.val() & self.beat_ends.val();
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
