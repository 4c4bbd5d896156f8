//! Builds test programs in the copy of the tree, and runs them.
//!
//! ```text
//!   suite ── cargo test --no-run ──┬─► programs ── run ──► passed, failed: its test, hung
//!                                  └─► refused: where the compiler complains
//! ```
//! A program ends with its first test that fails.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{bail, Context};
use serde_json::Value;

use super::suite::Suite;
use super::tree::Tree;
use crate::artifact::test_program;

/// Longest build, seconds.
const BUILD_LIMIT: Duration = Duration::from_secs(2400);

/// What a build names besides its own packages and targets. With the packages, which have no
/// library and no test of a suite's name, each package of the workspace has the features that it
/// has in a build of all. With the program, procedural macros share with it what both are made of,
/// as there. So all suites use what was built once.
const BESIDES: [&str; 6] = ["--package", "xtask", "--package", "zeronic", "--bin", "xtask"];

/// Names the folder of compiled designs.
const CACHE: &str = "ZERONIC_CACHE";
/// The folder of the package that compiles them.
const VERILATE: &str = "sim/verilate";

/// A test program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    path: PathBuf,
    /// The folder of its package, in which it runs.
    folder: PathBuf,
}

/// What became of a build.
#[derive(Debug)]
pub enum Built {
    /// The test programs of a suite.
    Programs(Vec<Program>),
    /// For each error of the compiler the places that it names: file of the tree and byte, the
    /// place that it is about first. None where a linker or a build script fails.
    Refused(Vec<Vec<(PathBuf, usize)>>),
    /// The time of the whole run was over before its end.
    OutOfTime,
}

/// How a run of tests ended.
#[derive(Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All of them passed.
    Passed,
    /// The name of the first that failed, or how the program ended.
    Failed(String),
    /// It was ended for its time.
    Hung,
}

/// Builds and runs in one tree.
pub struct Runner<'a> {
    tree: &'a Tree,
    environment: Vec<(String, String)>,
    deadline: Option<Instant>,
}

impl<'a> Runner<'a> {
    /// For a copy of the tree at `original`. `seed` is that of random tests: a mutant has one
    /// verdict. At `deadline` the last run is given up.
    pub fn new(
        tree: &'a Tree,
        original: &Path,
        seed: u64,
        deadline: Option<Instant>,
    ) -> anyhow::Result<Self> {
        let mut environment = read_environment(original)?;
        environment.push(("ZERONIC_SEED".into(), seed.to_string()));
        let cache = tree.cache.display().to_string();
        environment.push((CACHE.into(), cache));
        if std::env::var_os("ZERONIC_TOOLS").is_none() {
            let tools = original.join(".tools").display().to_string();
            environment.push(("ZERONIC_TOOLS".into(), tools));
        }
        Ok(Self { tree, environment, deadline })
    }

    /// Whether the time of the whole run is over.
    pub fn is_over(&self) -> bool {
        // Limits are whole seconds: what is ended for the time ends up to one earlier.
        self.deadline.is_some_and(|at| Instant::now() + Duration::from_secs(1) >= at)
    }

    /// Whether the time of the whole run is limited.
    pub fn has_limit(&self) -> bool {
        self.deadline.is_some()
    }

    /// Where the last build's messages are.
    pub fn log(&self) -> PathBuf {
        self.tree.root.with_file_name("build.log")
    }

    /// Not longer than the whole run, and not 0, which would be no limit.
    fn limit_to_run(&self, limit: Duration) -> Duration {
        let left = |at: Instant| at.saturating_duration_since(Instant::now());
        let limit = self.deadline.map_or(limit, |at| limit.min(left(at)));
        limit.max(Duration::from_secs(1))
    }

    /// The variable of its own empty cache for a test program of `verilate`: a fault in it may fill
    /// the cache with wrong models, for all that come after it.
    fn cache_of(&self, program: &Program) -> anyhow::Result<Option<(&'static str, PathBuf)>> {
        if !program.folder.ends_with(VERILATE) {
            return Ok(None);
        }
        let cache = self.tree.root.with_file_name("cache-of-verilate");
        // There may be none yet.
        let _ = fs::remove_dir_all(&cache);
        fs::create_dir_all(&cache).with_context(|| format!("cannot make {}", cache.display()))?;
        Ok(Some((CACHE, cache)))
    }

    /// Builds the programs of a suite.
    pub fn build(&self, suite: &Suite) -> anyhow::Result<Built> {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let limit = self.limit_to_run(BUILD_LIMIT).as_secs().to_string();
        let log = File::create(self.log()).context("cannot write the log of the build")?;
        let output = Command::new("timeout")
            .args(["--signal=KILL", &limit])
            .arg(cargo)
            .args(["test", "--no-run", "--message-format=json", "--package"])
            .arg(suite.package)
            .args(BESIDES)
            .args(suite.targets)
            .current_dir(&self.tree.root)
            .env("CARGO_TARGET_DIR", &self.tree.build)
            .stdin(Stdio::null())
            .stderr(log)
            .output()
            .context("cannot run cargo")?;
        let text = String::from_utf8_lossy(&output.stdout);
        let messages = text.lines().filter_map(|line| serde_json::from_str(line).ok());
        let messages: Vec<Value> = messages.collect();
        if output.status.success() {
            let programs = messages.iter().filter_map(|it| program(it, suite.package));
            return Ok(Built::Programs(programs.collect()));
        }
        if self.is_over() {
            return Ok(Built::OutOfTime);
        }
        let log = fs::read_to_string(self.log()).unwrap_or_default();
        if !log.contains("error") {
            bail!("the build ended with {}: {}", output.status, log.trim());
        }
        Ok(Built::Refused(messages.iter().filter_map(places).collect()))
    }

    /// The names of a program's tests.
    pub fn tests(&self, program: &Program) -> anyhow::Result<Vec<String>> {
        let output = Command::new(&program.path)
            .args(["--list", "--format", "terse"])
            .current_dir(&program.folder)
            .output()
            .context("cannot list the tests of a program")?;
        let text = String::from_utf8_lossy(&output.stdout);
        Ok(text.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect())
    }

    /// Runs a program with arguments and a variable of its environment, at most for `limit`, each
    /// process for at most `cpu_s` seconds of CPU time. All of it is one process group.
    pub fn run(
        &self,
        program: &Program,
        arguments: &[&str],
        variable: (&str, &str),
        limit: Duration,
        cpu_s: u64,
    ) -> anyhow::Result<Outcome> {
        let limit = self.limit_to_run(limit);
        let cache = self.cache_of(program)?;
        let mut child = Command::new("timeout")
            .args(["--signal=KILL", &limit.as_secs().to_string()])
            .args(["sh", "-c", "ulimit -t \"$0\"; exec \"$@\""])
            .arg(cpu_s.to_string())
            .arg(&program.path)
            .args(arguments)
            .current_dir(&program.folder)
            .env("CARGO_MANIFEST_DIR", &program.folder)
            .envs(self.environment.iter().cloned())
            .envs(cache)
            .env(variable.0, variable.1)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("cannot run a test program")?;
        let started = Instant::now();
        let output = child.stdout.take().context("a program has no output")?;
        if let Some(test) = first_failure(output) {
            end(&mut child)?;
            return Ok(Outcome::Failed(test));
        }
        let status = child.wait().context("cannot wait for a program")?;
        Ok(match status.success() {
            true => Outcome::Passed,
            false if started.elapsed() >= limit => Outcome::Hung,
            false => Outcome::Failed(format!("ended with {status}")),
        })
    }
}

/// What `.cargo/config.toml` has every program run with.
fn read_environment(root: &Path) -> anyhow::Result<Vec<(String, String)>> {
    let file = root.join(".cargo/config.toml");
    let text = fs::read_to_string(&file).with_context(|| format!("reading {}", file.display()))?;
    let table: toml::Table = toml::from_str(&text).context("the configuration of cargo")?;
    let environment = table.get("env").and_then(toml::Value::as_table);
    let pairs = environment.into_iter().flatten();
    let text =
        |(name, value): (&String, &toml::Value)| Some((name.clone(), value.as_str()?.into()));
    Ok(pairs.filter_map(text).collect())
}

/// The test program of a package that a message of cargo says is built.
fn program(message: &Value, package: &str) -> Option<Program> {
    let (path, folder) = test_program(message)?;
    let text = fs::read_to_string(folder.join("Cargo.toml")).ok()?;
    let name = format!("name = \"{package}\"");
    if !text.lines().any(|line| line == name) {
        return None;
    }
    Some(Program { path, folder })
}

/// The places that a message of cargo names, if it is an error of the compiler.
fn places(message: &Value) -> Option<Vec<(PathBuf, usize)>> {
    let message = message.get("message").filter(|it| it["level"] == "error")?;
    let spans = message["spans"].as_array()?;
    let (about, further): (Vec<&Value>, _) =
        spans.iter().partition(|span| span["is_primary"] == true);
    let mut places = Vec::new();
    for mut span in about.into_iter().chain(further) {
        // A macro's own text first, then where it is called.
        while let (Some(file), Some(at)) = (span["file_name"].as_str(), span["byte_start"].as_u64())
        {
            places.push((file.into(), usize::try_from(at).ok()?));
            span = &span["expansion"]["span"];
        }
    }
    // "Aborting due to 2 errors" names none.
    (!places.is_empty()).then_some(places)
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
    let _ = Command::new("sh").args(["-c", &group]).stderr(Stdio::null()).status();
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
        assert_eq!(first_failure("test result: FAILED. 1 failed\n".as_bytes()), None);
        assert_eq!(failure("test a ... ok"), None);
    }

    #[test]
    fn ended_run_takes_its_children_along() {
        let mut command = Command::new("timeout");
        command.args(["60", "sh", "-c", "echo 'test a ... FAILED'; sleep 50 & sleep 50"]);
        let mut child = command.stdout(Stdio::piped()).spawn().expect("a shell");
        let mut output = child.stdout.take().expect("an output");
        let mut line = [0; 18];
        output.read_exact(&mut line).expect("a line");
        let status = end(&mut child).expect("it ends");
        assert_eq!(status.signal(), Some(9), "it has ended by itself: {status}");
        // Whoever holds the other end of the pipe would keep this waiting.
        let mut rest = String::new();
        output.read_to_string(&mut rest).expect("the end");
        assert_eq!((&line[..], rest.trim()), (&b"test a ... FAILED\n"[..18], ""));
    }
}
