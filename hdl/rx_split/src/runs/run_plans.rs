//! Makes the plans: of a run that ends, and of the item behind it.
//!
//! ```text
//!  judged ─┬─► the run that ends before it ────────┬─► source
//!          ├─► the item with its part ─────────────┤
//!          └─► [] ─► the item behind the run ──────┤
//!  decided ─────────── while not active ───────────┘
//! ```
//! Timing: an item is judged while it stands at `judged`, for two cycles at least; its plan comes
//! in the second, and one cycle later behind a run. `decided` passes in the same cycle.
//!
//! Invariants:
//! 1. An item makes at most two plans; the next item comes two cycles later at the earliest.
//! 2. A plan that sums comes with a summary.

use crate::messages::{Decided, PlanItem, RunPart, RunSummary, RxItemKind};
use crate::runs::messages::{RunFacts, RunFirst, RunLast};
use crate::runs::run_words::{EndedRun, SummaryOf};
use stream::prelude::*;

/// The maker. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct RunPlans {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch: plans inside are forgotten.
    pub reset: Signal<In, Bit>,

    /// Plans are made here; else they pass as they are decided.
    pub active: Signal<In, Bit>,
    /// Plans as decided.
    pub decided: PulseSink<Decided>,
    /// Owner of the plan at `decided`, from registers.
    pub decided_owner: Signal<In, Bits<8>>,
    /// The item that is judged.
    pub judged: Signal<In, Decided>,
    /// Facts of its headers.
    pub facts: Signal<In, RunFacts>,
    /// First packet of the run at its place.
    pub first: Signal<In, RunFirst>,
    /// Last packet of that run.
    pub last: Signal<In, RunLast>,
    /// The item opens a run.
    pub opens: Signal<In, Bit>,
    /// The item joins the run.
    pub joins: Signal<In, Bit>,
    /// The run ends before the item.
    pub ends_before: Signal<In, Bit>,
    /// The run ends with the item.
    pub ends_with: Signal<In, Bit>,
    /// The item makes a plan of its own.
    pub own: Signal<In, Bit>,
    /// Plans in order.
    pub source: PulseSource<Decided>,
    /// Owner of the plan at `source`.
    pub source_owner: Signal<Out, Bits<8>>,
    /// Owner of the plan that is made here, from a register.
    pub made_owner: Signal<Out, Bits<8>>,
    /// The plan that is made here takes slots of its owner's queue; from registers.
    pub made_takes: Signal<Out, Bit>,
    /// What the entry of the plan at `source` says, if it sums.
    pub summary: PulseSource<RunSummary>,
    /// An item waits behind the run that ends before it.
    pub is_waiting: Signal<Out, Bit>,

    ends_run: DFF<Bit>,
    own_valid: DFF<Bit>,
    own_part: DFF<RunPart>,
    sums: DFF<Bit>,
    waits: DFF<Bit>,
    waiting_opens: DFF<Bit>,
    behind_valid: DFF<Bit>,
    behind: DFF<Decided>,
    owner: DFF<Bits<8>>,
    takes: DFF<Bit>,

    ended_run: EndedRun,
    summed: SummaryOf,

    part: Signal<Local, RunPart>,
    waited: Signal<Local, Decided>,
    waiting_part: Signal<Local, RunPart>,
    plan: Signal<Local, Decided>,
    item: Signal<Local, PlanItem>,
    has_entry: Signal<Local, Bit>,
    is_sum: Signal<Local, Bit>,
    #[value(1)]
    one: Constant<Bits<7>>,
    #[value(RunPart::default())]
    no_part: Constant<RunPart>,
}

impl Logic for RunPlans {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, ends_run, own_valid, own_part, sums, waits);
        dff_setup!(self, clock, waiting_opens, behind_valid, behind, owner, takes);
        self.ends_run.d.next = self.ends_before.val() & !self.reset.val();
        self.own_valid.d.next = self.own.val() & !self.ends_before.val() & !self.reset.val();
        self.waits.d.next = self.own.val() & self.ends_before.val() & !self.reset.val();
        self.is_sum.next = self.last.val().packets != self.one.val();
        self.sums.d.next = self.ends_with.val() | (self.ends_before.val() & self.is_sum.val());
        self.part.next.keeps = self.opens.val();
        self.part.next.joins = self.joins.val();
        self.part.next.ends = self.ends_with.val();
        self.part.next.sums = self.ends_with.val();
        self.own_part.d.next = self.part.val();
        self.waiting_opens.d.next = self.opens.val();
        self.behind_valid.d.next = self.waits.q.val() & !self.reset.val();
        self.waited.next = self.judged.val();
        self.waiting_part.next = self.no_part.val();
        self.waiting_part.next.keeps = self.waiting_opens.q.val();
        self.waited.next.run = self.waiting_part.val();
        self.behind.d.next = self.waited.val();
        self.is_waiting.next = self.waits.q.val();

        self.ended_run.first.next = self.first.val();
        self.ended_run.last.next = self.last.val();
        self.ended_run.sums.next = self.sums.q.val();
        self.plan.next = self.judged.val();
        self.plan.next.run = self.own_part.q.val();
        if self.ends_run.q.val() {
            self.plan.next = self.ended_run.plan.val();
        }
        if self.behind_valid.q.val() {
            self.plan.next = self.behind.q.val();
        }
        self.source.valid.next =
            self.ends_run.q.val() | self.own_valid.q.val() | self.behind_valid.q.val();
        self.source.payload.next = self.plan.val();
        self.source_owner.next = self.owner.q.val();
        if !self.active.val() {
            self.source.valid.next = self.decided.valid.val();
            self.source.payload.next = self.decided.payload.val();
            self.source_owner.next = self.decided_owner.val();
        }

        // Owner and slots are known as the plan comes.
        self.item.next = self.judged.val().packet;
        self.has_entry.next = (self.item.val().kind == RxItemKind::Packet)
            | (self.item.val().kind == RxItemKind::Event);
        self.owner.d.next = self.item.val().owner;
        self.takes.d.next = self.own.val() & self.has_entry.val() & !self.opens.val();
        if self.joins.val() {
            self.takes.d.next = self.ends_with.val();
        }
        if self.ends_before.val() {
            self.owner.d.next = self.first.val().owner;
            self.takes.d.next = true;
        }
        if self.waits.q.val() {
            self.takes.d.next = self.has_entry.val() & !self.waiting_opens.q.val();
        }
        self.made_owner.next = self.owner.q.val();
        self.made_takes.next = self.takes.q.val();

        // What the entry of several packets says.
        self.summary.valid.next = self.sums.q.val();
        self.summed.ends_run.next = self.ends_run.q.val();
        self.summed.facts.next = self.facts.val();
        self.summed.first.next = self.first.val();
        self.summed.last.next = self.last.val();
        self.summary.payload.next = self.summed.summary.val();
    }
}
