//! Send: fetch, gather, segment, merge, checksum.
//!
//! ```text
//!  descriptors ─► descriptor ─► gather ─► planner ─► segment ─► merge ─► checksum ─► frames
//!                                │ ▲         │          ▲header   ▲ │
//!                  tables ◄──────┤ │         ▼record    └ queue   │ └─ ended
//!                                ▼ │       report ◄───────────────│────┘
//!                               walk ─► jobs ─► read_job ··· read_data ─► payload
//!  confirmation_sink ─► fence (started, finished) ─► confirmation_source
//! ```

// The derive macros of rust-hdl generate methods without documentation.
#![allow(missing_docs)]
#![forbid(unsafe_code)]

pub mod align;
pub mod align_join;
pub mod byte_patch;
pub mod checksum;
pub mod checksum_fold;
pub mod checksum_insert;
pub mod checksum_mask;
pub mod checksum_sum;
pub mod descriptor;
pub mod descriptor_check;
pub mod fence;
pub mod floor_check;
pub mod gather;
pub mod grant;
pub mod header_field;
pub mod header_store;
pub mod jobs;
pub mod merge;
pub mod payload;
pub mod piece_queue;
pub mod plan;
pub mod planner;
pub mod report;
pub mod rotate;
pub mod segment;
pub mod segment_frame;
pub mod walk;
pub mod walk_part;

use checksum::Checksum;
use descriptor::Descriptor;
use fence::Fence;
use gather::Gather;
use jobs::Jobs;
use merge::Merge;
use payload::Payload;
use plan::{FrameCut, HeaderBeat, HeaderLayout, SendFields, SendPiece, SendPlan, SendRecord};
use plan::{SendVerdict, WalkReply, WalkRequest};
use planner::Planner;
use report::Report;
use segment::Segment;
use stream::prelude::*;
use walk::Walk;

/// The send path. See the crate's head.
#[derive(LogicBlock, Default)]
pub struct TxMerge {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch: forgets everything and stops.
    pub reset: Signal<In, Bit>,
    /// Current epoch. Nothing kept here outlives a reset, so that it is not consulted.
    pub epoch: Signal<In, Bits<16>>,
    /// Register writes; `CONTROL` bit 1 starts and stops.
    pub settings: PulseSink<RegisterWrite>,

    /// Whose descriptor follows, and its index.
    pub descriptor_fetch: MessageSink<RingFetch>,
    /// Descriptors, 2 or 4 beats each.
    pub descriptors: PacketSink,
    /// Owner and consumer index behind a descriptor that was taken over.
    pub taken: PulseSource<RingFetch>,

    /// Asks for a flow.
    pub flow_request: MessageSource<Bits<16>>,
    /// The flow.
    pub flow_reply: MessageSink<SendFlowReply>,
    /// Asks for an entry of a send list.
    pub segment_request: MessageSource<SegmentRequest>,
    /// The entry.
    pub segment_reply: MessageSink<SegmentReply>,
    /// Asks for a grant.
    pub region_request: MessageSource<RegionRequest>,
    /// The grant.
    pub region_reply: MessageSink<RegionReply>,

    /// Reads of at most 4,096 bytes.
    pub read_job: MessageSource<ReadJob>,
    /// Their answers.
    pub read_data: PacketSink,

    /// Confirmations in.
    pub confirmation_sink: MessageSink<Confirmation>,
    /// Confirmations out, behind every fetch decided before them.
    pub confirmation_source: MessageSource<Confirmation>,

    /// A descriptor failed, for its owner.
    pub send_event: MessageSource<SendEvent>,
    /// A descriptor failed: number of the SendError.
    pub error_count: PulseSource<Bits<3>>,
    /// A descriptor is finished.
    pub descriptor_done: Signal<Out, Bit>,

    /// Complete good frames.
    pub frames: PacketSource,

    descriptor: Descriptor,
    gather: Gather,
    walk: Walk,
    jobs: Jobs,
    payload: Payload,
    planner: Planner,
    segment: Segment,
    cut_queue: Fifo<FrameCut, 2, 3>,
    header_queue: Fifo<HeaderBeat, 4, 5>,
    merge: Merge,
    facts_queue: Fifo<HeaderLayout, 2, 3>,
    ended_queue: Fifo<Bits<1>, 2, 3>,
    checksum: Checksum,
    report: Report,
    fence: Fence,
}

impl Logic for TxMerge {
    #[hdl_gen]
    fn update(&mut self) {
        self.descriptor.clock.next = self.clock.val();
        self.gather.clock.next = self.clock.val();
        self.walk.clock.next = self.clock.val();
        self.jobs.clock.next = self.clock.val();
        self.payload.clock.next = self.clock.val();
        self.planner.clock.next = self.clock.val();
        self.segment.clock.next = self.clock.val();
        self.cut_queue.clock.next = self.clock.val();
        self.header_queue.clock.next = self.clock.val();
        self.merge.clock.next = self.clock.val();
        self.facts_queue.clock.next = self.clock.val();
        self.ended_queue.clock.next = self.clock.val();
        self.checksum.clock.next = self.clock.val();
        self.report.clock.next = self.clock.val();
        self.fence.clock.next = self.clock.val();
        self.descriptor.reset.next = self.reset.val();
        self.gather.reset.next = self.reset.val();
        self.walk.reset.next = self.reset.val();
        self.jobs.reset.next = self.reset.val();
        self.payload.reset.next = self.reset.val();
        self.planner.reset.next = self.reset.val();
        self.segment.reset.next = self.reset.val();
        self.cut_queue.reset.next = self.reset.val();
        self.header_queue.reset.next = self.reset.val();
        self.merge.reset.next = self.reset.val();
        self.facts_queue.reset.next = self.reset.val();
        self.ended_queue.reset.next = self.reset.val();
        self.checksum.reset.next = self.reset.val();
        self.report.reset.next = self.reset.val();
        self.fence.reset.next = self.reset.val();

        // Descriptors in.
        PulseSink::<RegisterWrite>::link(&mut self.settings, &mut self.descriptor.settings);
        MessageSink::<RingFetch>::link(
            &mut self.descriptor_fetch,
            &mut self.descriptor.descriptor_fetch,
        );
        PacketSink::link(&mut self.descriptors, &mut self.descriptor.descriptors);
        PulseSource::<RingFetch>::link(&mut self.taken, &mut self.descriptor.taken);
        MessageSource::<SendFields>::join(&mut self.descriptor.fields, &mut self.gather.fields);

        // Look-ups.
        MessageSource::<Bits<16>>::link(&mut self.flow_request, &mut self.gather.flow_request);
        MessageSink::<SendFlowReply>::link(&mut self.flow_reply, &mut self.gather.flow_reply);
        MessageSource::<WalkRequest>::join(&mut self.gather.walk_request, &mut self.walk.request);
        MessageSource::<WalkReply>::join(&mut self.walk.reply, &mut self.gather.walk_reply);
        MessageSource::<SegmentRequest>::link(
            &mut self.segment_request,
            &mut self.walk.segment_request,
        );
        MessageSink::<SegmentReply>::link(&mut self.segment_reply, &mut self.walk.segment_reply);
        MessageSource::<RegionRequest>::link(
            &mut self.region_request,
            &mut self.walk.region_request,
        );
        MessageSink::<RegionReply>::link(&mut self.region_reply, &mut self.walk.region_reply);

        // Reads.
        MessageSource::<SendPiece>::join(&mut self.walk.piece, &mut self.jobs.piece);
        MessageSource::<ReadJob>::link(&mut self.read_job, &mut self.jobs.read_job);
        PacketSink::link(&mut self.read_data, &mut self.payload.read_data);
        self.jobs.beat_freed.next = self.payload.beat_freed.val();
        self.jobs.answer_freed.next = self.payload.answer_freed.val();

        // Frames.
        MessageSource::<SendVerdict>::join(&mut self.gather.verdict, &mut self.planner.verdict);
        MessageSource::<SendPlan>::join(&mut self.planner.plan, &mut self.segment.plan);
        MessageSource::<HeaderBeat>::join(&mut self.descriptor.header, &mut self.segment.template);
        MessageSource::<FrameCut>::join(&mut self.segment.cut, &mut self.cut_queue.sink);
        MessageSource::<HeaderBeat>::join(&mut self.segment.header, &mut self.header_queue.sink);
        MessageSource::<FrameCut>::join(&mut self.cut_queue.source, &mut self.merge.cut);
        MessageSource::<HeaderBeat>::join(&mut self.header_queue.source, &mut self.merge.header);
        PacketSource::join(&mut self.payload.answers, &mut self.merge.answers);
        MessageSource::<HeaderLayout>::join(&mut self.merge.facts, &mut self.facts_queue.sink);
        MessageSource::<HeaderLayout>::join(&mut self.facts_queue.source, &mut self.checksum.facts);
        PacketSource::join(&mut self.merge.frames, &mut self.checksum.frames_made);
        PacketSource::link(&mut self.frames, &mut self.checksum.frames);

        // Ends.
        MessageSource::<Bits<1>>::join(&mut self.merge.ended, &mut self.ended_queue.sink);
        MessageSource::<Bits<1>>::join(&mut self.ended_queue.source, &mut self.report.ended);
        MessageSource::<SendRecord>::join(&mut self.planner.record, &mut self.report.record);
        MessageSource::<SendEvent>::link(&mut self.send_event, &mut self.report.send_event);
        PulseSource::<Bits<3>>::link(&mut self.error_count, &mut self.report.error_count);
        self.descriptor_done.next = self.report.descriptor_done.val();

        // Fence.
        MessageSink::<Confirmation>::link(
            &mut self.confirmation_sink,
            &mut self.fence.confirmation_sink,
        );
        MessageSource::<Confirmation>::link(
            &mut self.confirmation_source,
            &mut self.fence.confirmation_source,
        );
        self.fence.started.next = self.gather.started.val();
        self.fence.finished.next = self.report.finished.val();
    }
}
