//! What two tables of documents say differently.
//!
//! ```text
//!   kept lines ─┬─► only kept: "- line"
//!   new lines ──┴─► only new:  "+ line"
//! ```

/// Lines that stand in one of two tables alone.
pub fn differences<L: PartialEq>(here: &[L], kept: &[L], text: fn(&L) -> String) -> Vec<String> {
    let missing = kept.iter().filter(|line| !here.contains(line));
    let new = here.iter().filter(|line| !kept.contains(line));
    let missing = missing.map(|line| format!("- {}", text(line).trim()));
    missing.chain(new.map(|line| format!("+ {}", text(line).trim()))).collect()
}
