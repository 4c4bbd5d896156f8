//! One symbol of an I2C bus: a start, a stop or a bit.
//!
//! ```text
//!   phase    0       1        2       3
//!   SCL      kept    high     high    low (stop: high)
//!   start    SDA high         SDA low
//!   stop     SDA low          SDA high
//!   bit      SDA = value      sampled
//! ```
//! Timing: a phase is 625 cycles, 2.5 us: 100 kHz. Phase 1 ends when SCL is high.
//!
//! Invariants:
//! 1. Lines are driven low or not at all.
//! 2. SDA changes while SCL is high for a start and a stop only.
//!
//! On error: a device that holds SCL low for 1 ms is not waited for any longer, and `stuck` rises.
//!
//! Source: UM10204 (I2C), standard mode; SFF-8636 (a module holds SCL for 0.5 ms at most).

use stream::prelude::*;

/// Symbol: a start.
pub const START: u64 = 0;
/// Symbol: a stop.
pub const STOP: u64 = 1;
/// Symbol: a bit.
pub const BIT: u64 = 2;
/// Cycles of a phase.
pub const PHASE_CYCLES: u64 = 625;

/// Clock and data of an I2C bus.
#[derive(Clone, Debug, Default, LogicInterface)]
pub struct I2cLines {
    /// Level of SCL, in no clock.
    pub scl: Signal<In, Bit>,
    /// Level of SDA, in no clock.
    pub sda: Signal<In, Bit>,
    /// Drives SCL low.
    pub scl_low: Signal<Out, Bit>,
    /// Drives SDA low.
    pub sda_low: Signal<Out, Bit>,
}

/// The block. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct I2cBit {
    /// Clock of the block, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// A symbol is wanted; taken while `busy` is low.
    pub go: Signal<In, Bit>,
    /// Which symbol: [`START`], [`STOP`] or [`BIT`].
    pub symbol: Signal<In, Bits<2>>,
    /// Level of a bit; 1 leaves the line to the device.
    pub value: Signal<In, Bit>,
    /// A symbol is under way.
    pub busy: Signal<Out, Bit>,
    /// The symbol is complete, for one cycle; `busy` is low in the next one.
    pub done: Signal<Out, Bit>,
    /// Level of SDA in phase 2, with `done`.
    pub sampled: Signal<Out, Bit>,
    /// The device has held SCL for too long, in this symbol or before; lasts until `clear`.
    pub stuck: Signal<Out, Bit>,
    /// Forgets `stuck`.
    pub clear: Signal<In, Bit>,
    /// The lines.
    pub lines: I2cLines,

    running: DFF<Bit>,
    what: DFF<Bits<2>>,
    phase: DFF<Bits<2>>,
    cycle: DFF<Bits<10>>,
    held: DFF<Bits<12>>,
    hung: DFF<Bit>,
    seen: DFF<Bit>,
    clock_low: DFF<Bit>,
    data_low: DFF<Bit>,
    scl_level: Synchronizer<Bits<1>>,
    sda_level: Synchronizer<Bits<1>>,

    tick: Signal<Local, Bit>,
    is_high: Signal<Local, Bit>,
    gives_up: Signal<Local, Bit>,
    moves_on: Signal<Local, Bit>,
    #[value(1)]
    one: Constant<Bits<10>>,
    #[value(PHASE_CYCLES - 1)]
    last_cycle: Constant<Bits<10>>,
    #[value(1)]
    one_phase: Constant<Bits<2>>,
    #[value(1)]
    one_held: Constant<Bits<12>>,
    #[value(400)]
    held_max: Constant<Bits<12>>,
    #[value(START)]
    start: Constant<Bits<2>>,
    #[value(STOP)]
    stop: Constant<Bits<2>>,
}

impl Logic for I2cBit {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, running, what, phase, cycle, held, hung, seen);
        dff_setup!(self, clock, clock_low, data_low);
        clock!(self, clock, scl_level, sda_level);
        self.scl_level.d.next = bit_cast::<1, 1>(self.lines.scl.val().into());
        self.sda_level.d.next = bit_cast::<1, 1>(self.lines.sda.val().into());
        self.is_high.next = self.scl_level.q.val().get_bit(0);
        self.tick.next = self.running.q.val() & (self.cycle.q.val() == self.last_cycle.val());
        self.gives_up.next = self.held.q.val() == self.held_max.val();
        self.moves_on.next = self.tick.val()
            & ((self.phase.q.val() != bits::<2>(1)) | self.is_high.val() | self.gives_up.val());

        if !self.running.q.val() {
            self.cycle.d.next = 0.into();
            self.phase.d.next = 0.into();
            self.held.d.next = 0.into();
            if self.go.val() {
                self.running.d.next = true;
                self.what.d.next = self.symbol.val();
                self.data_low.d.next = !self.value.val();
                if self.symbol.val() == self.start.val() {
                    self.data_low.d.next = false;
                } else if self.symbol.val() == self.stop.val() {
                    self.data_low.d.next = true;
                }
            }
        } else {
            self.cycle.d.next = self.cycle.q.val() + self.one.val();
        }
        if self.tick.val() {
            self.cycle.d.next = 0.into();
            self.held.d.next = self.held.q.val() + self.one_held.val();
        }
        self.done.next = false;
        if self.moves_on.val() {
            self.phase.d.next = self.phase.q.val() + self.one_phase.val();
            if self.phase.q.val() == bits::<2>(0) {
                self.clock_low.d.next = false;
            } else if self.phase.q.val() == bits::<2>(1) {
                self.hung.d.next = self.hung.q.val() | !self.is_high.val();
                if self.what.q.val() == self.start.val() {
                    self.data_low.d.next = true;
                } else if self.what.q.val() == self.stop.val() {
                    self.data_low.d.next = false;
                }
            } else if self.phase.q.val() == bits::<2>(2) {
                self.seen.d.next = self.sda_level.q.val().get_bit(0);
                self.clock_low.d.next = self.what.q.val() != self.stop.val();
            } else {
                self.running.d.next = false;
                self.done.next = true;
            }
        }
        if self.clear.val() {
            self.hung.d.next = false;
        }
        self.busy.next = self.running.q.val();
        self.sampled.next = self.seen.q.val();
        self.stuck.next = self.hung.q.val();
        self.lines.scl_low.next = self.clock_low.q.val();
        self.lines.sda_low.next = self.data_low.q.val();
    }
}
