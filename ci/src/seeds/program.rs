//! Tests that run together: how cargo names them, how they are run, what their output says.
//!
//! Unit tests of a package are one such part; a test program is one for each of its modules.

use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{bail, Context};
use seed::{REPLAY, VARIABLE};
use serde_json::Value;

use crate::artifact::test_program;
use crate::walk;

/// A program that takes so many times as long as in its first run hangs, and this longer.
const PATIENCE: u32 = 20;
const PATIENCE_MORE: Duration = Duration::from_secs(60);
/// The signal of `timeout`, by which it ends itself as well.
const KILL: i32 = 9;

/// One test program, or the tests of one of its modules.
#[derive(Clone, Debug)]
pub struct Program {
    /// As in `--test NAME`; the name of the library for unit tests.
    pub name: String,
    package: String,
    is_unit: bool,
    /// The module; empty for unit tests and for what a program has outside of modules.
    pub module: String,
    /// The tests of it, by name; none: all that the program has.
    tests: Vec<String>,
    path: PathBuf,
    folder: PathBuf,
    limit: Duration,
}

/// How a run ended.
#[derive(Debug, PartialEq, Eq)]
pub enum End {
    /// What it has printed.
    Passed(String),
    /// The names of the tests that failed.
    Failed(Vec<String>),
    Hung,
}

/// Builds the test programs of the workspace.
pub fn build_programs() -> anyhow::Result<Vec<Program>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["test", "--workspace", "--no-run"])
        .arg("--message-format=json-render-diagnostics")
        .current_dir(walk::workspace())
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .context("cannot run cargo")?;
    if !output.status.success() {
        bail!("the build of the tests ended with {}", output.status);
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let messages = text.lines().filter_map(|line| serde_json::from_str(line).ok());
    let mut parts = Vec::new();
    for program in messages.filter_map(|it| parse_message(&it)) {
        match program.is_unit {
            true => parts.push(program),
            false => parts.extend(program.modules()?),
        }
    }
    parts.sort_by_key(Program::title);
    Ok(parts)
}

/// The test program that a message of cargo says is built.
fn parse_message(message: &Value) -> Option<Program> {
    let (path, folder) = test_program(message)?;
    let kind = message["target"]["kind"][0].as_str()?;
    Some(Program {
        name: message["target"]["name"].as_str()?.to_owned(),
        package: package(message["package_id"].as_str()?).to_owned(),
        is_unit: kind != "test",
        module: String::new(),
        tests: Vec::new(),
        path,
        folder,
        limit: PATIENCE_MORE,
    })
}

/// `sim` of `path+file:///a/sim#0.1.0` and of `path+file:///a/b#sim@0.1.0`.
fn package(id: &str) -> &str {
    let (path, fragment) = id.rsplit_once('#').unwrap_or((id, ""));
    match fragment.split_once('@') {
        Some((name, _)) => name,
        None => path.rsplit('/').next().unwrap_or(path),
    }
}

/// Tests by their module, of what `--list` prints: lines such as `dma::read::one_word: test`.
fn by_module(list: &str) -> BTreeMap<String, Vec<String>> {
    let mut modules = BTreeMap::<String, Vec<String>>::new();
    for name in list.lines().filter_map(|line| line.strip_suffix(": test")) {
        let module = name.rsplit_once("::").map_or("", |(module, _)| module);
        modules.entry(module.to_owned()).or_default().push(name.to_owned());
    }
    modules
}

impl Program {
    /// One part for each module.
    fn modules(&self) -> anyhow::Result<Vec<Program>> {
        let output = self.output(None, &["--list"], PATIENCE_MORE)?;
        let modules = by_module(&String::from_utf8_lossy(&output.stdout));
        let part = |(module, tests)| Program { module, tests, ..self.clone() };
        Ok(modules.into_iter().map(part).collect())
    }

    /// Whether somebody who says this name means it: a program, or a module and what is in it.
    pub fn is_meant_by(&self, name: &str) -> bool {
        let below = self.module.strip_prefix(name);
        self.name == name || below.is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
    }

    /// Runs it once. Whether it prints a seed; `None` if that took longer than `slowest`.
    pub fn first_run(&mut self, slowest: Duration) -> anyhow::Result<Option<bool>> {
        let started = Instant::now();
        // A cache without models makes the first run a long one.
        let output = self.output(None, &["--nocapture"], slowest + PATIENCE_MORE)?;
        if output.status.signal() == Some(KILL) {
            return Ok(None);
        }
        let took = started.elapsed();
        self.limit = took * PATIENCE + PATIENCE_MORE;
        let has_seed = String::from_utf8_lossy(&output.stdout).contains(REPLAY);
        Ok((took <= slowest).then_some(has_seed))
    }

    /// Runs it with a seed.
    pub fn run(&self, seed: u64) -> anyhow::Result<End> {
        let output = self.output(Some(seed), &["--show-output"], self.limit)?;
        let text = String::from_utf8_lossy(&output.stdout);
        if output.status.success() {
            return Ok(End::Passed(text.into_owned()));
        }
        if output.status.signal() == Some(KILL) {
            return Ok(End::Hung);
        }
        Ok(End::Failed(failures(&text)))
    }

    fn output(
        &self,
        seed: Option<u64>,
        arguments: &[&str],
        limit: Duration,
    ) -> anyhow::Result<std::process::Output> {
        let mut command = Command::new("timeout");
        command
            .args(["--signal=KILL", &limit.as_secs().max(1).to_string()])
            .arg(&self.path)
            .args(arguments)
            .args((!self.tests.is_empty()).then_some("--exact"))
            .args(&self.tests)
            .current_dir(&self.folder)
            .env("CARGO_MANIFEST_DIR", &self.folder)
            .env_remove(VARIABLE)
            .stdin(Stdio::null())
            .stderr(Stdio::null());
        if let Some(seed) = seed {
            command.env(VARIABLE, seed.to_string());
        }
        let output = command.output();
        output.with_context(|| format!("cannot run {}", self.path.display()))
    }

    /// The command that repeats a run.
    pub fn replay(&self, seed: u64, test: Option<&str>) -> String {
        // With the whole workspace cargo takes what it has built; alone a package may get others.
        let which = match self.is_unit {
            true => format!("-p {} --lib --bins", self.package),
            false => format!("--workspace --test {}", self.name),
        };
        let only = match (test, self.module.as_str()) {
            (Some(test), _) => format!(" -- --exact {test}"),
            (None, "") => String::new(),
            (None, module) => format!(" {module}::"),
        };
        format!("{VARIABLE}={seed} cargo test {which}{only}")
    }

    /// Package, program and module.
    pub fn title(&self) -> String {
        format!("{} {} {}", self.package, self.name, self.module).trim_end().to_owned()
    }
}

/// The tests that failed, as the harness lists them.
fn failures(text: &str) -> Vec<String> {
    let failed = |line: &str| {
        let name = line.strip_prefix("test ")?.strip_suffix(" ... FAILED")?;
        Some(name.to_owned())
    };
    let mut names: Vec<String> = text.lines().filter_map(failed).collect();
    names.sort();
    if names.is_empty() {
        names.push("(it ended without naming a test)".to_owned());
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_have_both_kinds_of_id() {
        assert_eq!(package("path+file:///a/sim#0.1.0"), "sim");
        assert_eq!(package("path+file:///a/ci#xtask@0.1.0"), "xtask");
    }

    #[test]
    fn failed_tests_are_found_and_sorted() {
        let text = "test b ... FAILED\ntest c ... ok\ntest a::b ... FAILED\n\nfailures:\n";
        assert_eq!(failures(text), ["a::b", "b"]);
        assert_eq!(failures("killed"), ["(it ended without naming a test)"]);
    }

    #[test]
    fn tests_go_with_their_module() {
        let list =
            "dma::read::one: test\ndma::read::two: test\nalone: test\n\n3 tests, 0 benchmarks\n";
        let modules = by_module(list);
        assert_eq!(modules["dma::read"], ["dma::read::one", "dma::read::two"]);
        assert_eq!(modules[""], ["alone"]);
        let mut part = program("echo");
        part.module = "dma::read".to_owned();
        for (name, is_meant) in [("made_up", true), ("dma", true), ("dma::re", false)] {
            assert_eq!(part.is_meant_by(name), is_meant, "{name}");
        }
        assert_eq!(part.title(), "sim made_up dma::read");
        let replay = "ZERONIC_SEED=3 cargo test --workspace --test made_up dma::read::";
        assert_eq!(part.replay(3, None), replay);
    }

    /// A program that fails, hangs, or passes, by its seed.
    fn program(script: &str) -> Program {
        let folder = std::env::temp_dir().join(format!("zeronic-seeds-{}", script.len()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let path = folder.join("program");
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("a program");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&path, mode).expect("a mode");
        Program {
            name: "made_up".to_owned(),
            package: "sim".to_owned(),
            is_unit: false,
            module: String::new(),
            tests: Vec::new(),
            path,
            folder,
            limit: Duration::from_secs(1),
        }
    }

    #[test]
    fn seed_decides_how_run_ends() {
        let script = "case $ZERONIC_SEED in\n1) exec echo $1;;\n\
             2) echo 'test it ... FAILED'; exit 101;;\n3) exec sleep 60;;\n\
             *) echo 'replay with ZERONIC_SEED=9';;\nesac";
        let mut program = program(script);
        let slowest = Duration::from_secs(50);
        assert_eq!(program.first_run(slowest).expect("runs"), Some(true));
        let passed = End::Passed("--show-output\n".to_owned());
        assert_eq!(program.run(1).expect("runs"), passed);
        let failed = End::Failed(vec!["it".to_owned()]);
        assert_eq!(program.run(2).expect("runs"), failed);
        program.limit = Duration::from_secs(1);
        assert_eq!(program.run(3).expect("runs"), End::Hung);
        assert_eq!(
            program.replay(2, Some("it")),
            "ZERONIC_SEED=2 cargo test --workspace --test made_up -- --exact it"
        );
    }

    #[test]
    fn program_without_seed_is_useless() {
        let mut program = program("echo running");
        let slowest = Duration::from_secs(50);
        assert_eq!(program.first_run(slowest).expect("runs"), Some(false));
    }
}
