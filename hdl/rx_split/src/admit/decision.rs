//! What becomes of a packet: its disposition, what it needs of its owner's rings, and whether it
//! gets it.
//!
//! ```text
//!  candidate, standing ──► disposition ──► needs ─┬─► accept: cursor, counts, new indices
//!  space ─────────────────────────────────────────┴─► refuse: drop
//! ```
//! Timing: combinational.
//!
//! Invariants:
//! 1. A packet with `valid` is accepted or refused, and settled; an event is accepted or lost.
//! 2. The cursor moves only with a packet that is placed in order and accepted.
//!
//! On error: a refused packet becomes a release, and makes one pulse of `drop_count`.
//!
//! Source: docs/specification.md, Placement (rules 10 to 12) and Delivery.

use crate::admit::admit_arbiter::Candidate;
use crate::admit::messages::{OwnerSpace, OwnerUpdate};
use crate::admit::standing_step::Standing;
use crate::messages::{Decided, PlanItem, RunPart, RxItem, RxItemKind, WalkOutcome};
use abi::config::SLOT_HEADER_BYTES;
use abi::reason::{Disposition, DropReason};
use stream::prelude::*;

/// The decision. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct Decision {
    /// There is a candidate to decide.
    pub valid: Signal<In, Bit>,
    /// The candidate, with what its walk found.
    pub candidate: Signal<In, Candidate>,
    /// Standing of the candidate.
    pub standing: Signal<In, Standing>,
    /// Free space in the rings of the candidate's owner.
    pub space: Signal<In, OwnerSpace>,

    /// The candidate is an event that finds no free space in its owner's header queue.
    pub event_lost: Signal<Out, Bit>,
    /// The candidate is a packet: it is decided in this cycle.
    pub settled: Signal<Out, Bit>,
    /// Plans as decided, without their addresses.
    pub plans: PulseSource<Decided>,
    /// One pulse for each packet whose header entry is delivered, with its Disposition.
    pub disposition_count: PulseSource<DispositionCode>,
    /// One pulse for each packet dropped, with its DropReason.
    pub drop_count: PulseSource<DropCode>,
    /// New cursors of flows.
    pub cursor_write: PulseSource<CursorWrite>,
    /// New producer indices of the owner.
    pub update: PulseSource<OwnerUpdate>,

    judgement: Judgement,
    made: MakeItem,

    packet: Signal<Local, RxItem>,
    planned: Signal<Local, PlanItem>,
    is_packet: Signal<Local, Bit>,
    is_event: Signal<Local, Bit>,
    wants_two: Signal<Local, Bit>,
    wants_slow: Signal<Local, Bit>,
    header_fits: Signal<Local, Bit>,
    accepted: Signal<Local, Bit>,
    refused: Signal<Local, Bit>,
    header_next: Signal<Local, Bits<32>>,
    slow_next: Signal<Local, Bits<32>>,
    #[value(SLOT_HEADER_BYTES as u64)]
    slot_header_bytes: Constant<Bits<8>>,
    #[value(Disposition::Old as u64)]
    old: Constant<DispositionCode>,
    #[value(Disposition::NoPayload as u64)]
    no_payload: Constant<DispositionCode>,
    #[value(DropReason::HeaderQueueFull as u64)]
    header_queue_full: Constant<DropCode>,
    #[value(DropReason::SlowBufferFull as u64)]
    slow_buffer_full: Constant<DropCode>,
    #[value(RunPart::default())]
    no_part: Constant<RunPart>,
    #[value(1)]
    one: Constant<Bits<32>>,
    #[value(2)]
    two: Constant<Bits<32>>,
}

impl Logic for Decision {
    #[hdl_gen]
    fn update(&mut self) {
        self.judgement.candidate.next = self.candidate.val();
        self.judgement.standing.next = self.standing.val();
        self.packet.next = self.judgement.packet.val();
        self.is_packet.next = self.packet.val().kind == RxItemKind::Packet;
        self.is_event.next = self.packet.val().kind == RxItemKind::Event;
        self.wants_two.next = self.packet.val().header_bytes > self.slot_header_bytes.val();
        self.wants_slow.next = self.is_packet.val()
            & !self.packet.val().walk
            & self.packet.val().payload_bytes.any()
            & (self.packet.val().disposition != self.old.val())
            & (self.packet.val().disposition != self.no_payload.val());

        self.header_fits.next = self.space.val().enabled & self.space.val().one_slot;
        if self.wants_two.val() {
            self.header_fits.next = self.space.val().enabled & self.space.val().two_slots;
        }
        self.accepted.next = self.valid.val()
            & (self.is_packet.val() | self.is_event.val())
            & self.header_fits.val()
            & (!self.wants_slow.val() | self.space.val().slow);
        self.refused.next = self.valid.val() & self.is_packet.val() & !self.accepted.val();
        self.settled.next = self.valid.val() & self.is_packet.val();
        self.event_lost.next = self.valid.val() & self.is_event.val() & !self.header_fits.val();

        // A packet that is dropped becomes a release.
        self.made.packet.next = self.packet.val();
        self.planned.next = self.made.item.val();
        if self.refused.val() {
            self.planned.next.kind = RxItemKind::Release;
            self.planned.next.walk = false;
        }
        self.plans.valid.next = self.valid.val() & (!self.is_event.val() | self.accepted.val());
        self.plans.payload.next.packet = self.planned.val();
        self.plans.payload.next.slow = self.space.val().slow_producer.get_bits::<16>(0);
        self.plans.payload.next.run = self.no_part.val();
        self.plans.payload.next.cursor = self.judgement.cursor.val();
        self.plans.payload.next.two_slots = self.wants_two.val();
        self.plans.payload.next.needs_slow = self.wants_slow.val() & self.accepted.val();

        self.header_next.next = self.space.val().header_producer + self.one.val();
        if self.wants_two.val() {
            self.header_next.next = self.space.val().header_producer + self.two.val();
        }
        self.slow_next.next = self.space.val().slow_producer;
        if self.wants_slow.val() {
            self.slow_next.next = self.space.val().slow_producer + self.one.val();
        }
        self.update.valid.next = self.accepted.val();
        self.update.payload.next.owner = self.packet.val().owner;
        self.update.payload.next.header_producer = self.header_next.val();
        self.update.payload.next.slow_producer = self.slow_next.val();

        self.disposition_count.valid.next = self.accepted.val() & self.is_packet.val();
        self.disposition_count.payload.next = self.packet.val().disposition;
        self.drop_count.valid.next = self.refused.val();
        self.drop_count.payload.next = self.slow_buffer_full.val();
        if !self.header_fits.val() {
            self.drop_count.payload.next = self.header_queue_full.val();
        }
        self.cursor_write.valid.next = self.accepted.val() & self.judgement.in_order.val();
        self.cursor_write.payload.next.flow = self.packet.val().flow;
        self.cursor_write.payload.next.cursor = self.judgement.cursor.val();
    }
}

/// What is left of an item once it is decided. Combinational.
#[derive(LogicBlock, Default)]
pub struct MakeItem {
    /// The item.
    pub packet: Signal<In, RxItem>,
    /// What is left of it.
    pub item: Signal<Out, PlanItem>,
}

impl Logic for MakeItem {
    #[hdl_gen]
    fn update(&mut self) {
        self.item.next.kind = self.packet.val().kind;
        self.item.next.walk = self.packet.val().walk;
        self.item.next.start = self.packet.val().start;
        self.item.next.stop = self.packet.val().stop;
        self.item.next.charge = self.packet.val().charge;
        self.item.next.header_bytes = self.packet.val().header_bytes;
        self.item.next.frame_bytes = self.packet.val().frame_bytes;
        self.item.next.payload_bytes = self.packet.val().payload_bytes;
        self.item.next.l4_offset = self.packet.val().l4_offset;
        self.item.next.profile = self.packet.val().profile;
        self.item.next.verified = self.packet.val().verified;
        self.item.next.position = self.packet.val().position;
        self.item.next.flow = self.packet.val().flow;
        self.item.next.generation = self.packet.val().generation;
        self.item.next.owner = self.packet.val().owner;
        self.item.next.slotted = self.packet.val().slotted;
        self.item.next.slot = self.packet.val().slot;
        self.item.next.disposition = self.packet.val().disposition;
        self.item.next.trimmed_bytes = self.packet.val().trimmed_bytes;
        self.item.next.segment_index = self.packet.val().segment_index;
        self.item.next.pieces = self.packet.val().pieces;
        self.item.next.memories = self.packet.val().memories;
    }
}

/// The last rules: from standing and walk to the packet's disposition. Combinational.
#[derive(LogicBlock, BlockDefault)]
pub struct Judgement {
    /// The candidate to judge.
    pub candidate: Signal<In, Candidate>,
    /// Standing of the candidate.
    pub standing: Signal<In, Standing>,
    /// The packet is placed in order.
    pub in_order: Signal<Out, Bit>,
    /// The packet with its disposition.
    pub packet: Signal<Out, RxItem>,
    /// The flow's cursor after the packet.
    pub cursor: Signal<Out, Bits<32>>,

    offered: Signal<Local, RxItem>,
    outcome: Signal<Local, WalkOutcome>,
    judged: Signal<Local, RxItem>,
    is_duplicate: Signal<Local, Bit>,
    at_cursor: Signal<Local, Bit>,
    placed: Signal<Local, Bit>,
    cursor_before: Signal<Local, Bits<32>>,
    cursor_after: Signal<Local, Bits<32>>,
    stop: Signal<Local, Bits<32>>,
    #[value(Disposition::Duplicate as u64)]
    duplicate: Constant<DispositionCode>,
    #[value(Disposition::PlacedInOrder as u64)]
    placed_in_order: Constant<DispositionCode>,
    #[value(Disposition::PlacedAhead as u64)]
    placed_ahead: Constant<DispositionCode>,
}

impl Logic for Judgement {
    #[hdl_gen]
    fn update(&mut self) {
        self.offered.next = self.candidate.val().packet;
        self.outcome.next = self.candidate.val().outcome;
        self.is_duplicate.next = self.standing.val().before & !self.standing.val().below_floor;
        self.at_cursor.next = self.standing.val().at;
        self.cursor_before.next = self.standing.val().cursor;
        if self.standing.val().below_floor {
            self.at_cursor.next = self.standing.val().at_floor;
            self.cursor_before.next = self.offered.val().floor;
        }
        self.stop.next =
            self.offered.val().place_position + bit_cast::<32, 14>(self.offered.val().place_bytes);
        self.placed.next =
            self.offered.val().walk & !self.is_duplicate.val() & !self.outcome.val().failed;
        self.in_order.next = self.placed.val() & self.at_cursor.val();

        self.judged.next = self.offered.val();
        self.cursor_after.next = self.offered.val().floor;
        if self.offered.val().hit {
            self.cursor_after.next = self.cursor_before.val();
        }
        if self.placed.val() {
            self.judged.next.disposition = self.placed_ahead.val();
            self.judged.next.segment_index = self.outcome.val().segment_index;
            self.judged.next.pieces = self.outcome.val().pieces;
            self.judged.next.memories = self.outcome.val().memories;
            if self.at_cursor.val() {
                self.judged.next.disposition = self.placed_in_order.val();
                self.cursor_after.next = self.stop.val();
            }
        } else if self.offered.val().walk {
            self.judged.next.walk = false;
            self.judged.next.trimmed_bytes = 0.into();
            self.judged.next.disposition = self.outcome.val().disposition;
            if self.is_duplicate.val() {
                self.judged.next.disposition = self.duplicate.val();
            }
        }
        self.packet.next = self.judged.val();
        self.cursor.next = self.cursor_after.val();
    }
}
