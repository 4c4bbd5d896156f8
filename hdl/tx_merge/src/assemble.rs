//! Makes frames of plans, header templates and payload.
//!
//! ```text
//!  plan, numbers ──┬─► segment ─┬─► cuts ─────┬─► merge ─► checksum ─► frames
//!  template ───────┘            └─► headers ──┤     │         ▲
//!  answers and their facts ───────────────────┘     ├─ facts ─┘ (4)
//!                                                   └─► ended (4)
//! ```
//! Timing: segment works on headers of later frames while merge sends earlier ones.

use crate::checksum::Checksum;
use crate::merge::Merge;
use crate::messages::{AnswerFacts, FrameCut, HeaderLayout, HeaderNumbers, SendPlan};
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
    /// What their header templates hold.
    pub numbers: MessageSink<HeaderNumbers>,
    /// Their header templates.
    pub template: MessageSink<Bits<512>>,
    /// Their payload.
    pub answers: PacketSink,
    /// How long its answers are, and whether they failed.
    pub answer_facts: MessageSink<AnswerFacts>,
    /// A descriptor's frames are made; 1: some could not be read.
    pub ended: MessageSource<Bits<1>>,
    /// Complete good frames.
    pub frames: PacketSource,

    segment: Segment,
    merge: Merge,
    ended_queue: Fifo<Bits<1>, 2, 3>,
    facts_queue: Fifo<HeaderLayout, 2, 3>,
    checksum: Checksum,
}

impl Logic for Assemble {
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, segment, merge, ended_queue, facts_queue);
        clock!(self, clock, checksum);
        self.segment.reset.next = self.reset.val();
        self.merge.reset.next = self.reset.val();
        self.ended_queue.reset.next = self.reset.val();
        self.facts_queue.reset.next = self.reset.val();
        self.checksum.reset.next = self.reset.val();

        MessageSink::<SendPlan>::link(&mut self.plan, &mut self.segment.plan);
        MessageSink::<HeaderNumbers>::link(&mut self.numbers, &mut self.segment.numbers);
        MessageSink::<Bits<512>>::link(&mut self.template, &mut self.segment.template);
        MessageSource::<FrameCut>::join(&mut self.segment.cut, &mut self.merge.cut);
        MessageSource::<Bits<512>>::join(&mut self.segment.header, &mut self.merge.header);
        PacketSink::link(&mut self.answers, &mut self.merge.answers);
        MessageSink::<AnswerFacts>::link(&mut self.answer_facts, &mut self.merge.answer_facts);
        MessageSource::<Bits<1>>::join(&mut self.merge.ended, &mut self.ended_queue.sink);
        MessageSource::<Bits<1>>::link(&mut self.ended, &mut self.ended_queue.source);
        MessageSource::<HeaderLayout>::join(&mut self.merge.facts, &mut self.facts_queue.sink);
        MessageSource::<HeaderLayout>::join(&mut self.facts_queue.source, &mut self.checksum.facts);
        PacketSource::join(&mut self.merge.frames, &mut self.checksum.frames_made);
        PacketSource::link(&mut self.frames, &mut self.checksum.frames);
    }
}
