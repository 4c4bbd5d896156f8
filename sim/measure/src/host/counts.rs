//! Instructions and allocations of a packet, and how near they are to those of another time.
//!
//! Instructions are those of one compiler and profile: where these differ, or Valgrind is not
//! installed, they are shown and not compared. Allocations always are.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::error::Result;
use super::meter::Program;
use super::valgrind;
use super::work::{Worker, Workload};

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
/// Counts of one packet, descriptor or ACK.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Counts {
    /// Instructions; `None` without Valgrind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<f64>,
    /// Allocations, reallocations among them.
    pub allocations: f64,
    /// Commands to the card, of messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commands: Option<f64>,
}

/// Counts of one profile.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Counted {
    /// Version of the compiler.
    pub rustc: String,
    /// Counts by the name of what is done.
    #[serde(flatten)]
    pub work: BTreeMap<String, Counts>,
}

/// A count beside the committed one.
#[derive(Clone, Debug)]
pub struct ComparedCount {
    /// Whose it is, and of what.
    pub name: String,
    /// What was counted now.
    pub found: Option<f64>,
    /// What is committed.
    pub committed: Option<f64>,
    /// Whether it is near enough; `None` where it is not compared.
    pub is_near: Option<bool>,
}

/// All counts beside the committed ones.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The counts.
    pub rows: Vec<ComparedCount>,
    /// Why instructions are not compared, where they are not.
    pub skipped: Option<String>,
}

impl Comparison {
    /// All that is compared is near enough.
    pub fn is_near(&self) -> bool {
        self.rows.iter().all(|row| row.is_near != Some(false))
    }
}

/// Counts everything with this program, which a compiler of this version has built.
pub fn count_all(program: Program, rustc: &str) -> Result<Counted> {
    let has_valgrind = valgrind::is_there();
    let counts = |(name, work): (&str, Workload)| {
        let mut worker = Worker::open(work, 1)?;
        worker.allocations(program, (work, 1), BATCHES)?;
        let allocations = worker.allocations(program, (work, 1), BATCHES)?;
        let counted = work.is_messages().then(|| worker.commands_each(work, 1, BATCHES));
        let instructions = has_valgrind.then(|| valgrind::instructions(program, work, 1));
        let counts = Counts {
            instructions: instructions.transpose()?.map(f64::round),
            allocations: (allocations * 1000.0).round() / 1000.0,
            commands: counted.transpose()?.map(|commands| (commands * 1000.0).round() / 1000.0),
        };
        Ok((name.to_owned(), counts))
    };
    let work = COUNTED.into_iter().map(counts).collect::<Result<_>>()?;
    Ok(Counted { rustc: rustc.to_owned(), work })
}

impl Counted {
    /// Whether Valgrind has counted all instructions.
    pub fn has_instructions(&self) -> bool {
        self.work.values().all(|one| one.instructions.is_some())
    }

    /// These counts beside the committed ones.
    pub fn compare(&self, committed: &Self) -> Comparison {
        let skipped = match (self.rustc == committed.rustc, self.has_instructions()) {
            (_, false) => Some("no valgrind".to_owned()),
            (false, _) => Some(format!("rustc {} instead of {}", self.rustc, committed.rustc)),
            (true, true) => None,
        };
        let mut rows = Vec::new();
        let mut row = |name: String, found: Option<f64>, committed: Option<f64>, least: f64| {
            let is_compared = least > 0.0 || skipped.is_none();
            let is_near = match (found, committed, is_compared) {
                (_, _, false) => None,
                (Some(found), Some(committed), true) => Some(is_near(found, committed, least)),
                _ => Some(false),
            };
            rows.push(ComparedCount { name, found, committed, is_near });
        };
        for (name, work) in &self.work {
            let known = committed.work.get(name);
            let instructions = known.and_then(|known| known.instructions);
            row(format!("{name}, instructions"), work.instructions, instructions, 0.0);
            let allocations = known.map(|known| known.allocations);
            let found = Some(work.allocations);
            row(format!("{name}, allocations"), found, allocations, ALLOCATIONS_MIN);
            if let Some(commands) = work.commands {
                let committed = known.and_then(|known| known.commands);
                row(format!("{name}, commands"), Some(commands), committed, COMMANDS_MIN);
            }
        }
        Comparison { rows, skipped }
    }
}

/// Whether a count is near enough to the committed one.
fn is_near(found: f64, committed: f64, least: f64) -> bool {
    (found - committed).abs() <= (committed * DIFFERENCE_MAX).max(least)
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
            let compared = found.compare(&committed);
            assert_eq!(compared.skipped, None);
            assert_eq!(compared.is_near(), expected, "{compared:?}");
        }
    }

    #[test]
    fn instructions_of_other_compiler_are_only_shown() {
        let committed = count_row("1.2.3", Some(1000.0), 1.0);
        for (found, why) in [
            (count_row("1.2.4", Some(2000.0), 1.0), "1.2.4"),
            (count_row("1.2.3", None, 1.0), "valgrind"),
        ] {
            let compared = found.compare(&committed);
            let skipped = compared.skipped.as_ref().expect("a reason");
            assert!(compared.is_near() && skipped.contains(why), "{compared:?}");
            assert!(compared.rows.iter().any(|row| row.is_near.is_none()), "{compared:?}");
        }
        let found = count_row("1.2.4", Some(2000.0), 2.0);
        assert!(!found.compare(&committed).is_near(), "allocations are compared");
    }
}
