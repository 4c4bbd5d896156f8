//! Tests that a machine cannot run: each is named in the last lines of the run.
//!
//! ```text
//!   test ──► skip(need, why) ──► a line on stderr; a line in target/PROFILE/skipped/RUN
//!                          └───► a panic where ZERONIC_REQUIRE names the need
//!   last program of `cargo test` ──► report ──► "== 3 tests skipped: no namespaces", their names
//! ```
//! The test harness has no way to say that a test was skipped, and it keeps what a passing test
//! prints: it counts as passed.
//!
//! Invariants
//! 1. RUN is the process that started the test programs, Cargo: what one run skips shows in its
//!    own report alone.
//! 2. A test may skip more than one of its parts: it is named once for each need.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Environment: what a run of the tests must have, separated by commas.
pub const REQUIRE: &str = "ZERONIC_REQUIRE";

/// What a machine may lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Network namespaces and TAP devices.
    Namespaces,
    /// Debian's packages, fetched without root.
    Packages,
    /// Valgrind, and the compiler for which instructions were counted.
    Instructions,
    /// Minutes or hours: `ZERONIC_LONG=1`.
    LongRuns,
    /// A block to look at: `ZERONIC_BLOCK`.
    ChosenBlock,
    /// A `clang++`.
    Clang,
    /// QEMU and a kernel for a guest, Debian's packages.
    Guest,
    /// A terminal that a test can look at: `tmux`.
    Terminal,
    /// A Chromium, Node and the packages that drive it.
    Browser,
    /// NCCL's library, which `ci/nccl.sh` fetches.
    Nccl,
}

impl Need {
    /// All of them.
    pub const ALL: [Need; 10] = [
        Need::Namespaces,
        Need::Packages,
        Need::Instructions,
        Need::LongRuns,
        Need::ChosenBlock,
        Need::Clang,
        Need::Guest,
        Need::Terminal,
        Need::Browser,
        Need::Nccl,
    ];

    /// Its name in `ZERONIC_REQUIRE` and in the report.
    pub fn name(self) -> &'static str {
        match self {
            Need::Namespaces => "namespaces",
            Need::Packages => "packages",
            Need::Instructions => "instructions",
            Need::LongRuns => "long-runs",
            Need::ChosenBlock => "chosen-block",
            Need::Clang => "clang",
            Need::Guest => "guest",
            Need::Terminal => "terminal",
            Need::Browser => "browser",
            Need::Nccl => "nccl",
        }
    }
}

/// Whether `ZERONIC_LONG` allows what takes minutes or hours; where not, the running test is
/// skipped, which takes `what`.
///
/// # Panics
/// If `ZERONIC_REQUIRE` demands it.
pub fn long_runs(what: &str) -> bool {
    let is_allowed = std::env::var_os("ZERONIC_LONG").is_some();
    if !is_allowed {
        skip(Need::LongRuns, format!("{what}; ZERONIC_LONG=1 runs it"));
    }
    is_allowed
}

/// Notes that the running test, or a part of it, goes without what it needs.
///
/// # Panics
/// If `ZERONIC_REQUIRE` demands it.
pub fn skip(need: Need, why: impl Display) {
    let list = std::env::var(REQUIRE).unwrap_or_default();
    let name = need.name();
    assert!(!demands(&list, need), "{REQUIRE}={list}, and this machine has no {name}: {why}");
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    // Written to the descriptor itself, which the test harness does not capture. A notice that
    // cannot be written is no reason to fail.
    let _ = io::stderr().write_all(format!("skipped: no {name}: {test}: {why}\n").as_bytes());
    let note = || -> io::Result<()> {
        let program = std::env::current_exe()?;
        let folder = folder_of(&program);
        fs::create_dir_all(&folder)?;
        let path = folder.join(std::os::unix::process::parent_id().to_string());
        let line = format!("no {name}\t{} {test}\n", name_of(&program));
        File::options().append(true).create(true).open(path)?.write_all(line.as_bytes())
    };
    note().unwrap_or_else(|error| panic!("cannot note that {test} was skipped: {error}"));
}

/// The value, or `None` where this machine refuses namespaces: the test is skipped, wholly or in
/// the part that needs a kernel.
///
/// # Panics
/// If the error is no refusal, or `ZERONIC_REQUIRE` demands namespaces.
pub fn skip_if_refused<T, E: Display>(
    result: Result<T, E>,
    is_refusal: fn(&E) -> bool,
) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(error) if is_refusal(&error) => {
            skip(Need::Namespaces, error);
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// What the test programs of this run have skipped, and forgets it; empty if nothing was.
pub fn report() -> String {
    let program = std::env::current_exe().unwrap_or_default();
    let folder = folder_of(&program);
    let path = folder.join(std::os::unix::process::parent_id().to_string());
    let lines = fs::read_to_string(&path).unwrap_or_default();
    let _ = fs::remove_file(&path);
    forget_ended(&folder);
    summary(&lines)
}

/// Removes what runs have left that ended before their report.
fn forget_ended(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if !Path::new("/proc").join(entry.file_name()).exists() {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// The folder of notes beside the test programs, which lie in `target/PROFILE/deps`.
fn folder_of(program: &Path) -> PathBuf {
    program.ancestors().nth(2).unwrap_or(Path::new(".")).join("skipped")
}

/// Whether the list names this need.
///
/// # Panics
/// If it names something else: a slip of the pen must not switch a demand off.
fn demands(list: &str, need: Need) -> bool {
    let names = list.split(',').map(str::trim).filter(|name| !name.is_empty());
    let mut is_demanded = false;
    for name in names {
        let known = Need::ALL.into_iter().find(|need| need.name() == name);
        let known = known.unwrap_or_else(|| panic!("{REQUIRE}: unknown name {name}"));
        is_demanded |= known == need;
    }
    is_demanded
}

/// The name of a test program, without Cargo's hash.
fn name_of(program: &Path) -> String {
    let stem = program.file_stem().unwrap_or_default().to_string_lossy();
    stem.rsplit_once('-').map_or(&*stem, |(name, _)| name).to_owned()
}

/// One line for each need, with the number of tests, and one for each of these.
fn summary(lines: &str) -> String {
    let mut tests = BTreeMap::<&str, BTreeSet<&str>>::new();
    for line in lines.lines() {
        let (need, test) = line.split_once('\t').unwrap_or((line, "unknown"));
        tests.entry(need).or_default().insert(test);
    }
    let mut text = String::new();
    for (need, tests) in tests {
        let noun = if tests.len() == 1 { "test" } else { "tests" };
        text += &format!("== {} {noun} skipped: {need}\n", tests.len());
        for test in tests {
            text += &format!("   {test}\n");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_test_counts_once_per_need() {
        let lines = "no a\tp x\nno b\tp y\nno a\tq x\nno a\tp x\n";
        let expected = "== 2 tests skipped: no a\n   p x\n   q x\n\
                        == 1 test skipped: no b\n   p y\n";
        assert_eq!(summary(lines), expected);
        assert_eq!(summary(""), "");
    }

    #[test]
    fn a_list_demands_what_it_names() {
        assert!(!demands("", Need::Namespaces));
        assert!(!demands(" ,", Need::Namespaces));
        assert!(demands("namespaces", Need::Namespaces));
        assert!(demands(" packages, namespaces, ", Need::Packages));
        assert!(!demands("packages", Need::Namespaces));
    }

    #[test]
    #[should_panic(expected = "unknown name namespace")]
    fn an_unknown_demand_is_a_failure() {
        demands("namespaces,namespace", Need::Namespaces);
    }

    #[test]
    fn program_is_named_without_hash() {
        assert_eq!(name_of(Path::new("/t/debug/deps/system_card-01ab")), "system_card");
        let folder = folder_of(Path::new("/t/debug/deps/system_card-01ab"));
        assert_eq!(folder, Path::new("/t/debug/skipped"));
    }
}
