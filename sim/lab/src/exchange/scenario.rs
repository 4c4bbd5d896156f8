//! Many connections at once, of which some end early, on a card that is late, beside forged packets
//! and an application that misbehaves.
//!
//! ```text
//!   applications ─ Provider ─ card ── wire with faults ──► peer: a script for each connection
//!    and one that misbehaves    ▲ ◄── wire with faults ──
//!                               └─ forged: resets, SYNs, data, ACKs of what was not sent
//! ```
//! Everything follows from the seed. A connection that nobody harms is exact: every byte both ways,
//! both ends, closed. One that its application closes early has got a beginning of the peer's
//! bytes, and the peer one of its own. The application that misbehaves is judged by what it does to
//! the others: nothing.

use std::cell::RefCell;
use std::net::SocketAddr;
use std::rc::Rc;

use host::driver::bus::{Bus, MemoryKind};
use host::error::HostError;
use host::headers::builder::{Route, Tcp};
use host::headers::layout::{
    ones_sum, tcp_checksum, TcpLayout, ACK, FIN, RST, SYN, TCP_CHECKSUM_OFFSET,
};
use host::memory::ApplicationMapping;
use host::protocol::Protocol;
use host::provider::{ApplicationId, Completion, ConnectionId, Provider, RegionId};
use host::transport::peer::{digest_of, Conversation, Progress, RandomBytes, Script, WirePeer};
use host::transport::{LinkConfig, TransportError};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use sha2::{Digest, Sha256};
use thiserror::Error;

pub use super::misbehaving::Harm;
use super::misbehaving::Misbehaving;
use super::observer::Blind;
use super::plan::LabError;
use super::quiet::{Quiet, Stuck};
use super::wires::Wires;
use crate::frame::Frame;
use crate::golden_card::{GoldenBus, GoldenCard};
use crate::machine::Machine;
use crate::network_side::NetworkSide;
use crate::wire::{Disturbance, Wire};

/// Buffers of a connection in each direction.
const BUFFERS: usize = 4;
/// Names of receive requests begin here; those below are of sends.
const RECEIVES: u64 = 1_000;
/// The peer's port of the first connection.
const PORT: u16 = 5_001;
/// Most bytes of a forged payload.
const FORGED_BYTES_MAX: usize = 64;
/// The flag of RFC 9293, 3.1, that nothing else here needs.
const PSH: u8 = 0x08;

/// What happens. See the head of this file.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// Seed of bytes, faults and forgeries.
    pub seed: u64,
    /// Connections of the application that behaves.
    pub connections: usize,
    /// Bytes each way of each.
    pub bytes: u64,
    /// Bytes of a buffer: four are posted each way.
    pub buffer_bytes: u32,
    /// Every second connection is closed when so many bytes have come.
    pub close_at: Option<u64>,
    /// What the wire does.
    pub disturbance: Disturbance,
    /// Probability that a round brings a forged packet.
    pub forged: f64,
    /// What the application does that misbehaves, if there is one.
    pub harm: Option<Harm>,
}

/// Why a scenario is not as it should be.
#[derive(Debug, Error)]
pub enum ScenarioError {
    /// The provider failed: whatever a connection or an application does, it must not.
    #[error("the provider failed: {0}")]
    Host(#[from] HostError),
    /// The peer failed.
    #[error("peer: {0}")]
    Peer(#[from] TransportError),
    /// The lab could not go on.
    #[error(transparent)]
    Lab(#[from] LabError),
    /// A connection that nobody harmed ended.
    #[error("connection {0} ended: {1}")]
    Ended(usize, String),
    /// Bytes of a connection are not those that were sent.
    #[error("connection {connection}: {what}")]
    Wrong {
        /// Its number, from 0.
        connection: usize,
        /// What is wrong.
        what: String,
    },
    /// Nothing happens any more.
    #[error("{why}: {done} of {connections} connections are over")]
    Stuck {
        /// For how long.
        why: Stuck,
        /// Connections that are over.
        done: usize,
        /// Connections.
        connections: usize,
    },
}

type Result<T, E = ScenarioError> = std::result::Result<T, E>;

/// One connection and its application's side.
struct Talk {
    id: ConnectionId,
    local: SocketAddr,
    seed: u64,
    region: RegionId,
    memory: ApplicationMapping,
    random: RandomBytes,
    sent_posted: u64,
    sent_done: u64,
    /// Length of the send that lies in each buffer; 0 where none does.
    sends: [u32; BUFFERS],
    received: u64,
    hasher: Sha256,
    close_at: Option<u64>,
    has_ended: bool,
    is_finished: bool,
    is_closing: bool,
    is_closed: bool,
    is_open: bool,
}

impl Talk {
    fn open<B: Bus, P: Protocol<Remote = SocketAddr>>(
        provider: &mut Provider<B, P>,
        scenario: &Scenario,
        number: usize,
        remote: SocketAddr,
    ) -> Result<Self> {
        let owner = ApplicationId::FIRST;
        let bytes = 2 * BUFFERS * scenario.buffer_bytes as usize;
        let region = provider.register(owner, MemoryKind::Application, bytes)?;
        let id = provider.connect(owner, remote)?;
        let seed = scenario.seed ^ (number as u64) << 32;
        let mut talk = Self {
            id,
            local: provider.addresses(id)?.0,
            seed,
            region,
            memory: provider.map(region)?,
            random: RandomBytes::new(seed),
            sent_posted: 0,
            sent_done: 0,
            sends: [0; BUFFERS],
            received: 0,
            hasher: Sha256::new(),
            close_at: scenario.close_at.filter(|_| number % 2 == 1),
            has_ended: false,
            is_finished: false,
            is_closing: false,
            is_closed: false,
            is_open: false,
        };
        for buffer in 0..BUFFERS {
            talk.receive(provider, scenario, buffer)?;
        }
        Ok(talk)
    }

    fn receive<B: Bus, P: Protocol>(
        &mut self,
        provider: &mut Provider<B, P>,
        scenario: &Scenario,
        buffer: usize,
    ) -> Result<()> {
        let offset = (BUFFERS + buffer) as u64 * u64::from(scenario.buffer_bytes);
        let span = self.region.span(offset, scenario.buffer_bytes);
        Ok(provider.recv(self.id, span, RECEIVES + buffer as u64)?)
    }

    /// Posts what may be posted, and ends what is over.
    fn post<B: Bus, P: Protocol>(
        &mut self,
        provider: &mut Provider<B, P>,
        scenario: &Scenario,
    ) -> Result<()> {
        if self.is_closing {
            return Ok(());
        }
        for buffer in 0..BUFFERS {
            let left = scenario.bytes - self.sent_posted;
            if self.sends[buffer] > 0 || left == 0 {
                continue;
            }
            let length = left.min(scenario.buffer_bytes.into()) as u32;
            let offset = buffer as u64 * u64::from(scenario.buffer_bytes);
            let mut bytes = vec![0; length as usize];
            self.random.fill(&mut bytes);
            self.memory.write(offset as usize, &bytes);
            provider.send(self.id, self.region.span(offset, length), buffer as u64)?;
            self.sends[buffer] = length;
            self.sent_posted += u64::from(length);
        }
        if self.sent_posted == scenario.bytes && !self.is_finished {
            provider.finish(self.id)?;
            self.is_finished = true;
        }
        let is_early = self.close_at.is_some_and(|at| self.received >= at);
        if is_early || (self.has_ended && self.sent_done == scenario.bytes) {
            provider.close(self.id)?;
            self.is_closing = true;
        }
        Ok(())
    }

    fn take<B: Bus, P: Protocol>(
        &mut self,
        provider: &mut Provider<B, P>,
        scenario: &Scenario,
        number: usize,
        completion: Completion,
    ) -> Result<()> {
        match completion {
            Completion::Sent { request, .. } => {
                self.sent_done += u64::from(std::mem::take(&mut self.sends[request as usize]));
            }
            Completion::Received { request, bytes, .. } => {
                let buffer = (request - RECEIVES) as usize;
                let mut arrived = vec![0; bytes as usize];
                self.memory.read((BUFFERS + buffer) * scenario.buffer_bytes as usize, &mut arrived);
                self.hasher.update(&arrived);
                self.received += u64::from(bytes);
                // A buffer that comes back empty says that the stream has ended.
                if bytes > 0 && !self.has_ended && !self.is_closing {
                    match self.receive(provider, scenario, buffer) {
                        // It has ended behind these bytes: the next completion says how.
                        Err(ScenarioError::Host(HostError::Request(_))) => {}
                        posted => posted?,
                    }
                }
            }
            Completion::EndOfStream(_) => self.has_ended = true,
            Completion::Closed(_) => self.is_closed = true,
            Completion::Failed { reason, .. } if self.close_at.is_none() || !self.is_closing => {
                return Err(ScenarioError::Ended(number, reason.to_string()));
            }
            Completion::Opened(_) => self.is_open = true,
            Completion::Failed { .. } | Completion::Cancelled { .. } => {}
        }
        Ok(())
    }

    /// Compares both ends with what was sent.
    fn judge(self, scenario: &Scenario, number: usize, peer: &[Conversation]) -> Result<()> {
        let wrong =
            |what: &str| Err(ScenarioError::Wrong { connection: number, what: what.to_owned() });
        let received: [u8; 32] = self.hasher.finalize().into();
        if received != digest_of(!self.seed, self.received) {
            return wrong("the application has other bytes than the peer sent");
        }
        let of_peer = peer.iter().find(|conversation| conversation.remote == self.local);
        let Some(of_peer) = of_peer else {
            return match self.close_at {
                Some(_) => Ok(()),
                None => wrong("the peer knows nothing of it"),
            };
        };
        if of_peer.received_digest != digest_of(self.seed, of_peer.received_bytes) {
            return wrong("the peer has other bytes than the application sent");
        }
        if self.close_at.is_some() {
            return Ok(());
        }
        let is_whole = self.received == scenario.bytes
            && of_peer.received_bytes == scenario.bytes
            && of_peer.progress == Progress::Finished;
        match is_whole {
            true => Ok(()),
            false => wrong(&format!(
                "{} bytes received, {} by the peer, of {}; the peer: {:?}",
                self.received, of_peer.received_bytes, scenario.bytes, of_peer.progress
            )),
        }
    }
}

/// Where the peer listens for a connection.
fn remote(number: usize) -> SocketAddr {
    ([10, 77, 0, 2], PORT + number as u16).into()
}

impl Scenario {
    /// Runs it on a machine with a protocol and a peer on the links of the lab, and a clock.
    ///
    /// # Errors
    /// What is not as it should be: see [`ScenarioError`].
    pub fn run<P: Protocol<Remote = SocketAddr>, N: WirePeer>(
        &self,
        machine: &mut Machine<Provider<GoldenBus, P>, Rc<RefCell<GoldenCard>>, N>,
    ) -> Result<()> {
        let mut lab = machine.lab();
        let mut talks = self.open_talks(lab.provider, lab.peer)?;
        let mut misbehaving = match self.harm {
            Some(harm) => {
                let remote = remote(self.connections);
                Some(Misbehaving::open(harm, lab.provider, lab.peer, remote)?)
            }
            None => None,
        };
        let mut wires = Wires {
            to_card: Wire::new(self.disturbance, self.seed ^ 1),
            to_peer: Wire::new(self.disturbance, self.seed ^ 2),
        };
        let mut quiet = Quiet::new(lab.clock.clone(), lab.card.now_ps(), true);
        let mut random = SmallRng::seed_from_u64(self.seed ^ 3);
        loop {
            for talk in &mut talks {
                talk.post(lab.provider, self)?;
            }
            lab.provider.poll()?;
            let mut moved = self.take_completions(lab.provider, &mut talks)?;
            if self.forged > 0.0 && random.random_bool(self.forged) {
                let talk = &talks[random.random_range(0..talks.len())];
                // Before a connection is open nothing but its ports protects it (RFC 5961, 1.2).
                if talk.is_open {
                    let remote = remote(random.random_range(0..self.connections));
                    lab.card.receive(forge(&mut random, talk.local, remote));
                }
            }
            if let Some(misbehaving) = &mut misbehaving {
                misbehaving.step(lab.provider, lab.card);
            }
            moved |= lab.carry(&mut wires, quiet.skipped_ps(), &mut Blind)?;
            let done = talks.iter().filter(|talk| talk.is_closed).count();
            if done == talks.len() {
                break;
            }
            let sum = |of: fn(&Talk) -> u64| talks.iter().map(of).sum();
            let progress = [sum(|it| it.received), sum(|it| it.sent_done), done as u64, 0];
            quiet.round(moved, lab.card, progress);
            let stuck = match quiet.is_long() {
                true => lab.rest(&mut wires, &mut quiet, &mut Blind)?,
                false => quiet.stuck(),
            };
            if let Some(why) = stuck {
                let connections = talks.len();
                return Err(ScenarioError::Stuck { why, done, connections });
            }
        }
        let conversations = lab.peer.conversations();
        for (number, talk) in talks.into_iter().enumerate() {
            talk.judge(self, number, &conversations)?;
        }
        Ok(())
    }

    fn open_talks<P: Protocol<Remote = SocketAddr>>(
        &self,
        provider: &mut Provider<GoldenBus, P>,
        peer: &mut dyn WirePeer,
    ) -> Result<Vec<Talk>> {
        let talks = (0..self.connections).map(|number| {
            let seed = !(self.seed ^ (number as u64) << 32);
            let script = Script { send_bytes: self.bytes, seed, receive_bytes_max: None };
            peer.listen(remote(number), script)?;
            Talk::open(provider, self, number, remote(number))
        });
        talks.collect()
    }

    /// Hands out what has happened. Returns whether there was anything.
    fn take_completions<P: Protocol<Remote = SocketAddr>>(
        &self,
        provider: &mut Provider<GoldenBus, P>,
        talks: &mut [Talk],
    ) -> Result<bool> {
        let mut any = false;
        while let Some(completion) = provider.next_completion() {
            any = true;
            let id = connection_of(&completion);
            if let Some(number) = talks.iter().position(|talk| talk.id == id) {
                talks[number].take(provider, self, number, completion)?;
            }
        }
        Ok(any)
    }
}

fn connection_of(completion: &Completion) -> ConnectionId {
    match *completion {
        Completion::Opened(id) | Completion::EndOfStream(id) | Completion::Closed(id) => id,
        Completion::Received { connection, .. }
        | Completion::Sent { connection, .. }
        | Completion::Cancelled { connection, .. }
        | Completion::Failed { connection, .. } => connection,
    }
}

/// A packet that claims to come from the peer, by somebody who knows the addresses and ports and
/// guesses the numbers (RFC 5961, 1).
fn forge(random: &mut SmallRng, to: SocketAddr, from: SocketAddr) -> Frame {
    let links =
        [2, 1].map(|number| LinkConfig::lab(number, 1_500, host::transport::Tuning::REAL_TIME));
    let payload_bytes = random.random_range(0..=FORGED_BYTES_MAX);
    let flags = [RST, RST | ACK, SYN, SYN | ACK, ACK, ACK | PSH, ACK | FIN, FIN, 0];
    let flags = flags[random.random_range(0..flags.len())];
    let route = Route { macs: links.map(|link| link.mac), from, to };
    let tcp = Tcp {
        sequence: random.random(),
        acknowledgement: random.random(),
        flags,
        window: random.random(),
        options: &[],
    };
    let (mut bytes, layers) = route.tcp(&tcp, payload_bytes);
    bytes.extend((0..payload_bytes).map(|_| random.random::<u8>()));
    let ip = &bytes[layers.l3_offset..layers.l4_offset];
    let sum = !ones_sum(ip, 0);
    bytes[layers.l3_offset + 10..layers.l3_offset + 12].copy_from_slice(&sum.to_be_bytes());
    bytes.resize(bytes.len().max(60), 0);
    if let Ok(layout) = TcpLayout::parse(&bytes) {
        let at = layers.l4_offset + TCP_CHECKSUM_OFFSET;
        let sum = tcp_checksum(&bytes, &layout);
        bytes[at..at + 2].copy_from_slice(&sum.to_be_bytes());
    }
    Frame { bytes, ..Frame::default() }
}
