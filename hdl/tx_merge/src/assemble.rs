//! Makes frames of plans, header templates and payload.
//!
//! ```text
//!  plan ───────────┬─► segment ─┬─► cuts (4) ─────┬─► merge ─► checksum ─► frames
//!  template (32) ──┘            └─► headers (16) ─┤     │         ▲
//!  answers ───────────────────────────────────────┘     ├─ facts ─┘ (4)
//!                                                       └─► ended (4)
//! ```
//! Timing: segment works on headers of later frames while merge sends earlier ones.

use crate::checksum::Checksum;
use crate::merge::Merge;
use crate::plan::{FrameCut, HeaderBeat, HeaderLayout, SendPlan};
use crate::segment::Segment;
use stream::prelude::*;

/// The stages, connected. See the module's head.
#[derive(LogicBlock, Default)]
pub struct Assemble {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Forgets everything.
    pub reset: Signal<In, Bit>,

    /// Plans.
    pub plan: MessageSink<SendPlan>,
    /// Their header templates.
    pub template: MessageSink<HeaderBeat>,
    /// Their payload.
    pub answers: PacketSink,
    /// A descriptor's frames are made; 1: some could not be read.
    pub ended: MessageSource<Bits<1>>,
    /// Complete good frames.
    pub frames: PacketSource,

    template_queue: Fifo<HeaderBeat, 5, 6>,
    segment: Segment,
    cut_queue: Fifo<FrameCut, 2, 3>,
    header_queue: Fifo<HeaderBeat, 4, 5>,
    merge: Merge,
    ended_queue: Fifo<Bits<1>, 2, 3>,
    facts_queue: Fifo<HeaderLayout, 2, 3>,
    checksum: Checksum,
}

impl Logic for Assemble {
    #[hdl_gen]
    fn update(&mut self) {
        self.template_queue.clock.next = self.clock.val();
        self.template_queue.reset.next = self.reset.val();
        self.segment.clock.next = self.clock.val();
        self.segment.reset.next = self.reset.val();
        self.cut_queue.clock.next = self.clock.val();
        self.cut_queue.reset.next = self.reset.val();
        self.header_queue.clock.next = self.clock.val();
        self.header_queue.reset.next = self.reset.val();
        self.merge.clock.next = self.clock.val();
        self.merge.reset.next = self.reset.val();
        self.ended_queue.clock.next = self.clock.val();
        self.ended_queue.reset.next = self.reset.val();
        self.facts_queue.clock.next = self.clock.val();
        self.facts_queue.reset.next = self.reset.val();
        self.checksum.clock.next = self.clock.val();
        self.checksum.reset.next = self.reset.val();

        MessageSink::<SendPlan>::link(&mut self.plan, &mut self.segment.plan);
        MessageSink::<HeaderBeat>::link(&mut self.template, &mut self.template_queue.sink);
        MessageSource::<HeaderBeat>::join(
            &mut self.template_queue.source,
            &mut self.segment.template,
        );
        MessageSource::<FrameCut>::join(&mut self.segment.cut, &mut self.cut_queue.sink);
        MessageSource::<HeaderBeat>::join(&mut self.segment.header, &mut self.header_queue.sink);
        MessageSource::<FrameCut>::join(&mut self.cut_queue.source, &mut self.merge.cut);
        MessageSource::<HeaderBeat>::join(&mut self.header_queue.source, &mut self.merge.header);
        PacketSink::link(&mut self.answers, &mut self.merge.answers);
        MessageSource::<Bits<1>>::join(&mut self.merge.ended, &mut self.ended_queue.sink);
        MessageSource::<Bits<1>>::link(&mut self.ended, &mut self.ended_queue.source);
        MessageSource::<HeaderLayout>::join(&mut self.merge.facts, &mut self.facts_queue.sink);
        MessageSource::<HeaderLayout>::join(&mut self.facts_queue.source, &mut self.checksum.facts);
        PacketSource::join(&mut self.merge.frames, &mut self.checksum.frames_made);
        PacketSource::link(&mut self.frames, &mut self.checksum.frames);
    }
}
