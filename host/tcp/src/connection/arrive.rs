//! A segment arrives: the checks of the standard in its order, then what it says.
//!
//! ```text
//!   timestamp ─► sequence ─► RST ─► SYN ─► ACK ─► payload ─► FIN
//!      old: ACK    outside: ACK  exact: end; near: challenge
//! ```
//! Invariants
//! 1. Nothing of a segment is believed before its sequence number and timestamp are acceptable.
//! 2. A reset ends the connection only at exactly RCV.NXT (RFC 5961, 3.2).
//! 3. Challenge ACKs are limited per connection: a limit for all would tell one about another.
//! 4. The urgent pointer is not looked at: urgent data is data (RFC 9293, 3.8.5; RFC 6093).
//! 5. A run is taken as one segment with the payload of all. The timestamp that is checked, and
//!    echoed, is that of its first packet, as if all had come before an ACK was sent (RFC 7323, 4.3
//!    and 5.3); which ACKs follow says `receive.rs`.
//!
//! Sources: RFC 9293, 3.10.7; RFC 5961, 3 to 5; RFC 7323, 5.3.

use super::open::Offer;
use super::{Arrival, Connection, End, Purpose, State};
use crate::config::S_NS;
use crate::ranges::Range;
use crate::receive::Verdict;
use crate::segment::{Flags, Segment};

impl Connection {
    /// A segment of this connection arrives (RFC 9293, 3.10.7). `has_room` says whether its payload
    /// can be kept.
    pub fn arrive(&mut self, now_ns: u64, segment: &Segment, has_room: bool) -> Arrival {
        let verdict = match self.state {
            State::SynSent => {
                self.arrive_in_syn_sent(now_ns, segment);
                Verdict::Refused
            }
            State::TimeWait | State::Closed => Verdict::Refused,
            _ => self.arrive_synchronised(now_ns, segment, has_room),
        };
        Arrival {
            verdict,
            accepted_to: self.receiver.accepted_to(),
            acknowledged_to: self.una.clamp(1, self.offered) - 1,
        }
    }

    /// RFC 9293, 3.10.7.3.
    fn arrive_in_syn_sent(&mut self, now_ns: u64, segment: &Segment) {
        let flags = segment.flags;
        let is_ours = segment.acknowledgement == self.numbers.of(1) && self.next == 1;
        if flags.has(Flags::ACK) && !is_ours {
            if !flags.has(Flags::RST) {
                self.owed.reset = Some(segment.acknowledgement);
            }
            return;
        }
        if flags.has(Flags::RST) {
            if flags.has(Flags::ACK) {
                self.close(End::Refused);
            }
            return;
        }
        if !flags.has(Flags::SYN) {
            return;
        }
        self.agree(now_ns, segment.sequence, &Offer::of(segment));
        self.window.bytes = segment.window.into();
        self.window.bytes_max = segment.window.into();
        if flags.has(Flags::ACK) {
            self.open(now_ns);
            self.receiver.acknowledge_now();
        } else {
            // Both ends have opened at once (RFC 9293, 3.5, figure 7).
            self.state = State::SynReceived;
            self.owed.is_handshake = true;
        }
    }

    fn arrive_synchronised(&mut self, now_ns: u64, segment: &Segment, has_room: bool) -> Verdict {
        let start = self.receiver.numbers().offset(segment.sequence, self.receiver.next());
        let flags = segment.flags;
        if self.is_late(now_ns, segment) {
            return Verdict::Refused;
        }
        if self.state == State::SynReceived && flags.has(Flags::SYN) && start == 0 {
            return self.arrive_syn_again(now_ns, segment);
        }
        let fills_closed_window = start == self.receiver.next() as i64;
        // A FIN needs no memory: it is taken through a closed window, or a host that grants nothing
        // could never close.
        let is_bare_fin =
            fills_closed_window && segment.payload_bytes == 0 && flags.has(Flags::FIN);
        let is_acceptable = is_bare_fin || self.receiver.is_acceptable(start, segment.length());
        if !is_acceptable && (flags.has(Flags::SYN) || !fills_closed_window) {
            return self.refuse(now_ns, segment, start);
        }
        if flags.has(Flags::RST) {
            match start == self.receiver.next() as i64 {
                true => self.close(End::Reset),
                false => self.challenge(now_ns),
            }
            return Verdict::Refused;
        }
        if flags.has(Flags::SYN) {
            self.challenge(now_ns);
            return Verdict::Refused;
        }
        if !flags.has(Flags::ACK) {
            return Verdict::Refused;
        }
        if self.state == State::SynReceived && !self.finish_handshake(now_ns, segment) {
            return Verdict::Refused;
        }
        if !self.take_acknowledgement(now_ns, segment, start) {
            return Verdict::Refused;
        }
        self.note_timestamp(now_ns, segment, start);
        self.advance_state(now_ns);
        if !is_acceptable {
            self.receiver.acknowledge_now();
            return Verdict::Refused;
        }
        self.take_payload(now_ns, segment, start, has_room)
    }

    /// Whether a segment that was not taken repeats what was: it lies over bytes before RCV.NXT, or
    /// over bytes beyond a hole that are held; its ACK is one that this connection may get (RFC
    /// 5961, 5.2), and its timestamp is not long past (RFC 7323, 5.3). A card has placed its
    /// payload over what was accepted: of a repetition the bytes are the same.
    pub fn is_repetition(&self, segment: &Segment) -> bool {
        let next = self.receiver.next();
        let start = self.receiver.numbers().offset(segment.sequence, next);
        let end = start + i64::from(segment.payload_bytes);
        let flags = segment.flags;
        let is_data = flags.has(Flags::ACK) && !flags.has(Flags::SYN) && !flags.has(Flags::RST);
        let is_over =
            segment.payload_bytes > 0 && start >= 1 && self.receiver.holds_any(start, end);
        let acknowledged = self.numbers.offset(segment.acknowledgement, self.una);
        let lowest = self.una as i64 - self.window.bytes_max as i64;
        let is_plausible = lowest <= acknowledged && acknowledged <= self.next as i64;
        let is_recent = !self.agreed.has_timestamps
            || segment.options.timestamps.is_some_and(|it| self.clock.is_recent(it.value));
        is_over && is_data && is_plausible && is_recent
    }

    /// PAWS, and segments without the timestamp that was agreed (RFC 7323, 3.2 and 5.3).
    fn is_late(&mut self, now_ns: u64, segment: &Segment) -> bool {
        if !self.agreed.has_timestamps || segment.flags.has(Flags::RST) {
            return false;
        }
        let Some(timestamps) = segment.options.timestamps else { return true };
        let is_late = self.clock.is_old(now_ns, timestamps.value);
        if is_late {
            self.counters.old_timestamps += 1;
            self.challenge(now_ns);
        }
        is_late
    }

    /// The peer's SYN comes again, or with the ACK of ours (RFC 9293, 3.5, figures 7 and 8).
    fn arrive_syn_again(&mut self, now_ns: u64, segment: &Segment) -> Verdict {
        let is_ours = segment.acknowledgement == self.numbers.of(1) && self.next == 1;
        if segment.flags.has(Flags::ACK) && is_ours {
            self.open(now_ns);
            self.receiver.acknowledge_now();
        } else if !segment.flags.has(Flags::ACK) {
            self.owed.is_handshake = true;
        }
        Verdict::Refused
    }

    /// A segment outside of the window (RFC 9293, 3.10.7.4, first; RFC 5961, 4.2 for the SYN).
    fn refuse(&mut self, now_ns: u64, segment: &Segment, start: i64) -> Verdict {
        if segment.flags.has(Flags::RST) {
            return Verdict::Refused;
        }
        let (next, bytes) = (self.receiver.next() as i64, u64::from(segment.payload_bytes));
        let end = start + bytes as i64;
        let is_of_stream = bytes > 0 && start >= 1 && end <= next;
        // Old data and probes of the window are answered always; the rest within the limit, lest
        // two ends answer each other for ever.
        let is_probe = start == next - 1;
        if segment.flags.has(Flags::SYN) || !(is_of_stream || is_probe || bytes > 0) {
            self.challenge(now_ns);
            return Verdict::Refused;
        }
        if is_of_stream {
            self.receiver.report_old(start, bytes);
            return if self.is_repetition(segment) { Verdict::Ignored } else { Verdict::Refused };
        }
        self.receiver.acknowledge_now();
        Verdict::Refused
    }

    /// A challenge ACK, if the limit allows (RFC 5961, 3.2, 4.2, 5.2 and 7).
    pub(super) fn challenge(&mut self, now_ns: u64) {
        if now_ns >= self.challenge_window_ns + S_NS {
            self.challenge_window_ns = now_ns;
            self.challenges_left = self.config.challenges_max;
        }
        if self.challenges_left == 0 {
            self.counters.challenges_withheld += 1;
            return;
        }
        self.challenges_left -= 1;
        self.counters.challenges += 1;
        self.receiver.acknowledge_now();
    }

    /// The ACK of our SYN (RFC 9293, 3.10.7.4, fifth: SYN-RECEIVED).
    fn finish_handshake(&mut self, now_ns: u64, segment: &Segment) -> bool {
        let acknowledged = self.numbers.offset(segment.acknowledgement, 1);
        if acknowledged != 1 {
            self.owed.reset = Some(segment.acknowledgement);
            return false;
        }
        self.open(now_ns);
        true
    }

    fn note_timestamp(&mut self, now_ns: u64, segment: &Segment, start: i64) {
        let timestamps = segment.options.timestamps.filter(|_| self.agreed.has_timestamps);
        if let Some(timestamps) = timestamps.filter(|_| start <= self.last_ack as i64) {
            self.clock.take(now_ns, timestamps.value);
        }
    }

    /// What the ACK of our FIN changes (RFC 9293, 3.10.7.4, fifth).
    fn advance_state(&mut self, now_ns: u64) {
        if !self.is_finished || self.una != self.send_end() {
            return;
        }
        match self.state {
            State::FinWait1 => {
                self.state = State::FinWait2;
                if self.is_released {
                    self.timer = Some((Purpose::Orphan, now_ns + self.config.time_wait_ns));
                }
            }
            State::Closing => self.wait(),
            State::LastAck => self.close(End::Closed),
            _ => {}
        }
    }

    /// Both FINs are acknowledged: the endpoint keeps the tuple for 2 MSL (RFC 9293, 3.6.1).
    fn wait(&mut self) {
        self.state = State::TimeWait;
        self.end.get_or_insert(End::Closed);
        self.timer = None;
        self.reorder_ns = None;
    }

    fn take_payload(
        &mut self,
        now_ns: u64,
        segment: &Segment,
        start: i64,
        has_room: bool,
    ) -> Verdict {
        let bytes = u64::from(segment.payload_bytes);
        let is_open = matches!(self.state, State::Established | State::FinWait1 | State::FinWait2);
        if bytes > 0 && (!is_open || !has_room) {
            return Verdict::Refused;
        }
        if self.is_released && start + bytes as i64 > self.receiver.next() as i64 && bytes > 0 {
            self.abort();
            return Verdict::Refused;
        }
        if segment.length() > 0 {
            let number = self.receiver.number();
            let unacknowledged = self.receiver.has_quiet().then_some(number);
            if self.marks.take(segment, unacknowledged) {
                self.receiver.acknowledge_now();
            }
        }
        let was_ended = self.receiver.is_ended();
        let is_fin = segment.flags.has(Flags::FIN);
        let mut verdict = match segment.length() {
            0 => self.receiver.take_nothing(),
            _ => self.receiver.take(now_ns, start, bytes, is_fin),
        };
        if self.receiver.is_ended() && !was_ended {
            self.take_fin();
        }
        if let (Some(run), Verdict::Taken(range)) = (segment.run, verdict) {
            let range = self.take_rest(now_ns, range, start + bytes as i64);
            self.receiver.owe_steps(range, run.segment_bytes.into());
            verdict = Verdict::Taken(range);
        }
        verdict
    }

    /// Takes what is behind the first part of a run, which ends before `end`: each of its packets
    /// may fill a hole of its own. Returns the range of all that was taken.
    fn take_rest(&mut self, now_ns: u64, taken: Range, end: i64) -> Range {
        let mut all = taken;
        while (all.end as i64) < end - 1 {
            let from = all.end as i64 + 1;
            let more = self.receiver.take(now_ns, from, (end - from) as u64, false);
            match more {
                Verdict::Taken(range) if range.end > all.end => all.end = range.end,
                _ => break,
            }
        }
        all
    }

    /// RFC 9293, 3.10.7.4, eighth.
    fn take_fin(&mut self) {
        match self.state {
            State::Established => self.state = State::CloseWait,
            State::FinWait1 => self.state = State::Closing,
            State::FinWait2 => self.wait(),
            _ => {}
        }
    }
}
