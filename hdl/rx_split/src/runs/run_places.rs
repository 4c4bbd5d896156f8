//! The places of open runs: which are open, and what is kept of their first and last packets.
//!
//! Timing: `first`, `last` and `open` follow `read_place` in the same cycle; what is written shows
//! in the next.
//!
//! Invariants:
//! 1. A place is open from the cycle after `opens` to the cycle of `ends`; where both come, the new
//!    run is open.

use crate::messages::{Decided, PlanItem};
use crate::runs::messages::{RunFacts, RunFirst, RunLast};
use abi::config::RUNS_OPEN_MAX;
use stream::prelude::*;

const _: () = assert!(RUNS_OPEN_MAX == 1 << 5);

/// The places. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct RunPlaces {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch: nothing is open.
    pub reset: Signal<In, Bit>,

    /// Place to show.
    pub read_place: Signal<In, Bits<5>>,
    /// First packet of the run there.
    pub first: Signal<Out, RunFirst>,
    /// Last packet of the run there.
    pub last: Signal<Out, RunLast>,
    /// A run is open there.
    pub open: Signal<Out, Bit>,
    /// Open places, one bit each.
    pub open_places: Signal<Out, Bits<32>>,

    /// Place that changes.
    pub write_place: Signal<In, Bits<5>>,
    /// A run opens.
    pub opens: Signal<In, Bit>,
    /// A packet joins.
    pub joins: Signal<In, Bit>,
    /// The run that was open ends.
    pub ends: Signal<In, Bit>,
    /// The packet that opens or joins.
    pub plan: Signal<In, Decided>,
    /// Facts of that packet.
    pub facts: Signal<In, RunFacts>,
    /// Packets of the run before it.
    pub packets_before: Signal<In, Bits<7>>,

    firsts: LutRam<RunFirst, 5>,
    lasts: LutRam<RunLast, 5>,
    opened: DFF<Bits<32>>,

    item: Signal<Local, PlanItem>,
    new_first: Signal<Local, RunFirst>,
    new_last: Signal<Local, RunLast>,
    mark: Signal<Local, Bits<32>>,
    #[value(1)]
    one: Constant<Bits<32>>,
    #[value(1)]
    one_packet: Constant<Bits<7>>,
}

impl Logic for RunPlaces {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, opened);
        clock!(self, clock, firsts, lasts);
        self.firsts.read_address.next = self.read_place.val();
        self.lasts.read_address.next = self.read_place.val();
        self.first.next = self.firsts.read_data.val();
        self.last.next = self.lasts.read_data.val();
        self.open.next = self.opened.q.val().get_bit(self.read_place.val().index());
        self.open_places.next = self.opened.q.val();

        self.item.next = self.plan.val().packet;
        self.new_first.next.flow = self.item.val().flow;
        self.new_first.next.owner = self.item.val().owner;
        self.new_first.next.generation = self.item.val().generation;
        self.new_first.next.addresses = self.facts.val().addresses;
        self.new_first.next.tags = self.facts.val().tags;
        self.new_first.next.traffic = self.facts.val().traffic;
        self.new_first.next.stamped = self.facts.val().stamped;
        self.new_first.next.header_bytes = self.item.val().header_bytes;
        self.new_first.next.l4_offset = self.item.val().l4_offset;
        self.new_first.next.frame_bytes = self.item.val().frame_bytes;
        self.new_first.next.payload_bytes = self.item.val().payload_bytes;
        self.new_first.next.position = self.item.val().position;
        self.new_first.next.segment_index = self.item.val().segment_index;
        self.new_first.next.pieces = self.item.val().pieces;
        self.new_first.next.memories = self.item.val().memories;
        self.firsts.write_address.next = self.write_place.val();
        self.firsts.write_data.next = self.new_first.val();
        self.firsts.write_enable.next = self.opens.val();

        self.new_last.next.packets = self.packets_before.val() + self.one_packet.val();
        if self.opens.val() {
            self.new_last.next.packets = self.one_packet.val();
        }
        self.new_last.next.ack = self.facts.val().ack;
        self.new_last.next.window = self.facts.val().window;
        self.new_last.next.timestamp = self.facts.val().timestamp;
        self.new_last.next.echo = self.facts.val().echo;
        self.new_last.next.cursor = self.plan.val().cursor;
        self.lasts.write_address.next = self.write_place.val();
        self.lasts.write_data.next = self.new_last.val();
        self.lasts.write_enable.next = self.opens.val() | self.joins.val();

        self.mark.next = self.one.val() << bit_cast::<32, 5>(self.write_place.val());
        if self.ends.val() {
            self.opened.d.next = self.opened.q.val() & !self.mark.val();
        }
        if self.opens.val() {
            self.opened.d.next = self.opened.q.val() | self.mark.val();
        }
        if self.reset.val() {
            self.opened.d.next = 0.into();
        }
    }
}
