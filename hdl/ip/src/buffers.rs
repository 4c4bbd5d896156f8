//! The vendor's buffers for clocks and pads, each in a block with names of ours.
//!
//! ```text
//!   p, n ─► IBUFDS_GTE4 ─┬─► transceiver          pad ◄─ IOBUF ─► level
//!                        └─► divided
//! ```
//! Timing: no registers.
//!
//! Source: UG974 (UltraScale+ primitives). `sim/board/tests/boards` compares the pins named here
//! with those that Yosys knows.

use stream::prelude::*;

/// Reference clock of transceivers, as their cores want it.
///
/// `divided` is no clock for registers: it has no clock buffer. The PCIe core has one of its own
/// (BUFG_GT) behind its port `sys_clk`, and neither a second one at the same output nor one in
/// front of that port can be placed and routed (UG572: what may drive a BUFG_GT). So it leads to
/// one core and to nothing else.
#[derive(LogicBlock, Default)]
pub struct ReferenceClock {
    /// Pad, positive.
    pub p: Signal<In, Clock>,
    /// Pad, negative.
    pub n: Signal<In, Clock>,
    /// The clock for transceivers: output O.
    pub transceiver: Signal<Out, Clock>,
    /// The same clock for the buffer inside a core: output ODIV2, not divided.
    pub divided: Signal<Out, Clock>,
}

impl Logic for ReferenceClock {
    fn update(&mut self) {
        self.transceiver.next = self.p.val();
        self.divided.next = self.p.val();
    }

    fn connect(&mut self) {
        self.transceiver.connect();
        self.divided.connect();
    }

    fn hdl(&self) -> Verilog {
        Verilog::Wrapper(Wrapper {
            code: "\
IBUFDS_GTE4 #(
    .REFCLK_HROW_CK_SEL(2'b00)
) pads (
    .I(p),
    .IB(n),
    .CEB(1'b0),
    .O(transceiver),
    .ODIV2(divided)
);
"
            .to_owned(),
            cores: String::new(),
        })
    }
}

/// A pad that is driven low or not at all.
#[derive(LogicBlock, Default)]
pub struct OpenDrain {
    /// Pad.
    pub pad: Signal<InOut, Bit>,
    /// Drive it low.
    pub low: Signal<In, Bit>,
    /// Level of the pad.
    pub level: Signal<Out, Bit>,
}

impl Logic for OpenDrain {
    fn update(&mut self) {
        self.level.next = self.pad.val();
        self.pad.set_tristate_is_output(self.low.val());
        self.pad.next = false;
    }

    fn connect(&mut self) {
        self.pad.connect();
        self.level.connect();
    }

    fn hdl(&self) -> Verilog {
        Verilog::Wrapper(Wrapper {
            code: "\
IOBUF buffer (
    .IO(pad),
    .I(1'b0),
    .T(~low),
    .O(level)
);
"
            .to_owned(),
            cores: String::new(),
        })
    }
}
