//! The demo on a card of this process, RTL or model, whose time is the simulator's.

use std::cell::RefCell;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Instant;

use anyhow::{Context, Result};
use host::clock::{Clock, ManualClock};
use host::driver::bus::MemoryKind;
use host::driver::device::DeviceConfig;
use host::observed::Observed;
use host::protocol::Protocol;
use host::provider::{Provider, ProviderCounters};
use host::transport::Transport;
use lab::exchange::{Exchange, Lab, LabError, Outcome};
use lab::time::{ADVANCE_CYCLES, USER_CLOCK_PS};
use pcie_sim::PcieConfig;
use sim::card::SimulatedCard;
use tcp::Secret;
use verilate::options::Options;

use super::arguments::{DemoArguments, MemoryName};
use super::card::{DemoCard, Golden, Rtl};
use super::ends::{self, link, remote};
use super::outputs::Outputs;
use super::report::DemoReport;
use super::stacks::{ChosenStack, Stacks};
use super::watcher::Watcher;
use crate::shared::bus;
use crate::shared::config::ModelName;
use crate::shared::output::{print, Begun, ResultFile};

/// Runs the demo.
pub fn run(arguments: &DemoArguments, outputs: Outputs) -> Result<bool> {
    let clock = ManualClock::default();
    let over = (arguments, outputs);
    let taken = stacks(arguments, &clock).transport(&link(1, arguments))?;
    let (transport, name): (Box<dyn Transport>, _) = match taken {
        ChosenStack::Own(tcp, name) => return run_over(over, clock, *tcp, (&name, true)),
        ChosenStack::Smoltcp(smoltcp, name) => (smoltcp, (name, true)),
        ChosenStack::Kernel(kernel, name) => (kernel, (name, false)),
    };
    run_over(over, clock, Observed::new(transport), name)
}

/// The TCPs of both ends, by the demo's clock. What a run repeats from is its seed.
fn stacks(arguments: &DemoArguments, clock: &ManualClock) -> Stacks {
    let mut secret = [0; 32];
    secret[..8].copy_from_slice(&arguments.seed.to_le_bytes());
    ends::stacks(arguments, Clock::Manual(clock.clone()), Secret(secret))
}

/// The same over a protocol, with its name, and whether its timers run by the demo's clock.
fn run_over<P: Protocol<Remote = SocketAddr>>(
    (arguments, outputs): (&DemoArguments, Outputs),
    clock: ManualClock,
    protocol: P,
    name: (&str, bool),
) -> Result<bool> {
    let over = (arguments, outputs);
    match arguments.model {
        ModelName::Rtl => run_on(over, build_card(arguments)?, clock, protocol, name),
        ModelName::Golden => {
            let card = Golden::new(arguments.config.sizes(), arguments.seed);
            run_on(over, card, clock, protocol, name)
        }
    }
}

/// The same on a card.
fn run_on<P: Protocol<Remote = SocketAddr>, C: DemoCard>(
    (arguments, outputs): (&DemoArguments, Outputs),
    card: C,
    clock: ManualClock,
    protocol: P,
    (transport_name, is_skipping): (&str, bool),
) -> Result<bool> {
    let mut peer = stacks(arguments, &clock).peer(&link(2, arguments))?;
    print(&format!(
        "peer: {}; transport: {transport_name}, headers only\n\
         simulated time: {} ns in every round of the host, idle or not; {}\n",
        peer.name,
        ADVANCE_CYCLES * USER_CLOCK_PS / 1000,
        skipping([is_skipping, peer.is_skipping])
    ))?;
    let device = DeviceConfig { hash_seed: Some(1), ..arguments.device() };
    let mut provider = Provider::open(card.bus()?, protocol, device).map_err(bus::refusal)?;
    provider.set_clock(Clock::Manual(clock.clone()));
    let wave = outputs.wave.as_ref().map(ResultFile::begin).transpose()?;
    if let Some(path) = wave.as_ref().map(Begun::path) {
        card.open_wave(path)?;
    }
    let start = (card.cycles(), card.now_ps(), Instant::now());
    let mut watcher = Watcher::new(arguments.bytes.0, outputs.pcap)?;
    let mut port = card.port();
    let outcome = Lab {
        provider: &mut provider,
        card: &mut port,
        peer: peer.it.as_mut(),
        clock: Some(clock),
    }
    .run(remote(arguments), &exchange(arguments), &mut watcher);
    let captured = watcher.finish();
    let seconds = start.2.elapsed().as_secs_f64();
    // Of a run that has failed, too, the waveform is whole up to there.
    if let Some(wave) = wave {
        card.close_wave()?;
        wave.finish()?;
    }
    let outcome = outcome.map_err(|error| describe(error, &card))?;
    captured?;
    let names = [peer.name.as_str(), transport_name];
    let report = collect(&mut provider, &card, &outcome, start, seconds, names)?;
    if let Some(json) = outputs.json {
        json.write_json(&report)?;
    }
    print(&report.text())?;
    Ok(report.ok)
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

/// Adds what the checkers found to an error: it is usually the cause.
fn describe(error: LabError, card: &impl DemoCard) -> anyhow::Error {
    let violations = card.violations();
    let mut error = anyhow::Error::from(error);
    if let Some(first) = violations.first() {
        error = error.context(format!("{} rules broken, first: {first}", violations.len()));
    }
    error
}

fn collect<P: Protocol, C: DemoCard>(
    provider: &mut Provider<C::Bus, P>,
    card: &C,
    outcome: &Outcome,
    start: (u64, u64, Instant),
    seconds: f64,
    names: [&str; 2],
) -> Result<DemoReport> {
    let (cycles, now_ps) = (card.cycles() - start.0, card.now_ps() - start.1);
    // Let the last frames settle, then every frame that came in is a header entry or a counted
    // drop.
    card.settle();
    let counters = provider.device().counters()?;
    let provider_counters: ProviderCounters = provider.counters();
    let (frames_in, violations) = (card.frames_in(), card.violations());
    Ok(DemoReport::new(outcome, &counters, provider_counters, frames_in, violations).with_time(
        (now_ps / 1000, outcome.skipped),
        cycles as f64 / seconds,
        names,
    ))
}

fn exchange(arguments: &DemoArguments) -> Exchange {
    Exchange {
        bytes: arguments.bytes.0,
        seed: arguments.seed,
        disturbance: arguments.faults.disturbance(),
        memory: match arguments.memory {
            MemoryName::Dram => MemoryKind::Application,
            MemoryName::Gpu => MemoryKind::Gpu,
        },
    }
}

fn pcie_config(arguments: &DemoArguments) -> PcieConfig {
    PcieConfig { seed: arguments.seed, ..PcieConfig::default() }
}

fn build_card(arguments: &DemoArguments) -> Result<Rtl> {
    let options = Options { trace: arguments.wave.is_some(), ..Options::default() };
    let pcie = pcie_config(arguments);
    let card = SimulatedCard::new(arguments.config.name(), pcie.clone(), options);
    let card = Rc::new(RefCell::new(card.context("the card does not build")?));
    Ok(Rtl { card, pcie })
}
