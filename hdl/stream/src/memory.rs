//! The memories in distributed RAM, and the one between two clocks: one write port each, as Vivado
//! and Yosys infer them.
//!
//! ```text
//!  write_address ─┐             ┌─ read_address
//!  write_data    ─┤  DEPTH x T  ├─ read_data
//!  write_enable  ─┘             └─ (PairRam: one cycle later)
//! ```
//! [`LutRam`] and [`EightPortRam`] read in the same cycle and power up as zeros; the second one
//! reads eight entries at a time. [`PairRam`] is a BRAM whose ports have clocks of their own (a
//! URAM has one clock). It latches two neighbours at once, in two banks, and powers up undefined;
//! its user puts them in order and registers them, and reads an entry only when word of its write
//! has crossed. For larger memories of one clock see [`crate::block_ram`].
//!
//! The attribute `ram_style` fixes what each memory becomes, so that tools agree.
//!
//! Timing: [`LutRam`] and [`EightPortRam`]: reads are combinational. [`PairRam`]: one cycle.
//!
//! Invariants:
//! 1. Reading the address that is written in the same cycle returns the old value.

use std::collections::HashMap;

use rust_hdl_core::prelude::*;
use rust_hdl_macros::LogicBlock;

/// What a memory holds, in simulation: entries that were never written are zeros.
pub(crate) type Store<T> = Box<HashMap<usize, T>>;

/// Entries that one process sets to zero.
const ZEROED_AT_ONCE: usize = 256;

/// The zeros of `memory` at power-up. Large memories are cut into parts: Yosys takes time that
/// grows with the square of a process, and Vivado limits the turns of a loop. The text may stand
/// beside that of other memories; in a `generate` of its user's, Yosys takes minutes.
pub(crate) fn zeros(memory: &str, bits: usize, entries: usize) -> String {
    let loop_of = |count: usize, at: &str| {
        format!(
            "integer entry;\n\
             initial for (entry = 0; entry < {count}; entry = entry + 1) \
             {memory}[{at}entry] = {bits}'d0;\n"
        )
    };
    if entries <= ZEROED_AT_ONCE {
        return loop_of(entries, "");
    }
    let part = format!("part_of_{memory}");
    format!(
        "genvar {part};\n\
         generate for ({part} = 0; {part} < {parts}; {part} = {part} + 1) \
         begin : zeros_of_{memory}\n\
         {inner}end endgenerate\n",
        parts = entries / ZEROED_AT_ONCE,
        inner = loop_of(ZEROED_AT_ONCE, &format!("{ZEROED_AT_ONCE} * {part} + ")),
    )
}

/// Memory with one combinational read, 2^ADDRESS_BITS entries of T.
#[derive(LogicBlock, Default)]
pub struct LutRam<T: Synth, const ADDRESS_BITS: usize> {
    /// Clock of the writes.
    pub clock: Signal<In, Clock>,
    /// Entry to read.
    pub read_address: Signal<In, Bits<ADDRESS_BITS>>,
    /// The entry read, in the same cycle.
    pub read_data: Signal<Out, T>,
    /// Entry to write.
    pub write_address: Signal<In, Bits<ADDRESS_BITS>>,
    /// New value of the entry at `write_address`.
    pub write_data: Signal<In, T>,
    /// Write in this cycle.
    pub write_enable: Signal<In, Bit>,
    _store: Store<T>,
}

impl<T: Synth, const ADDRESS_BITS: usize> Logic for LutRam<T, ADDRESS_BITS> {
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
(* ram_style = \"distributed\" *) reg [{width}:0] memory[{last}:0];
{zeros}
always @(*) read_data = memory[read_address];

always @(posedge clock) begin
   if (write_enable) memory[write_address] <= write_data;
end
",
            width = T::BITS - 1,
            zeros = zeros("memory", T::BITS, 1 << ADDRESS_BITS),
            last = (1usize << ADDRESS_BITS) - 1,
        ))
    }
}

/// Readers of an [`EightPortRam`].
pub const EIGHT_PORT_READERS: usize = 7;

/// Memory with seven combinational reads, and an eighth of the entry to write, 2^ADDRESS_BITS
/// entries of T: the ports of a distributed RAM of 64 entries (UG574, octal port). The address of
/// an unused reader is undefined.
#[derive(LogicBlock, Default)]
pub struct EightPortRam<T: Synth, const ADDRESS_BITS: usize> {
    /// Clock of the writes.
    pub clock: Signal<In, Clock>,
    /// Entries to read.
    pub read_address: [Signal<In, Bits<ADDRESS_BITS>>; EIGHT_PORT_READERS],
    /// The entries read, in the same cycle.
    pub read_data: [Signal<Out, T>; EIGHT_PORT_READERS],
    /// Entry to write.
    pub write_address: Signal<In, Bits<ADDRESS_BITS>>,
    /// Value of the entry at `write_address` before the write, in the same cycle.
    pub written: Signal<Out, T>,
    /// New value of the entry at `write_address`.
    pub write_data: Signal<In, T>,
    /// Write in this cycle.
    pub write_enable: Signal<In, Bit>,
    _store: Store<T>,
}

impl<T: Synth, const ADDRESS_BITS: usize> Logic for EightPortRam<T, ADDRESS_BITS> {
    fn update(&mut self) {
        if self.clock.pos_edge() && self.write_enable.val() {
            self._store.insert(self.write_address.val().index(), self.write_data.val());
        }
        let entry =
            |at: Bits<ADDRESS_BITS>| self._store.get(&at.index()).copied().unwrap_or_default();
        self.written.next = entry(self.write_address.val());
        for reader in 0..EIGHT_PORT_READERS {
            self.read_data[reader].next = entry(self.read_address[reader].val());
        }
    }

    fn connect(&mut self) {
        self.written.connect();
        for reader in 0..EIGHT_PORT_READERS {
            self.read_data[reader].connect();
        }
    }

    fn hdl(&self) -> Verilog {
        let reads = (0..EIGHT_PORT_READERS).map(|reader| {
            format!("always @(*) read_data${reader} = memory[read_address${reader}];\n")
        });
        Verilog::Custom(format!(
            "\
(* ram_style = \"distributed\" *) reg [{width}:0] memory[{last}:0];
{zeros}
{reads}
always @(*) written = memory[write_address];

always @(posedge clock) begin
   if (write_enable) memory[write_address] <= write_data;
end
",
            width = T::BITS - 1,
            zeros = zeros("memory", T::BITS, 1 << ADDRESS_BITS),
            reads = reads.collect::<String>(),
            last = (1usize << ADDRESS_BITS) - 1,
        ))
    }
}

/// Memory of 2^ADDRESS_BITS entries of T, written with one clock and read with another, latched and
/// two neighbours at a time. What was read last stays until the next read.
#[derive(LogicBlock, Default)]
pub struct PairRam<T: Synth, const ADDRESS_BITS: usize> {
    /// Clock of the writing side.
    pub write_clock: Signal<In, Clock>,
    /// Clock of the reading side.
    pub read_clock: Signal<In, Clock>,
    /// Entry to read.
    pub read_address: Signal<In, Bits<ADDRESS_BITS>>,
    /// Read in this cycle.
    pub read_enable: Signal<In, Bit>,
    /// The entry of even address among the one read and its successor (the first entry succeeds the
    /// last), one cycle of `read_clock` later.
    pub read_even: Signal<Out, T>,
    /// The entry of odd address of the two, one cycle of `read_clock` later.
    pub read_odd: Signal<Out, T>,
    /// The entry read is the odd one, its successor the even one.
    pub odd_first: Signal<Out, Bit>,
    /// Entry to write.
    pub write_address: Signal<In, Bits<ADDRESS_BITS>>,
    /// New value of the entry at `write_address`.
    pub write_data: Signal<In, T>,
    /// Write in this cycle of `write_clock`.
    pub write_enable: Signal<In, Bit>,
    _store: Store<T>,
}

impl<T: Synth, const ADDRESS_BITS: usize> Logic for PairRam<T, ADDRESS_BITS> {
    fn update(&mut self) {
        if self.read_clock.pos_edge() && self.read_enable.val() {
            let at = self.read_address.val().index();
            let entry = |at: usize| self._store.get(&at).copied().unwrap_or_default();
            let (this, next) = (entry(at), entry((at + 1) % (1 << ADDRESS_BITS)));
            let is_odd = at % 2 == 1;
            self.read_even.next = if is_odd { next } else { this };
            self.read_odd.next = if is_odd { this } else { next };
            self.odd_first.next = is_odd;
        }
        if self.write_clock.pos_edge() && self.write_enable.val() {
            self._store.insert(self.write_address.val().index(), self.write_data.val());
        }
    }

    fn connect(&mut self) {
        self.read_even.connect();
        self.read_odd.connect();
        self.odd_first.connect();
    }

    fn hdl(&self) -> Verilog {
        Verilog::Custom(format!(
            "\
(* ram_style = \"block\" *) reg [{width}:0] even[{last}:0];
(* ram_style = \"block\" *) reg [{width}:0] odd[{last}:0];
wire [{bank_top}:0] place = read_address[{top}:1];
wire [{bank_top}:0] place_even = place + {{{{{bank_top}{{1'b0}}}}, read_address[0]}};
wire [{bank_top}:0] write_place = write_address[{top}:1];

always @(posedge read_clock) begin
   if (read_enable) begin
      read_even <= even[place_even];
      read_odd <= odd[place];
      odd_first <= read_address[0];
   end
end

always @(posedge write_clock) begin
   if (write_enable && !write_address[0]) even[write_place] <= write_data;
   if (write_enable && write_address[0]) odd[write_place] <= write_data;
end
",
            width = T::BITS - 1,
            last = (1usize << (ADDRESS_BITS - 1)) - 1,
            top = ADDRESS_BITS - 1,
            bank_top = ADDRESS_BITS - 2,
        ))
    }
}
