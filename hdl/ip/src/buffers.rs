//! The vendor's buffers for clocks and pads, each in a block with names of ours.
//!
//! ```text
//!   p, n ─► IBUFDS_GTE4 ─┬─► transceivers          p, n ─► IBUFDS ─► BUFGCE ─► clock
//!                        └─► BUFG_GT ─► clock       pad ◄─ IOBUF ─► level
//! ```
//! Timing: no registers.
//!
//! Source: UG974 (UltraScale+ primitives). `sim/tests/boards` compares the pins named here with
//! those that Yosys knows.

use stream::prelude::*;

/// Reference clock of transceivers: to them, and through a clock buffer to fabric.
#[derive(LogicBlock, Default)]
pub struct ReferenceClock {
    /// Pad, positive.
    pub p: Signal<In, Clock>,
    /// Pad, negative.
    pub n: Signal<In, Clock>,
    /// The clock for transceivers.
    pub transceiver: Signal<Out, Clock>,
    /// The same clock for fabric.
    pub fabric: Signal<Out, Clock>,
}

impl Logic for ReferenceClock {
    fn update(&mut self) {
        self.transceiver.next = self.p.val();
        self.fabric.next = self.p.val();
    }

    fn connect(&mut self) {
        self.transceiver.connect();
        self.fabric.connect();
    }

    fn hdl(&self) -> Verilog {
        Verilog::Wrapper(Wrapper {
            code: "\
wire half;
IBUFDS_GTE4 #(
    .REFCLK_HROW_CK_SEL(2'b00)
) pads (
    .I(p),
    .IB(n),
    .CEB(1'b0),
    .O(transceiver),
    .ODIV2(half)
);
BUFG_GT buffer (
    .I(half),
    .CE(1'b1),
    .CEMASK(1'b1),
    .CLR(1'b0),
    .CLRMASK(1'b1),
    .DIV(3'b000),
    .O(fabric)
);
"
            .to_owned(),
            cores: String::new(),
        })
    }
}

/// Clock at ordinary pins.
#[derive(LogicBlock, Default)]
pub struct PinClock {
    /// Pad, positive.
    pub p: Signal<In, Clock>,
    /// Pad, negative.
    pub n: Signal<In, Clock>,
    /// The clock.
    pub clock: Signal<Out, Clock>,
}

impl Logic for PinClock {
    fn update(&mut self) {
        self.clock.next = self.p.val();
    }

    fn connect(&mut self) {
        self.clock.connect();
    }

    fn hdl(&self) -> Verilog {
        Verilog::Wrapper(Wrapper {
            code: "\
wire single;
IBUFDS pads (
    .I(p),
    .IB(n),
    .O(single)
);
BUFGCE buffer (
    .I(single),
    .CE(1'b1),
    .O(clock)
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
