//! One message that is being received.

use super::header::Station;
use crate::control::commands::FlowName;
use crate::control::flow::buffer::Buffer;
use crate::control::flow::ranges::RangeSet;
use crate::control::flow::receive::ReceiveSide;
use crate::driver::ticket::Ticket;

/// Budget of deferred payload of one message, bytes.
const DEFERRED_BYTES_MAX: usize = 1 << 20;

/// Stage of a message's flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The flow is being installed.
    Installing(Ticket),
    /// Packets are received or sent.
    Open,
    /// The flow is being removed.
    Removing(Ticket),
}

/// A message that is expected.
#[derive(Debug)]
pub struct Incoming {
    /// Name of the flow.
    pub name: FlowName,
    /// Sender of the message.
    pub from: Station,
    /// Receive side of the flow, with one buffer.
    pub side: ReceiveSide,
    /// Stage of the flow.
    pub stage: Stage,
    /// Bytes of the message.
    pub bytes: u32,
    /// An acknowledgement is due.
    pub acknowledgement_due: bool,
    arrived: RangeSet,
}

impl Incoming {
    /// Expects a message of the buffer's length.
    pub fn new(name: FlowName, from: Station, buffer: Buffer, ticket: Ticket) -> Self {
        let mut side = ReceiveSide::new(0, name.flow);
        side.queue.add(buffer);
        Self {
            name,
            from,
            side,
            stage: Stage::Installing(ticket),
            bytes: buffer.bytes,
            acknowledgement_due: false,
            arrived: RangeSet::default(),
        }
    }

    /// Takes the payload of a packet, placed or deferred.
    pub fn take(&mut self, position: u32, bytes: usize, deferred: Option<&[u8]>) {
        self.acknowledgement_due = true;
        let start = u64::from(position);
        let end = start + bytes as u64;
        if end > u64::from(self.bytes) {
            // Longer than the message: not ours.
            return;
        }
        let kept = match deferred {
            Some(payload) => self.side.defer(start, payload, DEFERRED_BYTES_MAX),
            None => self.side.landed(start, bytes as u64),
        };
        if kept {
            self.arrived.insert(start, end);
        }
    }

    /// Everything before this position has arrived.
    pub fn complete_to(&self) -> u32 {
        let bytes = self.bytes.into();
        let gaps = self.arrived.gaps(0, bytes);
        gaps.first().map_or(self.bytes, |&(start, _)| start as u32)
    }
}
