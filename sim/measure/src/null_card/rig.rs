//! A provider on a null card and a null transport, with connections and buffers: what a measurement
//! of the control stack drives.
//!
//! ```text
//!   card ── step, offer, acknowledge ──►  rings  ◄── Provider ── poll, recv, send ── NullRig
//!                                                       └── NullProtocol
//! ```
//! The calls of the host are in [`NullRig::poll`] alone, the card's in the others.

use std::net::Ipv4Addr;

use abi::config::CardConfig;
use host::control::flow::receive::FLOOR_LAG_MAX;
use host::driver::bus::MemoryKind;
use host::driver::device::{DeviceConfig, COALESCE_TIME};
use host::error::{HostError, Result};
use host::memory::ApplicationMapping;
use host::provider::{ApplicationId, Completion, ConnectionId, Provider, ReceiveOptions, RegionId};
use thiserror::Error;

use super::payload::{sum_of_buffer, Pattern, WrongSum};
use super::{NullBus, NullCard, Wrong};
use crate::null_protocol::{NullConfig, NullProtocol};

/// Address of the host.
const LOCAL: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 1);
/// Address of the peers.
const REMOTE: ([u8; 4], u16) = ([10, 77, 0, 2], 5001);
/// Headers in an IP packet: IPv4, TCP with timestamps.
pub const IP_TCP_BYTES: u32 = 20 + 32;
/// Payload of a frame, bytes: MTU 1500.
pub const FRAME_PAYLOAD_BYTES: u32 = 1448;
/// Connections that are opened together.
const OPENED_TOGETHER: usize = 64;
/// Polls within which a step of the set-up must be done.
const POLLS_MAX: usize = 1000;

/// What a rig has.
#[derive(Clone, Copy, Debug)]
pub struct RigConfig {
    /// Sizes of the card.
    pub card: CardConfig,
    /// Connections.
    pub flows: usize,
    /// Payload of a frame, bytes.
    pub frame_bytes: u32,
    /// Payload of a send descriptor, bytes.
    pub send_bytes: u32,
    /// Segments for each ACK of the host; `None` for one ACK in a poll.
    pub segments_per_ack: Option<u32>,
    /// Packets of a flow in a row before the next flow has its turn, in both directions.
    pub burst: u32,
    /// Length of a receive buffer, bytes, and how many each connection has posted.
    pub receive: (u32, usize),
    /// Receive requests complete as soon as they have bytes.
    pub partial: bool,
    /// Length of a send buffer, bytes, and how many each connection has posted.
    pub send: (u32, usize),
    /// The first buffers of each flow hold another number of packets, up to those after which its
    /// floor moves, or a send buffer ends: otherwise flows that take turns all come there at once.
    pub apart: bool,
    /// The card writes the payload that it offers, and the application reads each received byte
    /// once and judges it. For one flow.
    pub reads: bool,
    /// Packets that one header entry stands for, at most; 1: no runs.
    pub run_packets: usize,
}

/// Why a rig stops.
#[derive(Debug, Error)]
pub enum RigError {
    /// The control stack failed.
    #[error("{0}")]
    Host(#[from] HostError),
    /// The card has found something wrong.
    #[error("the card found: {0}")]
    Wrong(Wrong),
    /// A connection ended.
    #[error("connection {0:?} ended: {1}")]
    Ended(ConnectionId, String),
    /// A received buffer holds other bytes than were sent.
    #[error("{0}")]
    Payload(#[from] WrongSum),
    /// Nothing moves any more.
    #[error("{what}: {done} of {all} after {polls} polls")]
    Stuck {
        /// What is waited for.
        what: &'static str,
        /// How much there is.
        done: usize,
        /// How much there should be.
        all: usize,
        /// Polls in vain.
        polls: usize,
    },
}

/// The rig. See the head of this file.
pub struct NullRig {
    /// The card.
    pub card: NullCard,
    /// The host.
    pub provider: Provider<NullBus, NullProtocol>,
    config: RigConfig,
    connections: Vec<ConnectionId>,
    opened: usize,
    region: RegionId,
    posted: usize,
    received: usize,
    sent: usize,
    /// Send requests of each connection.
    sends: Vec<usize>,
    reader: Option<Reader>,
}

/// The application of a rig that reads: receive buffers come back in the order of their places.
struct Reader {
    memory: ApplicationMapping,
    pattern: Pattern,
    place: u64,
    turn: usize,
}

impl Reader {
    /// Reads the next of `buffers` buffers, of `all` bytes each, which holds `bytes` bytes.
    fn read(
        &mut self,
        bytes: u32,
        (all, buffers): (u32, usize),
    ) -> std::result::Result<(), RigError> {
        let start = (self.turn % buffers) * all as usize;
        let found = sum_of_buffer(&self.memory, start, bytes as usize);
        let place = self.place;
        self.place += u64::from(bytes);
        self.turn += 1;
        Ok(self.pattern.judge(place, bytes, found)?)
    }
}

/// Requests with numbers from here on are of the send side.
const SENDS_FROM: u64 = 1 << 32;

impl NullRig {
    /// Opens the card and all connections, and posts their buffers.
    pub fn open(config: RigConfig) -> std::result::Result<Self, RigError> {
        let (mut card, bus) = match config.reads {
            true => NullCard::with_payload(config.card),
            false => NullCard::new(config.card),
        };
        card.set_burst(config.burst as usize);
        card.set_run(config.run_packets);
        let protocol = NullProtocol::new(NullConfig {
            local: LOCAL,
            send_bytes: config.send_bytes,
            mss_bytes: config.frame_bytes as u16,
            segments_per_ack: config.segments_per_ack,
            burst: config.burst,
        });
        let coalesce = (config.run_packets > 1).then_some(COALESCE_TIME);
        let device = DeviceConfig { coalesce, ..DeviceConfig::with_seed(1) };
        let mut provider = Provider::open(bus, protocol, device)?;
        provider.look_ahead();
        let receive_bytes = config.receive.0 as usize * config.receive.1;
        let send_bytes = config.send.0 as usize * config.send.1.max(1);
        let bytes = receive_bytes.max(send_bytes);
        let region = provider.register(ApplicationId::FIRST, MemoryKind::Application, bytes)?;
        let memory = config.reads.then(|| provider.map(region)).transpose()?;
        let mut rig = Self {
            card,
            provider,
            config,
            connections: Vec::new(),
            opened: 0,
            region,
            posted: 0,
            received: 0,
            sent: 0,
            sends: vec![0; config.flows],
            reader: memory.map(|memory| Reader {
                memory,
                pattern: Pattern::new(0),
                place: 0,
                turn: 0,
            }),
        };
        for first in (0..config.flows).step_by(OPENED_TOGETHER) {
            let end = config.flows.min(first + OPENED_TOGETHER);
            rig.connect(first..end)?;
        }
        // Only then, so that no flow has sent more than another.
        rig.post_sends()?;
        rig.settle()?;
        Ok(rig)
    }

    /// Lengths of the first `buffers` buffers of a flow at most; its packets make something happen
    /// every `period_bytes`.
    fn lengths_max(
        &self,
        flow: usize,
        (packet_bytes, period_bytes): (u32, u32),
        buffers: usize,
    ) -> impl Iterator<Item = u32> {
        let period = period_bytes.div_ceil(packet_bytes);
        let first_bytes = match self.config.apart {
            true => packet_bytes * (period - flow as u32 % period),
            false => u32::MAX,
        };
        let others = std::iter::repeat(u32::MAX);
        std::iter::once(first_bytes).chain(others).take(buffers)
    }

    fn post_sends(&mut self) -> Result<()> {
        let (bytes, buffers) = self.config.send;
        for flow in 0..self.config.flows {
            for bytes_max in self.lengths_max(flow, (self.config.send_bytes, bytes), buffers) {
                self.post_send_up_to(flow, bytes_max)?;
            }
        }
        Ok(())
    }

    fn connect(&mut self, flows: std::ops::Range<usize>) -> std::result::Result<(), RigError> {
        let all = flows.end;
        for flow in flows {
            let remote = REMOTE.into();
            let id = self.provider.connect(ApplicationId::FIRST, remote)?;
            self.connections.push(id);
            let floors = (self.config.frame_bytes, FLOOR_LAG_MAX as u32);
            for bytes_max in self.lengths_max(flow, floors, self.config.receive.1) {
                self.post_receive(flow, bytes_max)?;
            }
        }
        for _ in 0..POLLS_MAX {
            if self.opened == all {
                return Ok(());
            }
            self.poll()?;
            self.step()?;
        }
        Err(RigError::Stuck { what: "connections", done: self.opened, all, polls: POLLS_MAX })
    }

    /// Lets card and host do all that is under way and asked of neither.
    pub fn settle(&mut self) -> std::result::Result<(), RigError> {
        for _ in 0..8 {
            self.poll()?;
            self.step()?;
        }
        Ok(())
    }

    fn post_receive(&mut self, flow: usize, bytes_max: u32) -> Result<()> {
        let (id, (bytes, buffers)) = (self.connections[flow], self.config.receive);
        let offset = (self.posted % buffers) as u64 * u64::from(bytes);
        self.posted += 1;
        let bytes = bytes.min(bytes_max);
        let options = ReceiveOptions { partial: self.config.partial };
        let span = self.region.span(offset, bytes);
        self.provider.recv_with(id, span, flow as u64, options)
    }

    /// Posts a send buffer of a connection.
    pub fn post_send(&mut self, flow: usize) -> Result<()> {
        self.post_send_up_to(flow, u32::MAX)
    }

    fn post_send_up_to(&mut self, flow: usize, bytes_max: u32) -> Result<()> {
        let (id, bytes) = (self.connections[flow], self.config.send.0.min(bytes_max));
        let request = SENDS_FROM + flow as u64;
        // Buffers follow each other in memory.
        let place = self.sends[flow] % self.config.send.1.max(1);
        self.sends[flow] += 1;
        let offset = place as u64 * u64::from(self.config.send.0);
        self.provider.send(id, self.region.span(offset, bytes), request)
    }

    /// The card takes what the host has given it.
    pub fn step(&mut self) -> std::result::Result<(), RigError> {
        self.card.step();
        match self.card.wrongs().first() {
            Some(wrong) => Err(RigError::Wrong(*wrong)),
            None => Ok(()),
        }
    }

    /// Receive requests that are complete.
    pub fn received_count(&self) -> usize {
        self.received
    }

    /// Send requests that are complete.
    pub fn sent_count(&self) -> usize {
        self.sent
    }

    /// The host's part: a poll, and each buffer that comes back is posted again; those of the send
    /// side only if connections have any from the start. Returns whether the poll found anything:
    /// completions, header entries or headers to send.
    pub fn poll(&mut self) -> std::result::Result<bool, RigError> {
        let before = self.seen_entries();
        let mut found = self.provider.poll()?;
        while let Some(completion) = self.provider.next_completion() {
            match completion {
                Completion::Received { request, bytes, .. } => {
                    if let Some(reader) = &mut self.reader {
                        reader.read(bytes, self.config.receive)?;
                    }
                    self.received += 1;
                    self.post_receive(request as usize, u32::MAX)?;
                }
                Completion::Sent { request, .. } => {
                    self.sent += 1;
                    if self.config.send.1 > 0 {
                        self.post_send((request - SENDS_FROM) as usize)?;
                    }
                }
                Completion::Opened(_) => self.opened += 1,
                Completion::Failed { connection, reason } => {
                    return Err(RigError::Ended(connection, reason.to_string()))
                }
                Completion::EndOfStream(id) | Completion::Closed(id) => {
                    return Err(RigError::Ended(id, "closed".to_owned()));
                }
                Completion::Cancelled { .. } => {}
            }
        }
        found |= self.seen_entries() != before;
        Ok(found)
    }

    /// Header entries taken and headers sent so far.
    fn seen_entries(&mut self) -> (u64, u64) {
        let sent = self.provider.counters().sent_headers;
        (self.provider.counters().header_entries, sent)
    }
}
