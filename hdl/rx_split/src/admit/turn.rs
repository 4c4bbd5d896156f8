//! Which of a packet and an event is admitted next.
//!
//! ```text
//!  packets ─────┐
//!  send_event ──┴─► one every other cycle ──► item
//! ```
//! Timing: combinational from registers and `packets`; whether the next one is an event is decided
//! a cycle before, and never for the cycle behind an item, so that `room` alone holds it back.
//!
//! Invariants:
//! 1. Two items are never handed out in neighbouring cycles, nor without `room`.
//! 2. Packets that wait go before an event until [`EVENT_CYCLES`] have passed since the last one:
//!    then it takes the next `room`, however slowly packets leave.

use crate::messages::{Placement, PlacementKind, WalkOutcome};
use stream::prelude::*;

/// Cycles that packets go before an event: it takes one item of 17, so that packets are left 117
/// million a second, more than the 100 million entries that can leave the card.
pub const EVENT_CYCLES: usize = 31;

// All ones of the counter below.
const _: () = assert!(EVENT_CYCLES == (1 << 5) - 1);

/// What is admitted.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct Candidate {
    /// The packet, event or confirmation.
    pub packet: Placement,
    /// What its walk found.
    pub outcome: WalkOutcome,
}

/// The choice. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct Turn {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch.
    pub reset: Signal<In, Bit>,

    /// Packets, confirmations, releases.
    pub packets: MessageSink<Placement>,
    /// What the walk found of the packet offered.
    pub outcome: Signal<In, WalkOutcome>,
    /// Failed sends.
    pub send_event: MessageSink<SendEvent>,
    /// There is room for one more behind.
    pub room: Signal<In, Bit>,
    /// What is admitted next.
    pub item: PulseSource<Candidate>,

    pause: DFF<Bit>,
    event_next: DFF<Bit>,
    waited: DFF<Bits<5>>,
    event_due: DFF<Bit>,

    may: Signal<Local, Bit>,
    take_event: Signal<Local, Bit>,
    take_packet: Signal<Local, Bit>,
    event_packet: Signal<Local, Placement>,
    #[value(Placement::default())]
    blank: Constant<Placement>,
    #[value(1)]
    one: Constant<Bits<5>>,
}

impl Logic for Turn {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, pause, event_next, waited, event_due);
        self.may.next = self.room.val() & !self.pause.q.val() & !self.reset.val();
        self.take_event.next = self.room.val() & self.event_next.q.val() & !self.reset.val();
        self.take_packet.next =
            self.may.val() & self.packets.valid.val() & !self.event_next.q.val();
        self.packets.ready.next = self.may.val() & !self.event_next.q.val();
        self.send_event.ready.next = self.take_event.val();
        self.pause.d.next = self.take_event.val() | self.take_packet.val();

        self.event_next.d.next = self.send_event.valid.val()
            & (self.event_due.q.val() | !self.packets.valid.val())
            & !self.take_event.val()
            & !self.take_packet.val()
            & !self.reset.val();
        self.event_due.d.next =
            self.waited.q.val().all() & !self.take_event.val() & !self.reset.val();
        if !self.waited.q.val().all() {
            self.waited.d.next = self.waited.q.val() + self.one.val();
        }
        if self.take_event.val() | self.reset.val() {
            self.waited.d.next = bits::<5>(0);
        }

        self.event_packet.next = self.blank.val();
        self.event_packet.next.kind = PlacementKind::Event;
        self.event_packet.next.owner = self.send_event.payload.val().owner;
        self.event_packet.next.flow = self.send_event.payload.val().flow;
        self.event_packet.next.generation = self.send_event.payload.val().generation;
        self.event_packet.next.position = self.send_event.payload.val().position;
        self.event_packet.next.disposition = bit_cast::<4, 3>(self.send_event.payload.val().error);
        self.item.valid.next = self.take_event.val() | self.take_packet.val();
        self.item.payload.next.outcome = self.outcome.val();
        self.item.payload.next.packet = self.packets.payload.val();
        if self.event_next.q.val() {
            self.item.payload.next.packet = self.event_packet.val();
        }
    }
}
