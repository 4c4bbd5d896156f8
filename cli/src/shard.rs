//! A part of a measurement: which runs it has, and the lines of JSON that it writes.
//!
//! ```text
//!   {"measurement", "shard", "shards", "cases", "command", "parameters"}
//!   {"case", "outcome"}        one for each of its runs
//!   {"end"}                    how many: a file without it is of a shard that died
//! ```
//! Run i belongs to shard i mod n: long runs stand together and are spread.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{Context, Result};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Most shards of a measurement.
const SHARDS_MAX: u64 = 100_000;

/// The k-th of n parts, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    number: u64,
    count: u64,
}

impl Shard {
    /// One of so many, from 1; `None` if there is no such part.
    pub fn new(number: u64, count: u64) -> Option<Self> {
        let is_valid = (1..=count).contains(&number) && count <= SHARDS_MAX;
        is_valid.then_some(Self { number, count })
    }

    /// Which it is, from 1.
    pub fn number(self) -> u64 {
        self.number
    }

    /// Whether a run is part of it.
    pub fn has(self, case: usize) -> bool {
        case as u64 % self.count == self.number - 1
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.count)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("'{text}' is not k/n, with k from 1 to n and n to {SHARDS_MAX}");
        let (number, count) = text.split_once('/').ok_or_else(wrong)?;
        let (number, count) = (number.parse().ok(), count.parse().ok());
        number.zip(count).and_then(|(number, count)| Self::new(number, count)).ok_or_else(wrong)
    }
}

/// The first line of a shard's file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Head {
    /// Its name.
    pub measurement: String,
    /// Its number, from 1.
    pub shard: u64,
    /// How many there are.
    pub shards: u64,
    /// Runs of all shards together.
    pub cases: usize,
    /// What runs the whole.
    pub command: String,
    /// What is measured.
    pub parameters: Value,
}

#[derive(Serialize, Deserialize)]
struct Line<T> {
    case: usize,
    outcome: T,
}

#[derive(Serialize, Deserialize)]
struct End {
    end: usize,
}

impl Head {
    /// Of a part of a measurement that has so many runs, all parts together, and that a command
    /// runs as a whole.
    pub fn new(
        measurement: &str,
        shard: Shard,
        cases: usize,
        command: &str,
        parameters: &impl Serialize,
    ) -> Result<Self> {
        Ok(Self {
            measurement: measurement.to_owned(),
            shard: shard.number,
            shards: shard.count,
            cases,
            command: command.to_owned(),
            parameters: serde_json::to_value(parameters)?,
        })
    }
}

/// The lines of a shard's outcomes, in the order of the runs.
pub fn lines<T: Serialize>(head: &Head, outcomes: Vec<(usize, T)>) -> Result<String> {
    let mut text = serde_json::to_string(head)? + "\n";
    let end = outcomes.len();
    for (case, outcome) in outcomes {
        text += &(serde_json::to_string(&Line { case, outcome })? + "\n");
    }
    Ok(text + &serde_json::to_string(&End { end })? + "\n")
}

/// What a shard's file holds.
#[derive(Clone, Debug, PartialEq)]
pub struct ShardFile {
    /// Where it is.
    pub path: PathBuf,
    /// Its first line.
    pub head: Head,
    /// Which shard it is of.
    pub shard: Shard,
    /// Outcomes by run.
    pub outcomes: BTreeMap<usize, Value>,
    /// Whether it ends as it should, with exactly the runs of its shard.
    pub is_complete: bool,
}

impl ShardFile {
    /// Reads one. What comes after a line that is cut short is not looked at.
    pub fn read(path: &Path, text: &str) -> Result<Self> {
        let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
        let head: Head = serde_json::from_str(first).context("it is not a shard's")?;
        let (number, count) = (head.shard, head.shards);
        let shard = Shard::new(number, count);
        let shard = shard.with_context(|| format!("there is no shard {number}/{count}"))?;
        let (path, outcomes) = (path.to_path_buf(), BTreeMap::new());
        let mut file = Self { path, head, shard, outcomes, is_complete: false };
        for line in rest.lines() {
            if let Ok(End { end }) = serde_json::from_str(line) {
                file.is_complete = end == file.outcomes.len() && file.has_its_runs();
                break;
            }
            let Ok(Line { case, outcome }) = serde_json::from_str(line) else { break };
            file.outcomes.insert(case, outcome);
        }
        Ok(file)
    }

    /// Its outcomes, by run.
    pub fn read_outcomes<T: DeserializeOwned>(&self) -> Result<BTreeMap<usize, T>> {
        let read = |(case, outcome): (&usize, &Value)| {
            let outcome = serde_json::from_value(outcome.clone());
            let file = || format!("file {}, run {case}", self.path.display());
            Ok((*case, outcome.with_context(file)?))
        };
        self.outcomes.iter().map(read).collect()
    }

    fn has_its_runs(&self) -> bool {
        let cases = (0..self.head.cases).filter(|it| self.shard.has(*it));
        cases.eq(self.outcomes.keys().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_are_parts() {
        assert_eq!("2/4".parse().ok(), Shard::new(2, 4));
        for wrong in ["0/4", "5/4", "1/0", "4", "1/100001", "a/b", "-1/2"] {
            assert!(wrong.parse::<Shard>().is_err_and(|text| text.contains(wrong)));
        }
        for case in 0..100 {
            let all = (1..=7).filter_map(|number| Shard::new(number, 7));
            let owners = all.filter(|shard| shard.has(case)).count();
            assert_eq!(owners, 1, "{case}");
        }
    }
}
