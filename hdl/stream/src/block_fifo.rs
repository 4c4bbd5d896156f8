//! A first-in first-out buffer of messages in block RAM, 2^ADDRESS_BITS deep and two more, for
//! queues in which messages wait long.
//!
//! ```text
//!   sink ──► DEPTH x T (block RAM, its latch, its register) ──► source
//! ```
//! Timing: latency three cycles, one message per cycle in and out. `sink.ready`, `source.valid` and
//! `source.payload` are registers; `source.ready` reaches the memory's read enable. Where a message
//! must pass an empty buffer at once, use [`crate::deep_fifo`].
//!
//! Invariants:
//! 1. Messages leave in the order they came; none is lost or repeated.
//! 2. While `reset` lasts, and in the cycle after it, nothing is taken.
//! 3. `level` is the number of messages in the memory, 0 to 2^ADDRESS_BITS.
//!
//! POINTER_BITS must be ADDRESS_BITS + 1: the pointers carry one wrap bit.

use crate::block_ram::BlockRam;
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
pub struct BlockFifo<T: Synth, const ADDRESS_BITS: usize, const POINTER_BITS: usize> {
    /// Clock of both sides.
    pub clock: Signal<In, Clock>,
    /// Empties the buffer.
    pub reset: Signal<In, Bit>,

    /// Messages in.
    pub sink: MessageSink<T>,
    /// Messages out.
    pub source: MessageSource<T>,
    /// Messages in the memory; up to two more are in its latch and register.
    pub level: Signal<Out, Bits<POINTER_BITS>>,

    memory: BlockRam<T, ADDRESS_BITS>,
    pointers: FifoPointers<POINTER_BITS>,
    is_read: DFF<Bit>,
    has_head: DFF<Bit>,
    is_full: DFF<Bit>,

    takes: Signal<Local, Bit>,
    moves: Signal<Local, Bit>,
    fetches: Signal<Local, Bit>,
    reads: Signal<Local, Bit>,
    shows: Signal<Local, Bit>,
}

impl<T: Synth, const ADDRESS_BITS: usize, const POINTER_BITS: usize> Logic
    for BlockFifo<T, ADDRESS_BITS, POINTER_BITS>
{
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, is_read, has_head, is_full);
        clock!(self, clock, memory, pointers);
        self.pointers.reset.next = self.reset.val();

        self.sink.ready.next = self.pointers.has_space.val();
        self.takes.next = self.sink.valid.val() & self.pointers.has_space.val();
        self.pointers.write.next = self.takes.val();
        self.memory.write_address.next =
            bit_cast::<ADDRESS_BITS, POINTER_BITS>(self.pointers.write_pointer.val());
        self.memory.write_data.next = self.sink.payload.val();
        self.memory.write_enable.next = self.takes.val();
        self.level.next = self.pointers.write_pointer.val() - self.pointers.read_pointer.val();

        // What is latched moves on to the register when that is free, and is read again.
        self.moves.next = self.is_read.q.val() & (!self.has_head.q.val() | self.source.ready.val());
        self.fetches.next =
            self.pointers.has_message.val() & (!self.is_full.q.val() | self.source.ready.val());
        self.pointers.read.next = self.fetches.val();
        self.memory.read_address.next =
            bit_cast::<ADDRESS_BITS, POINTER_BITS>(self.pointers.read_pointer.val());
        self.memory.read_enable.next = self.fetches.val();
        self.memory.register_enable.next = self.moves.val();
        self.reads.next = self.fetches.val() | (self.is_read.q.val() & !self.moves.val());
        self.shows.next = self.moves.val() | (self.has_head.q.val() & !self.source.ready.val());
        self.is_read.d.next = self.reads.val();
        self.has_head.d.next = self.shows.val();
        self.is_full.d.next = self.reads.val() & self.shows.val();
        self.source.valid.next = self.has_head.q.val();
        self.source.payload.next = self.memory.read_data.val();
        if self.reset.val() {
            self.is_read.d.next = false;
            self.has_head.d.next = false;
            self.is_full.d.next = false;
        }
    }
}
