//! `bench sim`: how fast the card is simulated, and where the time goes.
//!
//! With `--bus`: how fast behind a socket, beside one in this process (`speed/socket.rs`).

mod socket;

use std::path::PathBuf;
use std::time::Instant;

use anyhow::Result;
use clap::Args;
use measure::run::Measurement;
use measure::scenario::{Scenario, Size};
use serde::Serialize;
use sim::card::Profile;
use verilate::options::Options;

use super::throughput::simulated_time;
use crate::shared::bus::BusName;
use crate::shared::config::ConfigName;
use crate::shared::options::{moved_bytes, time_us, Bytes};
use crate::shared::output::{json_file, print};
use crate::shared::table::{print_judged, table};

/// Goal, in cycles per second.
pub const SPEED_GOAL: f64 = 150_000.0;

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

/// Speed and its parts.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Every byte, count and rule is right.
    pub ok: bool,
    /// Cycles of 250 MHz for each second of wall-clock time, all checks on.
    pub cycles_per_second: f64,
    /// Cycles for each second in which the process had a core: the speed on an otherwise idle
    /// machine. Only Linux reports it.
    pub cycles_per_core_second: Option<f64>,
    /// Share of the time in the Verilated model, both clocks.
    pub model: f64,
    /// Share of the time in link, root complex, IOMMU and memories.
    pub link: f64,
    /// Share of the time in the MAC and the wire.
    pub wire: f64,
    /// Share of the time in host, peer and the judging of bytes and frames.
    pub parties: f64,
    /// The first problems.
    pub problems: Vec<String>,
}

/// Seconds for which the main thread had a core so far: the first word of the kernel's record, ns.
fn core_seconds() -> Option<f64> {
    let record = std::fs::read_to_string("/proc/self/schedstat").ok()?;
    let nanoseconds: f64 = record.split_whitespace().next()?.parse().ok()?;
    Some(nanoseconds / 1e9)
}

/// Simulates duplex traffic of MTU 1500 and takes the time.
pub fn measure(config: ConfigName, time_us: u64) -> Result<Report> {
    let mut scenario = Scenario::new(Size::Mtu(1500));
    scenario.receive = true;
    scenario.send = true;
    scenario.burst = 45;
    scenario.send_burst = 45;
    scenario.card = config.name().to_owned();
    scenario.time_ns = time_us * 1000;
    let measurement = Measurement::open(&scenario, Options::default())?;
    let card = measurement.host.machine.card.clone();
    card.borrow_mut().profile = Some(Profile::default());
    let (cycles, started, on_core) = (card.borrow().cycles(), Instant::now(), core_seconds());
    let mut progress = simulated_time(scenario.time_ns);
    let outcome = measurement.run(&mut |status| progress.set(status.time_ns / 1000, ""))?;
    let seconds = started.elapsed().as_secs_f64();
    let on_core = core_seconds().zip(on_core).map(|(after, before)| after - before);
    let cycles = card.borrow().cycles() - cycles;
    let profile = card.borrow().profile.unwrap_or_default();
    let share = |time: std::time::Duration| time.as_secs_f64() / seconds;
    Ok(Report {
        ok: outcome.is_ok(),
        cycles_per_second: cycles as f64 / seconds,
        cycles_per_core_second: on_core.map(|seconds| cycles as f64 / seconds),
        model: share(profile.model()),
        link: share(profile.link()),
        wire: share(profile.wire()),
        parties: 1.0 - share(profile.total),
        problems: outcome.problems.first,
    })
}

impl Report {
    /// Each part's name and share.
    pub fn parts(&self) -> [(&'static str, f64); 4] {
        [
            ("Verilated card, both clocks", self.model),
            ("PCIe link, root complex, memories", self.link),
            ("MAC and wire", self.wire),
            ("host, peer, judging", self.parties),
        ]
    }
}

/// Measures, prints, writes.
pub fn run(arguments: &SpeedArguments) -> Result<bool> {
    let json = json_file(arguments.json.as_deref())?;
    if let BusName::Card(name) = &arguments.bus {
        let report = socket::measure(name, arguments.runs, arguments.bytes.0)?;
        if let Some(json) = json {
            json.write_json(&report)?;
        }
        print(&report.text())?;
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
