//! The time of a simulated card, which all cards here share.

use std::time::Duration;

/// Period of the card's clock: 250 MHz.
pub const USER_CLOCK_PS: u64 = 4000;
/// Cycles that pass when a driver waits once (`Bus::advance`).
pub const ADVANCE_CYCLES: u64 = 250;

/// Simulated time, ps, as a bus tells it.
pub fn duration_of_ps(ps: u64) -> Duration {
    Duration::from_nanos(ps / 1000)
}
