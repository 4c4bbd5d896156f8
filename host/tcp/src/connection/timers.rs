//! What is due when: timeouts, tail probes, window probes, the reordering timer.
//!
//! ```text
//!   one timer, for one purpose: handshake │ timeout │ tail probe │ persist │ orphan
//!   beside it: reordering (RACK), the delayed ACK, the pace
//! ```
//! Invariants
//! 1. While anything is outstanding, the timer runs (RFC 6298, 5.1).
//! 2. While something waits for a closed window and nothing is outstanding, it runs as well
//!    (RFC 9293, 3.8.6.1).
//!
//! Sources: RFC 6298, 5; RFC 8985, 7.2 and 7.3; RFC 9293, 3.8.3 and 3.8.6.1.

use super::acknowledge::Brought;
use super::{Connection, End, Purpose, State};

impl Connection {
    /// When it acts next, if nothing comes before (RFC 9293, 3.10.8).
    pub fn deadline(&self) -> Option<u64> {
        let pace_ns = self.is_pace_waiting.then(|| self.pace.next_ns());
        let timer_ns = self.timer.map(|(_, at_ns)| at_ns);
        let can_acknowledge = !matches!(self.state, State::SynSent | State::Closed);
        let ack_ns = self.receiver.deadline().filter(|_| can_acknowledge);
        [pace_ns, timer_ns, self.reorder_ns, ack_ns].into_iter().flatten().min()
    }

    /// Acts on what is due (RFC 9293, 3.10.8).
    pub fn advance(&mut self, now_ns: u64) {
        if self.reorder_ns.is_some_and(|at_ns| at_ns <= now_ns) && self.loss_due.is_none() {
            self.look_for_losses(now_ns, 0);
        }
        if let Some((purpose, _)) = self.timer.filter(|(_, at_ns)| *at_ns <= now_ns) {
            self.timer = None;
            self.expire(now_ns, purpose);
        }
    }

    /// The reordering timer has expired, or ACKs have come (RFC 8985, 6.2 step 5 and 6.3).
    /// `delivered_bytes` have come since it was looked for last.
    pub(super) fn look_for_losses(&mut self, now_ns: u64, delivered_bytes: u64) {
        let mut brought = Brought {
            in_flight_before: self.board.in_flight_bytes(),
            flight_before: self.next - self.una - self.board.sacked_bytes(),
            una_before: self.una,
            ..Brought::default()
        };
        brought.lost_bytes = self.find_losses(now_ns, false);
        self.judge_path_probe(now_ns, &mut brought);
        self.totals.lost_bytes += brought.lost_bytes;
        self.counters.lost_bytes += brought.lost_bytes;
        if self.repair.is_none() && brought.lost_bytes > 0 {
            // What has told of the loss counts as delivered by the repair (RFC 9937, 6).
            brought.delivered.bytes = delivered_bytes;
            brought.flight_before += delivered_bytes;
        }
        self.advance_repair(now_ns, &brought);
        brought.delivered.bytes = 0;
        if brought.lost_bytes > 0 {
            let sample = self.sample(now_ns, &brought, 0, None);
            self.control.acknowledge(&sample);
        }
    }

    fn expire(&mut self, now_ns: u64, purpose: Purpose) {
        self.timeouts += 1;
        let timeouts_max = match purpose {
            Purpose::Handshake => self.config.syn_timeouts_max,
            Purpose::Orphan => 0,
            _ => self.config.timeouts_max,
        };
        if self.timeouts > timeouts_max {
            let reset = self.numbers.of(self.next);
            self.owed.reset = (self.state != State::SynSent).then_some(reset);
            self.close(End::TimedOut(timeouts_max));
            return;
        }
        match purpose {
            Purpose::Handshake => {
                self.rtt.back_off();
                self.owed.is_handshake = true;
            }
            Purpose::Timeout => {
                self.counters.timeouts += 1;
                self.rtt.back_off();
                self.time_out(now_ns);
                self.judge_black_hole();
                self.timer = Some((Purpose::Timeout, now_ns + self.rtt.rto_ns()));
            }
            Purpose::TailProbe => {
                self.timeouts -= 1;
                self.owed.is_tail_probe = true;
                self.timer = Some((Purpose::Timeout, now_ns + self.rtt.rto_ns()));
            }
            Purpose::Persist => {
                self.rtt.back_off();
                self.owed.is_window_probe = self.usable_bytes() == 0;
                self.owed.is_partial = !self.owed.is_window_probe;
                self.timer = Some((Purpose::Persist, now_ns + self.rtt.rto_ns()));
            }
            Purpose::Orphan => {}
        }
    }

    /// Sets the timer after an acknowledgement (RFC 6298, 5.2 and 5.3).
    pub(super) fn rearm(&mut self, now_ns: u64, is_progress: bool) {
        if self.board.is_empty() {
            // Any answer shows that the peer is there (RFC 9293, 3.8.6.1).
            self.timeouts = 0;
            if !matches!(self.timer, Some((Purpose::Persist | Purpose::Orphan, _))) {
                self.timer = None;
            }
            return;
        }
        if is_progress || self.timer.is_none() {
            self.start_timer(now_ns);
        }
    }

    /// Something was sent that will be acknowledged (RFC 6298, 5.1; RFC 8985, 7.2).
    pub(super) fn note_sending(&mut self, now_ns: u64) {
        self.last_sent_ns = now_ns;
        if !matches!(self.timer, Some((Purpose::Timeout, _))) {
            self.start_timer(now_ns);
        }
    }

    fn start_timer(&mut self, now_ns: u64) {
        let rto_ns = self.rtt.rto_ns();
        self.timer = Some(match self.probe_timeout_ns().filter(|pto_ns| *pto_ns < rto_ns) {
            Some(pto_ns) => (Purpose::TailProbe, now_ns + pto_ns),
            None => (Purpose::Timeout, now_ns + rto_ns),
        });
    }

    /// PTO (RFC 8985, 7.2); `None` where no tail probe may be sent.
    fn probe_timeout_ns(&self) -> Option<u64> {
        let may_probe = self.agreed.has_sack
            && self.repair.is_none()
            && self.tail_probe.is_none()
            && self.board.sacked_bytes() == 0
            && self.timeouts == 0;
        let smoothed_ns = self.rtt.smoothed_ns().filter(|_| may_probe)?;
        let is_alone = self.next - self.una <= self.mss_bytes;
        let delay_ns = if is_alone { self.config.peer_ack_delay_ns } else { 0 };
        Some(2 * smoothed_ns + delay_ns)
    }

    /// Something waits for the window (RFC 9293, 3.8.6.1).
    pub(super) fn wait_for_window(&mut self, now_ns: u64) {
        if self.board.is_empty() && self.timer.is_none() {
            self.timer = Some((Purpose::Persist, now_ns + self.rtt.rto_ns()));
        }
    }

    /// The window is open again.
    pub(super) fn reopen(&mut self) {
        if matches!(self.timer, Some((Purpose::Persist, _))) {
            self.timer = None;
            self.rtt.progress();
        }
        self.owed.is_window_probe = false;
    }
}
