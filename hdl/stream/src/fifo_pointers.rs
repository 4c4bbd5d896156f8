//! The pointers of a first-in first-out buffer, and whether it is empty or full.
//!
//! ```text
//!  write, read ──► write pointer, read pointer ──► has_message, has_room (registers)
//! ```
//! | port | direction | meaning |
//! |---|---|---|
//! | write | in | a message is stored at `write_pointer`; only while `has_room` |
//! | read | in | the message at `read_pointer` leaves; only while `has_message` |
//! | write_pointer, read_pointer | out | places, with one wrap bit above the address |
//! | has_message, has_room | out | whether it holds any message, whether fewer than 2^(P - 1) |
//!
//! Timing: all outputs are registers; what a cycle writes or reads shows in the next.
//!
//! Invariants:
//! 1. `write_pointer - read_pointer` is the number of messages held, 0 to 2^(P - 1).
//! 2. While `reset` lasts it holds nothing and has no room: what is offered meanwhile is not taken.
//!    It has room again in the second cycle behind the reset, and in the second one at power-up.

use block_default::BlockDefault;
use rust_hdl_core::prelude::*;
use rust_hdl_macros::{hdl_gen, LogicBlock};
use rust_hdl_widgets::dff::DFF;
use rust_hdl_widgets::dff_setup;

/// Whether one step more of `from` brings it to `to`, or to where `to` is a lap later, without a
/// chain of carries: a bit differs if it is the lowest, or the one below differs and is set in
/// `from`.
#[derive(LogicBlock, BlockDefault)]
pub struct StepMeets<const P: usize> {
    /// The pointer that would step.
    pub from: Signal<In, Bits<P>>,
    /// The one that it would meet.
    pub to: Signal<In, Bits<P>>,
    /// `from + 1 == to`, or `to` and a lap of 2^(P - 1), modulo 2^P.
    pub meets: Signal<Out, Bit>,

    differ: Signal<Local, Bits<P>>,
    carried: Signal<Local, Bits<P>>,
    #[value(0)]
    lap: Constant<Bits<P>>,
    #[value(1)]
    one: Constant<Bits<P>>,
}

impl<const P: usize> StepMeets<P> {
    /// Meets `to` where it is a lap later.
    pub fn a_lap_later() -> Self {
        Self {
            lap: Constant::new((1u64 << (P - 1)).to_bits()),
            ..Self::default()
        }
    }
}

impl<const P: usize> Logic for StepMeets<P> {
    #[hdl_gen]
    fn update(&mut self) {
        self.differ.next = self.from.val() ^ self.to.val() ^ self.lap.val();
        self.carried.next = (self.differ.val() & self.from.val()) << 1;
        self.meets.next = self.differ.val() == (self.carried.val() | self.one.val());
    }
}

/// Whether two pointers are at the same place. A block of its own, so that tools find the answer
/// before what it is chosen by.
#[derive(LogicBlock, Default)]
pub struct SamePlace<const P: usize> {
    /// A pointer.
    pub one: Signal<In, Bits<P>>,
    /// Another.
    pub other: Signal<In, Bits<P>>,
    /// They are equal.
    pub same: Signal<Out, Bit>,
}

impl<const P: usize> Logic for SamePlace<P> {
    #[hdl_gen]
    fn update(&mut self) {
        self.same.next = self.one.val() == self.other.val();
    }
}

/// The pointers. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct FifoPointers<const P: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Forgets all messages.
    pub reset: Signal<In, Bit>,

    /// A message is stored.
    pub write: Signal<In, Bit>,
    /// A message leaves.
    pub read: Signal<In, Bit>,
    /// Where the next message goes.
    pub write_pointer: Signal<Out, Bits<P>>,
    /// Where the oldest message is.
    pub read_pointer: Signal<Out, Bits<P>>,
    /// There is a message.
    pub has_message: Signal<Out, Bit>,
    /// There is room for a message.
    pub has_room: Signal<Out, Bit>,

    written: DFF<Bits<P>>,
    taken: DFF<Bits<P>>,
    holds: DFF<Bit>,
    room: DFF<Bit>,
    empties: StepMeets<P>,
    #[value(StepMeets::a_lap_later())]
    fills: StepMeets<P>,

    #[value(1)]
    one: Constant<Bits<P>>,
    #[value(0)]
    zero: Constant<Bits<P>>,
}

impl<const P: usize> Logic for FifoPointers<P> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, written, taken, holds, room);
        self.write_pointer.next = self.written.q.val();
        self.read_pointer.next = self.taken.q.val();
        self.has_message.next = self.holds.q.val();
        self.has_room.next = self.room.q.val();

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
        // No room and no message is what a reset leaves: over in the cycle behind it.
        self.room.d.next = self.read.val()
            | ((self.room.q.val() | !self.holds.q.val())
                & !(self.write.val() & self.fills.meets.val()));
        if self.reset.val() {
            self.written.d.next = self.zero.val();
            self.taken.d.next = self.zero.val();
            self.holds.d.next = false;
            self.room.d.next = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_meets_exactly_the_next_value() {
        for (mut dut, lap) in [(StepMeets::default(), 0), (StepMeets::a_lap_later(), 16)] {
            let dut: &mut StepMeets<5> = &mut dut;
            dut.connect_all();
            check_all(dut).unwrap();
            for from in 0..32u64 {
                for to in 0..32u64 {
                    dut.from.next = from.to_bits();
                    dut.to.next = to.to_bits();
                    assert!(simulate(dut, 10));
                    assert_eq!(dut.meets.val(), (from + 1 + lap) % 32 == to, "{from} {to}");
                }
            }
        }
    }

    #[test]
    fn nothing_is_taken_while_a_reset_lasts() {
        let mut dut = FifoPointers::<3>::default();
        dut.connect_all();
        check_all(&dut).unwrap();
        let mut room = Vec::new();
        for cycle in 0..12u32 {
            dut.clock.next = Clock { clk: false };
            dut.reset.next = (3..7).contains(&cycle);
            assert!(simulate(&mut dut, 20));
            dut.write.next = dut.has_room.val();
            dut.read.next = false;
            assert!(simulate(&mut dut, 20));
            room.push(dut.has_room.val());
            dut.clock.next = Clock { clk: true };
            assert!(simulate(&mut dut, 20));
        }
        // Two are held when the reset begins; behind it four are stored in four cycles.
        let none = |cycle: &usize| !room[*cycle];
        assert_eq!(Vec::from_iter((0..12).filter(none)), [0, 4, 5, 6, 7]);
        assert_eq!(dut.write_pointer.val().to_u32(), 4);
        assert!(!dut.has_room.val() && dut.has_message.val());
    }
}
