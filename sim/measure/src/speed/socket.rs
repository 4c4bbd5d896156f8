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
use std::time::Instant;

use host::clock::{Clock, ManualClock};
use host::driver::bus::{Bus, BusError, MemoryKind};
use host::driver::device::DeviceConfig;
use host::error::HostError;
use host::provider::Provider;
use host::tcp::TcpProtocol;
use host::transport::peer::TcpPeer;
use host::transport::{LinkConfig, Tuning};
use lab::exchange::{exchange_with_echo, Blind, Exchange, Lab, LabError, Observer};
use lab::wire::Disturbance;
use pcie_sim::PcieConfig;
use serde::Serialize;
use sim::bus::SimulatedBus;
use sim::card::{CardError, SimulatedCard};
use tcp::{Config, Secret};
use thiserror::Error;
use verilate::options::Options;

use crate::timing::statistics::median;

/// Speed behind the socket over that in this process, to reach.
pub const GOAL: f64 = 0.7;
/// Largest IP packet, bytes.
const MTU_BYTES: u16 = 1500;

/// Why there is no speed.
#[derive(Debug, Error)]
pub enum SocketError {
    /// The card in this process does not build.
    #[error("the card does not build")]
    Build(#[source] CardError),
    /// The card behind the socket is none that this host can use.
    #[error(transparent)]
    Refused(HostError),
    /// The control stack failed.
    #[error(transparent)]
    Host(#[from] HostError),
    /// The bus failed.
    #[error(transparent)]
    Bus(#[from] BusError),
    /// An exchange failed.
    #[error(transparent)]
    Lab(#[from] LabError),
}

/// The card behind the socket and its peer, as the program reaches them.
pub struct FarEnds<'a, B, E> {
    /// Opens the card, as soon as it has let its last client go.
    pub open: &'a mut dyn FnMut() -> Result<B, E>,
    /// What the card has counted.
    pub cycles: fn(&mut B) -> Result<u64, BusError>,
    /// Name of its configuration.
    pub configuration: &'static str,
    /// Port at which its peer listens.
    pub port: u16,
    /// A secret of our own TCP, another one each time.
    pub secret: fn() -> Secret,
    /// What watches the exchange with a peer at this address.
    pub observer: fn(SocketAddr) -> Box<dyn Observer>,
}

/// Both speeds.
#[derive(Clone, Debug, Serialize)]
pub struct SocketReport {
    /// Every byte is right.
    pub ok: bool,
    /// Sizes of both cards.
    pub configuration: &'static str,
    /// Cycles a second in this process, in the order of the runs.
    pub in_process: Vec<f64>,
    /// The same behind the socket.
    pub over_socket: Vec<f64>,
    /// The one over the other: the median of the pairs.
    pub ratio: f64,
    /// The middle half of the ratios over their median.
    pub spread: f64,
}

fn link(host: u8, tuning: Tuning) -> LinkConfig {
    LinkConfig::lab(host, MTU_BYTES, tuning)
}

fn own_tcp(link: &LinkConfig, secret: Secret) -> TcpProtocol {
    TcpProtocol::new(link, Config::private_wire(), secret)
}

fn remote(port: u16) -> SocketAddr {
    let address: IpAddr = link(2, Tuning::SIMULATION).addresses[0].address;
    (address, port).into()
}

fn exchange(bytes: u64, seed: u64) -> Exchange {
    let disturbance = Disturbance::default();
    Exchange { bytes, seed, disturbance, memory: MemoryKind::Application }
}

/// Cycles a second of a card of these sizes in this process; whether every byte was right.
fn run_in_process<B, E>(
    ends: &FarEnds<'_, B, E>,
    exchange: &Exchange,
) -> Result<(f64, bool), SocketError> {
    let (clock, pcie) = (ManualClock::default(), PcieConfig::default());
    let card = SimulatedCard::new(ends.configuration, pcie.clone(), Options::default());
    let card = Rc::new(RefCell::new(card.map_err(SocketError::Build)?));
    let bus = SimulatedBus::new(card.clone(), &pcie)?;
    let [here, there] = [1, 2].map(|host| link(host, Tuning::SIMULATION));
    let mut provider =
        Provider::open(bus, own_tcp(&here, (ends.secret)()), DeviceConfig::default())?;
    provider.set_clock(Clock::Manual(clock.clone()));
    let mut peer =
        TcpPeer::new(own_tcp(&there, (ends.secret)()), &there, Clock::Manual(clock.clone()));
    let (cycles, begun) = (card.borrow().cycles(), Instant::now());
    let outcome = Lab {
        provider: &mut provider,
        card: &mut card.clone(),
        peer: &mut peer,
        clock: Some(clock),
    }
    .run(remote(ends.port), exchange, &mut Blind)?;
    let (cycles, seconds) = (card.borrow().cycles() - cycles, begun.elapsed().as_secs_f64());
    let is_right = outcome.received.1 == outcome.received_expected
        && outcome.sent.1 == outcome.sent_expected
        && card.borrow().violations().is_empty();
    Ok((cycles as f64 / seconds, is_right))
}

/// Cycles a second of the card behind a socket; whether every byte was right.
fn run_over_socket<B: Bus, E>(
    bus: B,
    ends: &FarEnds<'_, B, E>,
    exchange: &Exchange,
) -> Result<(f64, bool), SocketError> {
    let protocol = own_tcp(&link(1, Tuning::REAL_TIME), (ends.secret)());
    let provider = Provider::open(bus, protocol, DeviceConfig::default());
    let mut provider = provider.map_err(SocketError::Refused)?;
    let (cycles, begun) = ((ends.cycles)(provider.device().bus())?, Instant::now());
    let remote = remote(ends.port);
    let mut observer = (ends.observer)(remote);
    let echo = exchange_with_echo(&mut provider, remote, exchange, observer.as_mut())?;
    let cycles = (ends.cycles)(provider.device().bus())? - cycles;
    let seconds = begun.elapsed().as_secs_f64();
    provider.shut_down()?;
    Ok((cycles as f64 / seconds, echo.is_exact()))
}

/// Measures both, in turn: so many exchanges of so many bytes each way.
pub fn measure<B: Bus, E: From<SocketError>>(
    ends: &mut FarEnds<'_, B, E>,
    runs: u32,
    bytes: u64,
) -> Result<SocketReport, E> {
    let (mut in_process, mut over_socket, mut ok) = (Vec::new(), Vec::new(), true);
    for run in 0..runs {
        let exchange = exchange(bytes, u64::from(run) + 1);
        let (near, near_is_right) = run_in_process(ends, &exchange)?;
        let (far, far_is_right) = run_over_socket((ends.open)()?, ends, &exchange)?;
        ok &= near_is_right && far_is_right;
        in_process.push(near);
        over_socket.push(far);
    }
    let ratios = in_process.iter().zip(&over_socket).map(|(near, far)| far / near).collect();
    let (ratio, spread) = median(ratios);
    let configuration = ends.configuration;
    Ok(SocketReport { ok, configuration, in_process, over_socket, ratio, spread })
}
