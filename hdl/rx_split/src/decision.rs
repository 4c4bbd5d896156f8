//! What a packet needs of its owner's rings, and whether it gets it.
//!
//! ```text
//!  plan, reservation ──► accept: cursor, disposition, new indices
//!                    └─► refuse: drop, when no other drop is counted in this cycle
//! ```
//! Timing: combinational.
//!
//! Invariants:
//! 1. With `deciding`, a packet is accepted, refused, or waits; only the first two settle it.

use crate::messages::{Placement, Plan, Reservation};
use crate::owners::OwnerUpdate;
use crate::rules::disposition;
use abi::config::SLOT_HEADER_BYTES;
use abi::reason::{Disposition, DropReason};
use stream::prelude::*;

/// The decision. See the module's head.
#[derive(LogicBlock)]
pub struct Decision {
    /// What is at hand.
    pub plan: Signal<In, Plan>,
    /// What can be had for it.
    pub place: Signal<In, Reservation>,
    /// Decide now.
    pub deciding: Signal<In, Bit>,
    /// Another drop is counted in this cycle.
    pub drop_busy: Signal<In, Bit>,

    /// Two slots are wanted.
    pub two_slots: Signal<Out, Bit>,
    /// A slow buffer is wanted.
    pub needs_slow: Signal<Out, Bit>,
    /// Everything wanted is reserved.
    pub accept: Signal<Out, Bit>,
    /// The packet is dropped.
    pub refuse: Signal<Out, Bit>,
    /// The packet is counted.
    pub settled: Signal<Out, Bit>,
    /// The plan as decided.
    pub decided: Signal<Out, Plan>,
    /// Packets whose header goes up.
    pub disposition_count: PulseSource<Bits<4>>,
    /// Packets dropped.
    pub drop_count: PulseSource<Bits<4>>,
    /// New cursors.
    pub cursor_write: PulseSource<CursorWrite>,
    /// New producer indices.
    pub update: PulseSource<OwnerUpdate>,

    packet: Signal<Local, Placement>,
    is_packet: Signal<Local, Bit>,
    wants_two: Signal<Local, Bit>,
    wants_slow: Signal<Local, Bit>,
    in_order: Signal<Local, Bit>,
    cursor: Signal<Local, Bits<32>>,
    moved: Signal<Local, Placement>,
    room: Signal<Local, Bit>,
    accepted: Signal<Local, Bit>,
    refused: Signal<Local, Bit>,
    slot_header_bytes: Constant<Bits<8>>,
    placed_in_order: Constant<Bits<4>>,
    old: Constant<Bits<4>>,
    no_payload: Constant<Bits<4>>,
    header_queue_full: Constant<Bits<4>>,
    slow_buffer_full: Constant<Bits<4>>,
}

impl Default for Decision {
    fn default() -> Self {
        Self {
            plan: Default::default(),
            place: Default::default(),
            deciding: Default::default(),
            drop_busy: Default::default(),
            two_slots: Default::default(),
            needs_slow: Default::default(),
            accept: Default::default(),
            refuse: Default::default(),
            settled: Default::default(),
            decided: Default::default(),
            disposition_count: Default::default(),
            drop_count: Default::default(),
            cursor_write: Default::default(),
            update: Default::default(),
            packet: Default::default(),
            is_packet: Default::default(),
            wants_two: Default::default(),
            wants_slow: Default::default(),
            in_order: Default::default(),
            cursor: Default::default(),
            moved: Default::default(),
            room: Default::default(),
            accepted: Default::default(),
            refused: Default::default(),
            slot_header_bytes: Constant::new((SLOT_HEADER_BYTES as u64).to_bits()),
            placed_in_order: disposition(Disposition::PlacedInOrder),
            old: disposition(Disposition::Old),
            no_payload: disposition(Disposition::NoPayload),
            header_queue_full: Constant::new((DropReason::HeaderQueueFull as u64).to_bits()),
            slow_buffer_full: Constant::new((DropReason::SlowBufferFull as u64).to_bits()),
        }
    }
}

impl Logic for Decision {
    #[hdl_gen]
    fn update(&mut self) {
        self.packet.next = self.plan.val().packet;
        self.is_packet.next = self.plan.val().kind == 0;
        self.wants_two.next = self.packet.val().header_bytes > self.slot_header_bytes.val();
        self.wants_slow.next = self.is_packet.val()
            & !self.packet.val().walk
            & self.packet.val().payload_bytes.any()
            & (self.packet.val().disposition != self.old.val())
            & (self.packet.val().disposition != self.no_payload.val());
        self.two_slots.next = self.wants_two.val();
        self.needs_slow.next = self.wants_slow.val();
        self.room.next = self.place.val().header_room & self.place.val().slow_room;
        self.accepted.next = self.deciding.val() & self.room.val();
        self.refused.next =
            self.deciding.val() & self.is_packet.val() & !self.room.val() & !self.drop_busy.val();
        self.accept.next = self.accepted.val();
        self.refuse.next = self.refused.val();
        self.settled.next = (self.accepted.val() & self.is_packet.val()) | self.refused.val();

        self.in_order.next =
            self.packet.val().walk & (self.packet.val().disposition == self.placed_in_order.val());
        self.cursor.next =
            self.packet.val().place_position + bit_cast::<32, 14>(self.packet.val().place_bytes);
        self.moved.next = self.packet.val();
        if self.in_order.val() {
            self.moved.next.cursor = self.cursor.val();
        }
        self.decided.next = self.plan.val();
        self.decided.next.packet = self.moved.val();
        self.decided.next.place = self.place.val();
        self.decided.next.two_slots = self.wants_two.val();
        self.decided.next.needs_slow = self.wants_slow.val();
        if self.refused.val() {
            self.decided.next.kind = bits::<2>(1);
        }

        self.disposition_count.valid.next = self.accepted.val() & self.is_packet.val();
        self.disposition_count.payload.next = self.packet.val().disposition;
        self.drop_count.valid.next = self.refused.val();
        self.drop_count.payload.next = self.slow_buffer_full.val();
        if !self.place.val().header_room {
            self.drop_count.payload.next = self.header_queue_full.val();
        }
        self.cursor_write.valid.next = self.accepted.val() & self.in_order.val();
        self.cursor_write.payload.next.flow = self.packet.val().flow;
        self.cursor_write.payload.next.cursor = self.cursor.val();
        self.update.valid.next = self.accepted.val();
        self.update.payload.next.owner = self.packet.val().owner;
        self.update.payload.next.header_producer = self.place.val().header_producer;
        self.update.payload.next.slow_producer = self.place.val().slow_producer;
    }
}
