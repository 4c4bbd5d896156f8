//! `cargo xtask mutants`: plants one-line faults, one at a time, and sees which the tests miss.
//!
//! ```text
//!   sources ─ generate ─► mutants ─ draw ─► sample ─ judge, in a copy of the tree ─► report
//!                                              │       └ many behind switches in one build: group
//!                                              └ equivalents: docs/mutants.md
//! ```

mod additions;
mod by_hand;
mod draw;
mod each_test;
mod equivalents;
mod generate;
mod group;
mod judge;
mod mutant;
mod operators;
mod plant;
mod report;
mod resume;
mod runner;
mod suite;
mod suites;
mod tree;
mod verdict;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{bail, Context};
use clap::Args;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::SeedableRng;

use equivalents::Equivalent;
use mutant::Mutant;
use report::MutantReport;
use resume::Known;
use runner::Runner;
use tree::Tree;
use verdict::{How, Judged, Verdict};

/// What `cargo xtask mutants` takes.
#[derive(Debug, Args)]
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
    /// Write the verdicts to a file as JSON, after each one. The file lies in `target`, or outside
    /// of the tree: otherwise the tree differs from its commit.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Take over the verdicts that this file holds already, of the same commit.
    #[arg(long, requires = "json")]
    resume: bool,
    /// With `--resume`, take over what earlier commits have killed, too, where the mutant's file is
    /// the same but for its tests.
    #[arg(long, requires = "resume")]
    earlier_kills: bool,
    /// Name a mutant that is killed for each test whose name contains this; fail if one kills none.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["json", "at_least", "minutes"])]
    each_test: Option<String>,
    /// Fail if less than this percentage is killed.
    #[arg(long, value_name = "PERCENT")]
    at_least: Option<f64>,
}

/// Where a copy of the tree and its build results are kept, below `target`.
const HOME: &str = "mutants";

/// Runs the command; an error if fewer are killed than is wanted.
pub fn run(options: &Options) -> anyhow::Result<()> {
    if let Some(name) = &options.each_test {
        return judge_each_test(crate::walk::workspace(), options, name);
    }
    let report = report(crate::walk::workspace(), options)?;
    match options.at_least {
        Some(least) if report.score() < least => {
            bail!("{:.1} % killed, at least {least} % wanted", report.score())
        }
        _ => Ok(()),
    }
}

/// Finds a mutant for each test of a name; an error if a test kills none.
fn judge_each_test(root: &Path, options: &Options, name: &str) -> anyhow::Result<()> {
    let (mutants, _) = draw(root, options)?;
    println!("== {} mutants for each test named {name}", mutants.len());
    let tree = Tree::of(root, HOME)?;
    let runner = Runner::new(&tree, root, options.seed, None)?;
    let kills = each_test::judge(&tree, &runner, &mutants, name)?;
    let idle = each_test::idle(&kills);
    println!("{} of {} tests kill a mutant", kills.len() - idle.len(), kills.len());
    if kills.is_empty() {
        bail!("no test has {name} in its name");
    }
    if !idle.is_empty() {
        bail!("kill none of {} mutants: {}", mutants.len(), idle.join(", "));
    }
    Ok(())
}

/// Draws, judges and says so; in a copy of the tree below `target`.
fn report(root: &Path, options: &Options) -> anyhow::Result<MutantReport> {
    let started = Instant::now();
    let (mutants, equivalents) = draw(root, options)?;
    if options.list {
        mutants.iter().for_each(|mutant| println!("{mutant}"));
        return Ok(MutantReport::default());
    }
    println!("== {} mutants, seed {}", mutants.len(), options.seed);
    let report = judge(root, mutants, &equivalents, options, started)?;
    print!("{}", report.summary());
    Ok(report)
}

/// The mutants to judge, and the list of equivalent ones.
fn draw(root: &Path, options: &Options) -> anyhow::Result<(Vec<Mutant>, Vec<Equivalent>)> {
    let mut files = draw::judged_files(root)?;
    let document = fs::read_to_string(root.join(equivalents::FILE));
    let entries = equivalents::parse(&document.with_context(|| equivalents::FILE)?)?;
    let stale = equivalents::stale(&entries, &draw::all(root, &files)?);
    if !stale.is_empty() {
        bail!("{} is out of date:\n{}", equivalents::FILE, stale.join("\n"));
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

fn judge(
    root: &Path,
    mutants: Vec<Mutant>,
    equivalents: &[Equivalent],
    options: &Options,
    started: Instant,
) -> anyhow::Result<MutantReport> {
    let limit = options.minutes.map(|minutes| Duration::from_secs(60 * minutes));
    let deadline = limit.map(|limit| started + limit);
    let commit = draw::commit(root)?;
    let judged = |mutant, verdict, how| Judged { mutant, verdict, how, commit: commit.clone() };
    let mut known = match &options.json {
        Some(file) if options.resume => {
            Known::read(root, file, options.earlier_kills, commit.as_deref())?
        }
        _ => Known::default(),
    };
    let mut report = MutantReport { judged: Vec::new(), drawn: mutants.len() };
    let mut left = Vec::new();
    for (place, mutant) in mutants.iter().enumerate() {
        if equivalents.iter().any(|entry| entry.is_of(mutant)) {
            let listed = judged(mutant.clone(), Verdict::Equivalent, How::List);
            report.judged.push(listed);
        } else if let Some(judged) = known.take(mutant)? {
            println!("taken over: {}", report::line(&judged));
            report.judged.push(judged);
        } else {
            left.push(place);
        }
    }
    if options.resume {
        println!("== {} to judge, {} verdicts taken over", left.len(), known.taken_count());
    }
    left.shuffle(&mut StdRng::seed_from_u64(options.seed));
    // Kills alone would be no fair part: what survived at an earlier commit comes first.
    left.sort_by_key(|place| !known.has_survived(&mutants[*place]));
    if !left.is_empty() {
        let tree = Tree::of(root, HOME)?;
        let runner = Runner::new(&tree, root, options.seed, deadline)?;
        let (started, known) = (Instant::now(), report.judged.len());
        let sample = (&mutants[..], &left[..]);
        judge::judge(&tree, &runner, sample, &mut |mutant, verdict, how| {
            report.judged.push(judged(mutant, verdict, how));
            print_verdict(&report, known, started.elapsed());
            write_report(&report, options)
        })?;
    }
    write_report(&report, options)?;
    Ok(report)
}

/// Prints the last verdict. `known` were known before the first.
fn print_verdict(report: &MutantReport, known: usize, took: Duration) {
    if let Some(judged) = report.judged.last() {
        let progress = report::progress(report, report.judged.len() - known, took);
        println!("[{progress}] {}", report::line(judged));
    }
}

/// Writes all verdicts where that is wanted. Whoever interrupts the run leaves a whole file.
fn write_report(report: &MutantReport, options: &Options) -> anyhow::Result<()> {
    let Some(file) = &options.json else { return Ok(()) };
    let text = serde_json::to_string_pretty(&report.json(options.seed))?;
    let part = file.with_extension("part");
    fs::write(&part, text + "\n").with_context(|| format!("writing {}", part.display()))?;
    fs::rename(&part, file).with_context(|| format!("writing {}", file.display()))
}
