//! Saves acknowledgements that smoltcp would discard with a duplicate segment, and keeps duplicate
//! acknowledgements away from it that would stop it.
//!
//! A segment left of the receive window is a duplicate. smoltcp replies to it and drops it,
//! together with its acknowledgement, and after a timeout it numbers its own replies from the
//! oldest unacknowledged byte. When both ends time out at once, each treats the other's segments as
//! duplicates, and neither learns what has arrived. RFC 9293 (3.10.7.4) trims such a segment to its
//! acceptable part; for a duplicate, that is the acknowledgement. Here it is delivered as a segment
//! of its own, if it acknowledges more than any before.
//!
//! What smoltcp expects is known from what it has sent, which may be less than it expects by now:
//! then a duplicate looks like a segment that it takes. It has not taken the acknowledgement if it
//! sends from below it afterwards, at the latest by its timeout; then the next repetition of that
//! acknowledgement is delivered again.
//!
//! The third duplicate acknowledgement makes smoltcp repeat the oldest segment at once, instead of
//! after its timeout. When that segment is a FIN without payload it sends nothing and has no
//! timeout left: the FIN is never repeated. Such duplicates tell nothing that the timeout does not
//! repair, so smoltcp gets the first one alone.

use std::collections::HashMap;
use std::net::IpAddr;

use crate::headers::layout::{
    is_after, ones_sum, tcp_checksum, TcpLayout, ACK, FIN, RST, SYN, TCP_CHECKSUM_OFFSET,
};

/// Local port, remote address, remote port.
pub(super) type Connection = (u16, IpAddr, u16);

/// Sequence numbers of a connection, from the headers seen so far.
#[derive(Clone, Copy)]
struct Numbers {
    /// Next sequence number expected from the peer.
    expected: u32,
    /// End of what was sent: no acknowledgement is higher.
    sent: u32,
    /// Highest acknowledgement number delivered to the stack, as far as it may have taken it.
    acknowledged: Option<u32>,
    /// Sequence number of our FIN, once it was sent.
    fin: Option<u32>,
}

/// Sequence numbers of all connections.
pub(super) struct Duplicates {
    connections: HashMap<Connection, Numbers>,
    window_bytes: u32,
}

impl Duplicates {
    /// For stacks that offer windows of up to `window_bytes`. A duplicate ends within that distance
    /// before the expected number, so guessing a sequence number is as hard for an attacker as with
    /// TCP.
    pub(super) fn new(window_bytes: u32) -> Self {
        Self { connections: HashMap::new(), window_bytes }
    }

    /// Notes what a frame acknowledges and sends that the stack has just made. A SYN begins a
    /// connection: whatever had its ports before is forgotten.
    pub(super) fn note_sent(&mut self, frame: &[u8]) {
        let Ok(layout) = TcpLayout::parse(frame) else { return };
        let tcp = &frame[layout.segment..];
        let flags = tcp[13];
        let connection = (word(tcp, 0), address(frame, &layout, 1), word(tcp, 2));
        if flags & SYN != 0 {
            self.connections.remove(&connection);
        }
        if flags & (ACK | RST) != ACK {
            return;
        }
        let (start, expected) = (long(tcp, 4), long(tcp, 8));
        let payload_end = start.wrapping_add(layout.payload_bytes as u32);
        let end = payload_end.wrapping_add(u32::from(flags & (SYN | FIN) != 0));
        let fresh = Numbers { expected, sent: end, acknowledged: None, fin: None };
        let numbers = self.connections.entry(connection).or_insert(fresh);
        numbers.expected = expected;
        if is_after(end, numbers.sent) {
            numbers.sent = end;
        }
        if let Some(before) = &mut numbers.acknowledged {
            if is_after(*before, start) {
                *before = start;
            }
        }
        if flags & FIN != 0 {
            numbers.fin = Some(payload_end);
        }
    }

    /// Whether an incoming frame does nothing but acknowledge once more all that was sent before
    /// our FIN.
    pub(super) fn repeats_all_but_fin(&self, frame: &[u8]) -> bool {
        let Ok(layout) = TcpLayout::parse(frame) else { return false };
        let tcp = &frame[layout.segment..];
        let connection = (word(tcp, 2), address(frame, &layout, 0), word(tcp, 0));
        let is_pure = layout.payload_bytes == 0 && tcp[13] & (SYN | RST | FIN | ACK) == ACK;
        let numbers = self.connections.get(&connection).filter(|_| is_pure);
        let acknowledged = Some(long(tcp, 8));
        numbers.is_some_and(|n| n.acknowledged == acknowledged && n.fin == acknowledged)
    }

    /// The acknowledgement of an incoming duplicate, as a frame of its own.
    pub(super) fn acknowledgement(&mut self, frame: &[u8]) -> Option<Vec<u8>> {
        let layout = TcpLayout::parse(frame).ok()?;
        let tcp = &frame[layout.segment..];
        let connection = (word(tcp, 2), address(frame, &layout, 0), word(tcp, 0));
        if tcp[13] & (SYN | RST) != 0 || tcp[13] & ACK == 0 {
            return None;
        }
        let numbers = self.connections.get_mut(&connection)?;
        let end = long(tcp, 4).wrapping_add(layout.payload_bytes as u32);
        let distance = (end.wrapping_sub(numbers.expected) as i32).unsigned_abs();
        let acknowledged = long(tcp, 8);
        if distance > self.window_bytes || is_after(acknowledged, numbers.sent) {
            // Outside the accepted range: the stack accepts nothing of it either.
            return None;
        }
        if numbers.acknowledged.is_some_and(|before| !is_after(acknowledged, before)) {
            return None;
        }
        numbers.acknowledged = Some(acknowledged);
        let is_duplicate = match layout.payload_bytes {
            0 => is_after(numbers.expected, end),
            _ => !is_after(end, numbers.expected),
        };
        is_duplicate.then(|| pure(frame, &layout, numbers.expected))
    }

    /// Number of known connections.
    pub(super) fn len(&self) -> usize {
        self.connections.len()
    }

    /// Forgets connections that have ended.
    pub(super) fn retain(&mut self, live: impl Fn(&Connection) -> bool) {
        self.connections.retain(|connection, _| live(connection));
    }
}

/// The header of a frame as a pure acknowledgement at `sequence`.
fn pure(frame: &[u8], layout: &TcpLayout, sequence: u32) -> Vec<u8> {
    let mut pure = frame[..layout.payload].to_vec();
    let network = layout.network;
    if layout.ipv6 {
        let bytes = (layout.payload - network - 40) as u16;
        pure[network + 4..network + 6].copy_from_slice(&bytes.to_be_bytes());
    } else {
        let bytes = (layout.payload - network) as u16;
        pure[network + 2..network + 4].copy_from_slice(&bytes.to_be_bytes());
        pure[network + 10..network + 12].fill(0);
        let sum = !ones_sum(&pure[network..layout.segment], 0);
        pure[network + 10..network + 12].copy_from_slice(&sum.to_be_bytes());
    }
    let tcp = layout.segment;
    pure[tcp + 4..tcp + 8].copy_from_slice(&sequence.to_be_bytes());
    pure[tcp + 13] = ACK;
    let field = tcp + TCP_CHECKSUM_OFFSET;
    pure[field..field + 2].fill(0);
    let sum = tcp_checksum(&pure, &TcpLayout { payload_bytes: 0, ..*layout });
    pure[field..field + 2].copy_from_slice(&sum.to_be_bytes());
    pure
}

/// The source (0) or destination (1) address of a frame.
fn address(frame: &[u8], layout: &TcpLayout, which: usize) -> IpAddr {
    if layout.ipv6 {
        let at = layout.network + 8 + 16 * which;
        IpAddr::from(std::array::from_fn::<u8, 16, _>(|byte| frame[at + byte]))
    } else {
        let at = layout.network + 12 + 4 * which;
        IpAddr::from(std::array::from_fn::<u8, 4, _>(|byte| frame[at + byte]))
    }
}

fn word(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

fn long(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: (u8, u16) = (1, 40_000);
    const PEER: (u8, u16) = (2, 5001);

    fn frame(from: (u8, u16), to: (u8, u16), numbers: (u32, u32), flags: u8, bytes: u8) -> Vec<u8> {
        let mut frame = vec![0; 12];
        frame.extend([8, 0, 0x45, 0, 0, 40 + bytes, 0, 0, 0x40, 0, 64, 6, 0, 0]);
        frame.extend([10, 0, 0, from.0, 10, 0, 0, to.0]);
        frame.extend(from.1.to_be_bytes());
        frame.extend(to.1.to_be_bytes());
        frame.extend(numbers.0.to_be_bytes());
        frame.extend(numbers.1.to_be_bytes());
        frame.extend([0x50, flags, 1, 2, 0, 0, 0, 0]);
        frame.extend(vec![0xaa; usize::from(bytes)]);
        frame
    }

    /// Expects byte 0 next, so that all numbers before it have wrapped, and has sent bytes 100 to
    /// 199.
    fn expecting_zero() -> Duplicates {
        let mut duplicates = Duplicates::new(1000);
        duplicates.note_sent(&frame(US, PEER, (100, 0), ACK, 100));
        duplicates
    }

    #[test]
    fn duplicate_remains_as_its_ack() {
        let mut duplicates = expecting_zero();
        let duplicate = frame(PEER, US, (u32::MAX - 49, 150), ACK | 0x09, 20);
        let pure = duplicates.acknowledgement(&duplicate).unwrap();
        let layout = TcpLayout::check(&pure, 0).unwrap();
        assert_eq!(long(&pure, layout.segment + 4), 0, "sequence number");
        assert_eq!(long(&pure, layout.segment + 8), 150, "acknowledgement number");
        assert_eq!(pure[layout.segment + 13], ACK);
        assert_eq!(word(&pure, layout.segment + 14), 0x0102, "window");
        assert_eq!(tcp_checksum(&pure, &layout), 0);
        assert_eq!(ones_sum(&pure[layout.network..layout.segment], 0), 0xffff);
        assert_eq!(duplicates.acknowledgement(&duplicate), None, "nothing new");
    }

    /// The last segment once more: it ends where the window begins.
    #[test]
    fn last_segments_duplicate_is_recognised() {
        let mut duplicates = expecting_zero();
        let last = frame(PEER, US, (u32::MAX - 19, 150), ACK, 20);
        assert!(duplicates.acknowledgement(&last).is_some());
    }

    #[test]
    fn what_follows_the_checksum_is_kept() {
        let mut duplicates = expecting_zero();
        let mut duplicate = frame(PEER, US, (u32::MAX - 49, 150), ACK, 20);
        // The urgent pointer.
        duplicate[52..54].copy_from_slice(&[0x12, 0x34]);
        let pure = duplicates.acknowledgement(&duplicate).unwrap();
        assert_eq!(pure[52..], [0x12, 0x34]);
        let layout = TcpLayout::check(&pure, 0).unwrap();
        assert_eq!(tcp_checksum(&pure, &layout), 0);
    }

    /// A stack that takes a segment before it says so: what looks like a segment that it takes is a
    /// duplicate to it.
    #[test]
    fn untaken_bytes_are_delivered_again() {
        let mut duplicates = expecting_zero();
        duplicates.note_sent(&frame(US, PEER, (100, 0), ACK, 50));
        let behind = frame(PEER, US, (20, 150), ACK, 0);
        assert_eq!(duplicates.acknowledgement(&behind), None);
        // It expects byte 40 by now, and sends on behind byte 150: it has taken that.
        duplicates.note_sent(&frame(US, PEER, (150, 40), ACK, 10));
        assert_eq!(duplicates.acknowledgement(&behind), None);
        // It repeats byte 100: it has not.
        duplicates.note_sent(&frame(US, PEER, (100, 40), ACK, 50));
        let pure = duplicates.acknowledgement(&behind).unwrap();
        let layout = TcpLayout::check(&pure, 0).unwrap();
        assert_eq!(long(&pure, layout.segment + 4), 40);
        assert_eq!(duplicates.acknowledgement(&behind), None);
    }

    #[test]
    fn ack_of_unsent_bytes_stops_none() {
        let mut duplicates = expecting_zero();
        duplicates.note_sent(&frame(US, PEER, (100, 0), ACK | FIN, 100));
        let beyond = frame(PEER, US, (u32::MAX - 49, 202), ACK, 20);
        assert_eq!(duplicates.acknowledgement(&beyond), None);
        let of_the_fin = frame(PEER, US, (u32::MAX - 49, 201), ACK, 20);
        assert!(duplicates.acknowledgement(&of_the_fin).is_some());
    }

    #[test]
    fn reused_ports_begin_new_connection() {
        let mut duplicates = expecting_zero();
        duplicates.note_sent(&frame(US, PEER, (100, 0), ACK | FIN, 100));
        duplicates.acknowledgement(&frame(PEER, US, (0, 201), ACK, 0));
        duplicates.note_sent(&frame(US, PEER, (90, 0), SYN, 0));
        assert_eq!(duplicates.len(), 0);
        // Nor does a reset begin one: it may answer a segment of another connection.
        duplicates.note_sent(&frame(US, PEER, (7, 7), ACK | RST, 0));
        assert_eq!(duplicates.len(), 0);
        duplicates.note_sent(&frame(US, PEER, (91, 0), ACK, 20));
        let first = frame(PEER, US, (u32::MAX - 49, 111), ACK, 20);
        assert!(duplicates.acknowledgement(&first).is_some());
    }

    #[test]
    fn taken_segment_is_left_alone() {
        let mut duplicates = expecting_zero();
        for (sequence, bytes) in [(0, 0), (0, 10), (u32::MAX - 4, 10), (990, 10)] {
            let segment = frame(PEER, US, (sequence, 200), ACK, bytes);
            assert_eq!(duplicates.acknowledgement(&segment), None, "sequence {sequence}");
        }
        // Byte 200 is already acknowledged, so an older duplicate adds nothing.
        let old = frame(PEER, US, (u32::MAX - 49, 150), ACK, 20);
        assert_eq!(duplicates.acknowledgement(&old), None);
    }

    #[test]
    fn reset_and_stranger_are_left_alone() {
        let mut duplicates = expecting_zero();
        let reset = frame(PEER, US, (u32::MAX - 49, 150), ACK | RST, 0);
        assert_eq!(duplicates.acknowledgement(&reset), None);
        let far_behind = frame(PEER, US, (u32::MAX - 1020, 150), ACK, 20);
        assert_eq!(duplicates.acknowledgement(&far_behind), None);
        // Nor does it count as an acknowledgement: the duplicate after it still does.
        let far_ahead = frame(PEER, US, (1001, 900), ACK, 20);
        assert_eq!(duplicates.acknowledgement(&far_ahead), None);
        let duplicate = frame(PEER, US, (u32::MAX - 49, 150), ACK, 20);
        assert!(duplicates.acknowledgement(&duplicate).is_some());
        let stranger = frame((3, 5001), US, (u32::MAX - 49, 150), ACK, 20);
        assert_eq!(duplicates.acknowledgement(&stranger), None);
        duplicates.retain(|_| false);
        assert_eq!(duplicates.len(), 0);
    }

    #[test]
    fn first_duplicate_lacking_fin_is_delivered() {
        let mut duplicates = expecting_zero();
        duplicates.note_sent(&frame(US, PEER, (100, 0), ACK | FIN, 50));
        let first = frame(PEER, US, (0, 150), ACK, 0);
        assert!(!duplicates.repeats_all_but_fin(&first));
        duplicates.acknowledgement(&first);
        assert!(duplicates.repeats_all_but_fin(&first));
        // Others say more, or may lack more.
        for (numbers, flags, bytes) in
            [((0, 151), ACK, 0), ((0, 149), ACK, 0), ((0, 150), ACK | FIN, 0), ((0, 150), ACK, 1)]
        {
            let other = frame(PEER, US, numbers, flags, bytes);
            assert!(!duplicates.repeats_all_but_fin(&other), "{numbers:?} {flags}");
        }
    }
}
