//! A card with a driver on one side and a peer on the other, for system tests and the demo.
//!
//! ```text
//!   application ─ Provider ─ Bus ─ card ── wire with faults ──► peer (kernel TCP, smoltcp)
//!                    └ transport       ◄── wire with faults ──
//! ```
//! The application sends random bytes of one seed and receives the peer's of another; both are
//! judged by SHA-256.
//!
//! Time is the card's. An end that is smoltcp has it too, by [`Lab::clock`], and the lab skips what
//! is idle (`lab/quiet.rs`). A kernel has the wall clock.

mod application;
mod quiet;
mod wires;

use std::net::SocketAddr;
use std::time::Duration;

use host::driver::bus::{Bus, MemoryKind};
use host::driver::error::HostError;
use host::provider::Provider;
use host::transport::peer::{digest_of, Progress, Script, WirePeer};
use host::transport::{ManualClock, Transport, TransportError};

use self::application::Application;
use self::quiet::Quiet;
pub use self::quiet::{End, Stuck, Waiting};
use self::wires::{give_to_peer, Wires};
use crate::bus::ADVANCE_CYCLES;
use crate::card::USER_CLOCK_PS;
use crate::harness::mac::Frame;
use crate::harness::wire::{Disturbance, Wire};
use crate::network_side::NetworkSide;

/// Bytes of one buffer of the application.
pub const BUFFER_BYTES: usize = 64 << 10;
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
    /// Nothing happened for too long, or nothing can happen any more.
    #[error("{why}: {received} of {bytes} bytes received, {sent} sent, {lost} frames lost")]
    Stuck {
        /// For how long.
        why: Stuck,
        /// Bytes received so far.
        received: u64,
        /// Bytes acknowledged so far.
        sent: u64,
        /// Frames that the wire has lost.
        lost: u64,
        /// Bytes to move each way.
        bytes: u64,
    },
    /// The observer asked to stop.
    #[error("stopped: {0}")]
    Stopped(String),
}

impl LabError {
    fn stuck(why: Stuck, status: Status, bytes: u64) -> Self {
        Self::Stuck {
            why,
            received: status.received,
            sent: status.sent,
            lost: status.lost,
            bytes,
        }
    }
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
    /// Time of the card in which it was simulated, cycle by cycle.
    pub simulated: Duration,
    /// Time in which nothing could happen, and that was skipped.
    pub skipped: Duration,
    /// Frames that the wire has lost, both directions.
    pub lost: u64,
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
    /// Frames that the wire has lost, both directions.
    pub lost: u64,
    /// Simulated time that was skipped.
    pub skipped: Duration,
    /// What the run waits for, if nothing moves; after a skip, what it waited for.
    pub waiting: Option<Waiting>,
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
    /// The clock of the ends that are smoltcp: the lab sets it to the card's time, and skips what is
    /// idle. Without one, whoever observes the run sets the clocks.
    pub clock: Option<ManualClock>,
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
        let mut application = Application::connect(self.provider, remote, exchange)?;
        let mut wires = Wires {
            to_card: Wire::new(exchange.disturbance, seed ^ 1),
            to_peer: Wire::new(exchange.disturbance, seed ^ 2),
        };
        let mut quiet = Quiet::new(self.clock.clone(), self.card.now_ps());
        self.converse(&mut application, exchange, &mut wires, &mut quiet, observer)?;
        let peer = self.peer.conversations();
        let last = peer.last();
        let peer_received = last.map_or((0, [0; 32]), |c| (c.received_bytes, c.received_digest));
        Ok(Outcome {
            received: (application.received, application.digest()),
            received_expected: digest_of(seed ^ 0x70, bytes),
            sent: peer_received,
            sent_expected: digest_of(seed, bytes),
            simulated: quiet.simulated(),
            skipped: quiet.skipped(),
            lost: wires.lost(),
        })
    }

    fn converse(
        &mut self,
        application: &mut Application,
        exchange: &Exchange,
        wires: &mut Wires,
        quiet: &mut Quiet,
        observer: &mut dyn Observer,
    ) -> Result<(), LabError> {
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
                lost: wires.lost(),
                skipped: quiet.skipped(),
                waiting: quiet.waiting(),
            };
            observer.round(status)?;
            let conversations = self.peer.conversations();
            let of_peer = conversations.last();
            if let Some(Progress::Failed(number)) = of_peer.map(|c| c.progress) {
                return Err(LabError::PeerConnection(number));
            }
            let peer_done = of_peer.is_some_and(|c| c.progress == Progress::Finished);
            if application.is_done(exchange.bytes) && peer_done {
                return Ok(());
            }
            let of_peer = of_peer.map_or((0, 0), |c| (c.received_bytes, c.sent_bytes));
            let progress = [status.received, status.sent, of_peer.0, of_peer.1];
            quiet.round(moved, self.card, progress);
            let stuck = match quiet.is_long() {
                true => self.rest(wires, quiet, observer)?,
                false => quiet.stuck(),
            };
            if let Some(why) = stuck {
                return Err(LabError::stuck(why, status, exchange.bytes));
            }
        }
    }

    /// Nothing has moved for a while: releases what the wire holds back, or goes on to the next
    /// timer. Returns whether there is none.
    fn rest(
        &mut self,
        wires: &mut Wires,
        quiet: &mut Quiet,
        observer: &mut dyn Observer,
    ) -> Result<Option<Stuck>, LabError> {
        if wires.flush(self.card, self.peer, observer)? {
            quiet.end();
            return Ok(None);
        }
        let transport = self.provider.transport().next_timer();
        Ok(quiet.skip(transport, self.peer.next_timer()))
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
