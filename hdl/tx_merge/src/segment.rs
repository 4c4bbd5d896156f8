//! Cuts a descriptor's payload into frames of at most `mss_bytes` and makes each frame's header.
//!
//! ```text
//!  plan, numbers ──► count frames ──► work ──► register ──► windows ─┐
//!                          │ beat                                    ▼
//!  template ──► header buffer, 256 beats ──► register ───────────► patch ──► header (16)
//!                                                       last beat └────────► cut (16)
//! ```
//! Timing: one header beat per cycle, so a header of up to 64 bytes takes one cycle; two cycles of
//! latency.
//!
//! Invariants:
//! 1. The header beats of a frame follow each other as their cuts do, the last one with its cut.
//! 2. Frame n of a descriptor has the template's sequence number + trim + payload before it, its
//!    identification + n, and its own lengths; FIN and PSH only in the last, CWR only in the first.
//! 3. A checksum field that is to be inserted is zero.
//!
//! On error: a refused descriptor makes one cut without a header.
//!
//! Source: docs/specification.md, Segmentation.

pub mod header_buffer;
pub mod header_patch;
pub mod header_window;
pub mod segment_frame;
pub mod window_put;

use crate::messages::{FrameCut, HeaderNumbers, SendPlan};
use crate::segment::header_buffer::HeaderBuffer;
use crate::segment::header_patch::HeaderPatch;
use crate::segment::segment_frame::{HeaderWork, SegmentFrame};
use stream::prelude::*;

/// The stage. See the module's head.
#[derive(LogicBlock, Default)]
pub struct Segment {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Drops all templates, headers and cuts.
    pub reset: Signal<In, Bit>,

    /// Frames to make of each descriptor, in ring order.
    pub plan: MessageSink<SendPlan>,
    /// Numbers of the header template, one message for each plan.
    pub numbers: MessageSink<HeaderNumbers>,
    /// Beats of the header templates; those of a plan come no later than the plan.
    pub template: MessageSink<Bits<512>>,
    /// Frames to put together: one message for each frame, and one for a refused descriptor.
    pub cut: MessageSource<FrameCut>,
    /// Header beats of each frame; bytes beyond `header_bytes` are undefined, consumers ignore
    /// them.
    pub header: MessageSource<Bits<512>>,

    frame: SegmentFrame,
    templates: HeaderBuffer,
    patch: HeaderPatch,
    cut_queue: Fifo<FrameCut, 4, 5>,
    header_queue: Fifo<Bits<512>, 4, 5>,
    reading_valid: DFF<Bit>,
    reading: DFF<HeaderWork>,
    ready_valid: DFF<Bit>,
    ready: DFF<HeaderWork>,
    has_space: DFF<Bit>,

    made: Signal<Local, FrameCut>,
}

impl Logic for Segment {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, reading_valid, reading, ready_valid, ready, has_space);
        clock!(self, clock, frame, templates, patch, cut_queue, header_queue);
        self.frame.reset.next = self.reset.val();
        self.templates.reset.next = self.reset.val();
        self.cut_queue.reset.next = self.reset.val();
        self.header_queue.reset.next = self.reset.val();
        MessageSink::<SendPlan>::link(&mut self.plan, &mut self.frame.plan);
        MessageSink::<HeaderNumbers>::link(&mut self.numbers, &mut self.frame.numbers);
        MessageSink::<Bits<512>>::link(&mut self.template, &mut self.templates.sink);
        MessageSource::<FrameCut>::link(&mut self.cut, &mut self.cut_queue.source);
        MessageSource::<Bits<512>>::link(&mut self.header, &mut self.header_queue.source);

        // A beat begun always finds free space: three are on their way when it begins.
        self.has_space.d.next =
            (self.header_queue.level.val() < 12) & (self.cut_queue.level.val() < 12);
        self.frame.go.next = self.has_space.q.val();
        self.templates.read_beat.next = self.frame.read_beat.val();
        self.templates.frees.next = self.frame.frees.val();
        self.templates.freed_beats.next = self.frame.template_beats.val();
        self.reading_valid.d.next = self.frame.valid.val() & !self.reset.val();
        self.reading.d.next = self.frame.work.val();
        self.ready_valid.d.next = self.reading_valid.q.val() & !self.reset.val();
        self.ready.d.next = self.reading.q.val();
        self.patch.work.next = self.reading.q.val();
        self.patch.data.next = self.templates.data.val();

        self.made.next = self.ready.q.val().cut;
        self.header_queue.sink.valid.next = self.ready_valid.q.val() & !self.made.val().refused;
        self.header_queue.sink.payload.next = self.patch.patched.val();
        self.cut_queue.sink.valid.next = self.ready_valid.q.val() & self.ready.q.val().last;
        self.cut_queue.sink.payload.next = self.made.val();
    }
}
