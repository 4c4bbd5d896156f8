//! `zeronic sim`: replays a capture into the card, on its receive or on its send side.
//!
//! ```text
//!   capture, flows.toml ──► traffic, setup ──► rig (driver + card) ──► receive or send ──► DIR
//! ```
//! | file | what |
//! |---|---|
//! | `setup.rs` | what is set up on the card |
//! | `flows.rs`, `write.rs` | the flow file: read, written |
//! | `learn.rs` | a setup from the capture alone |
//! | `packet.rs`, `address.rs` | TCP packets; addresses of the card |
//! | `wire.rs` | a packet whose length and checksums its host has left to a card |
//! | `cut.rs` | a packet as the frames that it was on the wire |
//! | `traffic.rs` | the capture, sorted by direction |
//! | `rig.rs` | a card with its driver, set up as asked |
//! | `results.rs` | the files in DIR |
//! | `receive.rs`, `send.rs` | the two sides |
//! | `landing.rs` | what packets have come to on the receive side |
//! | `entries.rs` | header entries as text |

mod address;
mod cut;
mod entries;
mod flows;
mod landing;
mod learn;
mod packet;
mod receive;
mod results;
mod rig;
mod send;
mod setup;
mod traffic;
mod wire;
mod write;

use std::path::{Path, PathBuf};

use abi::config::{CardConfig, DEFAULT};
use anyhow::{Context, Result};
use clap::Args;
use host::driver::bus::{Bus, MemoryKind};
use lab::golden_card::{GoldenBus, GoldenCard};
use lab::machine::CardModel;
use pcie_sim::PcieConfig;
use serde::Serialize;
use sim::bus::SimulatedBus;
use sim::card::SimulatedCard;
use verilate::options::Options;

use self::address::CardAddress;
use self::flows::read_setup;
use self::learn::{learn, CardSide, Connections, LearnOptions};
use self::results::Results;
use self::rig::Rig;
use self::setup::ReplaySetup;
use self::traffic::{nothing, Frames, Skipped, Traffic, Way};
use self::write::flow_file;
use crate::shared::config::{ConfigName, ModelName};
use crate::shared::failure::STATUSES;
use crate::shared::options::UsageError;
use crate::shared::output::{keep, print, Begun, ResultFile};

/// Most sides of the card that a message names.
const SIDES_MAX: usize = 3;

/// Arguments of `zeronic sim`.
#[derive(Debug, Args)]
#[command(group(clap::ArgGroup::new("side").required(true)), after_help = STATUSES)]
pub struct SimArguments {
    /// Capture (pcapng or pcap, also gzip or zstd) whose incoming frames are given to the receive
    /// port of the card
    #[arg(long, value_name = "CAPTURE", group = "side")]
    rx: Option<PathBuf>,
    /// Capture whose outgoing packets become send descriptors
    #[arg(long, value_name = "CAPTURE", group = "side")]
    tx: Option<PathBuf>,
    /// Flows, segments and regions (docs/replay.md); without it, those of the capture's connections
    #[arg(long, value_name = "FILE.toml")]
    flows: Option<PathBuf>,
    /// Write the flows that were taken from the capture as a flow file
    #[arg(long, value_name = "FILE.toml", conflicts_with = "flows")]
    write_flows: Option<PathBuf>,
    /// Address of the card: 10.0.0.1, 10.0.0.1:80 or 02:00:00:00:00:01; may be given several times.
    /// Without it, the card's side is learned
    #[arg(long = "card", value_name = "ADDRESS")]
    cards: Vec<CardAddress>,
    /// Folder to write to; made if missing
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Model of the card
    #[arg(long, value_enum, default_value_t = ModelName::Rtl)]
    model: ModelName,
    /// Sizes of the card's tables
    #[arg(long, value_enum, default_value_t = ConfigName::Small)]
    config: ConfigName,
    /// One header entry for a run of received packets (`--rx`); a card that cannot sum packets up
    /// is refused
    #[arg(long, requires = "rx")]
    coalesce: bool,
    /// Record waveforms (FST, for GTKWave or Surfer)
    #[arg(long, value_name = "F.fst")]
    wave: Option<PathBuf>,
}

/// Runs the command. True when every frame is accounted for, and nothing damaged or different.
pub fn run(arguments: &SimArguments) -> Result<bool> {
    arguments.model.with_wave(arguments.wave.is_some())?;
    let (capture, side, way) = match (&arguments.rx, &arguments.tx) {
        (Some(capture), _) => (capture, "--rx", Way::In),
        (None, capture) => (capture.as_ref().context("no capture")?, "--tx", Way::Out),
    };
    if let Some(flows) = &arguments.flows {
        keep("--flows", flows);
    }
    keep(side, capture);
    let out = &arguments.out;
    let mut results = Results::prepare(out, way == Way::Out)?;
    let file = |named, path: &Option<PathBuf>| {
        let path = path.as_deref();
        path.map(|path| ResultFile::prepare(named, path)).transpose()
    };
    let wave = file("--wave", &arguments.wave)?;
    let written = file("--write-flows", &arguments.write_flows)?;
    let given = arguments.flows.as_deref().map(read_setup).transpose()?;
    let frames = Frames::read(capture)?;
    let in_capture = |error| UsageError(format!("{}: {error}", capture.display()));
    let (setup, mut told) = set_up(arguments, given, &frames, way).map_err(in_capture)?;
    if let Some(file) = written {
        file.write(flow_file(&setup, &comments(&told)).as_bytes())?;
    }
    let traffic = Traffic::sort(&frames, &setup).map_err(in_capture)?;
    traffic.check_bases(&setup, way).map_err(in_capture)?;
    if way == Way::In {
        told.notes.extend(traffic.notes());
    }
    let (replayed, other) = match way {
        Way::In => (&traffic.incoming, "to"),
        Way::Out => (&traffic.outgoing, "from"),
    };
    if replayed.is_empty() {
        let (card, remedy) =
            (told.describe_sides(&setup), "name the card's side with --card ADDRESS");
        let why = format!("no frame goes {other} the card, {card}: {remedy}");
        return Err(nothing(capture, &why, &frames.skipped).into());
    }
    if way == Way::In {
        results.expect(out, &setup)?;
    }
    let job = Job {
        model: arguments.model.name(),
        capture,
        setup: &setup,
        traffic: &traffic,
        results: &results,
        compared: (arguments.model == ModelName::Rtl).then_some(arguments.config.sizes()),
        coalesces: arguments.coalesce,
        told,
    };
    match arguments.model {
        ModelName::Golden => {
            let card = GoldenCard::new(arguments.config.sizes());
            let bus = GoldenBus::new(card.clone());
            let rig = Rig::open(bus, card, &setup, arguments.coalesce)?;
            job.replay(rig)
        }
        ModelName::Rtl => run_rtl(arguments, job, wave.as_ref()),
    }
}

/// The setup of the flow file, or one that follows from the capture.
fn set_up(
    arguments: &SimArguments,
    given: Option<ReplaySetup>,
    frames: &Frames,
    way: Way,
) -> Result<(ReplaySetup, ReplayNotes), UsageError> {
    let mut told = ReplayNotes {
        skipped: frames.skipped.clone(),
        notes: frames.notes.clone(),
        ..ReplayNotes::default()
    };
    if let Some(mut setup) = given {
        if !arguments.cards.is_empty() {
            setup.cards.clone_from(&arguments.cards);
        }
        return Ok((setup, told));
    }
    let config = arguments.config.sizes();
    let wish = LearnOptions { way, cards: &arguments.cards, flows_max: 1 << config.flow_bits };
    let learned = learn(&frames.frames, wish)?;
    told.notes.extend(learned.notes);
    let beyond = learned.connections.beyond_the_table;
    if beyond > 0 {
        told.notes.push(format!(
            "{beyond} connections with the least payload are left out: the card has {} flows, with \
             --config default {}.",
            wish.flows_max,
            1 << DEFAULT.flow_bits
        ));
    }
    (told.card, told.connections) = (learned.card, Some(learned.connections));
    Ok((learned.setup, told))
}

/// What heads a flow file that was made.
fn comments(told: &ReplayNotes) -> Vec<String> {
    let mut comments = vec!["Flows of a capture. Format: docs/replay.md".to_owned()];
    let cards = told.card.iter();
    comments.extend(cards.map(|card| format!("The card is {}: {}.", card.address, card.why)));
    comments
}

fn run_rtl(arguments: &SimArguments, job: Job, wave: Option<&ResultFile>) -> Result<bool> {
    let options = Options { trace: arguments.wave.is_some(), ..Options::default() };
    let config = pcie_config(job.setup);
    let card = SimulatedCard::new(arguments.config.sizes().name, config.clone(), options);
    let mut card = card.context("the card does not build")?;
    let wave = wave.map(ResultFile::begin).transpose()?;
    if let Some(path) = wave.as_ref().map(Begun::path) {
        let open = card.model.open_wave(path);
        open.with_context(|| format!("waveform {}", path.display()))?;
    }
    let (bus, card) = SimulatedBus::with_card(card, &config)?;
    let rig = Rig::open(bus, card.clone(), job.setup, job.coalesces)?;
    let ok = job.replay(rig);
    // Of a run that has failed, too, it is whole up to there.
    if let Some(wave) = wave {
        card.borrow_mut().model.close_wave()?;
        wave.finish()?;
    }
    ok
}

/// A machine with room for the regions of a setup, beside what it has by default for the rings.
fn pcie_config(setup: &ReplaySetup) -> PcieConfig {
    let regions = |memory| {
        let regions = setup.regions.iter().filter(move |setup| setup.memory == memory);
        regions.map(|setup| setup.bytes.next_multiple_of(4096)).sum::<usize>()
    };
    let mut config = PcieConfig::default();
    config.dram_bytes += regions(MemoryKind::Application);
    for gpu in &mut config.gpus {
        gpu.memory_bytes = (gpu.memory_bytes + regions(MemoryKind::Gpu)).next_power_of_two();
        gpu.bar_bytes = gpu.memory_bytes as u64;
    }
    config
}

/// What is said beside the result.
#[derive(Debug, Default, Serialize)]
struct ReplayNotes {
    /// Learned addresses of the card.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    card: Vec<CardSide>,
    /// Connections from which flows were made.
    #[serde(skip_serializing_if = "Option::is_none")]
    connections: Option<Connections>,
    /// Frames that were not replayed, by number.
    skipped: Vec<Skipped>,
    /// Sentences for the user.
    notes: Vec<String>,
}

impl ReplayNotes {
    /// The sides that are the card, and why.
    fn describe_sides(&self, setup: &ReplaySetup) -> String {
        let learned = self.card.iter().map(|card| format!("{} ({})", card.address, card.why));
        let mut sides: Vec<_> = learned.collect();
        if sides.is_empty() {
            let cards = setup.cards.iter().map(|card| format!("{card} (so named)"));
            sides.extend(cards);
        }
        if sides.is_empty() {
            sides.extend(setup.flows.iter().map(|it| format!("{} (flow '{}')", it.local, it.name)));
        }
        let more = sides.len().saturating_sub(SIDES_MAX);
        sides.truncate(SIDES_MAX);
        match more {
            0 => sides.join(", "),
            more => format!("{} and {more} more", sides.join(", ")),
        }
    }
}

/// The summary of a run.
#[derive(Serialize)]
struct Summary<'a, R: Serialize> {
    #[serde(flatten)]
    report: &'a R,
    #[serde(flatten)]
    told: &'a ReplayNotes,
}

/// What to replay, and where it goes.
struct Job<'a> {
    model: &'static str,
    capture: &'a Path,
    setup: &'a ReplaySetup,
    traffic: &'a Traffic,
    results: &'a Results,
    /// Sizes of the golden model that the card is compared with.
    compared: Option<CardConfig>,
    /// The card sums received packets up.
    coalesces: bool,
    told: ReplayNotes,
}

impl Job<'_> {
    fn replay<B: Bus, C: CardModel>(mut self, mut rig: Rig<B, C>) -> Result<bool> {
        let (setup, traffic, results) = (self.setup, self.traffic, self.results);
        if results.sent.is_none() {
            let mut received =
                receive::replay(&mut rig, setup, traffic, Some(results), self.model)?;
            if let Some(config) = self.compared {
                let card = GoldenCard::new(config);
                let bus = GoldenBus::new(card.clone());
                let mut rig = Rig::open(bus, card, setup, self.coalesces)?;
                let golden = receive::replay(&mut rig, setup, traffic, None, "golden")?;
                received.compare(&golden);
            }
            self.told.notes.extend(received.report.notes());
            self.write_summary(&received.report)?;
            return Ok(received.report.ok);
        }
        let (report, skipped) = send::replay(&mut rig, setup, traffic, results, self.model)?;
        self.told.skipped.extend(skipped);
        self.told.skipped.sort_by_key(|skipped| skipped.frame);
        if report.is_empty() {
            let skipped = &self.told.skipped;
            return Err(nothing(self.capture, "nothing was sent", skipped).into());
        }
        self.told.notes.extend(report.notes());
        self.write_summary(&report)?;
        Ok(report.ok)
    }

    /// Writes the summary and prints it.
    fn write_summary(&self, report: &impl Serialize) -> Result<()> {
        let told = &self.told;
        let text = serde_json::to_string_pretty(&Summary { report, told })? + "\n";
        self.results.summary.write(text.as_bytes())?;
        print(&text)
    }
}
