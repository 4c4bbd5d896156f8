//! Pacing: no segment is sent before its time.
//!
//! Invariants
//! 1. Over any time longer than the credit, no more is sent than the rate says; fractions of a
//!    nanosecond are kept.
//!
//! Source: draft-ietf-ccwg-bbr, 5.6.2; RFC 9002, 7.7 for the idea of a credit.

/// Longest time that a host which polls late makes up for.
const CREDIT_NS: u64 = 20_000;

/// When the next segment may be sent (draft-ietf-ccwg-bbr, 5.6.2).
#[derive(Clone, Copy, Debug, Default)]
pub struct Pace {
    next_ns: u64,
    /// Bytes times nanoseconds of a second that are not in `next_ns` yet.
    rest: u64,
}

impl Pace {
    /// Whether it is time (draft-ietf-ccwg-bbr, 5.6.2).
    pub fn is_due(&self, now_ns: u64) -> bool {
        self.next_ns <= now_ns
    }

    /// When it will be (draft-ietf-ccwg-bbr, 5.6.2).
    pub fn next_ns(&self) -> u64 {
        self.next_ns
    }

    /// So much was sent, at this rate (draft-ietf-ccwg-bbr, 5.6.2).
    pub fn send(&mut self, now_ns: u64, bytes: u64, rate_bytes_per_s: u64) {
        let rate = rate_bytes_per_s.max(1);
        let total = u128::from(bytes) * 1_000_000_000 + u128::from(self.rest);
        let wait_ns = u64::try_from(total / u128::from(rate)).unwrap_or(u64::MAX / 4);
        self.rest = (total % u128::from(rate)) as u64;
        self.next_ns = self.next_ns.max(now_ns.saturating_sub(CREDIT_NS)) + wait_ns;
    }
}
