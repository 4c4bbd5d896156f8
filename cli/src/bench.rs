//! `zeronic bench`: figures of the simulated card beside their physical limits.
//!
//! ```text
//!   rx, tx, duplex ── one scenario    latency ── port to port    sim ── speed of the simulation
//!   dma ── its engines alone            area ── of the device, by block
//!   host ── the control stack alone, on a card that does nothing, in wall-clock time
//!   all ── every row of the page: Markdown, and HTML with plots
//! ```
//! All but those of `host` are in simulated time. Every run judges every byte, and exits with 0
//! only if all are right.

mod all;
mod area;
mod dma;
mod host;
mod latency;
mod page;
mod plot;
mod speed;
mod table;
mod throughput;

use anyhow::Result;
use clap::{Args, Subcommand};

/// Arguments of `zeronic bench`.
#[derive(Debug, Args)]
pub struct BenchArguments {
    #[command(subcommand)]
    command: BenchCommand,
}

#[derive(Debug, Subcommand)]
enum BenchCommand {
    /// Receive: from the wire into application memory
    Rx(throughput::ThroughputArguments),
    /// Send: from application memory to the wire
    Tx(throughput::ThroughputArguments),
    /// Receive and send at once
    Duplex(throughput::ThroughputArguments),
    /// Latency through the card, port to port
    Latency(latency::LatencyArguments),
    /// The DMA engines alone
    Dma(dma::DmaArguments),
    /// The host's control stack alone: ns, instructions and allocations of a packet
    Host(host::HostArguments),
    /// LUTs, memories and longest paths, as Yosys maps the card to UltraScale+
    Area(area::AreaArguments),
    /// Speed of the simulation itself
    Sim(speed::SpeedArguments),
    /// All of these, as a page of Markdown and one of HTML with plots
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
        BenchCommand::Host(arguments) => host::run(arguments),
        BenchCommand::Area(arguments) => area::run(arguments),
        BenchCommand::Sim(arguments) => speed::run(arguments),
        BenchCommand::All(arguments) => all::run(arguments),
    }
}
