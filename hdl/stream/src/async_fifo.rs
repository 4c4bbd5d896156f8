//! A clock crossing for messages: a buffer 2^ADDRESS_BITS deep with gray-coded pointers, for any
//! two clocks, and a register behind it.
//!
//! ```text
//!  write_clock │                 │ read_clock
//!   sink ──► write pointer ─gray─► synchronizer ─► empty? ─┐
//!            full? ◄─ synchronizer ◄─gray─ read pointer ◄──┤ takes
//!                    distributed RAM ──────────────────► [head] ──► source
//!                 (written left, read right)
//! ```
//! Timing: a message is visible 4 to 5 `read_clock` cycles after its handshake; one message per
//! cycle of the slower clock in steady state when the depth is at least 8. `source` is registers
//! alone. `level` follows a message written after two cycles of `write_clock`, one that has left
//! the buffer after five and more.
//!
//! Invariants:
//! 1. Messages leave in the order they came; none is lost or repeated, whatever the phases.
//! 2. Only gray-coded pointers cross, each through two flip-flops marked `ASYNC_REG`.
//! 3. What is read from the memory ends in `head`, a register of the reading side: the path from
//!    one clock to the other has a register at each end.
//! 4. Tools are asked to leave pointers and borders as they are: `read_gray` and `read_pointer`
//!    have the same top bit, and one register may stand for both. Constraints name both registers.
//! 5. There is no reset: neither side ever loses what the other one relies on.
//!
//! POINTER_BITS must be ADDRESS_BITS + 1.
//!
//! Source: the gray-code FIFO of Cummings, SNUG 2002.

use std::collections::HashMap;

use crate::message::{MessageSink, MessageSource};
use block_default::BlockDefault;
use rust_hdl_core::prelude::*;
use rust_hdl_macros::{hdl_gen, LogicBlock};
use rust_hdl_widgets::dff::DFF;
use rust_hdl_widgets::dff_setup;

type Store<T> = Box<HashMap<usize, T>>;

/// Two flip-flops in a row that Vivado keeps together: `q` follows `d` by two cycles. It has no
/// reset.
#[derive(LogicBlock, BlockDefault)]
#[keep_hierarchy]
pub struct Synchronizer<T: Synth> {
    /// Clock of the receiving side.
    pub clock: Signal<In, Clock>,
    /// Signal of the other clock; at most one bit of it changes at a time.
    pub d: Signal<In, T>,
    /// The signal two cycles later.
    pub q: Signal<Out, T>,
    _first: Box<T>,
}

impl<T: Synth> Logic for Synchronizer<T> {
    fn update(&mut self) {
        if self.clock.pos_edge() {
            self.q.next = *self._first;
            *self._first = self.d.val();
        }
    }

    fn connect(&mut self) {
        self.q.connect();
    }

    fn hdl(&self) -> Verilog {
        Verilog::Custom(format!(
            "\
(* ASYNC_REG = \"TRUE\" *) reg [{top}:0] first;
(* ASYNC_REG = \"TRUE\" *) reg [{top}:0] second;
initial first = {bits}'d0;
initial second = {bits}'d0;
always @(posedge clock) begin
   first <= d;
   second <= first;
end
always @(*) q = second;
",
            top = T::BITS - 1,
            bits = T::BITS,
        ))
    }
}

/// Memory of 2^ADDRESS_BITS entries, written with one clock and read combinationally in another's
/// domain.
#[derive(LogicBlock, Default)]
pub struct CrossingRam<T: Synth, const ADDRESS_BITS: usize> {
    /// Clock of the writing side.
    pub clock: Signal<In, Clock>,
    /// Entry to read.
    pub read_address: Signal<In, Bits<ADDRESS_BITS>>,
    /// The entry read, in the same cycle; stable because its write ended before the pointer
    /// crossed.
    pub read_data: Signal<Out, T>,
    /// Entry to write.
    pub write_address: Signal<In, Bits<ADDRESS_BITS>>,
    /// New value of the entry.
    pub write_data: Signal<In, T>,
    /// Write in this cycle.
    pub write_enable: Signal<In, Bit>,
    _store: Store<T>,
}

impl<T: Synth, const ADDRESS_BITS: usize> Logic for CrossingRam<T, ADDRESS_BITS> {
    fn update(&mut self) {
        if self.clock.pos_edge() && self.write_enable.val() {
            self._store.insert(self.write_address.val().index(), self.write_data.val());
        }
        let at = self.read_address.val().index();
        self.read_data.next = self._store.get(&at).copied().unwrap_or_default();
    }

    fn connect(&mut self) {
        self.read_data.connect();
    }

    fn hdl(&self) -> Verilog {
        Verilog::Custom(format!(
            "\
(* ram_style = \"distributed\" *) reg [{top}:0] memory[{last}:0];
always @(*) read_data = memory[read_address];
always @(posedge clock) begin
   if (write_enable) memory[write_address] <= write_data;
end
",
            top = T::BITS - 1,
            last = (1usize << ADDRESS_BITS) - 1,
        ))
    }
}

/// Whether the writer is a full buffer ahead: the two gray pointers differ in their top two bits
/// alone, as the wrap bit differs. A block of its own, so that tools compute it before what it is
/// chosen by. Combinational.
#[derive(LogicBlock, BlockDefault)]
pub struct GrayLap<const POINTER_BITS: usize> {
    /// Gray-coded pointer of the writer.
    pub written: Signal<In, Bits<POINTER_BITS>>,
    /// Gray-coded pointer of the reader.
    pub read: Signal<In, Bits<POINTER_BITS>>,
    /// All places are taken.
    pub is_full: Signal<Out, Bit>,

    #[value(3 << (POINTER_BITS - 2))]
    top: Constant<Bits<POINTER_BITS>>,
}

impl<const POINTER_BITS: usize> Logic for GrayLap<POINTER_BITS> {
    #[hdl_gen]
    fn update(&mut self) {
        self.is_full.next = self.written.val() == (self.read.val() ^ self.top.val());
    }
}

/// The crossing. See the module's head.
#[derive(LogicBlock, BlockDefault)]
#[keep_hierarchy]
#[require(POINTER_BITS == ADDRESS_BITS + 1, "pointer width must be address width + 1")]
#[require(POINTER_BITS <= 8, "the level is found in three steps")]
pub struct AsyncFifo<T: Synth, const ADDRESS_BITS: usize, const POINTER_BITS: usize> {
    /// Clock of `sink`.
    pub write_clock: Signal<In, Clock>,
    /// Clock of `source`.
    pub read_clock: Signal<In, Clock>,

    /// Messages in, in `write_clock`.
    pub sink: MessageSink<T>,
    /// Messages out, in `read_clock`.
    pub source: MessageSource<T>,
    /// Messages in the buffer, in `write_clock`: those written two cycles ago, less those known to
    /// have left it for the register behind it.
    pub level: Signal<Out, Bits<POINTER_BITS>>,

    memory: CrossingRam<T, ADDRESS_BITS>,
    #[keep]
    write_pointer: DFF<Bits<POINTER_BITS>>,
    #[keep]
    write_gray: DFF<Bits<POINTER_BITS>>,
    /// Gray code of the next place; valid from the second cycle on, while there is space.
    gray_ahead: DFF<Bits<POINTER_BITS>>,
    #[keep]
    read_pointer: DFF<Bits<POINTER_BITS>>,
    #[keep]
    read_gray: DFF<Bits<POINTER_BITS>>,
    /// What leaves next, once it has left the buffer.
    head: DFF<T>,
    has_head: DFF<Bit>,
    write_seen: Synchronizer<Bits<POINTER_BITS>>,
    read_seen: Synchronizer<Bits<POINTER_BITS>>,
    read_known: DFF<Bits<POINTER_BITS>>,
    held: DFF<Bits<POINTER_BITS>>,
    has_space: DFF<Bit>,
    stays: GrayLap<POINTER_BITS>,
    fills: GrayLap<POINTER_BITS>,

    stores: Signal<Local, Bit>,
    write_after: Signal<Local, Bits<POINTER_BITS>>,
    is_empty: Signal<Local, Bit>,
    has_place: Signal<Local, Bit>,
    write_next: Signal<Local, Bits<POINTER_BITS>>,
    read_next: Signal<Local, Bits<POINTER_BITS>>,
    read_pairs: Signal<Local, Bits<POINTER_BITS>>,
    read_fours: Signal<Local, Bits<POINTER_BITS>>,
    #[value(1)]
    one: Constant<Bits<POINTER_BITS>>,
    #[value(2)]
    two: Constant<Bits<POINTER_BITS>>,
}

impl<T: Synth, const ADDRESS_BITS: usize, const POINTER_BITS: usize> Logic
    for AsyncFifo<T, ADDRESS_BITS, POINTER_BITS>
{
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            write_clock,
            write_pointer,
            write_gray,
            gray_ahead,
            read_known,
            held,
            has_space
        );
        dff_setup!(self, read_clock, read_pointer, read_gray, head, has_head);
        clock!(self, write_clock, memory, read_seen);
        clock!(self, read_clock, write_seen);
        self.write_seen.d.next = self.write_gray.q.val();
        self.read_seen.d.next = self.read_gray.q.val();

        // Both results are there before it is known whether a message is stored.
        self.write_next.next = self.write_pointer.q.val() + self.one.val();
        self.write_after.next = self.write_pointer.q.val() + self.two.val();
        self.gray_ahead.d.next = self.write_next.val() ^ (self.write_next.val() >> 1);
        self.stays.written.next = self.write_gray.q.val();
        self.stays.read.next = self.read_seen.q.val();
        self.fills.written.next = self.gray_ahead.q.val();
        self.fills.read.next = self.read_seen.q.val();
        self.stores.next = self.sink.valid.val() & self.has_space.q.val();
        self.has_space.d.next = !self.stays.is_full.val();
        if self.stores.val() {
            self.has_space.d.next = !self.fills.is_full.val();
        }
        self.is_empty.next = self.read_gray.q.val() == self.write_seen.q.val();
        self.sink.ready.next = self.has_space.q.val();
        self.source.valid.next = self.has_head.q.val();
        self.source.payload.next = self.head.q.val();

        self.memory.read_address.next =
            bit_cast::<ADDRESS_BITS, POINTER_BITS>(self.read_pointer.q.val());
        self.memory.write_address.next =
            bit_cast::<ADDRESS_BITS, POINTER_BITS>(self.write_pointer.q.val());
        self.memory.write_data.next = self.sink.payload.val();
        self.memory.write_enable.next = self.stores.val();

        // The level: each bit of the read pointer is the sum of all gray bits from its own up.
        self.read_pairs.next = self.read_seen.q.val() ^ (self.read_seen.q.val() >> 1);
        self.read_fours.next = self.read_pairs.val() ^ (self.read_pairs.val() >> 2);
        self.read_known.d.next = self.read_fours.val() ^ (self.read_fours.val() >> 4);
        self.held.d.next = self.write_pointer.q.val() - self.read_known.q.val();
        self.level.next = self.held.q.val();

        self.read_next.next = self.read_pointer.q.val() + self.one.val();
        if self.stores.val() {
            self.write_pointer.d.next = self.write_next.val();
            self.write_gray.d.next = self.gray_ahead.q.val();
            self.gray_ahead.d.next = self.write_after.val() ^ (self.write_after.val() >> 1);
        }
        self.has_place.next = self.source.ready.val() | !self.has_head.q.val();
        if self.has_place.val() {
            self.has_head.d.next = !self.is_empty.val();
        }
        if self.has_place.val() & !self.is_empty.val() {
            self.head.d.next = self.memory.read_data.val();
            self.read_pointer.d.next = self.read_next.val();
            self.read_gray.d.next = self.read_next.val() ^ (self.read_next.val() >> 1);
        }
    }
}
