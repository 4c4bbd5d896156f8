//! `cargo xtask mutants`: plants one-line faults, one at a time, and sees which the tests miss.
//!
//! ```text
//!   sources ─ generate ─► mutants ─ draw ─► sample ─ judge, in a copy of the tree ─► report
//!                                              │       └ many behind switches in one build: group
//!                                              └ equivalents: docs/mutants.md
//! ```

mod draw;
mod equivalents;
mod generate;
mod group;
mod judge;
mod mutant;
mod plant;
mod report;
mod runner;
mod suites;
mod tree;
mod verdict;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{bail, Context};
use clap::Parser;

use equivalents::Equivalent;
use mutant::Mutant;
use report::Report;
use runner::Runner;
use tree::Tree;
use verdict::{How, Verdict};

/// Plants one-line faults and counts which ones the tests find.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask mutants")]
pub struct Options {
    /// How many mutants are drawn; all of them without this.
    #[arg(long, value_name = "N")]
    sample: Option<usize>,
    /// Seed of the drawing, and of the random tests.
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Only files of this package.
    #[arg(long = "crate", value_name = "PACKAGE")]
    package: Option<String>,
    /// Only this file, by the end of its path, or `FILE:LINE`; may be repeated.
    #[arg(long = "file", value_name = "FILE")]
    places: Vec<String>,
    /// Only files that differ from a revision.
    #[arg(long, value_name = "REVISION")]
    changed_since: Option<String>,
    /// No mutant is started after so many minutes.
    #[arg(long, value_name = "M")]
    minutes: Option<u64>,
    /// Only list the mutants.
    #[arg(long)]
    list: bool,
    /// Write the verdicts to a file as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Fail if less than this percentage is killed.
    #[arg(long, value_name = "PERCENT")]
    at_least: Option<f64>,
}

/// Runs the command with the words behind its name. A wrong word ends the program with status 2.
pub fn run(arguments: &[String]) -> anyhow::Result<()> {
    let words = std::iter::once("mutants").chain(arguments.iter().map(String::as_str));
    let options = Options::parse_from(words);
    let started = Instant::now();
    let root = crate::walk::workspace();
    let (mutants, equivalents) = drawn(root, &options)?;
    if options.list {
        mutants.iter().for_each(|mutant| println!("{mutant}"));
        return Ok(());
    }
    println!("== {} mutants, seed {}", mutants.len(), options.seed);
    let report = judged(root, mutants, &equivalents, &options, started)?;
    print!("{}", report.summary());
    match options.at_least {
        Some(least) if report.score() < least => {
            bail!("{:.1} % killed, at least {least} % wanted", report.score())
        }
        _ => Ok(()),
    }
}

/// The mutants to judge, and the list of equivalent ones.
fn drawn(root: &Path, options: &Options) -> anyhow::Result<(Vec<Mutant>, Vec<Equivalent>)> {
    let mut files = draw::judged_files(root)?;
    let document = fs::read_to_string(root.join(equivalents::FILE));
    let entries = equivalents::parse(&document.with_context(|| equivalents::FILE)?)?;
    let stale = equivalents::stale(&entries, &draw::all(root, &files)?);
    if !stale.is_empty() {
        bail!(
            "{} is out of date:\n{}",
            equivalents::FILE,
            stale.join("\n")
        );
    }
    if let Some(package) = &options.package {
        files = draw::of_package(root, files, package)?;
    }
    if let Some(revision) = &options.changed_since {
        files = draw::changed_since(root, files, revision)?;
    }
    let mut mutants = draw::all(root, &files)?;
    if !options.places.is_empty() {
        mutants = draw::of_places(mutants, &options.places)?;
    }
    Ok((draw::sample(mutants, options.sample, options.seed), entries))
}

fn judged(
    root: &Path,
    mutants: Vec<Mutant>,
    equivalents: &[Equivalent],
    options: &Options,
    started: Instant,
) -> anyhow::Result<Report> {
    let limit = options
        .minutes
        .map(|minutes| Duration::from_secs(60 * minutes));
    let deadline = limit.map(|limit| started + limit);
    let all = mutants.len();
    let mut report = Report::default();
    let is_listed = |mutant: &Mutant| equivalents.iter().any(|entry| entry.is_of(mutant));
    let (listed, mutants): (Vec<_>, Vec<_>) = mutants.into_iter().partition(is_listed);
    let listed = listed.into_iter();
    report.judged = listed
        .map(|mutant| (mutant, Verdict::Equivalent, How::List))
        .collect();
    if !mutants.is_empty() {
        let tree = Tree::of(root)?;
        let runner = Runner::new(&tree, root, options.seed, deadline)?;
        let say = |report: &Report, took| said(report, all, took, options);
        judge::judge(&tree, &runner, mutants, &mut report, &say)?;
    }
    Ok(report)
}

/// Prints the last verdict, and writes all of them where that is wanted.
fn said(report: &Report, all: usize, took: Duration, options: &Options) -> anyhow::Result<()> {
    if let Some((mutant, verdict, how)) = report.judged.last() {
        let progress = report::progress(report.judged.len(), all, took);
        println!("[{progress}] {}", report::line(mutant, verdict, *how));
    }
    if let Some(file) = &options.json {
        let text = serde_json::to_string_pretty(&report.json(options.seed))?;
        fs::write(file, text + "\n").with_context(|| format!("writing {}", file.display()))?;
    }
    Ok(())
}
