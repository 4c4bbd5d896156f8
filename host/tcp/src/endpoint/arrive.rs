//! A segment arrives at the host: whose it is, and what is answered if nobody's.
//!
//! Source: RFC 9293, 3.10.7.1 and 3.10.7.2; RFC 4987, 3.6; RFC 6191, 2; RFC 1337.

use super::{ConnectionId, Endpoint};
use crate::connection::{Arrival, Connection, Offer};
use crate::cookie::Cookies;
use crate::listener::ListenerId;
use crate::receive::Verdict;
use crate::secret::Tuple;
use crate::segment::{Flags, Segment, Timestamps};
use crate::sequence::is_before;
use crate::time_wait::{Late, Waiting};

/// How long a cookie may come back after the last was sent.
const COOKIES_NS: u64 = 128_000_000_000;
/// How far behind the last number of an old connection a new one begins (RFC 9293, 3.4.3).
const REOPEN_STEP: u32 = 0x2_0000;

/// What becomes of a segment that is nobody's.
const NOBODYS: Arrival = Arrival { verdict: Verdict::Refused, accepted_to: 0, acknowledged_to: 0 };

impl Endpoint {
    /// A segment arrives (RFC 9293, 3.10.7). `has_room` says whether its payload can be kept.
    /// Returns the connection, if it has a name, and what became of the segment.
    pub fn arrive(
        &mut self,
        now_ns: u64,
        tuple: &Tuple,
        segment: &Segment,
        has_room: bool,
    ) -> (Option<ConnectionId>, Arrival) {
        let index = match self.by_tuple.get(tuple) {
            Some(index) => Some(*index),
            None => self.arrive_without_connection(now_ns, tuple, segment),
        };
        let Some((index, slot)) = index.and_then(|index| Some((index, self.slot(index)?))) else {
            return (None, NOBODYS);
        };
        let arrival = slot.connection.arrive(now_ns, segment, has_room);
        let (is_named, generation) = (slot.is_named, slot.generation);
        self.settle(now_ns, index);
        self.touch(index);
        (is_named.then_some(ConnectionId { index, generation }), arrival)
    }

    /// The connection that an old tuple or a listener makes of a segment, to which it is then
    /// shown; `None` if it was dealt with.
    fn arrive_without_connection(
        &mut self,
        now_ns: u64,
        tuple: &Tuple,
        segment: &Segment,
    ) -> Option<u32> {
        self.time_waits.advance(now_ns);
        let waiting = self.time_waits.get(tuple);
        let late = waiting.map(|waiting| (waiting, waiting.judge(segment)));
        match late {
            Some((_, Late::Nothing)) => return None,
            Some((waiting, Late::Acknowledge)) => {
                self.acknowledge_late(now_ns, tuple, &waiting);
                return None;
            }
            Some((_, Late::Reopen)) | None => {}
        }
        let Some(listener) = self.listener_at(tuple.local) else {
            match waiting {
                Some(waiting) => self.acknowledge_late(now_ns, tuple, &waiting),
                None => self.reset(tuple, segment),
            }
            return None;
        };
        self.listen_for(now_ns, listener, tuple, segment)
    }

    /// RFC 9293, 3.10.7.2.
    fn listen_for(
        &mut self,
        now_ns: u64,
        listener: ListenerId,
        tuple: &Tuple,
        segment: &Segment,
    ) -> Option<u32> {
        let flags = segment.flags;
        if flags.has(Flags::RST) {
            return None;
        }
        if flags.has(Flags::ACK) {
            let index = self.take_cookie(now_ns, listener, tuple, segment);
            if index.is_none() {
                self.reset(tuple, segment);
            }
            return index;
        }
        if flags.has(Flags::SYN) && !flags.has(Flags::FIN) {
            self.take_syn(now_ns, listener, tuple, segment);
        }
        None
    }

    fn take_syn(&mut self, now_ns: u64, listener: ListenerId, tuple: &Tuple, syn: &Segment) {
        let mut first = self.secret.first_sequence(now_ns, tuple);
        let old = self.time_waits.remove(tuple);
        if let Some(old) = old.filter(|old| !is_before(old.send_next, first)) {
            first = old.send_next.wrapping_add(REOPEN_STEP);
        }
        let half_open_max = self.limits.half_open_max;
        let Some(it) = self.listeners.get_mut(&listener) else { return };
        if it.half_open >= half_open_max {
            it.cookies_until_ns = now_ns + COOKIES_NS;
            self.send_cookie(now_ns, tuple, syn);
            return;
        }
        let clock = self.secret.clock_offset(tuple);
        let connection = Connection::accept(self.config.clone(), now_ns, syn, first, clock);
        let index = self.insert_half_open(listener, *tuple, connection);
        self.touch(index);
    }

    /// RFC 4987, 3.6: the answer that needs no memory.
    fn send_cookie(&mut self, now_ns: u64, tuple: &Tuple, syn: &Segment) {
        let offer = Offer::of(syn);
        let mss_bytes = offer.mss_bytes.unwrap_or(self.config.peer_mss_bytes);
        let cookie = self.cookies.first_sequence(now_ns, tuple, syn.sequence, mss_bytes);
        let mut answer = Segment {
            sequence: cookie,
            acknowledgement: syn.sequence.wrapping_add(1),
            flags: Flags::SYN | Flags::ACK,
            window: u16::MAX,
            ..Segment::default()
        };
        answer.options.mss_bytes = Some(self.config.mss_bytes);
        let value = offer.timestamp.filter(|_| self.config.is_timestamps_offered);
        if let Some(value) = value {
            let ticks = (now_ns / self.config.timestamp_tick_ns.max(1)) as u32;
            let clock = self.secret.clock_offset(tuple).wrapping_add(ticks);
            let stamp = Timestamps { value: Cookies::timestamp(clock, &offer), echo: value };
            answer.options.timestamps = Some(stamp);
            answer.options.window_scale = offer.window_scale.map(|_| self.config.window_scale);
            answer.options.is_sack_permitted = offer.has_sack && self.config.is_sack_offered;
            if offer.has_ecn && self.config.ecn != crate::config::Ecn::Off {
                answer.flags = answer.flags | Flags::ECE;
            }
        }
        self.reply(tuple, answer);
    }

    fn take_cookie(
        &mut self,
        now_ns: u64,
        listener: ListenerId,
        tuple: &Tuple,
        ack: &Segment,
    ) -> Option<u32> {
        let it = self.listeners.get(&listener)?;
        if now_ns > it.cookies_until_ns || it.open.len() >= self.limits.unaccepted_max {
            return None;
        }
        let (first, peer_first, offer) = self.cookies.read(now_ns, tuple, ack)?;
        let clock = self.secret.clock_offset(tuple);
        let numbers = (first, peer_first);
        let connection = Connection::revive(self.config.clone(), now_ns, numbers, &offer, clock);
        Some(self.insert_half_open(listener, *tuple, connection))
    }

    /// RFC 9293, 3.10.7.4: the ACK of a waiting tuple.
    fn acknowledge_late(&mut self, now_ns: u64, tuple: &Tuple, waiting: &Waiting) {
        let mut segment = Segment {
            sequence: waiting.send_next,
            acknowledgement: waiting.receive_next,
            flags: Flags::ACK,
            ..Segment::default()
        };
        if let Some(echo) = waiting.recent {
            let ticks = (now_ns / self.config.timestamp_tick_ns.max(1)) as u32;
            let value = self.secret.clock_offset(tuple).wrapping_add(ticks);
            segment.options.timestamps = Some(Timestamps { value, echo });
        }
        self.reply(tuple, segment);
    }

    /// RFC 9293, 3.10.7.1: the reset for what is nobody's.
    fn reset(&mut self, tuple: &Tuple, segment: &Segment) {
        if segment.flags.has(Flags::RST) {
            return;
        }
        let answer = match segment.flags.has(Flags::ACK) {
            true => Segment {
                sequence: segment.acknowledgement,
                flags: Flags::RST,
                ..Segment::default()
            },
            false => Segment {
                acknowledgement: segment.sequence.wrapping_add(segment.length() as u32),
                flags: Flags::RST | Flags::ACK,
                ..Segment::default()
            },
        };
        self.reply(tuple, answer);
    }

    fn reply(&mut self, tuple: &Tuple, segment: Segment) {
        if self.replies.len() < self.limits.replies_max {
            self.replies.push_back((*tuple, segment));
        }
    }
}
