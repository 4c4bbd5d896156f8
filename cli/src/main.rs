//! The `zeronic` program: see the card work, measure it, write its Verilog, build its image, flash
//! boards, replay captures.

mod bench;
mod board;
mod board_files;
mod build;
mod demo;
mod device;
mod flash;
mod manual;
mod options;
mod output;
mod ports;
mod progress;
mod replay;
mod report;
mod soak;
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
    /// Move bytes both ways between a Linux TCP peer and an application, through the simulated card
    Demo(demo::DemoArguments),
    /// Write the Verilog of the card, its port list and the register manual
    Verilog(verilog::VerilogArguments),
    /// Build the image of a board with Vivado
    Build(build::BuildArguments),
    /// Exchange the image of a card while the machine runs
    Device(device::DeviceArguments),
    /// List the boards, or show what is known of one
    Board(board::BoardArguments),
    /// Write an image into a board's flash, or load its device with it
    Flash(flash::FlashArguments),
    /// Replay a capture into the receive port of the card, or its outgoing packets through the send
    /// side
    Sim(replay::SimArguments),
    /// Measure the card in simulated time, beside its physical limits
    Bench(bench::BenchArguments),
    /// Run random demos, each to be repeated with its own command
    Soak(soak::SoakArguments),
}

/// Exit status when standard output is closed: as a shell reports a program ended by SIGPIPE.
const CLOSED: u8 = 128 + 13;

/// Reports a wrong command line in one line.
fn refuse(error: &clap::Error) -> ExitCode {
    let asked = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    if asked || error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        let printed = output::printed(error.print());
        return if asked { end(printed.map(|()| true)) } else { ExitCode::from(2) };
    }
    let text = error.to_string();
    let head = text.split("\n\n").next().unwrap_or(&text);
    let words: Vec<&str> = head.trim_start_matches("error: ").split_whitespace().collect();
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
        Command::Build(arguments) => build::run(arguments),
        Command::Device(arguments) => device::run(arguments),
        Command::Board(arguments) => board::run(arguments),
        Command::Flash(flash) => flash::run(flash),
        Command::Sim(sim) => replay::run(sim),
        Command::Bench(arguments) => bench::run(arguments),
        Command::Soak(soak) => soak::run(soak),
    };
    end(result)
}

/// The exit status of a result; prints its error.
fn end(result: Result<bool>) -> ExitCode {
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            if error.downcast_ref::<output::OutputClosed>().is_some() {
                return ExitCode::from(CLOSED);
            }
            output::complain(&format!("{error:#}"));
            if let Some(error) = error.downcast_ref::<options::StatusError>() {
                return ExitCode::from(error.status);
            }
            let usage = error.downcast_ref::<options::UsageError>().is_some();
            ExitCode::from(if usage { 2 } else { 1 })
        }
    }
}
