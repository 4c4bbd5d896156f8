//! What can be seen of a run of a lab.

use std::time::Duration;

use super::plan::LabError;
use super::quiet::Waiting;
use crate::frame::Frame;

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
    /// What the run waits for if nothing moves, or waited for at last, until there is progress.
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
    /// A frame is on the wire, as the receiver will see it. Its time is that of its end on the
    /// wire, skipped time included.
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
