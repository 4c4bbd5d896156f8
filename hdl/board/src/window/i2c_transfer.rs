//! One access of a device on an I2C bus, symbol by symbol.
//!
//! ```text
//!   short:  start, device+w, place, stop
//!   write:  start, device+w, place, data, stop
//!   read:   start, device+w, place, start, device+r, value, stop
//! ```
//! Timing: 9 bits a byte at 100 kHz: up to 0.4 ms.
//!
//! Invariants:
//! 1. Every access ends with a stop.
//! 2. A byte that is not acknowledged is followed by the stop.
//!
//! On error: `no_answer`, with `ends`: a byte was not acknowledged, or SCL was held for too long.
//!
//! Source: UM10204 (I2C); SFF-8636 (random read and byte write of a QSFP module).

use crate::window::i2c_bit::{I2cBit, I2cLines, BIT, START, STOP};
use stream::prelude::*;

/// What is sent next.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum Step {
    /// Nothing.
    Idle,
    /// Start.
    Start,
    /// Device, to be written.
    Device,
    /// Place in the device.
    Place,
    /// Byte to write.
    Data,
    /// Second start.
    Again,
    /// Device, to be read.
    DeviceRead,
    /// Byte read.
    Value,
    /// Stop.
    Stop,
}

/// The block. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct I2cTransfer {
    /// Clock of the block, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// An access begins, for one cycle; not while `busy` is high.
    pub begins: Signal<In, Bit>,
    /// Device, seven bits.
    pub device: Signal<In, Bits<7>>,
    /// The access reads.
    pub reads: Signal<In, Bit>,
    /// Nothing follows the place.
    pub is_short: Signal<In, Bit>,
    /// Place in the device.
    pub place: Signal<In, Bits<8>>,
    /// Byte to write.
    pub data: Signal<In, Bits<8>>,
    /// An access runs: all inputs must stand.
    pub busy: Signal<Out, Bit>,
    /// The access ends, for one cycle.
    pub ends: Signal<Out, Bit>,
    /// It was not acknowledged.
    pub no_answer: Signal<Out, Bit>,
    /// Byte read.
    pub value: Signal<Out, Bits<8>>,
    /// The lines.
    pub lines: I2cLines,

    line: I2cBit,
    step: DFF<Step>,
    count: DFF<Bits<4>>,
    moved: DFF<Bits<8>>,
    missed: DFF<Bit>,

    is_start: Signal<Local, Bit>,
    is_byte: Signal<Local, Bit>,
    is_ack: Signal<Local, Bit>,
    write_byte: Signal<Local, Bits<8>>,
    #[value(1)]
    read_bit: Constant<Bits<8>>,
    #[value(1)]
    one: Constant<Bits<4>>,
    #[value(START)]
    start: Constant<Bits<2>>,
    #[value(STOP)]
    stop: Constant<Bits<2>>,
    #[value(BIT)]
    a_bit: Constant<Bits<2>>,
}

impl Logic for I2cTransfer {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, step, count, moved, missed);
        clock!(self, clock, line);
        I2cLines::link(&mut self.lines, &mut self.line.lines);
        self.line.clear.next = self.begins.val();
        self.is_ack.next = self.count.q.val() == bits::<4>(8);
        self.is_start.next =
            (self.step.q.val() == Step::Start) | (self.step.q.val() == Step::Again);
        self.is_byte.next = !self.is_start.val() & (self.step.q.val() != Step::Stop);
        self.write_byte.next = bit_cast::<8, 7>(self.device.val()) << 1;
        self.busy.next = self.step.q.val() != Step::Idle;
        self.line.go.next = self.step.q.val() != Step::Idle;
        self.line.symbol.next = self.a_bit.val();
        if self.is_start.val() {
            self.line.symbol.next = self.start.val();
        } else if self.step.q.val() == Step::Stop {
            self.line.symbol.next = self.stop.val();
        }
        self.line.value.next =
            self.is_ack.val() | (self.step.q.val() == Step::Value) | self.moved.q.val().get_bit(7);
        self.no_answer.next = self.missed.q.val() | self.line.stuck.val();
        self.value.next = self.moved.q.val();
        self.ends.next = self.line.done.val() & (self.step.q.val() == Step::Stop);

        if self.begins.val() {
            self.step.d.next = Step::Start;
            self.missed.d.next = false;
        } else if self.line.done.val() & self.line.stuck.val() & !self.ends.val() {
            self.count.d.next = 0.into();
            self.step.d.next = Step::Stop;
        } else if self.line.done.val() & self.is_byte.val() & !self.is_ack.val() {
            self.count.d.next = self.count.q.val() + self.one.val();
            self.moved.d.next =
                (self.moved.q.val() << 1) | bit_cast::<8, 1>(self.line.sampled.val().into());
        } else if self.line.done.val() {
            self.count.d.next = 0.into();
            match self.step.q.val() {
                Step::Start => {
                    self.step.d.next = Step::Device;
                    self.moved.d.next = self.write_byte.val();
                }
                Step::Device => {
                    self.step.d.next = Step::Place;
                    self.moved.d.next = self.place.val();
                }
                Step::Place => {
                    self.step.d.next = Step::Data;
                    self.moved.d.next = self.data.val();
                    if self.is_short.val() {
                        self.step.d.next = Step::Stop;
                    } else if self.reads.val() {
                        self.step.d.next = Step::Again;
                    }
                }
                Step::Again => {
                    self.step.d.next = Step::DeviceRead;
                    self.moved.d.next = self.write_byte.val() | self.read_bit.val();
                }
                Step::DeviceRead => self.step.d.next = Step::Value,
                Step::Stop => self.step.d.next = Step::Idle,
                _ => self.step.d.next = Step::Stop,
            }
            if self.is_byte.val() & self.line.sampled.val() & (self.step.q.val() != Step::Value) {
                self.missed.d.next = true;
                self.step.d.next = Step::Stop;
            }
        }
    }
}
