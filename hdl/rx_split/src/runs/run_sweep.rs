//! Ends the runs of an owner before a confirmation that ends them all: one place after the other.
//!
//! ```text
//!  wanted ─► wait until nothing is under way ─► places 0 to 31 ─► done: the confirmation may go
//!  due (timer) ────────────────────────────────────┴─► run_end
//! ```
//! Timing: eight cycles of waiting, one for each place and two more for each open one.
//!
//! Invariants:
//! 1. A confirmation that is held goes on when every run that was open as it came was asked to end.
//! 2. Nothing opens meanwhile: it relies on packets that wait behind the confirmation.

use crate::runs::messages::RunEnd;
use stream::prelude::*;

/// The sweep. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct RunSweep {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch: no sweep is under way.
    pub reset: Signal<In, Bit>,

    /// Runs can be open at all.
    pub active: Signal<In, Bit>,
    /// The item offered is a confirmation that ends all runs of its owner.
    pub wanted: Signal<In, Bit>,
    /// Owner of that confirmation.
    pub owner: Signal<In, Bits<8>>,
    /// An item was granted in the cycle before.
    pub granted: Signal<In, Bit>,
    /// The confirmation was granted in the cycle before; none is granted now.
    pub done: Signal<In, Bit>,
    /// Open places, one bit each.
    pub open_places: Signal<In, Bits<32>>,
    /// A confirmation that ends all runs of its owner need not wait; from a register.
    pub swept: Signal<Out, Bit>,
    /// A run whose time is over.
    pub due: MessageSink<RunEnd>,
    /// Runs that end.
    pub run_end: MessageSource<RunEnd>,

    quiet: DFF<Bits<3>>,
    sweeps: DFF<Bit>,
    place: DFF<Bits<6>>,
    is_swept: DFF<Bit>,

    at: Signal<Local, Bits<5>>,
    looks: Signal<Local, Bit>,
    asks: Signal<Local, Bit>,
    #[value(1)]
    one: Constant<Bits<3>>,
    #[value(1)]
    one_place: Constant<Bits<6>>,
}

impl Logic for RunSweep {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, quiet, sweeps, place, is_swept);
        self.swept.next = self.is_swept.q.val();
        if !self.quiet.q.val().all() {
            self.quiet.d.next = self.quiet.q.val() + self.one.val();
        }
        if self.granted.val() {
            self.quiet.d.next = 0.into();
        }

        self.at.next = self.place.q.val().get_bits::<5>(0);
        self.looks.next = self.sweeps.q.val() & !self.place.q.val().get_bit(5);
        self.asks.next = self.looks.val() & self.open_places.val().get_bit(self.at.val().index());
        self.run_end.valid.next = self.asks.val();
        self.run_end.payload.next.place = self.at.val();
        self.run_end.payload.next.owner = self.owner.val();
        self.run_end.payload.next.sweeps = true;
        self.due.ready.next = false;
        if !self.sweeps.q.val() {
            self.run_end.valid.next = self.due.valid.val();
            self.run_end.payload.next = self.due.payload.val();
            self.due.ready.next = self.run_end.ready.val();
        }

        if self.wanted.val() & self.quiet.q.val().all() & !self.is_swept.q.val() {
            self.sweeps.d.next = true;
        }
        if self.looks.val() & (!self.asks.val() | self.run_end.ready.val()) {
            self.place.d.next = self.place.q.val() + self.one_place.val();
        }
        self.is_swept.d.next =
            (self.place.q.val().get_bit(5) | !self.active.val()) & !self.done.val();
        if self.done.val() | self.reset.val() {
            self.sweeps.d.next = false;
            self.place.d.next = 0.into();
        }
    }
}
