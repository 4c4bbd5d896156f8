//! `bench loss`: goodput of one flow, on the simulated network and through the emitted Verilog.
//!
//! ```text
//!   points ─┬─► discrete events ────────────────────┐
//!           └─► --rtl: real bytes through the card ─┴─► share of what can arrive, compared
//! ```

use std::path::Path;

use anyhow::Result;
use clap::Args;
use measure::loss;
use network::measure::loss::Parameters;

use super::networks::{self, percent, NetworkArguments};
use crate::shared::options::probability;
use crate::shared::output::{json_file, print};
use crate::shared::progress::{Progress, Unit};
use crate::shared::table::{print_judged, table};

/// Arguments of `zeronic bench loss`.
#[derive(Clone, Debug, Args)]
pub struct LossArguments {
    /// Shares of packets lost to measure, such as 0,1%,4%; nothing else is measured then
    #[arg(long, value_name = "P,...", value_delimiter = ',', value_parser = probability)]
    points: Vec<f64>,
    /// Measure the points through the emitted Verilog as well, and compare: a minute or more each
    #[arg(long, requires = "points", conflicts_with = "shard")]
    rtl: bool,
    #[command(flatten)]
    network: NetworkArguments,
}

/// Measures, prints, writes. True when every row reaches its goal.
pub fn run(arguments: &LossArguments) -> Result<bool> {
    let mut parameters = Parameters::default();
    let mut command = String::new();
    if !arguments.points.is_empty() {
        parameters.losses.clone_from(&arguments.points);
        parameters.small_windows_bytes.clear();
        parameters.lates.clear();
        parameters.doubles.clear();
        parameters.bursts_packets.clear();
        let points: Vec<String> = arguments.points.iter().map(f64::to_string).collect();
        command = format!(" --points {}", points.join(","));
    }
    match arguments.rtl {
        false => networks::run_with(parameters, &command, &arguments.network),
        true => run_rtl(parameters, arguments.network.seeds(), arguments.network.json()),
    }
}

fn run_rtl(mut parameters: Parameters, seeds: Option<u64>, json: Option<&Path>) -> Result<bool> {
    let json = json_file(json)?;
    parameters.common.seeds = seeds.unwrap_or(1);
    let cases = loss::cases(&parameters);
    let mut progress = Progress::new(cases.len() as u64, Unit::Count("points"));
    let report = loss::measure(parameters, &cases, &mut |done| progress.set(done, ""))?;
    progress.clear();
    let mut rows = table(&["lost", "seed", "simulated network", "Verilog", "difference"]);
    let mut below = Vec::new();
    for point in &report.points {
        let difference = format!("{:+.1} %", 100.0 * point.difference());
        if !point.is_near() {
            below.push(format!("{} % lost: {difference}", 100.0 * point.loss));
        }
        rows.add_row([
            format!("{} %", 100.0 * point.loss),
            point.seed.to_string(),
            percent(point.network_fraction),
            percent(point.goodput_fraction),
            difference,
        ]);
    }
    if let Some(json) = json {
        json.write_json(&report)?;
    }
    print(&format!("parameters: {}\n", serde_json::to_string(&report.parameters)?))?;
    print_judged(&rows, report.ok, &below)?;
    Ok(report.ok)
}
