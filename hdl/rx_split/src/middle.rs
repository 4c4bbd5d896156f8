//! The middle of the receive path: from verified packets to plans.
//!
//! ```text
//!  packets, confirmation ─► classify ─► share check ─► backlog ─► walks ─► admit ─► plans
//!                              └─► lost ◄──┘──────────────────────────────────┘
//! ```
//! Drops are counted one a cycle: those of the store first, then of `admit`, of the share check,
//! and of resets.
//!
//! Timing: that of the stages; the slowest takes a packet every other cycle.

use crate::admit::Admit;
use crate::classify::Classify;
use crate::lost::Lost;
use crate::messages::{Piece, Placement, Plan, Release, StoredPacket};
use crate::share_check::ShareCheck;
use crate::walks::Walks;
use stream::prelude::*;

/// The middle, for a packet store of 2^A beats and 2^B owners. See the module's head.
#[derive(LogicBlock, Default)]
pub struct Middle<const A: usize, const B: usize, const N: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch.
    pub reset: Signal<In, Bit>,

    /// Register writes.
    pub settings: PulseSink<RegisterWrite>,
    /// Verified packets.
    pub packets: MessageSink<StoredPacket>,
    /// Confirmations from the tables.
    pub confirmation: MessageSink<Confirmation>,
    /// Failed sends.
    pub send_event: MessageSink<SendEvent>,
    /// To `split`.
    pub plans: MessageSource<Plan>,

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

    /// Walk slot of the piece to show.
    pub piece_slot: Signal<In, Bits<4>>,
    /// Its number.
    pub piece_number: Signal<In, Bits<4>>,
    /// That piece.
    pub piece: Signal<Out, Piece>,
    /// The oldest walk slot is no longer needed.
    pub slot_freed: Signal<In, Bit>,
    /// Packets that left the store.
    pub release: PulseSink<Release>,

    /// The store counts a drop in this cycle.
    pub drop_busy: Signal<In, Bit>,
    /// Packets dropped here.
    pub drop_count: PulseSource<DropCode>,
    /// Packets whose header goes up.
    pub disposition_count: PulseSource<DispositionCode>,
    /// An event found no room.
    pub send_event_lost: Signal<Out, Bit>,

    classify: Classify,
    share_check: ShareCheck<A, B>,
    backlog: DeepFifo<Placement, 8, 9>,
    walks: Walks,
    admit: Admit<B, N>,
    lost: Lost,

    admit_drops: Signal<Local, Bit>,
    share_drops: Signal<Local, Bit>,
    drops: Signal<Local, Bit>,
}

impl<const A: usize, const B: usize, const N: usize> Logic for Middle<A, B, N> {
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, classify, share_check, backlog, walks, admit);
        clock!(self, clock, lost);
        self.classify.reset.next = self.reset.val();
        self.share_check.reset.next = self.reset.val();
        self.backlog.reset.next = self.reset.val();
        self.walks.reset.next = self.reset.val();
        self.admit.reset.next = self.reset.val();
        self.lost.reset.next = self.reset.val();

        PulseSink::<RegisterWrite>::link(&mut self.settings, &mut self.admit.settings);
        MessageSink::<StoredPacket>::link(&mut self.packets, &mut self.classify.packets);
        MessageSink::<Confirmation>::link(&mut self.confirmation, &mut self.classify.confirmation);
        MessageSource::<FlowLookup>::link(&mut self.flow_lookup, &mut self.classify.flow_lookup);
        MessageSink::<FlowReply>::link(&mut self.flow_reply, &mut self.classify.flow_reply);
        MessageSource::<Placement>::join(&mut self.classify.placements, &mut self.share_check.sink);
        MessageSource::<Placement>::join(&mut self.share_check.source, &mut self.backlog.sink);
        PulseSink::<Release>::link(&mut self.release, &mut self.share_check.release);
        MessageSource::<Placement>::join(&mut self.backlog.source, &mut self.walks.sink);
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

        MessageSource::<Placement>::join(&mut self.walks.source, &mut self.admit.packets);
        self.admit.outcome.next = self.walks.outcome.val();
        MessageSink::<SendEvent>::link(&mut self.send_event, &mut self.admit.send_event);
        self.send_event_lost.next = self.admit.send_event_lost.val();
        self.cursor_flow.next = self.admit.cursor_flow.val();
        self.admit.cursor.next = self.cursor.val();
        PulseSource::<CursorWrite>::link(&mut self.cursor_write, &mut self.admit.cursor_write);
        MessageSource::<Plan>::link(&mut self.plans, &mut self.admit.plans);
        PulseSource::<DispositionCode>::link(
            &mut self.disposition_count,
            &mut self.admit.disposition_count,
        );

        self.admit_drops.next = self.admit.drop_count.valid.val();
        self.share_drops.next = self.share_check.drop_count.valid.val();
        self.drops.next = self.admit_drops.val() | self.share_drops.val();
        self.lost.taken.next = self.classify.taken.val();
        self.lost.dropped.next = self.share_drops.val();
        self.lost.settled.next = self.admit.settled.val();
        self.admit.drop_busy.next = self.drop_busy.val();
        self.share_check.drop_busy.next = self.drop_busy.val() | self.admit_drops.val();
        self.lost.drop_busy.next = self.drop_busy.val() | self.drops.val();
        self.drop_count.valid.next =
            self.drops.val() | (self.lost.waits.val() & !self.drop_busy.val());
        self.drop_count.payload.next = self.lost.reason.val();
        if self.share_drops.val() {
            self.drop_count.payload.next = self.share_check.drop_count.payload.val();
        }
        if self.admit_drops.val() {
            self.drop_count.payload.next = self.admit.drop_count.payload.val();
        }
    }
}
