//! What `zeronic verilog` writes of a board: its top, constraints, scripts and models.
//!
//! ```text
//!   card, Board ──► zeronic_BOARD.v and its modules; constraints/; board.tcl, the scripts of
//!                   bitstream/; sim/models.v
//! ```

use abi::config::{CardConfig, CONFIGS};
use anyhow::{Context, Result};
use board::description::Board;
use board::script::board_tcl;
use board::tops::{emit_top, PREFIX};
use board::{urams, xdc};
use hdl::crossings::constraints;
use hdl::emit::EmittedCard;

use crate::options::UsageError;

/// Name of a file, and its text.
pub type File = (String, String);

/// The scripts, the same for every board.
const SCRIPTS: [(&str, &str); 5] = [
    ("ip.tcl", include_str!("../../bitstream/ip.tcl")),
    ("build.tcl", include_str!("../../bitstream/build.tcl")),
    ("steps.tcl", include_str!("../../bitstream/steps.tcl")),
    ("judge.tcl", include_str!("../../bitstream/judge.tcl")),
    ("image.tcl", include_str!("../../bitstream/image.tcl")),
];

/// The files of a board around a card.
pub struct BoardFiles {
    /// Verilog of the top, in the order in which tools read it, behind the card's.
    pub verilog: Vec<File>,
    /// All else, some of it in folders.
    pub others: Vec<File>,
}

/// The files of a board around a card in a configuration.
pub fn board_files(
    board: &Board,
    card: &EmittedCard,
    config: &CardConfig,
    single_file: bool,
) -> Result<BoardFiles> {
    let prefix = card.prefix.clone() + PREFIX;
    let top = emit_top(board, config.name, card.top, &prefix).context("the top has no Verilog")?;
    let verilog = match single_file {
        true => vec![(format!("{}.v", board.top()), top.design.single_file())],
        false => {
            let files = top.design.files().into_iter();
            files.filter(|(name, _)| name.ends_with(".v")).collect()
        }
    };
    let mut others: Vec<File> = Vec::new();
    let mut put = |name: &str, text: String| others.push((name.to_owned(), text));
    let window = prefix.clone() + "window";
    put("board.tcl", board_tcl(board, card.top, &window, config));
    for (name, text) in SCRIPTS {
        put(name, text.to_owned());
    }
    for (name, text) in xdc::files(board, &top) {
        put(&format!("constraints/{name}"), text);
    }
    put("constraints/crossings.xdc", constraints(card));
    put("sim/models.v", ip::models::text(board.pcie.kind.core()));
    Ok(BoardFiles { verilog, others })
}

/// Refuses a card that one die of a board cannot hold: nothing in it is registered for a border.
pub fn check_fit(board: &Board, card: &EmittedCard, config: &CardConfig) -> Result<(), UsageError> {
    let taken = urams::of_design(&card.design);
    let die = board.device.die_urams as usize;
    if taken <= die {
        return Ok(());
    }
    let smaller = CONFIGS
        .iter()
        .filter(|other| other.segment_bits < config.segment_bits);
    let smaller: Vec<&str> = smaller.map(|other| other.name).collect();
    Err(UsageError(format!(
        "configuration '{}' takes {taken} URAM, a die of the {} has {die}; smaller ones: {}",
        config.name,
        board.name,
        smaller.join(", ")
    )))
}
