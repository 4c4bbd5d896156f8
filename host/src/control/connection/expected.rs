//! What a connection's TCP will hardly accept, told from the headers that passed.
//!
//! ```text
//!   outgoing headers ─► our link address, what was sent, what was acknowledged ─┐
//!   incoming headers ─► the peer's newest timestamp, its highest ACK number ────┴─► doubts
//! ```
//! The card places a packet before TCP has looked at it. Where TCP refuses the packet and takes a
//! later one with the same bytes, the later one's must stand. TCP does not say which packet it
//! refused, so the same questions are asked here. Where TCPs differ, or the answer is not in the
//! headers, the strictest one is asked: a doubtful packet loses no byte, it only stands last
//! ([`super::standing`]).
//!
//! Sources: RFC 9293, 3.10.7.4 (acceptance), RFC 7323, 4.3 and 5.3 (timestamps), RFC 5961, 5.2.

use crate::control::packet::{link_address, LinkAddress, TcpHeader};
use crate::transport::header::{is_after, ACK, FIN, RST, SYN};

/// What is expected of a connection's packets. See the module's head.
#[derive(Clone, Debug)]
pub struct Expected {
    link: Option<LinkAddress>,
    /// Sequence number behind all that was sent.
    sent_end: u32,
    /// The last ACK number sent.
    acknowledged: u32,
    /// The peer's timestamp that none may be older than, where both sides use them.
    timestamp: Option<u32>,
    /// Where the next packet ended that was doubted for its timestamp alone, and that timestamp.
    late: Option<(u32, u32)>,
    /// The highest ACK number of the peer, and how much of ours it has acknowledged.
    peer_acknowledged: u32,
    acknowledged_bytes: u32,
    /// The largest window field of the peer: its window at least.
    peer_window: u32,
    takes_old_acks: bool,
}

impl Expected {
    /// After the SYNs, which said the sequence numbers `local` and `remote` and, where both agreed
    /// on timestamps, the peer's `timestamp`.
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

    /// The same, when the SYN told this end's link address.
    pub fn at(self, link: Option<LinkAddress>) -> Self {
        Self { link, ..self }
    }

    /// The same, for a TCP that does or does not take payload with old ACK numbers
    /// ([`crate::transport::Transport::takes_old_acks`]).
    pub fn with_old_acks(self, takes_old_acks: bool) -> Self {
        Self {
            takes_old_acks,
            ..self
        }
    }

    /// A header goes out with `payload_bytes`.
    pub fn note_sent(&mut self, packet: &[u8], parsed: &TcpHeader, payload_bytes: u32) {
        if parsed.flags & RST != 0 {
            return;
        }
        self.link = Some(link_address(packet, parsed, 6));
        let flags = u32::from(parsed.flags & FIN != 0) + u32::from(parsed.flags & SYN != 0);
        let end = parsed
            .sequence
            .wrapping_add(payload_bytes)
            .wrapping_add(flags);
        if is_after(end, self.sent_end) {
            self.sent_end = end;
        }
        if parsed.flags & ACK != 0 && is_after(parsed.acknowledgement, self.acknowledged) {
            self.acknowledged = parsed.acknowledgement;
            let taken = |(end, _): &(u32, u32)| !is_after(*end, self.acknowledged);
            if let Some((_, value)) = self.late.filter(taken) {
                // TCP took the packet after all: nothing else came that it could have taken.
                self.timestamp = Some(value);
                self.late = None;
            }
        }
    }

    /// Whether a packet came to this end's own link address, in its own VLANs. TCP never sees
    /// another one.
    pub fn is_for_us(&self, packet: &[u8], parsed: &TcpHeader) -> bool {
        let to = link_address(packet, parsed, 0);
        self.link.as_ref().is_none_or(|link| *link == to)
    }

    /// Whether TCP will hardly take payload from a packet; `send_floor` is acknowledged.
    pub fn doubts(&self, parsed: &TcpHeader, send_floor: u32) -> bool {
        self.doubts_numbers(parsed, send_floor) || self.is_old(parsed)
    }

    /// RFC 5961 lets a packet's ACK number lie below what is acknowledged, by a window or by all
    /// that was ever acknowledged; other TCPs take none.
    fn doubts_numbers(&self, parsed: &TcpHeader, send_floor: u32) -> bool {
        let acknowledged = match is_after(send_floor, self.peer_acknowledged) {
            true => send_floor,
            false => self.peer_acknowledged,
        };
        let lowest = acknowledged.wrapping_sub(self.acks_behind());
        !parsed.may_carry()
            || is_after(parsed.acknowledgement, self.sent_end)
            || is_after(lowest, parsed.acknowledgement)
    }

    fn acks_behind(&self) -> u32 {
        match self.takes_old_acks {
            true => self.peer_window.min(self.acknowledged_bytes),
            false => 0,
        }
    }

    /// The lowest ACK number with which the card may place a packet: a late one must not fall upon
    /// what has landed, when TCP will hardly take it.
    pub fn ack_low(&self, send_floor: u32) -> u32 {
        send_floor.wrapping_sub(self.acks_behind())
    }

    /// Older than the newest by more than a tick, which is within the precision of the peer's
    /// clock. A newest one of 0 is none: some peers count only after their SYN.
    fn is_old(&self, parsed: &TcpHeader) -> bool {
        match (self.timestamp, parsed.timestamp) {
            (Some(0), _) => false,
            (Some(newest), Some((value, _))) => is_after(newest.wrapping_sub(1), value),
            _ => false,
        }
    }

    /// A packet without doubt is handed to TCP: its timestamp counts if it begins at or before what
    /// was acknowledged last, and does not end before.
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

    /// A doubtful packet is handed to TCP, which may take it all the same: a peer that was silent
    /// for weeks has a timestamp that looks old (RFC 7323, 5.5).
    pub fn note_doubtful(&mut self, parsed: &TcpHeader, payload_bytes: u32, send_floor: u32) {
        if payload_bytes == 0 {
            return;
        }
        let end = parsed.sequence.wrapping_add(payload_bytes);
        let is_next = self.spans(parsed, payload_bytes) && is_after(end, self.acknowledged);
        let is_late = is_next && self.timestamp.is_some();
        let value = parsed.timestamp.map(|(value, _)| (end, value));
        self.late = value.filter(|_| is_late && !self.doubts_numbers(parsed, send_floor));
    }

    /// Whether a packet begins at or before what was acknowledged last, and does not end before.
    fn spans(&self, parsed: &TcpHeader, payload_bytes: u32) -> bool {
        let end = parsed.sequence.wrapping_add(payload_bytes);
        !is_after(parsed.sequence, self.acknowledged) && !is_after(self.acknowledged, end)
    }

    /// The peer's timestamp that none may be older than, where both sides use them.
    pub fn timestamp(&self) -> Option<u32> {
        self.timestamp
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::packet::parse_tcp;

    const LOCAL: u32 = u32::MAX - 1;
    const REMOTE: u32 = 0x1000;

    /// A header from `mac` with VLAN `tags`, ACK set, timestamp `value`.
    fn header(
        tags: &[u16],
        sequence: u32,
        acknowledgement: u32,
        value: u32,
    ) -> (Vec<u8>, TcpHeader) {
        let mut bytes = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 1];
        for tag in tags {
            bytes.extend([0x81, 0]);
            bytes.extend(tag.to_be_bytes());
        }
        bytes.extend([8, 0, 0x45, 0, 0, 52, 0, 0, 0x40, 0, 64, 6, 0, 0]);
        bytes.extend([10, 0, 0, 2, 10, 0, 0, 1, 0, 80, 0, 81]);
        bytes.extend(sequence.to_be_bytes());
        bytes.extend(acknowledgement.to_be_bytes());
        bytes.extend([0x80, ACK, 0, 0, 0, 0, 0, 0, 1, 1, 8, 10]);
        bytes.extend(value.to_be_bytes());
        bytes.extend([0; 4]);
        let parsed = parse_tcp(&bytes).unwrap();
        (bytes, parsed)
    }

    fn doubts(expected: &Expected, acknowledgement: u32, value: u32) -> bool {
        let (_, parsed) = header(&[], REMOTE + 1, acknowledgement, value);
        expected.doubts(&parsed, LOCAL.wrapping_add(1))
    }

    #[test]
    fn acknowledgements_of_what_was_not_sent_are_doubted() {
        let mut expected = Expected::new(LOCAL, REMOTE, None);
        assert!(!doubts(&expected, LOCAL.wrapping_add(1), 0));
        assert!(doubts(&expected, LOCAL.wrapping_add(2), 0));
        assert!(doubts(&expected, LOCAL, 0));
        let (bytes, parsed) = header(&[], LOCAL.wrapping_add(1), REMOTE + 1, 0);
        expected.note_sent(&bytes, &parsed, 100);
        assert!(!doubts(&expected, LOCAL.wrapping_add(101), 0));
        assert!(doubts(&expected, LOCAL.wrapping_add(102), 0));
    }

    #[test]
    fn a_timestamp_counts_with_the_next_byte_and_older_ones_are_doubted() {
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
        assert!(!Expected::new(LOCAL, REMOTE, None).doubts(&header(&[], 0, next, 4).1, next));
    }

    /// TCP takes old ACK numbers only as far as it was acknowledged anything, or not at all.
    #[test]
    fn acknowledgements_below_what_is_acknowledged_are_doubted() {
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

    /// TSval 0 in the SYN, then anything; and a jump backwards that TCP did accept.
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
            let expected_now = if good_one_comes {
                timestamp
            } else {
                0x8000_0007
            };
            assert_eq!(expected.timestamp(), Some(expected_now));
        }
    }

    #[test]
    fn packets_for_another_station_or_vlan_are_not_ours() {
        let (bytes, parsed) = header(&[7], LOCAL.wrapping_add(1), REMOTE + 1, 0);
        let mut expected = Expected::new(LOCAL, REMOTE, None);
        assert!(expected.is_for_us(&bytes, &parsed), "nothing is known");
        expected.note_sent(&bytes, &parsed, 0);
        // The priority is nobody's address, and the tag of VLAN 0 carries nothing else.
        for (tags, ours) in [
            (&[0xe007][..], true),
            (&[0xe000, 7][..], true),
            (&[8][..], false),
            (&[][..], false),
        ] {
            let (bytes, parsed) = header(tags, 0, 0, 0);
            assert_eq!(expected.is_for_us(&bytes, &parsed), ours, "{tags:x?}");
        }
        let (mut bytes, parsed) = header(&[7], 0, 0, 0);
        bytes[5] = 9;
        assert!(!expected.is_for_us(&bytes, &parsed));
    }
}
