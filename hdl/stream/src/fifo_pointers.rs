//! The pointers of a first-in first-out buffer, and whether it is empty or full.
//!
//! ```text
//!  write, read ──► write pointer, read pointer ──► has_message, has_space (registers)
//! ```
//! Timing: all outputs are registers; what a cycle writes or reads shows in the next.
//!
//! Invariants:
//! 1. `write_pointer - read_pointer` is the number of messages held, 0 to 2^(POINTER_BITS - 1).
//! 2. While `reset` lasts it holds nothing and has no space: what is offered meanwhile is not
//!    taken. It has space again in the second cycle after the reset, and in the second one at
//!    power-up.

use block_default::BlockDefault;
use rust_hdl_core::prelude::*;
use rust_hdl_macros::{hdl_gen, LogicBlock};
use rust_hdl_widgets::dff::DFF;
use rust_hdl_widgets::dff_setup;

/// Whether one step of `from` brings it to `to`, or to `to` with its wrap bit inverted, without a
/// chain of carries: a bit differs if it is the lowest, or if the one below differs and is set in
/// `from`. Combinational.
#[derive(LogicBlock, BlockDefault)]
pub struct StepMeets<const POINTER_BITS: usize> {
    /// The pointer that would step.
    pub from: Signal<In, Bits<POINTER_BITS>>,
    /// The pointer that it would meet.
    pub to: Signal<In, Bits<POINTER_BITS>>,
    /// `from + 1` equals `to`, or `to` with its wrap bit inverted: `to + 2^(POINTER_BITS - 1)`,
    /// modulo 2^POINTER_BITS.
    pub meets: Signal<Out, Bit>,

    differ: Signal<Local, Bits<POINTER_BITS>>,
    carried: Signal<Local, Bits<POINTER_BITS>>,
    #[value(0)]
    lap: Constant<Bits<POINTER_BITS>>,
    #[value(1)]
    one: Constant<Bits<POINTER_BITS>>,
}

impl<const POINTER_BITS: usize> StepMeets<POINTER_BITS> {
    /// Meets `to` with its wrap bit inverted: one full buffer later.
    pub fn a_lap_later() -> Self {
        Self { lap: Constant::new((1u64 << (POINTER_BITS - 1)).to_bits()), ..Self::default() }
    }
}

impl<const POINTER_BITS: usize> Logic for StepMeets<POINTER_BITS> {
    #[hdl_gen]
    fn update(&mut self) {
        self.differ.next = self.from.val() ^ self.to.val() ^ self.lap.val();
        self.carried.next = (self.differ.val() & self.from.val()) << 1;
        self.meets.next = self.differ.val() == (self.carried.val() | self.one.val());
    }
}

/// Whether two pointers are equal. A block of its own, so that tools compute the comparison before
/// what it is chosen by. Combinational.
#[derive(LogicBlock, Default)]
pub struct SamePlace<const POINTER_BITS: usize> {
    /// A pointer.
    pub one: Signal<In, Bits<POINTER_BITS>>,
    /// Another pointer.
    pub other: Signal<In, Bits<POINTER_BITS>>,
    /// The pointers are equal.
    pub same: Signal<Out, Bit>,
}

impl<const POINTER_BITS: usize> Logic for SamePlace<POINTER_BITS> {
    #[hdl_gen]
    fn update(&mut self) {
        self.same.next = self.one.val() == self.other.val();
    }
}

/// The pointers. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct FifoPointers<const POINTER_BITS: usize> {
    /// Clock of both sides.
    pub clock: Signal<In, Clock>,
    /// Removes all messages and sets both pointers to 0.
    pub reset: Signal<In, Bit>,

    /// A message is stored at `write_pointer`; only while `has_space` is high.
    pub write: Signal<In, Bit>,
    /// The message at `read_pointer` leaves; only while `has_message` is high.
    pub read: Signal<In, Bit>,
    /// Place of the next message, with one wrap bit above the address.
    pub write_pointer: Signal<Out, Bits<POINTER_BITS>>,
    /// Place of the oldest message, with one wrap bit above the address.
    pub read_pointer: Signal<Out, Bits<POINTER_BITS>>,
    /// There is a message.
    pub has_message: Signal<Out, Bit>,
    /// Fewer than 2^(POINTER_BITS - 1) messages are held.
    pub has_space: Signal<Out, Bit>,

    written: DFF<Bits<POINTER_BITS>>,
    taken: DFF<Bits<POINTER_BITS>>,
    holds: DFF<Bit>,
    space: DFF<Bit>,
    empties: StepMeets<POINTER_BITS>,
    #[value(StepMeets::a_lap_later())]
    fills: StepMeets<POINTER_BITS>,

    #[value(1)]
    one: Constant<Bits<POINTER_BITS>>,
}

impl<const POINTER_BITS: usize> Logic for FifoPointers<POINTER_BITS> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, written, taken, holds, space);
        self.write_pointer.next = self.written.q.val();
        self.read_pointer.next = self.taken.q.val();
        self.has_message.next = self.holds.q.val();
        self.has_space.next = self.space.q.val();

        self.empties.from.next = self.taken.q.val();
        self.empties.to.next = self.written.q.val();
        self.fills.from.next = self.written.q.val();
        self.fills.to.next = self.taken.q.val();
        if self.read.val() {
            self.taken.d.next = self.taken.q.val() + self.one.val();
        }
        if self.write.val() {
            self.written.d.next = self.written.q.val() + self.one.val();
        }
        self.holds.d.next =
            self.write.val() | (self.holds.q.val() & !(self.read.val() & self.empties.meets.val()));
        // A reset leaves neither space nor a message: that ends in the cycle after it.
        self.space.d.next = self.read.val()
            | ((self.space.q.val() | !self.holds.q.val())
                & !(self.write.val() & self.fills.meets.val()));
        if self.reset.val() {
            self.written.d.next = 0.into();
            self.taken.d.next = 0.into();
            self.holds.d.next = false;
            self.space.d.next = false;
        }
    }
}
