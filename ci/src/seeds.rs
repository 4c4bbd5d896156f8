//! `cargo xtask seeds`: runs the random tests again and again, each time with another seed.
//!
//! ```text
//!   cargo test --no-run ─► modules of the programs ─ one run each ─► those with a seed ─┐
//!                                                                        ▼
//!   a failure, its replay, whether it repeats ◄── next seed, on each core, until the time is over
//! ```
//! A test that one seed in a hundred breaks passes the gate for weeks. Here it shows in minutes;
//! what it counts with `seed::enough` shows one that a seed in a million breaks.

mod margin;
mod program;

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZero;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::Mutex;
use std::thread::{available_parallelism, scope};
use std::time::{Duration, Instant};

use anyhow::{bail, Context};
use clap::Args;

use margin::Margins;
use program::{End, Program};

/// What `cargo xtask seeds` takes.
#[derive(Debug, Args)]
pub struct Options {
    /// No run begins after so many minutes; those that build and look for seeds do not count.
    #[arg(long, value_name = "M", default_value_t = 10)]
    minutes: u64,
    /// The first seed; each run takes the next one.
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// Only this test program or module, such as `blocks` or `dma::read`; may be repeated.
    #[arg(long = "test", value_name = "NAME")]
    names: Vec<String>,
    /// Modules whose first run takes longer are left out.
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    slowest: u64,
    /// Modules that run at once; the number of cores without this.
    #[arg(long, value_name = "N")]
    jobs: Option<NonZero<usize>>,
}

/// Runs of one program.
#[derive(Debug, Default)]
struct Tally {
    runs: u64,
    failed: u64,
    margins: Margins,
}

/// Runs the command; an error if a run has failed.
pub fn run(options: &Options) -> anyhow::Result<()> {
    let programs = with_seeds(options)?;
    let first = options.seed.unwrap_or_else(seed::fresh);
    println!("== {} modules with a seed, seeds from {first}", programs.len());
    let tallies = run_all(options, &programs, first);
    let failed = print(&tallies);
    let thin = tallies.iter().flat_map(|(title, tally)| tally.margins.thin(title));
    let thin: Vec<String> = thin.collect();
    thin.iter().for_each(|line| println!("{line}"));
    if failed > 0 || !thin.is_empty() {
        bail!("{failed} runs failed, {} counts are too near to their floor", thin.len());
    }
    Ok(())
}

/// The programs that print a seed, each run once.
fn with_seeds(options: &Options) -> anyhow::Result<Vec<Program>> {
    let built = program::build_programs()?;
    for name in &options.names {
        if !built.iter().any(|part| part.is_meant_by(name)) {
            let known: BTreeSet<&str> = built.iter().map(|part| part.name.as_str()).collect();
            let known: Vec<&str> = known.into_iter().collect();
            bail!("no test program or module `{name}`; programs: {}", known.join(", "));
        }
    }
    let is_asked = |part: &Program| {
        options.names.is_empty() || options.names.iter().any(|name| part.is_meant_by(name))
    };
    let slowest = Duration::from_secs(options.slowest);
    let mut programs = Vec::new();
    for mut program in built.into_iter().filter(is_asked) {
        let seen = program.first_run(slowest)?;
        match seen {
            None => println!("left out: {} takes more than {} s", program.title(), options.slowest),
            Some(false) => (),
            Some(true) => programs.push(program),
        }
    }
    if programs.is_empty() {
        bail!("none of these prints a seed within {} s", options.slowest);
    }
    Ok(programs)
}

/// Takes turns among the programs until the time is over.
fn run_all(options: &Options, programs: &[Program], first: u64) -> BTreeMap<String, Tally> {
    let end = Instant::now() + Duration::from_secs(60 * options.minutes);
    let cores = available_parallelism().map_or(1, NonZero::get);
    let jobs = options.jobs.map_or(cores, NonZero::get);
    let (turn, seed) = (AtomicUsize::new(0), AtomicU64::new(first));
    let tallies = Mutex::new(BTreeMap::<String, Tally>::new());
    let work = || {
        while Instant::now() < end {
            let program = &programs[turn.fetch_add(1, Ordering::Relaxed) % programs.len()];
            let seed = seed.fetch_add(1, Ordering::Relaxed);
            // It may run once more: the others do not wait for that.
            let judged = judge(program, seed);
            let Ok(mut tallies) = tallies.lock() else { return };
            let tally = tallies.entry(program.title()).or_default();
            tally.runs += 1;
            match judged {
                Ok(text) => tally.margins.take(&text),
                Err(reason) => {
                    tally.failed += 1;
                    println!("{reason:#}");
                }
            }
        }
    };
    scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(work);
        }
    });
    tallies.into_inner().unwrap_or_default()
}

/// What a run of a program prints; what does not pass is an error that tells how to repeat it.
fn judge(program: &Program, seed: u64) -> anyhow::Result<String> {
    let ended = program.run(seed);
    let tests = match ended.with_context(|| format!("{} does not run", program.title()))? {
        End::Passed(text) => return Ok(text),
        End::Hung => bail!("HANGS: {}", program.replay(seed, None)),
        End::Failed(tests) => tests,
    };
    let again = match program.run(seed)? {
        End::Failed(again) if again == tests => "again with the same seed",
        End::Passed(_) => "passes with the same seed: it depends on more than the seed",
        _ => "ends otherwise with the same seed: it depends on more than the seed",
    };
    let replays = tests.iter().map(|test| program.replay(seed, Some(test)));
    let replays: Vec<String> = replays.collect();
    bail!("FAILED, {again}:\n    {}", replays.join("\n    "))
}

/// A line for each program; how many runs failed in all.
fn print(tallies: &BTreeMap<String, Tally>) -> u64 {
    for (title, tally) in tallies {
        println!("{:6} runs, {:3} failed  {title}", tally.runs, tally.failed);
    }
    let runs: u64 = tallies.values().map(|tally| tally.runs).sum();
    let failed = tallies.values().map(|tally| tally.failed).sum();
    println!("== {runs} runs, {failed} failed");
    failed
}
