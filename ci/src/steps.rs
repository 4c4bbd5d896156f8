//! The steps of the gate, in order: cheap ones first, so that a slip shows early.
//!
//! ```text
//!   fmt ─► tidy ─► test: build ─► run ──────────┬─► both said ─► package
//!                             └─► lint, beside ─┘
//! ```
//! Some tests leave a core idle, for minutes in all: lint takes that time first, where it is asked
//! for together with the tests.

use std::ffi::OsString;
use std::process::{Command, Output};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{bail, Context};
use clap::ValueEnum;

use crate::{tidy, walk};

/// One step; `ci/steps.md` says what each proves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Step {
    /// Formatting.
    Fmt,
    /// The project's own limits.
    Tidy,
    /// Clippy; warnings are errors.
    Lint,
    /// Every test.
    Test,
    /// The packages that others can use, as they would be uploaded.
    Package,
}

impl Step {
    /// All steps in the order in which they run.
    pub const ALL: [Step; 5] = [Step::Fmt, Step::Tidy, Step::Lint, Step::Test, Step::Package];

    fn name(self) -> &'static str {
        match self {
            Step::Fmt => "fmt",
            Step::Tidy => "tidy",
            Step::Lint => "lint",
            Step::Test => "test",
            Step::Package => "package",
        }
    }

    fn run(self) -> anyhow::Result<()> {
        match self {
            Step::Fmt => cargo(&["fmt", "--all", "--check"]),
            Step::Tidy => tidy_workspace(),
            Step::Lint => cargo(&LINT),
            Step::Test => test(),
            Step::Package => package(),
        }
    }
}

/// Not `--all-targets`: that checks libraries without unit tests twice, too.
const LINT: [&str; 9] =
    ["clippy", "--workspace", "--lib", "--bins", "--tests", "--examples", "--", "-D", "warnings"];

/// Runs the steps and stops at the first that fails. Lint and test go side by side.
pub fn run(steps: &[Step]) -> anyhow::Result<()> {
    let both = steps.contains(&Step::Lint) && steps.contains(&Step::Test);
    let is_beside = |step: Step| both && step == Step::Lint;
    for (index, &step) in steps.iter().enumerate() {
        if is_beside(step) {
            continue;
        }
        println!("== {}/{} {}", index + 1, steps.len(), step.name());
        let started = Instant::now();
        let outcome = if both && step == Step::Test { test_and_lint() } else { step.run() };
        outcome.with_context(|| format!("step `{}` failed", step.name()))?;
        println!("== {} passed in {:.0} s", step.name(), started.elapsed().as_secs_f32());
    }
    Ok(())
}

/// Builds the tests, runs them with lint beside them, and shows what lint has said.
fn test_and_lint() -> anyhow::Result<()> {
    cargo(&["test", "--workspace", "--no-run"])?;
    println!("== lint, beside the tests");
    let lint = thread::spawn(lint_in_idle_time);
    let tested = test();
    let linted = lint.join().unwrap_or_else(|_| bail!("lint panicked"));
    tested.and(linted.and_then(show_lint))
}

/// What the tests need to look at what is built: Cargo locks it meanwhile, and they go first.
const HEAD_START: Duration = Duration::from_secs(5);

/// Runs lint with the lowest priority; its output and how long it took.
fn lint_in_idle_time() -> anyhow::Result<(Output, Duration)> {
    thread::sleep(HEAD_START);
    let started = Instant::now();
    let output = Command::new("nice")
        .args(["-n", "19"])
        .arg(cargo_program())
        .args(LINT)
        .current_dir(walk::workspace())
        .output()
        .context("cannot run nice")?;
    Ok((output, started.elapsed()))
}

/// Shows what lint has said; an error if it has found something.
fn show_lint((lint, time): (Output, Duration)) -> anyhow::Result<()> {
    for text in [&lint.stdout, &lint.stderr] {
        print!("{}", String::from_utf8_lossy(text));
    }
    if !lint.status.success() {
        bail!("lint ended with {}", lint.status);
    }
    println!("== lint passed in {:.0} s", time.as_secs_f32());
    Ok(())
}

/// Runs every test; the last program says which ones were skipped.
fn test() -> anyhow::Result<()> {
    cargo(&["test", "--workspace", "--no-fail-fast"])
}

/// Packages that others can use.
const PACKAGES: [&str; 7] = [
    "zeronic-abi",
    "zeronic-golden",
    "zeronic-host",
    "zeronic-lab",
    "zeronic-pcie-sim",
    "zeronic-tcp",
    "zeronic-vfio-user",
];

/// Builds each package from what would be uploaded, and nothing else.
fn package() -> anyhow::Result<()> {
    let named = PACKAGES.iter().flat_map(|name| ["--package", name]);
    let arguments: Vec<&str> = ["package", "--allow-dirty"].into_iter().chain(named).collect();
    cargo(&arguments)
}

fn cargo(arguments: &[&str]) -> anyhow::Result<()> {
    let mut command = Command::new(cargo_program());
    let status = command.args(arguments).current_dir(walk::workspace()).status();
    let status = status.context("cannot run cargo")?;
    if !status.success() {
        bail!("cargo {} ended with {status}", arguments.join(" "));
    }
    Ok(())
}

fn cargo_program() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

fn tidy_workspace() -> anyhow::Result<()> {
    let findings = tidy::check_workspace()?;
    for finding in &findings {
        println!("{finding}");
    }
    if !findings.is_empty() {
        bail!("{} findings", findings.len());
    }
    Ok(())
}
