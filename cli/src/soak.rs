//! `zeronic soak`: random demos and scenarios, each a process of its own, and the command that
//! repeats each.
//!
//! ```text
//!   seed ──► Draw ──► `zeronic demo ...` ──► a child of this program ──► exact, or the reason
//!                                            ended at the limit         one line, JSON at the end
//! ```
//! A child that panics, crashes or hangs fails alone. The limit is in wall-clock time and far above
//! what a demo takes: it ends what hangs, it judges no speed.
//!
//! On the golden model half of them are scenarios, and one that fails is shrunk to the smallest
//! that still does. There no demo has a kernel at an end, and no result has a time: the same seed
//! gives the same bytes, on any machine, in one run or in shards that `merge` joins.

mod child;
mod draw;
mod shrink;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use clap::Args;
use pcie_sim::PcieConfig;
use serde::{Deserialize, Serialize};
use sim::card::SimulatedCard;
use verilate::options::Options;

use self::child::watch;
use self::draw::{Draw, Trial};
use crate::shard::{lines, Head, Shard, ShardFile};
use crate::shared::config::ModelName;
use crate::shared::failure::STATUSES;
use crate::shared::options::{moved_bytes, Bytes, UsageError};
use crate::shared::output::{json_file, print, ResultFile};
use crate::shared::progress::{Progress, Unit};

/// What `merge` finds it by.
pub const NAME: &str = "soak";

/// Arguments of `zeronic soak`.
#[derive(Debug, Args)]
#[command(after_help = STATUSES)]
pub struct SoakArguments {
    /// Demos to run
    #[arg(long, default_value_t = 20, value_name = "N",
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    runs: u32,
    /// Seed of the draw: the same seed gives the same demos
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Most bytes that a demo moves each way (plain, or with KiB, MiB or GiB)
    #[arg(long, default_value = "1MiB", value_name = "MAX", value_parser = moved_bytes)]
    bytes: Bytes,
    /// Wall-clock time after which a demo is ended and counts as failed
    #[arg(long, default_value_t = 300, value_name = "SECONDS",
          value_parser = clap::value_parser!(u64).range(1..=86_400))]
    limit: u64,
    /// Model of the card; with golden, the same seed gives the same bytes: no demo has a kernel at
    /// an end
    #[arg(long, value_enum, default_value_t = ModelName::Rtl)]
    model: ModelName,
    /// Run the k-th of n parts, on the golden model, and write its lines of JSON to FILE or
    /// standard output
    #[arg(long, value_name = "K/N")]
    shard: Option<Shard>,
    /// Write the results as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// What the demos follow from, on the golden model.
#[derive(Debug, Serialize, Deserialize)]
struct Parameters {
    runs: u32,
    seed: u64,
    bytes: u64,
}

/// One finished demo.
#[derive(Debug, Serialize, Deserialize)]
struct Run {
    /// What repeats it.
    command: String,
    /// Every byte was right.
    ok: bool,
    /// Wall-clock time that it took; not of the golden model, so that results can be compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds: Option<f64>,
    /// Why it failed.
    reason: Option<String>,
    /// The smallest command that still fails, of one that has failed on the golden model.
    #[serde(skip_serializing_if = "Option::is_none")]
    smallest: Option<String>,
}

/// All results.
#[derive(Debug, Serialize)]
struct Results {
    ok: bool,
    seed: u64,
    runs: Vec<Run>,
}

/// Runs the demos. True when every one of them is exact.
pub fn run(arguments: &SoakArguments) -> Result<bool> {
    let is_golden = arguments.model == ModelName::Golden;
    if arguments.shard.is_some() && !is_golden {
        let message = "--shard needs --model golden: the results of others have times";
        return Err(UsageError(message.to_owned()).into());
    }
    let json = json_file(arguments.json.as_deref())?;
    let (runs, seed, bytes) = (arguments.runs, arguments.seed, arguments.bytes.0);
    let mut draw = Draw(seed);
    let demos: Vec<Trial> = (0..runs).map(|_| draw.trial(bytes, arguments.model)).collect();
    if !is_golden {
        build_cards(&demos)?;
    }
    let Some(shard) = arguments.shard else {
        let numbered = Vec::from_iter(demos.iter().enumerate());
        let runs = run_all(&numbered, arguments, true)?;
        return finish(seed, runs.into_iter().map(|(_, run)| run).collect(), json);
    };
    let of_shard = demos.iter().enumerate().filter(|(number, _)| shard.has(*number));
    let results = run_all(&Vec::from_iter(of_shard), arguments, false)?;
    let command =
        format!("zeronic soak --model golden --runs {runs} --seed {seed} --bytes {bytes}");
    let head = Head::new(NAME, shard, demos.len(), &command, &Parameters { runs, seed, bytes })?;
    let text = lines(&head, results)?;
    match json {
        Some(json) => json.write(text.as_bytes())?,
        None => print(&text)?,
    }
    Ok(true)
}

/// The report of all shards.
pub fn merge(shards: &[ShardFile], json: Option<ResultFile>) -> Result<bool> {
    let parameters = serde_json::from_value(shards[0].head.parameters.clone());
    let parameters: Parameters =
        parameters.map_err(|error| UsageError(format!("parameters of {NAME}: {error}")))?;
    let mut runs = BTreeMap::new();
    for shard in shards {
        runs.extend(shard.read_outcomes::<Run>()?);
    }
    finish(parameters.seed, runs.into_values().collect(), json)
}

/// Writes and prints what all have come to.
fn finish(seed: u64, runs: Vec<Run>, json: Option<ResultFile>) -> Result<bool> {
    let (count, failed) = (runs.len(), runs.iter().filter(|run| !run.ok).count());
    let results = Results { ok: failed == 0, seed, runs };
    if let Some(json) = json {
        json.write_json(&results)?;
    }
    print(&match failed {
        0 => format!("all {count} runs are exact\n"),
        _ => format!("{failed} of {count} runs FAILED\n"),
    })?;
    Ok(results.ok)
}

/// Runs demos one after the other, and prints a line of each or none.
fn run_all(
    demos: &[(usize, &Trial)],
    arguments: &SoakArguments,
    is_told: bool,
) -> Result<Vec<(usize, Run)>> {
    let program = std::env::current_exe().context("this program has no path")?;
    let limit = Duration::from_secs(arguments.limit);
    let mut progress = Progress::new(demos.len() as u64, Unit::Count("demos"));
    let mut runs = Vec::new();
    for (done, (number, demo)) in demos.iter().enumerate() {
        let message = format!(": {}", demo.command());
        let mut command = Command::new(&program);
        command.args(&demo.arguments);
        let start = Instant::now();
        let ended = watch(&mut command, limit, || progress.set(done as u64, &message))?;
        let seconds = start.elapsed().as_secs_f64();
        let is_shrunk = ended.is_err() && arguments.model == ModelName::Golden;
        let smallest = match is_shrunk {
            true => {
                Some(shrink(&program, demo, limit, || progress.set(done as u64, ": shrinking"))?)
            }
            false => None,
        };
        let run = Run {
            command: demo.command(),
            ok: ended.is_ok(),
            seconds: (arguments.model == ModelName::Rtl).then_some(seconds),
            reason: ended.err(),
            smallest,
        };
        if is_told {
            let line = format!("run {} of {}: {}\n", number + 1, demos.len(), run.text());
            progress.suspend(|| print(&line))?;
        }
        runs.push((*number, run));
    }
    progress.clear();
    Ok(runs)
}

/// The smallest command that still fails.
fn shrink(
    program: &Path,
    trial: &Trial,
    limit: Duration,
    mut look: impl FnMut(),
) -> Result<String> {
    let smallest = shrink::smallest(trial, |smaller| {
        let mut command = Command::new(program);
        let ended = watch(command.args(&smaller.arguments), limit, &mut look)?;
        anyhow::Ok(ended.is_err())
    })?;
    Ok(smallest.command())
}

impl Run {
    /// The line of a run.
    fn text(&self) -> String {
        let command = &self.command;
        let time = |word| self.seconds.map(|seconds| format!(" {word} {seconds:.1} s"));
        match &self.reason {
            None => format!("exact{}: {command}", time("in").unwrap_or_default()),
            Some(reason) => {
                let time = time("after").unwrap_or_default();
                let smallest = self.smallest.as_ref();
                let smallest = smallest.map(|it| format!("\n  smallest that fails: {it}"));
                let smallest = smallest.unwrap_or_default();
                format!("FAILED{time} ({reason}): {command}{smallest}")
            }
        }
    }
}

/// Builds the cards that the demos need, so that no demo's time has the build in it.
fn build_cards(demos: &[Trial]) -> Result<()> {
    let configs: BTreeSet<&str> = demos.iter().map(|demo| demo.config).collect();
    for config in configs {
        SimulatedCard::new(config, PcieConfig::default(), Options::default())
            .context("the card does not build")?;
    }
    Ok(())
}
