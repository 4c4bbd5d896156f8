//! Mutants that are built together, each behind a switch.
//!
//! ```text
//!   mutants ── plant ──► the tree ── build ──► programs ── no switch on ──► which tests use which
//!      ▲                              │                    switch          ──► verdict
//!      └──── without the culprits ◄───┘ the compiler's places
//! ```
//! A test that does not use a switch does the same with it on: it is not run for that mutant. A
//! switch that a thread without a test's name uses may be used by any test of its program. A kernel
//! is used by the thread that calls it, that asks for its code, or that makes a model which has it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{bail, Context};

use super::additions::Additions;
use super::mutant::Mutant;
use super::plant::{self, Planted};
use super::runner::{Built, Outcome, Program, Runner};
use super::suite::{self, Suite};
use super::suites;
use super::tree::Tree;

/// Longest run of a suite without a mutant.
const RUN_LIMIT: Duration = Duration::from_secs(1200);
const CPU_LIMIT_S: u64 = 10_000;
/// Tests of a program that may fail without a mutant.
const FAILING_MAX: usize = 4;

/// Names the switch that is on.
pub const SWITCH: &str = "ZERONIC_MUTANT";
/// Names the file into which the switches that are used are written.
const NOTED: &str = "ZERONIC_MUTANTS_NOTED";

/// Which tests of a program use a switch.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Users {
    Tests(BTreeSet<String>),
    Any,
}

/// A test, and the mutant that it kills, if there is one.
pub type Kill = (String, Option<Mutant>);

/// A program as one suite calls it, and what is known of it.
struct Call {
    program: Program,
    filter: Vec<String>,
    took: Duration,
    users: BTreeMap<u32, Users>,
}

impl Call {
    /// The switches that a test uses, those first that fewest tests use.
    fn switches_of(&self, test: &str) -> Vec<u32> {
        let count = |users: &Users| match users {
            Users::Tests(tests) => tests.contains(test).then_some(tests.len()),
            Users::Any => None,
        };
        let used = self.users.iter().filter_map(|(switch, users)| Some((count(users)?, *switch)));
        let mut used: Vec<(usize, u32)> = used.collect();
        used.sort_unstable();
        used.into_iter().map(|(_, switch)| switch).collect()
    }
}

/// What a suite says of one mutant.
pub enum Answer {
    /// No test of it uses the mutant's code.
    Unused,
    /// All that use it passed.
    Passed,
    /// One failed, or something else happened.
    Killed(String),
    /// The time of the whole run is over.
    OutOfTime,
    /// The mutant does not build behind a switch.
    Alone,
}

/// The group. See the head of this file.
pub struct Group<'a> {
    tree: &'a Tree,
    runner: &'a Runner<'a>,
    /// By the number of its switch.
    mutants: BTreeMap<u32, Mutant>,
    /// The texts that are in the tree.
    planted: BTreeMap<PathBuf, Planted>,
    /// What is in the tree besides.
    additions: Additions,
    calls: Vec<(&'static Suite, Vec<Call>)>,
}

impl<'a> Group<'a> {
    /// Plants mutants in a tree, by the numbers of their switches, from 1.
    pub fn new(
        tree: &'a Tree,
        runner: &'a Runner<'a>,
        mutants: BTreeMap<u32, Mutant>,
    ) -> anyhow::Result<Self> {
        let mut mutants = mutants;
        let known = fs::read_to_string(refused_path(tree)).unwrap_or_default();
        mutants.retain(|_, mutant| !known.contains(&key(mutant)));
        let mut group = Self {
            tree,
            runner,
            mutants,
            planted: BTreeMap::new(),
            additions: Additions::default(),
            calls: Vec::new(),
        };
        group.plant()?;
        Ok(group)
    }

    /// How long a suite took without a mutant, if it has run.
    pub fn took(&self, suite: &Suite) -> Option<Duration> {
        let (_, calls) = self.calls.iter().find(|(known, _)| *known == suite)?;
        Some(calls.iter().map(|call| call.took).sum())
    }

    /// Writes the texts with their mutants, and the switches into the root of each crate.
    fn plant(&mut self) -> anyhow::Result<()> {
        let mut by_file = BTreeMap::<&PathBuf, Vec<(u32, &Mutant)>>::new();
        for (switch, mutant) in &self.mutants {
            by_file.entry(&mutant.file).or_default().push((*switch, mutant));
        }
        let mut planted = BTreeMap::new();
        for (file, mutants) in by_file {
            let text = self.tree.original(file)?;
            planted.insert(file.clone(), plant::plant(&text, &mutants));
        }
        self.additions = Additions::of(self.tree, self.mutants.values())?;
        for file in self.additions.files() {
            let text = self.tree.original(file)?;
            let of_file = planted.entry(file.clone());
            let of_file = of_file.or_insert_with(|| plant::plant(&text, &[]));
            self.additions.add(file, &mut of_file.text)?;
        }
        self.tree.fill(&planted)?;
        self.planted = planted;
        Ok(())
    }

    /// Builds a suite, without the mutants that do not build; the programs, or `None` when the
    /// time is over.
    fn build(&mut self, suite: &'static Suite) -> anyhow::Result<Option<Vec<Program>>> {
        loop {
            match self.runner.build(suite)? {
                Built::Programs(programs) => return Ok(Some(programs)),
                Built::OutOfTime => return Ok(None),
                Built::Refused(errors) => {
                    let culprits = self.culprits(&errors);
                    if culprits.is_empty() {
                        let log = self.runner.log();
                        bail!("{} does not build: {}", suite.name(), log.display());
                    }
                    self.refuse(&culprits)?;
                    self.plant()?;
                }
            }
        }
    }

    /// Takes mutants that do not build out of the group, and notes them for later runs.
    fn refuse(&mut self, culprits: &BTreeSet<u32>) -> anyhow::Result<()> {
        let file = refused_path(self.tree);
        let mut known = fs::read_to_string(&file).unwrap_or_default();
        for culprit in culprits {
            if let Some(mutant) = self.mutants.remove(culprit) {
                println!("   does not build behind a switch: {mutant}");
                known += &key(&mutant);
            }
        }
        fs::write(&file, known).with_context(|| format!("writing {}", file.display()))
    }

    /// The mutants that errors of the compiler name: the first of an error's places that is one's,
    /// otherwise all of the file.
    fn culprits(&self, errors: &[Vec<(PathBuf, usize)>]) -> BTreeSet<u32> {
        let mut culprits = BTreeSet::new();
        for error in errors {
            let at =
                |(file, byte): &(PathBuf, usize)| self.planted.get(file).map(|it| it.at(*byte));
            let named = error.iter().filter_map(at).find(|it| !it.is_empty());
            match named {
                Some(switches) => culprits.extend(switches),
                None => {
                    let is_near = |it: &Mutant| error.iter().any(|(file, _)| *file == it.file);
                    let near = self.mutants.iter().filter(|(_, mutant)| is_near(mutant));
                    culprits.extend(near.map(|(switch, _)| *switch));
                }
            }
        }
        culprits.retain(|switch| self.mutants.contains_key(switch));
        culprits
    }

    /// Builds a suite and runs it without a mutant. Whether there was time.
    fn prepare(&mut self, suite: &'static Suite) -> anyhow::Result<bool> {
        if self.took(suite).is_some() {
            return Ok(true);
        }
        let Some(programs) = self.build(suite)? else { return Ok(false) };
        let mut calls = Vec::new();
        for program in programs {
            match self.note_uses(suite, program)? {
                Some(call) => calls.push(call),
                None if self.runner.is_over() => return Ok(false),
                // It has said why.
                None => {}
            }
        }
        let took: Duration = calls.iter().map(|call| call.took).sum();
        println!("   {} passes in {:.0} s", suite.name(), took.as_secs_f64());
        calls.sort_by_key(|call| call.took);
        self.calls.push((suite, calls));
        Ok(true)
    }

    /// Runs a program of a suite without a mutant, and notes which test uses which switch. Tests
    /// that fail without a mutant judge none, nor does a program with many such.
    fn note_uses(&self, suite: &Suite, program: Program) -> anyhow::Result<Option<Call>> {
        let file = self.tree.root.with_file_name("noted");
        let path = file.display().to_string();
        let mut filter: Vec<String> = suite.arguments().into_iter().map(str::to_owned).collect();
        for _ in 0..FAILING_MAX {
            // A file of an earlier program.
            let _ = fs::remove_file(&file);
            let arguments: Vec<&str> = filter.iter().map(String::as_str).collect();
            let variable = (NOTED, path.as_str());
            let started = Instant::now();
            let outcome =
                self.runner.run(&program, &arguments, variable, RUN_LIMIT, CPU_LIMIT_S)?;
            if outcome == Outcome::Passed {
                return Ok(Some(Call {
                    program,
                    filter,
                    took: started.elapsed(),
                    users: users(&fs::read_to_string(&file).unwrap_or_default()),
                }));
            }
            println!("   {} FAILS WITHOUT A MUTANT: {outcome:?}", suite.name());
            match outcome {
                Outcome::Failed(test) => filter.extend(["--skip".into(), test]),
                _ => break,
            }
        }
        Ok(None)
    }

    /// Runs all suites of a mutant without one. Whether there was time.
    pub fn prepare_all(&mut self, mutant: &Mutant) -> anyhow::Result<bool> {
        for suite in suites::of(&mutant.file).unwrap_or_default() {
            if !self.prepare(suite)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// What a suite says of a mutant.
    pub fn answer(&mut self, switch: u32, suite: &'static Suite) -> anyhow::Result<Answer> {
        if self.runner.is_over() || !self.prepare(suite)? {
            return Ok(Answer::OutOfTime);
        }
        if !self.mutants.contains_key(&switch) {
            return Ok(Answer::Alone);
        }
        let known = self.calls.iter().find(|(known, _)| *known == suite);
        let (_, calls) = known.context("a suite that was prepared")?;
        let mut answer = Answer::Unused;
        for call in calls {
            let mut arguments: Vec<&str> = call.filter.iter().map(String::as_str).collect();
            match call.users.get(&switch) {
                None => continue,
                Some(Users::Tests(tests)) => {
                    arguments = vec!["--exact"];
                    arguments.extend(tests.iter().map(String::as_str));
                }
                Some(Users::Any) => {}
            }
            let limit = suite::limit(call.took);
            let number = switch.to_string();
            let variable = (SWITCH, number.as_str());
            let cpu_s = suite.cpu_limit_s();
            answer = match self.runner.run(&call.program, &arguments, variable, limit, cpu_s)? {
                Outcome::Passed => Answer::Passed,
                Outcome::Failed(test) => return Ok(Answer::Killed(test)),
                Outcome::Hung if self.runner.is_over() => return Ok(Answer::OutOfTime),
                Outcome::Hung => return Ok(Answer::Killed("hangs".into())),
            };
        }
        Ok(answer)
    }

    /// For each test of a suite whose name contains `name` the first mutant that it kills, of those
    /// that it uses; those come first that fewest tests use. `say` is told each at once.
    pub fn kills_of_each(
        &mut self,
        suite: &'static Suite,
        name: &str,
        say: &mut dyn FnMut(&Kill),
    ) -> anyhow::Result<Vec<Kill>> {
        self.prepare(suite)?;
        let known = self.calls.iter().filter(|(known, _)| *known == suite);
        let mut kills = Vec::new();
        for call in known.flat_map(|(_, calls)| calls) {
            let limit = suite::limit(call.took);
            for test in self.runner.tests(&call.program)? {
                if !test.contains(name) {
                    continue;
                }
                let mut killed = None;
                for switch in call.switches_of(&test) {
                    let number = switch.to_string();
                    let variable = (SWITCH, number.as_str());
                    let arguments = ["--exact", test.as_str()];
                    let cpu_s = suite.cpu_limit_s();
                    let outcome =
                        self.runner.run(&call.program, &arguments, variable, limit, cpu_s)?;
                    if matches!(outcome, Outcome::Failed(_)) {
                        killed = self.mutants.get(&switch).cloned();
                        break;
                    }
                }
                kills.push((test, killed));
                kills.iter().last().into_iter().for_each(&mut *say);
            }
        }
        Ok(kills)
    }

    /// Replaces a file of the tree by the original with one mutant. [`Group::restore`] undoes it.
    pub fn apply_alone(&self, mutant: &Mutant) -> anyhow::Result<()> {
        let mut text = mutant.apply(&self.tree.original(&mutant.file)?);
        // The switches of other files are in the root of the crate.
        self.additions.add(&mutant.file, &mut text)?;
        self.tree.write(&mutant.file, &text)
    }

    /// Takes a mutant that was applied alone away again.
    pub fn restore(&self, mutant: &Mutant) -> anyhow::Result<()> {
        match self.planted.get(&mutant.file) {
            Some(planted) => self.tree.write(&mutant.file, &planted.text),
            None => {
                let text = self.tree.original(&mutant.file)?;
                self.tree.write(&mutant.file, &text)
            }
        }
    }
}

/// Where mutants are noted that do not build behind a switch.
fn refused_path(tree: &Tree) -> PathBuf {
    tree.root.with_file_name("refused")
}

/// What a mutant is known by.
fn key(mutant: &Mutant) -> String {
    format!("{mutant}\n")
}

/// The users of each switch, from lines of a switch and a thread's name.
fn users(noted: &str) -> BTreeMap<u32, Users> {
    let mut all = BTreeMap::new();
    for line in noted.lines() {
        let (switch, name) = line.split_once(' ').unwrap_or((line, ""));
        let Ok(switch) = switch.parse() else { continue };
        let users = all.entry(switch).or_insert_with(|| Users::Tests(BTreeSet::new()));
        match users {
            _ if name.is_empty() || name == "main" => *users = Users::Any,
            Users::Tests(tests) => {
                tests.insert(name.to_owned());
            }
            Users::Any => {}
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn switch_maps_to_tests_by_thread() {
        let found = users("1 a::b\n2 c\n1 d\n2 \n3 main\n2 e\n");
        let tests = ["a::b", "d"].map(str::to_owned);
        assert_eq!(found[&1], Users::Tests(tests.into()));
        assert_eq!((&found[&2], &found[&3]), (&Users::Any, &Users::Any));
        assert_eq!(found.len(), 3);
    }
}
