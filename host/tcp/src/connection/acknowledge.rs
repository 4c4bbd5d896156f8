//! An acknowledgement: what it delivers, and what follows for losses and for the controller.
//!
//! ```text
//!   ACK, SACK ─► scoreboard ─► round trip ─► RACK ─► repair ─► controller ─► timer
//! ```
//! Invariants
//! 1. An ACK of what was never sent, or from before the largest window ago, is answered and not
//!    believed (RFC 5961, 5.2): an optimistic receiver cannot grow the window.
//! 2. A SACK block counts only inside of what was sent and is not acknowledged (RFC 2018, 3).
//! 3. Of a run the last packet speaks for all: its ACK number covers those before, and its window
//!    is the one that stands (RFC 9293, 3.10.7.4, fifth).
//!
//! Sources: RFC 9293, 3.10.7.4; RFC 6675, 5; RFC 8985, 6.2; RFC 2883, 4; RFC 8257, 3.3.

use super::{Connection, State};
use crate::control::{Rate, Sample, Signal};
use crate::scoreboard::Delivered;
use crate::segment::{Flags, Segment};

/// What one ACK has brought.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Brought {
    pub(super) delivered: Delivered,
    pub(super) acknowledged_bytes: u64,
    pub(super) lost_bytes: u64,
    pub(super) in_flight_before: u64,
    /// Not SACKed before, of what was outstanding.
    pub(super) flight_before: u64,
    pub(super) has_duplicate: bool,
    /// SND.UNA before.
    pub(super) una_before: u64,
}

impl Connection {
    /// Takes the ACK field and the SACK blocks. Returns whether the segment may be believed.
    pub(super) fn take_acknowledgement(
        &mut self,
        now_ns: u64,
        segment: &Segment,
        start: i64,
    ) -> bool {
        let acknowledged = self.numbers.offset(segment.last_acknowledgement(), self.una);
        let lowest = self.una as i64 - self.window.bytes_max as i64;
        if acknowledged < lowest || acknowledged > self.next as i64 {
            self.challenge(now_ns);
            return false;
        }
        let una_before = self.una;
        let mut brought = Brought {
            in_flight_before: self.board.in_flight_bytes(),
            flight_before: self.next - self.una - self.board.sacked_bytes(),
            una_before,
            ..Brought::default()
        };
        let to = (acknowledged.max(0) as u64).max(self.una);
        brought.acknowledged_bytes = to - self.una;
        if to > self.una {
            self.una = to;
            self.board.acknowledge(to, &mut brought.delivered);
        }
        if self.agreed.has_sack {
            brought.has_duplicate = self.take_blocks(segment, acknowledged, &mut brought.delivered);
        }
        self.count_duplicate(segment, acknowledged, una_before);
        if acknowledged >= una_before as i64 {
            self.take_window(segment, start, acknowledged as u64);
        }
        self.follow(now_ns, segment, brought);
        true
    }

    /// The SACK blocks. Returns whether the first one is a D-SACK (RFC 2883, 4 and 5).
    fn take_blocks(
        &mut self,
        segment: &Segment,
        acknowledged: i64,
        delivered: &mut Delivered,
    ) -> bool {
        let mut has_duplicate = false;
        let blocks = segment.options.sack.iter().map(|block| {
            let start = self.numbers.offset(block.start, self.una);
            (start, start + i64::from(block.end.wrapping_sub(block.start) as i32))
        });
        let blocks: arrayvec::ArrayVec<(i64, i64), 4> = blocks.collect();
        for (at, (start, end)) in blocks.iter().copied().enumerate() {
            let is_below = end <= acknowledged;
            let is_inside =
                at == 0 && blocks.get(1).is_some_and(|(from, to)| *from <= start && end <= *to);
            if at == 0 && start < end && (is_below || is_inside) {
                has_duplicate = start >= 0 && end <= self.next as i64;
                continue;
            }
            let is_valid = start < end && start >= self.una as i64 && end <= self.next as i64;
            if is_valid {
                self.board.sack(start as u64, end as u64, delivered);
            }
        }
        has_duplicate
    }

    /// Duplicate ACKs, which only count for a peer without SACK (RFC 5681, 2).
    fn count_duplicate(&mut self, segment: &Segment, acknowledged: i64, una_before: u64) {
        let window = u64::from(segment.window) << self.window.shift;
        let is_duplicate = acknowledged == una_before as i64
            && segment.length() == 0
            && window == self.window.bytes
            && !self.board.is_empty();
        if acknowledged > una_before as i64 {
            self.duplicates = 0;
        } else if is_duplicate && !self.agreed.has_sack {
            self.duplicates += 1;
        }
    }

    /// The send window (RFC 9293, 3.10.7.4, fifth).
    fn take_window(&mut self, segment: &Segment, start: i64, acknowledged: u64) {
        let start = start.max(0) as u64 + u64::from(segment.lead_bytes());
        let window = &mut self.window;
        let is_newer = window.by_sequence < start
            || (window.by_sequence == start && window.by_acknowledgement <= acknowledged);
        if is_newer {
            let was_closed = window.bytes == 0;
            window.bytes = u64::from(segment.last_window()) << window.shift;
            window.bytes_max = window.bytes_max.max(window.bytes);
            window.by_sequence = start;
            window.by_acknowledgement = acknowledged;
            if was_closed && window.bytes > 0 {
                self.reopen();
            }
        }
    }

    fn follow(&mut self, now_ns: u64, segment: &Segment, mut brought: Brought) {
        self.measure(now_ns, &brought.delivered);
        if brought.has_duplicate {
            self.counters.duplicates += 1;
            self.rack.note_duplicate(self.next);
        }
        self.rack.acknowledge(self.una);
        // What was found lost and comes nevertheless, sent once, was only late: of two ACKs the
        // first may tell of a repetition, the second of what was sent before it.
        if brought.delivered.is_reordered || brought.delivered.wrongly_lost_bytes > 0 {
            self.rack.note_reordering();
        }
        if brought.acknowledged_bytes > 0 {
            self.timeouts = 0;
            self.rtt.progress();
        }
        self.judge_timeout(&brought);
        self.judge_tail_probe(now_ns, &brought);
        // With SACK, losses are looked for when all that came at a time is known: of the ACKs of
        // one poll the first may tell of what is newer than what the next one tells.
        match self.agreed.has_sack {
            true => *self.loss_due.get_or_insert(0) += brought.delivered.bytes,
            false => brought.lost_bytes = self.find_losses(now_ns, brought.acknowledged_bytes > 0),
        }
        self.judge_path_probe(now_ns, &mut brought);
        self.totals.lost_bytes += brought.lost_bytes;
        self.counters.lost_bytes += brought.lost_bytes;
        let rate = self.rate(now_ns, &brought.delivered);
        let marked_bytes = self.take_echo(now_ns, segment, brought.delivered.bytes);
        self.advance_repair(now_ns, &brought);
        if brought.delivered.bytes > 0 || brought.lost_bytes > 0 {
            let sample = self.sample(now_ns, &brought, marked_bytes, rate);
            self.control.acknowledge(&sample);
        }
        let is_progress = brought.delivered.bytes > 0;
        self.rearm(now_ns, is_progress);
    }

    pub(super) fn sample(
        &self,
        now_ns: u64,
        it: &Brought,
        marked_bytes: u64,
        rate: Option<Rate>,
    ) -> Sample {
        let originals_ns = it.delivered.originals_ns.filter(|_| !it.delivered.has_repetition);
        let rtt_ns = originals_ns.map(|(_, last_ns)| now_ns - last_ns);
        Sample {
            now_ns,
            acknowledged_bytes: it.acknowledged_bytes,
            delivered_bytes: it.delivered.bytes,
            marked_bytes,
            lost_bytes: it.lost_bytes,
            late_bytes: it.delivered.wrongly_lost_bytes,
            total_delivered_bytes: self.totals.delivered_bytes,
            in_flight_bytes: [it.in_flight_before, self.board.in_flight_bytes()],
            rtt_ns,
            smoothed_ns: self.rtt.smoothed_ns().unwrap_or(0),
            rate,
            una: self.una,
            next: self.next,
            is_recovering: self.repair.as_ref().is_some_and(|it| !it.is_timeout),
            is_timed_out: self.repair.as_ref().is_some_and(|it| it.is_timeout),
        }
    }

    /// The round trip (RFC 6298, 3; RFC 8985, 6.2 steps 1 and 2).
    fn measure(&mut self, now_ns: u64, delivered: &Delivered) {
        let originals_ns = delivered.originals_ns.filter(|_| !delivered.has_repetition);
        if let Some((first_ns, last_ns)) = originals_ns {
            self.rtt.measure(now_ns - first_ns);
            self.rtt.measure_min(now_ns, now_ns - last_ns);
        }
        if let Some(newest) = delivered.newest {
            let rtt_ns = now_ns - newest.stamp.sent_ns;
            self.rack.deliver(newest.transmission, newest.is_repeated, rtt_ns, &self.rtt);
        }
    }

    /// The rate of delivery (draft-ietf-ccwg-bbr, 4.1.2.3).
    fn rate(&mut self, now_ns: u64, delivered: &Delivered) -> Option<Rate> {
        let newest = delivered.newest?;
        let totals = &mut self.totals;
        totals.delivered_bytes += delivered.bytes;
        totals.delivered_ns = now_ns;
        if totals.app_limited_to < totals.delivered_bytes {
            totals.app_limited_to = 0;
        }
        totals.first_sent_ns = totals.first_sent_ns.max(newest.stamp.sent_ns);
        let stamp = newest.stamp;
        let sending_ns = stamp.sent_ns - stamp.first_sent_ns;
        let interval_ns = sending_ns.max(now_ns - stamp.delivered_ns);
        let is_long = self.rtt.min_ns().is_some_and(|min_ns| interval_ns >= min_ns);
        is_long.then_some(Rate {
            delivered_bytes: totals.delivered_bytes - stamp.delivered_bytes,
            lost_bytes: totals.lost_bytes.saturating_sub(stamp.lost_bytes),
            interval_ns,
            prior_delivered_bytes: stamp.delivered_bytes,
            in_flight_bytes: stamp.in_flight_bytes,
            is_app_limited: stamp.is_app_limited,
        })
    }

    /// ECE (RFC 3168, 6.1.2; RFC 8257, 3.3). Returns how much of what was delivered was marked.
    fn take_echo(&mut self, now_ns: u64, segment: &Segment, delivered_bytes: u64) -> u64 {
        if !segment.flags.has(Flags::ECE) || self.state < State::Established {
            return 0;
        }
        let calls_for_less = self.marks.echo(self.una, self.next);
        if calls_for_less && !self.control.counts_marks() && self.repair.is_none() {
            let in_flight_bytes = self.board.in_flight_bytes();
            self.control.signal(now_ns, Signal::Mark, in_flight_bytes);
        }
        if self.marks.is_agreed() {
            delivered_bytes
        } else {
            0
        }
    }
}
