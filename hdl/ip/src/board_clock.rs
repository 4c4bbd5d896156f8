//! The board's free clock, and the 100 MHz made of it.
//!
//! ```text
//!   p, n ─► IBUFDS ─┬─► BUFGCE ─► free
//!                   └─► MMCME4_BASE ─┬─► BUFGCE ─► base, 100 MHz
//!                                    └─► locked
//! ```
//! What must run whether or not there is a slot, a link or a wire runs with `base`.
//!
//! Timing: no registers. `locked` belongs to no clock.
//!
//! Invariants:
//! 1. The oscillator of the MMCM runs at 1 GHz, of the 800 to 1,600 MHz that it may, and its phase
//!    detector at 100 MHz or at the frequency of the pins.
//! 2. While `locked` is low, `base` may have any frequency, or none.
//!
//! Source: UG572 (MMCM), UG974, DS923 (its limits); the public designs for the boards make their
//! clocks of the same pins in the same way (Corundum, `fpga/mqnic/*/rtl/fpga*.v`).

use stream::prelude::*;

/// What the MMCM multiplies with and divides by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockFactors {
    /// Period at the pins, ps.
    pub period_ps: u32,
    /// The phase detector gets the clock of the pins divided by this.
    pub divide: u32,
    /// The oscillator runs so many times as fast as the phase detector.
    pub multiply: u32,
}

/// Frequency of the oscillator, MHz.
const OSCILLATOR_MHZ: u32 = 1_000;
/// Frequency of `base`, MHz.
const BASE_MHZ: u32 = 100;

impl ClockFactors {
    /// The factors for a clock of this period.
    pub const fn of(period_ps: u32) -> ClockFactors {
        let mhz = (1_000_000 + period_ps / 2) / period_ps;
        let divide = if mhz.is_multiple_of(BASE_MHZ) { mhz / BASE_MHZ } else { 1 };
        ClockFactors { period_ps, divide, multiply: OSCILLATOR_MHZ * divide / mhz }
    }

    /// Whether `base` comes out at its frequency.
    pub const fn are_exact(&self) -> bool {
        let mhz = (1_000_000 + self.period_ps / 2) / self.period_ps;
        mhz * self.multiply == OSCILLATOR_MHZ * self.divide
    }
}

/// The clocks of a board whose free clock has this period.
///
/// See the module's head.
#[derive(LogicBlock, BlockDefault)]
#[new(period_ps: u32)]
#[require(ClockFactors::of(period_ps).are_exact(), "no 100 MHz of a period of {period_ps} ps")]
pub struct BoardClock {
    /// Pad, positive.
    pub p: Signal<In, Clock>,
    /// Pad, negative.
    pub n: Signal<In, Clock>,
    /// The clock at the pads.
    pub free: Signal<Out, Clock>,
    /// 100 MHz.
    pub base: Signal<Out, Clock>,
    /// `base` has its frequency.
    pub locked: Signal<Out, Bit>,

    #[value(period_ps)]
    _period_ps: u32,
}

impl Logic for BoardClock {
    fn update(&mut self) {
        self.free.next = self.p.val();
        self.base.next = self.p.val();
        self.locked.next = true;
    }

    fn connect(&mut self) {
        self.free.connect();
        self.base.connect();
        self.locked.connect();
    }

    fn hdl(&self) -> Verilog {
        let factors = ClockFactors::of(self._period_ps);
        let code = format!(
            "\
wire single;
wire made;
wire feedback;
IBUFDS pads (
    .I(p),
    .IB(n),
    .O(single)
);
BUFGCE free_buffer (
    .I(single),
    .CE(1'b1),
    .O(free)
);
MMCME4_BASE #(
    .CLKIN1_PERIOD({}.{:03}),
    .DIVCLK_DIVIDE({}),
    .CLKFBOUT_MULT_F({}.000),
    .CLKOUT0_DIVIDE_F({}.000)
) maker (
    .CLKIN1(single),
    .CLKFBIN(feedback),
    .RST(1'b0),
    .PWRDWN(1'b0),
    .CLKFBOUT(feedback),
    .CLKFBOUTB(),
    .CLKOUT0(made),
    .CLKOUT0B(),
    .CLKOUT1(),
    .CLKOUT1B(),
    .CLKOUT2(),
    .CLKOUT2B(),
    .CLKOUT3(),
    .CLKOUT3B(),
    .CLKOUT4(),
    .CLKOUT5(),
    .CLKOUT6(),
    .LOCKED(locked)
);
BUFGCE base_buffer (
    .I(made),
    .CE(1'b1),
    .O(base)
);
",
            factors.period_ps / 1000,
            factors.period_ps % 1000,
            factors.divide,
            factors.multiply,
            OSCILLATOR_MHZ / BASE_MHZ,
        );
        Verilog::Wrapper(Wrapper { code, cores: String::new() })
    }
}
