//! The pins of the device's own configuration flash, which belong to the fabric behind
//! configuration.
//!
//! ```text
//!   serial_clock, selected, mosi ─► STARTUPE3 ══ CCLK, FCS_B, D[3:0]
//!   miso ◄────────────────────────────┘
//! ```
//! Timing: up to 7.5 ns to CCLK and 7 ns from a pin. The primitive passes no edge of the first
//! three clocks on, so the first command after configuration is lost.
//!
//! Invariants:
//! 1. D0 carries `mosi`, D1 is an input, D2 and D3 (write protection, hold) are high.
//!
//! Source: UG570 (STARTUPE3), UG974.

use stream::prelude::*;

/// The pins. See the module's head.
#[derive(LogicBlock, Default)]
pub struct Startup {
    /// Clock of the flash.
    pub serial_clock: Signal<In, Bit>,
    /// The flash is selected.
    pub selected: Signal<In, Bit>,
    /// Data to the flash.
    pub mosi: Signal<In, Bit>,
    /// Data of the flash.
    pub miso: Signal<Out, Bit>,
}

impl Logic for Startup {
    fn update(&mut self) {}

    fn connect(&mut self) {
        self.miso.connect();
    }

    fn hdl(&self) -> Verilog {
        Verilog::Wrapper(Wrapper {
            code: "\
wire [3:0] levels;
STARTUPE3 #(
    .PROG_USR(\"FALSE\"),
    .SIM_CCLK_FREQ(0.0)
) pins (
    .CFGCLK(),
    .CFGMCLK(),
    .DI(levels),
    .EOS(),
    .PREQ(),
    .DO({3'b110, mosi}),
    .DTS(4'b0010),
    .FCSBO(~selected),
    .FCSBTS(1'b0),
    .GSR(1'b0),
    .GTS(1'b0),
    .KEYCLEARB(1'b1),
    .PACK(1'b0),
    .USRCCLKO(serial_clock),
    .USRCCLKTS(1'b0),
    .USRDONEO(1'b1),
    .USRDONETS(1'b1)
);
assign miso = levels[1];
"
            .to_owned(),
            cores: String::new(),
        })
    }
}
