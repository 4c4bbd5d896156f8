//! `zeronic sim`: replays a capture into the card, on its receive or on its send side.
//!
//! ```text
//!   capture, flows.toml ──► traffic, plan ──► rig (driver + card) ──► receive or send ──► DIR
//! ```
//! | file | what |
//! |---|---|
//! | `flows.rs` | the flow file |
//! | `traffic.rs` | the capture, sorted by direction |
//! | `rig.rs` | a card with its driver, set up as the flow file says |
//! | `results.rs` | the files in DIR |
//! | `receive.rs`, `send.rs` | the two sides |
//! | `entries.rs` | header entries as text |

mod entries;
mod flows;
mod receive;
mod results;
mod rig;
mod send;
mod traffic;

use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::Rc;

use abi::config::{CardConfig, DEFAULT, SMALL};
use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use host::driver::bus::{Bus, MemoryKind};
use pcie_sim::PcieConfig;
use serde::Serialize;
use sim::bus::SimulatedBus;
use sim::card::SimulatedCard;
use sim::golden_card::{GoldenBus, GoldenCard};
use verilate::options::Options;

use self::flows::{read_plan, Plan};
use self::results::Results;
use self::rig::{Model, Rig};
use self::traffic::Traffic;
use crate::options::UsageError;
use crate::output::{keep, print, ResultFile};

/// Model of the card.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ModelName {
    /// The emitted Verilog, in Verilator.
    Rtl,
    /// The golden model: the same contract, no clock.
    Golden,
}

impl ModelName {
    fn name(self) -> &'static str {
        match self {
            ModelName::Rtl => "rtl",
            ModelName::Golden => "golden",
        }
    }
}

/// Sizes of the card's tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ConfigName {
    /// 16,384 flows.
    Default,
    /// 64 flows.
    Small,
}

/// Arguments of `zeronic sim`.
#[derive(Debug, Args)]
#[command(group(clap::ArgGroup::new("side").required(true)))]
pub struct SimArguments {
    /// Capture (pcapng or pcap) whose incoming frames are given to the receive port of the card
    #[arg(long, value_name = "CAPTURE", group = "side")]
    rx: Option<PathBuf>,
    /// Capture whose outgoing packets become send descriptors
    #[arg(long, value_name = "CAPTURE", group = "side")]
    tx: Option<PathBuf>,
    /// Flows, segments and regions (docs/replay.md)
    #[arg(long, value_name = "FILE.toml")]
    flows: PathBuf,
    /// Folder to write to; made if missing
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Model of the card
    #[arg(long, value_enum, default_value_t = ModelName::Rtl)]
    model: ModelName,
    /// Sizes of the card's tables
    #[arg(long, value_enum, default_value_t = ConfigName::Small)]
    config: ConfigName,
    /// Record waveforms (FST, for GTKWave or Surfer)
    #[arg(long, value_name = "F.fst")]
    wave: Option<PathBuf>,
}

/// Runs the command. True when every frame is accounted for, and nothing damaged or different.
pub fn run(arguments: &SimArguments) -> Result<bool> {
    if arguments.wave.is_some() && arguments.model == ModelName::Golden {
        let message = "--wave needs --model rtl: the golden model has no signals";
        return Err(UsageError(message.to_owned()).into());
    }
    let (capture, side) = match (&arguments.rx, &arguments.tx) {
        (Some(capture), _) => (capture, "--rx"),
        (None, capture) => (capture.as_ref().context("no capture")?, "--tx"),
    };
    keep("--flows", &arguments.flows);
    keep(side, capture);
    let out = &arguments.out;
    let mut results = Results::prepare(out, side == "--tx")?;
    let wave = arguments.wave.as_deref();
    let wave = wave.map(|path| ResultFile::prepare("--wave", path));
    let wave = wave.transpose()?;
    let plan = read_plan(&arguments.flows)?;
    let traffic = Traffic::read(capture, &plan)?;
    if side == "--rx" {
        results.expect(out, &plan)?;
    }
    let job = Job {
        model: arguments.model.name(),
        plan: &plan,
        traffic: &traffic,
        results: &results,
    };
    match arguments.model {
        ModelName::Golden => {
            let card = GoldenCard::new(sizes(arguments.config));
            let bus = GoldenBus::new(card.clone());
            job.replay(Rig::open(bus, card, &plan)?)
        }
        ModelName::Rtl => run_rtl(arguments, &job, wave.as_ref()),
    }
}

fn run_rtl(arguments: &SimArguments, job: &Job, wave: Option<&ResultFile>) -> Result<bool> {
    let options = Options {
        trace: arguments.wave.is_some(),
    };
    let config = pcie_config(job.plan);
    let card = SimulatedCard::new(sizes(arguments.config).name, config.clone(), options);
    let card = Rc::new(RefCell::new(card.context("the card does not build")?));
    if let Some(path) = wave.map(ResultFile::path) {
        let open = card.borrow_mut().model.open_wave(path);
        open.with_context(|| format!("waveform {}", path.display()))?;
    }
    let bus = SimulatedBus::new(card.clone(), &config)?;
    let ok = job.replay(Rig::open(bus, card.clone(), job.plan)?)?;
    if arguments.wave.is_some() {
        card.borrow_mut().model.close_wave()?;
    }
    Ok(ok)
}

/// A machine with room for the regions of a plan, beside what it has by default for the rings.
fn pcie_config(plan: &Plan) -> PcieConfig {
    let regions = |memory| {
        let regions = plan
            .regions
            .iter()
            .filter(move |plan| plan.memory == memory);
        regions
            .map(|plan| plan.bytes.next_multiple_of(4096))
            .sum::<usize>()
    };
    let mut config = PcieConfig::default();
    config.dram_bytes += regions(MemoryKind::Application);
    for gpu in &mut config.gpus {
        gpu.memory_bytes = (gpu.memory_bytes + regions(MemoryKind::Gpu)).next_power_of_two();
        gpu.bar_bytes = gpu.memory_bytes as u64;
    }
    config
}

fn sizes(name: ConfigName) -> CardConfig {
    match name {
        ConfigName::Default => DEFAULT,
        ConfigName::Small => SMALL,
    }
}

/// What to replay, and where it goes.
struct Job<'a> {
    model: &'static str,
    plan: &'a Plan,
    traffic: &'a Traffic,
    results: &'a Results,
}

impl Job<'_> {
    fn replay<B: Bus, C: Model>(&self, mut rig: Rig<B, C>) -> Result<bool> {
        let (plan, traffic, results) = (self.plan, self.traffic, self.results);
        if results.sent.is_none() {
            let report = receive::replay(&mut rig, plan, traffic, results, self.model)?;
            self.write_summary(&report)?;
            return Ok(report.ok);
        }
        let report = send::replay(&mut rig, plan, traffic, results, self.model)?;
        self.write_summary(&report)?;
        Ok(report.ok)
    }

    /// Writes the summary and prints it.
    fn write_summary(&self, report: &impl Serialize) -> Result<()> {
        let text = serde_json::to_string_pretty(report)? + "\n";
        self.results.summary.write(text.as_bytes())?;
        print(&text)
    }
}
