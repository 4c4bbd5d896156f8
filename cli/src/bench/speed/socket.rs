//! The simulation's speed behind a socket, beside that in this process.
//!
//! ```text
//!   in turn:  Lab ─ Provider ─ card in this process ─ peer      cycles in its own rounds
//!             Provider ══ socket ══ sim-card ─ its echo          cycles run free
//! ```
//! Each is what `zeronic demo` does there with our own TCP at both ends: here both ends send, there
//! the peer sends back what it has. Cycles are those from the open card to the last byte, over the
//! wall time of the same: the process that serves the card says its count. Both processes poll, so
//! it takes two cores that do nothing else.

use std::cell::RefCell;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use host::clock::{Clock, ManualClock};
use host::driver::bus::MemoryKind;
use host::driver::device::{CardSizes, DeviceConfig};
use host::provider::Provider;
use host::tcp::TcpProtocol;
use host::transport::peer::TcpPeer;
use host::transport::{LinkConfig, Tuning};
use lab::exchange::{exchange_with_echo, Blind, Exchange, Lab};
use lab::wire::Disturbance;
use pcie_sim::PcieConfig;
use serde::Serialize;
use served::{ORDER_CYCLES, REGION_CONTROL};
use sim::bus::SimulatedBus;
use sim::card::SimulatedCard;
use tcp::Config;
use verilate::options::Options;
use vfio::{CardBus, SocketBus};

use crate::shared::awaited::Awaited;
use crate::shared::bus::{self, CardName};
use crate::shared::config::configuration;
use crate::shared::options::UsageError;
use crate::shared::secret::fresh_secret;
use crate::shared::stack::PORT;
use crate::shared::table::table;
use measure::timing::statistics::median;

/// Speed behind the socket over that in this process, to reach.
const GOAL: f64 = 0.7;
/// Largest IP packet, bytes.
const MTU_BYTES: u16 = 1500;
/// How long the card's peer may take for its first byte.
const FIRST_BYTE: Duration = Duration::from_secs(10);
/// How long the card may take to let its last client go.
const LET_GO: Duration = Duration::from_secs(10);

/// Both speeds.
#[derive(Clone, Debug, Serialize)]
pub struct SocketReport {
    /// Every byte is right.
    pub ok: bool,
    /// Sizes of both cards.
    configuration: &'static str,
    /// Cycles a second in this process, in the order of the runs.
    in_process: Vec<f64>,
    /// The same behind the socket.
    over_socket: Vec<f64>,
    /// The one over the other: the median of the pairs.
    ratio: f64,
    /// The middle half of the ratios over their median.
    spread: f64,
}

fn link(host: u8, tuning: Tuning) -> LinkConfig {
    LinkConfig::lab(host, MTU_BYTES, tuning)
}

fn own_tcp(link: &LinkConfig) -> TcpProtocol {
    TcpProtocol::new(link, Config::private_wire(), fresh_secret())
}

fn remote() -> SocketAddr {
    let address: IpAddr = link(2, Tuning::SIMULATION).addresses[0].address;
    (address, PORT).into()
}

fn exchange(bytes: u64, seed: u64) -> Exchange {
    let disturbance = Disturbance::default();
    Exchange { bytes, seed, disturbance, memory: MemoryKind::Application }
}

/// Cycles a second of a card of these sizes in this process; whether every byte was right.
fn run_in_process(name: &str, exchange: &Exchange) -> Result<(f64, bool)> {
    let (clock, pcie) = (ManualClock::default(), PcieConfig::default());
    let card = SimulatedCard::new(name, pcie.clone(), Options::default());
    let card = Rc::new(RefCell::new(card.context("the card does not build")?));
    let bus = SimulatedBus::new(card.clone(), &pcie)?;
    let [here, there] = [1, 2].map(|host| link(host, Tuning::SIMULATION));
    let mut provider = Provider::open(bus, own_tcp(&here), DeviceConfig::default())?;
    provider.set_clock(Clock::Manual(clock.clone()));
    let mut peer = TcpPeer::new(own_tcp(&there), &there, Clock::Manual(clock.clone()));
    let (cycles, begun) = (card.borrow().cycles(), Instant::now());
    let outcome = Lab {
        provider: &mut provider,
        card: &mut card.clone(),
        peer: &mut peer,
        clock: Some(clock),
    }
    .run(remote(), exchange, &mut Blind)?;
    let (cycles, seconds) = (card.borrow().cycles() - cycles, begun.elapsed().as_secs_f64());
    let is_right = outcome.received.1 == outcome.received_expected
        && outcome.sent.1 == outcome.sent_expected
        && card.borrow().violations().is_empty();
    Ok((cycles as f64 / seconds, is_right))
}

/// What the card behind a socket has counted.
fn read_cycles(bus: &mut CardBus) -> Result<u64> {
    let mut cycles = [0; ORDER_CYCLES.len()];
    let bus = with_clock(bus)?;
    bus.write_region(REGION_CONTROL, 0, &ORDER_CYCLES)?;
    bus.read_region(REGION_CONTROL, 0, &mut cycles)?;
    Ok(u64::from_le_bytes(cycles))
}

/// Refuses a card that has no cycles.
fn with_clock(bus: &mut CardBus) -> Result<&mut SocketBus> {
    match bus {
        CardBus::Socket(bus) if bus.region_bytes(REGION_CONTROL) == ORDER_CYCLES.len() as u64 => {
            Ok(bus)
        }
        _ => {
            let remedy = "start `zeronic sim-card --model rtl --peer tcp`, and name its socket";
            Err(UsageError(format!("this card is no simulation with a clock; {remedy}")).into())
        }
    }
}

/// Opens the card, as soon as it has let its last client go.
fn open(name: &CardName) -> Result<CardBus> {
    let begun = Instant::now();
    loop {
        match bus::open(name) {
            Err(error) if error.0.contains("has a client already") && begun.elapsed() < LET_GO => {
                std::thread::sleep(Duration::from_millis(1));
            }
            bus => return Ok(bus?),
        }
    }
}

/// Cycles a second of the card behind a socket; whether every byte was right.
fn run_over_socket(name: &CardName, exchange: &Exchange) -> Result<(f64, bool)> {
    let protocol = own_tcp(&link(1, Tuning::REAL_TIME));
    let provider = Provider::open(open(name)?, protocol, DeviceConfig::default());
    let mut provider = provider.map_err(bus::refusal)?;
    let (cycles, begun) = (read_cycles(provider.device().bus())?, Instant::now());
    let mut awaited = Awaited::new(Blind, remote(), FIRST_BYTE);
    let echo = exchange_with_echo(&mut provider, remote(), exchange, &mut awaited)?;
    let cycles = read_cycles(provider.device().bus())? - cycles;
    let seconds = begun.elapsed().as_secs_f64();
    provider.shut_down()?;
    Ok((cycles as f64 / seconds, echo.is_exact()))
}

/// The configuration of the card behind a socket.
fn configuration_of(name: &CardName) -> Result<&'static str> {
    let mut bus = open(name)?;
    with_clock(&mut bus)?;
    let sizes: CardSizes = host::driver::look::look(&mut bus).map_err(bus::driver_refusal)?.sizes;
    configuration(&sizes).with_context(|| format!("{name} has sizes of its own"))
}

/// Measures both, in turn.
pub fn measure(name: &CardName, runs: u32, bytes: u64) -> Result<SocketReport> {
    let configuration = configuration_of(name)?;
    let (mut in_process, mut over_socket, mut ok) = (Vec::new(), Vec::new(), true);
    for run in 0..runs {
        let exchange = exchange(bytes, u64::from(run) + 1);
        let (near, near_is_right) = run_in_process(configuration, &exchange)?;
        let (far, far_is_right) = run_over_socket(name, &exchange)?;
        ok &= near_is_right && far_is_right;
        in_process.push(near);
        over_socket.push(far);
    }
    let ratios = in_process.iter().zip(&over_socket).map(|(near, far)| far / near).collect();
    let (ratio, spread) = median(ratios);
    Ok(SocketReport { ok, configuration, in_process, over_socket, ratio, spread })
}

impl SocketReport {
    /// The table.
    pub fn text(&self) -> String {
        let mut rows = table(&["exchange", "in this process", "over the socket", "ratio"]);
        let pairs = self.in_process.iter().zip(&self.over_socket).enumerate();
        for (run, (near, far)) in pairs {
            rows.add_row([
                format!("{}", run + 1),
                format!("{near:.0} cycles/s"),
                format!("{far:.0} cycles/s"),
                format!("{:.2}", far / near),
            ]);
        }
        let reached = if self.ratio >= GOAL { "yes" } else { "no" };
        let judged = if self.ok { "every byte is right" } else { "BYTES ARE WRONG" };
        format!(
            "{rows}\n{} card; ratio, median: {:.2} ({GOAL}: {reached}), spread {:.1} %\n{judged}; \
             times are the machine's, and runs do not repeat from a seed\n",
            self.configuration,
            self.ratio,
            100.0 * self.spread
        )
    }
}
