//! A received TCP packet: what the card did with its payload, and how a connection records it.
//!
//! ```text
//!   placed ─┬─ expected ─► landed            deferred ─┬─ expected ─► kept, within the budget
//!           ├─ late ─────► what landed stays           └─ doubtful ─► kept apart
//!           └─ foreign ──► what landed is lost
//! ```

use abi::header_entry;
use abi::reason::Disposition;

use super::expected::Doubt;
use super::Connection;
use crate::control::commands::FlowName;
use crate::control::flow::deferred::DEFERRED_BYTES_MAX;
use crate::control::packet::TcpHeader;
use crate::driver::rings::HeaderEntry;

/// How far beyond the offered window payload is kept, bytes: for the rounding of a window, and for
/// probes.
const BEYOND_WINDOW_BYTES_MAX: u64 = 64 << 10;

/// A packet, split.
pub(crate) struct Packet<'a> {
    /// From the Ethernet header to the end of the TCP header.
    pub(crate) header: &'a [u8],
    /// Length of its payload.
    pub(crate) payload_bytes: u64,
    /// The payload, if the card did not place it.
    pub(crate) deferred: Option<&'a [u8]>,
    /// If the card placed it: the bytes below the floor, which were not written.
    pub(crate) placed: Option<u64>,
    /// The flow in whose buffers it was placed, or below whose floor it was.
    pub(crate) flow: Option<FlowName>,
    /// The flow that the card found for it.
    pub(crate) hit: Option<FlowName>,
}

impl<'a> Packet<'a> {
    /// The packet of a header entry.
    pub(crate) fn placed_by(entry: &'a HeaderEntry, disposition: Option<Disposition>) -> Self {
        let get = |field: abi::field::Field| field.get(&entry.metadata);
        let is_placed = disposition.is_some_and(Disposition::is_placed);
        let name = FlowName {
            flow: get(header_entry::FLOW) as u16,
            generation: get(header_entry::GENERATION) as u8,
        };
        Self {
            payload_bytes: get(header_entry::PAYLOAD_BYTES),
            placed: is_placed.then(|| get(header_entry::TRIMMED_BYTES)),
            flow: (is_placed || disposition == Some(Disposition::Old)).then_some(name),
            hit: (name.flow != header_entry::FLOW_NONE).then_some(name),
            header: &entry.header,
            deferred: entry.deferred.as_deref(),
        }
    }
}

impl Connection {
    /// Records where the payload of a packet is. Returns false when it was not kept: the header
    /// must be withheld.
    pub(crate) fn keep_payload(&mut self, parsed: &TcpHeader, packet: &Packet<'_>) -> bool {
        let (Some(receive), Some(send)) = (&mut self.receive, &self.send) else {
            return false;
        };
        let floor = send.floor_position();
        let bytes = packet.payload_bytes;
        let end = receive.offset(parsed.sequence.wrapping_add(bytes as u32));
        let beyond = bytes > 0 && end.is_some_and(|end| end > self.window.transport_edge());
        let doubt = match beyond {
            true => Doubt::Foreign,
            false => self.expected.doubt(parsed, floor),
        };
        let doubtful = doubt != Doubt::None;
        let is_kept = match (packet.placed, packet.deferred) {
            // In the buffers, or below the floor, of an old flow with the same addresses.
            _ if packet.flow.is_some_and(|name| name != self.name) => false,
            (Some(trimmed), _) => {
                let first = parsed.sequence.wrapping_add(trimmed as u32);
                let bytes = bytes - trimmed;
                match (receive.offset(first), doubt) {
                    (None, _) => true,
                    (Some(start), Doubt::None) => receive.landed(start, bytes),
                    (Some(start), Doubt::Late) => receive.landed_late(start, bytes),
                    (Some(start), Doubt::Foreign) => receive.landed_in_doubt(start, bytes),
                }
            }
            (None, Some(payload)) if parsed.may_carry() => {
                let edge =
                    self.window.edge().max(receive.queue.confirmed_end()) + BEYOND_WINDOW_BYTES_MAX;
                match receive.in_stream(parsed.sequence, payload) {
                    Some((start, _)) if start >= edge => false,
                    Some((start, payload)) if doubtful => receive.defer_in_doubt(start, payload),
                    Some((start, payload)) => receive.defer(start, payload, DEFERRED_BYTES_MAX),
                    None => true,
                }
            }
            _ => true,
        };
        if is_kept && doubtful {
            self.expected.note_doubtful(parsed, bytes as u32, floor);
        } else if is_kept {
            self.expected.note_received(parsed, bytes as u32);
        }
        is_kept
    }

    /// Notes a packet whose header is withheld: it may have been placed over earlier payload.
    pub(crate) fn spoilt(&mut self, parsed: &TcpHeader, packet: &Packet<'_>) {
        let (Some(receive), Some(trimmed)) = (&mut self.receive, packet.placed) else {
            return;
        };
        let start = receive.offset(parsed.sequence.wrapping_add(trimmed as u32));
        if let (Some(start), true) = (start, packet.flow == Some(self.name)) {
            receive.spoilt(start, packet.payload_bytes - trimmed);
        }
    }

    /// Notes an outgoing header of this connection and lowers its window to what is posted.
    pub(crate) fn note_sent(&mut self, bytes: &mut [u8], parsed: &TcpHeader, payload_bytes: u32) {
        self.expected.note_sent(bytes, parsed, payload_bytes);
        if let Some(receive) = &self.receive {
            let acknowledged = receive.offset(parsed.acknowledgement).unwrap_or(0);
            let end = receive.queue.confirmed_end();
            self.window
                .lower(bytes, parsed, payload_bytes, acknowledged, end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::connection::expected::Expected;
    use crate::control::flow::buffer::Buffer;
    use crate::control::flow::receive::ReceiveSide;
    use crate::control::flow::send::SendSide;
    use crate::control::packet::parse_tcp;
    use crate::control::regions::RegionName;
    use crate::driver::ticket::Ticket;
    use crate::transport::StreamId;

    const NAME: FlowName = FlowName {
        flow: 1,
        generation: 1,
    };

    /// A header with its ACK number right, at a sequence number; the stream begins at 1000.
    fn header(sequence: u32) -> (Vec<u8>, TcpHeader) {
        let mut bytes = vec![0; 12];
        bytes.extend([8, 0, 0x45, 0, 0, 40, 0, 0, 0x40, 0, 64, 6, 0, 0]);
        bytes.extend([10, 0, 0, 1, 10, 0, 0, 2, 0, 80, 0, 81]);
        bytes.extend(sequence.to_be_bytes());
        bytes.extend(1000u32.to_be_bytes());
        bytes.extend([0x50, 0x10, 0, 50, 0, 0, 0, 0]);
        let parsed = parse_tcp(&bytes).unwrap();
        (bytes, parsed)
    }

    /// An installed connection with a buffer of 1000 bytes, whose TCP offers 50.
    fn connection() -> Connection {
        let address = ([10, 0, 0, 1], 80).into();
        let mut connection = Connection::new(StreamId(1), (address, address), NAME, (0, 0));
        let mut receive = ReceiveSide::new(1000, 1);
        receive.queue.add(Buffer {
            request: 1,
            region: RegionName { index: 1, key: 1 },
            known: None,
            offset: 0,
            bytes: 1000,
            partial: false,
        });
        receive.post(NAME, 1, |_| Ok(Ticket::new(0, 0))).unwrap();
        receive.confirm(|_| true);
        connection.receive = Some(receive);
        connection.send = Some(SendSide::new(1000, 1));
        connection.expected = Expected::new(999, 999, None);
        let (mut bytes, parsed) = header(1000);
        connection.note_sent(&mut bytes, &parsed, 0);
        connection
    }

    fn packet(payload: &[u8], placed: Option<FlowName>) -> Packet<'_> {
        Packet {
            header: &[],
            payload_bytes: payload.len() as u64,
            deferred: placed.is_none().then_some(payload),
            placed: placed.map(|_| 0),
            flow: placed,
            hit: placed,
        }
    }

    fn placed(payload: &[u8]) -> Packet<'_> {
        packet(payload, Some(NAME))
    }

    #[test]
    fn what_ends_beyond_the_window_stands_only_as_far_as_tcp_takes_it() {
        let mut connection = connection();
        let (_, first) = header(1000);
        assert!(connection.keep_payload(&first, &packet(&[0xee; 100], Some(NAME))));
        let (mut bytes, parsed) = header(1000);
        connection.window.lower(&mut bytes, &parsed, 0, 50, 1000);
        let (_, second) = header(1050);
        assert!(connection.keep_payload(&second, &packet(&[0x11; 50], None)));
        let receive = connection.receive.as_mut().unwrap();
        let copies = receive.copies(100).unwrap();
        assert_eq!((copies.len(), copies[0].offset), (1, 50));
        assert_eq!(copies[0].bytes, [0x11; 50]);
    }

    #[test]
    fn only_what_lies_in_the_stream_and_in_this_flow_is_kept() {
        let mut connection = connection();
        let other = FlowName {
            generation: 0,
            ..NAME
        };
        let (_, first) = header(1000);
        assert!(!connection.keep_payload(&first, &packet(&[1; 10], Some(other))));
        let mut old = packet(&[1; 10], None);
        (old.deferred, old.flow) = (None, Some(other));
        assert!(
            !connection.keep_payload(&first, &old),
            "below another floor"
        );
        let (_, before) = header(990);
        assert!(connection.keep_payload(&before, &packet(&[2; 20], None)));
        let receive = connection.receive.as_mut().unwrap();
        assert_eq!(receive.copies(10).unwrap()[0].bytes, [2; 10]);
        assert_eq!(receive.copies(11), Err((10, 1)));
    }

    /// A header with a timestamp option, at a sequence number.
    fn stamped(sequence: u32, value: u32) -> TcpHeader {
        let (mut bytes, _) = header(sequence);
        bytes[14 + 20 + 12] = 0x80;
        bytes[17] += 12;
        bytes.extend([1, 1, 8, 10]);
        bytes.extend(value.to_be_bytes());
        bytes.extend([0; 4]);
        parse_tcp(&bytes).unwrap()
    }

    /// A packet lands ahead, and TCP holds it out of order. One in order with a newer timestamp
    /// follows; then the first comes again, before the card has the newer timestamp floor.
    #[test]
    fn a_late_repetition_costs_no_bytes_that_tcp_holds() {
        let mut connection = connection();
        connection.expected = Expected::new(999, 999, Some(10));
        let (mut bytes, parsed) = header(1000);
        connection.note_sent(&mut bytes, &parsed, 0);
        assert!(connection.keep_payload(&stamped(1030, 10), &placed(&[7; 20])));
        assert!(connection.keep_payload(&stamped(1000, 20), &placed(&[5; 10])));
        assert!(connection.keep_payload(&stamped(1030, 10), &placed(&[7; 20])));
        assert!(connection.keep_payload(&stamped(1010, 21), &placed(&[6; 20])));
        let receive = connection.receive.as_mut().unwrap();
        assert_eq!(receive.copies(50), Ok(Vec::new()));
    }

    /// The same with an ACK number that others have overtaken, of a TCP that takes none of those.
    #[test]
    fn a_repetition_with_an_old_ack_costs_no_bytes_that_tcp_holds() {
        let with_ack = |sequence: u32, acknowledgement: u32| {
            let (mut bytes, _) = header(sequence);
            bytes[14 + 20 + 8..14 + 20 + 12].copy_from_slice(&acknowledgement.to_be_bytes());
            parse_tcp(&bytes).unwrap()
        };
        let mut connection = connection();
        let (mut bytes, parsed) = header(1000);
        connection.note_sent(&mut bytes, &parsed, 100);
        assert!(connection.keep_payload(&with_ack(1030, 1000), &placed(&[7; 20])));
        assert!(connection.keep_payload(&with_ack(1000, 1100), &placed(&[5; 10])));
        assert!(connection.keep_payload(&with_ack(1030, 1000), &placed(&[7; 20])));
        assert!(connection.keep_payload(&with_ack(1010, 1100), &placed(&[6; 20])));
        let receive = connection.receive.as_mut().unwrap();
        assert_eq!(receive.copies(50), Ok(Vec::new()));
    }

    /// A packet that acknowledges what was never sent is nobody's repetition: what it overwrote
    /// counts as lost, so that no byte of it is ever announced.
    #[test]
    fn a_foreign_packet_over_bytes_that_tcp_holds_ends_in_an_error() {
        let mut connection = connection();
        let (_, first) = header(1010);
        assert!(connection.keep_payload(&first, &packet(&[7; 20], Some(NAME))));
        let mut forged = first;
        forged.acknowledgement = 1001;
        assert!(!connection.keep_payload(&forged, &packet(&[8; 20], Some(NAME))));
        let (_, start) = header(1000);
        assert!(connection.keep_payload(&start, &packet(&[5; 10], Some(NAME))));
        let receive = connection.receive.as_mut().unwrap();
        assert_eq!(receive.copies(30), Err((10, 20)));
    }
}
