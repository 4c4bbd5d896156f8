//! `zeronic bench`: figures of the simulated card beside their physical limits.
//!
//! ```text
//!   rx, tx, duplex ── one scenario    latency ── port to port    sim ── speed of the simulation
//!   dma ── its engines alone            area ── of the device, by block
//!   host ── the control stack alone, on a card that does nothing, in wall-clock time
//!   doorbell ── what a doorbell costs on the bus to a card, and the opening of one
//!   cpu ── CPU time of the host stack, beside that of the kernel's TCP
//!   connections ── as many as the card has flows, opened, used and closed
//!   loss, fairness, incast ── our own TCP on simulated networks, without a card
//!   all ── every row of the page: Markdown, and HTML with plots
//! ```
//! All but those of `host`, `doorbell`, `cpu` and `connections` are in simulated time. Every run
//! judges every byte, and exits with 0 only if all are right. The crate `measure` measures; here
//! are options, tables and the page.

mod all;
mod area;
mod connections;
mod cpu;
mod dma;
mod doorbell;
mod host;
mod latency;
mod loss;
pub mod networks;
mod page;
mod plot;
mod speed;
pub mod throughput;

use anyhow::Result;
use clap::{Args, Subcommand};
use network::measure::{fairness, incast};

use crate::shared::failure::STATUSES;

/// Arguments of `zeronic bench`.
#[derive(Debug, Args)]
#[command(after_help = STATUSES)]
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
    ///
    /// Each batch is measured between two passes of a loop of known work and divided by their
    /// time, so that a core that changes its clock does not spoil it; ns are those of a core that
    /// takes the median of the run for the loop, which is printed with its range. A row whose runs
    /// spread by 5 % or more is measured again, up to five times; if that does not help, the exit
    /// status is 1. Instructions are counted where Valgrind is installed.
    Host(host::HostArguments),
    /// What a doorbell, a register read and the opening of a card cost on its bus
    Doorbell(doorbell::DoorbellArguments),
    /// CPU seconds for a GB, beside the kernel's TCP over veth
    ///
    /// Both ends together. Kernel: time for which the machine's cores were busy, less when idle,
    /// with `send` and `recv` of 64 KiB. Ours: time that the threads of provider and protocol had
    /// a core, idle polls left out, in batches of 64 packets with one ACK for each, at most 64 KiB;
    /// an ACK for every second segment is measured beside it. Bias: veth has no driver, no DMA and
    /// no interrupts, which flatters the kernel; the null card has no IOMMU and no slow registers,
    /// which flatters us. Needs network namespaces (otherwise exit status 2), two cores and an
    /// otherwise idle machine (exit status 1 where repetitions spread by 5 % or more).
    Cpu(cpu::CpuArguments),
    /// As many connections as the card has flows, opened, used and closed
    ///
    /// On the golden card, with the null protocol; every byte is judged. Memory is the heap of the
    /// host stack, and what the process got from the system, which includes the model of the card
    /// and the far end; buffers are left out.
    Connections(connections::ConnectionsArguments),
    /// LUTs, memories and longest paths, as Yosys maps the card to UltraScale+
    Area(area::AreaArguments),
    /// Speed of the simulation itself
    Sim(speed::SpeedArguments),
    /// Goodput of our own TCP over loss, reordering, duplication and bursts
    ///
    /// One flow, both ends ours, in discrete events: hosts with the costs of `bench host`, a wire
    /// of 100 Gb/s and 50 us. Exit status 1 where a row is below its goal. With `--rtl` real bytes
    /// go through the emitted Verilog over such a wire, and each point is to be within 3 % of the
    /// events.
    Loss(loss::LossArguments),
    /// Long flows of our own TCP beside short ones, behind one port of a switch
    ///
    /// A host for each flow, a switch with 4 MiB for all ports that marks from 200 packets on.
    /// Goals are those of the model-based controller.
    Fairness(networks::NetworkArguments),
    /// Many senders at once, behind one port of a switch
    ///
    /// The same switch; 256 KiB from each of 64 and of 256 hosts. Goals are those of the
    /// model-based controller.
    Incast(networks::NetworkArguments),
    /// All of these but `doorbell`, as a page of Markdown and one of HTML with plots
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
        BenchCommand::Doorbell(arguments) => doorbell::run(arguments),
        BenchCommand::Cpu(arguments) => cpu::run(arguments),
        BenchCommand::Connections(arguments) => connections::run(arguments),
        BenchCommand::Area(arguments) => area::run(arguments),
        BenchCommand::Sim(arguments) => speed::run(arguments),
        BenchCommand::Loss(arguments) => loss::run(arguments),
        BenchCommand::Fairness(arguments) => networks::run::<fairness::Parameters>(arguments),
        BenchCommand::Incast(arguments) => networks::run::<incast::Parameters>(arguments),
        BenchCommand::All(arguments) => all::run(arguments),
    }
}
