//! Compares two values of many bits.
//!
//! ```text
//!  one, other ──► do three bits differ? ──► ... six of those? ──► ... ──► same
//! ```
//! Timing: combinational, 1 + ceil(log6(BITS / 3)) levels of LUTs. The values between have names
//! that tools keep: left alone, mapping takes half as many LUTs and levels again.

use rust_hdl_core::prelude::*;
use rust_hdl_macros::LogicBlock;

/// Bit pairs that a LUT compares (UG574: six inputs).
const PAIRS: usize = 3;
/// Inputs of a LUT.
const LUT_INPUTS: usize = 6;

/// The comparison of two values of BITS bits. See the module's head.
#[derive(LogicBlock, Default)]
pub struct SameBits<const BITS: usize> {
    /// A value.
    pub one: Signal<In, Bits<BITS>>,
    /// Another value.
    pub other: Signal<In, Bits<BITS>>,
    /// The values are equal.
    pub same: Signal<Out, Bit>,
}

/// Verilog of `to`, which ors `parts` slices of `from`, whose `bits` are padded to that; and the
/// bits of `to`.
fn or_of_slices(from: &str, bits: usize, parts: usize, to: &str) -> (String, usize) {
    let width = bits.div_ceil(parts);
    let padding = width * parts - bits;
    let zeros = match padding {
        0 => String::new(),
        padding => format!("{padding}'d0, "),
    };
    let slices = (0..parts).map(|at| format!("{to}_of[{}:{}]", width * (at + 1) - 1, width * at));
    let slices = slices.collect::<Vec<_>>().join(" | ");
    let text = format!(
        "wire [{}:0] {to}_of = {{{zeros}{from}}};\n\
         (* keep = \"true\" *) wire [{}:0] {to} = {slices};\n",
        width * parts - 1,
        width - 1,
    );
    (text, width)
}

impl<const BITS: usize> Logic for SameBits<BITS> {
    fn update(&mut self) {
        self.same.next = self.one.val() == self.other.val();
    }

    fn connect(&mut self) {
        self.same.connect();
    }

    fn hdl(&self) -> Verilog {
        let (mut levels, mut bits) = or_of_slices("one ^ other", BITS, PAIRS, "differ_0");
        let mut level = 0;
        while bits > LUT_INPUTS {
            let (text, width) = or_of_slices(
                &format!("differ_{level}"),
                bits,
                LUT_INPUTS,
                &format!("differ_{}", level + 1),
            );
            levels += &text;
            (bits, level) = (width, level + 1);
        }
        Verilog::Custom(format!(
            "\
{levels}
always @(*) same = differ_{level} == {bits}'d0;
"
        ))
    }
}
