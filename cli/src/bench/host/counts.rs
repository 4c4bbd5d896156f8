//! Counts that are committed, and what was counted beside them: instructions and allocations.
//!
//! ```text
//!   docs/host_counts.toml:  profile ─► compiler, work ─► counts ──┬── within 5 %?
//!   this program:           profile,   compiler, work ─► counts ──┘
//! ```
//! Instructions are those of one compiler and profile: where these differ, or Valgrind is not
//! installed, they are shown and not compared. Allocations always are.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use super::valgrind;
use super::work::{Worker, Workload};
use crate::shared::options::UsageError;
use crate::shared::table::table;

/// Greatest difference, as a share of what is committed.
const DIFFERENCE_MAX: f64 = 0.05;
/// Difference of allocations that is none: a table that grows once in thousands of packets.
const ALLOCATIONS_MIN: f64 = 0.01;
/// Difference of commands that is none: floors at the edges of what is counted.
const COMMANDS_MIN: f64 = 0.03;
/// Batches in which allocations are counted, after as many for warming up.
const BATCHES: usize = 64;
/// What is counted, by the name that the file has for it.
const COUNTED: [(&str, Workload); 6] = [
    ("ack_taken", Workload::AckTaken),
    ("ack_written", Workload::AckWritten),
    ("message_received", Workload::ReceiveMessages),
    ("message_sent", Workload::SendMessages),
    ("receive", Workload::Receive),
    ("send", Workload::Send),
];
const HEAD: &str = "\
# What the control stack costs a packet, by `zeronic bench host`: instructions as Valgrind counts
# them, and allocations. A test compares those of the profile in which it was built (`dev`) within
# 5 %. After a change: ZERONIC_BLESS=1 cargo test --workspace --test cli counts
# and, for `release`: cargo run --release -- bench host --counts docs/host_counts.toml --bless

";

/// Counts of one packet, descriptor or ACK.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Counts {
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<f64>,
    allocations: f64,
    /// Of messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    commands: Option<f64>,
}

/// Counts of one profile.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Counted {
    rustc: String,
    #[serde(flatten)]
    work: BTreeMap<String, Counts>,
}

/// By profile.
type Committed = BTreeMap<String, Counted>;

/// The compiler and the profile of this program.
fn build_identity() -> (&'static str, &'static str) {
    let profile = match env!("ZERONIC_PROFILE") {
        "debug" => "dev",
        other => other,
    };
    (env!("ZERONIC_RUSTC"), profile)
}

fn count() -> Result<Counted> {
    let has_valgrind = valgrind::is_there();
    let counts = |(name, work): (&str, Workload)| {
        let mut worker = Worker::open(work, 1)?;
        worker.allocations((work, 1), BATCHES)?;
        let allocations = worker.allocations((work, 1), BATCHES)?;
        let counted = work.is_messages().then(|| worker.commands_each(work, 1, BATCHES));
        let instructions = has_valgrind.then(|| valgrind::instructions(work, 1));
        let counts = Counts {
            instructions: instructions.transpose()?.map(f64::round),
            allocations: (allocations * 1000.0).round() / 1000.0,
            commands: counted.transpose()?.map(|commands| (commands * 1000.0).round() / 1000.0),
        };
        Ok((name.to_owned(), counts))
    };
    Ok(Counted {
        rustc: build_identity().0.to_owned(),
        work: COUNTED.into_iter().map(counts).collect::<Result<_>>()?,
    })
}

/// Whether a count is near enough to the committed one.
fn is_near(found: f64, committed: f64, least: f64) -> bool {
    (found - committed).abs() <= (committed * DIFFERENCE_MAX).max(least)
}

/// What is said of the counts, why instructions are not compared, and whether all are near enough.
fn compare(found: &Counted, committed: &Counted) -> (String, Option<String>, bool) {
    let has_valgrind = found.work.values().all(|one| one.instructions.is_some());
    let skipped = match (found.rustc == committed.rustc, has_valgrind) {
        (_, false) => Some("no valgrind".to_owned()),
        (false, _) => Some(format!("rustc {} instead of {}", found.rustc, committed.rustc)),
        (true, true) => None,
    };
    let mut table = table(&["count", "found", "committed", "verdict"]);
    let mut all = true;
    let mut row = |name: String, found: Option<f64>, committed: Option<f64>, least: f64| {
        let is_compared = least > 0.0 || skipped.is_none();
        let near = match (found, committed, is_compared) {
            (_, _, false) => None,
            (Some(found), Some(committed), true) => Some(is_near(found, committed, least)),
            _ => Some(false),
        };
        all &= near != Some(false);
        let shown = |count: Option<f64>| count.map_or("-".to_owned(), |count| count.to_string());
        let verdict = match near {
            Some(true) => "near enough",
            Some(false) => "DIFFERS",
            None => "not compared",
        };
        table.add_row([name, shown(found), shown(committed), verdict.to_owned()]);
    };
    for (name, work) in &found.work {
        let known = committed.work.get(name);
        let committed = known.and_then(|known| known.instructions);
        row(format!("{name}, instructions"), work.instructions, committed, 0.0);
        let committed = known.map(|known| known.allocations);
        let found = Some(work.allocations);
        row(format!("{name}, allocations"), found, committed, ALLOCATIONS_MIN);
        if let Some(commands) = work.commands {
            let committed = known.and_then(|known| known.commands);
            row(format!("{name}, commands"), Some(commands), committed, COMMANDS_MIN);
        }
    }
    (table.to_string(), skipped, all)
}

fn read(path: &Path) -> Result<Committed, UsageError> {
    let failed = |why: &str| UsageError(format!("--counts {}: {}", path.display(), why.trim()));
    let text = std::fs::read_to_string(path).map_err(|error| failed(&error.to_string()))?;
    toml::from_str(&text).map_err(|error| failed(error.message()))
}

/// Counts and compares with the file. Returns what is to be said, and whether all is near enough.
pub fn check(path: &Path) -> Result<(String, bool)> {
    let (rustc, profile) = build_identity();
    let committed = read(path)?;
    let committed = committed.get(profile);
    let missing = || UsageError(format!("--counts {}: none of {profile}", path.display()));
    let committed = committed.ok_or_else(missing)?;
    let (table, skipped, ok) = compare(&count()?, committed);
    let mut text = format!("profile {profile}, rustc {rustc}\n{table}\n");
    if let Some(why) = skipped {
        text += &format!("skipped: instructions: {why}\n");
    }
    text += match ok {
        true => "counts are within 5 % of those committed\n",
        false => "counts are NOT within 5 % of those committed\n",
    };
    Ok((text, ok))
}

/// Counts and writes the file; other profiles in it stay as they are.
pub fn bless(path: &Path) -> Result<String> {
    let (rustc, profile) = build_identity();
    let counted = count()?;
    let has_valgrind = counted.work.values().all(|one| one.instructions.is_some());
    anyhow::ensure!(has_valgrind, "instructions are counted with valgrind: it is not installed");
    let mut all = if path.exists() { read(path)? } else { Committed::new() };
    all.insert(profile.to_owned(), counted);
    let text = HEAD.to_owned() + &toml::to_string(&all)?;
    std::fs::write(path, text).with_context(|| format!("--counts {}", path.display()))?;
    Ok(format!("wrote {}: profile {profile}, rustc {rustc}\n", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count_row(rustc: &str, instructions: Option<f64>, allocations: f64) -> Counted {
        let counts = Counts { instructions, allocations, commands: None };
        Counted { rustc: rustc.to_owned(), work: BTreeMap::from([("receive".to_owned(), counts)]) }
    }

    #[test]
    fn changes_above_five_percent_differ() {
        let committed = count_row("1.2.3", Some(1000.0), 0.0);
        for (instructions, allocations, expected) in [
            (1050.0, 0.01, true),
            (950.0, 0.0, true),
            (1051.0, 0.0, false),
            (949.0, 0.0, false),
            (1000.0, 0.02, false),
        ] {
            let found = count_row("1.2.3", Some(instructions), allocations);
            let (said, skipped, ok) = compare(&found, &committed);
            assert_eq!((skipped, ok), (None, expected), "{said}");
        }
    }

    #[test]
    fn instructions_of_other_compiler_are_only_shown() {
        let committed = count_row("1.2.3", Some(1000.0), 1.0);
        for (found, why) in [
            (count_row("1.2.4", Some(2000.0), 1.0), "1.2.4"),
            (count_row("1.2.3", None, 1.0), "valgrind"),
        ] {
            let (said, skipped, ok) = compare(&found, &committed);
            assert!(ok && skipped.is_some_and(|text| text.contains(why)), "{said}");
            assert!(said.contains("not compared"), "{said}");
        }
        let found = count_row("1.2.4", Some(2000.0), 2.0);
        assert!(!compare(&found, &committed).2, "allocations are compared");
    }

    #[test]
    fn file_reads_back_as_written() {
        let all = Committed::from([("dev".to_owned(), count_row("1.2.3", Some(5.0), 0.5))]);
        let text = HEAD.to_owned() + &toml::to_string(&all).expect("text");
        assert_eq!(toml::from_str::<Committed>(&text).expect("a table"), all);
    }
}
