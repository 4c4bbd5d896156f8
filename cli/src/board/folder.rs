//! A board's folder: the card with the board around it, or its golden image.
//!
//! ```text
//!   CardOptions ─► card ─┬─ the card's files ──────────────────────────┐
//!   Board ───────────────┴─► board_files: top, constraints, scripts ───┴─► folder::write ─► DIR
//!   Board ─► golden_files ─────────────────────────────────────────────┘
//! ```

use std::path::Path;

use ::verilog::Design;
use abi::config::CardConfig;
use anyhow::Result;
use board::description::Board;
use hdl::emit::EmittedCard;

use crate::board::files::{board_files, check_fit, golden_files};
use crate::card::folder::{self, list, CARD_LIST, LIST};
use crate::card::CardOptions;

/// The folder of a card on a board, as it is written.
pub struct BoardFolder {
    /// The card in it.
    pub card: EmittedCard,
    /// Its configuration.
    pub config: CardConfig,
    /// One line about it.
    pub said: String,
}

/// The folder of a golden image, as it is written.
pub struct GoldenFolder {
    /// The design in it.
    pub design: Design,
    /// One line about it.
    pub said: String,
}

/// Writes the folder of a board with a card. The list of all files is first, so that a later run
/// finds even what an interrupted one has written.
pub fn write_board(options: &CardOptions, board: &Board, out: &Path) -> Result<BoardFolder> {
    let (card, config) = (options.emit()?, options.sizes()?);
    check_fit(board, &card, &config)?;
    let around = board_files(board, &card, &config, options.single_file)?;
    let mut verilog = options.verilog(&card);
    let card_list = list(&verilog);
    verilog.extend(around.verilog);
    let mut files = vec![(LIST.to_owned(), list(&verilog))];
    files.extend(verilog);
    files.push((CARD_LIST.to_owned(), card_list));
    files.extend(around.others);
    files.extend(options.documents(&card, &board.summary()));
    let lines = folder::write(out, &files)?;
    let said = format!(
        "{} files, {lines} lines in {}; card {}, top module {}\n",
        files.len(),
        out.display(),
        card.top,
        board.top()
    );
    Ok(BoardFolder { card, config, said })
}

/// Writes the folder of a board's golden image, which has no card: of the options prefix and single
/// file count.
pub fn write_golden(options: &CardOptions, board: &Board, out: &Path) -> Result<GoldenFolder> {
    let (design, around) = golden_files(board, &options.prefix, options.single_file)?;
    let mut files = vec![(LIST.to_owned(), list(&around.verilog))];
    files.extend(around.verilog);
    files.extend(around.others);
    let lines = folder::write(out, &files)?;
    let said = format!(
        "{} files, {lines} lines in {}; golden image, top module {}\n",
        files.len(),
        out.display(),
        board.golden_top()
    );
    Ok(GoldenFolder { design, said })
}
