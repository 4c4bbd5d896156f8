//! Flows of several owners to one peer that sends back what it receives, without an end.
//!
//! ```text
//!   owner n ─ application ─ flows: random bytes out ─► peer ─► back, each compared
//! ```

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::Result;
use host::driver::bus::MemoryKind;
use host::driver::device::DeviceConfig;
use host::driver::rings::RingSizes;
use host::error::HostError;
use host::memory::ApplicationMapping;
use host::provider::{ApplicationId, Completion, ConnectionId, Provider, RegionId};
use host::tcp::TcpProtocol;
use host::transport::peer::RandomBytes;
use host::transport::{LinkConfig, Tuning};
use tcp::Config;
use vfio::CardBus;

use super::page::{FlowPart, OwnerPart};
use crate::shared::bus::refusal;
use crate::shared::options::UsageError;
use crate::shared::secret::fresh_secret;

/// Buffers of a flow in each direction, and their size.
const BUFFERS: usize = 4;
const BUFFER_BYTES: usize = 16 << 10;
/// How far out a flow may be ahead of what came back: an echo keeps what it has to send back.
const AHEAD_BYTES: u64 = (BUFFERS * BUFFER_BYTES) as u64;
/// Longest sleep while nothing moves.
const SLEEP: Duration = Duration::from_millis(1);
/// Rounds of a step: between two of them the screen's keys are looked at.
const ROUNDS: usize = 64;

/// What is to be carried.
#[derive(Clone, Copy, Debug)]
pub struct TrafficSetup {
    /// Owners, each with rings of its own.
    pub owners: u8,
    /// Flows, shared out among the owners.
    pub flows: u16,
    /// Who sends back.
    pub peer: SocketAddr,
    /// Largest IP packet, bytes.
    pub mtu: u16,
    /// Seed of the bytes.
    pub seed: u64,
}

/// A flow and its application.
struct Flow {
    connection: ConnectionId,
    owner: u8,
    region: RegionId,
    memory: ApplicationMapping,
    out: RandomBytes,
    back: RandomBytes,
    free: Vec<usize>,
    posted: u64,
    sent: u64,
    received: u64,
    wrong_bytes: u64,
    is_open: bool,
    moved: Instant,
    longest_still: Duration,
    failed: Option<String>,
}

/// The flows.
pub struct Traffic {
    provider: Provider<CardBus, TcpProtocol>,
    owners: Vec<u8>,
    flows: Vec<Flow>,
}

impl Flow {
    fn new(
        provider: &mut Provider<CardBus, TcpProtocol>,
        (application, owner): (ApplicationId, u8),
        peer: SocketAddr,
        seed: u64,
    ) -> Result<Self, HostError> {
        let bytes = 2 * BUFFERS * BUFFER_BYTES;
        let region = provider.register(application, MemoryKind::Application, bytes)?;
        let memory = provider.map(region)?;
        let connection = provider.connect(application, peer)?;
        let flow = Self {
            connection,
            owner,
            region,
            memory,
            out: RandomBytes::new(seed),
            back: RandomBytes::new(seed),
            free: (0..BUFFERS).collect(),
            posted: 0,
            sent: 0,
            received: 0,
            wrong_bytes: 0,
            is_open: false,
            moved: Instant::now(),
            longest_still: Duration::ZERO,
            failed: None,
        };
        for buffer in BUFFERS..2 * BUFFERS {
            flow.receive(provider, buffer)?;
        }
        Ok(flow)
    }

    fn receive(
        &self,
        provider: &mut Provider<CardBus, TcpProtocol>,
        buffer: usize,
    ) -> Result<(), HostError> {
        let span = self.region.span((buffer * BUFFER_BYTES) as u64, BUFFER_BYTES as u32);
        provider.recv(self.connection, span, buffer as u64)
    }

    /// Sends what there is room for; whether there was.
    fn send(&mut self, provider: &mut Provider<CardBus, TcpProtocol>) -> Result<bool, HostError> {
        let mut any = false;
        while self.is_open && self.posted < self.received + AHEAD_BYTES {
            let Some(buffer) = self.free.pop() else { break };
            let mut bytes = vec![0; BUFFER_BYTES];
            self.out.fill(&mut bytes);
            self.memory.write(buffer * BUFFER_BYTES, &bytes);
            let span = self.region.span((buffer * BUFFER_BYTES) as u64, BUFFER_BYTES as u32);
            provider.send(self.connection, span, buffer as u64)?;
            self.posted += BUFFER_BYTES as u64;
            any = true;
        }
        Ok(any)
    }

    fn note_progress(&mut self) {
        self.longest_still = self.longest_still.max(self.moved.elapsed());
        self.moved = Instant::now();
    }

    fn take(
        &mut self,
        provider: &mut Provider<CardBus, TcpProtocol>,
        completion: &Completion,
    ) -> Result<(), HostError> {
        match completion {
            Completion::Opened(_) => {
                self.is_open = true;
                self.moved = Instant::now();
            }
            Completion::Sent { request, .. } => {
                self.sent += BUFFER_BYTES as u64;
                self.free.push(*request as usize);
                self.note_progress();
            }
            Completion::Received { request, bytes, .. } => {
                let (buffer, count) = (*request as usize, *bytes as usize);
                let (mut arrived, mut expected) = (vec![0; count], vec![0; count]);
                self.memory.read(buffer * BUFFER_BYTES, &mut arrived);
                self.back.fill(&mut expected);
                let wrong = arrived.iter().zip(&expected).filter(|(one, other)| one != other);
                self.wrong_bytes += wrong.count() as u64;
                self.received += count as u64;
                self.note_progress();
                if self.is_open {
                    self.receive(provider, buffer)?;
                }
            }
            Completion::EndOfStream(_) => self.end("the peer has closed it"),
            Completion::Closed(_) => self.end("closed"),
            Completion::Failed { reason, .. } => self.end(&reason.to_string()),
            Completion::Cancelled { .. } => {}
        }
        Ok(())
    }

    fn end(&mut self, why: &str) {
        self.is_open = false;
        self.failed.get_or_insert_with(|| why.to_owned());
    }
}

/// Whose completion it is.
fn connection_of(completion: &Completion) -> ConnectionId {
    match completion {
        Completion::Opened(connection)
        | Completion::EndOfStream(connection)
        | Completion::Closed(connection)
        | Completion::Received { connection, .. }
        | Completion::Sent { connection, .. }
        | Completion::Cancelled { connection, .. }
        | Completion::Failed { connection, .. } => *connection,
    }
}

impl Traffic {
    /// Opens the card, its owners and the flows.
    pub fn open(card: CardBus, plan: &TrafficSetup) -> Result<Self> {
        let link = LinkConfig::lab(1, plan.mtu, Tuning::REAL_TIME);
        let protocol = TcpProtocol::new(&link, Config::private_wire(), fresh_secret());
        let provider = Provider::open(card, protocol, DeviceConfig::default());
        let mut provider = provider.map_err(refusal)?;
        let mut applications = vec![(ApplicationId::FIRST, 1)];
        for _ in 1..plan.owners {
            let shard = provider.open_shard(RingSizes::default()).map_err(|error| {
                let error = refusal(error);
                let number = applications.len() + 1;
                UsageError(format!("owner {number} of {}: {error}", plan.owners))
            })?;
            applications.push((provider.open_application(shard).map_err(refusal)?, shard.0));
        }
        let owners = applications.iter().map(|it| it.1).collect();
        let mut flows = Vec::new();
        for number in 0..plan.flows {
            let application = applications[usize::from(number) % applications.len()];
            let seed = plan.seed.wrapping_mul(1 << 16).wrapping_add(number.into());
            let flow = Flow::new(&mut provider, application, plan.peer, seed);
            flows.push(flow.map_err(refusal)?);
        }
        Ok(Self { provider, owners, flows })
    }

    /// The card.
    pub fn bus(&mut self) -> &mut CardBus {
        self.provider.device().bus()
    }

    /// Whether any byte has come back.
    pub fn has_moved(&self) -> bool {
        self.flows.iter().any(|flow| flow.received > 0)
    }

    /// Moves what there is to move, and sleeps a moment where there is nothing.
    pub fn step(&mut self) -> Result<()> {
        for _ in 0..ROUNDS {
            let Self { provider, flows, .. } = self;
            let mut moved = provider.poll().map_err(refusal)?;
            while let Some(completion) = provider.next_completion() {
                moved = true;
                let connection = connection_of(&completion);
                let mut of = flows.iter_mut().filter(|flow| flow.connection == connection);
                if let Some(flow) = of.next() {
                    flow.take(provider, &completion).map_err(refusal)?;
                }
            }
            for flow in &mut *flows {
                moved |= flow.send(provider).map_err(refusal)?;
            }
            if !moved {
                provider.wait(SLEEP).map_err(refusal)?;
                break;
            }
        }
        Ok(())
    }

    /// Owners and flows as they are.
    pub fn parts(&mut self) -> (Vec<OwnerPart>, Vec<FlowPart>) {
        let mut parts = Vec::new();
        for flow in &self.flows {
            let ends = self.provider.addresses(flow.connection).ok();
            let protocol = self.provider.protocol();
            let counters = ends.and_then(|(from, to)| protocol.counters_between(from, to));
            let counters = counters.unwrap_or_default();
            let still = if flow.is_open { flow.moved.elapsed() } else { Duration::ZERO };
            let ms = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
            parts.push(FlowPart {
                owner: flow.owner,
                ends: ends
                    .map_or("not open".to_owned(), |(local, remote)| format!("{local} > {remote}")),
                sent: flow.sent,
                received: flow.received,
                repeated: counters.repeated_bytes,
                lost: counters.lost_bytes,
                timeouts: counters.timeouts,
                still_ms: ms(still),
                longest_still_ms: ms(flow.longest_still.max(still)),
                wrong_bytes: flow.wrong_bytes,
                failed: flow.failed.clone(),
            });
        }
        let owner = |owner: &u8| {
            let of = |what: fn(&FlowPart) -> u64| {
                parts.iter().filter(|flow| flow.owner == *owner).map(what).sum()
            };
            OwnerPart {
                owner: *owner,
                sent: of(|flow| flow.sent),
                received: of(|flow| flow.received),
                repeated: of(|flow| flow.repeated),
            }
        };
        (self.owners.iter().map(owner).collect(), parts)
    }

    /// Ends the flows, and closes the card.
    pub fn close(self) -> Result<()> {
        self.provider.shut_down().map_err(refusal)
    }
}
