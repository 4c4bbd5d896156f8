//! The demo on the simulated card, whose time is the simulator's.

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
use lab::exchange::{Exchange, Lab, LabError, Outcome};
use lab::time::{ADVANCE_CYCLES, USER_CLOCK_PS};
use pcie_sim::PcieConfig;
use sim::bus::SimulatedBus;
use sim::card::SimulatedCard;
use tcp::Secret;
use verilate::options::Options;

use super::arguments::{DemoArguments, MemoryName, TransportName};
use super::ends::{law, open_peer, open_transport, own_tcp, remote};
use super::outputs::Outputs;
use super::report::Report;
use super::watcher::Watcher;
use crate::shared::output::{print, Begun, ResultFile};
use crate::shared::stack::{Stack, SMOLTCP};

/// Runs the demo.
pub fn run(arguments: &DemoArguments, outputs: Outputs) -> Result<bool> {
    let clock = ManualClock::default();
    let stack = match arguments.transport {
        TransportName::Tcp => {
            // What a run repeats from is its seed.
            let mut secret = [0; 32];
            secret[..8].copy_from_slice(&arguments.seed.to_le_bytes());
            let tcp = own_tcp(arguments, Secret(secret));
            let name = format!("our own TCP, {}", law(arguments).1);
            return run_over((arguments, outputs), clock, tcp, (name, true));
        }
        TransportName::Auto => Stack::Auto,
        TransportName::Linux => Stack::Linux,
        TransportName::Smoltcp => Stack::Smoltcp,
    };
    let (transport, name) = open_transport(stack, arguments, &Clock::Manual(clock.clone()))?;
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
    let (mut peer, peer_name) = open_peer(arguments, &Clock::Manual(clock.clone()))?;
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

fn build_card(arguments: &DemoArguments) -> Result<Rc<RefCell<SimulatedCard>>> {
    let options = Options { trace: arguments.wave.is_some(), ..Options::default() };
    let config = pcie_config(arguments);
    let card = SimulatedCard::new(arguments.config.name(), config, options);
    Ok(Rc::new(RefCell::new(card.context("the card does not build")?)))
}
