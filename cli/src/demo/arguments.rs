//! What `zeronic demo` is told.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use host::driver::device::{DeviceConfig, COALESCE_TIME};

use super::stacks::Stack;
use crate::shared::bus::BusName;
use crate::shared::config::{ConfigName, ModelName};
use crate::shared::failure::STATUSES;
use crate::shared::faults::Faults;
use crate::shared::options::{moved_bytes, Bytes};
use crate::shared::stack::Controller;

/// Where the application's buffers lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum MemoryName {
    /// Host DRAM.
    Dram,
    /// GPU memory behind its own BAR.
    Gpu,
}

/// Arguments of `zeronic demo`.
#[derive(Debug, Args)]
#[command(after_help = STATUSES)]
pub struct DemoArguments {
    /// Bytes to move each way (plain, or with KiB, MiB or GiB), at most 1024 GiB
    #[arg(long, default_value = "16MiB", value_name = "N", value_parser = moved_bytes)]
    pub bytes: Bytes,
    /// Bus to the card: `sim`, one in this process; `vfio-user:SOCKET`, one that another process
    /// serves (`zeronic sim-card --peer`); `vfio:0000:01:00.0`, one in that slot. At the wire of
    /// the last two is a peer that sends back what it receives
    #[arg(long, default_value = "sim", value_name = "BUS")]
    pub bus: BusName,
    /// TCP of the machine at the other end of the wire
    #[arg(long, value_enum, default_value_t = Stack::Auto)]
    pub peer: Stack,
    /// TCP of this machine, on headers only
    #[arg(long, value_enum, default_value_t = Stack::Auto)]
    pub transport: Stack,
    /// Congestion controller of our own TCP, at each end that has it
    #[arg(long, value_enum, default_value_t = Controller::Model)]
    pub controller: Controller,
    /// Where the application's buffers lie
    #[arg(long, value_enum, default_value_t = MemoryName::Dram)]
    pub memory: MemoryName,
    /// Model of the card
    #[arg(long, value_enum, default_value_t = ModelName::Rtl)]
    pub model: ModelName,
    /// Sizes of the card's tables
    #[arg(long, value_enum, default_value_t = ConfigName::Default)]
    pub config: ConfigName,
    /// Largest IP packet, bytes
    #[arg(long, default_value_t = 1500, value_parser = clap::value_parser!(u16).range(576..=9000))]
    pub mtu: u16,
    /// Use IPv6
    #[arg(long)]
    pub ipv6: bool,
    /// One header entry for a run of received packets; a card that cannot sum packets up is refused
    #[arg(long)]
    pub coalesce: bool,
    /// What the wire does.
    #[command(flatten)]
    pub faults: Faults,
    /// Seed of the data and of the wire's faults
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Record waveforms (FST, for GTKWave or Surfer)
    #[arg(long, value_name = "F.fst")]
    pub wave: Option<PathBuf>,
    /// Record both directions of the wire (pcapng, for Wireshark)
    #[arg(long, value_name = "F.pcapng")]
    pub pcap: Option<PathBuf>,
    /// Write the figures as JSON
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

impl DemoArguments {
    /// How the card is opened.
    pub fn device(&self) -> DeviceConfig {
        let coalesce = self.coalesce.then_some(COALESCE_TIME);
        DeviceConfig { coalesce, ..DeviceConfig::default() }
    }
}
