//! `bench host`: what the host's control stack costs a packet (`measure::host`).

mod counts;
mod far;
mod program;
pub mod table;

use std::path::PathBuf;

use anyhow::Result;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::Args;
use measure::host::{self, Plan, Report, Workload};

use self::program::PROGRAM;
use crate::shared::bus::BusName;
use crate::shared::output::{json_file, print};

/// Runs of each part, and packets of each run, unless said otherwise.
const RUNS: u32 = 21;
const PACKETS: u32 = 20_000;
/// Arguments of `zeronic bench host`.
#[derive(Clone, Debug, Args)]
pub struct HostArguments {
    /// Runs of each part
    #[arg(long, default_value_t = RUNS, value_name = "N",
        value_parser = clap::value_parser!(u32).range(3..=1000))]
    runs: u32,
    /// Packets of each run
    #[arg(long, default_value_t = PACKETS, value_name = "N",
        value_parser = clap::value_parser!(u32).range(64..=10_000_000))]
    packets: u32,
    /// A few packets on up to 256 connections, no instructions; times are not judged
    #[arg(long)]
    quick: bool,
    /// Also receive from a card that runs in a thread of its own; needs two idle cores
    #[arg(long)]
    thread: bool,
    /// Bus to the card: `sim`, one in this process; `vfio-user:SOCKET`, that of `zeronic sim-card
    /// --model null`, beside one in this process
    #[arg(long, default_value = "sim", value_name = "BUS", conflicts_with_all = ["thread"])]
    bus: BusName,
    /// Write the figures as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Only count instructions and allocations, and compare them with this file, within 5 %
    #[arg(long, value_name = "FILE", conflicts_with_all = ["quick", "thread", "bus", "json"])]
    counts: Option<PathBuf>,
    /// Write the file instead
    #[arg(long, requires = "counts")]
    bless: bool,
    /// Only work, for Valgrind, and print how much was worked off
    #[arg(long, hide = true, value_parser = workload())]
    count: Option<Workload>,
    /// On so many flows
    #[arg(long, requires = "count", default_value_t = 1, hide = true,
        value_parser = clap::value_parser!(u32).range(1..=16_383))]
    flows: u32,
}

impl HostArguments {
    /// What `bench all` measures.
    pub fn of_page(quick: bool) -> Self {
        Self {
            runs: RUNS,
            packets: PACKETS,
            quick,
            thread: false,
            bus: BusName::Sim,
            json: None,
            counts: None,
            bless: false,
            count: None,
            flows: 1,
        }
    }

    fn plan(&self) -> Plan {
        let size = (self.runs as usize, self.packets as usize);
        match self.quick {
            true => Plan::quick(PROGRAM, self.thread),
            false => Plan::full(PROGRAM, size, self.thread),
        }
    }

    /// Measures everything.
    pub fn measure(&self) -> Result<Report> {
        Ok(host::measure(&self.plan(), !self.quick)?)
    }
}

/// Reads the name of a workload.
fn workload() -> impl TypedValueParser<Value = Workload> {
    let names = Workload::ALL.map(Workload::name);
    PossibleValuesParser::new(names).try_map(|name| name.parse::<Workload>())
}

/// Measures, prints, writes.
pub fn run(arguments: &HostArguments) -> Result<bool> {
    if let Some(work) = arguments.count {
        print(&format!("{}\n", host::count(PROGRAM, work, arguments.flows as usize)?))?;
        return Ok(true);
    }
    if let Some(path) = &arguments.counts {
        let (text, ok) = match arguments.bless {
            true => (counts::bless(path)?, true),
            false => counts::check(path)?,
        };
        print(&text)?;
        return Ok(ok);
    }
    let json = json_file(arguments.json.as_deref())?;
    if let BusName::Card(name) = &arguments.bus {
        let report = far::measure(&arguments.plan(), name)?;
        if let Some(json) = json {
            json.write_json(&report)?;
        }
        print(&far::text(&report))?;
        return Ok(report.ok);
    }
    let report = arguments.measure()?;
    if let Some(json) = json {
        json.write_json(&report)?;
    }
    print(&table::text(&report, !arguments.quick))?;
    Ok(report.ok)
}
