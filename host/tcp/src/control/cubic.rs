//! CUBIC: after a loss the window grows as a cubic of time, flat around where the loss was.
//!
//! ```text
//!   W(t) = C (t - K)^3 + W_max      K = cbrt((W_max - cwnd) / C)     in segments and seconds
//! ```
//! Invariants
//! 1. The window is never below what Reno would have (RFC 9438, 4.3), nor grows faster in a round
//!    trip than by half (4.2).
//! 2. The computation uses only operations that IEEE 754 rounds exactly: it is the same anywhere.
//!
//! Sources: RFC 9438, 4.1 to 4.9; RFC 9406 by [`HyStart`]; RFC 5681, 3.1 and 4.1.

use super::hystart::{Growth, HyStart, CONSERVATIVE_DIVISOR};
use super::{initial_window_bytes, window_rate, Controller, Sample, Signal};

/// C, segments per second cubed (RFC 9438, 5.1).
const C: f64 = 0.4;
/// What is left of the window after a loss (RFC 9438, 4.6).
const BETA: f64 = 0.7;
/// Growth of the estimate of Reno (RFC 9438, 4.3).
const ALPHA: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);

/// The CUBIC controller (RFC 9438).
#[derive(Clone, Debug)]
pub struct Cubic {
    mss_bytes: f64,
    /// cwnd, ssthresh and W_max in segments.
    window: f64,
    threshold: f64,
    window_max: f64,
    epoch: Option<Epoch>,
    slow_start: Option<HyStart>,
    /// State before the last timeout (RFC 5682, 3.1).
    before: Option<Box<Cubic>>,
}

/// Congestion avoidance since the last loss (RFC 9438, 4.2).
#[derive(Clone, Copy, Debug)]
struct Epoch {
    start_ns: u64,
    k_s: f64,
    /// W_est, and the window before the loss, from where it grows as Reno (RFC 9438, 4.3).
    estimate: f64,
    prior: f64,
}

/// The cube root, by Newton's iteration (RFC 9438, 4.2, figure 2 needs it).
pub fn cube_root(value: f64) -> f64 {
    if value <= 0.0 {
        return 0.0;
    }
    let mut root = if value > 1.0 { value / 3.0 + 1.0 } else { 1.0 };
    for _ in 0..64 {
        root -= (root * root * root - value) / (3.0 * root * root);
    }
    root
}

impl Cubic {
    /// In slow start, with the initial window of RFC 6928, 2.
    pub fn new(mss_bytes: u64) -> Self {
        let window = initial_window_bytes(mss_bytes) as f64 / mss_bytes as f64;
        Self {
            mss_bytes: mss_bytes as f64,
            window,
            threshold: f64::INFINITY,
            window_max: 0.0,
            epoch: None,
            slow_start: Some(HyStart::default()),
            before: None,
        }
    }

    fn is_slow_start(&self) -> bool {
        self.window < self.threshold
    }

    /// Slow start (RFC 5681, 3.1; RFC 9406, 4.2). Pacing is in use, so L is infinite.
    fn grow_slowly(&mut self, sample: &Sample, acknowledged: f64) {
        let growth = self.slow_start.as_mut().map_or(Growth::Full, |it| it.acknowledge(sample));
        match growth {
            Growth::Full => self.window += acknowledged,
            Growth::Conservative => self.window += acknowledged / CONSERVATIVE_DIVISOR as f64,
            Growth::Done => self.threshold = self.window,
        }
    }

    /// Congestion avoidance (RFC 9438, 4.2 to 4.5).
    fn grow(&mut self, sample: &Sample, acknowledged: f64) {
        let window = self.window;
        if self.epoch.is_none() {
            // Without a loss above it the window itself is the origin (RFC 9438, 4.8).
            self.window_max = self.window_max.max(window);
        }
        let window_max = self.window_max;
        let epoch = self.epoch.get_or_insert_with(|| Epoch {
            start_ns: sample.now_ns,
            k_s: cube_root((window_max - window) / C),
            estimate: window,
            prior: window_max,
        });
        let alpha = if epoch.estimate >= epoch.prior { 1.0 } else { ALPHA };
        epoch.estimate += alpha * acknowledged / window;
        let at = |ns: u64| {
            let t_s = (ns - epoch.start_ns) as f64 / 1e9 - epoch.k_s;
            C * t_s * t_s * t_s + self.window_max
        };
        if at(sample.now_ns) < epoch.estimate {
            self.window = epoch.estimate.max(window);
            return;
        }
        let target = at(sample.now_ns + sample.smoothed_ns).clamp(window, 1.5 * window);
        self.window += (target - window) / window * acknowledged;
    }

    /// Multiplicative decrease and fast convergence (RFC 9438, 4.6 and 4.7).
    fn reduce(&mut self, in_flight_bytes: u64) {
        let window = self.window;
        self.window_max = match window < self.window_max {
            true => window * (1.0 + BETA) / 2.0,
            false => window,
        };
        let flight = (in_flight_bytes as f64 / self.mss_bytes).max(1.0).min(window);
        self.threshold = (flight * BETA).max(2.0);
        self.epoch = None;
        self.slow_start = None;
    }
}

impl Controller for Cubic {
    fn acknowledge(&mut self, sample: &Sample) {
        // A window that is not used says nothing about the path (RFC 9438, 5.8; RFC 7661).
        let flight = sample.in_flight_bytes[0] as f64 / self.mss_bytes;
        let is_slow = self.is_slow_start();
        let is_used = match is_slow {
            true => flight * 2.0 >= self.window,
            false => flight + (self.window / 8.0).max(3.0) >= self.window,
        };
        if sample.is_recovering || !is_used {
            return;
        }
        let acknowledged = sample.acknowledged_bytes as f64 / self.mss_bytes;
        match is_slow {
            true => self.grow_slowly(sample, acknowledged),
            false => self.grow(sample, acknowledged),
        }
    }

    fn signal(&mut self, _now_ns: u64, signal: Signal, in_flight_bytes: u64) {
        if signal == Signal::Timeout {
            self.before = None;
            self.before = Some(Box::new(self.clone()));
        }
        self.reduce(in_flight_bytes);
        // After a timeout slow start begins from one segment (RFC 9438, 4.8).
        self.window = if signal == Signal::Timeout { 1.0 } else { self.threshold };
    }

    fn restore(&mut self) {
        if let Some(before) = self.before.take() {
            *self = *before;
        }
    }

    fn idle(&mut self) {
        let initial = initial_window_bytes(self.mss_bytes as u64) as f64 / self.mss_bytes;
        self.threshold = self.threshold.max(self.window * 0.75);
        self.window = self.window.min(initial);
        self.epoch = None;
    }

    fn window_bytes(&self) -> u64 {
        (self.window * self.mss_bytes) as u64
    }

    fn threshold_bytes(&self) -> Option<u64> {
        Some((self.threshold.min(1e9) * self.mss_bytes) as u64)
    }

    fn rate_bytes_per_s(&self, smoothed_ns: Option<u64>) -> Option<u64> {
        let percent = if self.is_slow_start() { 200 } else { 120 };
        smoothed_ns.map(|smoothed_ns| window_rate(self.window_bytes(), smoothed_ns, percent))
    }

    fn change_mss(&mut self, mss_bytes: u64) {
        let by = self.mss_bytes / mss_bytes as f64;
        self.window = (self.window * by).max(1.0);
        self.threshold *= by;
        self.window_max *= by;
        self.epoch = None;
        self.mss_bytes = mss_bytes as f64;
    }
}
