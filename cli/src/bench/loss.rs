//! `bench loss`: goodput of one flow, on the simulated network and through the emitted Verilog.
//!
//! ```text
//!   points ─┬─► discrete events ────────────────────┐
//!           └─► --rtl: real bytes through the card ─┴─► share of what can arrive, compared
//! ```

use std::path::Path;

use anyhow::{Context, Result};
use clap::Args;
use measure::goodput::Goodput;
use network::measure::loss::{Case, Fault, Parameters};
use network::measure::{Controller, Measurement, LINE_GBPS};
use pcie_sim::PcieConfig;
use serde::Serialize;
use sim::card::SimulatedCard;
use verilate::options::Options;

use super::networks::{self, percent, NetworkArguments};
use crate::shared::config::ConfigName;
use crate::shared::failure;
use crate::shared::options::probability;
use crate::shared::output::{json_file, print};
use crate::shared::progress::{Progress, Unit};
use crate::shared::table::{print_judged, table};

/// How far the card may be from the simulated network, of its goodput.
const DIFFERENCE_MAX: f64 = 0.03;
const PS_PER_US: u64 = 1_000_000;

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

/// One point, both ways.
#[derive(Debug, Serialize)]
struct Point {
    controller: Controller,
    loss: f64,
    /// Through the card: goodput over what can arrive.
    goodput_fraction: f64,
    /// On the simulated network.
    network_fraction: f64,
    seed: u64,
}

/// What `--json` writes.
#[derive(Debug, Serialize)]
struct Report {
    /// Every byte is right, no rule was broken, and each point is near the simulated network.
    ok: bool,
    points: Vec<Point>,
    parameters: Parameters,
}

impl Point {
    /// How far the card is from the network, of the network's goodput.
    fn difference(&self) -> f64 {
        self.goodput_fraction / self.network_fraction - 1.0
    }

    fn is_near(&self) -> bool {
        self.difference().abs() <= DIFFERENCE_MAX
    }
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
    let cases: Vec<Case> =
        parameters.cases().into_iter().filter(|it| it.controller == Controller::Model).collect();
    let mut progress = Progress::new(cases.len() as u64, Unit::Count("points"));
    let mut points = Vec::new();
    for (done, case) in cases.iter().enumerate() {
        progress.set(done as u64, "");
        points.push(measure(&parameters, case)?);
    }
    progress.clear();
    let ok = points.iter().all(Point::is_near);
    let mut rows = table(&["lost", "seed", "simulated network", "Verilog", "difference"]);
    let mut below = Vec::new();
    for point in &points {
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
    let report = Report { ok, points, parameters };
    if let Some(json) = json {
        json.write_json(&report)?;
    }
    print(&format!("parameters: {}\n", serde_json::to_string(&report.parameters)?))?;
    print_judged(&rows, ok, &below)?;
    Ok(ok)
}

/// One point on both.
fn measure(parameters: &Parameters, case: &Case) -> Result<Point> {
    let Fault::Loss(loss) = case.fault else {
        return Err(failure::wrong("only losses are measured through the card"));
    };
    let common = parameters.common;
    let goodput = Goodput {
        config: case.controller.config(),
        mtu_bytes: common.mtu_bytes as u16,
        window_bytes: case.window_bytes as u32,
        round_trip_ps: common.round_trip_us * PS_PER_US,
        loss,
        warm_ms: common.warm_ms,
        measured_ms: common.measured_ms,
        seed: case.seed,
    };
    let pcie = PcieConfig { seed: case.seed, ..PcieConfig::default() };
    let card = SimulatedCard::new(ConfigName::Default.name(), pcie.clone(), Options::default());
    let measured = goodput.measure(card.context("the card does not build")?, &pcie)?;
    if measured.violations > 0 {
        let count = measured.violations;
        return Err(failure::wrong(format!("{count} rules of PCIe or MAC were broken")));
    }
    Ok(Point {
        controller: case.controller,
        loss,
        goodput_fraction: measured.gbps() / (LINE_GBPS * (1.0 - loss)),
        network_fraction: parameters.measure(case)?.goodput_fraction,
        seed: case.seed,
    })
}
