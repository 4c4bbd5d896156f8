//! The card's state behind one face: flow table, segment lists, region table, and the commands that
//! change them.
//!
//! ```text
//!  commands ──► command ──┬──► scrubber ──┬──► flows ◄──► flow_lookup, cursor_write, send_flow
//!                │        │               └──► regions ◄──► rx_region, tx_region
//!                ▼        └──► rx_list ◄──► rx_segment     tx_list ◄──► tx_segment
//!          confirmation
//! ```
//! Timing: earliest replies after the request: flow 8, send flow 3, segment 8 (and 4 for each
//! further round), region 8 cycles. All replies come in request order.
//!
//! Invariants:
//! 1. Nothing is valid before it was installed in the current epoch, also when the epoch's number
//!    has been used before.
//! 2. A look-up requested after a confirmation was handed out sees the command's effect.
//! 3. `reset` forgets everything in flight: requests that are pending then never get a reply.
//! 4. Commands wait while the hash tables are rewritten, 12,339 cycles from power-up and from each
//!    write of a secret: no flow is confirmed that look-ups would not find. Software writes the
//!    secrets before it installs the first flow. Flows of an earlier secret are no longer found.
//!
//! On error: a packet of commands that could not be read pulses `command_read_failed`; none of it
//! is carried out.
//!
//! Source: `docs/specification.md`, Commands, Hash secrets and Epochs.

use crate::command::CommandProcessor;
use crate::flow_table::FlowTable;
use crate::messages::{FlowControl, FlowUpdate, KeyUpdate, PageUpdate, RegionUpdate};
use crate::region_table::RegionTable;
use crate::scrubber::Scrubber;
use crate::segment_list::list_control::ListControlSource;
use crate::segment_list::list_reach::ListReach;
use crate::segment_list::SegmentList;
use stream::prelude::*;

/// The state of the card. See the module's head.
#[derive(LogicBlock, Default)]
pub struct Tables<
    const FLOW_BITS: usize,
    const BUCKET_BITS: usize,
    const SEGMENT_BITS: usize,
    const REGION_BITS: usize,
    const PAGE_BITS: usize,
    const OWNER_BITS: usize,
> {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch: forgets everything in flight. Secrets and hash tables are kept.
    pub reset: Signal<In, Bit>,
    /// Current epoch, never 0.
    pub epoch: Signal<In, Bits<16>>,

    /// Register writes of the host; the hash secrets are taken from them.
    pub settings: PulseSink<RegisterWrite>,
    /// Commands of a fetch: packets of 1 to 16 beats, one command each.
    pub commands: PacketSink,
    /// Owner and first index of the next packet of `commands`, one message for each.
    pub command_fetch: MessageSink<RingFetch>,
    /// Confirmations, one for each command, offered after its update is visible.
    pub confirmation: MessageSource<CommandEnd>,
    /// A confirmation has left the last fence (one cycle).
    pub fence_passed: Signal<In, Bit>,

    /// Keys of received packets.
    pub flow_lookup: MessageSink<FlowLookup>,
    /// State of the flow found for each key.
    pub flow_reply: MessageSource<FlowReply>,
    /// Moves of a flow's cursor.
    pub cursor_write: PulseSink<CursorWrite>,
    /// Flow id whose cursor is read.
    pub cursor_flow: Signal<In, Bits<16>>,
    /// Cursor of `cursor_flow`, two cycles later.
    pub cursor: Signal<Out, Bits<32>>,
    /// Positions or indices of segments for received payload.
    pub rx_segment_request: MessageSink<SegmentRequest>,
    /// Segment found for each of the `rx_segment_request`.
    pub rx_segment_reply: MessageSource<SegmentReply>,
    /// Accesses to regions for received payload.
    pub rx_region_request: MessageSink<RegionRequest>,
    /// Grant and bus address for each of the `rx_region_request`.
    pub rx_region_reply: MessageSource<RegionReply>,

    /// Flow ids of sends.
    pub send_flow_request: MessageSink<Bits<16>>,
    /// State of the flow for each of the `send_flow_request`.
    pub send_flow_reply: MessageSource<SendFlowReply>,
    /// Positions or indices of segments for sends.
    pub tx_segment_request: MessageSink<SegmentRequest>,
    /// Segment found for each of the `tx_segment_request`.
    pub tx_segment_reply: MessageSource<SegmentReply>,
    /// Accesses to regions for sends.
    pub tx_region_request: MessageSink<RegionRequest>,
    /// Grant and bus address for each of the `tx_region_request`.
    pub tx_region_reply: MessageSource<RegionReply>,

    /// Commands wait: the hash tables do not belong to the secrets yet, or entries are being
    /// cleared.
    pub busy: Signal<Out, Bit>,
    /// A confirmation was handed out (one cycle).
    pub command_done: Signal<Out, Bit>,
    /// A packet of commands could not be read; none of it was carried out (one cycle).
    pub command_read_failed: Signal<Out, Bit>,

    command:
        CommandProcessor<FLOW_BITS, BUCKET_BITS, SEGMENT_BITS, REGION_BITS, PAGE_BITS, OWNER_BITS>,
    scrubber: Scrubber<FLOW_BITS, BUCKET_BITS, REGION_BITS, PAGE_BITS>,
    flows: FlowTable<FLOW_BITS, BUCKET_BITS>,
    rx_reach: ListReach,
    rx_list: SegmentList<FLOW_BITS, SEGMENT_BITS>,
    tx_list: SegmentList<FLOW_BITS, SEGMENT_BITS>,
    regions: RegionTable<REGION_BITS, PAGE_BITS>,
}

impl<
        const FLOW_BITS: usize,
        const BUCKET_BITS: usize,
        const SEGMENT_BITS: usize,
        const REGION_BITS: usize,
        const PAGE_BITS: usize,
        const OWNER_BITS: usize,
    > Tables<FLOW_BITS, BUCKET_BITS, SEGMENT_BITS, REGION_BITS, PAGE_BITS, OWNER_BITS>
{
    /// Tables whose receive list is in the neighbour die.
    pub fn far() -> Self {
        Self { command: CommandProcessor::far(), rx_reach: ListReach::far(), ..Self::default() }
    }
}

impl<
        const FLOW_BITS: usize,
        const BUCKET_BITS: usize,
        const SEGMENT_BITS: usize,
        const REGION_BITS: usize,
        const PAGE_BITS: usize,
        const OWNER_BITS: usize,
    > Logic for Tables<FLOW_BITS, BUCKET_BITS, SEGMENT_BITS, REGION_BITS, PAGE_BITS, OWNER_BITS>
{
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, command, scrubber, flows, rx_reach, rx_list, tx_list);
        clock!(self, clock, regions);
        self.command.reset.next = self.reset.val();
        self.command.epoch.next = self.scrubber.table_epoch.val();
        self.command.hold.next = self.scrubber.busy.val() | self.flows.busy.val();
        self.busy.next = self.scrubber.busy.val() | self.flows.busy.val();
        self.scrubber.reset.next = self.reset.val();
        self.scrubber.epoch.next = self.epoch.val();
        self.flows.reset.next = self.reset.val();
        self.flows.epoch.next = self.scrubber.table_epoch.val();
        self.rx_reach.reset.next = self.reset.val();
        self.rx_list.reset.next = self.rx_reach.list_reset.val();
        self.tx_list.reset.next = self.reset.val();
        self.regions.reset.next = self.reset.val();
        self.regions.epoch.next = self.scrubber.table_epoch.val();

        // Commands.
        PacketSink::link(&mut self.commands, &mut self.command.commands);
        MessageSink::<RingFetch>::link(&mut self.command_fetch, &mut self.command.command_fetch);
        MessageSource::<CommandEnd>::link(&mut self.confirmation, &mut self.command.confirmation);
        self.command.fence_passed.next = self.fence_passed.val();
        self.command_done.next = self.command.command_done.val();
        self.command_read_failed.next = self.command.command_read_failed.val();
        PulseSource::<Bits<16>>::join(&mut self.command.query, &mut self.flows.query);
        PulseSource::<FlowControl>::join(&mut self.flows.queried, &mut self.command.queried);
        PulseSource::<KeyUpdate>::join(&mut self.command.key_update, &mut self.scrubber.key_in);
        PulseSource::<KeyUpdate>::join(&mut self.scrubber.key_out, &mut self.flows.key_update);
        MessageSource::<FlowUpdate>::join(&mut self.command.change, &mut self.scrubber.change_in);
        MessageSource::<FlowUpdate>::join(&mut self.scrubber.change_out, &mut self.flows.change);
        ListControlSource::join(&mut self.command.rx_list, &mut self.rx_reach.control);
        ListControlSource::join(&mut self.rx_reach.list_control, &mut self.rx_list.control);
        ListControlSource::join(&mut self.command.tx_list, &mut self.tx_list.control);
        PulseSource::<RegionUpdate>::join(&mut self.command.region, &mut self.scrubber.region_in);
        PulseSource::<RegionUpdate>::join(&mut self.scrubber.region_out, &mut self.regions.region);
        self.command.region_busy.next = self.regions.busy.val();
        PulseSource::<PageUpdate>::join(&mut self.command.page, &mut self.scrubber.page_in);
        PulseSource::<PageUpdate>::join(&mut self.scrubber.page_out, &mut self.regions.page);

        // Look-ups of both directions.
        PulseSink::<RegisterWrite>::link(&mut self.settings, &mut self.flows.settings);
        MessageSink::<FlowLookup>::link(&mut self.flow_lookup, &mut self.flows.flow_lookup);
        MessageSource::<FlowReply>::link(&mut self.flow_reply, &mut self.flows.flow_reply);
        PulseSink::<CursorWrite>::link(&mut self.cursor_write, &mut self.flows.cursor_write);
        self.flows.cursor_flow.next = self.cursor_flow.val();
        self.cursor.next = self.flows.cursor.val();
        MessageSink::<Bits<16>>::link(
            &mut self.send_flow_request,
            &mut self.flows.send_flow_request,
        );
        MessageSource::<SendFlowReply>::link(
            &mut self.send_flow_reply,
            &mut self.flows.send_flow_reply,
        );
        MessageSink::<SegmentRequest>::link(
            &mut self.rx_segment_request,
            &mut self.rx_reach.request,
        );
        MessageSource::<SegmentRequest>::join(
            &mut self.rx_reach.list_request,
            &mut self.rx_list.request,
        );
        MessageSource::<SegmentReply>::join(&mut self.rx_list.reply, &mut self.rx_reach.list_reply);
        MessageSource::<SegmentReply>::link(&mut self.rx_segment_reply, &mut self.rx_reach.reply);
        MessageSink::<SegmentRequest>::link(
            &mut self.tx_segment_request,
            &mut self.tx_list.request,
        );
        MessageSource::<SegmentReply>::link(&mut self.tx_segment_reply, &mut self.tx_list.reply);
        MessageSink::<RegionRequest>::link(
            &mut self.rx_region_request,
            &mut self.regions.rx_request,
        );
        MessageSource::<RegionReply>::link(&mut self.rx_region_reply, &mut self.regions.rx_reply);
        MessageSink::<RegionRequest>::link(
            &mut self.tx_region_request,
            &mut self.regions.tx_request,
        );
        MessageSource::<RegionReply>::link(&mut self.tx_region_reply, &mut self.regions.tx_reply);
    }
}
