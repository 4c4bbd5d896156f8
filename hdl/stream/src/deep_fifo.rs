//! A first-in first-out buffer of messages in block RAM, 2^ADDRESS_BITS deep, for queues that are
//! long and mostly empty.
//!
//! ```text
//!   sink ─┬─► DEPTH x T (block RAM) ─┬─► head (4 messages) ──► source
//!         └─── nothing on the way ───┘
//! ```
//! Timing: latency one cycle through an empty buffer, else at least four; one message per cycle in
//! and out. `sink.ready` and `source.valid` are registers.
//!
//! Invariants:
//! 1. Messages leave in the order they came; none is lost or repeated.
//! 2. While `reset` lasts, and in the cycle after it, nothing is taken.
//!
//! POINTER_BITS must be ADDRESS_BITS + 1: the pointers carry one wrap bit.

use crate::block_ram::BlockRam;
use crate::fifo::Fifo;
use crate::fifo_pointers::FifoPointers;
use crate::message::{MessageSink, MessageSource};
use block_default::BlockDefault;
use rust_hdl_core::prelude::*;
use rust_hdl_macros::{hdl_gen, LogicBlock};
use rust_hdl_widgets::dff::DFF;
use rust_hdl_widgets::dff_setup;

/// The buffer. See the module's head.
#[derive(LogicBlock, BlockDefault)]
#[require(POINTER_BITS == ADDRESS_BITS + 1, "pointer width must be address width + 1")]
pub struct DeepFifo<T: Synth, const ADDRESS_BITS: usize, const POINTER_BITS: usize> {
    /// Clock of both sides.
    pub clock: Signal<In, Clock>,
    /// Empties the buffer.
    pub reset: Signal<In, Bit>,

    /// Messages in.
    pub sink: MessageSink<T>,
    /// Messages out.
    pub source: MessageSource<T>,

    memory: BlockRam<T, ADDRESS_BITS>,
    head: Fifo<T, 2, 3>,
    pointers: FifoPointers<POINTER_BITS>,
    read_valid: DFF<Bit>,
    held_valid: DFF<Bit>,

    on_the_way: Signal<Local, Bits<3>>,
    fetch: Signal<Local, Bit>,
    passes: Signal<Local, Bit>,
    takes: Signal<Local, Bit>,
    #[value(4)]
    head_depth: Constant<Bits<3>>,
}

impl<T: Synth, const ADDRESS_BITS: usize, const POINTER_BITS: usize> Logic
    for DeepFifo<T, ADDRESS_BITS, POINTER_BITS>
{
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, read_valid, held_valid);
        clock!(self, clock, memory, pointers, head);
        self.pointers.reset.next = self.reset.val();
        self.head.reset.next = self.reset.val();
        self.source.valid.next = self.head.source.valid.val();
        self.source.payload.next = self.head.source.payload.val();
        self.head.source.ready.next = self.source.ready.val();

        // A message passes to the head, if that has space, while nothing is in the memory or on the
        // way.
        self.sink.ready.next = self.pointers.has_space.val();
        self.passes.next = !self.pointers.has_message.val()
            & !self.read_valid.q.val()
            & !self.held_valid.q.val()
            & self.head.sink.ready.val();
        self.takes.next =
            self.sink.valid.val() & self.pointers.has_space.val() & !self.passes.val();
        self.memory.write_address.next =
            bit_cast::<ADDRESS_BITS, POINTER_BITS>(self.pointers.write_pointer.val());
        self.memory.write_data.next = self.sink.payload.val();
        self.memory.write_enable.next = self.takes.val();

        // What is read has a place in the head.
        self.on_the_way.next = self.head.level.val()
            + bit_cast::<3, 1>(self.read_valid.q.val().into())
            + bit_cast::<3, 1>(self.held_valid.q.val().into());
        self.fetch.next =
            self.pointers.has_message.val() & (self.on_the_way.val() < self.head_depth.val());
        self.memory.read_enable.next = self.fetch.val();
        self.memory.read_address.next =
            bit_cast::<ADDRESS_BITS, POINTER_BITS>(self.pointers.read_pointer.val());

        self.pointers.write.next = self.takes.val();
        self.pointers.read.next = self.fetch.val();
        self.read_valid.d.next = self.fetch.val();
        self.held_valid.d.next = self.read_valid.q.val();
        self.memory.register_enable.next = self.read_valid.q.val();
        self.head.sink.valid.next =
            self.held_valid.q.val() | (self.passes.val() & self.sink.valid.val());
        self.head.sink.payload.next = self.memory.read_data.val();
        if self.passes.val() {
            self.head.sink.payload.next = self.sink.payload.val();
        }

        if self.reset.val() {
            self.read_valid.d.next = false;
            self.held_valid.d.next = false;
        }
    }
}
