//! The gate: `cargo xtask ci` runs every step, `cargo xtask ci STEP` one of them. And
//! `cargo xtask mutants`, which measures what the tests miss, and `cargo xtask seeds`, which finds
//! tests that depend on luck, `cargo xtask fresh`, which takes a machine that has nothing, and
//! `cargo xtask documents`, which writes the documents that are made from the code.

mod artifact;
mod circles;
mod documents;
mod mutants;
mod seeds;
mod source;
mod steps;
mod tidy;
mod untested;
mod walk;

use std::process::{Command, ExitCode};

use anyhow::Context;

use steps::Step;

const USAGE: &str = "usage: cargo xtask ci [fmt|tidy|lint|test|mutants]...
       cargo xtask mutants [--help]
       cargo xtask seeds [--help]
       cargo xtask fresh
       cargo xtask documents [NAME]...
  fmt    formatting
  tidy   the project's own limits
  lint   clippy, warnings are errors
  test   every test
  mutants  ten faults in the files that a change touches: which ones the tests miss
without a step: all five, in this order";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match arguments.split_first() {
        Some((command, rest)) if command == "mutants" => mutants::run(rest),
        Some((command, rest)) if command == "seeds" => seeds::run(rest),
        Some((command, rest)) if command == "fresh" => fresh(rest),
        Some((command, rest)) if command == "documents" => documents::run(rest),
        _ => match parse(&arguments) {
            Ok(steps) => steps::run(&steps),
            Err(unknown) => {
                eprintln!("xtask: {unknown}\n{USAGE}");
                return ExitCode::from(2);
            }
        },
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// README's commands on a machine that has only what README lists, by `ci/fresh.sh`.
fn fresh(arguments: &[String]) -> anyhow::Result<()> {
    let script = walk::workspace().join("ci/fresh.sh");
    let status = Command::new(&script).args(arguments).status();
    let status = status.with_context(|| format!("cannot run {}", script.display()))?;
    anyhow::ensure!(status.success(), "ci/fresh.sh ended with {status}");
    Ok(())
}

fn parse(arguments: &[String]) -> Result<Vec<Step>, String> {
    let Some((command, names)) = arguments.split_first() else {
        return Err("no command".into());
    };
    if command != "ci" {
        return Err(format!("unknown command `{command}`"));
    }
    if names.is_empty() {
        return Ok(Step::ALL.to_vec());
    }
    names.iter().map(|name| Step::named(name).ok_or(format!("unknown step `{name}`"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(words: &str) -> Result<Vec<Step>, String> {
        parse(&words.split_ascii_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn no_step_means_all() {
        assert_eq!(parsed("ci"), Ok(Step::ALL.to_vec()));
    }

    #[test]
    fn steps_are_taken_in_the_order_given() {
        assert_eq!(parsed("ci test fmt"), Ok(vec![Step::Test, Step::Fmt]));
    }

    #[test]
    fn unknown_words_are_named() {
        assert_eq!(parsed("ci tests"), Err("unknown step `tests`".into()));
        assert_eq!(parsed("check"), Err("unknown command `check`".into()));
    }
}
