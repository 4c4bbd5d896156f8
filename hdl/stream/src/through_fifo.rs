//! A [`Fifo`] that is bypassed while it is empty: a message passes in the same cycle if `source` is
//! ready, and otherwise waits in the buffer.
//!
//! ```text
//!   sink ─┬─► DEPTH x T ─┬─► source
//!         └─── empty ────┘
//! ```
//! Timing: no latency through an empty buffer, else one message per cycle in and out.
//! `source.valid` and `source.payload` follow `sink` in the same cycle; `sink.ready` and `level`
//! are functions of registers.
//!
//! Invariants:
//! 1. Messages leave in the order they came; none is lost or repeated.
//! 2. A message that was offered and not taken is offered again in the next cycle, from the buffer:
//!    its producer needs to offer it only once.
//! 3. While `reset` lasts, and in the cycle after it, nothing passes.
//!
//! POINTER_BITS must be ADDRESS_BITS + 1, as in the [`Fifo`]; the depth is 2^ADDRESS_BITS.

use crate::fifo::Fifo;
use crate::message::{MessageSink, MessageSource};
use rust_hdl_core::prelude::*;
use rust_hdl_macros::{hdl_gen, LogicBlock};

/// The buffer. See the module's head.
#[derive(LogicBlock, Default)]
pub struct ThroughFifo<T: Synth, const ADDRESS_BITS: usize, const POINTER_BITS: usize> {
    /// Clock of both sides.
    pub clock: Signal<In, Clock>,
    /// Empties the buffer.
    pub reset: Signal<In, Bit>,

    /// Messages in.
    pub sink: MessageSink<T>,
    /// Messages out.
    pub source: MessageSource<T>,
    /// Messages held.
    pub level: Signal<Out, Bits<POINTER_BITS>>,

    waiting: Fifo<T, ADDRESS_BITS, POINTER_BITS>,
}

impl<T: Synth, const ADDRESS_BITS: usize, const POINTER_BITS: usize> Logic
    for ThroughFifo<T, ADDRESS_BITS, POINTER_BITS>
{
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, waiting);
        self.waiting.reset.next = self.reset.val();
        self.level.next = self.waiting.level.val();
        self.sink.ready.next = self.waiting.sink.ready.val();
        self.source.valid.next = self.waiting.source.valid.val()
            | (self.sink.valid.val() & self.waiting.sink.ready.val());
        self.source.payload.next = self.sink.payload.val();
        if self.waiting.source.valid.val() {
            self.source.payload.next = self.waiting.source.payload.val();
        }
        self.waiting.sink.valid.next =
            self.sink.valid.val() & (self.waiting.source.valid.val() | !self.source.ready.val());
        self.waiting.sink.payload.next = self.sink.payload.val();
        self.waiting.source.ready.next = self.source.ready.val();
        if self.reset.val() {
            self.source.valid.next = false;
        }
    }
}
