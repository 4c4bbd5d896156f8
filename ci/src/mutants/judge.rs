//! Judges mutants: those behind switches first, then those that must be built alone.
//!
//! ```text
//!   mutant ──► suite 1 ──► suite 2 ──► ... ──► survived
//!      │         └ a test fails, or hangs: killed
//!      └ does not build
//! ```

use std::time::Duration;

use super::group::{Answer, Group, SWITCH};
use super::mutant::Mutant;
use super::runner::{Built, Outcome, Runner};
use super::suite;
use super::suites;
use super::tree::Tree;
use super::verdict::{How, Verdict};

/// Longest run of a suite whose time without a mutant is not known.
const RUN_LIMIT: Duration = Duration::from_secs(600);

/// Takes a verdict on a mutant.
pub type Say<'a> = dyn FnMut(Mutant, Verdict, How) -> anyhow::Result<()> + 'a;

/// Judges those of a sample whose verdicts are `wanted`, by their places in it, and gives each
/// verdict to `say`. All are planted: what is built for a sample is the same whatever is known.
pub fn judge(
    tree: &Tree,
    runner: &Runner,
    (sample, wanted): (&[Mutant], &[usize]),
    say: &mut Say,
) -> anyhow::Result<()> {
    let mut switched = tree.switched(sample)?;
    let mut group = Group::new(tree, runner, switched.clone())?;
    let (mut waiting, mut alone) = (Vec::new(), Vec::new());
    for place in wanted {
        match u32::try_from(place + 1).ok().and_then(|it| switched.remove_entry(&it)) {
            Some(entry) => waiting.push(Waiting::new(entry)),
            None => alone.push(sample[*place].clone()),
        }
    }
    let batches: Vec<Vec<Waiting>> = match runner.has_limit() {
        true => vec![by_cost(waiting)],
        // What is judged when it is interrupted is a fair part of all.
        false => waiting.into_iter().map(|one| vec![one]).collect(),
    };
    for batch in batches {
        alone.extend(rounds(&mut group, batch, say)?);
    }
    for mutant in alone {
        if runner.is_over() || !group.prepare_all(&mutant)? {
            continue;
        }
        group.apply_alone(&mutant)?;
        let verdict = judge_alone(&group, runner, &mutant);
        group.restore(&mutant)?;
        say(mutant, verdict?, How::Alone)?;
    }
    Ok(())
}

/// What is judged at once where time is limited: the cheapest suite of all comes first, so that
/// most are judged when time is over.
fn by_cost(mut waiting: Vec<Waiting>) -> Vec<Waiting> {
    waiting.sort_by_key(|one| suites::row(&one.mutant.file));
    waiting
}

/// Asks suite after suite about mutants until each has a verdict. Returns those that do not build
/// behind a switch.
fn rounds(
    group: &mut Group,
    mut waiting: Vec<Waiting>,
    say: &mut Say,
) -> anyhow::Result<Vec<Mutant>> {
    let mut alone = Vec::new();
    for round in 0.. {
        let mut left = Vec::new();
        for mut one in waiting {
            match one.ask(group, round)? {
                Step::Next => left.push(one),
                Step::Alone => alone.push(one.mutant),
                Step::Verdict(verdict) => say(one.mutant, verdict, one.how)?,
            }
        }
        if left.is_empty() {
            break;
        }
        waiting = left;
    }
    Ok(alone)
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
        Self { switch, mutant, how: How::Unused }
    }

    /// Asks the suite of a round.
    fn ask(&mut self, group: &mut Group, round: usize) -> anyhow::Result<Step> {
        let suites = suites::of(&self.mutant.file).unwrap_or_default();
        let Some(suite) = suites.get(round) else { return Ok(Step::Verdict(Verdict::Survived)) };
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
        let limit = group.took(suite).map_or(RUN_LIMIT, suite::limit);
        for program in programs {
            let cpu_s = suite.cpu_limit_s();
            let none = (SWITCH, "0");
            let test = match runner.run(&program, &suite.arguments(), none, limit, cpu_s)? {
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
