//! Makes frames of plans, header templates and payload.
//!
//! ```text
//!  plan, numbers ──┬──► segment ─┬──► cuts ──────┬──► merge ──► checksum ──► frames
//!  template ───────┘             └──► headers ───┤      │          ▲
//!  payload and read facts ───────────────────────┘      ├─ facts ──┘ (4)
//!                                                       └──► ended (4)
//! ```
//! Timing: segment makes the headers of later frames while merge sends earlier ones. One beat per
//! cycle at `frames`.
//!
//! Invariants: those of [`crate::segment`], [`crate::merge`] and [`crate::checksum`].

use crate::checksum::Checksum;
use crate::merge::Merge;
use crate::messages::{FrameCut, HeaderLayout, HeaderNumbers, ReadFacts, SendPlan};
use crate::segment::Segment;
use stream::prelude::*;

/// The stages that make frames, joined. See the module's head.
#[derive(LogicBlock, Default)]
pub struct Assemble {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Flushes all plans, templates and frames.
    pub reset: Signal<In, Bit>,

    /// One plan for each descriptor, in ring order.
    pub plan: MessageSink<SendPlan>,
    /// Numbers of the header template, one message for each plan.
    pub numbers: MessageSink<HeaderNumbers>,
    /// Beats of the header templates; those of a plan come no later than the plan.
    pub template: MessageSink<Bits<512>>,
    /// Data of the reads, in the order of the plans.
    pub payload: PacketSink,
    /// Length and verdict of each read, no earlier than its last beat is stored.
    pub read_facts: MessageSink<ReadFacts>,
    /// One message for each plan when its frames are made; 1: some payload could not be read.
    pub ended: MessageSource<Bits<1>>,
    /// Complete good frames, at least 60 bytes each.
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
        PacketSink::link(&mut self.payload, &mut self.merge.payload);
        MessageSink::<ReadFacts>::link(&mut self.read_facts, &mut self.merge.read_facts);
        MessageSource::<Bits<1>>::join(&mut self.merge.ended, &mut self.ended_queue.sink);
        MessageSource::<Bits<1>>::link(&mut self.ended, &mut self.ended_queue.source);
        MessageSource::<HeaderLayout>::join(&mut self.merge.facts, &mut self.facts_queue.sink);
        MessageSource::<HeaderLayout>::join(&mut self.facts_queue.source, &mut self.checksum.facts);
        PacketSource::join(&mut self.merge.frames, &mut self.checksum.frames_made);
        PacketSource::link(&mut self.frames, &mut self.checksum.frames);
    }
}
