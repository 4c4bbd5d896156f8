//! Decides on each descriptor: flow and floor, list and regions, then what is to be sent.
//!
//! ```text
//!  fields (8) ──► flow ──► gather ──► planner ─┬──► plan   (to assemble)
//!                  ▲ │      ▲ │                └──► record (to report)
//!                  │ ▼      │ ├──► piece (to jobs)
//!                  tables ──┘ ▼
//! ```
//! Timing: a descriptor without payload takes one cycle, one whose payload lies in one list entry
//! three: every stage works on several descriptors at a time. See [`crate::gather`] for the others.
//!
//! Invariants: those of [`crate::flow`], [`crate::gather`] and [`crate::planner`].
//!
//! On error: the plan has no frames, and the record has the event.

use crate::flow::Flow;
use crate::gather::Gather;
use crate::messages::{SendFields, SendPiece, SendPlan, SendRange, SendRecord, SendVerdict};
use crate::planner::Planner;
use stream::prelude::*;

/// The stages that decide, joined. See the module's head.
#[derive(LogicBlock, Default)]
pub struct Resolve {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Drops all descriptors, plans and pieces, and sets `started` to 0.
    pub reset: Signal<In, Bit>,

    /// Checked descriptors, in ring order.
    pub fields: MessageSink<SendFields>,
    /// Id of a flow to look up.
    pub flow_request: MessageSource<Bits<16>>,
    /// State of the flow, in request order.
    pub flow_reply: MessageSink<SendFlowReply>,
    /// Request for an entry of a send list.
    pub segment_request: MessageSource<SegmentRequest>,
    /// Entry of the send list, in request order.
    pub segment_reply: MessageSink<SegmentReply>,
    /// Request to read a range of a region.
    pub region_request: MessageSource<RegionRequest>,
    /// Grant or refusal of the range, in request order.
    pub region_reply: MessageSink<RegionReply>,

    /// Frames to make of each descriptor, in ring order.
    pub plan: MessageSource<SendPlan>,
    /// What the end of each descriptor needs to know, in ring order.
    pub record: MessageSource<SendRecord>,
    /// Pieces to read, in stream order.
    pub piece: MessageSource<SendPiece>,
    /// Descriptors whose look-ups began, modulo 2^32.
    pub started: Signal<Out, Bits<32>>,
    /// Payload whose read was issued.
    pub requested_bytes: PulseSink<Bits<10>>,

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
        PulseSink::<Bits<10>>::link(&mut self.requested_bytes, &mut self.flow.requested_bytes);
    }
}
