//! Reserves room in the owner's rings, for all of a packet or for nothing, and counts it.
//!
//! ```text
//!  placements ─┐                                      ┌─► settled, cursor_write, counts
//!  send_event ─┼─► owner's context ─► reserve ─► decide ─► plans
//!  confirmation┘
//! ```
//! | port | direction | meaning |
//! |---|---|---|
//! | settings | in | register writes |
//! | placements | in | packets with their disposition |
//! | looking_up | in | a packet is between its lookup and `settled` |
//! | confirmation, send_event | in | from the tables and from the send side |
//! | plans | out | to `split` |
//! | cursor_write, settled | out | the cursor moved; the packet is counted |
//! | disposition_count, drop_count | out | what became of the packet |
//! | drop_busy | in | another drop is counted in this cycle: this one waits |
//!
//! Timing: one packet at a time; three cycles to `settled`, one more to `plans`.
//!
//! Invariants:
//! 1. Each packet is settled once, with one pulse of `disposition_count` or of `drop_count`.
//! 2. The cursor moves only with a packet that is placed in order and not dropped.
//! 3. A confirmation is taken only while no packet is looked up: it stands behind every packet
//!    whose
//!    lookup was requested before it came.
//! 4. An event that finds the queue full is not taken; one of an owner that is not enabled is
//!    dropped.

use crate::admit_control::{AdmitControl, AdmitState};
use crate::arrival::Arrival;
use crate::decision::Decision;
use crate::messages::{Placement, Plan, Reservation};
use crate::owners::{OwnerUpdate, Owners};
use crate::reserve::Reserve;
use stream::prelude::*;

/// The stage. See the module's head.
#[derive(LogicBlock, Default)]
pub struct Admit<const B: usize, const N: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch.
    pub reset: Signal<In, Bit>,

    /// Register writes.
    pub settings: PulseSink<RegisterWrite>,
    /// Packets.
    pub placements: MessageSink<Placement>,
    /// Confirmations from the tables.
    pub confirmation: MessageSink<Confirmation>,
    /// Failed sends.
    pub send_event: MessageSink<SendEvent>,
    /// To `split`.
    pub plans: MessageSource<Plan>,

    /// New cursors.
    pub cursor_write: PulseSource<CursorWrite>,
    /// The packet is counted and its cursor written.
    pub settled: Signal<Out, Bit>,
    /// Packets whose header goes up.
    pub disposition_count: PulseSource<Bits<4>>,
    /// Packets dropped.
    pub drop_count: PulseSource<Bits<4>>,
    /// Another drop is counted in this cycle.
    pub drop_busy: Signal<In, Bit>,
    /// A packet is between its lookup and `settled`.
    pub looking_up: Signal<In, Bit>,

    owners: Owners<B, N>,
    reserve: Reserve,
    decision: Decision,
    arrival: Arrival,
    control: AdmitControl,
    plan: DFF<Plan>,

    state: Signal<Local, AdmitState>,
    packet: Signal<Local, Placement>,
    place: Signal<Local, Reservation>,
    is_event: Signal<Local, Bit>,
    deciding: Signal<Local, Bit>,
}

impl<const B: usize, const N: usize> Logic for Admit<B, N> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, plan);
        self.control.clock.next = self.clock.val();
        self.control.reset.next = self.reset.val();
        self.control.passes.next = self.arrival.passes.val();
        self.control.needs_room.next = self.arrival.needs_room.val();
        self.control.decided.next = self.decision.accept.val() | self.decision.refuse.val();
        self.is_event.next = self.plan.q.val().kind == 2;
        self.control.is_event.next = self.is_event.val();
        self.control.handed.next = self.plans.ready.val();
        self.state.next = self.control.step.val();
        self.owners.clock.next = self.clock.val();
        self.owners.reset.next = self.reset.val();
        self.reserve.clock.next = self.clock.val();
        PulseSink::<RegisterWrite>::link(&mut self.settings, &mut self.owners.settings);
        PulseSource::<CursorWrite>::link(&mut self.cursor_write, &mut self.decision.cursor_write);
        PulseSource::<Bits<4>>::link(
            &mut self.disposition_count,
            &mut self.decision.disposition_count,
        );
        PulseSource::<Bits<4>>::link(&mut self.drop_count, &mut self.decision.drop_count);
        MessageSink::<Placement>::link(&mut self.placements, &mut self.arrival.placements);
        MessageSink::<Confirmation>::link(&mut self.confirmation, &mut self.arrival.confirmation);
        PulseSource::<OwnerUpdate>::join(&mut self.decision.update, &mut self.owners.update);

        self.packet.next = self.plan.q.val().packet;
        self.owners.owner.next = self.packet.val().owner;
        self.reserve.owner.next = self.owners.shown.val();
        self.reserve.two_slots.next = self.decision.two_slots.val();
        self.reserve.needs_slow.next = self.decision.needs_slow.val();
        self.place.next = self.reserve.reservation.val();
        self.deciding.next = self.state.val() == AdmitState::Decide;
        self.decision.plan.next = self.plan.q.val();
        self.decision.place.next = self.place.val();
        self.decision.deciding.next = self.deciding.val();
        self.decision.drop_busy.next = self.drop_busy.val();
        self.settled.next = self.decision.settled.val();
        self.plans.payload.next = self.plan.q.val();
        self.plans.valid.next = self.state.val() == AdmitState::Hand;

        self.arrival.idle.next = self.state.val() == AdmitState::Idle;
        self.arrival.looking_up.next = self.looking_up.val();
        self.arrival.event_valid.next = self.send_event.valid.val();
        self.arrival.send_event.next = self.send_event.payload.val();
        self.send_event.ready.next = self.deciding.val()
            & self.is_event.val()
            & (self.decision.accept.val() | !self.place.val().enabled);
        if self.state.val() == AdmitState::Idle {
            self.plan.d.next = self.arrival.plan.val();
        }
        if self.deciding.val() {
            self.plan.d.next = self.decision.decided.val();
        }
    }
}
