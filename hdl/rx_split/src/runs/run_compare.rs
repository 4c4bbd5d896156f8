//! How an item compares with the run that is open at its place, while it is decided.
//!
//! Timing: combinational.
//!
//! Source: docs/specification.md, Runs.

use crate::messages::RxItem;
use crate::runs::messages::{RunFacts, RunFirst, RunLast, RunMatch};
use abi::config::RUN_PACKETS_MAX;
use stream::prelude::*;

/// The comparison. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct RunCompare {
    /// The item, before it is decided, with the memories of its walk.
    pub item: Signal<In, RxItem>,
    /// Facts of its headers, if it is a packet.
    pub facts: Signal<In, RunFacts>,
    /// First packet of the run at its place.
    pub first: Signal<In, RunFirst>,
    /// Last packet of that run.
    pub last: Signal<In, RunLast>,
    /// A run is open there.
    pub open: Signal<In, Bit>,
    /// The item's owner has runs.
    pub has_runs: Signal<In, Bit>,
    /// The result.
    pub result: Signal<Out, RunMatch>,

    one_memory: Signal<Local, Bit>,
    #[value(RUN_PACKETS_MAX as u64 - 1)]
    packets_max: Constant<Bits<7>>,
    #[value(1)]
    memory_0: Constant<Bits<4>>,
    #[value(2)]
    memory_1: Constant<Bits<4>>,
    #[value(4)]
    memory_2: Constant<Bits<4>>,
    #[value(8)]
    memory_3: Constant<Bits<4>>,
}

impl Logic for RunCompare {
    #[hdl_gen]
    fn update(&mut self) {
        self.result.next.open = self.open.val();
        self.result.next.flow = self.item.val().flow == self.first.val().flow;
        self.result.next.owner =
            !self.item.val().owner.any() | (self.item.val().owner == self.first.val().owner);
        self.result.next.addresses = self.facts.val().addresses == self.first.val().addresses;
        self.result.next.network = (self.facts.val().tags == self.first.val().tags)
            & (self.facts.val().traffic == self.first.val().traffic);
        self.result.next.kind = (self.item.val().owner == self.first.val().owner)
            & (self.item.val().generation == self.first.val().generation)
            & (self.item.val().header_bytes == self.first.val().header_bytes)
            & (self.item.val().memories == self.first.val().memories)
            & (self.facts.val().stamped == self.first.val().stamped);
        self.result.next.follows = self.item.val().position == self.last.val().cursor;
        self.result.next.less = self.item.val().payload_bytes < self.first.val().payload_bytes;
        self.result.next.more = self.item.val().payload_bytes > self.first.val().payload_bytes;
        self.result.next.ack_before = (self.facts.val().ack - self.last.val().ack).get_bit(31);
        self.result.next.stamp_before =
            (self.facts.val().timestamp - self.last.val().timestamp).get_bit(31);
        self.result.next.hit = self.item.val().hit;
        self.result.next.ends_run = self.item.val().ends_run;
        self.result.next.sweeps = self.item.val().sweeps;
        self.result.next.almost_full = self.last.val().packets == self.packets_max.val();
        self.one_memory.next = (self.item.val().memories == self.memory_0.val())
            | (self.item.val().memories == self.memory_1.val())
            | (self.item.val().memories == self.memory_2.val())
            | (self.item.val().memories == self.memory_3.val());
        self.result.next.may = self.has_runs.val()
            & !self.item.val().trimmed_bytes.any()
            & self.one_memory.val()
            & self.facts.val().fits;
    }
}
