//! One message that is being received.

use super::header::Station;
use crate::control::flow::ranges::RangeSet;
use crate::protocol::{Packet, PacketPayload, Verdict};

/// Blocks in an acknowledgement.
const BLOCKS_MAX: usize = 12;

/// The blocks of an acknowledgement.
pub fn read_blocks(content: &[u8]) -> Vec<(u32, u32)> {
    let word = |at: &[u8]| u32::from_be_bytes([at[0], at[1], at[2], at[3]]);
    let blocks = content.chunks_exact(8).take(BLOCKS_MAX);
    blocks.map(|block| (word(block), word(&block[4..]))).collect()
}

/// A message that is expected.
#[derive(Debug)]
pub struct Incoming {
    /// Sender of the message.
    pub from: Station,
    /// Number of the message.
    pub message: u64,
    /// Bytes of its buffer; the message may be shorter.
    pub bytes_max: u32,
    /// An acknowledgement is due.
    pub acknowledgement_due: bool,
    /// Bytes of the message, once a packet of it has said so.
    bytes: Option<u32>,
    arrived: RangeSet,
}

impl Incoming {
    /// Expects a message of up to `bytes_max` bytes.
    pub fn new(from: Station, message: u64, bytes_max: u32) -> Self {
        Self {
            from,
            message,
            bytes_max,
            acknowledgement_due: false,
            bytes: None,
            arrived: RangeSet::default(),
        }
    }

    /// Bytes of the message, or the most that they may be.
    pub fn bytes(&self) -> u32 {
        self.bytes.unwrap_or(self.bytes_max)
    }

    /// Judges the payload of a packet that says how long its message is. Packets come in any order;
    /// those of a message that does not fit, or that is of another length than before, are not of
    /// it. Payload that is nowhere was dropped, unless it had arrived before.
    pub fn take(&mut self, bytes: u32, packet: &Packet<'_>) -> Verdict {
        if bytes > self.bytes() || self.bytes.is_some_and(|known| known != bytes) {
            return Verdict::Refused;
        }
        self.acknowledgement_due = true;
        let start = u64::from(packet.position);
        let end = start + u64::from(packet.payload_bytes);
        let is_known = self.arrived.held_to(start, end) == end;
        let is_lost = packet.payload == PacketPayload::Nowhere && !is_known;
        if end > u64::from(bytes) || is_lost || !packet.has_room {
            return Verdict::Refused;
        }
        self.bytes = Some(bytes);
        self.arrived.insert(start, end);
        Verdict::Taken { accepted_to: self.complete_to().into() }
    }

    /// Everything before this position has arrived.
    pub fn complete_to(&self) -> u32 {
        self.arrived.held_to(0, self.bytes().into()) as u32
    }

    /// What has arrived beyond that, as an acknowledgement says it: its first and its last blocks.
    pub fn blocks(&self) -> Vec<u8> {
        let from = self.complete_to();
        let all = self.arrived.parts(u64::from(from) + 1, self.bytes().into());
        let skipped = all.len().saturating_sub(BLOCKS_MAX);
        let kept = all.iter().enumerate().filter(|(at, _)| *at == 0 || *at > skipped);
        let kept = kept.map(|(_, block)| block);
        kept.flat_map(|&(from, to)| [from as u32, to as u32]).flat_map(u32::to_be_bytes).collect()
    }

    /// Whether all of the message has arrived.
    pub fn is_complete(&self) -> bool {
        self.bytes.is_some_and(|bytes| self.complete_to() == bytes)
    }

    /// Whether all of it has arrived, and it is shorter than its buffer.
    pub fn ends_early(&self) -> bool {
        self.is_complete() && self.bytes() < self.bytes_max
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(position: u32, payload_bytes: u32, payload: PacketPayload<'_>) -> Packet<'_> {
        Packet {
            header: &[],
            l4_offset: 0,
            position,
            payload_bytes,
            payload,
            arrived_ns: 0,
            run: None,
            has_room: true,
        }
    }

    const PLACED: PacketPayload<'_> = PacketPayload::Placed { trimmed_bytes: 0 };

    #[test]
    fn kept_bytes_count_in_any_order() {
        let from = Station { mac: [0; 6], address: ([10, 0, 0, 1], 7700).into() };
        let mut message = Incoming::new(from, 1, 3000);
        let taken = |accepted_to| Verdict::Taken { accepted_to };
        assert_eq!(message.take(3000, &packet(1000, 1000, PLACED)), taken(0));
        let longer = packet(2000, 1001, PLACED);
        assert_eq!(message.take(3000, &longer), Verdict::Refused);
        let lost = packet(0, 1000, PacketPayload::Nowhere);
        assert_eq!(message.take(3000, &lost), Verdict::Refused);
        let mut full = packet(0, 1000, PacketPayload::Deferred(&[]));
        full.has_room = false;
        assert_eq!(message.take(3000, &full), Verdict::Refused);
        assert_eq!(message.complete_to(), 0);
        assert_eq!(message.take(3000, &packet(0, 1000, PLACED)), taken(2000));
        let old = packet(0, 1000, PacketPayload::Nowhere);
        assert_eq!(message.take(3000, &old), taken(2000), "it has arrived before");
        assert_eq!(message.take(3000, &packet(2000, 1000, PLACED)), taken(3000));
        assert!(message.is_complete() && !message.ends_early());
    }

    #[test]
    fn shorter_message_ends_early() {
        let from = Station { mac: [0; 6], address: ([10, 0, 0, 1], 7700).into() };
        let mut message = Incoming::new(from, 1, 3000);
        let first = packet(0, 1000, PLACED);
        assert_eq!(message.take(3001, &first), Verdict::Refused, "longer than its buffer");
        assert_eq!(message.bytes(), 3000);
        assert_eq!(message.take(1500, &first), Verdict::Taken { accepted_to: 1000 });
        assert_eq!(message.take(1501, &packet(1000, 500, PLACED)), Verdict::Refused);
        assert!(!message.is_complete());
        message.take(1500, &packet(1000, 500, PLACED));
        assert!(message.ends_early());
        assert_eq!((message.bytes(), message.complete_to()), (1500, 1500));
    }
}
