//! Runs of received packets: between what was decided of each packet and its entry.
//!
//! ```text
//!  deciding ─► place's run, compare ─► [] ─┐
//!  decided ─┬────────────────────────► [] ─┴─► judge ─► end, own ─► [] ─┬─► source
//!           │             ▲                      │ open, join, end      │
//!           │             └──────────────────────┘                      │
//!           └───────────── no owner has runs ───────────────────────────┘
//!  clock ─► timer ─┬─► run_end (to the arbiter, as an item)
//!  open ─► sweep ──┘        ▲ a confirmation that ends many waits for it: hold
//! ```
//! Timing: one item every other cycle; latency zero while no owner has runs, else two cycles, and
//! three for an item behind the run that it ends.
//!
//! Invariants:
//! 1. Plans leave in the order of the items; a run's end goes before the item that ends it.
//! 2. Of a flow nothing leaves between the packet that opens a run and the run's end but packets
//!    that join it.
//! 3. A confirmation that ends runs leaves behind their ends.
//! 4. Each packet opens a run, joins one, or has an entry of its own.
//! 5. `reset` forgets open runs; their packets are counted.
//!
//! They rely on items that come in two cycles in a row never.
//!
//! Source: docs/specification.md, Runs; decision 14.

pub mod facts_memory;
pub mod messages;
pub mod run_compare;
pub mod run_held;
pub mod run_judge;
pub mod run_places;
pub mod run_plans;
pub mod run_sweep;
pub mod run_switch;
pub mod run_tally;
pub mod run_timer;
pub mod run_words;

use crate::messages::{Decided, PlanItem, RunSummary, RxItem};
use crate::owner_decode::OwnerWrite;
use crate::runs::messages::{RunEnd, RunFacts};
use crate::runs::run_compare::RunCompare;
use crate::runs::run_held::RunHeld;
use crate::runs::run_judge::RunJudge;
use crate::runs::run_places::RunPlaces;
use crate::runs::run_plans::RunPlans;
use crate::runs::run_sweep::RunSweep;
use crate::runs::run_switch::RunSwitch;
use crate::runs::run_tally::RunTally;
use crate::runs::run_timer::RunTimer;
use stream::prelude::*;

/// The stage, for 2^OWNER_BITS owners; OWNERS must be 2^OWNER_BITS. See the module's head.
#[derive(LogicBlock, Default)]
pub struct Runs<const OWNER_BITS: usize, const OWNERS: usize> {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch: open runs and plans inside are forgotten, and no owner has runs.
    pub reset: Signal<In, Bit>,

    /// Register writes: `COALESCE_CYCLES`.
    pub settings: PulseSink<RegisterWrite>,
    /// A decoded write to an owner's context; its enable word is looked at.
    pub write: Signal<In, OwnerWrite>,
    /// Owner that `write` addresses.
    pub write_owner: Signal<In, Bits<OWNER_BITS>>,
    /// An item is being decided.
    pub deciding: Signal<In, Bit>,
    /// The item that is being decided, with the memories of its walk.
    pub item: Signal<In, RxItem>,
    /// Facts of its headers, if it is a packet.
    pub facts: Signal<In, RunFacts>,
    /// Its plan as decided, in the same cycle.
    pub decided: PulseSink<Decided>,
    /// Plans with their part in a run.
    pub source: PulseSource<Decided>,
    /// Owner of the plan at `source`.
    pub source_owner: Signal<Out, Bits<8>>,
    /// What the entry of the plan at `source` says, if it sums.
    pub summary: PulseSource<RunSummary>,
    /// Runs can be open: plans are made here, else they pass as they are decided.
    pub active: Signal<Out, Bit>,
    /// Owner of the plan that is made here, from a register.
    pub made_owner: Signal<Out, Bits<8>>,
    /// The plan that is made here takes slots of its owner's queue; from registers.
    pub made_takes: Signal<Out, Bit>,
    /// A packet joins a run: the slot that it took is free again. With its owner.
    pub given_back: PulseSource<Bits<8>>,

    /// Runs that end without a packet.
    pub run_end: MessageSource<RunEnd>,
    /// The item offered is a confirmation that ends all runs of its owner.
    pub sweeps: Signal<In, Bit>,
    /// Owner of the item offered.
    pub sweep_owner: Signal<In, Bits<8>>,
    /// An item was granted in the cycle before.
    pub granted: Signal<In, Bit>,
    /// It is a confirmation with `sweeps`.
    pub granted_sweeps: Signal<In, Bit>,
    /// A confirmation with `sweeps` need not wait.
    pub is_swept: Signal<Out, Bit>,
    /// What happens, for the counters.
    pub events: Signal<Out, RunEvents>,

    switch: RunSwitch<OWNER_BITS, OWNERS>,
    places: RunPlaces,
    compare: RunCompare,
    judge: RunJudge,
    plans: RunPlans,
    timer: RunTimer,
    sweep: RunSweep,
    tally: RunTally,
    is_judged: DFF<Bit>,
    judged: RunHeld,
    happened: DFF<RunEvents>,

    judged_plan: Signal<Local, Decided>,
    judged_item: Signal<Local, PlanItem>,
}

impl<const OWNER_BITS: usize, const OWNERS: usize> Logic for Runs<OWNER_BITS, OWNERS> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, is_judged, happened);
        clock!(self, clock, judged, switch, places, plans, timer, sweep, tally);
        self.switch.reset.next = self.reset.val();
        self.places.reset.next = self.reset.val();
        self.plans.reset.next = self.reset.val();
        self.timer.reset.next = self.reset.val();
        self.sweep.reset.next = self.reset.val();
        self.tally.reset.next = self.reset.val();
        PulseSink::<RegisterWrite>::link(&mut self.settings, &mut self.switch.settings);
        self.switch.write.next = self.write.val();
        self.switch.write_owner.next = self.write_owner.val();

        // The run at the item's place, and how the item compares with it.
        self.places.read_place.next = self.item.val().flow.get_bits::<5>(0);
        self.switch.owner.next = self.item.val().owner;
        self.compare.item.next = self.item.val();
        self.compare.facts.next = self.facts.val();
        self.compare.first.next = self.places.first.val();
        self.compare.last.next = self.places.last.val();
        self.compare.open.next = self.places.open.val();
        self.compare.has_runs.next = self.switch.has_runs.val();

        // What follows from that, and the run after it.
        self.is_judged.d.next =
            self.decided.valid.val() & self.switch.active.val() & !self.reset.val();
        self.judged.load.next = self.deciding.val();
        self.judged.plan.next = self.decided.payload.val();
        self.judged.facts.next = self.facts.val();
        self.judged.first.next = self.places.first.val();
        self.judged.last.next = self.places.last.val();
        self.judged.compared.next = self.compare.result.val();
        self.judged_plan.next = self.judged.held_plan.val();
        self.judged_item.next = self.judged_plan.val().packet;
        self.judge.valid.next = self.is_judged.q.val() & !self.reset.val();
        self.judge.item.next = self.judged_item.val();
        self.judge.facts.next = self.judged.held_facts.val();
        self.judge.compared.next = self.judged.held_compared.val();
        self.judge.may_open.next = self.switch.may_open.val();
        self.places.write_place.next = self.judged_item.val().flow.get_bits::<5>(0);
        self.places.opens.next = self.judge.opens.val();
        self.places.joins.next = self.judge.joins.val();
        self.places.ends.next = self.judge.ends.val();
        self.places.plan.next = self.judged_plan.val();
        self.places.facts.next = self.judged.held_facts.val();
        self.places.packets_before.next = self.judged.held_last.val().packets;
        self.given_back.valid.next = self.judge.joins.val();
        self.given_back.payload.next = self.judged_item.val().owner;

        self.active.next = self.switch.active.val();
        self.plans.active.next = self.switch.active.val();
        self.made_owner.next = self.plans.made_owner.val();
        self.made_takes.next = self.plans.made_takes.val();
        PulseSink::<Decided>::link(&mut self.decided, &mut self.plans.decided);
        self.plans.decided_owner.next = self.item.val().owner;
        self.plans.judged.next = self.judged_plan.val();
        self.plans.facts.next = self.judged.held_facts.val();
        self.plans.first.next = self.judged.held_first.val();
        self.plans.last.next = self.judged.held_last.val();
        self.plans.opens.next = self.judge.opens.val();
        self.plans.joins.next = self.judge.joins.val();
        self.plans.ends_before.next = self.judge.ends_before.val();
        self.plans.ends_with.next = self.judge.ends_with.val();
        self.plans.own.next = self.judge.own.val();
        PulseSource::<Decided>::link(&mut self.source, &mut self.plans.source);
        self.source_owner.next = self.plans.source_owner.val();
        PulseSource::<RunSummary>::link(&mut self.summary, &mut self.plans.summary);

        // Ends without a packet.
        self.timer.opens.next = self.judge.opens.val();
        self.timer.place.next = self.judged_item.val().flow.get_bits::<5>(0);
        self.timer.open_places.next = self.places.open_places.val();
        self.timer.cycles.next = self.switch.cycles.val();
        self.sweep.open_places.next = self.places.open_places.val();
        self.sweep.active.next = self.switch.active.val();
        self.sweep.wanted.next = self.sweeps.val();
        self.sweep.owner.next = self.sweep_owner.val();
        self.sweep.granted.next = self.granted.val();
        self.sweep.done.next = self.granted_sweeps.val();
        self.is_swept.next = self.sweep.swept.val();
        MessageSource::<RunEnd>::join(&mut self.timer.due, &mut self.sweep.due);
        MessageSource::<RunEnd>::link(&mut self.run_end, &mut self.sweep.run_end);
        self.switch.busy.next = self.deciding.val()
            | self.is_judged.q.val()
            | self.plans.is_waiting.val()
            | self.places.open_places.val().any();

        self.tally.opens.next = self.judge.opens.val();
        self.tally.joins.next = self.judge.joins.val();
        self.tally.ends.next = self.judge.ends.val();
        self.tally.packets.next = self.judged.held_last.val().packets;
        self.happened.d.next.runs_opened = self.judge.opens.val();
        self.happened.d.next.run_packets_joined = self.judge.joins.val();
        self.happened.d.next.runs_ended_by_last = self.judge.ends_with.val();
        self.happened.d.next.runs_ended_by_packet = self.judge.by_packet.val();
        self.happened.d.next.runs_ended_by_command = self.judge.by_command.val();
        self.happened.d.next.runs_ended_by_place = self.judge.by_place.val();
        self.happened.d.next.runs_ended_by_timer = self.judge.by_timer.val();
        self.happened.d.next.run_packets_forgotten = self.tally.forgotten.val();
        self.events.next = self.happened.q.val();
    }
}
