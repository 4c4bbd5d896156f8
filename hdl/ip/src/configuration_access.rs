//! The device's configuration port from inside.
//!
//! ```text
//!   clock, select, reads, word ──► ICAPE3 ──► read_word
//! ```
//! Timing: `word` is taken at each edge of `clock` at which the port is selected. 100 MHz; the port
//! allows 200, and 125 where an image has several dies.
//!
//! Invariants:
//! 1. Bits of each byte are turned round, as the port wants them.
//!
//! Source: UG570 (ICAPE3, data ordering), UG974.

use stream::prelude::*;

/// The port. See the module's head.
#[derive(LogicBlock, Default)]
pub struct ConfigurationAccess {
    /// Clock of the port, 100 MHz.
    pub clock: Signal<In, Clock>,
    /// The port is selected.
    pub select: Signal<In, Bit>,
    /// It is read; otherwise written.
    pub reads: Signal<In, Bit>,
    /// Word to write.
    pub word: Signal<In, Bits<32>>,
    /// Word read.
    pub read_word: Signal<Out, Bits<32>>,
}

/// The word `name` with the bits of each byte turned round.
fn turned(name: &str) -> String {
    let bits = (0..32).rev().map(|bit| format!("{name}[{}]", bit / 8 * 8 + 7 - bit % 8));
    format!("{{{}}}", bits.collect::<Vec<_>>().join(", "))
}

impl Logic for ConfigurationAccess {
    fn update(&mut self) {}

    fn connect(&mut self) {
        self.read_word.connect();
    }

    fn hdl(&self) -> Verilog {
        let code = format!(
            "\
wire [31:0] out;
ICAPE3 #(
    .ICAP_AUTO_SWITCH(\"DISABLE\")
) port (
    .CLK(clock),
    .CSIB(~select),
    .RDWRB(reads),
    .I({}),
    .O(out),
    .AVAIL(),
    .PRDONE(),
    .PRERROR()
);
assign read_word = {};
",
            turned("word"),
            turned("out")
        );
        Verilog::Wrapper(Wrapper { code, cores: String::new() })
    }
}
