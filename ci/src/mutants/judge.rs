//! Judges mutants: those behind switches first, then those that must be built alone.
//!
//! ```text
//!   mutant ──► suite 1 ──► suite 2 ──► ... ──► survived
//!      │         └ a test fails, or hangs: killed
//!      └ does not build
//! ```

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::group::{Answer, Group, SWITCH};
use super::mutant::{Mutant, Place};
use super::report::Report;
use super::runner::{Built, Outcome, Runner};
use super::suites;
use super::tree::Tree;
use super::verdict::{How, Verdict};

/// Longest run of a suite whose time without a mutant is not known.
const RUN_LIMIT: Duration = Duration::from_secs(600);

/// Judges a sample into a report, which is told to `say` after each mutant.
pub fn judge(
    tree: &Tree,
    runner: &Runner,
    mutants: Vec<Mutant>,
    report: &mut Report,
    say: &dyn Fn(&Report, Duration) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let (mut switched, mut alone) = (BTreeMap::new(), Vec::new());
    for (mutant, switch) in mutants.into_iter().zip(1..) {
        match tree.can_switch(&mutant)? {
            true => drop(switched.insert(switch, mutant)),
            false => alone.push(mutant),
        }
    }
    let mut group = Group::new(tree, runner, switched.clone())?;
    let started = Instant::now();
    // Kernels last: each is verilated anew.
    let (kernels, others): (Vec<_>, Vec<_>) = switched
        .into_iter()
        .partition(|(_, mutant)| matches!(mutant.place, Place::Kernel(_)));
    let in_order = |mut mutants: Vec<(u32, Mutant)>| {
        mutants.sort_by_key(|(_, mutant)| suites::row(&mutant.file));
        mutants
    };
    for (switch, mutant) in in_order(others).into_iter().chain(in_order(kernels)) {
        if runner.is_over() {
            report.left += 1;
            continue;
        }
        match judge_switched(&mut group, switch, &mutant)? {
            Some((verdict, how)) => report.judged.push((mutant, verdict, how)),
            None => alone.push(mutant),
        }
        say(report, started.elapsed())?;
    }
    for mutant in alone {
        if runner.is_over() {
            report.left += 1;
            continue;
        }
        if !group.prepare_all(&mutant)? {
            report.left += 1;
            continue;
        }
        group.apply_alone(&mutant)?;
        let verdict = judge_alone(&group, runner, &mutant);
        group.restore(&mutant)?;
        report.judged.push((mutant, verdict?, How::Alone));
        say(report, started.elapsed())?;
    }
    Ok(())
}

/// The verdict on a mutant behind a switch; `None` if it does not build there.
fn judge_switched(
    group: &mut Group,
    switch: u32,
    mutant: &Mutant,
) -> anyhow::Result<Option<(Verdict, How)>> {
    let mut how = How::Unused;
    for suite in suites::of(&mutant.file).unwrap_or_default() {
        match group.answer(switch, suite)? {
            Answer::Unused => {}
            Answer::Passed => how = How::Switch,
            Answer::Killed(test) => {
                let suite = suite.name();
                return Ok(Some((Verdict::Killed { suite, test }, How::Switch)));
            }
            Answer::OutOfTime => return Ok(Some((Verdict::OutOfTime, How::Switch))),
            Answer::Alone => return Ok(None),
        }
    }
    Ok(Some((Verdict::Survived, how)))
}

/// The verdict on a mutant that is applied in the tree.
fn judge_alone(group: &Group, runner: &Runner, mutant: &Mutant) -> anyhow::Result<Verdict> {
    for suite in suites::of(&mutant.file).unwrap_or_default() {
        let programs = match runner.build(suite)? {
            Built::Programs(programs) => programs,
            Built::Refused(_) => return Ok(Verdict::DoesNotBuild),
            Built::OutOfTime => return Ok(Verdict::OutOfTime),
        };
        let limit = group.took(suite).map_or(RUN_LIMIT, suites::limit);
        for program in programs {
            let cpu_s = suite.cpu_limit_s();
            let none = (SWITCH, "0");
            let test = match runner.run(&program, suite.filter, none, limit, cpu_s)? {
                Outcome::Passed => continue,
                Outcome::Failed(test) => test,
                Outcome::Hung if runner.is_over() => return Ok(Verdict::OutOfTime),
                Outcome::Hung => "hangs".into(),
            };
            let suite = suite.name();
            return Ok(Verdict::Killed { suite, test });
        }
    }
    Ok(Verdict::Survived)
}
