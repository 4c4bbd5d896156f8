//! Handshakes: options of both SYNs, and payload that arrived before the flow was installed.
//!
//! ```text
//!   our SYN, our SYN-ACK ─► half open ── reply of the peer ─► established ── claim ─► a connection
//! ```
//! Only a SYN or SYN-ACK sent by the transport begins a handshake, and only the first reply that
//! acknowledges it is accepted. An attacker who does not see our packets can change nothing here.
//! Anyone can make the transport reply to a SYN, so the number of handshakes is limited. Of those
//! not claimed by a connection, a new half-open one evicts the oldest half-open one, and a new
//! established one evicts the oldest established one.
//!
//! Sources: RFC 9293, 3.5 (handshake), RFC 7323, 2.2 and 3.2 (options of both SYNs).

use std::collections::VecDeque;

use ahash::HashMap;

use super::expected::Expected;
use super::tuple::Tuple;
use super::window::OfferedWindow;
use crate::headers::layout::{ACK, RST, SYN};
use crate::headers::packet::{link_address, LinkAddress, TcpHeader};
use crate::limits::UNCLAIMED_MAX;
use crate::protocol::Doubt;

/// Limit of early payload of a connection whose flow is not installed yet, packets.
const EARLY_PACKETS_MAX: usize = 256;
/// Limit of early payload of a connection, bytes. Its peer is offered no window yet and may only
/// probe.
const EARLY_BYTES_MAX: usize = 64 << 10;
/// Limit of early payload of all connections, bytes.
const EARLY_BYTES_ALL_MAX: usize = 16 << 20;

/// State of a handshake.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// The transport has sent its SYN.
    #[default]
    HalfOpen,
    /// The peer has acknowledged it.
    Established,
    /// A connection waits for it or uses it.
    Claimed,
}

/// Numbers and options of the two SYNs of a connection.
#[derive(Clone, Debug, Default)]
pub struct Handshake {
    /// Initial sequence number of this side.
    pub local: Option<u32>,
    /// Initial sequence number of the peer.
    pub remote: Option<u32>,
    /// Window scale offered by this side.
    pub local_scale: Option<u8>,
    /// Whether the peer offered window scaling.
    pub remote_scales: bool,
    /// Timestamp of the peer, if both SYNs carried one.
    pub timestamp: Option<u32>,
    /// Payload that arrived before the flow was installed, with its sequence numbers.
    pub early: Vec<(u32, Vec<u8>)>,
    /// Window offered so far. It is zero; the peer gets an update when that changes.
    pub window: OfferedWindow,
    link: Option<LinkAddress>,
    has_timestamps: bool,
    state: State,
    serial: u64,
}

impl Handshake {
    /// Sets the window of an outgoing header to 0, because nothing is posted yet, and records the
    /// header.
    pub fn offer_nothing(&mut self, bytes: &mut [u8], parsed: &TcpHeader) {
        let first = self.remote.map(|sequence| sequence.wrapping_add(1));
        let acknowledged = first.map_or(0, |first| parsed.acknowledgement.wrapping_sub(first));
        self.window.lower(bytes, parsed, 0, acknowledged.into(), 0);
    }

    /// The window offered so far, with the scale that both SYNs agree on.
    pub fn open_window(&self) -> OfferedWindow {
        let scale = self.local_scale.filter(|_| self.remote_scales);
        self.window.clone().with_scale(scale.unwrap_or(0))
    }

    /// Which packets TCP is expected to accept, once both SYNs are known.
    pub fn expected_packets(&self) -> Option<Expected> {
        let (local, remote) = (self.local?, self.remote?);
        Some(Expected::new(local, remote, self.timestamp).at(self.link.clone()))
    }

    fn note_sent(&mut self, packet: &[u8], parsed: &TcpHeader) {
        self.local = Some(parsed.sequence);
        self.local_scale = parsed.window_scale;
        self.has_timestamps = parsed.timestamp.is_some();
        self.link = Some(link_address(packet, parsed, 6));
        if parsed.flags & ACK != 0 {
            // A SYN-ACK carries an option only if the SYN did.
            self.remote = Some(parsed.acknowledgement.wrapping_sub(1));
            self.remote_scales = parsed.window_scale.is_some();
            self.timestamp = parsed.timestamp.map(|(_, echo)| echo);
        }
    }

    /// Returns whether the packet acknowledges our SYN.
    fn note_received(&mut self, parsed: &TcpHeader) -> bool {
        let next = self.local.map(|local| local.wrapping_add(1));
        if parsed.flags & (RST | ACK) != ACK || next != Some(parsed.acknowledgement) {
            return false;
        }
        if parsed.flags & SYN != 0 {
            if self.remote.is_some() {
                // TCP has accepted the first reply.
                return false;
            }
            self.remote = Some(parsed.sequence);
            self.remote_scales = parsed.window_scale.is_some();
            let theirs = parsed.timestamp.map(|(value, _)| value);
            self.timestamp = theirs.filter(|_| self.has_timestamps);
            return true;
        }
        self.early_offset(parsed).is_some()
    }

    /// Offset of early payload in the peer's stream, if it is plausible.
    fn early_offset(&self, parsed: &TcpHeader) -> Option<usize> {
        let first = self.remote?.wrapping_add(1);
        let offset = parsed.sequence.wrapping_sub(first) as usize;
        (offset < EARLY_BYTES_MAX).then_some(offset)
    }

    fn early_bytes(&self) -> usize {
        self.early.iter().map(|(_, payload)| payload.len()).sum()
    }
}

/// All handshakes in progress.
#[derive(Debug, Default)]
pub struct Handshakes {
    open: HashMap<Tuple, Handshake>,
    /// Half-open and established handshakes in the order in which they became so. Entries may be
    /// stale: removed, claimed or of another state by now.
    order: [VecDeque<(Tuple, u64)>; 2],
    unclaimed: [usize; 2],
    early_bytes: usize,
    serial: u64,
}

impl Handshakes {
    /// Notes an outgoing SYN: its handshake begins again, unless it repeats the same SYN.
    pub fn note_sent(&mut self, tuple: Tuple, packet: &[u8], parsed: &TcpHeader) {
        let known = self.open.get(&tuple);
        let again = known.is_some_and(|h| h.local.is_none_or(|local| local == parsed.sequence));
        if !again {
            let was_claimed = known.is_some_and(|h| h.state == State::Claimed);
            self.remove(tuple);
            let state = if was_claimed { State::Claimed } else { State::HalfOpen };
            self.begin(tuple, state);
        }
        if let Some(handshake) = self.open.get_mut(&tuple) {
            handshake.note_sent(packet, parsed);
        }
    }

    /// Notes a received packet.
    pub fn note_received(&mut self, tuple: Tuple, parsed: &TcpHeader) {
        let Some(handshake) = self.open.get_mut(&tuple) else { return };
        let answered = handshake.note_received(parsed);
        if answered && handshake.state == State::HalfOpen {
            self.set_state(tuple, State::Established);
        }
    }

    /// Whether a packet was sent to this end's own link address, as far as a handshake has shown
    /// it.
    pub fn is_for_us(&self, tuple: Tuple, packet: &[u8], parsed: &TcpHeader) -> bool {
        let link = self.open.get(&tuple).and_then(|h| h.link.as_ref());
        link.is_none_or(|link| *link == link_address(packet, parsed, 0))
    }

    /// Keeps payload that arrived before the flow of its connection was installed. Returns false
    /// when it is not kept: the header must be withheld.
    pub fn keep_early(&mut self, tuple: Tuple, parsed: &TcpHeader, payload: &[u8]) -> bool {
        let Some(handshake) = self.open.get_mut(&tuple) else {
            // The transport does not know the connection, or it will fail: its payload is not
            // needed.
            return true;
        };
        if !parsed.may_carry() {
            // No TCP accepts payload of such a packet, so none is kept.
            return true;
        }
        let (Some(expected), Some(local)) = (handshake.expected_packets(), handshake.local) else {
            return false;
        };
        let room = handshake.early.len() < EARLY_PACKETS_MAX
            && handshake.early_bytes() + payload.len() <= EARLY_BYTES_MAX
            && self.early_bytes + payload.len() <= EARLY_BYTES_ALL_MAX;
        let wanted = handshake.state != State::HalfOpen
            && handshake.early_offset(parsed).is_some()
            && expected.find_doubt(parsed, local.wrapping_add(1)) == Doubt::None;
        if room && wanted {
            self.early_bytes += payload.len();
            handshake.early.push((parsed.sequence, payload.to_vec()));
        }
        room && wanted
    }

    fn begin(&mut self, tuple: Tuple, state: State) {
        self.open.insert(tuple, Handshake::default());
        self.unclaimed[0] += 1;
        self.set_state(tuple, state);
    }

    /// Changes the state of a handshake, or sets the first one.
    fn set_state(&mut self, tuple: Tuple, state: State) {
        let Some(handshake) = self.open.get_mut(&tuple) else { return };
        let before = std::mem::replace(&mut handshake.state, state);
        self.serial += 1;
        handshake.serial = self.serial;
        if before != State::Claimed {
            self.unclaimed[before as usize] -= 1;
        }
        if state != State::Claimed {
            let class = state as usize;
            self.unclaimed[class] += 1;
            self.order[class].push_back((tuple, self.serial));
            self.make_room(class);
        }
    }

    fn make_room(&mut self, class: usize) {
        let current = |open: &HashMap<Tuple, Handshake>, tuple: &Tuple, serial: u64| {
            open.get(tuple).is_some_and(|h| h.serial == serial)
        };
        while self.unclaimed[class] > UNCLAIMED_MAX[class] {
            let Some((oldest, serial)) = self.order[class].pop_front() else { return };
            if current(&self.open, &oldest, serial) {
                self.remove(oldest);
            }
        }
        // Handshakes claimed or removed in the meantime leave stale entries.
        if self.order[class].len() > 2 * UNCLAIMED_MAX[class] {
            let open = &self.open;
            self.order[class].retain(|(tuple, serial)| current(open, tuple, *serial));
        }
    }

    /// A connection claims this handshake: it is kept until it is removed.
    pub fn claim(&mut self, tuple: Tuple) {
        match self.open.contains_key(&tuple) {
            true => self.set_state(tuple, State::Claimed),
            false => self.begin(tuple, State::Claimed),
        }
    }

    /// The handshake of a tuple, if it is known.
    pub fn get(&self, tuple: Tuple) -> Option<&Handshake> {
        self.open.get(&tuple)
    }

    /// The handshake of a tuple, if it is known, for changes.
    pub fn get_mut(&mut self, tuple: Tuple) -> Option<&mut Handshake> {
        self.open.get_mut(&tuple)
    }

    /// Forgets a handshake, and returns it.
    pub fn remove(&mut self, tuple: Tuple) -> Option<Handshake> {
        let handshake = self.open.remove(&tuple)?;
        self.early_bytes -= handshake.early_bytes();
        if handshake.state != State::Claimed {
            self.unclaimed[handshake.state as usize] -= 1;
        }
        Some(handshake)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::headers::builder::{Route, Tcp};
    use crate::headers::packet::parse_tcp;
    use std::net::SocketAddr;

    fn tuple(number: u32) -> Tuple {
        let [high, low] = [(number >> 16) as u8, 1];
        let address = |port| SocketAddr::from(([10, 0, high, low], port));
        (address(80), address(number as u16))
    }

    fn header(flags: u8, sequence: u32, acknowledgement: u32) -> (Vec<u8>, TcpHeader) {
        let (from, to) = (([10, 0, 0, 1], 80).into(), ([10, 0, 0, 2], 81).into());
        let tcp = Tcp { sequence, acknowledgement, flags, ..Tcp::default() };
        let (bytes, _) = Route { macs: [[0; 6]; 2], from, to }.tcp(&tcp, 0);
        let parsed = parse_tcp(&bytes).unwrap();
        (bytes, parsed)
    }

    /// The transport replies to a SYN of `port`.
    fn answer_syn(handshakes: &mut Handshakes, port: u32) {
        let (bytes, parsed) = header(SYN | ACK, 100, 501);
        handshakes.note_sent(tuple(port), &bytes, &parsed);
    }

    fn establish(handshakes: &mut Handshakes, port: u32) {
        answer_syn(handshakes, port);
        handshakes.note_received(tuple(port), &header(ACK, 501, 101).1);
    }

    #[test]
    fn strangers_evict_only_silent_strangers() {
        let mut handshakes = Handshakes::default();
        answer_syn(&mut handshakes, 1);
        handshakes.claim(tuple(1));
        establish(&mut handshakes, 2);
        answer_syn(&mut handshakes, 3);
        let half_open = UNCLAIMED_MAX[0] as u32;
        for round in 0..3 {
            for port in 0..half_open {
                answer_syn(&mut handshakes, 1000 + round * half_open + port);
            }
            assert_eq!(handshakes.open.len(), UNCLAIMED_MAX[0] + 2);
        }
        for port in [1, 2] {
            assert_eq!(handshakes.get(tuple(port)).and_then(|h| h.remote), Some(500));
        }
        assert!(handshakes.get(tuple(3)).is_none());
        assert!(handshakes.order[0].len() <= 2 * UNCLAIMED_MAX[0]);
        for port in 0..=UNCLAIMED_MAX[1] as u32 {
            establish(&mut handshakes, (1 << 20) + port);
        }
        assert!(handshakes.get(tuple(2)).is_none(), "the oldest of its like");
        assert_eq!(handshakes.unclaimed[1], UNCLAIMED_MAX[1]);
    }

    #[test]
    fn only_answers_to_syn_are_believed() {
        let mut handshakes = Handshakes::default();
        handshakes.note_received(tuple(1), &header(SYN, 7, 0).1);
        assert!(handshakes.get(tuple(1)).is_none());
        handshakes.claim(tuple(1));
        let (bytes, parsed) = header(SYN, 100, 0);
        handshakes.note_sent(tuple(1), &bytes, &parsed);
        let remote = |handshakes: &Handshakes| handshakes.get(tuple(1)).and_then(|h| h.remote);
        for (flags, acknowledgement) in [(SYN, 0), (SYN | ACK, 100), (SYN | ACK, 102)] {
            handshakes.note_received(tuple(1), &header(flags, 7, acknowledgement).1);
            assert_eq!(remote(&handshakes), None);
        }
        handshakes.note_received(tuple(1), &header(SYN | ACK, 9, 101).1);
        assert_eq!(remote(&handshakes), Some(9));
        handshakes.note_received(tuple(1), &header(SYN | ACK, 11, 55).1);
        assert_eq!(remote(&handshakes), Some(9));
        // Another connection with the same addresses begins again, still claimed.
        let (bytes, parsed) = header(SYN, 300, 0);
        handshakes.note_sent(tuple(1), &bytes, &parsed);
        assert_eq!(remote(&handshakes), None);
        assert_eq!(handshakes.unclaimed, [0, 0]);
    }

    #[test]
    fn peer_may_answer_after_a_flood() {
        let mut handshakes = Handshakes::default();
        answer_syn(&mut handshakes, 1);
        for port in 0..60_000 {
            answer_syn(&mut handshakes, 1000 + port);
        }
        handshakes.note_received(tuple(1), &header(ACK, 501, 101).1);
        handshakes.note_received(tuple(1000), &header(RST | ACK, 501, 101).1);
        assert_eq!(handshakes.unclaimed, [60_000, 1], "a reset is no answer");
    }

    #[test]
    fn only_first_local_syn_answer_is_believed() {
        let mut handshakes = Handshakes::default();
        handshakes.claim(tuple(1));
        let (mut bytes, parsed) = header(SYN, 100, 0);
        assert!(handshakes.is_for_us(tuple(1), &bytes, &parsed));
        bytes[11] = 9;
        handshakes.note_sent(tuple(1), &bytes, &parsed);
        for sequence in [9, 11] {
            handshakes.note_received(tuple(1), &header(SYN | ACK, sequence, 101).1);
        }
        assert_eq!(handshakes.get(tuple(1)).and_then(|h| h.remote), Some(9));
        assert!(!handshakes.is_for_us(tuple(1), &bytes, &parsed));
        bytes[5] = 9;
        assert!(handshakes.is_for_us(tuple(1), &bytes, &parsed));
        // No payload of a SYN is accepted.
        assert!(handshakes.keep_early(tuple(1), &header(SYN | ACK, 9, 101).1, &[1; 10]));
        assert_eq!(handshakes.early_bytes, 0);
    }

    #[test]
    fn early_payload_is_bounded_fits_handshake() {
        let mut handshakes = Handshakes::default();
        let data = |sequence, acknowledgement| header(ACK, sequence, acknowledgement).1;
        assert!(handshakes.keep_early(tuple(1), &data(501, 101), &[1; 9000]), "unknown: dropped");
        answer_syn(&mut handshakes, 1);
        assert!(!handshakes.keep_early(tuple(1), &data(501, 101), &[1]), "not answered");
        establish(&mut handshakes, 1);
        assert!(handshakes.keep_early(tuple(1), &data(501, 101), &[1; 9000]));
        assert!(!handshakes.keep_early(tuple(1), &data(501, 102), &[1]), "never sent");
        assert!(!handshakes.keep_early(tuple(1), &data(500, 101), &[1]), "before the stream");
        assert!(!handshakes.keep_early(tuple(1), &data(1 << 20, 101), &[1]), "far ahead");
        for _ in 0..20 {
            handshakes.keep_early(tuple(1), &data(501, 101), &[1; 9000]);
        }
        assert_eq!(handshakes.early_bytes, 63_000);
        handshakes.remove(tuple(1));
        assert_eq!(handshakes.early_bytes, 0);
    }
}
