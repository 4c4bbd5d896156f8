//! `zeronic demo`: a Linux TCP peer, the Verilated card, an application, and a verdict.

mod report;
mod watcher;

use std::cell::RefCell;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Instant;

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use host::clock::{Clock, ManualClock};
use host::driver::bus::MemoryKind;
use host::driver::device::DeviceConfig;
use host::observed::Observed;
use host::protocol::Protocol;
use host::provider::{Provider, ProviderCounters};
use host::tcp::TcpProtocol;
use host::transport::peer::{KernelPeer, SmoltcpPeer, WirePeer};
use host::transport::{
    LinkConfig, LinuxTransport, SmoltcpTransport, Transport, TransportError, Tuning,
    IPV6_MTU_BYTES_MIN,
};
use lab::exchange::{Exchange, Lab, LabError, Outcome};
use lab::time::{ADVANCE_CYCLES, USER_CLOCK_PS};
use lab::wire::Disturbance;
use pcie_sim::PcieConfig;
use sim::bus::SimulatedBus;
use sim::card::SimulatedCard;
use tcp::config::Law;
use tcp::{Config, Secret};
use verilate::options::Options;

use self::report::Report;
use self::watcher::Watcher;
use crate::shared::config::ConfigName;
use crate::shared::failure::STATUSES;
use crate::shared::options::{moved_bytes, probability, Bytes, UsageError};
use crate::shared::output::{complain, json_file, print, Begun, ResultFile};

const PORT: u16 = 5001;
const SMOLTCP: &str = "smoltcp";

/// Which TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Stack {
    /// The kernel's where the machine allows it, otherwise smoltcp.
    Auto,
    /// The Linux kernel's, in a network namespace of its own.
    Linux,
    /// smoltcp, in this process.
    Smoltcp,
}

/// Which TCP this machine has, on headers only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TransportName {
    /// The kernel's where the machine allows it, otherwise smoltcp.
    Auto,
    /// The Linux kernel's, in a network namespace of its own.
    Linux,
    /// smoltcp, in this process.
    Smoltcp,
    /// Our own, made for headers only.
    Tcp,
}

/// How our own TCP finds its rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Controller {
    /// By a model of the path, blind to light loss.
    Model,
    /// CUBIC.
    Cubic,
    /// DCTCP.
    Dctcp,
}

/// Where the application's buffers lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum MemoryName {
    /// Host DRAM.
    Dram,
    /// GPU memory behind its own BAR.
    Gpu,
}

/// Arguments of `zeronic demo`.
#[derive(Debug, Args)]
#[command(after_help = STATUSES)]
pub struct DemoArguments {
    /// Bytes to move each way (plain, or with KiB, MiB or GiB), at most 1024 GiB
    #[arg(long, default_value = "16MiB", value_name = "N", value_parser = moved_bytes)]
    bytes: Bytes,
    /// TCP of the machine at the other end of the wire
    #[arg(long, value_enum, default_value_t = Stack::Auto)]
    peer: Stack,
    /// TCP of this machine, on headers only
    #[arg(long, value_enum, default_value_t = TransportName::Auto)]
    transport: TransportName,
    /// Congestion controller of --transport tcp
    #[arg(long, value_enum, default_value_t = Controller::Model)]
    controller: Controller,
    /// Where the application's buffers lie
    #[arg(long, value_enum, default_value_t = MemoryName::Dram)]
    memory: MemoryName,
    /// Sizes of the card's tables
    #[arg(long, value_enum, default_value_t = ConfigName::Default)]
    config: ConfigName,
    /// Largest IP packet, bytes
    #[arg(long, default_value_t = 1500, value_parser = clap::value_parser!(u16).range(576..=9000))]
    mtu: u16,
    /// Use IPv6
    #[arg(long)]
    ipv6: bool,
    /// Probability that the wire loses a frame (0.01 or 1%)
    #[arg(long, default_value = "0", value_parser = probability, value_name = "P")]
    loss: f64,
    /// Probability that a frame is overtaken
    #[arg(long, default_value = "0", value_parser = probability, value_name = "P")]
    reorder: f64,
    /// Probability that a frame arrives twice
    #[arg(long, default_value = "0", value_parser = probability, value_name = "P")]
    duplicate: f64,
    /// Probability that a bit flips (in half of the cases with a frame check sequence that matches)
    #[arg(long, default_value = "0", value_parser = probability, value_name = "P")]
    corrupt: f64,
    /// Seed of the data and of the wire's faults
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Record waveforms (FST, for GTKWave or Surfer)
    #[arg(long, value_name = "F.fst")]
    wave: Option<PathBuf>,
    /// Record both directions of the wire (pcapng, for Wireshark)
    #[arg(long, value_name = "F.pcapng")]
    pcap: Option<PathBuf>,
    /// Write the figures as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// Runs the demo. True when every byte is right and every packet is accounted for.
pub fn run(arguments: &DemoArguments) -> Result<bool> {
    if arguments.ipv6 && arguments.mtu < IPV6_MTU_BYTES_MIN {
        let mtu = arguments.mtu;
        let message =
            format!("--mtu {mtu}: IPv6 needs a link of at least {IPV6_MTU_BYTES_MIN} bytes");
        return Err(UsageError(message).into());
    }
    // Before anything is said of the transport.
    let outputs = Outputs::prepare(arguments)?;
    let clock = ManualClock::default();
    let stack = match arguments.transport {
        TransportName::Tcp => {
            let (tcp, name) = (own_tcp(arguments), format!("our own TCP, {}", law(arguments).1));
            return run_over((arguments, outputs), clock, tcp, (name, true));
        }
        TransportName::Auto => Stack::Auto,
        TransportName::Linux => Stack::Linux,
        TransportName::Smoltcp => Stack::Smoltcp,
    };
    let (transport, name) = open_transport(stack, arguments, &clock)?;
    let is_skipping = name == SMOLTCP;
    let protocol = Observed::new(transport);
    run_over((arguments, outputs), clock, protocol, (name.to_owned(), is_skipping))
}

/// The same over a protocol, with its name, and whether its timers run by the demo's clock.
fn run_over<P: Protocol<Remote = SocketAddr>>(
    (arguments, outputs): (&DemoArguments, Outputs),
    clock: ManualClock,
    protocol: P,
    (transport_name, is_skipping): (String, bool),
) -> Result<bool> {
    let card = build_card(arguments)?;
    let bus = SimulatedBus::new(card.clone(), &pcie_config(arguments))?;
    let (mut peer, peer_name) = open_peer(arguments, &clock)?;
    print(&format!(
        "peer: {peer_name}; transport: {transport_name}, headers only\n\
         simulated time: {} ns in every round of the host, idle or not; {}\n",
        ADVANCE_CYCLES * USER_CLOCK_PS / 1000,
        skipping([is_skipping, peer_name == SMOLTCP])
    ))?;
    let mut provider = Provider::open(bus, protocol, DeviceConfig::seeded(1))?;
    provider.set_clock(Clock::Manual(clock.clone()));
    let wave = outputs.wave.as_ref().map(ResultFile::begin).transpose()?;
    if let Some(path) = wave.as_ref().map(Begun::path) {
        let open = card.borrow_mut().model.open_wave(path);
        open.with_context(|| format!("waveform {}", path.display()))?;
    }
    let start = (card.borrow().cycles(), card.borrow().now_ps(), Instant::now());
    let mut watcher = Watcher::new(arguments.bytes.0, outputs.pcap)?;
    let mut port = card.clone();
    let outcome =
        Lab { provider: &mut provider, card: &mut port, peer: peer.as_mut(), clock: Some(clock) }
            .run(remote(arguments), &exchange(arguments), &mut watcher);
    let captured = watcher.finish();
    let seconds = start.2.elapsed().as_secs_f64();
    // Of a run that has failed, too, the waveform is whole up to there.
    if let Some(wave) = wave {
        card.borrow_mut().model.close_wave()?;
        wave.finish()?;
    }
    let outcome = outcome.map_err(|error| describe(error, &card))?;
    captured?;
    let report = collect(&mut provider, &card, &outcome, start, seconds, peer_name)?;
    if let Some(json) = outputs.json {
        json.write_json(&report)?;
    }
    print(&report.text())?;
    Ok(report.ok)
}

/// The law of `--controller`, and its name.
fn law(arguments: &DemoArguments) -> (Law, &'static str) {
    match arguments.controller {
        Controller::Model => (Law::Model, "model-based controller"),
        Controller::Cubic => (Law::Cubic, "CUBIC"),
        Controller::Dctcp => (Law::Dctcp, "DCTCP"),
    }
}

/// Our own TCP for a wire of one's own. Its secret follows from the seed, so that a run repeats.
fn own_tcp(arguments: &DemoArguments) -> TcpProtocol {
    let config = Config { law: law(arguments).0, ..Config::private_wire() };
    let mut secret = [0; 32];
    secret[..8].copy_from_slice(&arguments.seed.to_le_bytes());
    TcpProtocol::new(&link(1, arguments), config, Secret(secret))
}

/// What becomes of the time in which nothing happens; whether the timers of transport and peer run
/// by the demo's clock, and not by the kernel's.
fn skipping(by_clock: [bool; 2]) -> &'static str {
    match by_clock {
        [false, false] => "none is skipped",
        [true, true] => "when all is idle, the time to the next timer is skipped",
        _ => "when all is idle, the time to the one end's next timer is skipped, not the kernel's",
    }
}

/// The files that the user named, checked to be writable before a long run.
struct Outputs {
    wave: Option<ResultFile>,
    pcap: Option<ResultFile>,
    json: Option<ResultFile>,
}

impl Outputs {
    fn prepare(arguments: &DemoArguments) -> Result<Self, UsageError> {
        let file = |option: &str, path: &Option<PathBuf>| {
            let path = path.as_deref();
            path.map(|path| ResultFile::prepare(option, path)).transpose()
        };
        Ok(Self {
            wave: file("--wave", &arguments.wave)?,
            pcap: file("--pcap", &arguments.pcap)?,
            json: json_file(arguments.json.as_deref())?,
        })
    }
}

/// Adds what the checkers found to an error: it is usually the cause.
fn describe(error: LabError, card: &Rc<RefCell<SimulatedCard>>) -> anyhow::Error {
    let violations = card.borrow().violations();
    let mut error = anyhow::Error::from(error);
    if let Some(first) = violations.first() {
        error = error.context(format!("{} rules broken, first: {first}", violations.len()));
    }
    error
}

fn collect<P: Protocol>(
    provider: &mut Provider<SimulatedBus, P>,
    card: &Rc<RefCell<SimulatedCard>>,
    outcome: &Outcome,
    start: (u64, u64, Instant),
    seconds: f64,
    peer: &'static str,
) -> Result<Report> {
    let (cycles, now_ps) = (card.borrow().cycles() - start.0, card.borrow().now_ps() - start.1);
    // Let the last frames settle, then every frame that came in is a header entry or a counted
    // drop.
    card.borrow_mut().run(2_000);
    let counters = provider.device().counters()?;
    let provider_counters: ProviderCounters = provider.counters();
    let frames_in = card.borrow().mac.received_count().frames;
    let violations = card.borrow().violations();
    Ok(Report::new(outcome, &counters, provider_counters, frames_in, violations).with_time(
        (now_ps / 1000, outcome.skipped),
        cycles as f64 / seconds,
        peer,
    ))
}

fn exchange(arguments: &DemoArguments) -> Exchange {
    Exchange {
        bytes: arguments.bytes.0,
        seed: arguments.seed,
        disturbance: Disturbance {
            loss: arguments.loss,
            reorder: arguments.reorder,
            duplicate: arguments.duplicate,
            corrupt: arguments.corrupt / 2.0,
            corrupt_unseen: arguments.corrupt / 2.0,
            delay_ps: 0,
        },
        memory: match arguments.memory {
            MemoryName::Dram => MemoryKind::Application,
            MemoryName::Gpu => MemoryKind::Gpu,
        },
    }
}

fn pcie_config(arguments: &DemoArguments) -> PcieConfig {
    PcieConfig { seed: arguments.seed, ..PcieConfig::default() }
}

fn build_card(arguments: &DemoArguments) -> Result<Rc<RefCell<SimulatedCard>>> {
    let options = Options { trace: arguments.wave.is_some(), ..Options::default() };
    let config = pcie_config(arguments);
    let card = SimulatedCard::new(arguments.config.name(), config, options);
    Ok(Rc::new(RefCell::new(card.context("the card does not build")?)))
}

fn link(host: u8, arguments: &DemoArguments) -> LinkConfig {
    let tuning = match arguments.wave {
        None => Tuning::SIMULATION,
        Some(_) => Tuning::TRACED_SIMULATION,
    };
    LinkConfig::lab(host, arguments.mtu, tuning)
}

fn remote(arguments: &DemoArguments) -> SocketAddr {
    let address = link(2, arguments).addresses[usize::from(arguments.ipv6)].address;
    (address, PORT).into()
}

/// The requested stack: falls back to smoltcp where allowed, otherwise an error with the reason.
fn choose<T>(
    wish: Stack,
    linux: impl FnOnce() -> Result<T, TransportError>,
    smoltcp: impl FnOnce() -> Result<T, TransportError>,
) -> Result<(T, &'static str)> {
    if wish != Stack::Smoltcp {
        match linux() {
            Ok(stack) => return Ok((stack, "Linux kernel TCP")),
            Err(error) if error.is_refusal() && wish == Stack::Auto => {
                complain(&format!("{error}; using smoltcp instead"));
            }
            Err(error) if error.is_refusal() => {
                return Err(UsageError(format!("linux: {error}")).into());
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok((smoltcp()?, SMOLTCP))
}

fn open_transport(
    wish: Stack,
    arguments: &DemoArguments,
    clock: &ManualClock,
) -> Result<(Box<dyn Transport>, &'static str)> {
    let link = link(1, arguments);
    choose::<Box<dyn Transport>>(
        wish,
        || Ok(Box::new(LinuxTransport::open(&link)?)),
        || Ok(Box::new(SmoltcpTransport::open(&link, Clock::Manual(clock.clone()))?)),
    )
}

fn open_peer(
    arguments: &DemoArguments,
    clock: &ManualClock,
) -> Result<(Box<dyn WirePeer>, &'static str)> {
    let link = link(2, arguments);
    choose::<Box<dyn WirePeer>>(
        arguments.peer,
        || Ok(Box::new(KernelPeer::open(&link)?)),
        || Ok(Box::new(SmoltcpPeer::open(&link, Clock::Manual(clock.clone()))?)),
    )
}
