//! The `zeronic` program: see the card work, measure it, write its Verilog, replay captures.

mod bench;
mod demo;
mod manual;
mod options;
mod output;
mod ports;
mod replay;
mod report;
mod verilog;

use std::process::ExitCode;

use anyhow::Result;
use clap::error::ErrorKind;
use clap::{Parser, Subcommand};

/// An open network card that puts payload into application memory and headers anywhere else.
#[derive(Debug, Parser)]
#[command(name = "zeronic", version, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Moves bytes both ways between a Linux TCP peer and an application, through the Verilated
    /// card.
    Demo(demo::DemoArguments),
    /// Writes the card's Verilog, its port list and the register manual.
    Verilog(verilog::VerilogArguments),
    /// Replays a capture into the card's receive port, or its outgoing packets through the send
    /// side.
    Sim(replay::SimArguments),
    /// Measures the card in simulated time, beside what physics allows.
    Bench(bench::BenchArguments),
}

/// Exit status where nobody reads standard output any more: what a shell shows of a program that
/// ended by SIGPIPE.
const CLOSED: u8 = 128 + 13;

/// A wrong command line in one line.
fn refuse(error: &clap::Error) -> ExitCode {
    let asked = matches!(
        error.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
    );
    if asked || error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        let printed = output::printed(error.print());
        return if asked {
            end(printed.map(|()| true))
        } else {
            ExitCode::from(2)
        };
    }
    let text = error.to_string();
    let head = text.split("\n\n").next().unwrap_or(&text);
    let words: Vec<&str> = head
        .trim_start_matches("error: ")
        .split_whitespace()
        .collect();
    output::complain(&words.join(" "));
    ExitCode::from(2)
}

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return refuse(&error),
    };
    let result = match &arguments.command {
        Command::Demo(demo) => demo::run(demo),
        Command::Verilog(verilog) => verilog::run(verilog),
        Command::Sim(sim) => replay::run(sim),
        Command::Bench(arguments) => bench::run(arguments),
    };
    end(result)
}

/// The exit status of a result, and its error said.
fn end(result: Result<bool>) -> ExitCode {
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            if error.downcast_ref::<output::OutputClosed>().is_some() {
                return ExitCode::from(CLOSED);
            }
            output::complain(&format!("{error:#}"));
            let usage = error.downcast_ref::<options::UsageError>().is_some();
            ExitCode::from(if usage { 2 } else { 1 })
        }
    }
}
