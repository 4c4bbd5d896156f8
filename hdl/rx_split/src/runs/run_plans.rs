//! Makes the plans: of a run that ends, and of the item behind it.
//!
//! ```text
//!  judged ─┬─► the run that ends before it ───────────┬─► [] ─► source
//!          └─► the item with its part ─┬──────────────┤
//!                                      └─► [] behind ─┘
//! ```
//! Timing: latency one cycle, two for an item behind a run.
//!
//! Invariants:
//! 1. An item makes at most two plans; the next item comes two cycles later at the earliest.

use crate::messages::{Plan, RunLast, RunPart, RxItem, RxItemKind};
use crate::runs::messages::{RunFacts, RunFirst};
use abi::reason::Disposition;
use stream::prelude::*;

/// The maker. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct RunPlans {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch: plans inside are forgotten.
    pub reset: Signal<In, Bit>,

    /// Items that were judged.
    pub judged: PulseSink<Plan>,
    /// Facts of the item's headers.
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
    pub source: PulseSource<Plan>,
    /// An item waits behind the run that ends before it.
    pub is_waiting: Signal<Out, Bit>,

    waits: DFF<Bit>,
    behind: DFF<Plan>,
    made_valid: DFF<Bit>,
    made: DFF<Plan>,

    own_plan: Signal<Local, Plan>,
    plan: Signal<Local, Plan>,
    part: Signal<Local, RunPart>,
    joined: Signal<Local, RunLast>,
    ended: Signal<Local, RxItem>,
    end_part: Signal<Local, RunPart>,
    #[value(1)]
    one: Constant<Bits<7>>,
    #[value(RxItem::default())]
    no_item: Constant<RxItem>,
    #[value(RunPart::default())]
    no_part: Constant<RunPart>,
    #[value(Plan::default())]
    no_plan: Constant<Plan>,
    #[value(Disposition::PlacedInOrder as u64)]
    placed_in_order: Constant<DispositionCode>,
}

impl Logic for RunPlans {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, waits, behind, made_valid, made);
        // The item, with its part in a run.
        self.joined.next.packets = self.last.val().packets + self.one.val();
        self.joined.next.ack = self.facts.val().ack;
        self.joined.next.window = self.facts.val().window;
        self.joined.next.timestamp = self.facts.val().timestamp;
        self.joined.next.echo = self.facts.val().echo;
        self.joined.next.cursor = 0.into();
        self.part.next.keeps = self.opens.val();
        self.part.next.joins = self.joins.val();
        self.part.next.ends = self.ends_with.val();
        self.part.next.sums = self.ends_with.val();
        self.part.next.push = self.facts.val().push;
        self.part.next.last = self.joined.val();
        self.part.next.payload_bytes = self.first.val().payload_bytes;
        self.part.next.segment_index = self.first.val().segment_index;
        self.own_plan.next = self.judged.payload.val();
        self.own_plan.next.run = self.part.val();

        // The run that ends.
        self.ended.next = self.no_item.val();
        self.ended.next.kind = RxItemKind::Run;
        self.ended.next.header_bytes = self.first.val().header_bytes;
        self.ended.next.frame_bytes = self.first.val().frame_bytes;
        self.ended.next.payload_bytes = self.first.val().payload_bytes;
        self.ended.next.l4_offset = self.first.val().l4_offset;
        self.ended.next.verified = true;
        self.ended.next.position = self.first.val().position;
        self.ended.next.hit = true;
        self.ended.next.flow = self.first.val().flow;
        self.ended.next.generation = self.first.val().generation;
        self.ended.next.owner = self.first.val().owner;
        self.ended.next.disposition = self.placed_in_order.val();
        self.ended.next.segment_index = self.first.val().segment_index;
        self.ended.next.pieces = self.first.val().pieces;
        self.ended.next.memories = self.first.val().memories;
        self.end_part.next = self.no_part.val();
        self.end_part.next.ends = true;
        self.end_part.next.sums = self.last.val().packets != self.one.val();
        self.end_part.next.last = self.last.val();
        self.end_part.next.payload_bytes = self.first.val().payload_bytes;
        self.end_part.next.segment_index = self.first.val().segment_index;

        self.plan.next = self.own_plan.val();
        if self.ends_before.val() {
            self.plan.next = self.no_plan.val();
            self.plan.next.packet = self.ended.val();
            self.plan.next.cursor = self.last.val().cursor;
            self.plan.next.run = self.end_part.val();
        }
        if self.judged.valid.val() {
            self.behind.d.next = self.own_plan.val();
        }
        self.waits.d.next = self.own.val() & self.ends_before.val() & !self.reset.val();
        self.made_valid.d.next =
            (self.ends_before.val() | self.own.val() | self.waits.q.val()) & !self.reset.val();
        self.made.d.next = self.plan.val();
        if self.waits.q.val() {
            self.made.d.next = self.behind.q.val();
        }
        self.is_waiting.next = self.waits.q.val();
        self.source.valid.next = self.made_valid.q.val();
        self.source.payload.next = self.made.q.val();
    }
}
