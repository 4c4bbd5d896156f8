//! Decides on each descriptor: flow and floor, list and regions, then what is to be sent.
//!
//! ```text
//!  fields (8) ─► flow ─► gather ─► planner ─┬─► plan   (to assemble)
//!                 ▲ │     ▲ │               └─► record (to report)
//!                 │ ▼     │ ├─► piece (to jobs)
//!                 tables ─┘ ▼
//! ```
//! Timing: a descriptor without payload takes one cycle, one whose payload lies in one list entry
//! three: every stage works on several descriptors at a time. See [`crate::gather`] for the others.

use crate::flow::Flow;
use crate::gather::Gather;
use crate::messages::{SendFields, SendPiece, SendPlan, SendRange, SendRecord, SendVerdict};
use crate::planner::Planner;
use stream::prelude::*;

/// The stages, connected. See the module's head.
#[derive(LogicBlock, Default)]
pub struct Resolve {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Forgets everything.
    pub reset: Signal<In, Bit>,

    /// Descriptors.
    pub fields: MessageSink<SendFields>,
    /// Asks for a flow.
    pub flow_request: MessageSource<Bits<16>>,
    /// The flow.
    pub flow_reply: MessageSink<SendFlowReply>,
    /// Asks for a list entry.
    pub segment_request: MessageSource<SegmentRequest>,
    /// The list entry.
    pub segment_reply: MessageSink<SegmentReply>,
    /// Asks for a grant.
    pub region_request: MessageSource<RegionRequest>,
    /// The grant.
    pub region_reply: MessageSink<RegionReply>,

    /// Frames to make.
    pub plan: MessageSource<SendPlan>,
    /// What to report.
    pub record: MessageSource<SendRecord>,
    /// Pieces to read.
    pub piece: MessageSource<SendPiece>,
    /// Descriptors begun.
    pub started: Signal<Out, Bits<32>>,
    /// Payload whose read was asked for.
    pub asked_bytes: PulseSink<Bits<10>>,

    fields_queue: Fifo<SendFields, 3, 4>,
    flow: Flow,
    gather: Gather,
    planner: Planner,
}

impl Logic for Resolve {
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, fields_queue, flow, gather, planner);
        self.fields_queue.reset.next = self.reset.val();
        self.flow.reset.next = self.reset.val();
        self.gather.reset.next = self.reset.val();
        self.planner.reset.next = self.reset.val();

        MessageSink::<SendFields>::link(&mut self.fields, &mut self.fields_queue.sink);
        MessageSource::<SendFields>::join(&mut self.fields_queue.source, &mut self.flow.fields);
        MessageSource::<Bits<16>>::link(&mut self.flow_request, &mut self.flow.flow_request);
        MessageSink::<SendFlowReply>::link(&mut self.flow_reply, &mut self.flow.flow_reply);
        MessageSource::<SendRange>::join(&mut self.flow.range, &mut self.gather.range);
        MessageSource::<SegmentRequest>::link(
            &mut self.segment_request,
            &mut self.gather.segment_request,
        );
        MessageSink::<SegmentReply>::link(&mut self.segment_reply, &mut self.gather.segment_reply);
        MessageSource::<RegionRequest>::link(
            &mut self.region_request,
            &mut self.gather.region_request,
        );
        MessageSink::<RegionReply>::link(&mut self.region_reply, &mut self.gather.region_reply);
        MessageSource::<SendPiece>::link(&mut self.piece, &mut self.gather.piece);
        MessageSource::<SendVerdict>::join(&mut self.gather.verdict, &mut self.planner.verdict);
        MessageSource::<SendPlan>::link(&mut self.plan, &mut self.planner.plan);
        MessageSource::<SendRecord>::link(&mut self.record, &mut self.planner.record);
        self.started.next = self.flow.started.val();
        PulseSource::<Bits<18>>::join(
            &mut self.planner.dropped_bytes,
            &mut self.flow.dropped_bytes,
        );
        PulseSink::<Bits<10>>::link(&mut self.asked_bytes, &mut self.flow.asked_bytes);
    }
}
