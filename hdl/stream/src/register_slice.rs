//! A register between two blocks: no path leads through it from one block to the other.
//!
//! ```text
//!   sink ──► one message ──► source
//!   (ready = free)           (valid = taken)
//! ```
//! Timing: latency one cycle, one message every two cycles; for streams of jobs, not of beats.
//! `sink.ready`, `source.valid` and `source.payload` are registers.
//!
//! Invariants:
//! 1. Messages leave in the order they came; none is lost or repeated.
//! 2. While `reset` lasts, and in the cycle after it, nothing is taken.
//!
//! A [`Fifo`](crate::fifo::Fifo) of two takes a message every cycle, at the cost of a memory.

use crate::message::{MessageSink, MessageSource};
use rust_hdl_core::prelude::*;
use rust_hdl_macros::{hdl_gen, LogicBlock};
use rust_hdl_widgets::dff::DFF;
use rust_hdl_widgets::dff_setup;

/// The register. See the module's head.
#[derive(LogicBlock, Default)]
pub struct RegisterSlice<T: Synth> {
    /// Clock of both sides.
    pub clock: Signal<In, Clock>,
    /// Drops the message.
    pub reset: Signal<In, Bit>,

    /// Messages in.
    pub sink: MessageSink<T>,
    /// Messages out.
    pub source: MessageSource<T>,

    is_held: DFF<Bit>,
    is_free: DFF<Bit>,
    held: DFF<T>,
}

impl<T: Synth> Logic for RegisterSlice<T> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, is_held, is_free, held);
        self.sink.ready.next = self.is_free.q.val();
        self.source.valid.next = self.is_held.q.val();
        self.source.payload.next = self.held.q.val();
        // What is held while nothing is offered does not matter.
        if !self.is_held.q.val() {
            self.held.d.next = self.sink.payload.val();
        }
        self.is_held.d.next = !self.reset.val()
            & ((self.is_free.q.val() & self.sink.valid.val())
                | (self.is_held.q.val() & !self.source.ready.val()));
        // A reset, and power-up, leave the register neither held nor free.
        self.is_free.d.next = !self.reset.val()
            & ((self.is_free.q.val() & !self.sink.valid.val())
                | (self.is_held.q.val() & self.source.ready.val())
                | (!self.is_free.q.val() & !self.is_held.q.val()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_order_and_a_message_every_two_cycles() {
        let mut dut = RegisterSlice::<Bits<8>>::default();
        dut.connect_all();
        check_all(&dut).unwrap();
        let (mut sent, mut got) = (0u32, 0u32);
        for cycle in 0..200u32 {
            dut.clock.next = Clock { clk: false };
            dut.reset.next = false;
            dut.sink.valid.next = cycle < 40 || cycle % 3 != 0;
            dut.sink.payload.next = bits::<8>((sent & 0xff) as u64);
            dut.source.ready.next = cycle < 40 || cycle % 7 > 2;
            assert!(simulate(&mut dut, 20));
            if dut.sink.valid.val() && dut.sink.ready.val() {
                sent += 1;
            }
            if dut.source.valid.val() && dut.source.ready.val() {
                assert_eq!(dut.source.payload.val().to_u32(), got & 0xff);
                got += 1;
            }
            if cycle == 39 {
                assert_eq!(got, 19, "one every two cycles, except the first");
            }
            dut.clock.next = Clock { clk: true };
            assert!(simulate(&mut dut, 20));
        }
        assert!(got > 60 && sent - got <= 1, "{sent} in, {got} out");
        dut.clock.next = Clock { clk: false };
        dut.sink.valid.next = true;
        dut.reset.next = true;
        assert!(simulate(&mut dut, 20));
        dut.clock.next = Clock { clk: true };
        assert!(simulate(&mut dut, 20));
        assert!(!dut.source.valid.val(), "reset empties it");
    }
}
