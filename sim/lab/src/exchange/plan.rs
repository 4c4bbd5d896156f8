//! What a lab is to move, what it has moved, and why it could not.

use std::time::Duration;

use host::driver::bus::MemoryKind;
use host::error::HostError;
use host::failure::Failure;
use host::transport::TransportError;

use super::quiet::{Stuck, Waiting};
use crate::wire::Disturbance;

/// Bytes of one buffer of the application.
pub const BUFFER_BYTES: usize = 64 << 10;

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
    Connection(Failure),
    /// A request ended without its connection.
    #[error("connection failed: request {0} cancelled")]
    Cancelled(u64),
    /// The peer's connection failed.
    #[error("peer's connection failed with error {0}")]
    PeerConnection(i32),
    /// Nothing happened for too long, or nothing can happen any more.
    #[error(
        "{why}: {received} of {bytes} bytes received, {sent} sent, {lost} frames lost{}",
        waiting.map_or(String::new(), |waiting| format!("; it waited for {waiting}"))
    )]
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
        /// What the run waited for at last.
        waiting: Option<Waiting>,
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
    /// Time of the card in which it was simulated, cycle by cycle.
    pub simulated: Duration,
    /// Time in which nothing could happen, and that was skipped.
    pub skipped: Duration,
    /// Frames that the wire has lost, both directions.
    pub lost: u64,
    /// Both ends had every byte, and the peer its end, but the acknowledgement of ours was lost for
    /// so long that the peer had forgotten the connection and reset it (RFC 9293, 3.6.1: smoltcp's
    /// TIME-WAIT lasts 10 s).
    pub is_forgotten: bool,
}

impl Outcome {
    /// Every byte arrived, once, in order, both ways.
    pub fn is_exact(&self) -> bool {
        self.received.1 == self.received_expected && self.sent.1 == self.sent_expected
    }
}
