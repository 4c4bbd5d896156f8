//! `bench sim`: how fast the card is simulated, and where the time goes.
//!
//! With `--bus`: how fast behind a socket, beside one in this process (`speed/socket.rs`).

mod socket;

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use measure::speed::{self, Report};

use super::throughput::simulated_time;
use crate::shared::bus::BusName;
use crate::shared::config::ConfigName;
use crate::shared::options::{moved_bytes, time_us, Bytes};
use crate::shared::output::{json_file, print};
use crate::shared::table::{print_judged, table};

/// Arguments of `zeronic bench sim`.
#[derive(Clone, Debug, Args)]
pub struct SpeedArguments {
    /// Simulated time, in microseconds
    #[arg(long, default_value_t = 1000, value_name = "US", value_parser = time_us)]
    time: u64,
    /// Sizes of the card's tables
    #[arg(long, value_enum, default_value_t = ConfigName::Default)]
    config: ConfigName,
    /// Bus to the card: `sim`, one in this process; `vfio-user:SOCKET`, that of `zeronic sim-card
    /// --model rtl --peer tcp`, in turn with one of its sizes in this process
    #[arg(long, default_value = "sim", value_name = "BUS", conflicts_with_all = ["time", "config"])]
    bus: BusName,
    /// Exchanges on each of the two cards
    #[arg(long, default_value_t = 7, value_name = "N", requires = "bus",
        value_parser = clap::value_parser!(u32).range(1..=1000))]
    runs: u32,
    /// Bytes of an exchange, each way (plain, or with KiB, MiB or GiB)
    #[arg(long, default_value = "256KiB", value_name = "N", requires = "bus",
        value_parser = moved_bytes)]
    bytes: Bytes,
    /// Write the figures as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// Simulates duplex traffic of MTU 1500 and takes the time.
pub fn measure(config: ConfigName, time_us: u64) -> Result<Report> {
    let mut progress = simulated_time(time_us * 1000);
    Ok(speed::measure(config.name(), time_us, &mut |us| progress.set(us, ""))?)
}

/// Measures, prints, writes.
pub fn run(arguments: &SpeedArguments) -> Result<bool> {
    let json = json_file(arguments.json.as_deref())?;
    if let BusName::Card(name) = &arguments.bus {
        let report = socket::measure(name, arguments.runs, arguments.bytes.0)?;
        if let Some(json) = json {
            json.write_json(&report)?;
        }
        print(&socket::text(&report))?;
        return Ok(report.ok);
    }
    let report = measure(arguments.config, arguments.time)?;
    if let Some(json) = json {
        json.write_json(&report)?;
    }
    let mut table = table(&["simulation", "duplex, MTU 1500, all checks"]);
    let speed = format!("{:.0} cycles/s of 250 MHz", report.cycles_per_second);
    table.add_row(["speed".to_owned(), speed]);
    if let Some(speed) = report.cycles_per_core_second {
        table.add_row(["on a core of its own".to_owned(), format!("{speed:.0} cycles/s")]);
    }
    for (name, share) in report.parts() {
        table.add_row([name.to_owned(), format!("{:.1} %", 100.0 * share)]);
    }
    print_judged(&table, report.ok, &report.problems)?;
    Ok(report.ok)
}
