//! The steps of the gate, in order: cheap ones first, so that a slip shows early.

use std::ffi::OsStr;
use std::process::Command;
use std::time::Instant;

use anyhow::{bail, Context};

use crate::{skipped, tidy, walk};

/// One step; `ci/steps.md` says what each proves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// `cargo fmt --check`.
    Fmt,
    /// The limits in [`tidy`].
    Tidy,
    /// `cargo clippy`, warnings are errors.
    Lint,
    /// `cargo test`.
    Test,
}

impl Step {
    /// All steps in the order in which they run.
    pub const ALL: [Step; 4] = [Step::Fmt, Step::Tidy, Step::Lint, Step::Test];

    /// The step of that name.
    pub fn named(name: &str) -> Option<Step> {
        Step::ALL.into_iter().find(|step| step.name() == name)
    }

    fn name(self) -> &'static str {
        match self {
            Step::Fmt => "fmt",
            Step::Tidy => "tidy",
            Step::Lint => "lint",
            Step::Test => "test",
        }
    }

    fn run(self) -> anyhow::Result<()> {
        match self {
            Step::Fmt => cargo(&["fmt", "--all", "--check"], &[]),
            Step::Tidy => tidy_workspace(),
            Step::Lint => cargo(
                &[
                    "clippy",
                    "--workspace",
                    "--all-targets",
                    "--",
                    "-D",
                    "warnings",
                ],
                &[],
            ),
            Step::Test => test(),
        }
    }
}

/// Runs the steps and stops at the first that fails.
pub fn run(steps: &[Step]) -> anyhow::Result<()> {
    for (index, step) in steps.iter().enumerate() {
        println!("== {}/{} {}", index + 1, steps.len(), step.name());
        let started = Instant::now();
        step.run()
            .with_context(|| format!("step `{}` failed", step.name()))?;
        println!(
            "== {} passed in {:.0} s",
            step.name(),
            started.elapsed().as_secs_f32()
        );
    }
    Ok(())
}

/// Runs every test, then says which ones were skipped: the harness counts those as passed.
fn test() -> anyhow::Result<()> {
    let name = format!("zeronic-skipped-{}", std::process::id());
    let file = std::env::temp_dir().join(name);
    let arguments = ["test", "--workspace", "--no-fail-fast"];
    let outcome = cargo(&arguments, &[(skipped::FILE, file.as_os_str())]);
    let lines = std::fs::read_to_string(&file).unwrap_or_default();
    // A run in which nothing was skipped has no file.
    let _ = std::fs::remove_file(&file);
    print!("{}", skipped::summary(&lines));
    outcome
}

fn cargo(arguments: &[&str], environment: &[(&str, &OsStr)]) -> anyhow::Result<()> {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(program)
        .args(arguments)
        .envs(environment.iter().copied())
        .current_dir(walk::workspace())
        .status()
        .context("cannot run cargo")?;
    if !status.success() {
        bail!("cargo {} ended with {status}", arguments.join(" "));
    }
    Ok(())
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
