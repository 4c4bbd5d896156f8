//! The data path: what is received, what is sent, and the state between them.
//!
//! ```text
//!  rx_frames ─► rx_split ◄─► tables ◄─► tx_merge ─► tx_frames
//!                  │ write, flush  ▲ commands │ ▲ payload, descriptors
//!                  ▼               │          ▼ │
//!        confirmation: tables ─► rx_split ─► tx_merge ─► out
//! ```
//! Timing and invariants: those of the blocks. There is no logic here, only joins, and one AND:
//! `tables.fence_passed` is the handshake of `confirmation`.

use rx_split::RxSplit;
use stream::prelude::*;
use tables::Tables;
use tx_merge::TxMerge;

/// Packet buffer of the receive path: log2 beats. 128 KiB hold 14 of the longest frames.
const PACKET_BUFFER_BITS: usize = 11;

/// The data path. See the module's head.
#[derive(LogicBlock, Default)]
pub struct Datapath<
    const FLOW_BITS: usize,
    const BUCKET_BITS: usize,
    const SEGMENT_BITS: usize,
    const REGION_BITS: usize,
    const PAGE_BITS: usize,
    const OWNER_BITS: usize,
    const OWNERS: usize,
> {
    /// MAC clock, 322 MHz: the clock of `rx_frames`.
    pub mac_clock: Signal<In, Clock>,
    /// PCIe user clock, 250 MHz: the clock of all other ports.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch: no owner is enabled and everything in flight is forgotten; counters are
    /// kept.
    pub reset: Signal<In, Bit>,
    /// Number of the epoch.
    pub epoch: Signal<In, Bits<16>>,
    /// Register writes, to every block that keeps settings.
    pub settings: PulseSink<RegisterWrite>,

    /// Frames from the MAC side.
    pub rx_frames: PacketSink,
    /// With the last beat in `rx_frames`: a reset of the MAC cut the frame off.
    pub rx_frame_cut: Signal<In, Bit>,
    /// The wire is down, and software asked for sends to fail then.
    pub sends_fail: Signal<In, Bit>,
    /// Event of owner 0: the wire went up or down.
    pub link_event: MessageSink<SendEvent>,
    /// Frames for the MAC side.
    pub tx_frames: PacketSource,

    /// Owner and index of the commands that follow.
    pub command_fetch: MessageSink<RingFetch>,
    /// Commands, one packet for each fetch.
    pub commands: PacketSink,
    /// Owner and index of the descriptor that follows.
    pub descriptor_fetch: MessageSink<RingFetch>,
    /// Send descriptors, one packet each.
    pub descriptors: PacketSink,
    /// Commands whose fence has passed.
    pub confirmation: MessageSource<Confirmation>,
    /// Descriptors that were taken over, with owner and index.
    pub taken: PulseSource<RingFetch>,

    /// Writes of payload and header entries.
    pub write_job: MessageSource<WriteJob>,
    /// Bytes of the writes.
    pub write_data: PacketSource,
    /// Flush reads of memories other than 0.
    pub flush_job: MessageSource<ReadJob>,
    /// Read data of the flush reads, in order.
    pub flush_data: PacketSink,
    /// Reads of payload.
    pub payload_job: MessageSource<ReadJob>,
    /// Read data of the payload reads, in order.
    pub payload_data: PacketSink,

    /// Producer index of an owner's header queue, for interrupts.
    pub header_produced: PulseSource<RingFetch>,
    /// One pulse for each frame that is dropped, with its DropReason.
    pub drop_count: PulseSource<DropCode>,
    /// One pulse for each packet whose header entry is delivered, with its Disposition.
    pub disposition_count: PulseSource<DispositionCode>,
    /// One pulse for each failed send, with its SendError.
    pub send_error_count: PulseSource<SendErrorCode>,
    /// The event of a failed send found no free space in its owner's header queue.
    pub send_event_lost: Signal<Out, Bit>,
    /// Events of runs of received packets.
    pub run_events: Signal<Out, RunEvents>,
    /// Commands wait for the tables.
    pub tables_busy: Signal<Out, Bit>,
    /// One pulse for each frame that came in.
    pub frame_done: Signal<Out, Bit>,
    /// Beats in use in the packet buffer: the highest of an interval.
    pub buffer_beats_peak: Signal<Out, Bits<16>>,
    /// The packet buffer is almost full: a quarter of it or more is in use.
    pub buffer_almost_full: Signal<Out, Bit>,
    /// A verified packet is taken in this cycle, to be classified.
    pub packet_taken: Signal<Out, Bit>,
    /// A verified packet is offered in this cycle and not taken.
    pub packet_stalled: Signal<Out, Bit>,
    /// One pulse for each descriptor that ended.
    pub descriptor_done: Signal<Out, Bit>,
    /// One pulse for each command that ended.
    pub command_done: Signal<Out, Bit>,

    rx_split: RxSplit<PACKET_BUFFER_BITS, OWNER_BITS, OWNERS>,
    tables: Tables<FLOW_BITS, BUCKET_BITS, SEGMENT_BITS, REGION_BITS, PAGE_BITS, OWNER_BITS>,
    tx_merge: TxMerge,
}

impl<
        const FLOW_BITS: usize,
        const BUCKET_BITS: usize,
        const SEGMENT_BITS: usize,
        const REGION_BITS: usize,
        const PAGE_BITS: usize,
        const OWNER_BITS: usize,
        const OWNERS: usize,
    > Datapath<FLOW_BITS, BUCKET_BITS, SEGMENT_BITS, REGION_BITS, PAGE_BITS, OWNER_BITS, OWNERS>
{
    /// Puts the receive list into the neighbour die: registers on all ways to it.
    pub fn move_list_away(&mut self) {
        self.tables = Tables::far();
    }
}

impl<
        const FLOW_BITS: usize,
        const BUCKET_BITS: usize,
        const SEGMENT_BITS: usize,
        const REGION_BITS: usize,
        const PAGE_BITS: usize,
        const OWNER_BITS: usize,
        const OWNERS: usize,
    > Logic
    for Datapath<FLOW_BITS, BUCKET_BITS, SEGMENT_BITS, REGION_BITS, PAGE_BITS, OWNER_BITS, OWNERS>
{
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, rx_split, tables, tx_merge);
        self.rx_split.mac_clock.next = self.mac_clock.val();
        self.rx_split.reset.next = self.reset.val();
        self.rx_split.epoch.next = self.epoch.val();
        self.rx_split.settings.valid.next = self.settings.valid.val();
        self.rx_split.settings.payload.next = self.settings.payload.val();
        self.tables.reset.next = self.reset.val();
        self.tables.epoch.next = self.epoch.val();
        self.tables.settings.valid.next = self.settings.valid.val();
        self.tables.settings.payload.next = self.settings.payload.val();
        self.tx_merge.reset.next = self.reset.val();
        self.tx_merge.epoch.next = self.epoch.val();
        self.tx_merge.settings.valid.next = self.settings.valid.val();
        self.tx_merge.settings.payload.next = self.settings.payload.val();

        PacketSink::link(&mut self.rx_frames, &mut self.rx_split.frames);
        self.rx_split.frame_cut.next = self.rx_frame_cut.val();
        self.tx_merge.sends_fail.next = self.sends_fail.val();
        MessageSink::<SendEvent>::link(&mut self.link_event, &mut self.tx_merge.link_event);
        PacketSource::link(&mut self.tx_frames, &mut self.tx_merge.frames);
        MessageSink::<RingFetch>::link(&mut self.command_fetch, &mut self.tables.command_fetch);
        PacketSink::link(&mut self.commands, &mut self.tables.commands);
        MessageSink::<RingFetch>::link(
            &mut self.descriptor_fetch,
            &mut self.tx_merge.descriptor_fetch,
        );
        PacketSink::link(&mut self.descriptors, &mut self.tx_merge.descriptors);

        // One fence for both directions; the tables get a pulse when it has passed.
        self.tables.fence_passed.next =
            self.tx_merge.confirmation_source.valid.val() & self.confirmation.ready.val();
        MessageSource::<CommandEnd>::join(
            &mut self.tables.confirmation,
            &mut self.rx_split.confirmation_sink,
        );
        MessageSource::<Confirmation>::join(
            &mut self.rx_split.confirmation_source,
            &mut self.tx_merge.confirmation_sink,
        );
        MessageSource::<Confirmation>::link(
            &mut self.confirmation,
            &mut self.tx_merge.confirmation_source,
        );
        MessageSource::<SendEvent>::join(
            &mut self.tx_merge.send_event,
            &mut self.rx_split.send_event,
        );
        PulseSource::<RingFetch>::link(&mut self.taken, &mut self.tx_merge.taken);

        MessageSource::<FlowLookup>::join(
            &mut self.rx_split.flow_lookup,
            &mut self.tables.flow_lookup,
        );
        MessageSource::<FlowReply>::join(
            &mut self.tables.flow_reply,
            &mut self.rx_split.flow_reply,
        );
        PulseSource::<CursorWrite>::join(
            &mut self.rx_split.cursor_write,
            &mut self.tables.cursor_write,
        );
        self.tables.cursor_flow.next = self.rx_split.cursor_flow.val();
        self.rx_split.cursor.next = self.tables.cursor.val();
        MessageSource::<SegmentRequest>::join(
            &mut self.rx_split.segment_request,
            &mut self.tables.rx_segment_request,
        );
        MessageSource::<SegmentReply>::join(
            &mut self.tables.rx_segment_reply,
            &mut self.rx_split.segment_reply,
        );
        MessageSource::<RegionRequest>::join(
            &mut self.rx_split.region_request,
            &mut self.tables.rx_region_request,
        );
        MessageSource::<RegionReply>::join(
            &mut self.tables.rx_region_reply,
            &mut self.rx_split.region_reply,
        );
        MessageSource::<Bits<16>>::join(
            &mut self.tx_merge.flow_request,
            &mut self.tables.send_flow_request,
        );
        MessageSource::<SendFlowReply>::join(
            &mut self.tables.send_flow_reply,
            &mut self.tx_merge.flow_reply,
        );
        MessageSource::<SegmentRequest>::join(
            &mut self.tx_merge.segment_request,
            &mut self.tables.tx_segment_request,
        );
        MessageSource::<SegmentReply>::join(
            &mut self.tables.tx_segment_reply,
            &mut self.tx_merge.segment_reply,
        );
        MessageSource::<RegionRequest>::join(
            &mut self.tx_merge.region_request,
            &mut self.tables.tx_region_request,
        );
        MessageSource::<RegionReply>::join(
            &mut self.tables.tx_region_reply,
            &mut self.tx_merge.region_reply,
        );

        MessageSource::<WriteJob>::link(&mut self.write_job, &mut self.rx_split.write_job);
        PacketSource::link(&mut self.write_data, &mut self.rx_split.write_data);
        MessageSource::<ReadJob>::link(&mut self.flush_job, &mut self.rx_split.flush_job);
        PacketSink::link(&mut self.flush_data, &mut self.rx_split.flush_data);
        MessageSource::<ReadJob>::link(&mut self.payload_job, &mut self.tx_merge.read_job);
        PacketSink::link(&mut self.payload_data, &mut self.tx_merge.read_data);

        PulseSource::<RingFetch>::link(
            &mut self.header_produced,
            &mut self.rx_split.header_produced,
        );
        PulseSource::<DropCode>::link(&mut self.drop_count, &mut self.rx_split.drop_count);
        PulseSource::<DispositionCode>::link(
            &mut self.disposition_count,
            &mut self.rx_split.disposition_count,
        );
        PulseSource::<SendErrorCode>::link(
            &mut self.send_error_count,
            &mut self.tx_merge.error_count,
        );
        self.send_event_lost.next = self.rx_split.send_event_lost.val();
        self.run_events.next = self.rx_split.run_events.val();
        self.tables_busy.next = self.tables.busy.val();
        self.frame_done.next = self.rx_split.frame_done.val();
        self.buffer_beats_peak.next = self.rx_split.buffer_beats_peak.val();
        self.buffer_almost_full.next = self.rx_split.buffer_almost_full.val();
        self.packet_taken.next = self.rx_split.packet_taken.val();
        self.packet_stalled.next = self.rx_split.packet_stalled.val();
        self.descriptor_done.next = self.tx_merge.descriptor_done.val();
        self.command_done.next = self.tables.command_done.val();
    }
}
