//! The `zeronic` program: see the card work, measure it, write its Verilog, build its image, flash
//! boards, replay captures.

mod bench;
mod board;
mod card;
mod demo;
mod device;
mod merge;
mod model;
mod replay;
mod scenario;
mod shard;
mod shared;
mod sim_card;
mod soak;
mod verilog;

use std::process::ExitCode;

use anyhow::Result;
use clap::error::ErrorKind;
use clap::{Command, CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::shared::{failure, output};

/// An open network card that puts payload into application memory and headers anywhere else.
#[derive(Debug, Parser)]
#[command(name = "zeronic", version, max_term_width = 100, after_help = failure::STATUSES)]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Move bytes both ways between an application and a TCP peer, through the simulated card
    Demo(demo::DemoArguments),
    /// Write the Verilog of the card, its port list and the register manual
    Verilog(verilog::VerilogArguments),
    /// Build the image of a board with Vivado
    Build(board::build::BuildArguments),
    /// List cards, look at one, examine, reset and test it; exchange its image
    Device(device::DeviceArguments),
    /// List the boards, or show what is known of one
    Board(board::list::BoardArguments),
    /// Write an image into a board's flash, or load its device with it
    Flash(board::flash::FlashArguments),
    /// Replay a capture into the receive port of the card, or its outgoing packets through the send
    /// side
    Sim(replay::SimArguments),
    /// Serve a simulated card to another process, at a vfio-user socket
    SimCard(sim_card::SimCardArguments),
    /// Measure the card in simulated time, beside its physical limits
    Bench(bench::BenchArguments),
    /// Model what a stream costs on each data path: cores, memory, PCIe, latency
    Model(model::ModelArguments),
    /// Merge the files of all shards of a measurement into its report
    Merge(merge::MergeArguments),
    /// Run random demos and scenarios, each to be repeated with its own command
    Soak(soak::SoakArguments),
    /// Run many connections of our own TCP at once, of which some end early or are attacked
    Scenario(scenario::ScenarioArguments),
}

/// Reports a wrong command line in one line.
fn refuse(error: &clap::Error) -> ExitCode {
    let asked = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    if asked || error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        let printed = output::check_printed(error.print());
        return if asked { end(printed.map(|()| true)) } else { ExitCode::from(2) };
    }
    let text = error.to_string();
    let head = text.split("\n\n").next().unwrap_or(&text);
    let words: Vec<&str> = head.trim_start_matches("error: ").split_whitespace().collect();
    output::complain(&words.join(" "));
    ExitCode::from(2)
}

/// Takes `-5` behind an option for its value, which is then judged as one.
fn with_negative_numbers(command: Command) -> Command {
    let command = command.mut_args(|arg| match arg.get_action().takes_values() {
        true => arg.allow_negative_numbers(true),
        false => arg,
    });
    command.mut_subcommands(with_negative_numbers)
}

/// Reads the command line.
fn parse() -> Result<Arguments, clap::Error> {
    let matches = with_negative_numbers(Arguments::command()).try_get_matches()?;
    Arguments::from_arg_matches(&matches)
}

fn main() -> ExitCode {
    let arguments = match parse() {
        Ok(arguments) => arguments,
        Err(error) => return refuse(&error),
    };
    let result = match &arguments.task {
        Task::Demo(demo) => demo::run(demo),
        Task::Verilog(verilog) => verilog::run(verilog),
        Task::Build(arguments) => board::build::run(arguments),
        Task::Device(arguments) => device::run(arguments),
        Task::Board(arguments) => board::list::run(arguments),
        Task::Flash(flash) => board::flash::run(flash),
        Task::Sim(sim) => replay::run(sim),
        Task::SimCard(arguments) => sim_card::run(arguments),
        Task::Bench(arguments) => bench::run(arguments),
        Task::Model(arguments) => model::run(arguments),
        Task::Merge(arguments) => merge::run(arguments),
        Task::Soak(soak) => soak::run(soak),
        Task::Scenario(scenario) => scenario::run(scenario),
    };
    end(result)
}

/// The exit status of a result; prints its error.
fn end(result: Result<bool>) -> ExitCode {
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            if !error.is::<output::OutputClosed>() {
                output::complain(&format!("{error:#}"));
            }
            ExitCode::from(failure::status(&error))
        }
    }
}
