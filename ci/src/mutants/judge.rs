//! Runs the tests against one mutant.
//!
//! ```text
//!   mutant ──► build ──► suite 1 ──► suite 2 ──► ... ──► survived
//!                └ does not build   └ a test fails, or hangs: killed
//! ```
//! A suite ends with its first test that fails.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{bail, Context};

use super::mutant::Mutant;
use super::suites::{self, Suite};
use super::tree::Tree;

/// Longest build, seconds.
const BUILD_LIMIT_S: u64 = 1200;
/// Longest run of a suite whose time without a mutant is not known.
const RUN_LIMIT: Duration = Duration::from_secs(600);
/// A suite that takes so many times as long as without a mutant hangs.
const HANG_FACTOR: u32 = 5;
/// Shortest limit of a run: machines are busy at times.
const LEAST_LIMIT: Duration = Duration::from_secs(60);

/// What became of a mutant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// A test failed, or hung: its suite, and its name where one is known.
    Killed {
        /// The suite.
        suite: String,
        /// The test, or what else happened.
        test: String,
    },
    /// All tests passed.
    Survived,
    /// It is listed as equivalent.
    Equivalent,
    /// The compiler, or a build script, refuses it.
    DoesNotBuild,
    /// The time of the whole run was over before its tests had ended.
    OutOfTime,
}

/// How a run of tests ended.
#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    Passed,
    Failed(String),
    Hung,
}

/// Runs suites in a tree.
pub struct Judge<'a> {
    tree: &'a Tree,
    original: &'a Path,
    /// Suites that passed without a mutant, and how long they took.
    passed: Vec<(&'static Suite, Duration)>,
    /// Whether the suites are known to pass without a mutant.
    is_passing: bool,
    /// When the whole run ends.
    deadline: Option<Instant>,
    /// Seed of the random tests.
    seed: u64,
}

impl<'a> Judge<'a> {
    /// A judge of mutants of the tree at `original`, applied in `tree`. Unless the tests are known
    /// to pass, each suite is first run without a mutant. At `deadline` the last run is given up.
    /// `seed` is that of random tests.
    pub fn new(
        tree: &'a Tree,
        original: &'a Path,
        is_passing: bool,
        deadline: Option<Instant>,
        seed: u64,
    ) -> Self {
        Self {
            tree,
            original,
            passed: Vec::new(),
            is_passing,
            deadline,
            seed,
        }
    }

    /// Whether the time of the whole run is over.
    pub fn is_over(&self) -> bool {
        self.deadline
            .is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Builds and runs, without a mutant, what is to judge `file`.
    pub fn prepare(&mut self, file: &Path) -> anyhow::Result<()> {
        for suite in suites::of(file).unwrap_or_default() {
            if self.passed.iter().any(|(known, _)| *known == suite) {
                continue;
            }
            if !self.builds(suite)? {
                let log = self.log();
                bail!(
                    "{} does not build without a mutant: {}",
                    suite.name(),
                    log.display()
                );
            }
            let started = Instant::now();
            if !self.is_passing {
                let outcome = self.run(suite, Duration::from_secs(BUILD_LIMIT_S))?;
                if outcome != Outcome::Passed {
                    bail!("{} fails without a mutant: {outcome:?}", suite.name());
                }
            }
            self.passed.push((suite, started.elapsed()));
        }
        Ok(())
    }

    /// The verdict on one mutant, whose file was prepared.
    pub fn judge(&self, mutant: &Mutant) -> anyhow::Result<Verdict> {
        let text = self.tree.apply(mutant)?;
        let verdict = self.judge_applied(mutant);
        self.tree.restore(mutant, &text)?;
        verdict
    }

    fn judge_applied(&self, mutant: &Mutant) -> anyhow::Result<Verdict> {
        for suite in suites::of(&mutant.file).unwrap_or_default() {
            if !self.builds(suite)? {
                return Ok(Verdict::DoesNotBuild);
            }
            let test = match self.run(suite, self.limit(suite))? {
                Outcome::Passed => continue,
                Outcome::Failed(test) => test,
                Outcome::Hung if self.is_over() => return Ok(Verdict::OutOfTime),
                Outcome::Hung => "hangs".into(),
            };
            let suite = suite.name();
            return Ok(Verdict::Killed { suite, test });
        }
        Ok(Verdict::Survived)
    }

    fn limit(&self, suite: &Suite) -> Duration {
        let known = self.passed.iter().find(|(known, _)| *known == suite);
        let limit = match known.filter(|_| !self.is_passing) {
            Some((_, took)) => (*took * HANG_FACTOR).max(LEAST_LIMIT),
            None => RUN_LIMIT,
        };
        let left = self
            .deadline
            .map(|at| at.saturating_duration_since(Instant::now()));
        // A limit of 0 would be none.
        left.map_or(limit, |left| limit.min(left).max(Duration::from_secs(1)))
    }

    /// Where the last build's messages are.
    fn log(&self) -> PathBuf {
        self.tree.root.with_file_name("build.log")
    }

    fn builds(&self, suite: &Suite) -> anyhow::Result<bool> {
        let log = File::create(self.log()).context("cannot write the log of the build")?;
        let mut command = self.cargo(suite, Duration::from_secs(BUILD_LIMIT_S), BUILD_LIMIT_S);
        command.arg("--no-run").stdout(Stdio::null()).stderr(log);
        let status = command.status().context("cannot run cargo")?;
        let text = fs::read_to_string(self.log()).unwrap_or_default();
        if !status.success() && !text.contains("error") {
            bail!("the build ended with {status}: {}", text.trim());
        }
        Ok(status.success())
    }

    fn run(&self, suite: &Suite, limit: Duration) -> anyhow::Result<Outcome> {
        let mut command = self.cargo(suite, limit, suite.cpu_limit_s());
        command.arg("--").args(suite.filter);
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        let started = Instant::now();
        let mut child = command.spawn().context("cannot run cargo")?;
        let output = child.stdout.take().context("cargo has no output")?;
        let failed = first_failure(output);
        if let Some(test) = failed {
            end(&mut child)?;
            return Ok(Outcome::Failed(test));
        }
        let status = child.wait().context("cannot wait for cargo")?;
        Ok(match status.success() {
            true => Outcome::Passed,
            false if started.elapsed() >= limit => Outcome::Hung,
            false => Outcome::Failed(format!("ended with {status}")),
        })
    }

    /// `cargo test` of a suite in the tree, killed after `limit`, each process after `cpu_s`
    /// seconds of CPU time. All of it is one process group.
    fn cargo(&self, suite: &Suite, limit: Duration, cpu_s: u64) -> Command {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = Command::new("timeout");
        command
            .arg("--signal=KILL")
            .arg(limit.as_secs().to_string());
        command
            .args(["sh", "-c", "ulimit -t \"$0\"; exec \"$@\""])
            .arg(cpu_s.to_string())
            .arg(cargo)
            .args(["test", "--package", suite.package])
            .args(suite.targets);
        command
            .current_dir(&self.tree.root)
            .env("CARGO_TARGET_DIR", &self.tree.build);
        // One seed for all random tests: a mutant has one verdict.
        command
            .env("ZERONIC_CACHE", &self.tree.cache)
            .env("ZERONIC_SEED", self.seed.to_string());
        if std::env::var_os("ZERONIC_TOOLS").is_none() {
            command.env("ZERONIC_TOOLS", self.original.join(".tools"));
        }
        command.stdin(Stdio::null());
        command
    }
}

/// The name of the first test that fails, as soon as its line comes.
fn first_failure(output: impl Read) -> Option<String> {
    let lines = BufReader::new(output).lines().map_while(Result::ok);
    let mut failed = lines.filter_map(|line| failure(&line).map(str::to_owned));
    failed.next()
}

/// The test that a line of the test harness says has failed.
fn failure(line: &str) -> Option<&str> {
    line.strip_prefix("test ")?.strip_suffix(" ... FAILED")
}

/// Ends a run and everything it has started.
fn end(child: &mut Child) -> anyhow::Result<ExitStatus> {
    let group = format!("kill -s KILL -- -{}", child.id());
    // It may have ended by itself.
    let _ = Command::new("sh")
        .args(["-c", &group])
        .stderr(Stdio::null())
        .status();
    child.wait().context("cannot wait for cargo")
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use super::*;

    #[test]
    fn the_first_failure_is_named() {
        let output = "running 3 tests\ntest a::b ... ok\ntest c ... FAILED\ntest d ... FAILED\n";
        assert_eq!(first_failure(output.as_bytes()), Some("c".into()));
        assert_eq!(
            first_failure("test result: FAILED. 1 failed\n".as_bytes()),
            None
        );
        assert_eq!(failure("test a ... ok"), None);
    }

    #[test]
    fn a_run_is_ended_with_all_that_it_started() {
        let mut command = Command::new("timeout");
        command.args([
            "60",
            "sh",
            "-c",
            "echo 'test a ... FAILED'; sleep 50 & sleep 50",
        ]);
        let mut child = command.stdout(Stdio::piped()).spawn().expect("a shell");
        let mut output = child.stdout.take().expect("an output");
        let mut line = [0; 18];
        output.read_exact(&mut line).expect("a line");
        let status = end(&mut child).expect("it ends");
        assert_eq!(status.signal(), Some(9), "it has ended by itself: {status}");
        // Whoever holds the other end of the pipe would keep this waiting.
        let mut rest = String::new();
        output.read_to_string(&mut rest).expect("the end");
        assert_eq!(
            (&line[..], rest.trim()),
            (&b"test a ... FAILED\n"[..18], "")
        );
    }
}
