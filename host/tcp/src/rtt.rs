//! The round trip: smoothed, its variation, its minimum, and the timeout that follows.
//!
//! Invariants
//! 1. Only what was sent once is measured (RFC 6298, 3: Karn's rule); who calls sees to it.
//! 2. A timeout doubles at each expiry and falls back at the next measurement or progress.
//!
//! Source: RFC 6298, 2 and 5.5.

use crate::config::{Config, S_NS};

/// How long a minimum counts (RFC 8985, 6.2: a window of minutes or less).
const MIN_WINDOW_NS: u64 = 10 * S_NS;
/// Most doublings; the longest timeout is reached before.
const BACKOFFS_MAX: u32 = 16;

/// What is known of the round trip of a connection (RFC 6298, 2).
#[derive(Clone, Debug)]
pub struct Rtt {
    smoothed_ns: Option<u64>,
    variation_ns: u64,
    min_ns: u64,
    min_at_ns: u64,
    backoffs: u32,
    rto_min_ns: u64,
    rto_initial_ns: u64,
    rto_max_ns: u64,
    granularity_ns: u64,
}

impl Rtt {
    /// Nothing measured yet (RFC 6298, 2.1).
    pub fn new(config: &Config) -> Self {
        Self {
            smoothed_ns: None,
            variation_ns: 0,
            min_ns: u64::MAX,
            min_at_ns: 0,
            backoffs: 0,
            rto_min_ns: config.rto_min_ns,
            rto_initial_ns: config.rto_initial_ns,
            rto_max_ns: config.rto_max_ns,
            granularity_ns: 1_000,
        }
    }

    /// Takes a measurement for the timeout (RFC 6298, 2.2 and 2.3).
    pub fn measure(&mut self, rtt_ns: u64) {
        match self.smoothed_ns {
            None => {
                self.smoothed_ns = Some(rtt_ns);
                self.variation_ns = rtt_ns / 2;
            }
            Some(smoothed_ns) => {
                let error_ns = smoothed_ns.abs_diff(rtt_ns);
                self.variation_ns = (3 * self.variation_ns + error_ns) / 4;
                self.smoothed_ns = Some((7 * smoothed_ns + rtt_ns) / 8);
            }
        }
        self.backoffs = 0;
    }

    /// Takes a measurement for the minimum (RFC 8985, 6.2).
    pub fn measure_min(&mut self, now_ns: u64, rtt_ns: u64) {
        if rtt_ns <= self.min_ns || now_ns > self.min_at_ns + MIN_WINDOW_NS {
            self.min_ns = rtt_ns;
            self.min_at_ns = now_ns;
        }
    }

    /// SRTT (RFC 6298, 2).
    pub fn smoothed_ns(&self) -> Option<u64> {
        self.smoothed_ns
    }

    /// The shortest of the last 10 s; `None` before the first (RFC 8985, 6.2).
    pub fn min_ns(&self) -> Option<u64> {
        (self.min_ns != u64::MAX).then_some(self.min_ns)
    }

    /// RTO (RFC 6298, 2.3 to 2.5 and 5.5).
    pub fn rto_ns(&self) -> u64 {
        let base_ns = self.smoothed_ns.map_or(self.rto_initial_ns, |smoothed_ns| {
            let rto_ns = smoothed_ns + (4 * self.variation_ns).max(self.granularity_ns);
            rto_ns.max(self.rto_min_ns)
        });
        (base_ns << self.backoffs).min(self.rto_max_ns)
    }

    /// The timer has expired (RFC 6298, 5.5).
    pub fn back_off(&mut self) {
        self.backoffs = (self.backoffs + 1).min(BACKOFFS_MAX);
    }

    /// New data was acknowledged after a timeout (RFC 6298, 5.7: the timeout is what it was).
    pub fn progress(&mut self) {
        self.backoffs = 0;
    }

    /// The SYN had to be repeated: start from 3 s (RFC 6298, 5.7).
    pub fn forget_handshake(&mut self) {
        self.rto_initial_ns = self.rto_initial_ns.max(3 * S_NS).min(self.rto_max_ns);
        self.backoffs = 0;
    }
}
