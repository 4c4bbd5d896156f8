//! The vendor's system monitor: temperature and voltages of the device.
//!
//! ```text
//!   address, enable ──► SYSMONE4 ──► data, done
//! ```
//! Timing: an access takes some cycles of `clock`; `done` is high for one.
//!
//! Invariants:
//! 1. One access at a time.
//!
//! Source: UG580 (system monitor, dynamic reconfiguration port; the converter's clock is `clock`
//! divided by bits 15:8 of register 0x42, 5 MHz here, 5.2 MHz at most).

use stream::prelude::*;

/// The monitor. See the module's head.
#[derive(LogicBlock, Default)]
pub struct SystemMonitor {
    /// Clock of the accesses, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Register.
    pub address: Signal<In, Bits<8>>,
    /// Reads the register, for one cycle.
    pub enable: Signal<In, Bit>,
    /// Value of the register, with `done`.
    pub data: Signal<Out, Bits<16>>,
    /// The access is done.
    pub done: Signal<Out, Bit>,
}

impl Logic for SystemMonitor {
    fn update(&mut self) {}

    fn connect(&mut self) {
        self.data.connect();
        self.done.connect();
    }

    fn hdl(&self) -> Verilog {
        Verilog::Wrapper(Wrapper {
            code: "\
SYSMONE4 #(
    .INIT_42(16'h3200)
) monitor (
    .DCLK(clock),
    .DADDR(address),
    .DEN(enable),
    .DWE(1'b0),
    .DI(16'd0),
    .DO(data),
    .DRDY(done),
    .RESET(1'b0),
    .CONVST(1'b0),
    .CONVSTCLK(1'b0),
    .VAUXN(16'd0),
    .VAUXP(16'd0),
    .VN(1'b0),
    .VP(1'b0),
    .I2C_SCLK(1'b1),
    .I2C_SDA(1'b1),
    .I2C_SCLK_TS(),
    .I2C_SDA_TS(),
    .SMBALERT_TS(),
    .ADC_DATA(),
    .ALM(),
    .BUSY(),
    .CHANNEL(),
    .EOC(),
    .EOS(),
    .JTAGBUSY(),
    .JTAGLOCKED(),
    .JTAGMODIFIED(),
    .MUXADDR(),
    .OT()
);
"
            .to_owned(),
            cores: String::new(),
        })
    }
}
