//! DCTCP: the window shrinks by the share of what was marked.
//!
//! ```text
//!   alpha <- alpha (1 - g) + g M    M: marked share of a window    cwnd <- cwnd (1 - alpha/2)
//! ```
//! Invariants
//! 1. At most one reduction for each window of data, by marks or by loss.
//! 2. A loss is answered as Reno does (RFC 8257, 3.4).
//!
//! Source: RFC 8257, 3.3 to 3.6; RFC 5681, 3.1 for growth.

use super::{initial_window_bytes, scale, window_rate, Controller, Sample, Signal};

/// 1 / g (RFC 8257, 4.2).
const GAIN_DIVISOR: u64 = 16;
/// Unit of alpha.
const ONE: u64 = 1 << 20;

/// The DCTCP controller (RFC 8257, 3.3).
#[derive(Clone, Debug)]
pub struct Dctcp {
    mss_bytes: u64,
    window_bytes: u64,
    threshold_bytes: u64,
    alpha: u64,
    /// DCTCP.WindowEnd.
    window_end: u64,
    acknowledged_bytes: u64,
    marked_bytes: u64,
    /// Acknowledged since the window last grew by a segment.
    credit_bytes: u64,
    /// Whether this window of data has already called for less.
    is_reduced: bool,
    /// Everything before it was sent before the last reduction by marks, and calls for no other.
    reduced_to: u64,
    before: Option<(u64, u64)>,
}

impl Dctcp {
    /// In slow start, with alpha 1 (RFC 8257, 3.3).
    pub fn new(mss_bytes: u64) -> Self {
        Self {
            mss_bytes,
            window_bytes: initial_window_bytes(mss_bytes),
            threshold_bytes: u64::MAX,
            alpha: ONE,
            window_end: 0,
            acknowledged_bytes: 0,
            marked_bytes: 0,
            credit_bytes: 0,
            is_reduced: false,
            reduced_to: 0,
            before: None,
        }
    }

    /// DCTCP.Alpha, in parts of 2^20 (RFC 8257, 3.3).
    pub fn alpha(&self) -> u64 {
        self.alpha
    }

    /// The end of a window of data (RFC 8257, 3.3 steps 4 to 8).
    fn end_window(&mut self, next: u64) {
        let share = scale(self.marked_bytes, ONE, self.acknowledged_bytes.max(1)).min(ONE);
        self.alpha = self.alpha - self.alpha / GAIN_DIVISOR + share / GAIN_DIVISOR;
        self.window_end = next;
        self.acknowledged_bytes = 0;
        self.marked_bytes = 0;
        self.is_reduced = false;
    }

    fn reduce_by_marks(&mut self, next: u64) {
        let less_bytes = scale(self.window_bytes, self.alpha, 2 * ONE);
        let window_bytes = self.window_bytes - less_bytes;
        self.window_bytes = window_bytes.max(2 * self.mss_bytes);
        self.threshold_bytes = self.window_bytes;
        self.is_reduced = true;
        self.reduced_to = next;
    }

    fn grow(&mut self, acknowledged_bytes: u64) {
        if self.window_bytes < self.threshold_bytes {
            self.window_bytes += acknowledged_bytes;
            return;
        }
        self.credit_bytes += acknowledged_bytes;
        if self.credit_bytes >= self.window_bytes {
            self.credit_bytes -= self.window_bytes;
            self.window_bytes += self.mss_bytes;
        }
    }
}

impl Controller for Dctcp {
    fn acknowledge(&mut self, sample: &Sample) {
        self.acknowledged_bytes += sample.delivered_bytes;
        self.marked_bytes += sample.marked_bytes;
        let is_marked = sample.marked_bytes > 0;
        if sample.una >= self.window_end {
            self.end_window(sample.next);
        }
        let is_answered = self.is_reduced || sample.una <= self.reduced_to;
        if is_marked && !is_answered && !sample.is_recovering {
            self.reduce_by_marks(sample.next);
        }
        let is_used = sample.in_flight_bytes[0] * 2 >= self.window_bytes;
        if !is_marked && is_used && !sample.is_recovering {
            self.grow(sample.acknowledged_bytes);
        }
    }

    fn signal(&mut self, _now_ns: u64, signal: Signal, in_flight_bytes: u64) {
        if signal == Signal::Mark {
            return;
        }
        let half_bytes = (in_flight_bytes.min(self.window_bytes) / 2).max(2 * self.mss_bytes);
        if signal == Signal::Timeout {
            self.before = Some((self.window_bytes, self.threshold_bytes));
        }
        self.threshold_bytes = half_bytes;
        self.window_bytes = match signal {
            Signal::Timeout => self.mss_bytes,
            _ => half_bytes,
        };
        self.is_reduced = true;
    }

    fn restore(&mut self) {
        if let Some((window_bytes, threshold_bytes)) = self.before.take() {
            self.window_bytes = window_bytes;
            self.threshold_bytes = threshold_bytes;
        }
    }

    fn idle(&mut self) {
        self.window_bytes = self.window_bytes.min(initial_window_bytes(self.mss_bytes));
    }

    fn window_bytes(&self) -> u64 {
        self.window_bytes
    }

    fn threshold_bytes(&self) -> Option<u64> {
        Some(self.threshold_bytes)
    }

    fn rate_bytes_per_s(&self, smoothed_ns: Option<u64>) -> Option<u64> {
        let percent = if self.window_bytes < self.threshold_bytes { 200 } else { 120 };
        smoothed_ns.map(|smoothed_ns| window_rate(self.window_bytes, smoothed_ns, percent))
    }

    fn change_mss(&mut self, mss_bytes: u64) {
        self.mss_bytes = mss_bytes;
        self.window_bytes = self.window_bytes.max(mss_bytes);
    }

    fn counts_marks(&self) -> bool {
        true
    }
}
