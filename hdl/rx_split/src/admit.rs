//! Decides what becomes of each packet, reserves space in the owner's rings for all of it or for
//! nothing, and counts it.
//!
//! ```text
//!  packets, outcome ─┐                     ┌─► standing (cursor) ──┐
//!  send_event ───────┴─► arbiter ─► [] ─► []─► owner's free space ─┴─► decision ─┬─► counts
//!                                                                                ├─► cursor_write
//!                                              plans ◄─ queue ◄─ reserve ◄───────┘
//! ```
//! Timing: one packet every other cycle; latency five cycles to `plans`, seven and more while an
//! owner has runs. Nothing waits inside.
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
pub mod owner_flags;
pub mod owner_limit;
pub mod owner_places;
pub mod owner_producers;
pub mod owner_written;
pub mod owners;
pub mod reserve;
pub mod stage_valids;
pub mod standing_step;

use crate::admit::admit_arbiter::{AdmitArbiter, Candidate};
use crate::admit::decision::Decision;
use crate::admit::messages::{OwnerSpace, OwnerUpdate};
use crate::admit::owner_written::OwnerWritten;
use crate::admit::owners::Owners;
use crate::admit::reserve::Reserve;
use crate::admit::stage_valids::StageValids;
use crate::admit::standing_step::StandingStep;
use crate::messages::{Decided, Plan, RunSummary, RxItem, RxItemKind, WalkOutcome};
use crate::runs::messages::{RunEnd, RunFacts};
use crate::runs::Runs;
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
    /// Pointer of the first beat of the packet whose facts are read.
    pub facts_start: Signal<Out, Bits<16>>,
    /// Facts of the packet that `facts_start` named two cycles ago.
    pub facts: Signal<In, RunFacts>,
    /// Plans to `split`.
    pub plans: MessageSource<Plan>,
    /// One summary for each plan that sums.
    pub summaries: MessageSource<RunSummary>,

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
    /// Events of runs.
    pub run_events: Signal<Out, RunEvents>,

    arbiter: AdmitArbiter,
    standing: StandingStep,
    owners: Owners<OWNER_BITS, OWNERS>,
    decision: Decision,
    runs: Runs<OWNER_BITS, OWNERS>,
    written: OwnerWritten<OWNER_BITS, OWNERS>,
    reserve: Reserve,
    drops: Fifo<DropCode, 3, 4>,
    queue: ThroughFifo<Plan, 5, 6>,
    summed: Fifo<RunSummary, 5, 6>,
    /// Steps that hold an item: read, standing, decision.
    steps: StageValids,
    /// Steps of the reservation that hold a plan.
    planned: StageValids,
    items: [DFF<Candidate>; 3],
    space: DFF<OwnerSpace>,
    plans_fit: DFF<Bit>,
    drops_fit: DFF<Bit>,
    plans_held: [DFF<Decided>; 2],

    offered: Signal<Local, RxItem>,
    packet: Signal<Local, RxItem>,
    early_packet: Signal<Local, RxItem>,
    deciding: Signal<Local, Candidate>,
    planned_plan: Signal<Local, Decided>,
    made: Signal<Local, Decided>,
    plan: Signal<Local, Plan>,
    walked: Signal<Local, WalkOutcome>,
    walked_item: Signal<Local, RxItem>,
    /// Ten more plans of runs may be on their way, and four until that is known.
    #[value(16)]
    plans_max: Constant<Bits<6>>,
    /// Two more drops may be on their way, and one until that is known.
    #[value(4)]
    drops_max: Constant<Bits<4>>,
}

impl<const OWNER_BITS: usize, const OWNERS: usize> Logic for Admit<OWNER_BITS, OWNERS> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, space, plans_fit, drops_fit);
        clock!(self, clock, steps, planned, arbiter, standing, owners, reserve);
        clock!(self, clock, drops, queue, summed, runs, written);
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
        self.summed.reset.next = self.reset.val();
        self.runs.reset.next = self.reset.val();
        self.written.reset.next = self.reset.val();
        PulseSink::<RegisterWrite>::link(&mut self.settings, &mut self.owners.settings);
        MessageSink::<RxItem>::link(&mut self.packets, &mut self.arbiter.packets);
        MessageSink::<SendEvent>::link(&mut self.send_event, &mut self.arbiter.send_event);
        PulseSource::<OwnerUpdate>::join(&mut self.decision.update, &mut self.owners.update);
        PulseSource::<DispositionCode>::link(
            &mut self.disposition_count,
            &mut self.decision.disposition_count,
        );
        MessageSource::<Plan>::link(&mut self.plans, &mut self.queue.source);
        MessageSource::<RunSummary>::link(&mut self.summaries, &mut self.summed.source);
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
        self.packet.next = self.items[1].q.val().packet;
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

        // Runs.
        PulseSink::<RegisterWrite>::link(&mut self.settings, &mut self.runs.settings);
        self.early_packet.next = self.items[0].q.val().packet;
        self.facts_start.next = self.early_packet.val().start;
        self.deciding.next = self.items[2].q.val();
        self.walked.next = self.deciding.val().outcome;
        self.walked_item.next = self.deciding.val().packet;
        self.walked_item.next.memories = self.walked.val().memories;
        self.runs.deciding.next = self.steps.held.val().get_bit(2);
        self.runs.item.next = self.walked_item.val();
        self.runs.facts.next = self.facts.val();
        self.runs.write.next = self.owners.passed_write.val();
        self.runs.write_owner.next = self.owners.passed_owner.val();
        PulseSource::<Decided>::join(&mut self.decision.plans, &mut self.runs.decided);
        MessageSource::<RunEnd>::join(&mut self.runs.run_end, &mut self.arbiter.run_end);
        self.runs.sweeps.next = self.packets.valid.val() & self.offered.val().sweeps;
        self.runs.sweep_owner.next = self.offered.val().owner;
        self.runs.granted.next = self.steps.held.val().get_bit(0);
        self.runs.granted_sweeps.next = self.steps.held.val().get_bit(0)
            & (self.early_packet.val().kind == RxItemKind::Confirmation)
            & self.early_packet.val().sweeps;
        self.arbiter.is_swept.next = self.runs.is_swept.val();
        self.summed.sink.valid.next = self.runs.summary.valid.val();
        self.summed.sink.payload.next = self.runs.summary.payload.val();
        self.run_events.next = self.runs.events.val();

        // Addresses.
        self.written.write.next = self.owners.passed_write.val();
        self.written.write_owner.next = self.owners.passed_owner.val();
        self.planned_plan.next = self.runs.source.payload.val();
        self.written.active.next = self.runs.active.val();
        self.written.owner.next = self.runs.made_owner.val();
        self.written.takes.next = self.runs.made_takes.val();
        self.written.takes_two.next = self.planned_plan.val().two_slots;
        self.written.slow.next = self.planned_plan.val().slow;
        self.written.reserved.next = self.space.q.val().header_producer;
        self.written.late_plan.next = self.plans_held[0].q.val();
        self.written.late_valid.next = self.planned.held.val().get_bit(0);
        self.written.late_after.next = self.reserve.header_after.val();
        self.written.given_back.valid.next = self.runs.given_back.valid.val();
        self.written.given_back.payload.next = self.runs.given_back.payload.val();
        self.owners.early_owner.next = self.early_packet.val().owner;
        self.written.space_owner.next = bit_cast::<OWNER_BITS, 8>(self.early_packet.val().owner);
        self.owners.early_given.next = self.written.space_given.val();
        self.written.limit_owner.next = self.owners.limit_owner.val();
        self.owners.limit_given.next = self.written.limit_given.val();
        self.owners.place_owner.next = self.runs.source_owner.val();
        self.reserve.valid.next = self.runs.source.valid.val();
        self.reserve.rings.next = self.owners.rings.val();
        self.reserve.taken.next = self.written.taken.val();
        self.planned.enters.next = self.runs.source.valid.val();
        self.plans_held[0].d.next = self.runs.source.payload.val();
        self.plans_held[1].d.next = self.plans_held[0].q.val();
        self.queue.sink.valid.next = self.planned.held.val().get_bit(1);
        self.made.next = self.plans_held[1].q.val();
        self.plan.next.packet = self.made.val().packet;
        self.plan.next.two_slots = self.made.val().two_slots;
        self.plan.next.needs_slow = self.made.val().needs_slow;
        self.plan.next.cursor = self.made.val().cursor;
        self.plan.next.place = self.reserve.reservation.val();
        self.plan.next.run = self.made.val().run;
        self.queue.sink.payload.next = self.plan.val();
    }
}
