//! `zeronic bench`: what the simulated card reaches, beside what physics allows.
//!
//! ```text
//!   rx, tx, duplex ── one scenario    latency ── port to port    sim ── speed of the simulation
//!   dma ── its engines alone            area ── of the device, by block
//!   all ── every row of the page: Markdown, and HTML with plots
//! ```
//! Figures are in the card's time; every run judges every byte, and exits with 0 only if all are
//! right.

mod all;
mod area;
mod dma;
mod latency;
mod page;
mod plot;
mod speed;
mod throughput;

use anyhow::Result;
use clap::{Args, Subcommand};
use comfy_table::presets::UTF8_BORDERS_ONLY;
use comfy_table::Table;

use crate::output::print;
use crate::report::verdict;

/// Arguments of `zeronic bench`.
#[derive(Debug, Args)]
pub struct BenchArguments {
    #[command(subcommand)]
    command: BenchCommand,
}

#[derive(Debug, Subcommand)]
enum BenchCommand {
    /// Receives: from the wire into application memory.
    Rx(throughput::ThroughputArguments),
    /// Sends: from application memory to the wire.
    Tx(throughput::ThroughputArguments),
    /// Both at once.
    Duplex(throughput::ThroughputArguments),
    /// Latency through the card, port to port.
    Latency(latency::LatencyArguments),
    /// The DMA engines alone.
    Dma(dma::DmaArguments),
    /// LUTs, memories and longest paths, as Yosys maps the card to UltraScale+.
    Area(area::AreaArguments),
    /// Speed of the simulation itself.
    Sim(speed::SpeedArguments),
    /// Everything, on a page of Markdown and one of HTML with plots.
    All(all::AllArguments),
}

/// Runs one bench. True when every byte is right.
pub fn run(arguments: &BenchArguments) -> Result<bool> {
    match &arguments.command {
        BenchCommand::Rx(throughput) => throughput.run(true, false),
        BenchCommand::Tx(throughput) => throughput.run(false, true),
        BenchCommand::Duplex(throughput) => throughput.run(true, true),
        BenchCommand::Latency(arguments) => latency::run(arguments),
        BenchCommand::Dma(arguments) => dma::run(arguments),
        BenchCommand::Area(arguments) => area::run(arguments),
        BenchCommand::Sim(arguments) => speed::run(arguments),
        BenchCommand::All(arguments) => all::run(arguments),
    }
}

fn table(head: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_preset(UTF8_BORDERS_ONLY);
    if !head.is_empty() {
        table.set_header(head);
    }
    table
}

/// Prints a table, and what is wrong.
fn print_judged(table: &Table, ok: bool, problems: &[String]) -> Result<()> {
    let mut text = format!("{table}\n");
    for problem in problems {
        text += &format!("wrong: {problem}\n");
    }
    print(&(text + verdict(ok)))
}
