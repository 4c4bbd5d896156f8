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
pub fn known() -> String {
    let names = BOARDS.iter().flat_map(|board| {
        let aliases = board.aliases.iter().copied();
        std::iter::once(board.name).chain(aliases)
    });
    names.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_are_unique() {
        let mut names: Vec<&str> = Vec::new();
        let mut numbers = Vec::new();
        for board in BOARDS {
            names.push(board.name);
            names.extend(board.aliases);
            numbers.push(board.number);
        }
        let (all, count) = (names.len(), numbers.len());
        names.sort_unstable();
        names.dedup();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!((names.len(), numbers.len()), (all, count));
        assert!(numbers.iter().all(|number| *number != 0));
    }

    #[test]
    fn aliases_find_their_board() {
        assert_eq!(find("bcu1525").map(|board| board.name), Some("vcu1525"));
        assert_eq!(find("c1100").map(|board| board.name), Some("u55n"));
        assert_eq!(find("pdp11"), None);
    }
}
