//! The boards, and how they are found by name.
//!
//! ```text
//!   name or alias ──► find ──► Board
//! ```

mod hbm;
mod vcu118;
mod vcu1525;

use crate::description::Board;

/// The boards, the best documented first.
pub const BOARDS: &[Board] = &[
    vcu118::VCU118,
    vcu1525::VCU1525,
    vcu1525::U200,
    vcu1525::U250,
    hbm::U280,
    hbm::U55C,
    hbm::U55N,
];

/// The board of a name or an alias.
pub fn find(name: &str) -> Option<&'static Board> {
    let is_it = |board: &&Board| board.name == name || board.aliases.contains(&name);
    BOARDS.iter().find(is_it)
}

/// All names, with the aliases behind them.
pub fn list_names() -> String {
    let names = BOARDS.iter().flat_map(|board| {
        let aliases = board.aliases.iter().copied();
        std::iter::once(board.name).chain(aliases)
    });
    names.collect::<Vec<_>>().join(", ")
}
