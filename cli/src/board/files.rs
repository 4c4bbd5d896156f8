//! What `zeronic verilog` writes of a board: its top, constraints, scripts and models.
//!
//! ```text
//!   card, Board ──► zeronic_BOARD.v and its modules; constraints/; board.tcl, the scripts of
//!                   bitstream/; sim/models.v
//! ```

use ::verilog::Design;
use abi::config::{CardConfig, CONFIGS};
use anyhow::{Context, Result};
use board::boards::BOARDS;
use board::description::Board;
use board::script::{board_tcl, golden_tcl};
use board::tops::{emit_golden, emit_top, GOLDEN_PREFIX, PREFIX};
use board::xdc::FAR_CELLS;
use board::{urams, xdc};
use hdl::crossings::constraints;
use hdl::emit::EmittedCard;

use crate::card::folder::File;
use crate::shared::options::UsageError;

/// The configuration of the default sizes with its receive list in a die of its own.
const FAR_CONFIG: &str = "default-slices";

/// The scripts, the same for every board.
const SCRIPTS: [(&str, &str); 6] = [
    ("ip.tcl", include_str!("../../../bitstream/ip.tcl")),
    ("build.tcl", include_str!("../../../bitstream/build.tcl")),
    ("netlist.tcl", include_str!("../../../bitstream/netlist.tcl")),
    ("steps.tcl", include_str!("../../../bitstream/steps.tcl")),
    ("judge.tcl", include_str!("../../../bitstream/judge.tcl")),
    ("image.tcl", include_str!("../../../bitstream/image.tcl")),
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
    let verilog = verilog_files(&board.top(), &top.design, single_file);
    let mut others: Vec<File> = Vec::new();
    let mut put = |name: &str, text: String| others.push((name.to_owned(), text));
    let window = prefix.clone() + "window";
    put("board.tcl", board_tcl(board, card.top, &window, config));
    for (name, text) in SCRIPTS {
        put(name, text.to_owned());
    }
    for (name, text) in xdc::files(board, &top, card.has_far_list) {
        put(&format!("constraints/{name}"), text);
    }
    put("constraints/crossings.xdc", constraints(card));
    put("sim/models.v", ip::models::text(board.pcie.kind.core()));
    Ok(BoardFiles { verilog, others })
}

/// The files of a board's golden image, and its design; the names of its modules begin with
/// `prefix`.
pub fn golden_files(
    board: &Board,
    prefix: &str,
    single_file: bool,
) -> Result<(Design, BoardFiles)> {
    let prefix = prefix.to_owned() + GOLDEN_PREFIX;
    let Some(top) = emit_golden(board, &prefix) else {
        return Err(UsageError(format!(
            "the golden image of the {} is the vendor's factory image, which stays as it is; \
             boards with one of ours: {}",
            board.name,
            with_golden()
        ))
        .into());
    };
    let top = top.context("the golden image has no Verilog")?;
    let mut others: Vec<File> = Vec::new();
    let mut put = |name: &str, text: String| others.push((name.to_owned(), text));
    put("board.tcl", golden_tcl(board, &(prefix + "golden_window")));
    for (name, text) in SCRIPTS {
        put(name, text.to_owned());
    }
    put("constraints/pins.xdc", xdc::pins(board, &top.constraints));
    put("constraints/config.xdc", xdc::config(board));
    put("constraints/window.xdc", xdc::golden_window(board));
    put("sim/models.v", ip::models::text(board.pcie.kind.core()));
    let verilog = verilog_files(&board.golden_top(), &top.design, single_file);
    Ok((top.design, BoardFiles { verilog, others }))
}

/// Names of the boards with a golden image of ours.
fn with_golden() -> String {
    let boards = BOARDS.iter().filter(|board| board.has_golden());
    let names: Vec<&str> = boards.map(|board| board.name).collect();
    names.join(", ")
}

/// The Verilog of a top, in one file or as it is.
fn verilog_files(top: &str, design: &Design, single_file: bool) -> Vec<File> {
    match single_file {
        true => vec![(format!("{top}.v"), design.single_file())],
        false => {
            let files = design.files().into_iter();
            files.filter(|(name, _)| name.ends_with(".v")).collect()
        }
    }
}

/// Refuses a card that a board's dies cannot hold: all but a far list is in one of them, as nothing
/// else is registered for a border.
pub fn check_fit(board: &Board, card: &EmittedCard, config: &CardConfig) -> Result<(), UsageError> {
    let far = if card.has_far_list { urams::of_instance(&card.design, FAR_CELLS[0]) } else { 0 };
    let taken = urams::of_design(&card.design) - far;
    let die = board.device.die_urams as usize;
    if taken.max(far) <= die {
        return Ok(());
    }
    let smaller = CONFIGS
        .iter()
        .filter(|other| other.name == FAR_CONFIG || other.segment_bits < config.segment_bits);
    let smaller: Vec<&str> = smaller.map(|other| other.name).collect();
    Err(UsageError(format!(
        "configuration '{}' takes {taken} URAM, a die of the {} has {die}; these fit: {}",
        config.name,
        board.name,
        smaller.join(", ")
    )))
}
