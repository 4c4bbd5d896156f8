//! What is sent next, and its header.
//!
//! ```text
//!   reset ─► handshake ─► ACK of a changed mark ─► ACKs inside of a run ─► ACK with blocks
//!        ─► repetition ─► tail probe ─► new data ─► probe of a closed window ─► ACK
//! ```
//! Invariants
//! 1. New data is sent only inside of the peer's window, the congestion window and the pace.
//! 2. Data carries no SACK blocks: a full segment would be too long with them. An ACK of its own
//!    goes before it where blocks are due: behind it, it would never go where data fills the queue
//!    of the card, and the peer would not learn what to repeat.
//! 3. The probe of a closed window has no payload: SND.UNA - 1, which the peer must answer.
//! 4. A partial segment is sent only where it is all there is, or half of the largest window ever,
//!    or its wait has ended (RFC 9293, 3.8.6.2.1; nothing is held back as Nagle's rule would).
//!
//! Sources: RFC 9293, 3.7 and 3.8.6; RFC 6675, 4 (NextSeg) and 5; RFC 3042; RFC 8985, 7.3.

use super::{Connection, Outgoing, State, TailProbe};
use crate::config::MS_NS;
use crate::scoreboard::Stamp;
use crate::segment::{Codepoint, Flags, Segment, SACK_BLOCKS_MAX};

impl Connection {
    /// The next header that is due; called until there is none (RFC 9293, 3.9.1).
    pub fn transmit(&mut self, now_ns: u64) -> Option<Outgoing> {
        self.is_pace_waiting = false;
        if let Some(sequence) = self.owed.reset.take() {
            return Some(self.reset(sequence));
        }
        if self.state == State::Closed {
            return None;
        }
        if let Some(delivered_bytes) = self.loss_due.take() {
            self.look_for_losses(now_ns, delivered_bytes);
        }
        if self.owed.is_handshake {
            return Some(self.handshake(now_ns));
        }
        match self.state {
            State::SynSent => return None,
            State::SynReceived => return self.acknowledgement(now_ns),
            _ => {}
        }
        if let Some((number, is_echoing)) = self.marks.change() {
            return Some(self.changed_mark(now_ns, number, is_echoing));
        }
        if self.state == State::TimeWait {
            return self.acknowledgement(now_ns);
        }
        if let Some(number) = self.receiver.step() {
            return Some(self.step(now_ns, number));
        }
        let owed = self.receiver.owes_blocks().then(|| self.acknowledgement(now_ns));
        owed.flatten()
            .or_else(|| self.repetition(now_ns))
            .or_else(|| self.tail_probe(now_ns))
            .or_else(|| self.path_probe(now_ns))
            .or_else(|| self.new_data(now_ns))
            .or_else(|| self.window_probe(now_ns))
            .or_else(|| self.acknowledgement(now_ns))
    }

    /// RFC 9293, 3.10.7.1 and 3.5.2.
    fn reset(&self, sequence: u32) -> Outgoing {
        let is_synchronised = self.state > State::SynReceived;
        let flags = if is_synchronised { Flags::RST | Flags::ACK } else { Flags::RST };
        let acknowledgement = if is_synchronised { self.receiver.number() } else { 0 };
        let segment = Segment { sequence, acknowledgement, flags, ..Segment::default() };
        Outgoing { segment, offset: 0, mss_bytes: 0 }
    }

    /// The SYN, or its answer (RFC 9293, 3.5; RFC 7323, 2.2 and 3.2; RFC 3168, 6.1.1).
    fn handshake(&mut self, now_ns: u64) -> Outgoing {
        self.note_handshake(now_ns);
        let is_answer = self.state == State::SynReceived;
        let flags = match (is_answer, self.is_syn_repeated) {
            (true, _) if self.marks.is_agreed() => Flags::SYN | Flags::ACK | Flags::ECE,
            (true, _) => Flags::SYN | Flags::ACK,
            // A path that drops ECN's SYN gets one without (RFC 3168, 6.1.1.1).
            (false, false) if self.wants_ecn() => Flags::SYN | Flags::ECE | Flags::CWR,
            (false, _) => Flags::SYN,
        };
        let mut segment = self.header(now_ns, flags, 0, 0);
        let config = &self.config;
        segment.options.mss_bytes = Some(config.mss_bytes);
        let has = |offered: bool, agreed: bool| offered && (agreed || !is_answer);
        if has(true, self.agreed.has_scale) {
            segment.options.window_scale = Some(config.window_scale.min(14));
        }
        segment.options.is_sack_permitted = has(config.is_sack_offered, self.agreed.has_sack);
        if has(config.is_timestamps_offered, self.agreed.has_timestamps) {
            let mut timestamps = self.clock.stamp(now_ns);
            timestamps.echo = if is_answer { timestamps.echo } else { 0 };
            segment.options.timestamps = Some(timestamps);
        }
        if !is_answer {
            segment.acknowledgement = 0;
        }
        Outgoing { segment, offset: 0, mss_bytes: 0 }
    }

    /// A header with what every segment says (RFC 9293, 3.1).
    fn header(&mut self, now_ns: u64, flags: Flags, offset: u64, payload_bytes: u64) -> Segment {
        let is_syn = flags.has(Flags::SYN);
        let shift = if is_syn { 0 } else { self.receiver.shift() };
        self.last_ack = self.receiver.next();
        let mut segment = Segment {
            sequence: self.numbers.of(offset),
            acknowledgement: self.receiver.number(),
            flags,
            window: self.receiver.announce(shift),
            payload_bytes: payload_bytes as u32,
            ..Segment::default()
        };
        if self.agreed.has_timestamps && !is_syn {
            segment.options.timestamps = Some(self.clock.stamp(now_ns));
        }
        if self.marks.is_echoing() && !is_syn {
            segment.flags = flags | Flags::ECE;
        }
        segment
    }

    /// Data from `start` to `end`, where the FIN may be the last (RFC 9293, 3.4).
    fn data(&mut self, now_ns: u64, start: u64, end: u64, is_new: bool) -> Outgoing {
        let mut flags = Flags::ACK;
        if end > self.offered {
            flags = flags | Flags::FIN;
            self.state = match self.state {
                State::Established => State::FinWait1,
                State::CloseWait => State::LastAck,
                state => state,
            };
        }
        if end >= self.offered {
            flags = flags | Flags::PSH;
        }
        if is_new && self.marks.is_agreed() && self.marks.take_reduced() {
            flags = flags | Flags::CWR;
        }
        let payload_bytes = end.min(self.offered) - start;
        let mut segment = self.header(now_ns, flags, start, payload_bytes);
        self.receiver.ride();
        // Neither repetitions nor probes are marked capable (RFC 3168, 6.1.5).
        if is_new && self.marks.is_agreed() && payload_bytes > 0 {
            segment.codepoint = Codepoint::Capable0;
        }
        Outgoing { segment, offset: start - 1, mss_bytes: self.mss_bytes as u32 }
    }

    /// What is known now, for the entry of a transmission (draft-ietf-ccwg-bbr, 4.1.2.2).
    fn stamp(&mut self, now_ns: u64) -> Stamp {
        let totals = &mut self.totals;
        if self.board.in_flight_bytes() == 0 {
            totals.first_sent_ns = now_ns;
            totals.delivered_ns = now_ns;
        }
        Stamp {
            sent_ns: now_ns,
            first_sent_ns: totals.first_sent_ns,
            delivered_bytes: totals.delivered_bytes,
            delivered_ns: totals.delivered_ns,
            lost_bytes: totals.lost_bytes,
            in_flight_bytes: 0,
            is_app_limited: totals.app_limited_to > 0,
        }
    }

    fn send_new(&mut self, now_ns: u64, end: u64) -> Outgoing {
        let start = self.next;
        let stamp = self.stamp(now_ns);
        self.board.send(start, end, stamp);
        self.next = end;
        self.note_cost(now_ns, end - start);
        self.note_sending(now_ns);
        self.data(now_ns, start, end, true)
    }

    fn repeat(&mut self, now_ns: u64, start: u64, end: u64) -> Outgoing {
        let stamp = self.stamp(now_ns);
        self.board.repeat(start, end, stamp);
        self.counters.repeated_bytes += end - start;
        self.note_cost(now_ns, end - start);
        self.note_sending(now_ns);
        self.data(now_ns, start, end, false)
    }

    fn note_cost(&mut self, now_ns: u64, bytes: u64) {
        if let Some(rate) = self.control.rate_bytes_per_s(self.rtt.smoothed_ns()) {
            self.pace.send(now_ns, bytes, rate);
        }
        if let Some(reduction) = self.repair.as_mut().and_then(|it| it.reduction.as_mut()) {
            reduction.send(bytes);
        }
    }

    /// Whether the pace lets something go now.
    fn is_in_pace(&mut self, now_ns: u64) -> bool {
        self.is_pace_waiting = !self.pace.is_due(now_ns);
        !self.is_pace_waiting
    }

    /// Most payload of a header: of a sixteenth of a round trip, two segments at least.
    fn chunk_bytes(&self) -> u64 {
        let most_bytes = u64::from(self.config.chunk_bytes_max);
        let smoothed_ns = self.rtt.smoothed_ns();
        let time_ns = smoothed_ns.map_or(0, |it| it / 16).min(MS_NS);
        let rate = self.control.rate_bytes_per_s(smoothed_ns).unwrap_or(0);
        let bytes = (u128::from(rate) * u128::from(time_ns) / 1_000_000_000) as u64;
        let bytes = bytes.max(2 * self.mss_bytes).min(most_bytes).max(self.mss_bytes);
        bytes - bytes % self.mss_bytes
    }

    /// What the congestion window leaves.
    fn room_bytes(&self) -> u64 {
        self.congestion_window_bytes().saturating_sub(self.board.in_flight_bytes())
    }

    /// What the peer's window leaves (RFC 9293, 3.8.6: U).
    pub(super) fn usable_bytes(&self) -> u64 {
        (self.una + self.window.bytes).saturating_sub(self.next)
    }

    /// Whether there is something new that the peer's window lets go.
    pub(super) fn has_new_data(&self) -> bool {
        self.next < self.send_end() && self.usable_bytes() > 0 && self.board.has_room()
    }

    /// The lowest range that is lost (RFC 6675, 4: NextSeg, rule 1).
    fn repetition(&mut self, now_ns: u64) -> Option<Outgoing> {
        let lost = self.board.next_lost()?;
        if self.doubt.is_some_and(|doubt| doubt.allowed_bytes.is_some()) || !self.board.has_room() {
            return None;
        }
        let room_bytes = self.room_bytes();
        let least_bytes = lost.bytes().min(self.mss_bytes);
        let is_first = self.board.in_flight_bytes() == 0;
        if (room_bytes < least_bytes && !is_first) || !self.is_in_pace(now_ns) {
            return None;
        }
        let whole_bytes = (room_bytes - room_bytes % self.mss_bytes).max(least_bytes);
        let bytes = lost.bytes().min(whole_bytes).min(self.chunk_bytes());
        Some(self.repeat(now_ns, lost.start, lost.start + bytes))
    }

    /// RFC 8985, 7.3: new data if there is some, else the last segment again.
    fn tail_probe(&mut self, now_ns: u64) -> Option<Outgoing> {
        if !std::mem::take(&mut self.owed.is_tail_probe) {
            return None;
        }
        let (_, last) = self.board.ends()?;
        self.counters.tail_probes += 1;
        let is_repetition = !self.has_new_data();
        let outgoing = if is_repetition {
            let start = last.start.max(last.end.saturating_sub(self.mss_bytes));
            self.repeat(now_ns, start, last.end)
        } else {
            let most_bytes = self.mss_bytes.min(self.usable_bytes());
            let end = self.send_end().min(self.next + most_bytes);
            self.send_new(now_ns, end)
        };
        self.tail_probe = Some(TailProbe { end: self.next, is_repetition });
        Some(outgoing)
    }

    /// New data, with the FIN behind the last (RFC 9293, 3.8.6.2.1; RFC 6675, 4: rule 2).
    fn new_data(&mut self, now_ns: u64) -> Option<Outgoing> {
        if self.next >= self.send_end() || !self.board.has_room() {
            self.note_idle();
            return None;
        }
        let (left_bytes, usable_bytes) = (self.offered - self.next, self.usable_bytes());
        if usable_bytes == 0 {
            self.note_idle();
            self.wait_for_window(now_ns);
            return None;
        }
        self.restart_if_idle(now_ns);
        let room_bytes = self.new_room_bytes(left_bytes.min(self.mss_bytes))?;
        let is_partial = std::mem::take(&mut self.owed.is_partial);
        let most_bytes = room_bytes.min(self.chunk_bytes());
        let mut bytes = left_bytes.min(usable_bytes).min(most_bytes);
        let is_short = bytes < left_bytes && bytes < self.mss_bytes;
        if is_short && bytes * 2 < self.window.bytes_max && !is_partial {
            self.wait_for_window(now_ns);
            return None;
        }
        if !self.is_in_pace(now_ns) {
            self.owed.is_partial = is_partial;
            return None;
        }
        if bytes < left_bytes && bytes > self.mss_bytes {
            bytes -= bytes % self.mss_bytes;
        }
        let is_fin = self.is_finished && bytes == left_bytes && bytes < usable_bytes;
        if bytes == 0 && !is_fin {
            return None;
        }
        if let Some(allowed_bytes) = self.doubt.as_mut().and_then(|it| it.allowed_bytes.as_mut()) {
            *allowed_bytes = allowed_bytes.saturating_sub(bytes);
        }
        Some(self.send_new(now_ns, self.next + bytes + u64::from(is_fin)))
    }

    /// Room for new data, if it is enough for `least_bytes` (RFC 3042; RFC 5682, 3.1 step 2b).
    fn new_room_bytes(&self, least_bytes: u64) -> Option<u64> {
        if let Some(allowed_bytes) = self.doubt.and_then(|doubt| doubt.allowed_bytes) {
            return (allowed_bytes >= least_bytes).then_some(allowed_bytes);
        }
        // With SACK the pipe shrinks by what is SACKed, so limited transmit is in the window.
        let extra_bytes = u64::from(self.duplicates.min(2)) * self.mss_bytes;
        let extra_bytes = if self.repair.is_none() { extra_bytes } else { 0 };
        let window_bytes = self.congestion_window_bytes() + extra_bytes;
        let room_bytes = window_bytes.saturating_sub(self.board.in_flight_bytes());
        let is_first = self.board.is_empty();
        match room_bytes >= least_bytes || is_first {
            true => Some(room_bytes.max(least_bytes)),
            false => None,
        }
    }

    /// The application or the peer is the limit now (draft-ietf-ccwg-bbr, 4.1.2.4).
    fn note_idle(&mut self) {
        let in_flight_bytes = self.board.in_flight_bytes();
        let is_limit = in_flight_bytes < self.congestion_window_bytes();
        if is_limit && self.board.next_lost().is_none() {
            self.totals.app_limited_to = (self.totals.delivered_bytes + in_flight_bytes).max(1);
        }
    }

    /// RFC 5681, 4.1: a window that was not used for a timeout is not believed.
    fn restart_if_idle(&mut self, now_ns: u64) {
        let is_idle = self.board.is_empty() && self.last_sent_ns > 0;
        if is_idle && now_ns > self.last_sent_ns + self.rtt.rto_ns() {
            self.control.idle();
            self.last_sent_ns = now_ns;
        }
    }

    /// RFC 9293, 3.8.6.1.
    fn window_probe(&mut self, now_ns: u64) -> Option<Outgoing> {
        if !std::mem::take(&mut self.owed.is_window_probe) {
            return None;
        }
        let segment = self.header(now_ns, Flags::ACK, self.una - 1, 0);
        Some(Outgoing { segment, offset: 0, mss_bytes: 0 })
    }

    /// An ACK, with as many SACK blocks as fit (RFC 2018, 3).
    fn acknowledgement(&mut self, now_ns: u64) -> Option<Outgoing> {
        if !self.receiver.is_due(now_ns) {
            return None;
        }
        let mut segment = self.header(now_ns, Flags::ACK, self.next, 0);
        let blocks_max = match (self.agreed.has_sack, self.agreed.has_timestamps) {
            (false, _) => 0,
            (true, true) => SACK_BLOCKS_MAX - 1,
            (true, false) => SACK_BLOCKS_MAX,
        };
        segment.options.sack = self.receiver.blocks(blocks_max);
        Some(Outgoing { segment, offset: 0, mss_bytes: 0 })
    }

    /// RFC 8257, 3.2: what came before the mark changed is acknowledged with the old echo.
    fn changed_mark(&mut self, now_ns: u64, number: u32, is_echoing: bool) -> Outgoing {
        let mut segment = self.header(now_ns, Flags::ACK, self.next, 0);
        segment.acknowledgement = number;
        segment.flags = if is_echoing { Flags::ACK | Flags::ECE } else { Flags::ACK };
        Outgoing { segment, offset: 0, mss_bytes: 0 }
    }

    /// RFC 5681, 4.2: what packets of a run, one by one, would have had acknowledged. The window
    /// ends where that of the last ACK ends (RFC 9293, 3.8.6).
    fn step(&mut self, now_ns: u64, number: u64) -> Outgoing {
        let behind = self.receiver.next() - number;
        let mut segment = self.header(now_ns, Flags::ACK, self.next, 0);
        let window = u64::from(segment.window) + (behind >> self.receiver.shift());
        segment.acknowledgement = self.receiver.numbers().of(number);
        segment.window = window.min(u16::MAX.into()) as u16;
        Outgoing { segment, offset: 0, mss_bytes: 0 }
    }

    /// New data of one segment that is longer than any before (RFC 4821, 7.3).
    fn path_probe(&mut self, now_ns: u64) -> Option<Outgoing> {
        let bytes = self.path_probe_bytes(now_ns)?;
        let left_bytes = self.offered.saturating_sub(self.next);
        let is_possible = self.repair.is_none()
            && self.board.has_room()
            && left_bytes >= bytes
            && self.usable_bytes() >= bytes
            && self.room_bytes() >= bytes;
        if !is_possible || !self.is_in_pace(now_ns) {
            return None;
        }
        self.note_path_probe(bytes);
        let mut outgoing = self.send_new(now_ns, self.next + bytes);
        outgoing.mss_bytes = bytes as u32;
        Some(outgoing)
    }
}
