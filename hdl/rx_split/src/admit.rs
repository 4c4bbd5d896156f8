//! Decides what becomes of each packet, reserves space in the owner's rings for all of it or for
//! nothing, and counts it.
//!
//! ```text
//!  packets, outcome ─┐                     ┌─► standing (cursor) ──┐
//!  send_event ───────┴─► arbiter ─► [] ─► []─► owner's free space ─┴─► decision ─┬─► counts
//!                                                                                ├─► cursor_write
//!                                              plans ◄─ queue ◄─ reserve ◄───────┘
//! ```
//! Timing: one packet every other cycle; latency five cycles to `plans`. Nothing waits inside.
//!
//! Invariants:
//! 1. Each packet is settled once, with one pulse of `disposition_count` or of `drop_count`.
//! 2. The cursor moves only with a packet that is placed in order and not dropped.
//! 3. Each event becomes an entry, or one pulse of `send_event_lost` where its owner's queue has no
//!    free space at that moment or is not enabled: no event waits for its owner. A reset forgets
//!    the event inside.
//! 4. Plans leave in the order of the packets.
//!
//! On error: a packet that finds no space in its owner's rings is dropped as `header_queue_full` or
//! `slow_buffer_full`; its beats of the packet buffer are released.
//!
//! Source: docs/specification.md, Placement (rules 10 and 12), Delivery, Order; decisions 2 and 5.

pub mod admit_arbiter;
pub mod decision;
pub mod messages;
pub mod owner_decode;
pub mod owner_flags;
pub mod owner_limit;
pub mod owner_places;
pub mod owner_producers;
pub mod owners;
pub mod reserve;
pub mod stage_valids;
pub mod standing_step;

use crate::admit::admit_arbiter::{AdmitArbiter, Candidate};
use crate::admit::decision::Decision;
use crate::admit::messages::{OwnerSpace, OwnerUpdate};
use crate::admit::owners::Owners;
use crate::admit::reserve::Reserve;
use crate::admit::stage_valids::StageValids;
use crate::admit::standing_step::StandingStep;
use crate::messages::{Plan, RxItem, WalkOutcome};
use stream::prelude::*;

/// The stage, for 2^OWNER_BITS owners; OWNERS must be 2^OWNER_BITS. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct Admit<const OWNER_BITS: usize, const OWNERS: usize> {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch: packets and plans inside are forgotten and no owner is enabled; drops
    /// that are not counted yet and base addresses are kept.
    pub reset: Signal<In, Bit>,

    /// Register writes: contexts and doorbells of owners.
    pub settings: PulseSink<RegisterWrite>,
    /// Packets, confirmations and releases in order.
    pub packets: MessageSink<RxItem>,
    /// What the walk of the packet offered at `packets` found.
    pub outcome: Signal<In, WalkOutcome>,
    /// Events of failed sends.
    pub send_event: MessageSink<SendEvent>,
    /// Flow of the packet offered, whose cursor is read.
    pub cursor_flow: Signal<Out, Bits<16>>,
    /// Cursor of the flow that `cursor_flow` named two cycles ago.
    pub cursor: Signal<In, Bits<32>>,
    /// Plans to `split`.
    pub plans: MessageSource<Plan>,

    /// New cursors of flows, to the tables.
    pub cursor_write: PulseSource<CursorWrite>,
    /// One pulse for each packet that is decided, delivered or dropped.
    pub settled: Signal<Out, Bit>,
    /// An event found no free space in its owner's header queue, or the queue is not enabled.
    pub send_event_lost: Signal<Out, Bit>,
    /// One pulse for each packet whose header entry is delivered, with its Disposition.
    pub disposition_count: PulseSource<DispositionCode>,
    /// One pulse for each packet that is dropped here, with its DropReason.
    pub drop_count: PulseSource<DropCode>,
    /// Another drop is counted in this cycle: the drops of this stage wait.
    pub drop_busy: Signal<In, Bit>,

    arbiter: AdmitArbiter,
    standing: StandingStep,
    owners: Owners<OWNER_BITS, OWNERS>,
    decision: Decision,
    reserve: Reserve,
    drops: Fifo<DropCode, 3, 4>,
    queue: ThroughFifo<Plan, 3, 4>,
    /// Steps that hold an item: read, standing, decision.
    steps: StageValids,
    /// Steps of the reservation that hold a plan.
    planned: StageValids,
    items: [DFF<Candidate>; 3],
    space: DFF<OwnerSpace>,
    plans_fit: DFF<Bit>,
    drops_fit: DFF<Bit>,
    plans_held: [DFF<Plan>; 2],

    offered: Signal<Local, RxItem>,
    looked: Signal<Local, Candidate>,
    packet: Signal<Local, RxItem>,
    deciding: Signal<Local, Candidate>,
    decided: Signal<Local, RxItem>,
    /// Two more plans, or two more drops, may be on their way, and one until that is known.
    #[value(4)]
    plans_max: Constant<Bits<4>>,
    #[value(4)]
    drops_max: Constant<Bits<4>>,
}

impl<const OWNER_BITS: usize, const OWNERS: usize> Logic for Admit<OWNER_BITS, OWNERS> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, space, plans_fit, drops_fit);
        clock!(self, clock, steps, planned, arbiter, standing, owners, reserve);
        clock!(self, clock, drops, queue);
        self.items[0].clock.next = self.clock.val();
        self.items[1].clock.next = self.clock.val();
        self.items[2].clock.next = self.clock.val();
        self.plans_held[0].clock.next = self.clock.val();
        self.plans_held[1].clock.next = self.clock.val();
        self.steps.reset.next = self.reset.val();
        self.planned.reset.next = self.reset.val();
        self.arbiter.reset.next = self.reset.val();
        self.owners.reset.next = self.reset.val();
        self.drops.reset.next = false;
        self.queue.reset.next = self.reset.val();
        PulseSink::<RegisterWrite>::link(&mut self.settings, &mut self.owners.settings);
        MessageSink::<RxItem>::link(&mut self.packets, &mut self.arbiter.packets);
        MessageSink::<SendEvent>::link(&mut self.send_event, &mut self.arbiter.send_event);
        PulseSource::<OwnerUpdate>::join(&mut self.decision.update, &mut self.owners.update);
        PulseSource::<DispositionCode>::link(
            &mut self.disposition_count,
            &mut self.decision.disposition_count,
        );
        MessageSource::<Plan>::link(&mut self.plans, &mut self.queue.source);
        self.settled.next = self.decision.settled.val();
        self.send_event_lost.next = self.decision.event_lost.val();

        self.arbiter.outcome.next = self.outcome.val();
        self.arbiter.has_space.next = self.plans_fit.q.val() & self.drops_fit.q.val();
        self.plans_fit.d.next = self.queue.level.val() <= self.plans_max.val();
        self.drops_fit.d.next = self.drops.level.val() <= self.drops_max.val();
        self.steps.enters.next = self.arbiter.item.valid.val();
        self.items[0].d.next = self.arbiter.item.payload.val();
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
        PulseSource::<CursorWrite>::join(
            &mut self.decision.cursor_write,
            &mut self.standing.written,
        );
        self.owners.space_owner.next = self.packet.val().owner;
        self.space.d.next = self.owners.space.val();

        self.decision.valid.next = self.steps.held.val().get_bit(2);
        self.decision.candidate.next = self.items[2].q.val();
        self.decision.standing.next = self.standing.standing.val();
        self.decision.space.next = self.space.q.val();
        PulseSource::<CursorWrite>::link(&mut self.cursor_write, &mut self.standing.to_write);
        self.drops.sink.valid.next = self.decision.drop_count.valid.val();
        self.drops.sink.payload.next = self.decision.drop_count.payload.val();
        self.drop_count.valid.next = self.drops.source.valid.val() & !self.drop_busy.val();
        self.drop_count.payload.next = self.drops.source.payload.val();
        self.drops.source.ready.next = !self.drop_busy.val();

        // Addresses. The decision does not change the packet's owner.
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
