//! One connection of an observed TCP: what it was shown, and what speaks against a packet.

use super::expected::Expected;
use super::tuple::Tuple;
use super::window::OfferedWindow;
use crate::control::position::Positions;
use crate::headers::packet::TcpHeader;
use crate::protocol::{Doubt, Packet, PacketPayload, Verdict};
use crate::transport::StreamId;

/// How far beyond the offered window payload is kept, bytes: for the rounding of a window, and for
/// probes.
const BEYOND_WINDOW_BYTES_MAX: u64 = 64 << 10;

/// A connection. See the head of this file.
#[derive(Debug)]
pub(super) struct Flow {
    /// Its stream.
    pub stream: StreamId,
    /// Local and remote address.
    pub tuple: Tuple,
    /// Packets with its addresses are its own. They are another's once its TCP has given it up.
    pub has_addresses: bool,
    /// Its flow is installed.
    pub is_installed: bool,
    /// Which packets its TCP is expected to accept.
    pub expected: Expected,
    /// The window that its peer knows.
    pub window: OfferedWindow,
    /// Sequence number of the first byte received.
    pub receive_first: u32,
    /// Bytes drained.
    pub accepted: u64,
    /// Bytes that there is memory for.
    pub granted: u64,
    /// Sequence number of the first byte sent.
    pub send_first: u32,
    /// Bytes fed.
    pub fed: u64,
    /// Bytes that may be fed.
    pub offered: u64,
    /// Bytes that the peer has.
    pub acknowledged: u64,
    /// Something happened to it.
    pub is_touched: bool,
    /// It was reported as open.
    pub is_open: bool,
    /// The sending half ends when everything offered is fed.
    pub finish_asked: bool,
    /// The TCP was told the end of the sending half.
    pub finished: bool,
    /// The end of the receiving half was reported.
    pub end_seen: bool,
    /// The end of the connection, as it was reported: error number and bytes left to accept.
    pub ended: Option<(i32, u64)>,
}

impl Flow {
    /// A connection that opens.
    pub fn new(stream: StreamId, tuple: Tuple) -> Self {
        Self {
            stream,
            tuple,
            has_addresses: true,
            is_installed: false,
            expected: Expected::new(0, 0, None),
            window: OfferedWindow::default(),
            receive_first: 0,
            accepted: 0,
            granted: 0,
            send_first: 0,
            fed: 0,
            offered: 0,
            acknowledged: 0,
            is_touched: false,
            is_open: false,
            finish_asked: false,
            finished: false,
            end_seen: false,
            ended: None,
        }
    }

    /// Its flow is being installed; both initial sequence numbers are known.
    pub fn install(
        &mut self,
        (local, remote): (u32, u32),
        expected: Expected,
        window: OfferedWindow,
    ) {
        self.is_installed = true;
        self.send_first = local.wrapping_add(1);
        self.receive_first = remote.wrapping_add(1);
        self.expected = expected;
        self.window = window;
    }

    /// Sequence number up to which the peer has acknowledged, as far as the TCP has said.
    pub fn send_floor(&self) -> u32 {
        Positions { first: self.send_first }.of(self.acknowledged)
    }

    /// Stream offset of a sequence number near the accepted bytes; `None` before the stream's first
    /// byte.
    pub fn offset(&self, position: u32) -> Option<u64> {
        let positions = Positions { first: self.receive_first };
        positions.offset(position, self.accepted)
    }

    /// What becomes of a packet. Payload far beyond the window is not kept.
    pub fn judge(&self, parsed: &TcpHeader, packet: &Packet<'_>) -> Verdict {
        let bytes = packet.payload_bytes;
        let is_deferred = matches!(packet.payload, PacketPayload::Deferred(_));
        if is_deferred {
            let edge = self.window.edge().max(self.granted) + BEYOND_WINDOW_BYTES_MAX;
            if self.offset(parsed.sequence).is_some_and(|start| start >= edge) {
                return Verdict::Refused;
            }
        }
        let end = self.offset(parsed.sequence.wrapping_add(bytes));
        let is_beyond = bytes > 0 && end.is_some_and(|end| end > self.window.transport_edge());
        Verdict::Later(match is_beyond {
            true => Doubt::Foreign,
            false => self.find_doubt(parsed, packet),
        })
    }

    /// What speaks against a packet; against a run, what speaks against its first or its last.
    /// Those between say nothing that is before the first or behind the last.
    fn find_doubt(&self, parsed: &TcpHeader, packet: &Packet<'_>) -> Doubt {
        let floor = self.send_floor();
        let first = self.expected.find_doubt(parsed, floor);
        let last = packet.run.map(|run| self.expected.find_doubt(&run.last(parsed), floor));
        match (first, last) {
            (Doubt::None, Some(doubt)) | (doubt, None | Some(Doubt::None)) => doubt,
            (Doubt::Foreign, _) | (_, Some(Doubt::Foreign)) => Doubt::Foreign,
            (Doubt::Late, Some(Doubt::Late)) => Doubt::Late,
        }
    }

    /// What becomes of a packet that was sent to another station, which no TCP is shown.
    ///
    /// A bit of its link address may have changed behind the last frame check, as the TCP checksum
    /// does not cover it. The card has verified that checksum, the addresses and the numbers: its
    /// bytes are those of the stream. In another VLAN, the same addresses may be somebody else's.
    pub fn judge_misdirected(&self, parsed: &TcpHeader, packet: &Packet<'_>) -> Verdict {
        let is_in_vlans = self.expected.is_in_our_vlans(packet.header, parsed);
        match self.judge(parsed, packet) {
            Verdict::Later(Doubt::None | Doubt::Late) if is_in_vlans => Verdict::Ignored,
            _ => Verdict::Refused,
        }
    }

    /// A packet is shown to the TCP, or a run.
    pub fn note_received(&mut self, parsed: &TcpHeader, packet: &Packet<'_>, doubt: Doubt) {
        let payload_bytes = packet.payload_bytes;
        match (doubt, packet.run) {
            (Doubt::None, None) => self.expected.note_received(parsed, payload_bytes),
            (Doubt::None, Some(run)) => {
                self.expected.note_received(parsed, payload_bytes);
                self.expected.note_received(&run.last(parsed), run.last_bytes);
            }
            _ => {
                let floor = self.send_floor();
                self.expected.note_doubtful(parsed, payload_bytes, floor);
            }
        }
    }

    /// Notes an outgoing header of this connection and lowers its window to what is granted.
    pub fn note_sent(&mut self, bytes: &mut [u8], parsed: &TcpHeader, payload_bytes: u32) {
        self.expected.note_sent(bytes, parsed, payload_bytes);
        let acknowledged = self.offset(parsed.acknowledgement).unwrap_or(0);
        self.window.lower(bytes, parsed, payload_bytes, acknowledged, self.granted);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::connection::received_packet::EntryPacket;
    use crate::control::connection::Connection;
    use crate::control::flow::buffer::Buffer;
    use crate::control::flow::receive::ReceiveSide;
    use crate::control::flow::send::SendSide;
    use crate::control::regions::RegionName;
    use crate::headers::builder::{Route, Tcp};
    use crate::headers::layout::ACK;
    use crate::headers::packet::parse_tcp;
    use crate::records::commands::FlowName;
    use crate::records::ticket::Ticket;

    const NAME: FlowName = FlowName { flow: 1, generation: 1 };

    /// A header with its ACK number right, at a sequence number; the stream begins at 1000.
    fn header(sequence: u32) -> (Vec<u8>, TcpHeader) {
        let (from, to) = (([10, 0, 0, 1], 80).into(), ([10, 0, 0, 2], 81).into());
        let (acknowledgement, flags, window) = (1000, ACK, 50);
        let tcp = Tcp { sequence, acknowledgement, flags, window, options: &[] };
        let (bytes, _) = Route { macs: [[0; 6]; 2], from, to }.tcp(&tcp, 0);
        let parsed = parse_tcp(&bytes).unwrap();
        (bytes, parsed)
    }

    /// A connection with a buffer of 1000 bytes, whose TCP offers 50.
    struct Case {
        flow: Flow,
        connection: Connection,
    }

    impl Case {
        fn new(timestamp: Option<u32>) -> Self {
            let address = ([10, 0, 0, 1], 80).into();
            let mut flow = Flow::new(StreamId(1), (address, address));
            let expected = Expected::new(999, 999, timestamp);
            flow.install((999, 999), expected, OfferedWindow::default());
            flow.granted = 1000;
            let mut connection = Connection::new(NAME, (0, 0));
            let mut receive = ReceiveSide::new(1000, 1);
            receive.queue.add(Buffer {
                request: 1,
                region: RegionName { index: 1, key: 1 },
                known: None,
                offset: 0,
                bytes: 1000,
                partial: false,
                filled: 0,
            });
            let segment = receive.append(true).unwrap();
            receive.queue.note_appended(Ticket::new(0, 0), &segment);
            receive.confirm(|_| true);
            connection.receive = Some(receive);
            connection.send = Some(SendSide::new(1000, 1));
            let mut case = Self { flow, connection };
            case.note_sent(0);
            case
        }

        fn note_sent(&mut self, payload_bytes: u32) {
            let (mut bytes, parsed) = header(1000);
            self.flow.note_sent(&mut bytes, &parsed, payload_bytes);
        }

        /// As the provider and the protocol do. Returns whether the TCP was shown the packet.
        fn take(&mut self, parsed: &TcpHeader, mut packet: EntryPacket<'_>) -> bool {
            packet.received.position = parsed.sequence;
            if !self.connection.owns(&packet) {
                return false;
            }
            let Verdict::Later(doubt) = self.flow.judge(parsed, &packet.received) else {
                return false;
            };
            let is_kept = self.connection.keep(&packet.received, doubt);
            if is_kept {
                self.flow.note_received(parsed, &packet.received, doubt);
            }
            is_kept
        }

        fn receive(&mut self) -> &mut ReceiveSide {
            self.connection.receive.as_mut().unwrap()
        }
    }

    fn packet(payload: &[u8], placed: Option<FlowName>) -> EntryPacket<'_> {
        EntryPacket {
            received: Packet {
                header: &[],
                l4_offset: 0,
                position: 0,
                payload_bytes: payload.len() as u32,
                payload: match placed {
                    Some(_) => PacketPayload::Placed { trimmed_bytes: 0 },
                    None => PacketPayload::Deferred(payload),
                },
                arrived_ns: 0,
                run: None,
                has_room: true,
            },
            first: 0,
            flow: placed,
            hit: placed,
        }
    }

    fn placed_packet(payload: &[u8]) -> EntryPacket<'_> {
        packet(payload, Some(NAME))
    }

    /// Payload in application memory costs nothing; what is kept apart for it is bounded.
    #[test]
    fn payload_beyond_window_stays_where_placed() {
        let case = Case::new(None);
        let edge = case.flow.granted + BEYOND_WINDOW_BYTES_MAX;
        for (start, is_far) in [(0, false), (edge - 1, false), (edge, true), (edge + 1, true)] {
            let (_, parsed) = header(1000 + start as u32);
            let is_refused = |packet: EntryPacket<'_>| {
                let verdict = case.flow.judge(&parsed, &packet.received);
                matches!(verdict, Verdict::Refused)
            };
            assert_eq!(is_refused(packet(&[7; 10], None)), is_far, "{start}");
            assert!(!is_refused(placed_packet(&[7; 10])), "{start}");
        }
    }

    #[test]
    fn end_beyond_window_stands_as_taken() {
        let mut case = Case::new(None);
        let (_, first) = header(1000);
        assert!(case.take(&first, packet(&[0xee; 100], Some(NAME))));
        let (mut bytes, parsed) = header(1000);
        case.flow.window.lower(&mut bytes, &parsed, 0, 50, 1000);
        let (_, second) = header(1050);
        assert!(case.take(&second, packet(&[0x11; 50], None)));
        let receive = case.receive();
        let copies = receive.copies(100).unwrap();
        assert_eq!((copies.len(), copies[0].offset), (1, 50));
        assert_eq!(copies[0].bytes, [0x11; 50]);
    }

    #[test]
    fn only_this_flows_stream_bytes_are_kept() {
        let mut case = Case::new(None);
        let other = FlowName { generation: 0, ..NAME };
        let (_, first) = header(1000);
        assert!(!case.take(&first, packet(&[1; 10], Some(other))));
        let mut old = packet(&[1; 10], None);
        (old.received.payload, old.flow) = (PacketPayload::Nowhere, Some(other));
        assert!(!case.take(&first, old), "below another floor");
        let (_, before) = header(990);
        assert!(case.take(&before, packet(&[2; 20], None)));
        let receive = case.receive();
        assert_eq!(receive.copies(10).unwrap()[0].bytes, [2; 10]);
        assert_eq!(receive.copies(11), Err((10, 1)));
    }

    /// A header with a timestamp option, at a sequence number.
    fn stamped_header(sequence: u32, value: u32) -> TcpHeader {
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
    fn late_repetition_keeps_bytes_tcp_holds() {
        let mut case = Case::new(Some(10));
        assert!(case.take(&stamped_header(1030, 10), placed_packet(&[7; 20])));
        assert!(case.take(&stamped_header(1000, 20), placed_packet(&[5; 10])));
        assert!(case.take(&stamped_header(1030, 10), placed_packet(&[7; 20])));
        assert!(case.take(&stamped_header(1010, 21), placed_packet(&[6; 20])));
        let receive = case.receive();
        assert_eq!(receive.copies(50), Ok(Vec::new()));
    }

    /// The same with an ACK number that others have overtaken, of a TCP that takes none of those.
    #[test]
    fn old_ack_repetition_keeps_tcp_bytes() {
        let with_ack = |sequence: u32, acknowledgement: u32| {
            let (mut bytes, _) = header(sequence);
            bytes[14 + 20 + 8..14 + 20 + 12].copy_from_slice(&acknowledgement.to_be_bytes());
            parse_tcp(&bytes).unwrap()
        };
        let mut case = Case::new(None);
        case.note_sent(100);
        assert!(case.take(&with_ack(1030, 1000), placed_packet(&[7; 20])));
        assert!(case.take(&with_ack(1000, 1100), placed_packet(&[5; 10])));
        assert!(case.take(&with_ack(1030, 1000), placed_packet(&[7; 20])));
        assert!(case.take(&with_ack(1010, 1100), placed_packet(&[6; 20])));
        let receive = case.receive();
        assert_eq!(receive.copies(50), Ok(Vec::new()));
    }

    /// A packet that acknowledges what was never sent is nobody's repetition: what it overwrote
    /// counts as lost, so that no byte of it is ever announced.
    #[test]
    fn foreign_bytes_over_tcps_are_error() {
        let mut case = Case::new(None);
        let (_, first) = header(1010);
        assert!(case.take(&first, packet(&[7; 20], Some(NAME))));
        let mut forged = first;
        forged.acknowledgement = 1001;
        assert!(!case.take(&forged, packet(&[8; 20], Some(NAME))));
        let (_, start) = header(1000);
        assert!(case.take(&start, packet(&[5; 10], Some(NAME))));
        let receive = case.receive();
        assert_eq!(receive.copies(30), Err((10, 20)));
    }
}
