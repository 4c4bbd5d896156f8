//! `bench latency`: through the card, port to port.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use measure::latency;

use crate::shared::config::ConfigName;
use crate::shared::options::time_us;
use crate::shared::output::json_file;
use crate::shared::table::{print_judged, table};

/// Arguments of `zeronic bench latency`.
#[derive(Clone, Debug, Args)]
pub struct LatencyArguments {
    /// Simulated time of each part, in microseconds
    #[arg(long, default_value_t = 1000, value_name = "US", value_parser = time_us)]
    time: u64,
    /// Sizes of the card's tables
    #[arg(long, value_enum, default_value_t = ConfigName::Default)]
    config: ConfigName,
    /// Write the figures as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// Measures, prints, writes.
pub fn run(arguments: &LatencyArguments) -> Result<bool> {
    let json = json_file(arguments.json.as_deref())?;
    let report = latency::measure(arguments.config.name(), arguments.time)?;
    if let Some(json) = json {
        json.write_json(&report)?;
    }
    let mut table = table(&["ns", "min", "p50", "p99", "max", "goal"]);
    for (name, spread, goal) in report.rows() {
        let times = [spread.min, spread.p50, spread.p99, spread.max, goal];
        let cells = times.iter().map(|time| format!("{time:.0}"));
        table.add_row(std::iter::once(name).chain(cells));
    }
    print_judged(&table, report.ok, &report.problems)?;
    Ok(report.ok)
}
