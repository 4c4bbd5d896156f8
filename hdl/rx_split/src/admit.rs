//! Decides what becomes of each packet, reserves room in the owner's rings for all of it or for
//! nothing, and counts it.
//!
//! ```text
//!  packets, outcome ─┐                  ┌─► standing (cursor) ─┐
//!  send_event ───────┴─► turn ─► [] ─► []─► room of the owner ─┴─► decision ─┬─► counts, cursor
//!                                                                            └─► reserve ─► plans
//! ```
//! | port | direction | meaning |
//! |---|---|---|
//! | settings | in | register writes |
//! | packets, outcome | in | packets, confirmations, releases; what the packet's walk found |
//! | send_event | in | failed sends |
//! | cursor_flow, cursor | out, in | the tables' cursor of a flow, two cycles later |
//! | plans | out | to `split` |
//! | cursor_write | out | the cursor moved |
//! | settled | out | a packet is counted |
//! | send_event_lost | out | an event is counted |
//! | disposition_count, drop_count | out | what became of it |
//! | drop_busy | in | another drop is counted in this cycle: this one waits |
//!
//! Timing: one packet every other cycle; five cycles to `plans`. Nothing waits inside.
//!
//! Invariants:
//! 1. Each packet is settled once, with one pulse of `disposition_count` or of `drop_count`.
//! 2. The cursor moves only with a packet that is placed in order and not dropped.
//! 3. Each event becomes an entry, or one pulse of `send_event_lost` where its owner's queue has no
//!    room for it at that moment or is not enabled: none waits for what its owner does. A reset
//!    forgets the one inside.
//! 4. Plans leave in the order of the packets.

pub mod decision;
pub mod messages;
pub mod owner_decode;
pub mod owner_flags;
pub mod owner_limits;
pub mod owner_places;
pub mod owner_producers;
pub mod owners;
pub mod reserve;
pub mod stages;
pub mod standing;
pub mod turn;

use crate::admit::decision::Decision;
use crate::admit::messages::{OwnerRoom, OwnerUpdate};
use crate::admit::owners::Owners;
use crate::admit::reserve::Reserve;
use crate::admit::stages::Stages;
use crate::admit::standing::StandingStep;
use crate::admit::turn::{Candidate, Turn};
use crate::messages::{Placement, Plan, WalkOutcome};
use stream::prelude::*;

/// The stage. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct Admit<const B: usize, const N: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch.
    pub reset: Signal<In, Bit>,

    /// Register writes.
    pub settings: PulseSink<RegisterWrite>,
    /// Packets.
    pub packets: MessageSink<Placement>,
    /// What the walk of the packet offered found.
    pub outcome: Signal<In, WalkOutcome>,
    /// Failed sends.
    pub send_event: MessageSink<SendEvent>,
    /// Flow whose cursor is wanted.
    pub cursor_flow: Signal<Out, Bits<16>>,
    /// That cursor, two cycles later.
    pub cursor: Signal<In, Bits<32>>,
    /// To `split`.
    pub plans: MessageSource<Plan>,

    /// New cursors.
    pub cursor_write: PulseSource<CursorWrite>,
    /// A packet is counted.
    pub settled: Signal<Out, Bit>,
    /// An event found no room.
    pub send_event_lost: Signal<Out, Bit>,
    /// Packets whose header goes up.
    pub disposition_count: PulseSource<DispositionCode>,
    /// Packets dropped.
    pub drop_count: PulseSource<DropCode>,
    /// Another drop is counted in this cycle.
    pub drop_busy: Signal<In, Bit>,

    turn: Turn,
    standing: StandingStep,
    owners: Owners<B, N>,
    decision: Decision,
    reserve: Reserve,
    drops: Fifo<DropCode, 3, 4>,
    queue: ThroughFifo<Plan, 3, 4>,
    /// Read, standing, decision.
    steps: Stages,
    /// Reservation.
    planned: Stages,
    items: [DFF<Candidate>; 3],
    room: DFF<OwnerRoom>,
    plans_room: DFF<Bit>,
    drops_room: DFF<Bit>,
    plans_held: [DFF<Plan>; 2],

    offered: Signal<Local, Placement>,
    looked: Signal<Local, Candidate>,
    packet: Signal<Local, Placement>,
    deciding: Signal<Local, Candidate>,
    decided: Signal<Local, Placement>,
    /// Two more plans, or two more drops, may be on their way, and one until that is known.
    #[value(4)]
    plans_max: Constant<Bits<4>>,
    #[value(4)]
    drops_max: Constant<Bits<4>>,
}

impl<const B: usize, const N: usize> Logic for Admit<B, N> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, room, plans_room, drops_room);
        clock!(self, clock, steps, planned, turn, standing, owners, reserve);
        clock!(self, clock, drops, queue);
        self.items[0].clock.next = self.clock.val();
        self.items[1].clock.next = self.clock.val();
        self.items[2].clock.next = self.clock.val();
        self.plans_held[0].clock.next = self.clock.val();
        self.plans_held[1].clock.next = self.clock.val();
        self.steps.reset.next = self.reset.val();
        self.planned.reset.next = self.reset.val();
        self.turn.reset.next = self.reset.val();
        self.owners.reset.next = self.reset.val();
        self.drops.reset.next = false;
        self.queue.reset.next = self.reset.val();
        PulseSink::<RegisterWrite>::link(&mut self.settings, &mut self.owners.settings);
        MessageSink::<Placement>::link(&mut self.packets, &mut self.turn.packets);
        MessageSink::<SendEvent>::link(&mut self.send_event, &mut self.turn.send_event);
        PulseSource::<OwnerUpdate>::join(&mut self.decision.update, &mut self.owners.update);
        PulseSource::<DispositionCode>::link(
            &mut self.disposition_count,
            &mut self.decision.disposition_count,
        );
        MessageSource::<Plan>::link(&mut self.plans, &mut self.queue.source);
        self.settled.next = self.decision.settled.val();
        self.send_event_lost.next = self.decision.event_lost.val();

        self.turn.outcome.next = self.outcome.val();
        self.turn.room.next = self.plans_room.q.val() & self.drops_room.q.val();
        self.plans_room.d.next = self.queue.level.val() <= self.plans_max.val();
        self.drops_room.d.next = self.drops.level.val() <= self.drops_max.val();
        self.steps.enters.next = self.turn.item.valid.val();
        self.items[0].d.next = self.turn.item.payload.val();
        self.items[1].d.next = self.items[0].q.val();
        self.items[2].d.next = self.items[1].q.val();

        // The cursor is read while the packet is offered.
        self.offered.next = self.packets.payload.val();
        self.cursor_flow.next = self.offered.val().flow;
        self.looked.next = self.items[1].q.val();
        self.packet.next = self.looked.val().packet;
        self.standing.offered_flow.next = self.offered.val().flow;
        self.standing.packet.next = self.packet.val();
        self.standing.stored.next = self.cursor.val();
        self.standing.written.valid.next = self.decision.cursor_write.valid.val();
        self.standing.written.payload.next = self.decision.cursor_write.payload.val();
        self.owners.room_owner.next = self.packet.val().owner;
        self.room.d.next = self.owners.room.val();

        self.decision.valid.next = self.steps.held.val().get_bit(2);
        self.decision.candidate.next = self.items[2].q.val();
        self.decision.standing.next = self.standing.standing.val();
        self.decision.room.next = self.room.q.val();
        PulseSource::<CursorWrite>::link(&mut self.cursor_write, &mut self.standing.to_write);
        self.drops.sink.valid.next = self.decision.drop_count.valid.val();
        self.drops.sink.payload.next = self.decision.drop_count.payload.val();
        self.drop_count.valid.next = self.drops.source.valid.val() & !self.drop_busy.val();
        self.drop_count.payload.next = self.drops.source.payload.val();
        self.drops.source.ready.next = !self.drop_busy.val();

        // Addresses. The decision does not change whose packet it is.
        self.deciding.next = self.items[2].q.val();
        self.decided.next = self.deciding.val().packet;
        self.owners.place_owner.next = self.decided.val().owner;
        self.reserve.valid.next = self.steps.held.val().get_bit(2);
        self.reserve.rings.next = self.owners.rings.val();
        self.reserve.taken.next = self.decision.taken.val();
        self.planned.enters.next = self.decision.plans.valid.val();
        self.plans_held[0].d.next = self.decision.plans.payload.val();
        self.plans_held[1].d.next = self.plans_held[0].q.val();
        self.queue.sink.valid.next = self.planned.held.val().get_bit(1);
        self.queue.sink.payload.next = self.plans_held[1].q.val();
        self.queue.sink.payload.next.place = self.reserve.reservation.val();
    }
}
