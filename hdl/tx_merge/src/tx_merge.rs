//! The send path: its stages joined. See the crate's head.
//!
//! Timing: see the crate's head; there is no logic here.

use stream::prelude::*;

use crate::assemble::Assemble;
use crate::descriptor::Descriptor;
use crate::event_merge::EventMerge;
use crate::fence::Fence;
use crate::jobs::Jobs;
use crate::messages::{HeaderNumbers, ReadFacts, SendFields, SendPiece, SendPlan, SendRecord};
use crate::payload::Payload;
use crate::report::Report;
use crate::resolve::Resolve;

/// The send path: all its stages, joined. Timing and invariants are in the crate's head.
#[derive(LogicBlock, Default)]
pub struct TxMerge {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch: flushes all descriptors, reads and frames, and stops the send direction.
    pub reset: Signal<In, Bit>,
    /// Current epoch. It is not used: nothing kept in this block outlives a reset.
    pub epoch: Signal<In, Bits<16>>,
    /// Register writes; bit 1 of `CONTROL` starts and stops the send direction.
    pub settings: PulseSink<RegisterWrite>,

    /// Owner and ring index of the next descriptor, no later than its first beat.
    pub descriptor_fetch: MessageSink<RingFetch>,
    /// Descriptors, 2 or 4 beats each, in ring order.
    pub descriptors: PacketSink,
    /// Owner and consumer index after a descriptor that was taken over.
    pub taken: PulseSource<RingFetch>,

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

    /// Reads of at most 512 bytes.
    pub read_job: MessageSource<ReadJob>,
    /// Data of each read as one packet, in the order of the jobs; aborted if the read failed.
    pub read_data: PacketSink,

    /// Confirmations in.
    pub confirmation_sink: MessageSink<Confirmation>,
    /// Confirmations out, each after all descriptors that were begun before it came.
    pub confirmation_source: MessageSource<Confirmation>,

    /// The wire is down, and software asked for sends to fail then.
    pub sends_fail: Signal<In, Bit>,
    /// Event of owner 0: the wire went up or down.
    pub link_event: MessageSink<SendEvent>,
    /// Events of failed descriptors and of the wire, for their owners' header queues.
    pub send_event: MessageSource<SendEvent>,
    /// Number of the SendError of a failed descriptor.
    pub error_count: PulseSource<SendErrorCode>,
    /// A descriptor is finished, well or not.
    pub descriptor_done: Signal<Out, Bit>,

    /// Complete good frames, in ring order.
    pub frames: PacketSource,

    descriptor: Descriptor,
    resolve: Resolve,
    jobs: Jobs,
    payload: Payload,
    assemble: Assemble,
    report: Report,
    events: EventMerge,
    fence: Fence,
}

impl Logic for TxMerge {
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, descriptor, resolve, jobs, payload, assemble);
        clock!(self, clock, report, events, fence);
        self.descriptor.reset.next = self.reset.val();
        self.descriptor.sends_fail.next = self.sends_fail.val();
        PulseSink::<RegisterWrite>::link(&mut self.settings, &mut self.descriptor.settings);
        MessageSink::<RingFetch>::link(
            &mut self.descriptor_fetch,
            &mut self.descriptor.descriptor_fetch,
        );
        PacketSink::link(&mut self.descriptors, &mut self.descriptor.descriptors);
        PulseSource::<RingFetch>::link(&mut self.taken, &mut self.descriptor.taken);

        self.resolve.reset.next = self.reset.val();
        MessageSource::<SendFields>::join(&mut self.descriptor.fields, &mut self.resolve.fields);
        MessageSource::<Bits<16>>::link(&mut self.flow_request, &mut self.resolve.flow_request);
        MessageSink::<SendFlowReply>::link(&mut self.flow_reply, &mut self.resolve.flow_reply);
        MessageSource::<SegmentRequest>::link(
            &mut self.segment_request,
            &mut self.resolve.segment_request,
        );
        MessageSink::<SegmentReply>::link(&mut self.segment_reply, &mut self.resolve.segment_reply);
        MessageSource::<RegionRequest>::link(
            &mut self.region_request,
            &mut self.resolve.region_request,
        );
        MessageSink::<RegionReply>::link(&mut self.region_reply, &mut self.resolve.region_reply);

        self.jobs.reset.next = self.reset.val();
        MessageSource::<SendPiece>::join(&mut self.resolve.piece, &mut self.jobs.piece);
        MessageSource::<ReadJob>::link(&mut self.read_job, &mut self.jobs.read_job);
        PulseSource::<Bits<10>>::join(
            &mut self.jobs.requested_bytes,
            &mut self.resolve.requested_bytes,
        );
        self.payload.reset.next = self.reset.val();
        PacketSink::link(&mut self.read_data, &mut self.payload.read_data);
        self.jobs.beat_freed.next = self.payload.beat_freed.val();
        self.jobs.read_freed.next = self.payload.read_freed.val();

        self.assemble.reset.next = self.reset.val();
        MessageSource::<SendPlan>::join(&mut self.resolve.plan, &mut self.assemble.plan);
        MessageSource::<Bits<512>>::join(&mut self.descriptor.header, &mut self.assemble.template);
        MessageSource::<HeaderNumbers>::join(
            &mut self.descriptor.numbers,
            &mut self.assemble.numbers,
        );
        PacketSource::join(&mut self.payload.payload, &mut self.assemble.payload);
        MessageSource::<ReadFacts>::join(
            &mut self.payload.read_facts,
            &mut self.assemble.read_facts,
        );
        PacketSource::link(&mut self.frames, &mut self.assemble.frames);

        self.report.reset.next = self.reset.val();
        MessageSource::<SendRecord>::join(&mut self.resolve.record, &mut self.report.record);
        MessageSource::<Bits<1>>::join(&mut self.assemble.ended, &mut self.report.ended);
        self.events.reset.next = self.reset.val();
        MessageSink::<SendEvent>::link(&mut self.link_event, &mut self.events.link_event);
        MessageSource::<SendEvent>::join(&mut self.report.send_event, &mut self.events.failed);
        MessageSource::<SendEvent>::link(&mut self.send_event, &mut self.events.send_event);
        PulseSource::<SendErrorCode>::link(&mut self.error_count, &mut self.report.error_count);
        self.descriptor_done.next = self.report.descriptor_done.val();

        self.fence.reset.next = self.reset.val();
        self.fence.started.next = self.resolve.started.val();
        self.fence.finished.next = self.report.finished.val();
        MessageSink::<Confirmation>::link(
            &mut self.confirmation_sink,
            &mut self.fence.confirmation_sink,
        );
        MessageSource::<Confirmation>::link(
            &mut self.confirmation_source,
            &mut self.fence.confirmation_source,
        );
    }
}
