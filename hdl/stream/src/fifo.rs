//! A first-in first-out buffer of messages, 2^ADDRESS_BITS deep, in distributed RAM.
//!
//! ```text
//!   sink ──►┌─────────────┐──► source
//!  (ready = │  DEPTH x T  │   (valid = not empty)
//!  not full)└─────────────┘
//! ```
//! Timing: latency one cycle, one message per cycle in and out. `source.valid` and `sink.ready` are
//! registers, `level` is the difference of two; `source.payload` is read from distributed RAM in
//! the same cycle.
//!
//! Invariants:
//! 1. Messages leave in the order they came; none is lost or repeated.
//! 2. `level` is the number of messages held, 0 to 2^ADDRESS_BITS.
//! 3. While `reset` lasts, and in the cycle after it, nothing is taken.
//!
//! POINTER_BITS must be ADDRESS_BITS + 1: the pointers carry one wrap bit.

use crate::fifo_pointers::FifoPointers;
use crate::memory::LutRam;
use crate::message::{MessageSink, MessageSource};
use block_default::BlockDefault;
use rust_hdl_core::prelude::*;
use rust_hdl_macros::{hdl_gen, LogicBlock};

/// The buffer. See the module's head.
#[derive(LogicBlock, BlockDefault)]
#[require(POINTER_BITS == ADDRESS_BITS + 1, "pointer width must be address width + 1")]
pub struct Fifo<T: Synth, const ADDRESS_BITS: usize, const POINTER_BITS: usize> {
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

    memory: LutRam<T, ADDRESS_BITS>,
    pointers: FifoPointers<POINTER_BITS>,

    takes: Signal<Local, Bit>,
}

impl<T: Synth, const ADDRESS_BITS: usize, const POINTER_BITS: usize> Logic
    for Fifo<T, ADDRESS_BITS, POINTER_BITS>
{
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, memory, pointers);
        self.pointers.reset.next = self.reset.val();

        self.sink.ready.next = self.pointers.has_space.val();
        self.takes.next = self.sink.valid.val() & self.pointers.has_space.val();
        self.pointers.write.next = self.takes.val();
        self.memory.write_address.next =
            bit_cast::<ADDRESS_BITS, POINTER_BITS>(self.pointers.write_pointer.val());
        self.memory.write_data.next = self.sink.payload.val();
        self.memory.write_enable.next = self.takes.val();

        self.source.valid.next = self.pointers.has_message.val();
        self.pointers.read.next = self.pointers.has_message.val() & self.source.ready.val();
        self.memory.read_address.next =
            bit_cast::<ADDRESS_BITS, POINTER_BITS>(self.pointers.read_pointer.val());
        self.source.payload.next = self.memory.read_data.val();
        self.level.next = self.pointers.write_pointer.val() - self.pointers.read_pointer.val();
    }
}
