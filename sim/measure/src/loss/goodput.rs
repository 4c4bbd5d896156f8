//! Goodput of our own TCP from a card to a peer, over a wire of 100 Gb/s with delay and loss.
//!
//! ```text
//!   application ─ Provider ─ TcpProtocol          receives, judges: TcpPeer
//!                    └── card ── lose? ── delay ──────────► │
//!                          ◄──── delay ── lose? ─────────── ┘
//! ```
//! The same engine is at both ends as in the simulated network (crate `network`); here real bytes
//! go through a card, whose time is that of both ends. A frame arrives when the card's time has
//! come to it; the wire is looked at once a round, [`lab::time::ADVANCE_CYCLES`]. It loses nothing
//! before the first byte has arrived: a SYN that is lost is repeated after a second, which takes
//! hours here.
//!
//! Invariants
//! 1. Every byte that counts was received in order and is that of the sender: the peer's digest is
//!    compared.
//! 2. A run follows from its seed.

use std::collections::VecDeque;
use std::net::SocketAddr;

use host::clock::{Clock, ManualClock};
use host::driver::bus::{Bus, MemoryKind};
use host::driver::device::DeviceConfig;
use host::error::HostError;
use host::memory::ApplicationMapping;
use host::provider::{ApplicationId, Completion, ConnectionId, Provider, RegionId};
use host::tcp::TcpProtocol;
use host::transport::peer::{digest_of, Conversation, RandomBytes, Script, TcpPeer, WirePeer};
use host::transport::{LinkConfig, TransportError, Tuning};
use lab::frame::Frame;
use lab::machine::{CardModel, Machine};
use lab::network_side::NetworkSide;
use lab::wire::{Disturbance, Wire};
use pcie_sim::PcieConfig;
use sim::bus::SimulatedBus;
use sim::card::{SharedCard, SimulatedCard};
use tcp::{Config, Secret};
use thiserror::Error;

/// Length of a buffer, bytes.
const BUFFER_BYTES: u32 = 64 << 10;
/// Longest frame that a peer may hand out, bytes.
const FRAME_BYTES_MAX: usize = 65_600;
/// Rounds without a byte after which a run is stuck: 100 ms of the card.
const ROUNDS_MAX: u64 = 100_000;
const PORT: u16 = 5001;
const PS_PER_NS: u64 = 1_000;
const PS_PER_MS: u64 = 1_000_000_000;

/// What is measured.
#[derive(Clone, Debug)]
pub struct Goodput {
    /// Settings of both ends.
    pub config: Config,
    /// Largest IP packet.
    pub mtu_bytes: u16,
    /// What the receiver grants, and the sender has posted.
    pub window_bytes: u32,
    /// From one end to the other and back, without hosts.
    pub round_trip_ps: u64,
    /// Share of frames lost, each on its own, both ways.
    pub loss: f64,
    /// Time after the first byte that is not counted.
    pub warm_ms: u64,
    /// Time that is counted.
    pub measured_ms: u64,
    /// Seed of bytes, losses and secrets.
    pub seed: u64,
}

/// What a run has shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// Bytes accepted in order in the time that counts.
    pub bytes: u64,
    /// That time, ps.
    pub ps: u64,
    /// Frames that the wire has lost.
    pub lost_frames: u64,
    /// Rules of PCIe and MAC that were broken.
    pub violations: usize,
}

impl Measured {
    /// Goodput, Gb/s.
    pub fn gbps(&self) -> f64 {
        self.bytes as f64 * 8_000.0 / self.ps as f64
    }
}

/// Why a run ends without a figure.
#[derive(Debug, Error)]
pub enum GoodputError {
    /// The card does not build, or its bus fails.
    #[error("{0}")]
    Card(String),
    /// The control stack failed.
    #[error(transparent)]
    Host(#[from] HostError),
    /// The peer failed.
    #[error("peer: {0}")]
    Peer(#[from] TransportError),
    /// The connection ended.
    #[error("the connection ended: {0}")]
    Ended(String),
    /// The peer holds other bytes than were sent.
    #[error("a wrong byte among the first {bytes}")]
    Wrong {
        /// Bytes received.
        bytes: u64,
    },
    /// Nothing moves any more.
    #[error("no progress for {ROUNDS_MAX} rounds after {bytes} bytes")]
    Stuck {
        /// Bytes received.
        bytes: u64,
    },
}

type Result<T, E = GoodputError> = std::result::Result<T, E>;

/// One direction of the wire.
struct Direction {
    wire: Wire,
    /// Frames under way, by the time at which they arrive.
    under_way: VecDeque<Frame>,
}

impl Direction {
    /// A way that loses nothing.
    fn new(goodput: &Goodput) -> Self {
        let delay_ps = goodput.round_trip_ps / 2;
        let disturbance = Disturbance { delay_ps, ..Disturbance::default() };
        Self { wire: Wire::new(disturbance, goodput.seed), under_way: VecDeque::new() }
    }

    /// From now on frames are lost.
    fn lose(&mut self, goodput: &Goodput, number: u64) {
        let delay_ps = goodput.round_trip_ps / 2;
        let disturbance = Disturbance { loss: goodput.loss, delay_ps, ..Disturbance::default() };
        self.wire = Wire::new(disturbance, goodput.seed ^ number);
    }

    fn send(&mut self, frame: Frame) {
        let mut arriving = Vec::new();
        self.wire.carry(frame, &mut arriving);
        self.under_way.extend(arriving);
    }

    fn arrive(&mut self, now_ps: u64) -> Option<Frame> {
        let is_there = self.under_way.front().is_some_and(|frame| frame.time_ps <= now_ps);
        if is_there {
            self.under_way.pop_front()
        } else {
            None
        }
    }
}

/// The sending application.
struct Application {
    connection: ConnectionId,
    region: RegionId,
    memory: ApplicationMapping,
    random: RandomBytes,
}

impl Application {
    /// Fills a buffer with the next bytes and posts it.
    fn send<B: Bus>(
        &mut self,
        provider: &mut Provider<B, TcpProtocol>,
        buffer: u64,
    ) -> Result<(), HostError> {
        let offset = buffer * u64::from(BUFFER_BYTES);
        let mut bytes = vec![0; BUFFER_BYTES as usize];
        self.random.fill(&mut bytes);
        self.memory.write(offset as usize, &bytes);
        provider.send(self.connection, self.region.span(offset, BUFFER_BYTES), buffer)
    }
}

impl Goodput {
    /// Measures on the emitted Verilog of a configuration, in Verilator.
    ///
    /// # Errors
    /// See [`GoodputError`].
    pub fn measure(&self, card: SimulatedCard, pcie: &PcieConfig) -> Result<Measured> {
        let bus = SimulatedBus::with_card(card, pcie);
        let (bus, card) = bus.map_err(|error| GoodputError::Card(error.to_string()))?;
        let clock = ManualClock::default();
        let link = self.link(2);
        let peer = TcpPeer::new(self.protocol(&link), &link, Clock::Manual(clock.clone()));
        let protocol = (self.protocol(&self.link(1)), DeviceConfig::with_seed(self.seed));
        let mut run = Run {
            machine: Machine::provided(bus, protocol, card, peer, Some(clock.clone()))?,
            clock,
            to_peer: Direction::new(self),
            to_card: Direction::new(self),
        };
        let mut measured = run.measure(self)?;
        measured.violations = run.machine.card.violations().len();
        Ok(measured)
    }

    fn link(&self, number: u8) -> LinkConfig {
        let tuning = Tuning {
            receive_buffer_bytes: self.window_bytes,
            send_buffer_bytes: self.window_bytes,
            ..Tuning::REAL_TIME
        };
        let mut link = LinkConfig::lab(number, self.mtu_bytes, tuning);
        // An interface with IPv6 has room for its longer header in each segment.
        link.addresses.retain(|own| own.address.is_ipv4());
        link
    }

    fn protocol(&self, link: &LinkConfig) -> TcpProtocol {
        let mut secret = [0; 32];
        secret[..8].copy_from_slice(&self.seed.to_le_bytes());
        secret[8..14].copy_from_slice(&link.mac);
        TcpProtocol::new(link, self.config.clone(), Secret(secret))
    }
}

/// A run under way.
struct Run {
    machine: Machine<Provider<SimulatedBus, TcpProtocol>, SharedCard, TcpPeer>,
    clock: ManualClock,
    to_peer: Direction,
    to_card: Direction,
}

impl Run {
    fn measure(&mut self, goodput: &Goodput) -> Result<Measured> {
        let remote: SocketAddr = ([10, 77, 0, 2], PORT).into();
        let script = Script { send_bytes: 0, seed: goodput.seed, receive_bytes_max: None };
        self.machine.peer.listen(remote, script)?;
        let owner = ApplicationId::FIRST;
        let buffers = u64::from(goodput.window_bytes / BUFFER_BYTES).max(2);
        let bytes = (buffers * u64::from(BUFFER_BYTES)) as usize;
        let region = self.machine.host.register(owner, MemoryKind::Application, bytes)?;
        let mut application = Application {
            connection: self.machine.host.connect(owner, remote)?,
            region,
            memory: self.machine.host.map(region)?,
            random: RandomBytes::new(goodput.seed),
        };
        for buffer in 0..buffers {
            application.send(&mut self.machine.host, buffer)?;
        }
        let mut rounds = 0;
        while self.received_bytes() == 0 {
            self.round(&mut application)?;
            rounds += 1;
            if rounds > ROUNDS_MAX {
                return Err(GoodputError::Stuck { bytes: 0 });
            }
        }
        self.to_peer.lose(goodput, 1);
        self.to_card.lose(goodput, 2);
        self.run_for(&mut application, goodput.warm_ms * PS_PER_MS)?;
        let (start_ps, before) = (self.now_ps(), self.received_bytes());
        self.run_for(&mut application, goodput.measured_ms * PS_PER_MS)?;
        let conversation = self.conversation().ok_or(GoodputError::Stuck { bytes: 0 })?;
        let bytes = conversation.received_bytes;
        if conversation.received_digest != digest_of(goodput.seed, bytes) {
            return Err(GoodputError::Wrong { bytes });
        }
        let wires = [&self.to_peer, &self.to_card];
        Ok(Measured {
            bytes: bytes - before,
            ps: self.now_ps() - start_ps,
            lost_frames: wires.iter().map(|way| way.wire.statistics().lost).sum(),
            violations: 0,
        })
    }

    fn now_ps(&self) -> u64 {
        NetworkSide::now_ps(&self.machine.card)
    }

    fn conversation(&self) -> Option<Conversation> {
        self.machine.peer.conversations().pop()
    }

    fn received_bytes(&self) -> u64 {
        self.conversation().map_or(0, |conversation| conversation.received_bytes)
    }

    fn run_for(&mut self, application: &mut Application, ps: u64) -> Result<()> {
        let end_ps = self.now_ps() + ps;
        let mut progress = (self.received_bytes(), 0);
        while self.now_ps() < end_ps {
            self.round(application)?;
            let bytes = self.received_bytes();
            progress = if bytes == progress.0 { (bytes, progress.1 + 1) } else { (bytes, 0) };
            if progress.1 > ROUNDS_MAX {
                return Err(GoodputError::Stuck { bytes });
            }
        }
        Ok(())
    }

    /// The host polls, which lets the card's time pass; then frames leave and arrive.
    fn round(&mut self, application: &mut Application) -> Result<()> {
        for completion in self.machine.poll()? {
            match completion {
                Completion::Opened(_) => {}
                Completion::Sent { request, .. } => {
                    application.send(&mut self.machine.host, request)?;
                }
                other => return Err(GoodputError::Ended(format!("{other:?}"))),
            }
        }
        let now_ps = self.now_ps();
        let now_ns = now_ps / PS_PER_NS;
        let passed = std::time::Duration::from_nanos(now_ns.saturating_sub(self.clock.now_ns()));
        self.clock.advance(passed);
        for frame in self.machine.take_sent() {
            self.to_peer.send(frame);
        }
        while let Some(frame) = self.to_peer.arrive(now_ps) {
            self.machine.peer.inject_frame(&frame.bytes)?;
        }
        let mut buffer = vec![0; FRAME_BYTES_MAX];
        while let Some(length) = self.machine.peer.poll_frame(&mut buffer)? {
            let frame = Frame::padded(&buffer[..length]);
            self.to_card.send(Frame { time_ps: now_ps, ..frame });
        }
        while let Some(frame) = self.to_card.arrive(now_ps) {
            self.machine.card.receive(frame);
        }
        Ok(())
    }
}
