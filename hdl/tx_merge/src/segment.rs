//! Cuts a descriptor's payload into frames of at most `mss_bytes` and makes each frame's header.
//!
//! ```text
//!  plan, numbers ──► count frames ──► work ──► register ──► windows ─┐
//!                          │ beat                                    ▼
//!  template ──► store of 256 beats ──► memory ──► register ──────► patch ──► header (16)
//!                                                       last beat └────────► cut (16)
//! ```
//! | Port | Direction | Bits | Meaning and duty |
//! |---|---|---|---|
//! | `plan`, `numbers` | in | message | one for each descriptor |
//! | `template` | in | message | its header beats, there before its plan |
//! | `cut` | out | message | one for each frame, and one for a refused descriptor |
//! | `header` | out | message | the frame's header beats; beyond `header_bytes` undefined |
//!
//! Timing: one header beat a cycle, so that a header of up to 64 bytes takes one; two cycles of
//! latency.
//!
//! Invariants:
//! 1. The header beats of a frame follow each other as their cuts do, the last one with its cut.
//! 2. Frame n of a descriptor has the template's sequence number + trim + payload before it, its
//!    identification + n, its own lengths; FIN and PSH only in the last, CWR only in the first.
//! 3. A checksum field that is to be inserted is zero.

pub mod header_patch;
pub mod header_store;
pub mod header_window;
pub mod segment_frame;
pub mod window_put;

use crate::messages::{FrameCut, HeaderNumbers, SendPlan};
use crate::segment::header_patch::HeaderPatch;
use crate::segment::header_store::HeaderStore;
use crate::segment::segment_frame::{HeaderWork, SegmentFrame};
use stream::prelude::*;

/// The stage. See the module's head.
#[derive(LogicBlock, Default)]
pub struct Segment {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Forgets everything.
    pub reset: Signal<In, Bit>,

    /// Plans.
    pub plan: MessageSink<SendPlan>,
    /// What their templates hold.
    pub numbers: MessageSink<HeaderNumbers>,
    /// Templates.
    pub template: MessageSink<Bits<512>>,
    /// Frames to put together.
    pub cut: MessageSource<FrameCut>,
    /// Their headers.
    pub header: MessageSource<Bits<512>>,

    frame: SegmentFrame,
    store: HeaderStore,
    patch: HeaderPatch,
    cut_queue: Fifo<FrameCut, 4, 5>,
    header_queue: Fifo<Bits<512>, 4, 5>,
    reading_valid: DFF<Bit>,
    reading: DFF<HeaderWork>,
    ready_valid: DFF<Bit>,
    ready: DFF<HeaderWork>,
    has_room: DFF<Bit>,

    made: Signal<Local, FrameCut>,
}

impl Logic for Segment {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            reading_valid,
            reading,
            ready_valid,
            ready,
            has_room
        );
        clock!(self, clock, frame, store, patch, cut_queue, header_queue);
        self.frame.reset.next = self.reset.val();
        self.store.reset.next = self.reset.val();
        self.cut_queue.reset.next = self.reset.val();
        self.header_queue.reset.next = self.reset.val();
        MessageSink::<SendPlan>::link(&mut self.plan, &mut self.frame.plan);
        MessageSink::<HeaderNumbers>::link(&mut self.numbers, &mut self.frame.numbers);
        MessageSink::<Bits<512>>::link(&mut self.template, &mut self.store.sink);
        MessageSource::<FrameCut>::link(&mut self.cut, &mut self.cut_queue.source);
        MessageSource::<Bits<512>>::link(&mut self.header, &mut self.header_queue.source);

        // A beat begun always finds room: three are on their way when it begins.
        self.has_room.d.next =
            (self.header_queue.level.val() < 12) & (self.cut_queue.level.val() < 12);
        self.frame.go.next = self.has_room.q.val();
        self.store.read_beat.next = self.frame.read_beat.val();
        self.store.frees.next = self.frame.frees.val();
        self.store.freed_beats.next = self.frame.template_beats.val();
        self.reading_valid.d.next = self.frame.valid.val() & !self.reset.val();
        self.reading.d.next = self.frame.work.val();
        self.ready_valid.d.next = self.reading_valid.q.val() & !self.reset.val();
        self.ready.d.next = self.reading.q.val();
        self.patch.work.next = self.reading.q.val();
        self.patch.data.next = self.store.data.val();

        self.made.next = self.ready.q.val().cut;
        self.header_queue.sink.valid.next = self.ready_valid.q.val() & !self.made.val().refused;
        self.header_queue.sink.payload.next = self.patch.patched.val();
        self.cut_queue.sink.valid.next = self.ready_valid.q.val() & self.ready.q.val().last;
        self.cut_queue.sink.payload.next = self.made.val();
    }
}
