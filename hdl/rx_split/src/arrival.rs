//! Which of a confirmation, a packet and an event is taken next, and the plan it starts as.
//!
//! Timing: combinational.
//!
//! Invariants:
//! 1. Confirmations come first, but only while no packet is looked up; events come last.
//! 2. An event is not taken here: it stays until its entry is reserved.

use crate::messages::{Placement, Plan};
use stream::prelude::*;

/// The choice. See the module's head.
#[derive(LogicBlock)]
pub struct Arrival {
    /// Something may be taken.
    pub idle: Signal<In, Bit>,
    /// A packet is between its lookup and its count.
    pub looking_up: Signal<In, Bit>,
    /// Packets.
    pub placements: MessageSink<Placement>,
    /// Confirmations.
    pub confirmation: MessageSink<Confirmation>,
    /// An event waits.
    pub event_valid: Signal<In, Bit>,
    /// That event.
    pub send_event: Signal<In, SendEvent>,
    /// A plan begins that needs room.
    pub needs_room: Signal<Out, Bit>,
    /// A confirmation is taken.
    pub passes: Signal<Out, Bit>,
    /// The plan.
    pub plan: Signal<Out, Plan>,

    take_confirmation: Signal<Local, Bit>,
    take_packet: Signal<Local, Bit>,
    event_packet: Signal<Local, Placement>,
    blank: Constant<Placement>,
    empty: Constant<Plan>,
}

impl Default for Arrival {
    fn default() -> Self {
        Self {
            idle: Default::default(),
            looking_up: Default::default(),
            placements: Default::default(),
            confirmation: Default::default(),
            event_valid: Default::default(),
            send_event: Default::default(),
            needs_room: Default::default(),
            passes: Default::default(),
            plan: Default::default(),
            take_confirmation: Default::default(),
            take_packet: Default::default(),
            event_packet: Default::default(),
            blank: Constant::new(Placement::default()),
            empty: Constant::new(Plan::default()),
        }
    }
}

impl Logic for Arrival {
    #[hdl_gen]
    fn update(&mut self) {
        self.take_confirmation.next =
            self.idle.val() & self.confirmation.valid.val() & !self.looking_up.val();
        self.take_packet.next =
            self.idle.val() & self.placements.valid.val() & !self.take_confirmation.val();
        self.confirmation.ready.next = self.take_confirmation.val();
        self.placements.ready.next = self.take_packet.val();
        self.passes.next = self.take_confirmation.val();
        self.needs_room.next = self.take_packet.val()
            | (self.idle.val() & self.event_valid.val() & !self.take_confirmation.val());

        self.event_packet.next = self.blank.val();
        self.event_packet.next.owner = self.send_event.val().owner;
        self.event_packet.next.flow = self.send_event.val().flow;
        self.event_packet.next.generation = self.send_event.val().generation;
        self.event_packet.next.position = self.send_event.val().position;
        self.event_packet.next.disposition = bit_cast::<4, 8>(self.send_event.val().error);
        self.plan.next = self.empty.val();
        self.plan.next.confirmation = self.confirmation.payload.val();
        self.plan.next.packet = self.event_packet.val();
        self.plan.next.kind = bits::<2>(2);
        if self.take_confirmation.val() {
            self.plan.next.kind = bits::<2>(3);
        } else if self.take_packet.val() {
            self.plan.next.kind = bits::<2>(0);
            self.plan.next.packet = self.placements.payload.val();
        }
    }
}
