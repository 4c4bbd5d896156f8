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
    let is_kernel = |one: &Waiting| matches!(one.mutant.place, Place::Kernel(_));
    let waiting = switched.into_iter().map(Waiting::new);
    let (kernels, others): (Vec<_>, Vec<_>) = waiting.partition(is_kernel);
    for mut waiting in [others, kernels] {
        waiting.sort_by_key(|one| suites::row(&one.mutant.file));
        // The cheapest suite of all first, so that most are judged when time is over.
        for round in 0.. {
            if waiting.is_empty() {
                break;
            }
            let mut left = Vec::new();
            for mut one in waiting {
                match one.ask(&mut group, round)? {
                    Step::Next => left.push(one),
                    Step::Alone => alone.push(one.mutant),
                    Step::Verdict(verdict) => {
                        report.judged.push((one.mutant, verdict, one.how));
                        say(report, started.elapsed())?;
                    }
                }
            }
            waiting = left;
        }
    }
    for mutant in alone {
        if runner.is_over() || !group.prepare_all(&mutant)? {
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

/// A mutant behind a switch, without a verdict so far.
struct Waiting {
    switch: u32,
    mutant: Mutant,
    how: How,
}

/// What comes after a suite.
enum Step {
    Next,
    Alone,
    Verdict(Verdict),
}

impl Waiting {
    fn new((switch, mutant): (u32, Mutant)) -> Self {
        Self {
            switch,
            mutant,
            how: How::Unused,
        }
    }

    /// Asks the suite of a round.
    fn ask(&mut self, group: &mut Group, round: usize) -> anyhow::Result<Step> {
        let suites = suites::of(&self.mutant.file).unwrap_or_default();
        let Some(suite) = suites.get(round) else {
            return Ok(Step::Verdict(Verdict::Survived));
        };
        let answer = group.answer(self.switch, suite)?;
        if matches!(answer, Answer::Passed | Answer::Killed(_)) {
            self.how = How::Switch;
        }
        Ok(match answer {
            Answer::Unused | Answer::Passed => Step::Next,
            Answer::Killed(test) => {
                let suite = suite.name();
                Step::Verdict(Verdict::Killed { suite, test })
            }
            Answer::OutOfTime => Step::Verdict(Verdict::OutOfTime),
            Answer::Alone => Step::Alone,
        })
    }
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
