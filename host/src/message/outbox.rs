//! One message that is being sent.

use std::time::Duration;

use super::header::Station;
use super::inbox::Stage;
use crate::control::commands::FlowName;
use crate::control::flow::buffer::Buffer;
use crate::control::flow::send::SendSide;
use crate::driver::ticket::Ticket;

/// Limit of packets of a message in flight.
pub const WINDOW_PACKETS: u32 = 32;
/// Time without progress after which a message resumes from the acknowledged position.
pub const PATIENCE: Duration = Duration::from_millis(10);

/// A message that is being sent.
#[derive(Debug)]
pub struct Outgoing {
    /// Name of the flow.
    pub name: FlowName,
    /// Receiver of the message.
    pub to: Station,
    /// Send side of the flow, with one buffer.
    pub side: SendSide,
    /// Stage of the flow.
    pub stage: Stage,
    /// Bytes of the message.
    pub bytes: u32,
    next: u32,
    acknowledged: u32,
    heard: Duration,
}

impl Outgoing {
    /// Sends a buffer as one message.
    pub fn new(name: FlowName, to: Station, buffer: Buffer, ticket: Ticket) -> Self {
        let mut side = SendSide::new(0, name.flow);
        side.queue.add(buffer);
        Self {
            name,
            to,
            side,
            stage: Stage::Installing(ticket),
            bytes: buffer.bytes,
            next: 0,
            acknowledged: 0,
            heard: Duration::ZERO,
        }
    }

    /// The receiver has everything before `position`.
    pub fn acknowledge(&mut self, position: u32, now: Duration) {
        if position > self.acknowledged && position <= self.bytes {
            self.acknowledged = position;
            self.next = self.next.max(position);
            self.heard = now;
        }
    }

    /// Bytes not acknowledged.
    pub fn unacknowledged(&self) -> u32 {
        self.bytes - self.acknowledged
    }

    /// The next packet to send: its position and length.
    pub fn packet(&mut self, payload_bytes_max: u32, now: Duration) -> Option<(u32, u32)> {
        if self.next == 0 || now >= self.heard + PATIENCE {
            self.heard = now;
            self.next = self.acknowledged;
        }
        let window = WINDOW_PACKETS * payload_bytes_max;
        let end = self.bytes.min(self.acknowledged.saturating_add(window));
        let (position, bytes) = (self.next, end.saturating_sub(self.next));
        let bytes = bytes.min(payload_bytes_max);
        self.next += bytes;
        (bytes > 0).then_some((position, bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::regions::RegionName;

    #[test]
    fn packets_fill_the_window_and_come_again_when_nobody_answers() {
        let name = FlowName {
            flow: 1,
            generation: 1,
        };
        let to = Station {
            mac: [0; 6],
            address: ([10, 0, 0, 1], 7700).into(),
        };
        let buffer = Buffer {
            request: 0,
            region: RegionName { index: 0, key: 0 },
            known: None,
            offset: 0,
            bytes: 40_500,
            partial: false,
        };
        let mut message = Outgoing::new(name, to, buffer, Ticket(0));
        let start = Duration::from_secs(1);
        let burst = |message: &mut Outgoing, now| -> Vec<(u32, u32)> {
            std::iter::from_fn(|| message.packet(1000, now)).collect()
        };
        let first = burst(&mut message, start);
        assert_eq!((first.len(), first[31]), (32, (31_000, 1000)));
        message.acknowledge(5000, start);
        let more = burst(&mut message, start);
        assert_eq!(
            (more.len(), more[0], more[4]),
            (5, (32_000, 1000), (36_000, 1000))
        );
        assert_eq!(burst(&mut message, start + PATIENCE / 2), []);
        let again = burst(&mut message, start + PATIENCE);
        assert_eq!((again.len(), again[0]), (32, (5000, 1000)));
        // A stale acknowledgement, or one beyond the message, changes nothing.
        message.acknowledge(4000, start);
        message.acknowledge(50_000, start);
        assert_eq!(message.unacknowledged(), 35_500);
        message.acknowledge(40_000, start);
        assert_eq!(burst(&mut message, start), [(40_000, 500)]);
        message.acknowledge(40_500, start);
        assert_eq!(message.unacknowledged(), 0);
        assert_eq!(burst(&mut message, start + 2 * PATIENCE), []);
    }
}
