//! The card's state behind one face: flow table, segment lists, region table, and the commands that
//! change them.
//!
//! ```text
//!  commands ──► command ──┬──► scrubber ──┬──► flows ◄──► flow_lookup, cursor_write, send_flow
//!                │        │               └──► regions ◄──► rx_region, tx_region
//!                ▼        └──► rx_list ◄──► rx_segment     tx_list ◄──► tx_segment
//!          confirmation
//! ```
//!
//! | Port | Direction | Meaning and duty |
//! |---|---|---|
//! | `epoch`, `reset` | in | current epoch, never 0; `reset` is high when a new one starts |
//! | `settings` | in | register writes; the hash secrets are taken from them; see invariant 4 |
//! | `commands`, `command_fetch` | in | one message, then its packet of up to 16 commands |
//! | `confirmation` | out | one for each command, after its update is visible |
//! | `fence_passed` | in | pulse: a confirmation has left the last fence |
//! | `flow_lookup`, `flow_reply` | in, out | packet keys to flows |
//! | `cursor_write` | in | pulses |
//! | `cursor_flow`, `cursor` | in, out | a flow's cursor, two cycles later |
//! | `send_flow_request`, `send_flow_reply` | in, out | flow ids to flows |
//! | `*_segment_request`, `*_segment_reply` | in, out | segments by position or index |
//! | `*_region_request`, `*_region_reply` | in, out | accesses checked and translated |
//! | `busy` | out | commands wait: see invariant 4, and `scrubber` |
//! | `command_done`, `command_read_failed` | out | pulses for the counters |
//!
//! Timing: earliest replies: flow 8, send flow 3, segment 9 (and 5 for each further round), region
//! 8 cycles after the request. All replies come in request order.
//!
//! Invariants:
//! 1. Nothing is valid before it was installed in the current epoch, also when its number has been
//!    used before.
//! 2. A lookup requested after a confirmation was handed out sees the command's effect.
//! 3. `reset` forgets everything in flight: requests unanswered then are never answered.
//! 4. Commands wait while the hash tables are rewritten, 12,339 cycles from power-up and from each
//!    write of a secret: no flow is confirmed that look-ups would not find. Software writes the
//!    secrets before it installs the first flow; those of before are lost to look-ups.

use crate::command::CommandProcessor;
use crate::flow_table::FlowTable;
use crate::messages::{FlowControl, FlowUpdate, KeyUpdate, PageUpdate, RegionUpdate};
use crate::region_table::RegionTable;
use crate::scrubber::Scrubber;
use crate::segment_list::list_control::ListControlSource;
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
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch.
    pub reset: Signal<In, Bit>,
    /// Current epoch.
    pub epoch: Signal<In, Bits<16>>,

    /// Register writes.
    pub settings: PulseSink<RegisterWrite>,
    /// Pieces of command rings.
    pub commands: PacketSink,
    /// Whose they are.
    pub command_fetch: MessageSink<RingFetch>,
    /// The end of each command.
    pub confirmation: MessageSource<Confirmation>,
    /// A confirmation has left the last fence.
    pub fence_passed: Signal<In, Bit>,

    /// Keys of packets.
    pub flow_lookup: MessageSink<FlowLookup>,
    /// Their flows.
    pub flow_reply: MessageSource<FlowReply>,
    /// Cursor moves.
    pub cursor_write: PulseSink<CursorWrite>,
    /// Flow whose cursor to read.
    pub cursor_flow: Signal<In, Bits<16>>,
    /// That cursor, two cycles later.
    pub cursor: Signal<Out, Bits<32>>,
    /// Segments for received payload.
    pub rx_segment_request: MessageSink<SegmentRequest>,
    /// The segments.
    pub rx_segment_reply: MessageSource<SegmentReply>,
    /// Accesses for received payload.
    pub rx_region_request: MessageSink<RegionRequest>,
    /// Where they go.
    pub rx_region_reply: MessageSource<RegionReply>,

    /// Flow ids of sends.
    pub send_flow_request: MessageSink<Bits<16>>,
    /// Their state.
    pub send_flow_reply: MessageSource<SendFlowReply>,
    /// Segments for sends.
    pub tx_segment_request: MessageSink<SegmentRequest>,
    /// The segments.
    pub tx_segment_reply: MessageSource<SegmentReply>,
    /// Accesses for sends.
    pub tx_region_request: MessageSink<RegionRequest>,
    /// Where they go.
    pub tx_region_reply: MessageSource<RegionReply>,

    /// Commands wait: the hash tables do not belong to the secrets yet, or entries are cleared.
    pub busy: Signal<Out, Bit>,
    /// A command was confirmed.
    pub command_done: Signal<Out, Bit>,
    /// A piece of a ring could not be read; none of it was carried out.
    pub command_read_failed: Signal<Out, Bit>,

    command:
        CommandProcessor<FLOW_BITS, BUCKET_BITS, SEGMENT_BITS, REGION_BITS, PAGE_BITS, OWNER_BITS>,
    scrubber: Scrubber<FLOW_BITS, BUCKET_BITS, REGION_BITS, PAGE_BITS>,
    flows: FlowTable<FLOW_BITS, BUCKET_BITS>,
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
    > Logic for Tables<FLOW_BITS, BUCKET_BITS, SEGMENT_BITS, REGION_BITS, PAGE_BITS, OWNER_BITS>
{
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, command, scrubber, flows, rx_list, tx_list);
        clock!(self, clock, regions);
        self.command.reset.next = self.reset.val();
        self.command.epoch.next = self.scrubber.table_epoch.val();
        self.command.hold.next = self.scrubber.busy.val() | self.flows.busy.val();
        self.busy.next = self.scrubber.busy.val() | self.flows.busy.val();
        self.scrubber.reset.next = self.reset.val();
        self.scrubber.epoch.next = self.epoch.val();
        self.flows.reset.next = self.reset.val();
        self.flows.epoch.next = self.scrubber.table_epoch.val();
        self.rx_list.reset.next = self.reset.val();
        self.tx_list.reset.next = self.reset.val();
        self.regions.reset.next = self.reset.val();
        self.regions.epoch.next = self.scrubber.table_epoch.val();

        // Commands.
        PacketSink::link(&mut self.commands, &mut self.command.commands);
        MessageSink::<RingFetch>::link(&mut self.command_fetch, &mut self.command.command_fetch);
        MessageSource::<Confirmation>::link(&mut self.confirmation, &mut self.command.confirmation);
        self.command.fence_passed.next = self.fence_passed.val();
        self.command_done.next = self.command.command_done.val();
        self.command_read_failed.next = self.command.command_read_failed.val();
        PulseSource::<Bits<16>>::join(&mut self.command.query, &mut self.flows.query);
        PulseSource::<FlowControl>::join(&mut self.flows.queried, &mut self.command.queried);
        PulseSource::<KeyUpdate>::join(&mut self.command.key_update, &mut self.scrubber.key_in);
        PulseSource::<KeyUpdate>::join(&mut self.scrubber.key_out, &mut self.flows.key_update);
        MessageSource::<FlowUpdate>::join(&mut self.command.change, &mut self.scrubber.change_in);
        MessageSource::<FlowUpdate>::join(&mut self.scrubber.change_out, &mut self.flows.change);
        ListControlSource::join(&mut self.command.rx_list, &mut self.rx_list.control);
        ListControlSource::join(&mut self.command.tx_list, &mut self.tx_list.control);
        PulseSource::<RegionUpdate>::join(&mut self.command.region, &mut self.scrubber.region_in);
        PulseSource::<RegionUpdate>::join(&mut self.scrubber.region_out, &mut self.regions.region);
        self.command.region_busy.next = self.regions.busy.val();
        PulseSource::<PageUpdate>::join(&mut self.command.page, &mut self.scrubber.page_in);
        PulseSource::<PageUpdate>::join(&mut self.scrubber.page_out, &mut self.regions.page);

        // Lookups of both directions.
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
            &mut self.rx_list.request,
        );
        MessageSource::<SegmentReply>::link(&mut self.rx_segment_reply, &mut self.rx_list.reply);
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
