//! Pads that every board has, as bundles.
//!
//! ```text
//!   bundle pcie, field rx_p  ──►  port pcie_rx_p of the top
//! ```
//! Source: `crate::boards` has their package pins.

use stream::prelude::*;

/// Pads at the slot; the bundle is called `pcie`.
#[derive(Clone, Debug, Default, LogicInterface)]
pub struct SlotPads {
    /// Reference clock, positive.
    pub refclk_p: Signal<In, Clock>,
    /// Reference clock, negative.
    pub refclk_n: Signal<In, Clock>,
    /// PERST#, active low.
    pub reset_n: Signal<In, Bit>,
    /// Receive lanes, positive.
    pub rx_p: Signal<In, Bits<16>>,
    /// Receive lanes, negative.
    pub rx_n: Signal<In, Bits<16>>,
    /// Send lanes, positive.
    pub tx_p: Signal<Out, Bits<16>>,
    /// Send lanes, negative.
    pub tx_n: Signal<Out, Bits<16>>,
}

/// Pads at the QSFP connector; the bundle is called `qsfp`.
#[derive(Clone, Debug, Default, LogicInterface)]
pub struct WirePads {
    /// Reference clock of the transceivers, positive.
    pub refclk_p: Signal<In, Bit>,
    /// Reference clock of the transceivers, negative.
    pub refclk_n: Signal<In, Bit>,
    /// Receive lanes, positive.
    pub rx_p: Signal<In, Bits<4>>,
    /// Receive lanes, negative.
    pub rx_n: Signal<In, Bits<4>>,
    /// Send lanes, positive.
    pub tx_p: Signal<Out, Bits<4>>,
    /// Send lanes, negative.
    pub tx_n: Signal<Out, Bits<4>>,
}

/// Pads of a clock; the bundle is called `free_clock`.
#[derive(Clone, Debug, Default, LogicInterface)]
pub struct ClockPads {
    /// Positive.
    pub p: Signal<In, Clock>,
    /// Negative.
    pub n: Signal<In, Clock>,
}

/// Pads of a second flash chip, whose clock is that of the first; the bundle is called `flash`.
#[derive(Clone, Debug, Default, LogicInterface)]
pub struct FlashPads {
    /// Selects the chip when low.
    pub select_n: Signal<Out, Bit>,
    /// Data to the chip.
    pub mosi: Signal<Out, Bit>,
    /// Data of the chip; 1 where there is none.
    pub miso: Signal<In, Bit>,
    /// Write protection when low.
    pub protect_n: Signal<Out, Bit>,
    /// Holds the chip when low.
    pub hold_n: Signal<Out, Bit>,
}

/// Levels at and for the pads beside the module, as the window has them.
#[derive(Clone, Debug, Default, LogicInterface)]
pub struct SidePins {
    /// Level of the pin `modprsl`.
    pub modprsl: Signal<In, Bit>,
    /// Level of the pin `intl`.
    pub intl: Signal<In, Bit>,
    /// Level for the pin `modsell`.
    pub modsell: Signal<Out, Bit>,
    /// Level for the pin `resetl`.
    pub resetl: Signal<Out, Bit>,
    /// Level for the pin `lpmode`.
    pub lpmode: Signal<Out, Bit>,
    /// LEDs, lit when 1.
    pub led: Signal<Out, Bits<8>>,
    /// Level of SCL.
    pub scl: Signal<In, Bit>,
    /// Level of SDA.
    pub sda: Signal<In, Bit>,
    /// Drives SCL low.
    pub scl_low: Signal<Out, Bit>,
    /// Drives SDA low.
    pub sda_low: Signal<Out, Bit>,
}
