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
