//! `bench host`: what the host's control stack costs a packet.
//!
//! ```text
//!   null card ── header entries ─►┌──────────┐── headers ─► null transport
//!             ◄── descriptors ────│ Provider │◄─ headers ──
//!                                 └──────────┘
//!                        measured: its calls, and nothing else
//! ```
//! The card (`measure::null_card`) does its part between the measured calls and touches no payload.
//! It judges all that it takes after each run, and has its packets ready before: its tables would
//! empty the caches. The transport (`measure::null_protocol`) costs a few stores.
//! So this is wall-clock time of the control stack alone, in one thread, with the rings in its
//! caches: a real card's writes come from farther away. With `--thread` packets also come from a
//! card that runs beside the host, on another core; with `--bus` the card is in another process
//! (`host/far.rs`).
//!
//! Each batch is measured between two passes of a loop of known work, and divided by their time:
//! what slows the core down slows both. So ns are those of a core that takes the median of the
//! run for that loop, which is printed with its range (`reference.rs`). The thread stays on one
//! core where it may.
//!
//! A figure is the median of several runs, its spread the middle half of them over the median; a
//! row whose runs spread too far is measured again, at most five times. Numbers of flows are
//! measured in turn, and compared run by run (`host/flows.rs`). Polls that find nothing, and
//! batches that the machine has interrupted, are left out and shown.

mod counts;
mod far;
mod figures;
mod flows;
mod meter;
mod plan;
mod report;
mod valgrind;
mod work;

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

pub use self::figures::FLOWS_GOAL;
use self::flows::FLOWS;
use self::plan::Plan;
pub use self::report::{Report, HEAD};
use self::work::{Workload, BATCH};
use crate::shared::bus::BusName;
use crate::shared::output::{json_file, print};
use measure::timing::statistics::SPREAD_MAX;

/// Most flows in a quick run.
const QUICK_FLOWS_MAX: usize = 256;
/// Runs of each part, and packets of each run, unless said otherwise.
const RUNS: u32 = 21;
const PACKETS: u32 = 20_000;
/// Attempts of a row whose runs spread too far.
const ATTEMPTS_MAX: u32 = 5;

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
    #[arg(long, value_enum, hide = true)]
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
        match self.quick {
            true => Plan {
                runs: 3,
                batches: 4,
                attempts: 1,
                flows_max: QUICK_FLOWS_MAX,
                instructions: false,
                thread: self.thread,
            },
            false => Plan {
                runs: self.runs as usize,
                batches: (self.packets as usize).div_ceil(BATCH),
                attempts: ATTEMPTS_MAX,
                flows_max: FLOWS[FLOWS.len() - 1],
                instructions: valgrind::is_there(),
                thread: self.thread,
            },
        }
    }

    /// Measures everything.
    pub fn measure(&self) -> Result<Report> {
        let mut report = self.plan().measure()?;
        report.ok = self.quick || report.spread < SPREAD_MAX;
        Ok(report)
    }
}

/// Measures, prints, writes.
pub fn run(arguments: &HostArguments) -> Result<bool> {
    if let Some(work) = arguments.count {
        print(&format!("{}\n", valgrind::count(work, arguments.flows as usize)?))?;
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
        let report = arguments.plan().measure_far(name)?;
        if let Some(json) = json {
            json.write_json(&report)?;
        }
        print(&report.text())?;
        return Ok(report.ok);
    }
    let report = arguments.measure()?;
    if let Some(json) = json {
        json.write_json(&report)?;
    }
    print(&report.text(!arguments.quick))?;
    Ok(report.ok)
}
