//! What is said of a run: as its plan, and as the summary of its entry.
//!
//! Timing: combinational.

use crate::messages::{Decided, PlanItem, RunPart, RunSummary, RxItemKind};
use crate::runs::messages::{RunFacts, RunFirst, RunLast};
use abi::reason::Disposition;
use stream::prelude::*;

/// The plan of a run that ends without a packet.
#[derive(LogicBlock, BlockDefault)]
pub struct EndedRun {
    /// Its first packet.
    pub first: Signal<In, RunFirst>,
    /// Its last packet.
    pub last: Signal<In, RunLast>,
    /// It has several packets.
    pub sums: Signal<In, Bit>,
    /// The plan.
    pub plan: Signal<Out, Decided>,

    item: Signal<Local, PlanItem>,
    part: Signal<Local, RunPart>,
    #[value(Decided::default())]
    no_plan: Constant<Decided>,
    #[value(RunPart::default())]
    no_part: Constant<RunPart>,
    #[value(PlanItem::default())]
    no_item: Constant<PlanItem>,
    #[value(Disposition::PlacedInOrder as u64)]
    placed_in_order: Constant<DispositionCode>,
}

impl Logic for EndedRun {
    #[hdl_gen]
    fn update(&mut self) {
        self.item.next = self.no_item.val();
        self.item.next.kind = RxItemKind::Run;
        self.item.next.header_bytes = self.first.val().header_bytes;
        self.item.next.frame_bytes = self.first.val().frame_bytes;
        self.item.next.payload_bytes = self.first.val().payload_bytes;
        self.item.next.l4_offset = self.first.val().l4_offset;
        self.item.next.verified = true;
        self.item.next.position = self.first.val().position;
        self.item.next.flow = self.first.val().flow;
        self.item.next.generation = self.first.val().generation;
        self.item.next.owner = self.first.val().owner;
        self.item.next.disposition = self.placed_in_order.val();
        self.item.next.segment_index = self.first.val().segment_index;
        self.item.next.pieces = self.first.val().pieces;
        self.item.next.memories = self.first.val().memories;
        self.part.next = self.no_part.val();
        self.part.next.ends = true;
        self.part.next.sums = self.sums.val();
        self.plan.next = self.no_plan.val();
        self.plan.next.packet = self.item.val();
        self.plan.next.cursor = self.last.val().cursor;
        self.plan.next.run = self.part.val();
    }
}

/// What the entry of a run says: of its packets so far, or of them and the item that joins.
#[derive(LogicBlock, BlockDefault)]
pub struct SummaryOf {
    /// The run ends without a packet.
    pub ends_run: Signal<In, Bit>,
    /// Facts of the item that joins.
    pub facts: Signal<In, RunFacts>,
    /// First packet of the run.
    pub first: Signal<In, RunFirst>,
    /// Last packet of the run.
    pub last: Signal<In, RunLast>,
    /// The summary.
    pub summary: Signal<Out, RunSummary>,

    #[value(1)]
    one: Constant<Bits<7>>,
}

impl Logic for SummaryOf {
    #[hdl_gen]
    fn update(&mut self) {
        self.summary.next.packets = self.last.val().packets + self.one.val();
        self.summary.next.push = self.facts.val().push;
        self.summary.next.ack = self.facts.val().ack;
        self.summary.next.window = self.facts.val().window;
        self.summary.next.timestamp = self.facts.val().timestamp;
        self.summary.next.echo = self.facts.val().echo;
        if self.ends_run.val() {
            self.summary.next.packets = self.last.val().packets;
            self.summary.next.push = false;
            self.summary.next.ack = self.last.val().ack;
            self.summary.next.window = self.last.val().window;
            self.summary.next.timestamp = self.last.val().timestamp;
            self.summary.next.echo = self.last.val().echo;
        }
        self.summary.next.payload_bytes = self.first.val().payload_bytes;
        self.summary.next.segment_index = self.first.val().segment_index;
    }
}
