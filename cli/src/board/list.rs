//! `zeronic board`: which boards there are, and what is known of each.
//!
//! ```text
//!   board list         one line a board
//!   board show BOARD   device, sites, pins with their sources, flash, licence, notes
//! ```

use std::fmt::Write;

use anyhow::Result;
use board::boards::BOARDS;
use board::description::{Board, Pad, PadKind};
use clap::{Args, Subcommand};
use comfy_table::Table;

use crate::board::find_board;
use crate::shared::failure::STATUSES;
use crate::shared::output::print;
use crate::shared::table::table;

/// Arguments of `zeronic board`.
#[derive(Debug, Args)]
#[command(after_help = STATUSES)]
pub struct BoardArguments {
    #[command(subcommand)]
    what: BoardCommand,
}

#[derive(Debug, Subcommand)]
enum BoardCommand {
    /// List the boards
    List,
    /// Show what is known of a board
    Show {
        /// Name of the board
        #[arg(value_name = "BOARD")]
        board: String,
    },
}

/// Runs the command.
pub fn run(arguments: &BoardArguments) -> Result<bool> {
    match &arguments.what {
        BoardCommand::List => print(&list())?,
        BoardCommand::Show { board } => print(&show(find_board(board)?))?,
    }
    Ok(true)
}

fn list() -> String {
    let mut table = table(&["board", "also", "part", "PCIe", "100G port", "number"]);
    for board in BOARDS {
        table.add_row([
            board.name.to_owned(),
            board.aliases.join(", "),
            board.part.to_owned(),
            board.pcie.kind.primitive().to_owned(),
            board.mac.connector.to_owned(),
            board.number.to_string(),
        ]);
    }
    format!("{table}\n")
}

fn show(board: &Board) -> String {
    let mut text = format!("{}: {}\n\n", board.name, board.summary());
    let facts = facts(board);
    let mut pins = table(&["port", "pins", "kind", "source"]);
    for pad in board.pads {
        pins.add_row([
            pad.port.to_owned(),
            pad.pins.join(" "),
            kind(pad),
            pad.source.name().to_owned(),
        ]);
    }
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{facts}\n\n{pins}\n");
    for note in board.notes {
        let _ = writeln!(text, "- {note}");
    }
    text
}

/// Device, sites, flash and licence of a board.
fn facts(board: &Board) -> Table {
    let (device, pcie, mac, flash) = (&board.device, &board.pcie, &board.mac, &board.flash);
    let rate = match flash.rate_mhz {
        Some(rate) => format!("{rate} MHz"),
        None => "an external clock".to_owned(),
    };
    let rows = [
        ("also called", board.aliases.join(", ")),
        (
            "device",
            format!(
                "IDCODE 0x{:08x} (revision apart), {} dies, {} URAM each",
                device.idcode, device.dies, device.die_urams
            ),
        ),
        (
            "PCIe",
            format!(
                "{}_{}, quads {} to {}, clock at quad {}, die {}; {}",
                pcie.kind.primitive(),
                pcie.site,
                pcie.first_quad,
                pcie.lane_0_quad(),
                pcie.clock_quad,
                pcie.die,
                pcie.source.name()
            ),
        ),
        (
            "MAC",
            format!(
                "CMACE4_{}, GTYE4 {}, {} MHz, die {}; {}",
                mac.site,
                mac.transceivers,
                mac.clock_mhz,
                mac.die,
                mac.source.name()
            ),
        ),
        (
            "flash",
            format!(
                "{}, {} bit, {} MiB, user image at 0x{:08x}, {rate}, {} V",
                flash.chip,
                flash.width_bits,
                flash.size_bytes >> 20,
                flash.user_offset_bytes,
                flash.voltage
            ),
        ),
        ("JTAG", board.jtag.to_owned()),
        ("licence", board.licence.to_owned()),
    ];
    let mut facts = table(&[]);
    for (name, value) in rows.into_iter().filter(|(_, value)| !value.is_empty()) {
        facts.add_row([name.to_owned(), value]);
    }
    facts
}

/// What is at a pad, in words.
fn kind(pad: &Pad) -> String {
    let mhz = |period_ps: u32| format!("{:.2} MHz", 1e6 / f64::from(period_ps));
    match pad.kind {
        PadKind::Transceiver => "transceiver".to_owned(),
        PadKind::ReferenceClock(period_ps) => format!("reference clock, {}", mhz(period_ps)),
        PadKind::ReferenceClockN => "reference clock".to_owned(),
        PadKind::Clock(standard, period_ps) => {
            format!("clock, {}, {}", standard.name(), mhz(period_ps))
        }
        PadKind::ClockN(standard) => format!("clock, {}", standard.name()),
        PadKind::Input(standard) => format!("input, {}, pull-up", standard.name()),
        PadKind::Output(standard, drive_ma) => {
            format!("output, {}, {drive_ma} mA", standard.name())
        }
        PadKind::OpenDrain(standard, drive_ma) => {
            format!("open drain, {}, {drive_ma} mA", standard.name())
        }
    }
}
