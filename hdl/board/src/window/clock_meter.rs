//! Measures a clock: counts its cycles while another clock makes a known number.
//!
//! ```text
//!   measured: count to 8 ──► a level that changes every 8 cycles ──► synchronizer
//!   clock:                                      changes in an interval x 8 ──► kilohertz
//! ```
//! Timing: `kilohertz` changes with `tick`, once in 1 ms.
//!
//! Invariants:
//! 1. One bit crosses, from a register, through two flip-flops.
//! 2. Right for a clock up to four times `clock`; a standing clock shows 0.

use stream::prelude::*;

/// The meter. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct ClockMeter {
    /// Clock of the interval.
    pub clock: Signal<In, Clock>,
    /// Clock to measure.
    pub measured: Signal<In, Clock>,
    /// An interval of 1 ms ends and the next one begins.
    pub tick: Signal<In, Bit>,
    /// Frequency in kHz, in steps of 8 kHz.
    pub kilohertz: Signal<Out, Bits<32>>,

    cycles: DFF<Bits<4>>,
    turn: DFF<Bits<1>>,
    level: Synchronizer<Bits<1>>,
    last: DFF<Bits<1>>,
    changes: DFF<Bits<18>>,
    found: DFF<Bits<18>>,
    #[value(1)]
    one: Constant<Bits<4>>,
    #[value(1)]
    one_change: Constant<Bits<18>>,
}

impl Logic for ClockMeter {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, measured, cycles, turn);
        dff_setup!(self, clock, last, changes, found);
        clock!(self, clock, level);
        self.cycles.d.next = self.cycles.q.val() + self.one.val();
        self.turn.d.next = self.cycles.q.val().get_bits::<1>(3);
        self.level.d.next = self.turn.q.val();
        self.last.d.next = self.level.q.val();
        if self.level.q.val() != self.last.q.val() {
            self.changes.d.next = self.changes.q.val() + self.one_change.val();
        }
        if self.tick.val() {
            self.found.d.next = self.changes.q.val();
            self.changes.d.next = 0.into();
        }
        self.kilohertz.next = bit_cast::<32, 18>(self.found.q.val()) << 3;
    }
}
