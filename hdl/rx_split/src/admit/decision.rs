//! What becomes of a packet: its disposition, what it needs of its owner's rings, and whether it
//! gets it.
//!
//! ```text
//!  candidate, standing ──► disposition ──► needs ─┬─► accept: cursor, counts, new indices
//!  room ──────────────────────────────────────────┴─► refuse: drop
//! ```
//! Timing: combinational.
//!
//! Invariants:
//! 1. A packet with `valid` is accepted or refused, and settled; an event is accepted or lost.
//! 2. The cursor moves only with a packet that is placed in order and accepted.
//!
//! Source: rules 10 to 12 of the receive specification.

use crate::admit::messages::{OwnerRoom, OwnerUpdate};
use crate::admit::reserve::Taken;
use crate::admit::standing::Standing;
use crate::admit::turn::Candidate;
use crate::messages::{Placement, PlacementKind, Plan, WalkOutcome};
use abi::config::SLOT_HEADER_BYTES;
use abi::reason::{Disposition, DropReason};
use stream::prelude::*;

/// The decision. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct Decision {
    /// Something is at hand.
    pub valid: Signal<In, Bit>,
    /// This.
    pub candidate: Signal<In, Candidate>,
    /// Its standing.
    pub standing: Signal<In, Standing>,
    /// What can be had for it.
    pub room: Signal<In, OwnerRoom>,

    /// An event finds no room in its owner's header queue.
    pub event_lost: Signal<Out, Bit>,
    /// A packet is counted.
    pub settled: Signal<Out, Bit>,
    /// The plan as decided, without its addresses.
    pub plans: PulseSource<Plan>,
    /// What it takes of the rings.
    pub taken: Signal<Out, Taken>,
    /// Packets whose header goes up.
    pub disposition_count: PulseSource<DispositionCode>,
    /// Packets dropped.
    pub drop_count: PulseSource<DropCode>,
    /// New cursors.
    pub cursor_write: PulseSource<CursorWrite>,
    /// New producer indices.
    pub update: PulseSource<OwnerUpdate>,

    judgement: Judgement,

    packet: Signal<Local, Placement>,
    is_packet: Signal<Local, Bit>,
    is_event: Signal<Local, Bit>,
    wants_two: Signal<Local, Bit>,
    wants_slow: Signal<Local, Bit>,
    header_room: Signal<Local, Bit>,
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
        self.is_packet.next = self.packet.val().kind == PlacementKind::Packet;
        self.is_event.next = self.packet.val().kind == PlacementKind::Event;
        self.wants_two.next = self.packet.val().header_bytes > self.slot_header_bytes.val();
        self.wants_slow.next = self.is_packet.val()
            & !self.packet.val().walk
            & self.packet.val().payload_bytes.any()
            & (self.packet.val().disposition != self.old.val())
            & (self.packet.val().disposition != self.no_payload.val());

        self.header_room.next = self.room.val().enabled & self.room.val().one_slot;
        if self.wants_two.val() {
            self.header_room.next = self.room.val().enabled & self.room.val().two_slots;
        }
        self.accepted.next = self.valid.val()
            & (self.is_packet.val() | self.is_event.val())
            & self.header_room.val()
            & (!self.wants_slow.val() | self.room.val().slow);
        self.refused.next = self.valid.val() & self.is_packet.val() & !self.accepted.val();
        self.settled.next = self.valid.val() & self.is_packet.val();
        self.event_lost.next = self.valid.val() & self.is_event.val() & !self.header_room.val();

        self.plans.valid.next = self.valid.val() & (!self.is_event.val() | self.accepted.val());
        self.plans.payload.next.packet = self.packet.val();
        if self.refused.val() {
            self.plans.payload.next.packet = self.judgement.dropped.val();
        }
        self.plans.payload.next.cursor = self.judgement.cursor.val();
        self.plans.payload.next.two_slots = self.wants_two.val();
        self.plans.payload.next.needs_slow = self.wants_slow.val() & self.accepted.val();

        self.header_next.next = self.room.val().header_producer + self.one.val();
        if self.wants_two.val() {
            self.header_next.next = self.room.val().header_producer + self.two.val();
        }
        self.slow_next.next = self.room.val().slow_producer;
        if self.wants_slow.val() {
            self.slow_next.next = self.room.val().slow_producer + self.one.val();
        }
        self.taken.next.header = self.room.val().header_producer;
        self.taken.next.header_after = self.header_next.val();
        self.taken.next.slow = self.room.val().slow_producer;
        self.update.valid.next = self.accepted.val();
        self.update.payload.next.owner = self.packet.val().owner;
        self.update.payload.next.header_producer = self.header_next.val();
        self.update.payload.next.slow_producer = self.slow_next.val();

        self.disposition_count.valid.next = self.accepted.val() & self.is_packet.val();
        self.disposition_count.payload.next = self.packet.val().disposition;
        self.drop_count.valid.next = self.refused.val();
        self.drop_count.payload.next = self.slow_buffer_full.val();
        if !self.header_room.val() {
            self.drop_count.payload.next = self.header_queue_full.val();
        }
        self.cursor_write.valid.next = self.accepted.val() & self.judgement.in_order.val();
        self.cursor_write.payload.next.flow = self.packet.val().flow;
        self.cursor_write.payload.next.cursor = self.judgement.cursor.val();
    }
}

/// The last rules: from standing and walk to the packet's disposition. Combinational.
#[derive(LogicBlock, BlockDefault)]
pub struct Judgement {
    /// What is judged.
    pub candidate: Signal<In, Candidate>,
    /// Its standing.
    pub standing: Signal<In, Standing>,
    /// It is placed in order.
    pub in_order: Signal<Out, Bit>,
    /// The packet with its disposition.
    pub packet: Signal<Out, Placement>,
    /// The flow's cursor after it.
    pub cursor: Signal<Out, Bits<32>>,
    /// The packet as it is when it is dropped: a release.
    pub dropped: Signal<Out, Placement>,

    offered: Signal<Local, Placement>,
    outcome: Signal<Local, WalkOutcome>,
    judged: Signal<Local, Placement>,
    is_duplicate: Signal<Local, Bit>,
    at_cursor: Signal<Local, Bit>,
    placed: Signal<Local, Bit>,
    cursor_before: Signal<Local, Bits<32>>,
    cursor_after: Signal<Local, Bits<32>>,
    behind: Signal<Local, Bits<32>>,
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
        self.behind.next =
            self.offered.val().place_position + bit_cast::<32, 14>(self.offered.val().place_bytes);
        self.placed.next =
            self.offered.val().walk & !self.is_duplicate.val() & !self.outcome.val().failed;
        self.in_order.next = self.placed.val() & self.at_cursor.val();

        self.judged.next = self.offered.val();
        self.judged.next.floor = bits::<32>(0);
        self.cursor_after.next = self.offered.val().floor;
        if self.offered.val().hit {
            self.cursor_after.next = self.cursor_before.val();
        }
        if self.placed.val() {
            self.judged.next.disposition = self.placed_ahead.val();
            self.judged.next.segment_index = self.outcome.val().segment_index;
            self.judged.next.pieces = self.outcome.val().pieces;
            if self.at_cursor.val() {
                self.judged.next.disposition = self.placed_in_order.val();
                self.cursor_after.next = self.behind.val();
            }
        } else if self.offered.val().walk {
            self.judged.next.walk = false;
            self.judged.next.trimmed_bytes = bits::<14>(0);
            self.judged.next.disposition = self.outcome.val().disposition;
            if self.is_duplicate.val() {
                self.judged.next.disposition = self.duplicate.val();
            }
        }
        self.packet.next = self.judged.val();
        self.cursor.next = self.cursor_after.val();
        self.dropped.next = self.offered.val();
        self.dropped.next.kind = PlacementKind::Release;
        self.dropped.next.walk = false;
        self.dropped.next.floor = bits::<32>(0);
    }
}
