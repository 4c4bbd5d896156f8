//! Which of a packet and an event is admitted next.
//!
//! ```text
//!  packets ─────┐
//!  send_event ──┴─► one every other cycle ──► item
//! ```
//! Timing: combinational from registers and `packets`. An event is due one cycle after it came, and
//! every [`EVENT_CYCLES`] cycles at most, so that one without room keeps no packet waiting.
//!
//! Invariants:
//! 1. Two items are never handed out in neighbouring cycles, nor without `room`.
//! 2. An event is not taken here: it stays until it is decided (`event_ends`), and none is tried
//!    while one is inside.

use crate::messages::{Placement, WalkOutcome};
use stream::prelude::*;

/// Cycles between two tries of events.
pub const EVENT_CYCLES: usize = 32;

/// What is admitted.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct Candidate {
    /// The packet, event or confirmation.
    pub packet: Placement,
    /// What its walk found.
    pub outcome: WalkOutcome,
}

/// The choice. See the module's head.
#[derive(LogicBlock)]
pub struct Turn {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch.
    pub reset: Signal<In, Bit>,

    /// Packets, confirmations, releases.
    pub packets: MessageSink<Placement>,
    /// What the walk found of the packet offered.
    pub outcome: Signal<In, WalkOutcome>,
    /// An event waits.
    pub event_valid: Signal<In, Bit>,
    /// That event.
    pub send_event: Signal<In, SendEvent>,
    /// The event inside is decided in this cycle.
    pub event_ends: Signal<In, Bit>,
    /// There is room for one more behind.
    pub room: Signal<In, Bit>,
    /// What is admitted next.
    pub item: PulseSource<Candidate>,

    pause: DFF<Bit>,
    event_due: DFF<Bit>,
    event_inside: DFF<Bit>,
    event_wait: DFF<Bits<5>>,

    may: Signal<Local, Bit>,
    take_event: Signal<Local, Bit>,
    take_packet: Signal<Local, Bit>,
    event_packet: Signal<Local, Placement>,
    blank: Constant<Placement>,
    wait_max: Constant<Bits<5>>,
}

impl Default for Turn {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            packets: Default::default(),
            outcome: Default::default(),
            event_valid: Default::default(),
            send_event: Default::default(),
            event_ends: Default::default(),
            room: Default::default(),
            item: Default::default(),
            pause: Default::default(),
            event_due: Default::default(),
            event_inside: Default::default(),
            event_wait: Default::default(),
            may: Default::default(),
            take_event: Default::default(),
            take_packet: Default::default(),
            event_packet: Default::default(),
            blank: Constant::new(Placement::default()),
            wait_max: Constant::new((EVENT_CYCLES as u64 - 1).to_bits()),
        }
    }
}

impl Logic for Turn {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, pause, event_due, event_inside, event_wait);
        self.may.next = self.room.val() & !self.pause.q.val() & !self.reset.val();
        self.take_event.next = self.may.val() & self.event_due.q.val();
        self.event_due.d.next = self.event_valid.val()
            & !self.take_event.val()
            & !self.event_inside.q.val()
            & !self.event_wait.q.val().any()
            & !self.reset.val();
        self.take_packet.next = self.may.val() & self.packets.valid.val() & !self.take_event.val();
        self.packets.ready.next = self.may.val() & !self.take_event.val();
        self.pause.d.next = self.take_event.val() | self.take_packet.val();

        if self.event_wait.q.val().any() {
            self.event_wait.d.next = self.event_wait.q.val() - 1;
        }
        if self.event_ends.val() {
            self.event_inside.d.next = false;
        }
        if self.take_event.val() {
            self.event_inside.d.next = true;
            self.event_wait.d.next = self.wait_max.val();
        }
        if self.reset.val() {
            self.event_inside.d.next = false;
        }

        self.event_packet.next = self.blank.val();
        self.event_packet.next.kind = bits::<2>(2);
        self.event_packet.next.owner = self.send_event.val().owner;
        self.event_packet.next.flow = self.send_event.val().flow;
        self.event_packet.next.generation = self.send_event.val().generation;
        self.event_packet.next.position = self.send_event.val().position;
        self.event_packet.next.disposition = bit_cast::<4, 8>(self.send_event.val().error);
        self.item.valid.next = self.take_event.val() | self.take_packet.val();
        self.item.payload.next.outcome = self.outcome.val();
        self.item.payload.next.packet = self.packets.payload.val();
        if self.take_event.val() {
            self.item.payload.next.packet = self.event_packet.val();
        }
    }
}
