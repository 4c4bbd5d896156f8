//! The second part of the receive path: from verified packets to plans. Instances and joins only.
//!
//! ```text
//!  packets, confirmation ─► classify ─► share check ─► backlog ─► walks ─► admit ─► plans
//!                              │            │ drops                          │ drops
//!                              └─► reset drops ─► drop select ◄──────────────┘
//! ```
//! Timing: that of the stages; the slowest, `admit`, takes one packet every other cycle.
//!
//! Invariants:
//! 1. Packets, confirmations and releases leave in the order in which they came.
//! 2. Each packet that was taken is settled by `admit`, dropped by the share check, or flushed by
//!    reset: once. Each drop makes one pulse of `drop_count`, at most one per cycle.
//!
//! Source: docs/specification.md, Placement, Order and Share of the packet buffer.

use crate::admit::Admit;
use crate::classify::Classify;
use crate::drop_select::DropSelect;
use crate::messages::{Piece, Plan, Release, RunSummary, RxItem, StoredPacket};
use crate::reset_drops::ResetDrops;
use crate::runs::facts_memory::FactsMemory;
use crate::share_check::ShareCheck;
use crate::walks::Walks;
use stream::prelude::*;

/// The placement stages, for a packet buffer of 2^BUFFER_BITS beats and 2^OWNER_BITS owners. See
/// the module's head.
#[derive(LogicBlock, Default)]
pub struct Placement<const BUFFER_BITS: usize, const OWNER_BITS: usize, const OWNERS: usize> {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch: what is inside is forgotten, and its packets are counted as drops.
    pub reset: Signal<In, Bit>,

    /// Register writes: contexts and doorbells of owners.
    pub settings: PulseSink<RegisterWrite>,
    /// Verified packets.
    pub packets: MessageSink<StoredPacket>,
    /// Confirmations from the tables.
    pub confirmation: MessageSink<CommandEnd>,
    /// Events of failed sends.
    pub send_event: MessageSink<SendEvent>,
    /// Plans to `split`.
    pub plans: MessageSource<Plan>,
    /// One summary for each plan that sums.
    pub summaries: MessageSource<RunSummary>,

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

    /// Walk slot of the piece to show.
    pub piece_slot: Signal<In, Bits<4>>,
    /// Number of the piece to show.
    pub piece_number: Signal<In, Bits<4>>,
    /// Piece that `piece_slot` and `piece_number` name, in the same cycle.
    pub piece: Signal<Out, Piece>,
    /// The oldest walk slot is no longer needed.
    pub slot_freed: Signal<In, Bit>,
    /// Packets that left the packet buffer, with the charge that they give back.
    pub release: PulseSink<Release>,

    /// A drop of the packet buffer is counted in this cycle: none from here is.
    pub drop_busy: Signal<In, Bit>,
    /// One pulse for each packet that is dropped here, with its DropReason.
    pub drop_count: PulseSource<DropCode>,
    /// One pulse for each packet whose header entry is delivered, with its Disposition.
    pub disposition_count: PulseSource<DispositionCode>,
    /// The event of a failed send found no free space in its owner's header queue.
    pub send_event_lost: Signal<Out, Bit>,
    /// Events of runs of received packets.
    pub run_events: Signal<Out, RunEvents>,

    classify: Classify,
    facts: FactsMemory<BUFFER_BITS>,
    share_check: ShareCheck<BUFFER_BITS, OWNER_BITS>,
    backlog: DeepFifo<RxItem, 8, 9>,
    walks: Walks,
    admit: Admit<OWNER_BITS, OWNERS>,
    reset_drops: ResetDrops,
    drop_select: DropSelect,
}

impl<const BUFFER_BITS: usize, const OWNER_BITS: usize, const OWNERS: usize> Logic
    for Placement<BUFFER_BITS, OWNER_BITS, OWNERS>
{
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, classify, facts, share_check, backlog, walks, admit);
        clock!(self, clock, reset_drops);
        self.classify.reset.next = self.reset.val();
        self.share_check.reset.next = self.reset.val();
        self.backlog.reset.next = self.reset.val();
        self.walks.reset.next = self.reset.val();
        self.admit.reset.next = self.reset.val();
        self.reset_drops.reset.next = self.reset.val();

        PulseSink::<RegisterWrite>::link(&mut self.settings, &mut self.admit.settings);
        MessageSink::<StoredPacket>::link(&mut self.packets, &mut self.classify.packets);
        MessageSink::<CommandEnd>::link(&mut self.confirmation, &mut self.classify.confirmation);
        MessageSource::<FlowLookup>::link(&mut self.flow_lookup, &mut self.classify.flow_lookup);
        MessageSink::<FlowReply>::link(&mut self.flow_reply, &mut self.classify.flow_reply);
        MessageSource::<RxItem>::join(&mut self.classify.items, &mut self.share_check.sink);
        MessageSource::<RxItem>::join(&mut self.share_check.source, &mut self.backlog.sink);
        PulseSink::<Release>::link(&mut self.release, &mut self.share_check.release);
        MessageSource::<RxItem>::join(&mut self.backlog.source, &mut self.walks.sink);
        MessageSource::<SegmentRequest>::link(
            &mut self.segment_request,
            &mut self.walks.segment_request,
        );
        MessageSink::<SegmentReply>::link(&mut self.segment_reply, &mut self.walks.segment_reply);
        MessageSource::<RegionRequest>::link(
            &mut self.region_request,
            &mut self.walks.region_request,
        );
        MessageSink::<RegionReply>::link(&mut self.region_reply, &mut self.walks.region_reply);
        self.walks.piece_slot.next = self.piece_slot.val();
        self.walks.piece_number.next = self.piece_number.val();
        self.piece.next = self.walks.piece.val();
        self.walks.slot_freed.next = self.slot_freed.val();

        MessageSource::<RxItem>::join(&mut self.walks.source, &mut self.admit.packets);
        self.admit.outcome.next = self.walks.outcome.val();
        self.facts.packet.next = self.packets.payload.val();
        self.facts.taken.next = self.classify.taken.val();
        self.facts.start.next = self.admit.facts_start.val();
        self.admit.facts.next = self.facts.facts.val();
        self.run_events.next = self.admit.run_events.val();
        MessageSink::<SendEvent>::link(&mut self.send_event, &mut self.admit.send_event);
        self.send_event_lost.next = self.admit.send_event_lost.val();
        self.cursor_flow.next = self.admit.cursor_flow.val();
        self.admit.cursor.next = self.cursor.val();
        PulseSource::<CursorWrite>::link(&mut self.cursor_write, &mut self.admit.cursor_write);
        MessageSource::<Plan>::link(&mut self.plans, &mut self.admit.plans);
        MessageSource::<RunSummary>::link(&mut self.summaries, &mut self.admit.summaries);
        PulseSource::<DispositionCode>::link(
            &mut self.disposition_count,
            &mut self.admit.disposition_count,
        );

        self.reset_drops.taken.next = self.classify.taken.val();
        self.reset_drops.dropped.next = self.share_check.drop_count.valid.val();
        self.reset_drops.settled.next = self.admit.settled.val();
        self.drop_select.drop_busy.next = self.drop_busy.val();
        self.admit.drop_busy.next = self.drop_busy.val();
        PulseSource::<DropCode>::join(&mut self.admit.drop_count, &mut self.drop_select.admit_drop);
        self.share_check.drop_busy.next = self.drop_select.share_busy.val();
        self.drop_select.share_drop.valid.next = self.share_check.drop_count.valid.val();
        self.drop_select.share_drop.payload.next = self.share_check.drop_count.payload.val();
        self.reset_drops.drop_busy.next = self.drop_select.reset_busy.val();
        self.drop_select.reset_waits.next = self.reset_drops.waits.val();
        self.drop_select.reset_reason.next = self.reset_drops.reason.val();
        PulseSource::<DropCode>::link(&mut self.drop_count, &mut self.drop_select.source);
    }
}
