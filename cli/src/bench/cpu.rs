//! `bench cpu`: CPU seconds for a GB, of our host stack and of the kernel's TCP (`measure::cpu`).

pub mod table;

use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, ValueEnum};
use measure::cpu::error::CpuError;
use measure::cpu::{self, Coalesce, Plan, Report, Transport, Wanted};

use crate::shared::options::UsageError;
use crate::shared::output::{json_file, print};

/// Repetitions, unless said otherwise.
const REPETITIONS: u32 = 5;

/// The protocol that runs on our stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum TransportName {
    /// The least protocol there is: what is left is the control stack
    Null,
    /// Our own TCP at each end of two joined cards, with the model-based controller
    Tcp,
    /// Linux TCP on headers alone, behind a TAP device at each end of two joined cards
    Linux,
}

/// Whether received packets are summed up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CoalesceName {
    /// An entry for each packet.
    Off,
    /// Entries for runs of packets.
    On,
}

/// Arguments of `zeronic bench cpu`.
#[derive(Clone, Debug, Args)]
pub struct CpuArguments {
    /// The protocol on our stack; the page has all
    #[arg(long = "transport", value_enum, default_value = "null")]
    transports: Vec<TransportName>,
    /// Also the receiving host alone, with an entry for each packet and with entries for runs of
    /// packets: `on,off` has both side by side
    #[arg(long, value_enum, value_delimiter = ',')]
    coalesce: Vec<CoalesceName>,
    /// Repetitions
    #[arg(long, default_value_t = REPETITIONS, value_name = "N",
        value_parser = clap::value_parser!(u32).range(3..=100))]
    repetitions: u32,
    /// One short repetition; times are not judged
    #[arg(long)]
    quick: bool,
    /// Write the figures as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

impl CpuArguments {
    /// What `bench all` measures, with Linux TCP through the card or without.
    pub fn of_page(quick: bool, has_linux: bool) -> Self {
        let mut transports = vec![TransportName::Null, TransportName::Tcp];
        transports.extend(has_linux.then_some(TransportName::Linux));
        let coalesce = vec![CoalesceName::Off, CoalesceName::On];
        Self { transports, coalesce, repetitions: REPETITIONS, quick, json: None }
    }

    fn wanted(&self) -> Wanted {
        let transport = |name: &TransportName| match name {
            TransportName::Null => Transport::Null,
            TransportName::Tcp => Transport::Tcp,
            TransportName::Linux => Transport::Linux,
        };
        let coalesce = |name: &CoalesceName| match name {
            CoalesceName::Off => Coalesce::Off,
            CoalesceName::On => Coalesce::On,
        };
        Wanted {
            transports: self.transports.iter().map(transport).collect(),
            coalesce: self.coalesce.iter().map(coalesce).collect(),
        }
    }

    /// Measures both; a usage error where this machine forbids namespaces.
    pub fn measure(&self) -> Result<Report> {
        let plan = match self.quick {
            true => Plan::quick(),
            false => Plan::full(self.repetitions),
        };
        cpu::measure(&self.wanted(), plan).map_err(|error| match error {
            CpuError::Refused(_) => UsageError(format!("bench cpu: {error}")).into(),
            other => other.into(),
        })
    }
}

/// Measures, prints, writes.
pub fn run(arguments: &CpuArguments) -> Result<bool> {
    let json = json_file(arguments.json.as_deref())?;
    let report = arguments.measure()?;
    if let Some(json) = json {
        json.write_json(&report)?;
    }
    print(&table::text(&report, !arguments.quick))?;
    Ok(report.ok)
}
