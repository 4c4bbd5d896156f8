//! The receive path assembled: instances and joins only. See the crate's head.

use crate::back::Back;
use crate::front::Front;
use crate::messages::{Plan, StoredPacket};
use crate::middle::Middle;
use stream::prelude::*;
use stream::pulse_merge::PulseMerge;

/// The receive path: 2^A beats of packet store, 2^B owners; N must be 2^B.
#[derive(LogicBlock, Default)]
pub struct RxSplit<const A: usize, const B: usize, const N: usize> {
    /// Clock of the MAC: that of `frames`.
    pub mac_clock: Signal<In, Clock>,
    /// Clock of all else.
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
    /// Flow whose cursor is wanted.
    pub cursor_flow: Signal<Out, Bits<16>>,
    /// That cursor, two cycles later.
    pub cursor: Signal<In, Bits<32>>,
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
    pub drop_count: PulseSource<DropCode>,
    /// Packets by Disposition.
    pub disposition_count: PulseSource<DispositionCode>,
    /// An event found no room.
    pub send_event_lost: Signal<Out, Bit>,
    /// A frame came in.
    pub frame_done: Signal<Out, Bit>,
    /// A verified packet was taken from the packet store's queue.
    pub packet_taken: Signal<Out, Bit>,
    /// One waits there.
    pub packet_stalled: Signal<Out, Bit>,
    /// Beats in use in the packet store, the highest of an interval.
    pub store_beats_peak: Signal<Out, Bits<16>>,
    /// A quarter of it or more is in use: what is received had better leave.
    pub store_crowded: Signal<Out, Bit>,
    /// A header entry was handed over.
    pub header_produced: PulseSource<RingFetch>,

    front: Front<A>,
    back: Back<A, B, N>,
    middle: Middle<A, B, N>,
    drops: PulseMerge<DropCode>,
}

impl<const A: usize, const B: usize, const N: usize> Logic for RxSplit<A, B, N> {
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, front, middle, back);
        self.front.mac_clock.next = self.mac_clock.val();
        self.front.reset.next = self.reset.val();
        self.middle.reset.next = self.reset.val();
        self.back.reset.next = self.reset.val();
        PulseSink::<RegisterWrite>::link(&mut self.settings, &mut self.back.settings);
        PulseSink::<RegisterWrite>::link(&mut self.settings, &mut self.front.settings);
        PulseSink::<RegisterWrite>::link(&mut self.settings, &mut self.middle.settings);
        self.front.running.next = self.back.running.val();
        PacketSink::link(&mut self.frames, &mut self.front.frames);
        self.frame_done.next = self.front.frame_done.val();
        self.store_beats_peak.next = self.front.store_beats_peak.val();
        self.store_crowded.next = self.front.store_crowded.val();

        MessageSource::<StoredPacket>::join(&mut self.front.packets, &mut self.middle.packets);
        self.packet_taken.next = self.front.packets.valid.val() & self.middle.packets.ready.val();
        self.packet_stalled.next =
            self.front.packets.valid.val() & !self.middle.packets.ready.val();
        MessageSink::<Confirmation>::link(
            &mut self.confirmation_sink,
            &mut self.middle.confirmation,
        );
        MessageSink::<SendEvent>::link(&mut self.send_event, &mut self.middle.send_event);
        self.send_event_lost.next = self.middle.send_event_lost.val();
        MessageSource::<FlowLookup>::link(&mut self.flow_lookup, &mut self.middle.flow_lookup);
        MessageSink::<FlowReply>::link(&mut self.flow_reply, &mut self.middle.flow_reply);
        self.cursor_flow.next = self.middle.cursor_flow.val();
        self.middle.cursor.next = self.cursor.val();
        PulseSource::<CursorWrite>::link(&mut self.cursor_write, &mut self.middle.cursor_write);
        MessageSource::<SegmentRequest>::link(
            &mut self.segment_request,
            &mut self.middle.segment_request,
        );
        MessageSink::<SegmentReply>::link(&mut self.segment_reply, &mut self.middle.segment_reply);
        MessageSource::<RegionRequest>::link(
            &mut self.region_request,
            &mut self.middle.region_request,
        );
        MessageSink::<RegionReply>::link(&mut self.region_reply, &mut self.middle.region_reply);
        PulseSource::<DispositionCode>::link(
            &mut self.disposition_count,
            &mut self.middle.disposition_count,
        );

        MessageSource::<Plan>::join(&mut self.middle.plans, &mut self.back.plans);
        self.middle.piece_slot.next = self.back.piece_slot.val();
        self.middle.piece_number.next = self.back.piece_number.val();
        self.back.piece.next = self.middle.piece.val();
        self.middle.slot_freed.next = self.back.slot_freed.val();
        self.front.read_address.next = self.back.read_address.val();
        self.front.read_enable.next = self.back.read_enable.val();
        self.back.read_data.next = self.front.read_data.val();
        self.front.release.valid.next = self.back.release.valid.val();
        self.front.release.payload.next = self.back.release.payload.val();
        self.middle.release.valid.next = self.back.release.valid.val();
        self.middle.release.payload.next = self.back.release.payload.val();
        MessageSource::<WriteJob>::link(&mut self.write_job, &mut self.back.write_job);
        PacketSource::link(&mut self.write_data, &mut self.back.write_data);
        MessageSource::<ReadJob>::link(&mut self.flush_job, &mut self.back.flush_job);
        PacketSink::link(&mut self.flush_data, &mut self.back.flush_data);
        MessageSource::<Confirmation>::link(
            &mut self.confirmation_source,
            &mut self.back.confirmation,
        );
        PulseSource::<RingFetch>::link(&mut self.header_produced, &mut self.back.published);

        // Drops of the store come first: the others wait for a cycle without one.
        self.middle.drop_busy.next = self.front.drop_count.valid.val();
        PulseSource::<DropCode>::join(&mut self.front.drop_count, &mut self.drops.first);
        PulseSource::<DropCode>::join(&mut self.middle.drop_count, &mut self.drops.second);
        PulseSource::<DropCode>::link(&mut self.drop_count, &mut self.drops.source);
    }
}
