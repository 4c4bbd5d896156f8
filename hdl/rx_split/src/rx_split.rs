//! The receive path assembled: instances and joins only. Timing and invariants are in the head of
//! the crate.

use crate::delivery::Delivery;
use crate::intake::Intake;
use crate::messages::{Plan, RunSummary, StoredPacket};
use crate::placement::Placement;
use stream::prelude::*;
use stream::pulse_merge::PulseMerge;

/// The receive path: a packet buffer of 2^BUFFER_BITS beats and 2^OWNER_BITS owners. OWNERS must be
/// 2^OWNER_BITS. See the crate's head.
#[derive(LogicBlock, Default)]
pub struct RxSplit<const BUFFER_BITS: usize, const OWNER_BITS: usize, const OWNERS: usize> {
    /// MAC clock, 322 MHz: the clock of `frames`.
    pub mac_clock: Signal<In, Clock>,
    /// PCIe user clock, 250 MHz: the clock of all other ports.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch: everything in flight is forgotten and its packets are counted as drops.
    /// Verified packets that still wait in the packet buffer, base addresses and profiles are kept;
    /// no owner is enabled, receive is stopped.
    pub reset: Signal<In, Bit>,
    /// Number of the epoch.
    pub epoch: Signal<In, Bits<16>>,
    /// Register writes: contexts and doorbells of owners, profiles, `CONTROL`, flush addresses.
    pub settings: PulseSink<RegisterWrite>,

    /// Frames from the MAC without FCS, in `mac_clock`, never stalled; `abort` marks a bad FCS.
    pub frames: PacketSink,
    /// With the last beat in `frames`: a reset of the MAC cut the frame off.
    pub frame_cut: Signal<In, Bit>,
    /// Look-ups to the flow table.
    pub flow_lookup: MessageSource<FlowLookup>,
    /// Replies of the flow table, in the order of the look-ups.
    pub flow_reply: MessageSink<FlowReply>,
    /// Flow whose cursor is read.
    pub cursor_flow: Signal<Out, Bits<16>>,
    /// Cursor of the flow that `cursor_flow` named two cycles ago.
    pub cursor: Signal<In, Bits<32>>,
    /// New cursors of flows, to the tables.
    pub cursor_write: PulseSource<CursorWrite>,
    /// Requests to the receive lists.
    pub segment_request: MessageSource<SegmentRequest>,
    /// Replies of the receive lists, in the order of the requests.
    pub segment_reply: MessageSink<SegmentReply>,
    /// Requests to the region table.
    pub region_request: MessageSource<RegionRequest>,
    /// Replies of the region table, in the order of the requests.
    pub region_reply: MessageSink<RegionReply>,

    /// Jobs to `dma.write`.
    pub write_job: MessageSource<WriteJob>,
    /// Bytes of the write jobs, one packet for each job, or one for two jobs that share a beat.
    pub write_data: PacketSource,
    /// Flush reads of memories other than 0, to `dma.read`.
    pub flush_job: MessageSource<ReadJob>,
    /// Read data of the flush reads, in order.
    pub flush_data: PacketSink,

    /// Confirmations from the tables.
    pub confirmation_sink: MessageSink<CommandEnd>,
    /// Confirmations whose fence has passed on the receive side.
    pub confirmation_source: MessageSource<Confirmation>,
    /// Events of failed sends, for their owners' header queues.
    pub send_event: MessageSink<SendEvent>,

    /// One pulse for each frame that is dropped, with its DropReason.
    pub drop_count: PulseSource<DropCode>,
    /// One pulse for each packet whose header entry is delivered, with its Disposition.
    pub disposition_count: PulseSource<DispositionCode>,
    /// The event of a failed send found no free space in its owner's header queue, or the queue is
    /// not enabled.
    pub send_event_lost: Signal<Out, Bit>,
    /// One pulse for each frame that came in: dispositions and drops add up to them.
    pub frame_done: Signal<Out, Bit>,
    /// A verified packet leaves the packet buffer's queue in this cycle, to be classified.
    pub packet_taken: Signal<Out, Bit>,
    /// A verified packet is offered to be classified in this cycle and not taken.
    pub packet_stalled: Signal<Out, Bit>,
    /// Beats in use in the packet buffer: the highest of an interval.
    pub buffer_beats_peak: Signal<Out, Bits<16>>,
    /// The packet buffer is almost full: a quarter of it or more is in use.
    pub buffer_almost_full: Signal<Out, Bit>,
    /// Events of runs of received packets.
    pub run_events: Signal<Out, RunEvents>,
    /// One pulse for each header entry that was handed over, with its owner and the slots produced
    /// so far.
    pub header_produced: PulseSource<RingFetch>,

    intake: Intake<BUFFER_BITS>,
    delivery: Delivery<BUFFER_BITS, OWNER_BITS, OWNERS>,
    placement: Placement<BUFFER_BITS, OWNER_BITS, OWNERS>,
    drops: PulseMerge<DropCode>,
}

impl<const BUFFER_BITS: usize, const OWNER_BITS: usize, const OWNERS: usize> Logic
    for RxSplit<BUFFER_BITS, OWNER_BITS, OWNERS>
{
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, intake, placement, delivery);
        self.intake.mac_clock.next = self.mac_clock.val();
        self.intake.reset.next = self.reset.val();
        self.placement.reset.next = self.reset.val();
        self.delivery.reset.next = self.reset.val();
        PulseSink::<RegisterWrite>::link(&mut self.settings, &mut self.delivery.settings);
        PulseSink::<RegisterWrite>::link(&mut self.settings, &mut self.intake.settings);
        PulseSink::<RegisterWrite>::link(&mut self.settings, &mut self.placement.settings);
        self.intake.running.next = self.delivery.running.val();
        PacketSink::link(&mut self.frames, &mut self.intake.frames);
        self.intake.frame_cut.next = self.frame_cut.val();
        self.frame_done.next = self.intake.frame_done.val();
        self.buffer_beats_peak.next = self.intake.buffer_beats_peak.val();
        self.buffer_almost_full.next = self.intake.buffer_almost_full.val();

        MessageSource::<StoredPacket>::join(&mut self.intake.packets, &mut self.placement.packets);
        self.packet_taken.next = self.intake.packet_taken.val();
        self.packet_stalled.next = self.intake.packet_stalled.val();
        MessageSink::<CommandEnd>::link(
            &mut self.confirmation_sink,
            &mut self.placement.confirmation,
        );
        MessageSink::<SendEvent>::link(&mut self.send_event, &mut self.placement.send_event);
        self.send_event_lost.next = self.placement.send_event_lost.val();
        self.run_events.next = self.placement.run_events.val();
        MessageSource::<FlowLookup>::link(&mut self.flow_lookup, &mut self.placement.flow_lookup);
        MessageSink::<FlowReply>::link(&mut self.flow_reply, &mut self.placement.flow_reply);
        self.cursor_flow.next = self.placement.cursor_flow.val();
        self.placement.cursor.next = self.cursor.val();
        PulseSource::<CursorWrite>::link(&mut self.cursor_write, &mut self.placement.cursor_write);
        MessageSource::<SegmentRequest>::link(
            &mut self.segment_request,
            &mut self.placement.segment_request,
        );
        MessageSink::<SegmentReply>::link(
            &mut self.segment_reply,
            &mut self.placement.segment_reply,
        );
        MessageSource::<RegionRequest>::link(
            &mut self.region_request,
            &mut self.placement.region_request,
        );
        MessageSink::<RegionReply>::link(&mut self.region_reply, &mut self.placement.region_reply);
        PulseSource::<DispositionCode>::link(
            &mut self.disposition_count,
            &mut self.placement.disposition_count,
        );

        MessageSource::<Plan>::join(&mut self.placement.plans, &mut self.delivery.plans);
        MessageSource::<RunSummary>::join(
            &mut self.placement.summaries,
            &mut self.delivery.summaries,
        );
        self.placement.piece_slot.next = self.delivery.piece_slot.val();
        self.placement.piece_number.next = self.delivery.piece_number.val();
        self.delivery.piece.next = self.placement.piece.val();
        self.placement.slot_freed.next = self.delivery.slot_freed.val();
        self.intake.read_address.next = self.delivery.read_address.val();
        self.intake.read_enable.next = self.delivery.read_enable.val();
        self.delivery.read_data.next = self.intake.read_data.val();
        self.intake.release.valid.next = self.delivery.release.valid.val();
        self.intake.release.payload.next = self.delivery.release.payload.val();
        self.placement.release.valid.next = self.delivery.release.valid.val();
        self.placement.release.payload.next = self.delivery.release.payload.val();
        MessageSource::<WriteJob>::link(&mut self.write_job, &mut self.delivery.write_job);
        PacketSource::link(&mut self.write_data, &mut self.delivery.write_data);
        MessageSource::<ReadJob>::link(&mut self.flush_job, &mut self.delivery.flush_job);
        PacketSink::link(&mut self.flush_data, &mut self.delivery.flush_data);
        MessageSource::<Confirmation>::link(
            &mut self.confirmation_source,
            &mut self.delivery.confirmation,
        );
        PulseSource::<RingFetch>::link(&mut self.header_produced, &mut self.delivery.published);

        // Drops of the packet buffer come first: the others wait for a cycle without one.
        self.placement.drop_busy.next = self.intake.drop_count.valid.val();
        PulseSource::<DropCode>::join(&mut self.intake.drop_count, &mut self.drops.first);
        PulseSource::<DropCode>::join(&mut self.placement.drop_count, &mut self.drops.second);
        PulseSource::<DropCode>::link(&mut self.drop_count, &mut self.drops.source);
    }
}
