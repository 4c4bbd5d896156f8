//! One message that is being received.

use super::header::Station;
use crate::control::flow::ranges::RangeSet;
use crate::protocol::{Segment, SegmentPayload, Verdict};

/// A message that is expected.
#[derive(Debug)]
pub struct Incoming {
    /// Sender of the message.
    pub from: Station,
    /// Number of the message.
    pub message: u64,
    /// Bytes of the message.
    pub bytes: u32,
    /// An acknowledgement is due.
    pub acknowledgement_due: bool,
    arrived: RangeSet,
}

impl Incoming {
    /// Expects a message of `bytes` bytes.
    pub fn new(from: Station, message: u64, bytes: u32) -> Self {
        Self { from, message, bytes, acknowledgement_due: false, arrived: RangeSet::default() }
    }

    /// Judges the payload of a packet. Packets come in any order; those that are longer than the
    /// message are not of it. Payload that is nowhere was dropped, unless it had arrived before.
    pub fn take(&mut self, segment: &Segment<'_>) -> Verdict {
        self.acknowledgement_due = true;
        let start = u64::from(segment.position);
        let end = start + u64::from(segment.payload_bytes);
        let is_known = self.arrived.held_to(start, end) == end;
        let is_lost = segment.payload == SegmentPayload::Nowhere && !is_known;
        if end > u64::from(self.bytes) || is_lost || !segment.has_room {
            return Verdict::Refused;
        }
        self.arrived.insert(start, end);
        Verdict::Taken { accepted_to: self.complete_to().into() }
    }

    /// Everything before this position has arrived.
    pub fn complete_to(&self) -> u32 {
        self.arrived.held_to(0, self.bytes.into()) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(position: u32, payload_bytes: u32, payload: SegmentPayload<'_>) -> Segment<'_> {
        Segment {
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

    const PLACED: SegmentPayload<'_> = SegmentPayload::Placed { trimmed_bytes: 0 };

    #[test]
    fn kept_bytes_count_in_any_order() {
        let from = Station { mac: [0; 6], address: ([10, 0, 0, 1], 7700).into() };
        let mut message = Incoming::new(from, 1, 3000);
        let taken = |accepted_to| Verdict::Taken { accepted_to };
        assert_eq!(message.take(&segment(1000, 1000, PLACED)), taken(0));
        let longer = segment(2000, 1001, PLACED);
        assert_eq!(message.take(&longer), Verdict::Refused);
        let lost = segment(0, 1000, SegmentPayload::Nowhere);
        assert_eq!(message.take(&lost), Verdict::Refused);
        let mut full = segment(0, 1000, SegmentPayload::Deferred(&[]));
        full.has_room = false;
        assert_eq!(message.take(&full), Verdict::Refused);
        assert_eq!(message.complete_to(), 0);
        assert_eq!(message.take(&segment(0, 1000, PLACED)), taken(2000));
        let old = segment(0, 1000, SegmentPayload::Nowhere);
        assert_eq!(message.take(&old), taken(2000), "it has arrived before");
        assert_eq!(message.take(&segment(2000, 1000, PLACED)), taken(3000));
    }
}
