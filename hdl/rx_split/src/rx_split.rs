//! The receive path assembled: instances and joins only. See the crate's head.

use crate::admit::Admit;
use crate::back::Back;
use crate::classify::Classify;
use crate::front::Front;
use crate::messages::{Piece, Placement, Plan, StoredPacket};
use crate::place::Place;

use stream::prelude::*;

/// The receive path: 2^A beats of packet store, 2^B owners; N must be 2^B.
#[derive(LogicBlock)]
pub struct RxSplit<const A: usize, const B: usize, const N: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch.
    pub reset: Signal<In, Bit>,
    /// The epoch.
    pub epoch: Signal<In, Bits<16>>,
    /// Register writes.
    pub settings: PulseSink<RegisterWrite>,

    /// Frames from the MAC.
    pub frames: PacketSink,
    /// To the flow table.
    pub flow_lookup: MessageSource<FlowLookup>,
    /// From the flow table.
    pub flow_reply: MessageSink<FlowReply>,
    /// New cursors.
    pub cursor_write: PulseSource<CursorWrite>,
    /// To the receive lists.
    pub segment_request: MessageSource<SegmentRequest>,
    /// From the receive lists.
    pub segment_reply: MessageSink<SegmentReply>,
    /// To the region table.
    pub region_request: MessageSource<RegionRequest>,
    /// From the region table.
    pub region_reply: MessageSink<RegionReply>,

    /// Write jobs.
    pub write_job: MessageSource<WriteJob>,
    /// Their bytes.
    pub write_data: PacketSource,
    /// Flush reads.
    pub flush_job: MessageSource<ReadJob>,
    /// Their answers.
    pub flush_data: PacketSink,

    /// Confirmations from the tables.
    pub confirmation_sink: MessageSink<Confirmation>,
    /// Confirmations behind the fence.
    pub confirmation_source: MessageSource<Confirmation>,
    /// Failed sends.
    pub send_event: MessageSink<SendEvent>,

    /// Frames dropped, by DropReason.
    pub drop_count: PulseSource<Bits<4>>,
    /// Packets by Disposition.
    pub disposition_count: PulseSource<Bits<4>>,
    /// A frame came in.
    pub frame_done: Signal<Out, Bit>,
    /// A header entry was handed over.
    pub header_produced: PulseSource<RingFetch>,

    front: Front<A>,
    back: Back<A>,
    classify: Classify,
    place: Place,
    admit: Admit<B, N>,
}

impl<const A: usize, const B: usize, const N: usize> Default for RxSplit<A, B, N> {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            epoch: Default::default(),
            settings: Default::default(),
            frames: Default::default(),
            flow_lookup: Default::default(),
            flow_reply: Default::default(),
            cursor_write: Default::default(),
            segment_request: Default::default(),
            segment_reply: Default::default(),
            region_request: Default::default(),
            region_reply: Default::default(),
            write_job: Default::default(),
            write_data: Default::default(),
            flush_job: Default::default(),
            flush_data: Default::default(),
            confirmation_sink: Default::default(),
            confirmation_source: Default::default(),
            send_event: Default::default(),
            drop_count: Default::default(),
            disposition_count: Default::default(),
            frame_done: Default::default(),
            header_produced: Default::default(),
            back: Default::default(),
            front: Default::default(),
            classify: Default::default(),
            place: Default::default(),
            admit: Default::default(),
        }
    }
}

impl<const A: usize, const B: usize, const N: usize> Logic for RxSplit<A, B, N> {
    #[hdl_gen]
    fn update(&mut self) {
        self.front.clock.next = self.clock.val();
        self.back.clock.next = self.clock.val();
        self.back.reset.next = self.reset.val();
        self.front.reset.next = self.reset.val();
        self.classify.clock.next = self.clock.val();
        self.place.clock.next = self.clock.val();
        self.admit.clock.next = self.clock.val();
        self.classify.reset.next = self.reset.val();
        self.place.reset.next = self.reset.val();
        self.admit.reset.next = self.reset.val();
        PulseSink::<RegisterWrite>::link(&mut self.settings, &mut self.back.settings);
        PulseSink::<RegisterWrite>::link(&mut self.settings, &mut self.front.settings);
        PulseSink::<RegisterWrite>::link(&mut self.settings, &mut self.admit.settings);
        self.front.running.next = self.back.running.val();
        PacketSink::link(&mut self.frames, &mut self.front.frames);
        self.frame_done.next = self.front.frame_done.val();
        MessageSource::<StoredPacket>::join(&mut self.front.packets, &mut self.classify.packets);
        MessageSource::<FlowLookup>::link(&mut self.flow_lookup, &mut self.classify.flow_lookup);
        MessageSink::<FlowReply>::link(&mut self.flow_reply, &mut self.classify.flow_reply);
        MessageSource::<Placement>::join(&mut self.classify.placements, &mut self.place.sink);
        MessageSource::<SegmentRequest>::link(
            &mut self.segment_request,
            &mut self.place.segment_request,
        );
        MessageSink::<SegmentReply>::link(&mut self.segment_reply, &mut self.place.segment_reply);
        MessageSource::<RegionRequest>::link(
            &mut self.region_request,
            &mut self.place.region_request,
        );
        MessageSink::<RegionReply>::link(&mut self.region_reply, &mut self.place.region_reply);
        MessageSource::<Placement>::join(&mut self.place.source, &mut self.admit.placements);
        self.admit.looking_up.next = self.classify.looking_up.val();
        self.classify.settled.next = self.admit.settled.val();
        MessageSink::<Confirmation>::link(
            &mut self.confirmation_sink,
            &mut self.admit.confirmation,
        );
        MessageSink::<SendEvent>::link(&mut self.send_event, &mut self.admit.send_event);
        PulseSource::<CursorWrite>::link(&mut self.cursor_write, &mut self.admit.cursor_write);
        PulseSource::<Bits<4>>::link(
            &mut self.disposition_count,
            &mut self.admit.disposition_count,
        );
        MessageSource::<Plan>::join(&mut self.admit.plans, &mut self.back.plans);
        MessageSource::<Piece>::join(&mut self.place.pieces, &mut self.back.pieces);
        self.front.read_address.next = self.back.read_address.val();
        self.back.read_data.next = self.front.read_data.val();
        PulseSource::<Bits<16>>::join(&mut self.back.release, &mut self.front.release);
        MessageSource::<WriteJob>::link(&mut self.write_job, &mut self.back.write_job);
        PacketSource::link(&mut self.write_data, &mut self.back.write_data);
        MessageSource::<ReadJob>::link(&mut self.flush_job, &mut self.back.flush_job);
        PacketSink::link(&mut self.flush_data, &mut self.back.flush_data);
        MessageSource::<Confirmation>::link(
            &mut self.confirmation_source,
            &mut self.back.confirmation,
        );
        PulseSource::<RingFetch>::link(&mut self.header_produced, &mut self.back.published);
        // Drops of the store come first: `admit` waits for a cycle without one.
        self.admit.drop_busy.next = self.front.drop_count.valid.val();
        self.drop_count.valid.next =
            self.front.drop_count.valid.val() | self.admit.drop_count.valid.val();
        self.drop_count.payload.next = self.admit.drop_count.payload.val();
        if self.front.drop_count.valid.val() {
            self.drop_count.payload.next = self.front.drop_count.payload.val();
        }
    }
}
