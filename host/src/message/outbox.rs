//! One message that is being sent.

use std::time::Duration;

use super::header::Station;

/// Limit of packets of a message in flight.
pub const WINDOW_PACKETS: u32 = 32;
/// Time without progress after which a message resumes from the acknowledged position.
pub const PATIENCE: Duration = Duration::from_millis(10);
const PATIENCE_NS: u64 = PATIENCE.as_nanos() as u64;

/// A message that is being sent.
#[derive(Debug)]
pub struct Outgoing {
    /// Receiver of the message.
    pub to: Station,
    /// Number of the message.
    pub message: u64,
    /// Bytes of the message.
    pub bytes: u32,
    /// Most payload of its packets.
    pub payload_bytes_max: u32,
    /// All of it may be sent.
    pub is_offered: bool,
    next: u32,
    acknowledged: u32,
    heard_ns: u64,
}

impl Outgoing {
    /// Sends a message of `bytes` bytes.
    pub fn new(to: Station, message: u64, bytes: u32, payload_bytes_max: u32) -> Self {
        Self {
            to,
            message,
            bytes,
            payload_bytes_max,
            is_offered: false,
            next: 0,
            acknowledged: 0,
            heard_ns: 0,
        }
    }

    /// The receiver has everything before `position`.
    pub fn acknowledge(&mut self, position: u32, now_ns: u64) {
        if position > self.acknowledged && position <= self.bytes {
            self.acknowledged = position;
            self.next = self.next.max(position);
            self.heard_ns = now_ns;
        }
    }

    /// Bytes that the receiver has.
    pub fn acknowledged_bytes(&self) -> u32 {
        self.acknowledged
    }

    /// When packets are sent again, if nobody answers.
    pub fn deadline_ns(&self) -> Option<u64> {
        let is_open = self.is_offered && self.acknowledged < self.bytes;
        is_open.then(|| self.heard_ns + PATIENCE_NS)
    }

    /// The next packet to send: its position and length.
    pub fn packet(&mut self, now_ns: u64) -> Option<(u32, u32)> {
        if self.next == 0 || now_ns >= self.heard_ns + PATIENCE_NS {
            self.heard_ns = now_ns;
            self.next = self.acknowledged;
        }
        let window = WINDOW_PACKETS * self.payload_bytes_max;
        let end = self.bytes.min(self.acknowledged.saturating_add(window));
        let (position, bytes) = (self.next, end.saturating_sub(self.next));
        let bytes = bytes.min(self.payload_bytes_max);
        self.next += bytes;
        (bytes > 0).then_some((position, bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_fill_window_and_are_repeated() {
        let to = Station { mac: [0; 6], address: ([10, 0, 0, 1], 7700).into() };
        let mut message = Outgoing::new(to, 1, 40_500, 1000);
        let start = 1_000_000_000;
        let burst = |message: &mut Outgoing, now_ns| -> Vec<(u32, u32)> {
            std::iter::from_fn(|| message.packet(now_ns)).collect()
        };
        let first = burst(&mut message, start);
        assert_eq!((first.len(), first[31]), (32, (31_000, 1000)));
        message.acknowledge(5000, start);
        let more = burst(&mut message, start);
        assert_eq!((more.len(), more[0], more[4]), (5, (32_000, 1000), (36_000, 1000)));
        assert_eq!(burst(&mut message, start + PATIENCE_NS / 2), []);
        let again = burst(&mut message, start + PATIENCE_NS);
        assert_eq!((again.len(), again[0]), (32, (5000, 1000)));
        // A stale acknowledgement, or one beyond the message, changes nothing.
        message.acknowledge(4000, start);
        message.acknowledge(50_000, start);
        assert_eq!(message.acknowledged_bytes(), 5000);
        message.acknowledge(40_000, start);
        assert_eq!(burst(&mut message, start), [(40_000, 500)]);
        message.acknowledge(40_500, start);
        assert_eq!(message.acknowledged_bytes(), 40_500);
        assert_eq!(burst(&mut message, start + 2 * PATIENCE_NS), []);
    }
}
