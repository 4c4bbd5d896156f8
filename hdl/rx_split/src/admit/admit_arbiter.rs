//! Chooses whether a packet or the event of a failed send is admitted next.
//!
//! ```text
//!  packets ─────┐
//!  send_event ──┼─► one every other cycle ──► item
//!  run_end ─────┘
//! ```
//! Timing: combinational from registers and `packets`; whether an event is next is decided a cycle
//! before, and never for the cycle after an item, so that only `has_space` holds an event back.
//!
//! Invariants:
//! 1. Items are never granted in two consecutive cycles, nor without `has_space`.
//! 2. Waiting packets are granted before an event until [`EVENT_CYCLES`] have passed since the last
//!    event: then the event is granted with the next `has_space`, however slowly packets leave.
//! 3. The end of a run goes before packets and events: there are no more of them than packets.
//! 4. A confirmation that ends all runs of its owner waits for `is_swept`, and what is behind it
//!    too.

use crate::messages::{RxItem, RxItemKind, WalkOutcome};
use crate::runs::messages::RunEnd;
use stream::prelude::*;

/// Cycles in which packets are granted before an event: it takes one item of 17, so that packets
/// are left 117 million per second, more than the 100 million entries that can leave the card.
pub const EVENT_CYCLES: usize = 31;

// All ones of the counter below.
const _: () = assert!(EVENT_CYCLES == (1 << 5) - 1);

/// An item that is admitted.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct Candidate {
    /// The packet, event, confirmation or release.
    pub packet: RxItem,
    /// What the packet's walk found.
    pub outcome: WalkOutcome,
}

/// The arbiter. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct AdmitArbiter {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch: nothing is granted.
    pub reset: Signal<In, Bit>,

    /// Packets, confirmations and releases in order.
    pub packets: MessageSink<RxItem>,
    /// What the walk of the packet offered found.
    pub outcome: Signal<In, WalkOutcome>,
    /// Events of failed sends.
    pub send_event: MessageSink<SendEvent>,
    /// Runs that end without a packet.
    pub run_end: MessageSink<RunEnd>,
    /// A confirmation that ends all runs of its owner need not wait.
    pub is_swept: Signal<In, Bit>,
    /// The stages after the arbiter have space for one item more.
    pub has_space: Signal<In, Bit>,
    /// The item that is admitted.
    pub item: PulseSource<Candidate>,

    pause: DFF<Bit>,
    event_next: DFF<Bit>,
    waited: DFF<Bits<5>>,
    event_due: DFF<Bit>,
    run_next: DFF<Bit>,

    may: Signal<Local, Bit>,
    take_event: Signal<Local, Bit>,
    take_run: Signal<Local, Bit>,
    run_item: Signal<Local, RxItem>,
    offered: Signal<Local, RxItem>,
    holds: Signal<Local, Bit>,
    may_packet: Signal<Local, Bit>,
    take_packet: Signal<Local, Bit>,
    granted: Signal<Local, Bit>,
    event_packet: Signal<Local, RxItem>,
    #[value(RxItem::default())]
    none: Constant<RxItem>,
    #[value(1)]
    one: Constant<Bits<5>>,
}

impl Logic for AdmitArbiter {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, pause, event_next, waited, event_due, run_next);
        self.may.next = self.has_space.val() & !self.pause.q.val() & !self.reset.val();
        self.take_event.next = self.has_space.val() & self.event_next.q.val() & !self.reset.val();
        self.take_run.next = self.has_space.val() & self.run_next.q.val() & !self.reset.val();
        self.offered.next = self.packets.payload.val();
        self.holds.next = self.offered.val().sweeps & !self.is_swept.val();
        self.may_packet.next =
            self.may.val() & !self.event_next.q.val() & !self.run_next.q.val() & !self.holds.val();
        self.take_packet.next = self.may_packet.val() & self.packets.valid.val();
        self.packets.ready.next = self.may_packet.val();
        self.send_event.ready.next = self.take_event.val();
        self.run_end.ready.next = self.take_run.val();
        self.granted.next = self.take_event.val() | self.take_packet.val() | self.take_run.val();
        self.pause.d.next = self.granted.val();

        self.run_next.d.next = self.run_end.valid.val()
            & !self.event_next.q.val()
            & !self.granted.val()
            & !self.reset.val();
        self.event_next.d.next = self.send_event.valid.val()
            & (self.event_due.q.val() | !self.packets.valid.val())
            & !self.run_end.valid.val()
            & !self.run_next.q.val()
            & !self.granted.val()
            & !self.reset.val();
        self.event_due.d.next =
            self.waited.q.val().all() & !self.take_event.val() & !self.reset.val();
        if !self.waited.q.val().all() {
            self.waited.d.next = self.waited.q.val() + self.one.val();
        }
        if self.take_event.val() | self.reset.val() {
            self.waited.d.next = 0.into();
        }

        self.event_packet.next = self.none.val();
        self.event_packet.next.kind = RxItemKind::Event;
        self.event_packet.next.owner = self.send_event.payload.val().owner;
        self.event_packet.next.flow = self.send_event.payload.val().flow;
        self.event_packet.next.generation = self.send_event.payload.val().generation;
        self.event_packet.next.position = self.send_event.payload.val().position;
        self.event_packet.next.disposition = bit_cast::<4, 3>(self.send_event.payload.val().error);
        self.run_item.next = self.none.val();
        self.run_item.next.kind = RxItemKind::Run;
        self.run_item.next.flow = bit_cast::<16, 5>(self.run_end.payload.val().place);
        self.run_item.next.owner = self.run_end.payload.val().owner;
        self.run_item.next.sweeps = self.run_end.payload.val().sweeps;
        self.item.valid.next = self.granted.val();
        self.item.payload.next.outcome = self.outcome.val();
        self.item.payload.next.packet = self.packets.payload.val();
        if self.event_next.q.val() {
            self.item.payload.next.packet = self.event_packet.val();
        }
        if self.run_next.q.val() {
            self.item.payload.next.packet = self.run_item.val();
        }
    }
}
