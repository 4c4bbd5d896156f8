//! A test program: how cargo names it, how it is run, what its output says.

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

/// One program of the tests.
#[derive(Debug)]
pub struct Program {
    /// As in `--test NAME`; the name of the library for unit tests.
    pub name: String,
    package: String,
    is_unit: bool,
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
pub fn built() -> anyhow::Result<Vec<Program>> {
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
    let mut programs: Vec<Program> = messages.filter_map(|it| named(&it)).collect();
    programs.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(programs)
}

/// The test program that a message of cargo says is built.
fn named(message: &Value) -> Option<Program> {
    let (path, folder) = test_program(message)?;
    let kind = message["target"]["kind"][0].as_str()?;
    Some(Program {
        name: message["target"]["name"].as_str()?.to_owned(),
        package: package(message["package_id"].as_str()?).to_owned(),
        is_unit: kind != "test",
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

impl Program {
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
        let test = test.map(|test| format!(" -- --exact {test}"));
        format!("{VARIABLE}={seed} cargo test {which}{}", test.unwrap_or_default())
    }

    /// Package and name.
    pub fn title(&self) -> String {
        format!("{} {}", self.package, self.name)
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
    fn packages_are_named_by_both_kinds_of_id() {
        assert_eq!(package("path+file:///a/sim#0.1.0"), "sim");
        assert_eq!(package("path+file:///a/ci#xtask@0.1.0"), "xtask");
    }

    #[test]
    fn failed_tests_are_found_and_sorted() {
        let text = "test b ... FAILED\ntest c ... ok\ntest a::b ... FAILED\n\nfailures:\n";
        assert_eq!(failures(text), ["a::b", "b"]);
        assert_eq!(failures("killed"), ["(it ended without naming a test)"]);
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
            path,
            folder,
            limit: Duration::from_secs(1),
        }
    }

    #[test]
    fn a_seed_decides_how_a_run_ends() {
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
    fn a_program_without_a_seed_is_no_use() {
        let mut program = program("echo running");
        let slowest = Duration::from_secs(50);
        assert_eq!(program.first_run(slowest).expect("runs"), Some(false));
    }
}
