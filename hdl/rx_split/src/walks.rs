//! Walks over segments and pages, sixteen at a time: turns ranges of streams into pieces of bus
//! memory.
//!
//! ```text
//!  sink ─┬──────────────────── order of arrival ────────────────────► source, outcome
//!        └─► slot, token ─► segment step ◄──► region step ─► outcome, pieces of the slot
//!                                └── next page, [next segment] ─┘
//! ```
//! A walk is a token that goes from table to table and carries everything it needs.
//!
//! Timing: one packet per cycle in and out. A walk takes six cycles and the latency of the tables;
//! each further page three more, each further segment six more, and the latency again.
//!
//! Invariants:
//! 1. `source` offers a packet with a walk when its outcome is known.
//! 2. The pieces of a walk that has not failed follow each other in the stream without a gap.
//! 3. A slot is in use from the packet's arrival to `slot_freed`; slots are freed in order.
//!
//! On error: a walk that cannot place the range ends with `failed` and the Disposition that says
//! why; the packet is deferred by `admit`.
//!
//! Source: docs/specification.md, Placement, rule 11; decisions 4 and 7.

pub mod messages;
pub mod region_grant;
pub mod region_step;
pub mod segment_step;
pub mod walk_slots;

use crate::messages::{Piece, RxItem, WalkOutcome};
use crate::walks::messages::{PieceWrite, SegmentToken, WalkEnd, WalkToken};
use crate::walks::region_step::RegionStep;
use crate::walks::segment_step::SegmentStep;
use crate::walks::walk_slots::WalkSlots;
use stream::prelude::*;
use stream::pulse_merge::PulseMerge;

/// The walks. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct Walks {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch: packets, walks and pieces inside are forgotten, all slots are free.
    pub reset: Signal<In, Bit>,

    /// Packets in order: those with `walk` have a range to place, others pass.
    pub sink: MessageSink<RxItem>,
    /// Packets of `sink` in the same order, each when its walk has ended.
    pub source: MessageSource<RxItem>,
    /// What the walk of the packet at `source` found.
    pub outcome: Signal<Out, WalkOutcome>,
    /// Requests to the receive lists.
    pub segment_request: MessageSource<SegmentRequest>,
    /// Replies of the receive lists, in the order of the requests.
    pub segment_reply: MessageSink<SegmentReply>,
    /// Requests to the region table.
    pub region_request: MessageSource<RegionRequest>,
    /// Replies of the region table, in the order of the requests.
    pub region_reply: MessageSink<RegionReply>,
    /// Slot of the piece to show.
    pub piece_slot: Signal<In, Bits<4>>,
    /// Number of the piece to show.
    pub piece_number: Signal<In, Bits<4>>,
    /// Piece that `piece_slot` and `piece_number` name, in the same cycle.
    pub piece: Signal<Out, Piece>,
    /// The oldest slot is no longer needed.
    pub slot_freed: Signal<In, Bit>,

    order: Fifo<RxItem, 4, 5>,
    slots: WalkSlots,
    segments: SegmentStep,
    regions: RegionStep,
    pieces: LutRam<Piece, 8>,
    again: PulseMerge<WalkToken>,
    was_freed: DFF<Bit>,
    again_valid: DFF<Bit>,
    again_token: DFF<WalkToken>,
    tokens: PulseMerge<WalkToken>,
    located: PulseMerge<SegmentToken>,
    ends: PulseMerge<WalkEnd>,

    packet: Signal<Local, RxItem>,
    oldest: Signal<Local, RxItem>,
    may_start: Signal<Local, Bit>,
    takes: Signal<Local, Bit>,
    starts: Signal<Local, Bit>,
    offered: Signal<Local, Bit>,
    start: Signal<Local, WalkToken>,
    write: Signal<Local, PieceWrite>,
    #[value(WalkToken::default())]
    none: Constant<WalkToken>,
}

impl Logic for Walks {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, was_freed, again_valid, again_token);
        clock!(self, clock, order, slots, segments, regions, pieces);
        self.order.reset.next = self.reset.val();
        self.slots.reset.next = self.reset.val();
        self.segments.reset.next = self.reset.val();
        self.regions.reset.next = self.reset.val();
        MessageSource::<SegmentRequest>::link(
            &mut self.segment_request,
            &mut self.segments.request,
        );
        MessageSink::<SegmentReply>::link(&mut self.segment_reply, &mut self.segments.reply);
        MessageSource::<RegionRequest>::link(&mut self.region_request, &mut self.regions.request);
        MessageSink::<RegionReply>::link(&mut self.region_reply, &mut self.regions.reply);

        // In: a packet to place starts its walk, when no walk under way goes back to the list.
        self.packet.next = self.sink.payload.val();
        self.may_start.next = self.slots.slot_free.val() & !self.again_valid.q.val();
        self.takes.next = self.sink.valid.val()
            & self.order.sink.ready.val()
            & (!self.packet.val().walk | self.may_start.val());
        self.starts.next = self.takes.val() & self.packet.val().walk;
        self.sink.ready.next = self.takes.val();
        self.slots.start.next = self.starts.val();
        self.was_freed.d.next = self.slot_freed.val() & !self.reset.val();
        self.slots.freed.next = self.was_freed.q.val();
        self.order.sink.valid.next = self.takes.val();
        self.order.sink.payload.next = self.packet.val();
        self.order.sink.payload.next.slotted = self.packet.val().walk;
        self.order.sink.payload.next.slot = self.slots.slot.val();
        self.start.next = self.none.val();
        self.start.next.slot = self.slots.slot.val();
        self.start.next.flow = self.packet.val().flow;
        self.start.next.domain = self.packet.val().domain;
        self.start.next.position = self.packet.val().place_position;
        self.start.next.rest = self.packet.val().place_bytes;

        // Round: the region step goes first.
        self.segments.hold.next = self.regions.acts.val();
        PulseSource::<WalkToken>::join(&mut self.regions.again, &mut self.again.first);
        PulseSource::<WalkToken>::join(&mut self.segments.again, &mut self.again.second);
        self.again_valid.d.next = self.again.source.valid.val() & !self.reset.val();
        self.again_token.d.next = self.again.source.payload.val();
        self.tokens.first.valid.next = self.again_valid.q.val();
        self.tokens.first.payload.next = self.again_token.q.val();
        self.tokens.second.valid.next = self.starts.val();
        self.tokens.second.payload.next = self.start.val();
        PulseSource::<WalkToken>::join(&mut self.tokens.source, &mut self.segments.tokens);
        PulseSource::<SegmentToken>::join(&mut self.regions.page, &mut self.located.first);
        PulseSource::<SegmentToken>::join(&mut self.segments.located, &mut self.located.second);
        PulseSource::<SegmentToken>::join(&mut self.located.source, &mut self.regions.tokens);

        // Out.
        PulseSource::<WalkEnd>::join(&mut self.regions.ended, &mut self.ends.first);
        PulseSource::<WalkEnd>::join(&mut self.segments.ended, &mut self.ends.second);
        PulseSource::<WalkEnd>::join(&mut self.ends.source, &mut self.slots.ends);
        self.write.next = self.regions.piece.payload.val();
        self.pieces.write_address.next = (bit_cast::<8, 4>(self.write.val().slot) << 4)
            | bit_cast::<8, 4>(self.write.val().number);
        self.pieces.write_data.next = self.write.val().piece;
        self.pieces.write_enable.next = self.regions.piece.valid.val();
        self.pieces.read_address.next = (bit_cast::<8, 4>(self.piece_slot.val()) << 4)
            | bit_cast::<8, 4>(self.piece_number.val());
        self.piece.next = self.pieces.read_data.val();
        self.oldest.next = self.order.source.payload.val();
        self.slots.shown.next = self.oldest.val().slot;
        self.outcome.next = self.slots.outcome.val();
        self.offered.next = self.order.source.valid.val()
            & (!self.oldest.val().slotted | self.slots.is_ended.val());
        self.source.valid.next = self.offered.val();
        self.source.payload.next = self.oldest.val();
        self.order.source.ready.next = self.offered.val() & self.source.ready.val();
    }
}
