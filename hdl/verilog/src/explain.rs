//! From a hierarchical name, as a tool prints it, to the block and field that it comes from.
//!
//! ```text
//!   board_i/card/rx_split/delivery/copy/count_reg[3]_rep__0/D
//!   └ above ┘    └─── instances ───┘└field┘ bit  added └ pin
//! ```
//! Tools add to a name what they do to it. These additions are removed, each as often as it occurs:
//!
//! | added | by |
//! |---|---|
//! | `\` before, a blank after | Verilog, around names that are no plain identifiers |
//! | `FSM_onehot_`, `FSM_sequential_`, `FSM_gray_` before | Vivado, to a state that it re-encoded |
//! | `_reg` | Vivado, to registers and memories |
//! | `_i_2`, `_i_2__0` | Vivado, to the logic before a register |
//! | `_rep`, `_rep__0`, `_replica`, `_replica_1`, `_lopt`, `_psdsp` | Vivado, to copies |
//! | `_srl3`, `_bram_0`, `_uram_0`, `_0_31_0_13` | Vivado, to shift registers and memory parts |

use std::collections::BTreeSet;

/// A name that leads nowhere.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} has no '{part}'{}", place(.module, .path), near_text(.near))]
pub struct UnknownName {
    /// Module that was reached.
    pub module: String,
    /// Instances up to there, joined by `/`.
    pub path: String,
    /// The part that it does not have.
    pub part: String,
    /// What it has that is spelt alike.
    pub near: Vec<String>,
}

fn place(module: &str, path: &str) -> String {
    match path {
        "" => format!("the top module {module}"),
        path => format!("{path} (module {module})"),
    }
}

fn near_text(near: &[String]) -> String {
    match near {
        [] => String::new(),
        near => format!("; near: {}", near.join(", ")),
    }
}

/// The parts of a path; a name between `\` and a blank is one part whatever it contains.
pub(crate) fn parts(path: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = path.trim();
    while !rest.is_empty() {
        let (part, after) = match rest.strip_prefix('\\') {
            Some(escaped) => escaped.split_once(' ').unwrap_or((escaped, "")),
            None => rest.split_once(['/', '.']).unwrap_or((rest, "")),
        };
        if !part.is_empty() {
            parts.push(part);
        }
        rest = after.trim_start_matches(['/', '.']);
    }
    parts
}

/// A pin of a primitive: `D`, `CE`, `DOUTADOUT[3]`.
pub(crate) fn is_pin(part: &str) -> bool {
    let name = part.split('[').next().unwrap_or(part);
    let is_upper = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit();
    name.starts_with(|c: char| c.is_ascii_uppercase()) && name.chars().all(is_upper)
}

/// The bit that a name selects, if it selects one.
pub(crate) fn bit(part: &str) -> Option<usize> {
    let (_, rest) = part.split_once('[')?;
    rest.split(']').next()?.parse().ok()
}

/// The name as printed, then with ever more taken off that tools add.
pub(crate) fn stems(part: &str) -> Vec<String> {
    let mut stems = vec![part.to_owned()];
    let mut rest = part;
    for front in ["FSM_onehot_", "FSM_sequential_", "FSM_gray_"] {
        rest = rest.strip_prefix(front).unwrap_or(rest);
    }
    // What follows a bit is an addition, or a further index.
    rest = rest.split('[').next().unwrap_or(rest);
    stems.push(rest.to_owned());
    while let Some(shorter) = without_added(rest) {
        rest = shorter;
        stems.push(rest.to_owned());
    }
    stems
}

fn without_added(name: &str) -> Option<&str> {
    for end in ["_reg", "_rep", "_replica", "_lopt", "_psdsp"] {
        if let Some(shorter) = name.strip_suffix(end) {
            return Some(shorter);
        }
    }
    let shorter = name.trim_end_matches(|c: char| c.is_ascii_digit());
    if shorter.len() == name.len() {
        return None;
    }
    for end in ["_i_", "_srl", "_bram_", "_uram_", "__", "_replica_"] {
        if let Some(shorter) = shorter.strip_suffix(end) {
            return Some(shorter);
        }
    }
    // `memory_reg_0_31_0_13`: words and bits of a part of distributed memory.
    shorter.strip_suffix('_')
}

/// The names of `known` that are spelt like `part`, nearest first, at most three.
pub(crate) fn near<'a>(part: &str, known: impl Iterator<Item = &'a String>) -> Vec<String> {
    let stems = stems(part);
    let distance = |name: &str| {
        let distances = stems.iter().map(|stem| edits(stem, name));
        distances.min().unwrap_or(usize::MAX)
    };
    let known: BTreeSet<&String> = known.collect();
    let mut ranked: Vec<(usize, &String)> = known
        .into_iter()
        .map(|name| (distance(name), name))
        .filter(|(distance, name)| *distance <= 2 + name.len() / 4)
        .collect();
    ranked.sort();
    ranked.truncate(3);
    ranked.into_iter().map(|(_, name)| name.clone()).collect()
}

/// Letters to put in, take out or change.
fn edits(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (index, letter) in one.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = index + 1;
        for column in 0..other.len() {
            let change = diagonal + usize::from(letter != other[column]);
            diagonal = row[column + 1];
            row[column + 1] = change.min(row[column] + 1).min(diagonal + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leads(printed: &str, name: &str) {
        assert!(stems(printed).iter().any(|stem| stem == name), "{printed}");
    }

    #[test]
    fn what_tools_add_is_taken_off() {
        leads("count_reg[3]", "count");
        leads("count_reg[3]_rep__0", "count");
        leads("count[3]_i_2__1", "count");
        leads("FSM_onehot_state_reg[2]", "state");
        leads("memory_reg_uram_12", "memory");
        leads("memory_reg_0_31_0_13", "memory");
        leads("first_reg_srl2", "first");
        leads("valid_reg_replica_1", "valid");
        leads("valid_i_1", "valid");
        assert_eq!(stems("lane_2")[0], "lane_2");
    }

    #[test]
    fn paths_are_cut_into_parts() {
        assert_eq!(parts("a/b.c[3]/D"), ["a", "b", "c[3]", "D"]);
        assert_eq!(parts("/a/\\b.c /D"), ["a", "b.c", "D"]);
        assert!(is_pin("DOUTADOUT[3]") && is_pin("I0") && !is_pin("count") && !is_pin("3"));
        assert_eq!((bit("count_reg[12]"), bit("count")), (Some(12), None));
    }

    #[test]
    fn near_names_are_offered() {
        let known = ["count", "counter", "address"].map(str::to_owned);
        assert_eq!(near("cuont_reg[2]", known.iter()), ["count"]);
        assert_eq!(near("zebra", known.iter()), [""; 0]);
    }
}
