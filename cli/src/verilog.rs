//! `zeronic verilog`: the card's Verilog, its port list, the register manual, and where names in a
//! timing report come from.
//!
//! ```text
//!   DIR/zeronic_lab.v  the card: flat port names of the vendor's hard blocks
//!   DIR/zeronic_B.v    the top of board B around it
//!   DIR/MODULE.v       every other module; with --single-file all are in these two
//!   DIR/files.f        the Verilog files in the order in which tools read them; card.f: the
//!                      card's alone
//!   DIR/constraints/   pins, configuration, floorplan, crossings of card and window
//!   DIR/*.tcl          what Vivado runs: build.tcl
//!   DIR/sim/models.v   the vendor's blocks for simulators
//!   DIR/ports.md       every port of the card with direction, width and meaning
//!   DIR/registers.md   the register manual
//! ```
//! The card and its file are called after the configuration: `zeronic_lab`, `zeronic_small`. The
//! names of all other modules begin with `zeronic_`, or with what `--prefix` says.
//! Without a board the folder has the card alone, for a simulation of one's own ([`crate::card`]);
//! with one it is that of the board ([`crate::board::folder`]).

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;

use crate::board::find_board;
use crate::board::folder::{write_board, write_golden};
use crate::card::explain::explain;
use crate::card::manual::manual;
use crate::card::{write_card, CardOptions};
use crate::shared::failure::STATUSES;
use crate::shared::output::{print, ResultFile};

/// Arguments of `zeronic verilog`.
#[derive(Debug, Args)]
#[command(after_help = STATUSES)]
pub struct VerilogArguments {
    /// Board that the card is for; without one the card alone is written, for a simulation of your
    /// own
    #[arg(long, value_name = "NAME")]
    board: Option<String>,
    /// Folder to write to; made if missing
    #[arg(long, value_name = "DIR", required_unless_present_any = ["manual", "explain"])]
    out: Option<PathBuf>,
    #[command(flatten)]
    card: CardOptions,
    /// Write the board's golden image: slot, board window and flash, without a card
    #[arg(
        long,
        requires = "board",
        conflicts_with_all = ["config", "completion_headers", "completion_bytes", "explain"]
    )]
    golden: bool,
    /// Print which block, file and field a hierarchical name of a timing report comes from
    #[arg(long, value_name = "SIGNAL", conflicts_with_all = ["out", "board", "single_file"])]
    explain: Option<String>,
    /// Write the register manual, and nothing else, to this file (- is standard output)
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = [
            "out", "board", "config", "completion_headers", "completion_bytes", "prefix",
            "single_file", "explain", "golden",
        ]
    )]
    manual: Option<PathBuf>,
}

/// Runs the command.
pub fn run(arguments: &VerilogArguments) -> Result<bool> {
    if let Some(path) = &arguments.manual {
        write_manual(path)?;
        return Ok(true);
    }
    let card = &arguments.card;
    if let Some(signal) = &arguments.explain {
        print(&explain(&card.emit()?.design, signal)?)?;
    }
    let Some(out) = &arguments.out else { return Ok(true) };
    let said = match &arguments.board {
        None => write_card(card, out)?,
        Some(name) if arguments.golden => write_golden(card, find_board(name)?, out)?.said,
        Some(name) => write_board(card, find_board(name)?, out)?.said,
    };
    print(&said)?;
    Ok(true)
}

fn write_manual(path: &Path) -> Result<()> {
    if path.as_os_str() == "-" {
        return print(&manual());
    }
    ResultFile::prepare("--manual", path)?.write(manual().as_bytes())
}
