//! What a connection's TCP will hardly accept, told from the headers that passed.
//!
//! ```text
//!   outgoing headers ─► our link address, what was sent, what was acknowledged ─┐
//!   incoming headers ─► the peer's newest timestamp ────────────────────────────┴─► doubts
//! ```
//! The card places a packet before TCP has looked at it. Where TCP refuses the packet and takes a
//! later one with the same bytes, the later one's must stand. TCP does not say which packet it
//! refused, so the same questions are asked here. None is asked more strictly than TCP asks it, but
//! for delays between the two: so a doubtful packet loses no byte, it only stands last
//! ([`super::deferred`]).
//!
//! Sources: RFC 9293, 3.10.7.4 (acceptance), RFC 7323, 4.3 and 5.3 (timestamps), RFC 5961, 5.2.

use super::packet::{link_address, LinkAddress, TcpHeader, ACK, FIN, RST, SYN};

/// How far below what is acknowledged an ACK number is still accepted: a window's worth of delay.
pub const ACK_BEHIND: u32 = 1 << 24;

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
        }
    }

    /// The same, when the SYN told this end's link address.
    pub fn at(self, link: Option<LinkAddress>) -> Self {
        Self { link, ..self }
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
        let ahead = is_after(parsed.acknowledgement, self.sent_end);
        let lowest = send_floor.wrapping_sub(ACK_BEHIND);
        parsed.flags & (SYN | RST | ACK) != ACK
            || ahead
            || is_after(lowest, parsed.acknowledgement)
            || self.is_old(parsed)
    }

    fn is_old(&self, parsed: &TcpHeader) -> bool {
        match (self.timestamp, parsed.timestamp) {
            (Some(newest), Some((value, _))) => is_after(newest, value),
            _ => false,
        }
    }

    /// A packet without doubt is handed to TCP: its timestamp counts if it begins at or before what
    /// was acknowledged last, and does not end before.
    pub fn note_received(&mut self, parsed: &TcpHeader, payload_bytes: u32) {
        let end = parsed.sequence.wrapping_add(payload_bytes);
        let spans =
            !is_after(parsed.sequence, self.acknowledged) && !is_after(self.acknowledged, end);
        if let (Some(newest), Some((value, _)), true) = (self.timestamp, parsed.timestamp, spans) {
            if is_after(value, newest) {
                self.timestamp = Some(value);
            }
        }
    }

    /// The peer's timestamp that none may be older than, where both sides use them.
    pub fn timestamp(&self) -> Option<u32> {
        self.timestamp
    }
}

/// Whether a number of 32 bits lies after another, less than 2^31 ahead.
fn is_after(number: u32, other: u32) -> bool {
    (number.wrapping_sub(other) as i32) > 0
}

#[cfg(test)]
mod tests {
    use super::super::packet::parse_tcp;
    use super::*;

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
        assert!(doubts(&expected, LOCAL.wrapping_sub(ACK_BEHIND), 0));
        let (bytes, parsed) = header(&[], LOCAL.wrapping_add(1), REMOTE + 1, 0);
        expected.note_sent(&bytes, &parsed, 100);
        assert!(!doubts(&expected, LOCAL.wrapping_add(101), 0));
        assert!(doubts(&expected, LOCAL.wrapping_add(102), 0));
    }

    #[test]
    fn a_timestamp_counts_with_the_next_byte_and_older_ones_are_doubted() {
        let mut expected = Expected::new(LOCAL, REMOTE, Some(u32::MAX - 10));
        let next = LOCAL.wrapping_add(1);
        assert!(doubts(&expected, next, u32::MAX - 11));
        // Ahead of what is acknowledged, then at it.
        for (sequence, newest) in [(REMOTE + 2, u32::MAX - 10), (REMOTE + 1, 5)] {
            let (_, parsed) = header(&[], sequence, next, 5);
            expected.note_received(&parsed, 10);
            assert_eq!(expected.timestamp(), Some(newest));
        }
        assert!(doubts(&expected, next, 4));
        assert!(!doubts(&expected, next, 5));
        assert!(!Expected::new(LOCAL, REMOTE, None).doubts(&header(&[], 0, next, 4).1, next));
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
