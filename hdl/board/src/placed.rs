//! Puts a board's pins on the pads of its top, with rust-hdl's constraint types.
//!
//! ```text
//!   Board, name of the port ──► Location, Kind, Slew, Timing on each bit of the signal
//! ```
//! Drive strength, pull-ups and the end of timing have no type of their own there: they are
//! `Custom` lines.

use rust_hdl_core::prelude::*;

use crate::description::{Board, PadKind, Standard};
use crate::pads::{ClockPads, FlashPads, SlotPads, WirePads};

/// The rust-hdl type of an IO standard.
fn signal_type(standard: Standard) -> SignalType {
    match standard {
        Standard::Lvcmos18 => SignalType::LowVoltageCMOS_1v8,
        other => SignalType::Custom(other.name().to_owned()),
    }
}

/// Puts the pins of a port on a signal. A board without the pad leaves the signal as it is: the
/// tests find a port without pins.
pub fn place<D: Direction, T: Synth>(signal: &mut Signal<D, T>, board: &Board, port: &str) {
    let Some(pad) = board.pad(port) else {
        return;
    };
    for (index, location) in pad.pins.iter().enumerate() {
        let bit = match T::BITS {
            1 => port.to_owned(),
            _ => format!("{port}[{index}]"),
        };
        signal.add_location(index, location);
        if let Some(standard) = pad.kind.standard() {
            signal.add_signal_type(index, signal_type(standard));
        }
        let mut add = |constraint| signal.add_constraint(PinConstraint { index, constraint });
        let custom = |text: String| Constraint::Custom(text);
        let property = |name: &str, value: &str| {
            format!("set_property {name} {value} [get_ports {{ {bit} }}]")
        };
        match pad.kind {
            PadKind::ReferenceClock(period_ps) | PadKind::Clock(_, period_ps) => {
                add(Constraint::Timing(Timing::Periodic(PeriodicTiming {
                    net: port.trim_end_matches("_p").to_owned(),
                    period_nanoseconds: f64::from(period_ps) / 1e3,
                    duty_cycle: 50.0,
                })));
            }
            PadKind::Input(_) => {
                add(custom(property("PULLTYPE", "PULLUP")));
                add(custom(format!("set_false_path -from [get_ports {{ {bit} }}]")));
            }
            PadKind::Output(_, drive_ma) => {
                add(custom(property("SLEW", "SLOW")));
                add(custom(property("DRIVE", &drive_ma.to_string())));
                add(custom(format!("set_false_path -to [get_ports {{ {bit} }}]")));
            }
            PadKind::OpenDrain(_, drive_ma) => {
                add(custom(property("SLEW", "SLOW")));
                add(custom(property("DRIVE", &drive_ma.to_string())));
                add(custom(format!("set_false_path -from [get_ports {{ {bit} }}]")));
                add(custom(format!("set_false_path -to [get_ports {{ {bit} }}]")));
            }
            PadKind::Transceiver | PadKind::ReferenceClockN | PadKind::ClockN(_) => {}
        }
    }
}

/// The pads at the slot, with a board's pins.
pub fn slot_pads(board: &Board) -> SlotPads {
    let mut pads = SlotPads::default();
    place(&mut pads.refclk_p, board, "pcie_refclk_p");
    place(&mut pads.refclk_n, board, "pcie_refclk_n");
    place(&mut pads.reset_n, board, "pcie_reset_n");
    place(&mut pads.rx_p, board, "pcie_rx_p");
    place(&mut pads.tx_p, board, "pcie_tx_p");
    pads
}

/// The pads at the QSFP connector, with a board's pins.
pub fn wire_pads(board: &Board) -> WirePads {
    let mut pads = WirePads::default();
    place(&mut pads.refclk_p, board, "qsfp_refclk_p");
    place(&mut pads.refclk_n, board, "qsfp_refclk_n");
    place(&mut pads.rx_p, board, "qsfp_rx_p");
    place(&mut pads.tx_p, board, "qsfp_tx_p");
    pads
}

/// The pads of the free-running clock, with a board's pins.
pub fn clock_pads(board: &Board) -> ClockPads {
    let mut pads = ClockPads::default();
    place(&mut pads.p, board, "free_clock_p");
    place(&mut pads.n, board, "free_clock_n");
    pads
}

/// The pads of a second flash chip, with a board's pins.
pub fn flash_pads(board: &Board) -> FlashPads {
    let mut pads = FlashPads::default();
    place(&mut pads.select_n, board, "flash_select_n");
    place(&mut pads.mosi, board, "flash_mosi");
    place(&mut pads.miso, board, "flash_miso");
    place(&mut pads.protect_n, board, "flash_protect_n");
    place(&mut pads.hold_n, board, "flash_hold_n");
    pads
}

/// A signal with a board's pins.
pub fn pad<D: Direction, T: Synth>(board: &Board, port: &str) -> Signal<D, T> {
    let mut signal = Signal::default();
    place(&mut signal, board, port);
    signal
}
