//! For each test of a choice a mutant that it kills: what no mutant fails holds nothing.
//!
//! ```text
//!   mutants ── all behind switches, one build ──► which tests use which
//!   test ──► the mutants it uses, those first that fewest others use ──► the first it kills
//! ```

use super::group::{Group, Kill};
use super::mutant::Mutant;
use super::runner::Runner;
use super::suites;
use super::tree::Tree;

/// Judges the tests whose names contain `name`, in all suites of the mutants' files.
pub fn judge(
    tree: &Tree,
    runner: &Runner,
    mutants: &[Mutant],
    name: &str,
) -> anyhow::Result<Vec<Kill>> {
    let mut group = Group::new(tree, runner, tree.switched(mutants)?)?;
    let mut kills = Vec::new();
    let mut known = Vec::new();
    for mutant in mutants {
        for suite in suites::of(&mutant.file).unwrap_or_default() {
            if known.contains(&suite) {
                continue;
            }
            known.push(suite);
            kills.extend(group.kills_of_each(suite, name, &mut say)?);
        }
    }
    Ok(kills)
}

/// Prints what was found about a test.
fn say((test, mutant): &Kill) {
    match mutant {
        Some(mutant) => println!("{test} kills {mutant}"),
        None => println!("{test} KILLS NONE"),
    }
}

/// The names of those tests that kill none.
pub fn idle(kills: &[Kill]) -> Vec<&str> {
    let idle = kills.iter().filter(|(_, mutant)| mutant.is_none());
    idle.map(|(test, _)| test.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_that_kills_none_is_named() {
        let text = "fn f() { a < b }";
        let mutant = Mutant::new("x.rs".into(), text, 11..12, ">".into());
        let kills = [("a".to_owned(), mutant), ("b".to_owned(), None)];
        assert!(kills[0].1.is_some());
        assert_eq!(idle(&kills), ["b"]);
    }
}
