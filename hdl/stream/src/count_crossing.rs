//! A clock crossing for events: each becomes one pulse of the other clock, a little later.
//!
//! ```text
//!  write_clock │                        │ read_clock
//!   occurs ──► count ── ValueCrossing ──► latest = shown? ── no: pulse, shown + 1
//! ```
//! Timing: a pulse comes about eight cycles of the slower clock after its event, then one each
//! cycle of `read_clock`.
//!
//! Invariants:
//! 1. As many pulses as events, if fewer than 256 of them are on their way: none is lost while
//!    events come no faster, on average, than `read_clock` ticks.
//! 2. While a clock stands nothing is lost; the events before it show when it runs again.
//! 3. There is no reset.

use crate::value_crossing::ValueCrossing;
use block_default::BlockDefault;
use rust_hdl_core::prelude::*;
use rust_hdl_macros::{hdl_gen, LogicBlock};
use rust_hdl_widgets::dff::DFF;
use rust_hdl_widgets::dff_setup;

/// The crossing. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct CountCrossing {
    /// Clock of `occurs`.
    pub write_clock: Signal<In, Clock>,
    /// Clock of `pulse`.
    pub read_clock: Signal<In, Clock>,
    /// An event, in `write_clock`: one for each cycle in which it is high.
    pub occurs: Signal<In, Bit>,
    /// One cycle of `read_clock` for each event.
    pub pulse: Signal<Out, Bit>,

    count: DFF<Bits<8>>,
    shown: DFF<Bits<8>>,
    crossing: ValueCrossing<Bits<8>>,

    is_behind: Signal<Local, Bit>,
    #[value(1)]
    one: Constant<Bits<8>>,
}

impl Logic for CountCrossing {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, write_clock, count);
        dff_setup!(self, read_clock, shown);
        self.crossing.write_clock.next = self.write_clock.val();
        self.crossing.read_clock.next = self.read_clock.val();
        self.crossing.value.next = self.count.q.val();
        if self.occurs.val() {
            self.count.d.next = self.count.q.val() + self.one.val();
        }
        self.is_behind.next = self.crossing.latest.val() != self.shown.q.val();
        if self.is_behind.val() {
            self.shown.d.next = self.shown.q.val() + self.one.val();
        }
        self.pulse.next = self.is_behind.val();
    }
}
