//! One message on its way in.

use super::header::Station;
use crate::control::commands::FlowName;
use crate::control::flow::buffer::Buffer;
use crate::control::flow::ranges::RangeSet;
use crate::control::flow::receive::ReceiveSide;
use crate::driver::ticket::Ticket;

/// Payload of one message that may wait outside its buffer, bytes.
const DEFERRED_BYTES_MAX: usize = 1 << 20;

/// Where a message's flow stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The flow's install is on its way.
    Installing(Ticket),
    /// Packets come and go.
    Open,
    /// The flow leaves the card.
    Removing(Ticket),
}

/// A message that is expected.
#[derive(Debug)]
pub struct Incoming {
    /// Its flow.
    pub name: FlowName,
    /// Its sender.
    pub from: Station,
    /// The buffer on the card.
    pub side: ReceiveSide,
    /// Where it stands.
    pub stage: Stage,
    /// Bytes of the message.
    pub bytes: u32,
    /// An answer is due.
    pub answer: bool,
    arrived: RangeSet,
}

impl Incoming {
    /// Waits for a message of the buffer's length.
    pub fn new(name: FlowName, from: Station, buffer: Buffer, ticket: Ticket) -> Self {
        let mut side = ReceiveSide::new(0, name.flow);
        side.queue.add(buffer);
        Self {
            name,
            from,
            side,
            stage: Stage::Installing(ticket),
            bytes: buffer.bytes,
            answer: false,
            arrived: RangeSet::default(),
        }
    }

    /// A packet's payload is in place, or deferred.
    pub fn take(&mut self, position: u32, bytes: usize, deferred: Option<&[u8]>) {
        self.answer = true;
        let start = u64::from(position);
        let end = start + bytes as u64;
        if end > u64::from(self.bytes) {
            // Longer than the message was said to be: not ours.
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
