//! Predicts from the headers seen so far which packets a connection's TCP accepts.
//!
//! ```text
//!   outgoing headers ─► our link address, bytes sent, bytes acknowledged ───────┐
//!   incoming headers ─► newest timestamp and highest ACK number of the peer ────┴─► doubts
//! ```
//! The card places a packet before TCP has processed it. If TCP refuses that packet and accepts a
//! later one for the same bytes, the bytes of the later one must be valid. TCP does not report
//! which packets it refused, so its checks are repeated here. Where TCP implementations differ, or
//! the result does not follow from the headers, the strictest rule applies. A packet that fails is
//! doubtful: none of its bytes is lost, but its copy has the lowest priority
//! (`flow/valid_copies.rs`).
//!
//! A *late* packet fails only because others overtook it: its timestamp or its ACK number is older
//! than one that came before. If the card placed it, it passed the card's own floors, which follow
//! the newest by a command's latency. So the peer sent it less than half a sequence space ago, and
//! its bytes are those of the stream: it may repeat bytes that TCP holds, and costs none of them.
//!
//! Sources: RFC 9293, 3.10.7.4 (acceptance), RFC 7323, 4.3 and 5.3 (timestamps), RFC 5961, 5.2.

use crate::headers::layout::{is_after, ACK, FIN, RST, SYN};
use crate::headers::packet::{link_address, LinkAddress, TcpHeader};
use crate::protocol::Doubt;

/// Acceptance rules of one connection. See the head of this file.
#[derive(Clone, Debug)]
pub struct Expected {
    link: Option<LinkAddress>,
    /// Sequence number after the last byte sent.
    sent_end: u32,
    /// The last ACK number sent.
    acknowledged: u32,
    /// Newest timestamp of the peer, below which none may be, if both sides use timestamps.
    timestamp: Option<u32>,
    /// End of the next in-order packet that was doubtful for its timestamp alone, and that
    /// timestamp.
    late: Option<(u32, u32)>,
    /// Highest ACK number of the peer.
    peer_acknowledged: u32,
    /// Bytes that the peer has acknowledged in all.
    acknowledged_bytes: u32,
    /// Largest window field of the peer, a lower bound of its window.
    peer_window: u32,
    takes_old_acks: bool,
}

impl Expected {
    /// Rules after the SYNs with sequence numbers `local` and `remote` and, if both sides use
    /// timestamps, the peer's `timestamp`.
    pub fn new(local: u32, remote: u32, timestamp: Option<u32>) -> Self {
        Self {
            link: None,
            sent_end: local.wrapping_add(1),
            acknowledged: remote.wrapping_add(1),
            timestamp,
            late: None,
            peer_acknowledged: local.wrapping_add(1),
            acknowledged_bytes: 0,
            peer_window: 0,
            takes_old_acks: false,
        }
    }

    /// Sets this end's link address, if the SYN has shown it.
    pub fn at(self, link: Option<LinkAddress>) -> Self {
        Self { link, ..self }
    }

    /// Sets whether TCP accepts payload with old ACK numbers
    /// ([`crate::transport::Transport::takes_old_acks`]).
    pub fn with_old_acks(self, takes_old_acks: bool) -> Self {
        Self { takes_old_acks, ..self }
    }

    /// Notes an outgoing header with `payload_bytes` bytes of payload.
    pub fn note_sent(&mut self, packet: &[u8], parsed: &TcpHeader, payload_bytes: u32) {
        if parsed.flags & RST != 0 {
            return;
        }
        self.link = Some(link_address(packet, parsed, 6));
        let flags = u32::from(parsed.flags & FIN != 0) + u32::from(parsed.flags & SYN != 0);
        let end = parsed.sequence.wrapping_add(payload_bytes).wrapping_add(flags);
        if is_after(end, self.sent_end) {
            self.sent_end = end;
        }
        if parsed.flags & ACK != 0 && is_after(parsed.acknowledgement, self.acknowledged) {
            self.acknowledged = parsed.acknowledgement;
            let taken = |(end, _): &(u32, u32)| !is_after(*end, self.acknowledged);
            if let Some((_, value)) = self.late.filter(taken) {
                // TCP accepted the packet after all: no other packet arrived that explains the ACK.
                self.timestamp = Some(value);
                self.late = None;
            }
        }
    }

    /// Whether a packet was sent to this end's own link address and VLANs. Others are never shown
    /// to TCP.
    pub fn is_for_us(&self, packet: &[u8], parsed: &TcpHeader) -> bool {
        let to = link_address(packet, parsed, 0);
        self.link.as_ref().is_none_or(|link| *link == to)
    }

    /// Whether a packet was sent in the VLANs of this end.
    pub fn is_in_our_vlans(&self, packet: &[u8], parsed: &TcpHeader) -> bool {
        let to = link_address(packet, parsed, 0);
        self.link.as_ref().is_none_or(|link| link.vlans == to.vlans)
    }

    /// What speaks against the payload of a packet; `send_floor` is acknowledged.
    pub fn find_doubt(&self, parsed: &TcpHeader, send_floor: u32) -> Doubt {
        match self.doubt_of_numbers(parsed, send_floor) {
            Doubt::None if self.is_old(parsed) => Doubt::Late,
            doubt => doubt,
        }
    }

    /// RFC 5961 accepts ACK numbers below the acknowledged one, by at most a window and at most all
    /// bytes ever acknowledged. Other TCPs accept none.
    fn doubt_of_numbers(&self, parsed: &TcpHeader, send_floor: u32) -> Doubt {
        let acknowledged = match is_after(send_floor, self.peer_acknowledged) {
            true => send_floor,
            false => self.peer_acknowledged,
        };
        let lowest = acknowledged.wrapping_sub(self.old_ack_bytes());
        if !parsed.may_carry() || is_after(parsed.acknowledgement, self.sent_end) {
            Doubt::Foreign
        } else if is_after(lowest, parsed.acknowledgement) {
            Doubt::Late
        } else {
            Doubt::None
        }
    }

    fn old_ack_bytes(&self) -> u32 {
        match self.takes_old_acks {
            true => self.peer_window.min(self.acknowledged_bytes),
            false => 0,
        }
    }

    /// Lowest ACK number with which the card may place a packet. A late packet that TCP probably
    /// refuses must not overwrite placed bytes.
    pub fn ack_low(&self, send_floor: u32) -> u32 {
        send_floor.wrapping_sub(self.old_ack_bytes())
    }

    /// Whether the timestamp is older than the newest by more than one tick, the precision of the
    /// peer's clock. A newest timestamp of 0 counts as none: some peers start their clock after the
    /// SYN.
    fn is_old(&self, parsed: &TcpHeader) -> bool {
        match (self.timestamp, parsed.timestamp) {
            (Some(0), _) => false,
            (Some(newest), Some((value, _))) => is_after(newest.wrapping_sub(1), value),
            _ => false,
        }
    }

    /// Notes a packet without doubt that is delivered to TCP. Its timestamp counts if the packet
    /// spans the last acknowledged position.
    pub fn note_received(&mut self, parsed: &TcpHeader, payload_bytes: u32) {
        self.peer_window = self.peer_window.max(parsed.window.into());
        if is_after(parsed.acknowledgement, self.peer_acknowledged) {
            let more = parsed.acknowledgement.wrapping_sub(self.peer_acknowledged);
            self.acknowledged_bytes = self.acknowledged_bytes.saturating_add(more);
            self.peer_acknowledged = parsed.acknowledgement;
        }
        if payload_bytes > 0 {
            self.late = None;
        }
        let spans = self.spans(parsed, payload_bytes);
        if let (Some(newest), Some((value, _)), true) = (self.timestamp, parsed.timestamp, spans) {
            if newest == 0 || is_after(value, newest) {
                self.timestamp = Some(value);
            }
        }
    }

    /// Notes a doubtful packet that is delivered to TCP, which may still accept it: after weeks of
    /// silence the timestamp of a peer looks old (RFC 7323, 5.5).
    pub fn note_doubtful(&mut self, parsed: &TcpHeader, payload_bytes: u32, send_floor: u32) {
        if payload_bytes == 0 {
            return;
        }
        let end = parsed.sequence.wrapping_add(payload_bytes);
        let is_next = self.spans(parsed, payload_bytes) && is_after(end, self.acknowledged);
        let is_late = is_next && self.timestamp.is_some();
        let value = parsed.timestamp.map(|(value, _)| (end, value));
        self.late =
            value.filter(|_| is_late && self.doubt_of_numbers(parsed, send_floor) == Doubt::None);
    }

    /// Whether a packet begins at or before the last acknowledged position and does not end before
    /// it.
    fn spans(&self, parsed: &TcpHeader, payload_bytes: u32) -> bool {
        let end = parsed.sequence.wrapping_add(payload_bytes);
        !is_after(parsed.sequence, self.acknowledged) && !is_after(self.acknowledged, end)
    }

    /// Newest timestamp of the peer, below which none may be, if both sides use timestamps.
    pub fn timestamp(&self) -> Option<u32> {
        self.timestamp
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::headers::builder::{Route, Tcp};
    use crate::headers::packet::parse_tcp;

    const LOCAL: u32 = u32::MAX - 1;
    const REMOTE: u32 = 0x1000;

    /// A header from `mac` with VLAN `tags`, ACK set, timestamp `value`.
    fn header(
        tags: &[u16],
        sequence: u32,
        acknowledgement: u32,
        value: u32,
    ) -> (Vec<u8>, TcpHeader) {
        let (from, to) = (([10, 0, 0, 2], 80).into(), ([10, 0, 0, 1], 81).into());
        let route = Route { macs: [[2, 0, 0, 0, 0, 1]; 2], from, to };
        let mut options = [1, 1, 8, 10, 0, 0, 0, 0, 0, 0, 0, 0];
        options[4..8].copy_from_slice(&value.to_be_bytes());
        let (flags, window, options) = (ACK, 0, &options[..]);
        let tcp = Tcp { sequence, acknowledgement, flags, window, options };
        let (mut bytes, _) = route.tcp(&tcp, 0);
        let tag = |vlan: &u16| [[0x81, 0], vlan.to_be_bytes()].concat();
        bytes.splice(12..12, tags.iter().flat_map(tag));
        let parsed = parse_tcp(&bytes).unwrap();
        (bytes, parsed)
    }

    fn doubts(expected: &Expected, acknowledgement: u32, value: u32) -> bool {
        let (_, parsed) = header(&[], REMOTE + 1, acknowledgement, value);
        expected.find_doubt(&parsed, LOCAL.wrapping_add(1)) != Doubt::None
    }

    #[test]
    fn acks_of_unsent_bytes_are_doubted() {
        let mut expected = Expected::new(LOCAL, REMOTE, None);
        assert!(!doubts(&expected, LOCAL.wrapping_add(1), 0));
        assert!(doubts(&expected, LOCAL.wrapping_add(2), 0));
        assert!(doubts(&expected, LOCAL, 0));
        let (bytes, parsed) = header(&[], LOCAL.wrapping_add(1), REMOTE + 1, 0);
        expected.note_sent(&bytes, &parsed, 100);
        assert!(!doubts(&expected, LOCAL.wrapping_add(101), 0));
        assert!(doubts(&expected, LOCAL.wrapping_add(102), 0));
        let of = |acknowledgement| {
            expected.find_doubt(&header(&[], 0, acknowledgement, 0).1, LOCAL.wrapping_add(1))
        };
        assert_eq!(of(LOCAL.wrapping_add(102)), Doubt::Foreign, "of what was never sent");
        assert_eq!(of(LOCAL), Doubt::Late);
    }

    #[test]
    fn timestamp_counts_with_next_byte_only() {
        let mut expected = Expected::new(LOCAL, REMOTE, Some(u32::MAX - 10));
        let next = LOCAL.wrapping_add(1);
        assert!(!doubts(&expected, next, u32::MAX - 11), "within a tick");
        assert!(doubts(&expected, next, u32::MAX - 12));
        // Ahead of what is acknowledged, then at it.
        for (sequence, newest) in [(REMOTE + 2, u32::MAX - 10), (REMOTE + 1, 5)] {
            let (_, parsed) = header(&[], sequence, next, 5);
            expected.note_received(&parsed, 10);
            assert_eq!(expected.timestamp(), Some(newest));
        }
        assert!(doubts(&expected, next, 3));
        assert!(!doubts(&expected, next, 5));
        let without = Expected::new(LOCAL, REMOTE, None);
        assert_eq!(without.find_doubt(&header(&[], 0, next, 4).1, next), Doubt::None);
    }

    /// TCP accepts old ACK numbers only as far as anything was acknowledged, or none at all.
    #[test]
    fn acks_below_acknowledged_are_doubted() {
        let first = LOCAL.wrapping_add(1);
        for takes in [false, true] {
            let mut expected = Expected::new(LOCAL, REMOTE, None).with_old_acks(takes);
            assert!(doubts(&expected, LOCAL, 0));
            let (bytes, parsed) = header(&[], first, REMOTE + 1, 0);
            expected.note_sent(&bytes, &parsed, 1000);
            let (_, mut parsed) = header(&[], REMOTE + 1, first.wrapping_add(600), 0);
            parsed.window = 100;
            expected.note_received(&parsed, 0);
            assert!(doubts(&expected, first.wrapping_add(499), 0));
            assert_eq!(doubts(&expected, first.wrapping_add(599), 0), !takes);
            assert!(!doubts(&expected, first.wrapping_add(600), 0));
        }
    }

    /// TSval 0 in the SYN, then any value; and a jump backwards that TCP accepts.
    #[test]
    fn a_timestamp_that_tcp_takes_counts() {
        let next = LOCAL.wrapping_add(1);
        let mut expected = Expected::new(LOCAL, REMOTE, Some(0));
        assert!(!doubts(&expected, next, 0x9000_0000));
        let packet = |sequence, value| header(&[], sequence, next, value).1;
        expected.note_received(&packet(REMOTE + 1, 0x9000_0000), 10);
        assert_eq!(expected.timestamp(), Some(0x9000_0000));
        for (good_one_comes, timestamp) in [(true, 0x9000_0000), (false, 7)] {
            let acknowledged = expected.acknowledged;
            let late = packet(acknowledged, 0x8000_0000 | timestamp & 0xff);
            expected.note_doubtful(&late, 10, next);
            if good_one_comes {
                expected.note_received(&packet(acknowledged, 0x9000_0000), 10);
            }
            let (bytes, ours) = header(&[], next, acknowledged + 10, 0);
            expected.note_sent(&bytes, &ours, 0);
            let expected_now = if good_one_comes { timestamp } else { 0x8000_0007 };
            assert_eq!(expected.timestamp(), Some(expected_now));
        }
    }

    /// A late repetition of what TCP has: the ACK that follows is not of it.
    #[test]
    fn doubtful_repetition_explains_no_ack() {
        let next = LOCAL.wrapping_add(1);
        for (ends_beyond, timestamp) in [(0, 1000), (1, 7)] {
            let mut expected = Expected::new(LOCAL, REMOTE, Some(1000));
            let acknowledged = expected.acknowledged;
            let sequence = acknowledged.wrapping_sub(10) + ends_beyond;
            expected.note_doubtful(&header(&[], sequence, next, 7).1, 10, next);
            let (bytes, ours) = header(&[], next, acknowledged + 20, 0);
            expected.note_sent(&bytes, &ours, 0);
            assert_eq!(expected.timestamp(), Some(timestamp), "{ends_beyond} beyond");
        }
    }

    #[test]
    fn foreign_station_or_vlan_is_not_ours() {
        let (bytes, parsed) = header(&[7], LOCAL.wrapping_add(1), REMOTE + 1, 0);
        let mut expected = Expected::new(LOCAL, REMOTE, None);
        assert!(expected.is_for_us(&bytes, &parsed), "nothing is known");
        expected.note_sent(&bytes, &parsed, 0);
        // The priority is no part of the address, and a tag of VLAN 0 carries only a priority.
        for (tags, ours) in
            [(&[0xe007][..], true), (&[0xe000, 7][..], true), (&[8][..], false), (&[][..], false)]
        {
            let (bytes, parsed) = header(tags, 0, 0, 0);
            assert_eq!(expected.is_for_us(&bytes, &parsed), ours, "{tags:x?}");
        }
        let (mut bytes, parsed) = header(&[7], 0, 0, 0);
        bytes[5] = 9;
        assert!(!expected.is_for_us(&bytes, &parsed));
        // An identifier has 12 bits.
        let (bytes, parsed) = header(&[0x1a7], LOCAL.wrapping_add(1), REMOTE + 1, 0);
        let mut expected = Expected::new(LOCAL, REMOTE, None);
        expected.note_sent(&bytes, &parsed, 0);
        for (tag, ours) in [(0x01a7, true), (0x00a7, false), (0x09a7, false), (0xf1a7, true)] {
            let (bytes, parsed) = header(&[tag], 0, 0, 0);
            assert_eq!(expected.is_for_us(&bytes, &parsed), ours, "{tag:x}");
        }
    }
}
