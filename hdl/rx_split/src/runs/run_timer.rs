//! Ends runs by time: looks at one place per cycle.
//!
//! ```text
//!  scan ─► [age of the place's run] ─► open and too old? ─► due
//! ```
//! Timing: each place is looked at every 32 cycles; a run is due two cycles after its look.
//!
//! Invariants:
//! 1. One run is due at a time. The place may be of a newer run by then, which then ends early.

use crate::runs::messages::RunEnd;
use stream::prelude::*;

/// The timer. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct RunTimer {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch: nothing is due.
    pub reset: Signal<In, Bit>,

    /// A run opens.
    pub opens: Signal<In, Bit>,
    /// Its place.
    pub place: Signal<In, Bits<5>>,
    /// Open places, one bit each.
    pub open_places: Signal<In, Bits<32>>,
    /// Longest time that a run is open, cycles.
    pub cycles: Signal<In, Bits<16>>,
    /// A run whose time is over.
    pub due: MessageSource<RunEnd>,

    now: DFF<Bits<17>>,
    scan: DFF<Bits<5>>,
    since: LutRam<Bits<17>, 5>,
    looked: DFF<Bits<5>>,
    age: DFF<Bits<17>>,
    is_due: DFF<Bit>,
    due_place: DFF<Bits<5>>,

    is_over: Signal<Local, Bit>,
    taken: Signal<Local, Bit>,
    #[value(1)]
    one: Constant<Bits<17>>,
    #[value(1)]
    one_place: Constant<Bits<5>>,
}

impl Logic for RunTimer {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, now, scan, looked, age, is_due, due_place);
        clock!(self, clock, since);
        self.now.d.next = self.now.q.val() + self.one.val();
        self.scan.d.next = self.scan.q.val() + self.one_place.val();
        self.since.write_address.next = self.place.val();
        self.since.write_data.next = self.now.q.val();
        self.since.write_enable.next = self.opens.val();
        self.since.read_address.next = self.scan.q.val();
        self.looked.d.next = self.scan.q.val();
        self.age.d.next = self.now.q.val() - self.since.read_data.val();

        self.is_over.next = self.open_places.val().get_bit(self.looked.q.val().index())
            & (self.age.q.val() >= bit_cast::<17, 16>(self.cycles.val()));
        self.taken.next = self.is_due.q.val() & self.due.ready.val();
        self.is_due.d.next = self.is_due.q.val() & !self.taken.val();
        if !self.is_due.q.val() {
            self.is_due.d.next = self.is_over.val();
            self.due_place.d.next = self.looked.q.val();
        }
        if self.reset.val() {
            self.is_due.d.next = false;
        }
        self.due.valid.next = self.is_due.q.val();
        self.due.payload.next.place = self.due_place.q.val();
        self.due.payload.next.owner = 0.into();
        self.due.payload.next.sweeps = false;
    }
}
