//! What is lost is found and sent again: fast recovery, timeouts, tail probes.
//!
//! ```text
//!   RACK finds losses ─► repair, reduced by PRR ─► RecoveryPoint acknowledged
//!   timeout ─► all lost, one segment ─► F-RTO: new data instead ─► for nothing: undone
//!   tail probe ─► its ACK shows the loss of the tail
//! ```
//! Invariants
//! 1. The controller hears of one loss for each repair, and of one timeout for each repair by
//!    timeout (RFC 5681, 3.1).
//! 2. A path probe that is lost is no sign of congestion (RFC 4821, 7.4).
//!
//! Sources: RFC 8985, 6 and 7.4; RFC 6675, 5; RFC 9937, 6; RFC 5682, 3.1; RFC 6298, 5; RFC 6582.

use super::acknowledge::Brought;
use super::{Connection, Doubt, Repair};
use crate::control::Signal;
use crate::rate_reduction::{Progress, RateReduction};

/// Duplicate ACKs that mean a loss, from a peer without SACK (RFC 5681, 3.2).
const DUPLICATES: u32 = 3;

impl Connection {
    /// Looks for losses by RACK (RFC 8985, 6.2 step 5), or without SACK by duplicate ACKs.
    pub(super) fn find_losses(&mut self, now_ns: u64, has_advanced: bool) -> u64 {
        if !self.agreed.has_sack {
            return self.find_losses_by_duplicates(has_advanced);
        }
        let segments_sacked = self.board.sacked_bytes() / self.mss_bytes;
        let window_ns = self.rack.window_ns(&self.rtt, self.repair.is_some(), segments_sacked);
        let (lost_bytes, due_ns) = self.board.detect_losses(now_ns, &self.rack, window_ns);
        self.reorder_ns = due_ns;
        lost_bytes
    }

    /// RFC 6582, 3.2: the third duplicate, and each ACK that does not end the repair.
    fn find_losses_by_duplicates(&mut self, has_advanced: bool) -> u64 {
        let is_partial = has_advanced
            && self.repair.as_ref().is_some_and(|it| !it.is_timeout && self.una < it.point);
        let is_third = self.duplicates == DUPLICATES && self.repair.is_none();
        match is_third || is_partial {
            true => self.board.lose_first(self.mss_bytes),
            false => 0,
        }
    }

    /// Begins, goes on with or ends a repair (RFC 6675, 5; RFC 9937, 6).
    pub(super) fn advance_repair(&mut self, now_ns: u64, brought: &Brought) {
        if self.repair.as_ref().is_some_and(|it| self.una >= it.point) {
            self.repair = None;
            self.rack.recover();
        }
        if self.repair.is_none() && brought.lost_bytes > 0 {
            self.begin_repair(now_ns, brought);
        }
        let threshold_bytes = self.control.threshold_bytes();
        let reduction = self.repair.as_mut().and_then(|it| it.reduction.as_mut());
        if let (Some(reduction), Some(threshold_bytes)) = (reduction, threshold_bytes) {
            reduction.acknowledge(&Progress {
                delivered_bytes: brought.delivered.bytes,
                in_flight_bytes: self.board.in_flight_bytes(),
                threshold_bytes,
                is_safe: brought.acknowledged_bytes > 0 && brought.lost_bytes == 0,
                mss_bytes: self.mss_bytes,
            });
        }
    }

    fn begin_repair(&mut self, now_ns: u64, brought: &Brought) {
        let window_bytes = self.control.window_bytes();
        // FlightSize (RFC 5681, 2): what is SACKed counts.
        self.control.signal(now_ns, Signal::Loss, self.next - self.una);
        let reduces = self.control.threshold_bytes().is_some();
        let reduction = reduces.then(|| RateReduction::new(brought.flight_before, window_bytes));
        self.repair = Some(Repair { point: self.next, is_timeout: false, reduction });
    }

    /// The retransmission timer has expired (RFC 6298, 5.4 to 5.6; RFC 5682, 3.1 step 1).
    pub(super) fn time_out(&mut self, now_ns: u64) {
        let is_again = self.repair.as_ref().is_some_and(|it| it.is_timeout);
        let is_repairing = self.repair.is_some();
        if !is_again || self.timeouts == 1 {
            let in_flight_bytes = self.board.in_flight_bytes();
            self.control.signal(now_ns, Signal::Timeout, in_flight_bytes);
        }
        let transmission = self.board.next_transmission();
        let lost_bytes = self.board.lose_all();
        self.totals.lost_bytes += lost_bytes;
        self.counters.lost_bytes += lost_bytes;
        self.reorder_ns = None;
        self.tail_probe = None;
        self.duplicates = 0;
        self.doubt = (!is_repairing).then_some(Doubt { transmission, allowed_bytes: None });
        self.repair = Some(Repair { point: self.next, is_timeout: true, reduction: None });
        self.pace = Default::default();
    }

    /// Whether the timeout was for nothing (RFC 5682, 3.1 steps 2 and 3).
    pub(super) fn judge_timeout(&mut self, brought: &Brought) {
        let Some(doubt) = self.doubt else { return };
        let has_advanced = self.una > brought.una_before;
        let is_done = self.repair.as_ref().is_none_or(|it| self.una >= it.point);
        match doubt.allowed_bytes {
            None if has_advanced && !is_done && self.has_new_data() => {
                let allowed_bytes = Some(2 * self.mss_bytes);
                self.doubt = Some(Doubt { allowed_bytes, ..doubt });
            }
            None if has_advanced || brought.delivered.bytes > 0 => self.doubt = None,
            None => {}
            Some(_) => {
                let original = brought.delivered.original_transmission;
                self.doubt = None;
                if original.is_some_and(|number| number < doubt.transmission) {
                    self.undo_timeout();
                }
            }
        }
    }

    fn undo_timeout(&mut self) {
        let restored_bytes = self.board.restore();
        self.totals.lost_bytes = self.totals.lost_bytes.saturating_sub(restored_bytes);
        self.counters.timeouts_undone += 1;
        self.control.restore();
        self.repair = None;
    }

    /// Whether the tail probe has repaired a loss (RFC 8985, 7.4.2).
    pub(super) fn judge_tail_probe(&mut self, now_ns: u64, brought: &Brought) {
        let Some(probe) = self.tail_probe.filter(|probe| self.una >= probe.end) else { return };
        let is_duplicate = brought.acknowledged_bytes == 0 && brought.delivered.bytes == 0;
        if !probe.is_repetition || brought.has_duplicate || is_duplicate {
            self.tail_probe = None;
        } else if self.una > probe.end {
            // No D-SACK came before something newer: the original was lost.
            self.tail_probe = None;
            self.control.signal(now_ns, Signal::Loss, brought.in_flight_before);
        }
    }
}
