//! What becomes of an item and of the run at its place.
//!
//! Timing: combinational.
//!
//! Invariants:
//! 1. At most one of `opens` and `joins` holds.
//! 2. `ends` is the end of the run that was open: before the item or with it.
//!
//! Source: docs/specification.md, Runs.

use crate::messages::{PlanItem, RxItemKind};
use crate::runs::messages::{RunFacts, RunMatch};
use abi::reason::Disposition;
use stream::prelude::*;

/// The judge. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct RunJudge {
    /// There is an item.
    pub valid: Signal<In, Bit>,
    /// The item as decided.
    pub item: Signal<In, PlanItem>,
    /// Facts of its headers, if it is a packet.
    pub facts: Signal<In, RunFacts>,
    /// How it compares with the run.
    pub compared: Signal<In, RunMatch>,
    /// Runs may open.
    pub may_open: Signal<In, Bit>,

    /// The item opens a run.
    pub opens: Signal<Out, Bit>,
    /// The item joins the run.
    pub joins: Signal<Out, Bit>,
    /// The run ends before the item.
    pub ends_before: Signal<Out, Bit>,
    /// The run ends with the item.
    pub ends_with: Signal<Out, Bit>,
    /// The run ends.
    pub ends: Signal<Out, Bit>,
    /// The item makes a plan of its own.
    pub own: Signal<Out, Bit>,
    /// The run ends for a packet that cannot join.
    pub by_packet: Signal<Out, Bit>,
    /// The run ends for a command.
    pub by_command: Signal<Out, Bit>,
    /// The run ends for its place.
    pub by_place: Signal<Out, Bit>,
    /// The run ends by the timer.
    pub by_timer: Signal<Out, Bit>,

    is_packet: Signal<Local, Bit>,
    is_run: Signal<Local, Bit>,
    own_run: Signal<Local, Bit>,
    fits: Signal<Local, Bit>,
    ascends: Signal<Local, Bit>,
    may: Signal<Local, Bit>,
    takes_in: Signal<Local, Bit>,
    starts: Signal<Local, Bit>,
    last: Signal<Local, Bit>,
    packet_end: Signal<Local, Bit>,
    command_end: Signal<Local, Bit>,
    place_end: Signal<Local, Bit>,
    timer_end: Signal<Local, Bit>,
    goes_first: Signal<Local, Bit>,
    #[value(Disposition::PlacedInOrder as u64)]
    placed_in_order: Constant<DispositionCode>,
}

impl Logic for RunJudge {
    #[hdl_gen]
    fn update(&mut self) {
        self.is_packet.next = self.valid.val()
            & (self.item.val().kind == RxItemKind::Packet)
            & self.compared.val().hit;
        self.is_run.next =
            self.valid.val() & (self.item.val().kind == RxItemKind::Run) & self.compared.val().open;
        self.own_run.next = self.compared.val().open & self.compared.val().flow;
        self.fits.next = self.compared.val().addresses
            & self.compared.val().network
            & self.compared.val().kind
            & self.compared.val().follows
            & !self.compared.val().more;
        self.ascends.next = !self.compared.val().ack_before & !self.compared.val().stamp_before;
        self.may.next = self.is_packet.val()
            & (self.item.val().disposition == self.placed_in_order.val())
            & self.compared.val().may;
        self.takes_in.next =
            self.may.val() & self.own_run.val() & self.fits.val() & self.ascends.val();
        self.starts.next =
            self.may.val() & self.may_open.val() & !self.facts.val().push & !self.takes_in.val();
        self.last.next = self.takes_in.val()
            & (self.facts.val().push | self.compared.val().less | self.compared.val().almost_full);

        self.packet_end.next = self.is_packet.val() & self.own_run.val() & !self.takes_in.val();
        self.place_end.next =
            self.starts.val() & self.compared.val().open & !self.compared.val().flow;
        self.command_end.next =
            (self.is_run.val() & self.compared.val().sweeps & self.compared.val().owner)
                | (self.valid.val()
                    & (self.item.val().kind == RxItemKind::Confirmation)
                    & self.compared.val().ends_run
                    & self.own_run.val());
        self.timer_end.next = self.is_run.val() & !self.compared.val().sweeps;
        self.goes_first.next = self.packet_end.val()
            | self.place_end.val()
            | self.command_end.val()
            | self.timer_end.val();

        self.opens.next = self.starts.val();
        self.joins.next = self.takes_in.val();
        self.ends_before.next = self.goes_first.val();
        self.ends_with.next = self.last.val();
        self.ends.next = self.goes_first.val() | self.last.val();
        self.own.next = self.valid.val() & (self.item.val().kind != RxItemKind::Run);
        self.by_packet.next = self.packet_end.val();
        self.by_command.next = self.command_end.val();
        self.by_place.next = self.place_end.val();
        self.by_timer.next = self.timer_end.val();
    }
}
