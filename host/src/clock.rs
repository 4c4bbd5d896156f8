//! The clock of a provider, its protocol and its stacks: time is told to them, none reads it
//! itself.
//!
//! A point in time is a `u64`, the nanoseconds of a clock (`now_ns`); a length of time is a
//! [`Duration`].

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Where time comes from.
#[derive(Clone, Debug)]
pub enum Clock {
    /// The wall clock divided by a factor, for a wire that is slower than real time.
    Wall {
        /// Wall-clock seconds per second of this clock.
        divisor: u32,
    },
    /// A clock that is advanced by its user.
    Manual(ManualClock),
}

impl Clock {
    /// Time of the clock, of which the wall clock's begins at `started`.
    pub fn now_ns(&self, started: Instant) -> u64 {
        match self {
            Self::Wall { divisor } => nanoseconds(started.elapsed() / (*divisor).max(1)),
            Self::Manual(clock) => clock.now_ns(),
        }
    }

    /// How long a time of this clock lasts for who sleeps meanwhile.
    pub fn lasting(&self, ns: u64) -> Duration {
        let length = Duration::from_nanos(ns);
        match self {
            Self::Wall { divisor } => length.saturating_mul((*divisor).max(1)),
            Self::Manual(_) => length,
        }
    }
}

fn nanoseconds(length: Duration) -> u64 {
    u64::try_from(length.as_nanos()).unwrap_or(u64::MAX)
}

/// A clock that is advanced by its user; clones show the same time.
#[derive(Clone, Debug, Default)]
pub struct ManualClock {
    ns: Arc<AtomicU64>,
}

impl ManualClock {
    /// Advances the clock.
    pub fn advance(&self, by: Duration) {
        self.ns.fetch_add(nanoseconds(by), Ordering::Relaxed);
    }

    /// Time since the clock was created.
    pub fn now_ns(&self) -> u64 {
        self.ns.load(Ordering::Relaxed)
    }
}
