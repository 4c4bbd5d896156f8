//! The gate: `cargo xtask ci` runs every step, `cargo xtask ci STEP` one of them. And
//! `cargo xtask mutants`, which measures what the tests miss, `cargo xtask seeds`, which finds
//! tests that depend on luck, `cargo xtask fresh`, which takes a machine that has nothing, and
//! `cargo xtask documents`, which writes the documents that are made from the code.

mod artifact;
mod circles;
mod documents;
mod mutants;
mod seeds;
mod steps;
mod tidy;
mod untested;
mod walk;

use std::process::{Command, ExitCode};

use anyhow::Context;
use clap::Parser;

use steps::Step;

/// What is run before anything lands, and what tells how good that is.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
enum Task {
    /// The gate: all steps in this order, or those that are named.
    Ci {
        /// Steps to run.
        steps: Vec<Step>,
    },
    /// Plants one-line faults and counts which ones the tests find (docs/mutants.md).
    Mutants(mutants::Options),
    /// Runs the random tests with other seeds and prints what fails, with its replay.
    Seeds(seeds::Options),
    /// Runs README's two commands, or another, as on a machine that has what README lists alone.
    Fresh {
        /// Another command, with its arguments.
        #[arg(trailing_var_arg = true)]
        command: Vec<String>,
    },
    /// Writes the documents that are made from the code.
    #[command(after_help = documents::usage())]
    Documents {
        /// The documents to write; all without one.
        names: Vec<String>,
    },
}

fn main() -> ExitCode {
    let outcome = match Task::parse() {
        Task::Ci { steps } => steps::run(if steps.is_empty() { &Step::ALL } else { &steps }),
        Task::Mutants(options) => mutants::run(&options),
        Task::Seeds(options) => seeds::run(&options),
        Task::Fresh { command } => fresh(&command),
        Task::Documents { names } => documents::run(&names),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &str) -> Result<Task, clap::Error> {
        Task::try_parse_from(words.split_ascii_whitespace())
    }

    #[test]
    fn steps_run_in_given_order() {
        let Ok(Task::Ci { steps }) = parse("xtask ci test fmt") else {
            panic!("two steps");
        };
        assert_eq!(steps, [Step::Test, Step::Fmt]);
    }

    #[test]
    fn a_command_keeps_its_own_arguments() {
        let Ok(Task::Fresh { command }) = parse("xtask fresh cargo test --workspace") else {
            panic!("a command");
        };
        assert_eq!(command, ["cargo", "test", "--workspace"]);
    }

    #[test]
    fn unknown_words_are_named() {
        for (words, unknown) in [("xtask ci tests", "'tests'"), ("xtask check", "'check'")] {
            let error = parse(words).expect_err("unknown");
            assert_eq!(error.exit_code(), 2);
            assert!(error.to_string().contains(unknown), "{error}");
        }
    }
}
