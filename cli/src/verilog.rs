//! `zeronic verilog`: the card as a Verilog file, its port list and the register manual.
//!
//! ```text
//!   DIR/zeronic.v      the card, flat port names of the vendor's hard blocks
//!   DIR/ports.md       every port with direction, width and meaning
//!   DIR/registers.md   the register manual
//! ```

use std::path::{Path, PathBuf};

use abi::config::{DEFAULT, SMALL};
use anyhow::{Context, Result};
use clap::Args;
use hdl::nic::{emit_card, EmittedCard};

use crate::manual::manual;
use crate::options::UsageError;
use crate::ports::port_table;

/// A board that the card is built for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Board {
    /// Name on the command line.
    pub name: &'static str,
    /// What it is.
    pub description: &'static str,
}

/// The boards, best known first.
pub const BOARDS: &[Board] = &[Board {
    name: "vcu118",
    description: "AMD VCU118, Virtex UltraScale+ VU9P, PCIe 3.0 x16, one 100G port",
}];

/// Arguments of `zeronic verilog`.
#[derive(Debug, Args)]
pub struct VerilogArguments {
    /// Board that the card is for
    #[arg(long, value_name = "NAME", required_unless_present = "manual")]
    board: Option<String>,
    /// Folder to write to; made if missing
    #[arg(long, value_name = "DIR", required_unless_present = "manual")]
    out: Option<PathBuf>,
    /// Sizes of the card's tables: default or small
    #[arg(long, value_name = "NAME", default_value = "default")]
    config: String,
    /// Write the register manual to this file (- is standard output)
    #[arg(long, value_name = "FILE")]
    manual: Option<PathBuf>,
}

/// Runs the command.
pub fn run(arguments: &VerilogArguments) -> Result<bool> {
    if let Some(path) = &arguments.manual {
        write_manual(path)?;
    }
    let (Some(board), Some(out)) = (&arguments.board, &arguments.out) else {
        return Ok(true);
    };
    let board = find_board(board)?;
    let card = card_of(&arguments.config)?;
    std::fs::create_dir_all(out)
        .map_err(|error| UsageError(format!("folder {}: {error}", out.display())))?;
    let title = format!(
        "Module `{}` for {}, configuration {}",
        card.top, board.description, arguments.config
    );
    for (name, text) in [
        ("zeronic.v", card.verilog),
        ("ports.md", port_table(&title, &card.ports)),
        ("registers.md", manual()),
    ] {
        let path = out.join(name);
        std::fs::write(&path, &text).with_context(|| format!("file {}", path.display()))?;
        println!("{} ({} lines)", path.display(), text.lines().count());
    }
    Ok(true)
}

fn write_manual(path: &Path) -> Result<()> {
    if path.as_os_str() == "-" {
        print!("{}", manual());
        return Ok(());
    }
    let written = std::fs::write(path, manual());
    written.map_err(|error| UsageError(format!("file {}: {error}", path.display())).into())
}

fn find_board(name: &str) -> Result<Board, UsageError> {
    let known = || {
        BOARDS
            .iter()
            .map(|board| board.name)
            .collect::<Vec<_>>()
            .join(", ")
    };
    let found = BOARDS.iter().find(|board| board.name == name).copied();
    found.ok_or_else(|| UsageError(format!("unknown board '{name}'; known: {}", known())))
}

/// The card in a configuration.
fn card_of(config: &str) -> Result<EmittedCard> {
    let Some(emitted) = emit_card(config) else {
        let known = [DEFAULT.name, SMALL.name].join(", ");
        let message = format!("unknown configuration '{config}'; known: {known}");
        return Err(UsageError(message).into());
    };
    emitted.context("the card has no Verilog")
}
