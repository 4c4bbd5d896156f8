//! `zeronic device`: cards, one at a time.
//!
//! ```text
//!   list ──────────────────────► what is there
//!   bind, unbind ──────────────► to VFIO, and back to the driver before
//!   info, counters, doctor ────► card: looked at, by its registers
//!   link ──────────────────────► its MAC: up, down, what stands in the way
//!   reset, selftest, top ──────► card: opened by the driver
//!   reprogram ─────────────────► a card in a running machine, by sysfs
//! ```
//! Whoever opens a bus has the card alone: it is empty, and what another program had set up is gone
//! or was never touched. Counters live on.

mod bind;
mod card;
mod counters;
mod doctor;
mod express;
mod info;
mod link;
mod list;
mod report;
mod reprogram;
mod reset;
mod selftest;
mod top;

use anyhow::Result;
use clap::{Args, Subcommand};

/// Arguments of `zeronic device`.
#[derive(Debug, Args)]
pub struct DeviceArguments {
    #[command(subcommand)]
    what: DeviceCommand,
}

#[derive(Debug, Subcommand)]
enum DeviceCommand {
    /// List the cards of this machine, and those at sockets
    List(list::ListArguments),
    /// Give a card in a slot to VFIO, so that --bus vfio:ADDRESS opens it; as root
    Bind(bind::BindArguments),
    /// Give it back to the driver that the system has for it; as root
    Unbind(bind::BindArguments),
    /// Show what a card is: contract, configuration, epoch, wire, board
    Info(info::InfoArguments),
    /// Show all counters of a card, with what each counts
    Counters(counters::CountersArguments),
    /// Bring the wire up or down, or say what stands in its way
    Link(link::LinkArguments),
    /// Start a new epoch: tables and rings of a card are empty after it
    Reset(reset::ResetArguments),
    /// Examine a card and the machine around it, with advice
    Doctor(doctor::DoctorArguments),
    /// Test a card: registers, rings, interrupt, and bytes over the wire and back
    Selftest(selftest::SelftestArguments),
    /// Show a card at work: flows and owners, drops, stalls and repetitions, on the whole screen
    Top(top::TopArguments),
    /// Exchange the image of a card while the machine runs: the bridge above it is told to be
    /// silent, the system lets the card go, and finds it again
    Reprogram(reprogram::ReprogramArguments),
}

/// Runs the command.
pub fn run(arguments: &DeviceArguments) -> Result<bool> {
    match &arguments.what {
        DeviceCommand::List(arguments) => list::run(arguments),
        DeviceCommand::Bind(arguments) => bind::run(arguments, false),
        DeviceCommand::Unbind(arguments) => bind::run(arguments, true),
        DeviceCommand::Info(arguments) => info::run(arguments),
        DeviceCommand::Counters(arguments) => counters::run(arguments),
        DeviceCommand::Link(arguments) => link::run(arguments),
        DeviceCommand::Reset(arguments) => reset::run(arguments),
        DeviceCommand::Doctor(arguments) => doctor::run(arguments),
        DeviceCommand::Selftest(arguments) => selftest::run(arguments),
        DeviceCommand::Top(arguments) => top::run(arguments),
        DeviceCommand::Reprogram(arguments) => reprogram::run(arguments),
    }
}
