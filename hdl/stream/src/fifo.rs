//! A first-in first-out buffer of messages, 2^A deep, whose head is visible without asking.
//!
//! ```text
//!   sink ──►┌─────────────┐──► source
//!  (ready = │  2^A x T    │   (valid = not empty)
//!  not full)└─────────────┘
//! ```
//! Timing: latency one cycle, one message a cycle in and out. `source.valid` and `sink.ready` are
//! registers, `level` is the difference of two; `source.payload` is read from distributed RAM in
//! the same cycle.
//!
//! Invariants:
//! 1. Messages leave in the order they came; none is lost or repeated.
//! 2. `level` is the number of messages held, 0 to 2^A.
//! 3. `reset` empties the buffer; it holds nothing in the next cycle.
//!
//! P must be A + 1: the pointers carry one wrap bit.

use crate::memory::LutRam;
use crate::message::{MessageSink, MessageSource};
use rust_hdl_core::prelude::*;
use rust_hdl_macros::{hdl_gen, LogicBlock};
use rust_hdl_widgets::dff::DFF;
use rust_hdl_widgets::dff_setup;

/// The buffer. See the module's head.
#[derive(LogicBlock)]
pub struct Fifo<T: Synth, const A: usize, const P: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Empties the buffer.
    pub reset: Signal<In, Bit>,

    /// Messages in.
    pub sink: MessageSink<T>,
    /// Messages out.
    pub source: MessageSource<T>,
    /// Messages held.
    pub level: Signal<Out, Bits<P>>,

    memory: LutRam<T, A>,
    write_pointer: DFF<Bits<P>>,
    read_pointer: DFF<Bits<P>>,
    has_message: DFF<Bit>,
    is_full: DFF<Bit>,

    read_wrapped: Signal<Local, Bits<P>>,
    to_empty: Signal<Local, Bits<P>>,
    to_full: Signal<Local, Bits<P>>,
    empty_carry: Signal<Local, Bits<P>>,
    full_carry: Signal<Local, Bits<P>>,
    empties: Signal<Local, Bit>,
    fills: Signal<Local, Bit>,
    write_advance: Signal<Local, Bit>,
    read_advance: Signal<Local, Bit>,
    wrap: Constant<Bits<P>>,
    one: Constant<Bits<P>>,
    zero: Constant<Bits<P>>,
}

impl<T: Synth, const A: usize, const P: usize> Default for Fifo<T, A, P> {
    fn default() -> Self {
        assert_eq!(P, A + 1, "pointer width must be address width + 1");
        Self {
            clock: Default::default(),
            reset: Default::default(),
            sink: Default::default(),
            source: Default::default(),
            level: Default::default(),
            memory: Default::default(),
            write_pointer: Default::default(),
            read_pointer: Default::default(),
            has_message: Default::default(),
            is_full: Default::default(),
            read_wrapped: Default::default(),
            to_empty: Default::default(),
            to_full: Default::default(),
            empty_carry: Default::default(),
            full_carry: Default::default(),
            empties: Default::default(),
            fills: Default::default(),
            write_advance: Default::default(),
            read_advance: Default::default(),
            wrap: Constant::new((1u64 << A).to_bits()),
            one: Constant::new(1u64.to_bits()),
            zero: Constant::new(0u64.to_bits()),
        }
    }
}

impl<T: Synth, const A: usize, const P: usize> Logic for Fifo<T, A, P> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            write_pointer,
            read_pointer,
            has_message,
            is_full
        );
        self.memory.clock.next = self.clock.val();

        self.level.next = self.write_pointer.q.val() - self.read_pointer.q.val();
        self.sink.ready.next = !self.is_full.q.val();
        self.source.valid.next = self.has_message.q.val();
        self.source.payload.next = self.memory.read_data.val();
        self.write_advance.next = self.sink.valid.val() & !self.is_full.q.val();
        self.read_advance.next = self.source.ready.val() & self.has_message.q.val();

        self.memory.read_address.next = bit_cast::<A, P>(self.read_pointer.q.val());
        self.memory.write_address.next = bit_cast::<A, P>(self.write_pointer.q.val());
        self.memory.write_data.next = self.sink.payload.val();
        self.memory.write_enable.next = self.write_advance.val();

        // Would the next step of one pointer meet the other? `a + 1 == b` without a chain of
        // carries: a bit differs if it is the lowest or the one below differs and is set in `a`.
        self.to_empty.next = self.read_pointer.q.val() ^ self.write_pointer.q.val();
        self.empty_carry.next = (self.to_empty.val() & self.read_pointer.q.val()) << 1;
        self.empties.next = self.to_empty.val() == (self.empty_carry.val() | self.one.val());
        self.read_wrapped.next = self.read_pointer.q.val() ^ self.wrap.val();
        self.to_full.next = self.write_pointer.q.val() ^ self.read_wrapped.val();
        self.full_carry.next = (self.to_full.val() & self.write_pointer.q.val()) << 1;
        self.fills.next = self.to_full.val() == (self.full_carry.val() | self.one.val());
        if self.read_advance.val() {
            self.read_pointer.d.next = self.read_pointer.q.val() + self.one.val();
        }
        if self.write_advance.val() {
            self.write_pointer.d.next = self.write_pointer.q.val() + self.one.val();
        }
        self.has_message.d.next = self.write_advance.val()
            | (self.has_message.q.val() & !(self.read_advance.val() & self.empties.val()));
        self.is_full.d.next = !self.read_advance.val()
            & (self.is_full.q.val() | (self.write_advance.val() & self.fills.val()));
        if self.reset.val() {
            self.write_pointer.d.next = self.zero.val();
            self.read_pointer.d.next = self.zero.val();
            self.has_message.d.next = false;
            self.is_full.d.next = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fills_drains_and_keeps_order() {
        let mut dut = Fifo::<Bits<8>, 2, 3>::default();
        dut.connect_all();
        check_all(&dut).unwrap();
        let mut sent = 0u32;
        let mut got = 0u32;
        for cycle in 0..64u32 {
            dut.clock.next = Clock { clk: false };
            dut.sink.valid.next = cycle % 3 != 0;
            dut.sink.payload.next = bits::<8>((sent & 0xff) as u64);
            dut.source.ready.next = cycle >= 20;
            assert!(simulate(&mut dut, 20));
            if dut.sink.valid.val() && dut.sink.ready.val() {
                sent += 1;
            }
            if dut.source.valid.val() && dut.source.ready.val() {
                assert_eq!(dut.source.payload.val().to_u32(), got & 0xff);
                got += 1;
            }
            if cycle == 19 {
                assert_eq!(dut.level.val().to_u32(), 4);
            }
            dut.clock.next = Clock { clk: true };
            assert!(simulate(&mut dut, 20));
        }
        assert!(got > 20 && sent - got <= 4);
    }
}
