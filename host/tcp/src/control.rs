//! Congestion control: one small trait, and what its laws are told.
//!
//! ```text
//!   acknowledgements ─► Sample ──► Controller ─► window_bytes, rate_bytes_per_s
//!   loss, mark, timeout ─ Signal ─►          └─► threshold_bytes: where a repair is to end
//! ```
//! Invariants
//! 1. A controller sees no clock: times are in the samples.
//! 2. `window_bytes` is never below one segment (RFC 5681, 3.1: the loss window).
//!
//! Sources: RFC 5681, 3; draft-ietf-ccwg-bbr, 4.1 for the samples of the rate.

pub mod cubic;
pub mod dctcp;
pub mod hystart;
pub mod maximum;
pub mod model;

/// A measurement of the rate of delivery (draft-ietf-ccwg-bbr, 4.1.1).
#[derive(Clone, Copy, Debug, Default)]
pub struct Rate {
    /// Delivered in the interval.
    pub delivered_bytes: u64,
    /// Lost in the interval.
    pub lost_bytes: u64,
    /// The interval: the longer one of sending and acknowledging.
    pub interval_ns: u64,
    /// Delivered when the segment was sent that was acknowledged last.
    pub prior_delivered_bytes: u64,
    /// In flight at that time.
    pub in_flight_bytes: u64,
    /// Whether the application was the limit.
    pub is_app_limited: bool,
}

impl Rate {
    /// Bytes in a second (draft-ietf-ccwg-bbr, 4.1.2).
    pub fn bytes_per_s(&self) -> u64 {
        scale(self.delivered_bytes, 1_000_000_000, self.interval_ns.max(1))
    }
}

/// What an acknowledgement says to a controller (RFC 5681, 3.1).
#[derive(Clone, Copy, Debug, Default)]
pub struct Sample {
    /// Now.
    pub now_ns: u64,
    /// Newly acknowledged in order.
    pub acknowledged_bytes: u64,
    /// Newly acknowledged or SACKed.
    pub delivered_bytes: u64,
    /// Of them what the peer says was marked (RFC 8257, 3.3).
    pub marked_bytes: u64,
    /// Newly found lost.
    pub lost_bytes: u64,
    /// Delivered of what had been found lost, and was not repeated: it was only late.
    pub late_bytes: u64,
    /// Everything delivered so far, this included.
    pub total_delivered_bytes: u64,
    /// In flight before and after.
    pub in_flight_bytes: [u64; 2],
    /// Round trip of the last segment that was sent once.
    pub rtt_ns: Option<u64>,
    /// SRTT.
    pub smoothed_ns: u64,
    /// Rate of delivery, where it is known.
    pub rate: Option<Rate>,
    /// Everything before this offset is acknowledged; everything before the next was sent.
    pub una: u64,
    /// SND.NXT.
    pub next: u64,
    /// Whether a loss is being repaired.
    pub is_recovering: bool,
    /// Whether what a timeout has lost is being repaired.
    pub is_timed_out: bool,
}

/// What calls for less (RFC 5681, 3.1; RFC 3168, 6.1.2; RFC 6298, 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// A loss is found, and its repair begins.
    Loss,
    /// The peer says that a segment was marked; once a round trip.
    Mark,
    /// The timer has expired.
    Timeout,
}

/// A congestion controller (RFC 5681, 3).
pub trait Controller: std::fmt::Debug + Send {
    /// Takes an acknowledgement that delivers something (RFC 5681, 3.1).
    fn acknowledge(&mut self, sample: &Sample);

    /// Takes a sign of congestion; this much is in flight (RFC 5681, 3.1, equation 4).
    fn signal(&mut self, now_ns: u64, signal: Signal, in_flight_bytes: u64);

    /// The last timeout was for nothing (RFC 5682, 3.1).
    fn restore(&mut self);

    /// Nothing was sent for a timeout (RFC 5681, 4.1).
    fn idle(&mut self);

    /// cwnd (RFC 5681, 2).
    fn window_bytes(&self) -> u64;

    /// ssthresh, to which a repair reduces by RFC 9937; `None` if the window says it all.
    fn threshold_bytes(&self) -> Option<u64>;

    /// The rate of pacing; `None` before anything is known.
    fn rate_bytes_per_s(&self, smoothed_ns: Option<u64>) -> Option<u64>;

    /// The largest segment has changed (RFC 4821, 7.5).
    fn change_mss(&mut self, mss_bytes: u64);

    /// Whether marks are counted exactly (RFC 8257, 3.3), not once a round trip (RFC 3168, 6.1.2).
    fn counts_marks(&self) -> bool {
        false
    }
}

/// IW: min(10 MSS, max(2 MSS, 14,600)) (RFC 6928, 2).
pub fn initial_window_bytes(mss_bytes: u64) -> u64 {
    (10 * mss_bytes).min(14_600.max(2 * mss_bytes))
}

/// `value * by / of`, without overflow between.
pub(crate) fn scale(value: u64, by: u64, of: u64) -> u64 {
    let product = u128::from(value) * u128::from(by) / u128::from(of.max(1));
    u64::try_from(product).unwrap_or(u64::MAX)
}

/// The rate that sends a window in a round trip, by a percentage faster.
pub(crate) fn window_rate(window_bytes: u64, smoothed_ns: u64, percent: u64) -> u64 {
    scale(window_bytes * percent / 100, 1_000_000_000, smoothed_ns)
}
