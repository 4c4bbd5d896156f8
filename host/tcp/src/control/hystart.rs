//! HyStart++: slow start ends when the round trip grows, not when a queue overflows.
//!
//! ```text
//!   slow start ── min RTT of a round grew by eta ──► conservative, 5 rounds ──► done
//!        ▲                                                │
//!        └──────────────── it was noise ──────────────────┘
//! ```
//! Invariants
//! 1. A round ends when what was sent last at its start is acknowledged.
//!
//! Source: RFC 9406, 4.2 and 4.3 (the constants).

use super::Sample;
use crate::config::MS_NS;

/// MIN_RTT_THRESH (RFC 9406, 4.3).
pub const RTT_THRESHOLD_MIN_NS: u64 = 4 * MS_NS;
/// MAX_RTT_THRESH (RFC 9406, 4.3).
pub const RTT_THRESHOLD_MAX_NS: u64 = 16 * MS_NS;
/// MIN_RTT_DIVISOR (RFC 9406, 4.3).
pub const RTT_DIVISOR: u64 = 8;
/// N_RTT_SAMPLE (RFC 9406, 4.3).
pub const RTT_SAMPLES: u32 = 8;
/// CSS_GROWTH_DIVISOR (RFC 9406, 4.3).
pub const CONSERVATIVE_DIVISOR: u64 = 4;
/// CSS_ROUNDS (RFC 9406, 4.3).
pub const CONSERVATIVE_ROUNDS: u32 = 5;

/// How slow start goes on (RFC 9406, 4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growth {
    /// As in slow start.
    Full,
    /// By a quarter of that.
    Conservative,
    /// Slow start is over.
    Done,
}

/// The state of HyStart++ (RFC 9406, 4.2).
#[derive(Clone, Debug)]
pub struct HyStart {
    round_end: u64,
    last_min_ns: u64,
    current_min_ns: u64,
    samples: u32,
    /// cssBaselineMinRtt, and rounds since, while growth is conservative.
    conservative: Option<(u64, u32)>,
}

impl Default for HyStart {
    fn default() -> Self {
        Self {
            round_end: 0,
            last_min_ns: u64::MAX,
            current_min_ns: u64::MAX,
            samples: 0,
            conservative: None,
        }
    }
}

impl HyStart {
    /// On each acknowledgement in slow start (RFC 9406, 4.2).
    pub fn acknowledge(&mut self, sample: &Sample) -> Growth {
        if sample.una >= self.round_end {
            self.last_min_ns = self.current_min_ns;
            self.current_min_ns = u64::MAX;
            self.samples = 0;
            self.round_end = sample.next;
            if let Some((_, rounds)) = &mut self.conservative {
                *rounds += 1;
                if *rounds > CONSERVATIVE_ROUNDS {
                    return Growth::Done;
                }
            }
        }
        if let Some(rtt_ns) = sample.rtt_ns {
            self.current_min_ns = self.current_min_ns.min(rtt_ns);
            self.samples += 1;
        }
        self.judge();
        match self.conservative {
            Some(_) => Growth::Conservative,
            None => Growth::Full,
        }
    }

    fn judge(&mut self) {
        let is_known = self.current_min_ns != u64::MAX && self.last_min_ns != u64::MAX;
        if self.samples < RTT_SAMPLES || !is_known {
            return;
        }
        match self.conservative {
            Some((baseline_ns, _)) if self.current_min_ns < baseline_ns => self.conservative = None,
            Some(_) => {}
            None => {
                let eighth_ns = self.last_min_ns / RTT_DIVISOR;
                let threshold_ns = eighth_ns.clamp(RTT_THRESHOLD_MIN_NS, RTT_THRESHOLD_MAX_NS);
                if self.current_min_ns >= self.last_min_ns + threshold_ns {
                    self.conservative = Some((self.current_min_ns, 0));
                }
            }
        }
    }
}
