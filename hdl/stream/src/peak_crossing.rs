//! A clock crossing for a level that changes every cycle: the other side sees its highest values, a
//! little later, and misses none.
//!
//! ```text
//!  write_clock │                                  │ read_clock
//!   level ──► [highest since the last taken] ─────┼── ValueCrossing ──► peak
//!                        ▲ taken: starts again    │
//! ```
//! Timing: a level shows after about eight cycles of the slower clock.
//!
//! Invariants:
//! 1. The intervals follow each other without a gap: the highest of all values of `peak` is the
//!    highest value of `level`.
//! 2. `peak` is always a value that `level` had in its interval: while `level` does not change,
//!    both are equal.

use crate::value_crossing::ValueCrossing;
use rust_hdl_core::prelude::*;
use rust_hdl_macros::{hdl_gen, LogicBlock};
use rust_hdl_widgets::dff::DFF;
use rust_hdl_widgets::dff_setup;

/// The crossing. See the module's head.
#[derive(LogicBlock, Default)]
pub struct PeakCrossing {
    /// Clock of `level`.
    pub write_clock: Signal<In, Clock>,
    /// Clock of `peak`.
    pub read_clock: Signal<In, Clock>,
    /// The level, in `write_clock`.
    pub level: Signal<In, Bits<16>>,
    /// The highest value of the level in an interval, in `read_clock`.
    pub peak: Signal<Out, Bits<16>>,

    highest: DFF<Bits<16>>,
    crossing: ValueCrossing<Bits<16>>,
}

impl Logic for PeakCrossing {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, write_clock, highest);
        self.crossing.write_clock.next = self.write_clock.val();
        self.crossing.read_clock.next = self.read_clock.val();
        self.crossing.value.next = self.highest.q.val();
        // What was the highest leaves; the level of this cycle is the first of the next interval.
        if self.crossing.taken.val() | (self.level.val() > self.highest.q.val()) {
            self.highest.d.next = self.level.val();
        }
        self.peak.next = self.crossing.latest.val();
    }
}
