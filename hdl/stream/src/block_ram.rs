//! The memories that become BRAM or URAM: one write port and one read port of one clock, with the
//! two registers that such a memory has.
//!
//! ```text
//!  write_address ─┐             ┌─ read_address
//!  write_data    ─┤  DEPTH x T  ├─ read_enable ─────► latch
//!  write_enable  ─┘             └─ register_enable ─► register ──► read_data
//! ```
//! With `read_enable` an entry is latched; with `register_enable` what was latched before moves on
//! to `read_data`. So no logic ever follows the slow output of a BRAM or URAM directly.
//!
//! The attribute `ram_style` fixes what each memory becomes: URAM where 4,096 entries of 64 bits
//! and more fill one, else BRAM. A memory that is deeper than one of those is cut into banks of its
//! depth, each with its own registers. Banks that are not read latch zeros (UG573, synchronous
//! reset of the output latches), so that a sum takes the place of a choice among all of them:
//!
//! ```text
//!  read_address ─┬─► bank 0: entry, or 0 ─► register ─┐
//!                ├─► ...                              ├─► sums of six ─► sum ─► read_data
//!                └─► bank n: entry, or 0 ─► register ─┘
//! ```
//! A BRAM has latch and register inside, each with a reset of its own. The one reset of a URAM
//! clears both, so the second register of a URAM in a bank is made of flip-flops next to it.
//!
//! Timing: `read_data` follows its address by two cycles.
//!
//! Invariants:
//! 1. Reading the address that is written in the same cycle latches the old value.
//! 2. The memory powers up undefined: users keep validity elsewhere (an epoch, a range).
//!    [`BlockRam::zeroed`] powers up as zeros: the place for such an epoch.

use crate::memory::{zeros, Store};
use rust_hdl_core::prelude::*;
use rust_hdl_macros::LogicBlock;

/// Attribute of a memory that is to become URAM.
const ULTRA: &str = "ultra";
/// Address bits of one URAM (UG573: 4,096 x 72).
const ULTRA_ADDRESS_BITS: usize = 12;
/// Narrower entries leave too much of a URAM empty.
const ULTRA_BITS_MIN: usize = 64;

/// What a memory with latch and register, 2^`address_bits` entries of `bits`, is to become.
const fn style(bits: usize, address_bits: usize) -> &'static str {
    if address_bits >= ULTRA_ADDRESS_BITS && bits >= ULTRA_BITS_MIN {
        ULTRA
    } else {
        "block"
    }
}

/// Address bits of one BRAM, one bit wide (UG573: 32,768 x 1).
const BLOCK_ADDRESS_BITS: usize = 15;
/// Address bits of one BRAM that is a byte and its parity wide (UG573: 4,096 x 9).
const BYTE_ADDRESS_BITS: usize = 12;
/// Bits of such an entry.
const BYTE_BITS: usize = 9;

/// Address bits of a bank of a memory of 2^`address_bits` entries of `bits`: as deep as one BRAM or
/// URAM can be. Deep BRAMs have no parity bits: of some widths, shallow ones are fewer.
fn bank_address_bits(bits: usize, address_bits: usize) -> usize {
    if style(bits, address_bits) == ULTRA {
        return ULTRA_ADDRESS_BITS.min(address_bits);
    }
    let deep = BLOCK_ADDRESS_BITS.min(address_bits);
    if deep <= BYTE_ADDRESS_BITS {
        return deep;
    }
    let deep_count = bits.div_ceil(1 << (BLOCK_ADDRESS_BITS - deep));
    let shallow_count = bits.div_ceil(BYTE_BITS) << (deep - BYTE_ADDRESS_BITS);
    if shallow_count < deep_count {
        BYTE_ADDRESS_BITS
    } else {
        deep
    }
}

/// Inputs of a LUT (UG574).
const LUT_INPUTS: usize = 6;

/// Verilog of `read_data`, the sum of what all banks show; of many, the sum of sums of six, which
/// keep their names: mapping would build one wide sum of gates with two inputs.
fn sum_of(shown: &[String], bits: usize) -> String {
    let width = bits - 1;
    if shown.len() <= LUT_INPUTS {
        return format!("always @(*) read_data = {};", shown.join(" | "));
    }
    let sums = shown.chunks(LUT_INPUTS).enumerate().map(|(at, six)| {
        let six = six.join(" | ");
        format!("(* keep = \"true\" *) wire [{width}:0] sum_{at} = {six};\n")
    });
    let all = (0..shown.len().div_ceil(LUT_INPUTS)).map(|at| format!("sum_{at}"));
    format!(
        "{}always @(*) read_data = {};",
        sums.collect::<String>(),
        all.collect::<Vec<_>>().join(" | ")
    )
}

/// The banks that a deep memory is cut into.
struct Banks {
    style: &'static str,
    bits: usize,
    /// Address bits of the memory.
    address_bits: usize,
    /// Address bits of a bank.
    low: usize,
}

impl Banks {
    fn count(&self) -> usize {
        1 << (self.address_bits - self.low)
    }

    /// Verilog of bank `at`, a number or a genvar; `of` makes its names differ from the others'.
    fn bank(&self, at: &str, of: &str, at_power_up: &str) -> String {
        format!(
            "\
(* ram_style = \"{style}\" *) reg [{width}:0] memory{of}[{last}:0];
reg [{width}:0] latch{of};
reg [{width}:0] registered{of};
{at_power_up}

always @(posedge clock) begin
   if (read_enable) begin
      if (read_address[{top}:{low}] == {at}) latch{of} <= memory{of}[read_address[{place}:0]];
      else latch{of} <= {bits}'d0;
   end
   if (register_enable) registered{of} <= latch{of};
   if (write_enable && write_address[{top}:{low}] == {at}) begin
      memory{of}[write_address[{place}:0]] <= write_data;
   end
end
",
            style = self.style,
            width = self.bits - 1,
            last = (1usize << self.low) - 1,
            top = self.address_bits - 1,
            low = self.low,
            place = self.low - 1,
            bits = self.bits,
        )
    }

    /// Verilog of all banks, zeros at power-up.
    fn zeroed(&self) -> String {
        let names = Vec::from_iter((0..self.count()).map(|at| format!("_{at}")));
        let banks = names.iter().enumerate().map(|(at, of)| {
            let zeros = zeros(&format!("memory{of}"), self.bits, 1 << self.low);
            self.bank(&at.to_string(), of, &zeros)
        });
        let shown = Vec::from_iter(names.iter().map(|of| format!("registered{of}")));
        banks.collect::<String>() + &sum_of(&shown, self.bits)
    }

    /// Verilog of all banks, undefined at power-up.
    fn undefined(&self) -> String {
        let (count, width) = (self.count(), self.bits - 1);
        let shown = Vec::from_iter((0..count).map(|bank| format!("shown[{bank}]")));
        format!(
            "\
wire [{width}:0] shown[{last}:0];
genvar bank;
generate for (bank = 0; bank < {count}; bank = bank + 1) begin : bank_of
{bank}assign shown[bank] = registered;
end endgenerate
{sum}",
            last = count - 1,
            bank = self.bank("bank", "", UNDEFINED),
            sum = sum_of(&shown, self.bits),
        )
    }
}

/// What stands in place of the zeros of a memory that has none.
const UNDEFINED: &str = "// Undefined at power-up.";

/// The memory, 2^ADDRESS_BITS entries of T. See the module's head.
#[derive(LogicBlock, Default)]
pub struct BlockRam<T: Synth, const ADDRESS_BITS: usize> {
    /// Clock of both ports.
    pub clock: Signal<In, Clock>,
    /// Entry to read.
    pub read_address: Signal<In, Bits<ADDRESS_BITS>>,
    /// Latch the entry at `read_address`.
    pub read_enable: Signal<In, Bit>,
    /// What was latched before moves on to `read_data`.
    pub register_enable: Signal<In, Bit>,
    /// The entry that moved on last, from the next cycle on.
    pub read_data: Signal<Out, T>,
    /// Entry to write.
    pub write_address: Signal<In, Bits<ADDRESS_BITS>>,
    /// New value of the entry at `write_address`.
    pub write_data: Signal<In, T>,
    /// Write in this cycle.
    pub write_enable: Signal<In, Bit>,
    _store: Store<T>,
    _latch: T,
    _zeroed: bool,
}

impl<T: Synth, const ADDRESS_BITS: usize> BlockRam<T, ADDRESS_BITS> {
    /// A memory that powers up as zeros.
    pub fn zeroed() -> Self {
        Self { _zeroed: true, ..Self::default() }
    }
}

impl<T: Synth, const ADDRESS_BITS: usize> Logic for BlockRam<T, ADDRESS_BITS> {
    fn update(&mut self) {
        if self.clock.pos_edge() {
            if self.register_enable.val() {
                self.read_data.next = self._latch;
            }
            if self.read_enable.val() {
                let at = self.read_address.val().index();
                self._latch = self._store.get(&at).copied().unwrap_or_default();
            }
            if self.write_enable.val() {
                self._store.insert(self.write_address.val().index(), self.write_data.val());
            }
        }
    }

    fn connect(&mut self) {
        self.read_data.connect();
    }

    fn hdl(&self) -> Verilog {
        let style = style(T::BITS, ADDRESS_BITS);
        let low = bank_address_bits(T::BITS, ADDRESS_BITS);
        if low < ADDRESS_BITS {
            let banks = Banks { style, bits: T::BITS, address_bits: ADDRESS_BITS, low };
            let text = if self._zeroed { banks.zeroed() } else { banks.undefined() };
            return Verilog::Custom(format!(
                "\
{text}
"
            ));
        }
        Verilog::Custom(format!(
            "\
(* ram_style = \"{style}\" *) reg [{width}:0] memory[{last}:0];
reg [{width}:0] latch;
{at_power_up}

always @(posedge clock) begin
   if (read_enable) latch <= memory[read_address];
   if (register_enable) read_data <= latch;
   if (write_enable) memory[write_address] <= write_data;
end
",
            width = T::BITS - 1,
            last = (1usize << ADDRESS_BITS) - 1,
            at_power_up = if self._zeroed {
                zeros("memory", T::BITS, 1 << ADDRESS_BITS)
            } else {
                UNDEFINED.to_owned()
            },
        ))
    }
}
