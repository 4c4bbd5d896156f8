//! A card with a driver on one side and a peer on the other, for system tests and the demo.
//!
//! ```text
//!   application ─ Provider ─ Bus ─ card ── wire with faults ──► peer (kernel TCP, smoltcp)
//!                    └ transport       ◄── wire with faults ──
//! ```
//! The application sends random bytes of one seed and receives the peer's of another; both are
//! judged by SHA-256.

use std::collections::VecDeque;
use std::net::SocketAddr;

use host::driver::bus::{Bus, MemoryKind};
use host::driver::error::HostError;
use host::memory::ApplicationMapping;
use host::provider::{ApplicationId, Completion, ConnectionId, Provider, RegionId};
use host::transport::patience::{Patience, PATIENCE};
use host::transport::peer::{digest_of, Progress, RandomBytes, Script, WirePeer};
use host::transport::{Transport, TransportError};
use sha2::{Digest, Sha256};

use crate::bus::ADVANCE_CYCLES;
use crate::card::USER_CLOCK_PS;
use crate::harness::mac::Frame;
use crate::harness::wire::{Disturbance, Wire};
use crate::network_side::NetworkSide;

/// Bytes of one buffer of the application.
pub const BUFFER_BYTES: usize = 64 << 10;
/// Buffers in each direction: one list's worth.
const BUFFERS: usize = 8;
/// Longest frame that a peer may hand out.
const FRAME_BUFFER_BYTES: usize = 65_600;

/// Frames of the peer in one round, at most.
const FRAMES_PER_ROUND: usize = 32;
/// How far ahead the wire to the card is filled: two rounds of the simulated bus.
const WIRE_AHEAD_PS: u64 = 2 * ADVANCE_CYCLES * USER_CLOCK_PS;

/// Why a run ended without a verdict.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// The provider failed.
    #[error(transparent)]
    Host(#[from] HostError),
    /// The peer failed.
    #[error("peer: {0}")]
    Peer(#[from] TransportError),
    /// The connection failed.
    #[error("connection failed: {0}")]
    Connection(String),
    /// The peer's connection failed.
    #[error("peer's connection failed with error {0}")]
    PeerConnection(i32),
    /// Nothing happened for too long.
    #[error(
        "no progress for {} s: {received} of {bytes} bytes received, {sent} sent",
        PATIENCE.as_secs()
    )]
    Stuck {
        /// Bytes received so far.
        received: u64,
        /// Bytes acknowledged so far.
        sent: u64,
        /// Bytes to move each way.
        bytes: u64,
    },
    /// The observer asked to stop.
    #[error("stopped: {0}")]
    Stopped(String),
}

/// What to move, and over what wire.
#[derive(Clone, Copy, Debug)]
pub struct Exchange {
    /// Bytes each way.
    pub bytes: u64,
    /// Seed of the data and of the wire's faults.
    pub seed: u64,
    /// Faults of the wire, both directions.
    pub disturbance: Disturbance,
    /// Where the application's buffers lie.
    pub memory: MemoryKind,
}

/// What was moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Bytes and digest that the application received.
    pub received: (u64, [u8; 32]),
    /// Digest that the application should have received.
    pub received_expected: [u8; 32],
    /// Bytes and digest that the peer received.
    pub sent: (u64, [u8; 32]),
    /// Digest that the peer should have received.
    pub sent_expected: [u8; 32],
}

impl Outcome {
    /// Every byte arrived, once, in order, both ways.
    pub fn is_exact(&self) -> bool {
        self.received.1 == self.received_expected && self.sent.1 == self.sent_expected
    }
}

/// Progress of a run.
#[derive(Clone, Copy, Debug)]
pub struct Status {
    /// Bytes received and judged.
    pub received: u64,
    /// Bytes acknowledged by the peer.
    pub sent: u64,
}

/// Direction of a frame on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// From the peer to the card.
    ToCard,
    /// From the card to the peer.
    ToPeer,
}

/// Observes a run.
pub trait Observer {
    /// A round is over.
    fn round(&mut self, status: Status) -> Result<(), LabError>;
    /// A frame is on the wire, as the receiver will see it.
    fn frame(&mut self, side: Side, frame: &Frame);
}

/// Observes nothing.
pub struct Blind;

impl Observer for Blind {
    fn round(&mut self, _status: Status) -> Result<(), LabError> {
        Ok(())
    }

    fn frame(&mut self, _side: Side, _frame: &Frame) {}
}

/// A card, its provider and its peer. See the head of the module.
pub struct Lab<'a, B: Bus, T: Transport, C: NetworkSide> {
    /// The provider under test.
    pub provider: &'a mut Provider<B, T>,
    /// The card's network side.
    pub card: &'a mut C,
    /// The peer.
    pub peer: &'a mut dyn WirePeer,
}

/// The application's side of a run.
struct Application {
    connection: ConnectionId,
    region: RegionId,
    /// The application's own view of the region.
    memory: ApplicationMapping,
    random: RandomBytes,
    sent_posted: u64,
    sent_done: u64,
    receives: VecDeque<(u64, usize)>,
    received_posted: u64,
    received: u64,
    hasher: Sha256,
    free_sends: Vec<usize>,
    finished: bool,
    end_posted: bool,
    end_of_stream: bool,
}

impl<B: Bus, T: Transport, C: NetworkSide> Lab<'_, B, T, C> {
    /// Connects to the peer at `remote` and moves the bytes of `exchange` each way.
    pub fn run(
        &mut self,
        remote: SocketAddr,
        exchange: &Exchange,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, LabError> {
        let (bytes, seed) = (exchange.bytes, exchange.seed);
        let script = Script {
            send_bytes: bytes,
            seed: seed ^ 0x70,
            receive_bytes_max: None,
        };
        self.peer.listen(remote, script)?;
        let region = self.provider.register(
            ApplicationId::FIRST,
            exchange.memory,
            2 * BUFFERS * BUFFER_BYTES,
        )?;
        let connection = self.provider.connect(ApplicationId::FIRST, remote)?;
        let mut application = Application {
            connection,
            region,
            memory: self.provider.map(region)?,
            random: RandomBytes::new(seed),
            sent_posted: 0,
            sent_done: 0,
            receives: VecDeque::new(),
            received_posted: 0,
            received: 0,
            hasher: Sha256::new(),
            free_sends: (0..BUFFERS).collect(),
            finished: false,
            end_posted: false,
            end_of_stream: false,
        };
        for buffer in 0..BUFFERS {
            application.post_receive(self.provider, BUFFERS + buffer, bytes)?;
        }
        let mut wires = Wires {
            to_card: Wire::new(exchange.disturbance, seed ^ 1),
            to_peer: Wire::new(exchange.disturbance, seed ^ 2),
        };
        self.converse(&mut application, exchange, &mut wires, observer)?;
        let peer = self.peer.conversations();
        let last = peer.last();
        let peer_received = last.map_or((0, [0; 32]), |c| (c.received_bytes, c.received_digest));
        Ok(Outcome {
            received: (application.received, application.hasher.finalize().into()),
            received_expected: digest_of(seed ^ 0x70, bytes),
            sent: peer_received,
            sent_expected: digest_of(seed, bytes),
        })
    }

    fn converse(
        &mut self,
        application: &mut Application,
        exchange: &Exchange,
        wires: &mut Wires,
        observer: &mut dyn Observer,
    ) -> Result<(), LabError> {
        let mut idle = 0;
        let mut patience = Patience::new(None);
        loop {
            let mut moved = application.post_sends(self.provider, exchange.bytes)?;
            for completion in self.provider.poll()? {
                moved = true;
                application.take(self.provider, completion, exchange.bytes)?;
            }
            moved |= self.carry(wires, observer)?;
            let status = Status {
                received: application.received,
                sent: application.sent_done,
            };
            observer.round(status)?;
            let conversations = self.peer.conversations();
            if let Some(Progress::Failed(number)) = conversations.last().map(|c| c.progress) {
                return Err(LabError::PeerConnection(number));
            }
            let peer_done = conversations
                .last()
                .is_some_and(|c| c.progress == Progress::Finished);
            if application.is_done(exchange.bytes) && peer_done {
                return Ok(());
            }
            idle = if moved { 0 } else { idle + 1 };
            let Status { received, sent } = status;
            let of_peer = conversations.last();
            let of_peer = of_peer.map(|c| (c.received_bytes, c.sent_bytes));
            if patience.is_over(Some((received, sent, of_peer))) {
                return Err(LabError::Stuck {
                    received,
                    sent,
                    bytes: exchange.bytes,
                });
            }
            if idle > 100 {
                wires.flush(self.card, self.peer, observer)?;
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
        }
    }

    /// Moves the frames on the wire. Returns whether there were any.
    fn carry(&mut self, wires: &mut Wires, observer: &mut dyn Observer) -> Result<bool, LabError> {
        let mut moved = false;
        let mut sent = Vec::new();
        self.card.take_sent(&mut sent);
        let mut arrived = Vec::new();
        for frame in sent {
            moved = true;
            wires.to_peer.carry(frame, &mut arrived);
        }
        give_to_peer(self.peer, arrived, observer)?;
        let mut buffer = vec![0; FRAME_BUFFER_BYTES];
        let mut arrived = Vec::new();
        // The wire must not run dry before the next round, nor hold more than the peer's own queue
        // would.
        for _ in 0..FRAMES_PER_ROUND {
            if self.card.wire_busy_ps() > WIRE_AHEAD_PS {
                break;
            }
            let Some(length) = self.peer.poll_frame(&mut buffer)? else {
                break;
            };
            moved = true;
            let mut bytes = buffer[..length].to_vec();
            bytes.resize(bytes.len().max(60), 0);
            wires.to_card.carry(
                Frame {
                    bytes,
                    ..Frame::default()
                },
                &mut arrived,
            );
            for frame in arrived.drain(..) {
                observer.frame(Side::ToCard, &frame);
                self.card.receive(frame);
            }
        }
        Ok(moved)
    }
}

fn give_to_peer(
    peer: &mut dyn WirePeer,
    frames: Vec<Frame>,
    observer: &mut dyn Observer,
) -> Result<(), LabError> {
    for frame in frames {
        observer.frame(Side::ToPeer, &frame);
        // The peer's own MAC drops frames with a bad FCS.
        if !frame.is_bad {
            peer.inject_frame(&frame.bytes)?;
        }
    }
    Ok(())
}

/// Both directions of the wire.
struct Wires {
    to_card: Wire,
    to_peer: Wire,
}

impl Wires {
    /// Releases frames that are held back when no other frame comes.
    fn flush(
        &mut self,
        card: &mut impl NetworkSide,
        peer: &mut dyn WirePeer,
        observer: &mut dyn Observer,
    ) -> Result<(), LabError> {
        let mut frames = Vec::new();
        self.to_card.flush(&mut frames);
        for frame in frames.drain(..) {
            observer.frame(Side::ToCard, &frame);
            card.receive(frame);
        }
        self.to_peer.flush(&mut frames);
        give_to_peer(peer, frames, observer)
    }
}

/// Requests below this are sends of the buffer with that number; others are receives.
const RECEIVE_REQUESTS: u64 = BUFFERS as u64;
/// The receive that waits for the end of the stream: a peer sends its FIN into an open window only.
const END_REQUEST: u64 = 2 * BUFFERS as u64;

impl Application {
    fn is_done(&self, bytes: u64) -> bool {
        self.sent_done == bytes && self.received == bytes && self.end_of_stream
    }

    fn post_receive<B: Bus, T: Transport>(
        &mut self,
        provider: &mut Provider<B, T>,
        buffer: usize,
        bytes: u64,
    ) -> Result<(), HostError> {
        let left = bytes - self.received_posted;
        if left == 0 && self.end_posted {
            return Ok(());
        }
        let offset = (buffer * BUFFER_BYTES) as u64;
        let (length, request) = match left {
            0 => (BUFFER_BYTES as u64, END_REQUEST),
            _ => (left.min(BUFFER_BYTES as u64), buffer as u64),
        };
        provider.recv(
            self.connection,
            self.region,
            offset,
            length as u32,
            false,
            request,
        )?;
        if request == END_REQUEST {
            self.end_posted = true;
            return Ok(());
        }
        self.received_posted += length;
        self.receives.push_back((request, buffer));
        Ok(())
    }

    fn post_sends<B: Bus, T: Transport>(
        &mut self,
        provider: &mut Provider<B, T>,
        bytes: u64,
    ) -> Result<bool, HostError> {
        let mut moved = false;
        while self.sent_posted < bytes {
            let Some(buffer) = self.free_sends.pop() else {
                break;
            };
            let length = (bytes - self.sent_posted).min(BUFFER_BYTES as u64) as usize;
            let offset = buffer * BUFFER_BYTES;
            let mut bytes = vec![0; length];
            self.random.fill(&mut bytes);
            self.memory.write(offset, &bytes);
            let request = buffer as u64;
            provider.send(
                self.connection,
                self.region,
                offset as u64,
                length as u32,
                request,
            )?;
            self.sent_posted += length as u64;
            moved = true;
        }
        if self.sent_posted == bytes && !self.finished {
            provider.finish(self.connection)?;
            self.finished = true;
        }
        Ok(moved)
    }

    fn take<B: Bus, T: Transport>(
        &mut self,
        provider: &mut Provider<B, T>,
        completion: Completion,
        bytes: u64,
    ) -> Result<(), LabError> {
        match completion {
            Completion::Sent { request } => {
                let buffer = request as usize;
                let last = bytes - (bytes - 1) / BUFFER_BYTES as u64 * BUFFER_BYTES as u64;
                let rest = bytes - self.sent_done;
                self.sent_done += if rest == last {
                    last
                } else {
                    BUFFER_BYTES as u64
                };
                self.free_sends.push(buffer);
            }
            // Data after the end of the stream is an error.
            Completion::Received {
                request: END_REQUEST,
                bytes: length,
            } => self.received += u64::from(length),
            Completion::Cancelled {
                request: END_REQUEST,
            } => {}
            Completion::Received {
                request,
                bytes: length,
            } => {
                let buffer = request as usize;
                assert!(request >= RECEIVE_REQUESTS, "receive request {request}");
                let mut arrived = vec![0; length as usize];
                self.memory.read(buffer * BUFFER_BYTES, &mut arrived);
                self.hasher.update(&arrived);
                self.received += u64::from(length);
                self.receives.pop_front();
                self.post_receive(provider, buffer, bytes)?;
            }
            Completion::EndOfStream(_) => self.end_of_stream = true,
            Completion::Failed(_, why) => return Err(LabError::Connection(why)),
            Completion::Cancelled { request } => {
                return Err(LabError::Connection(format!("request {request} cancelled")));
            }
            Completion::Opened(_) | Completion::Closed(_) => {}
        }
        Ok(())
    }
}
