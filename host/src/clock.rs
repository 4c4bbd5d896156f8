//! The clock of a provider, its protocol and its stacks: time is told to them, none reads it itself.

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
    pub fn since(&self, started: Instant) -> Duration {
        match self {
            Self::Wall { divisor } => started.elapsed() / (*divisor).max(1),
            Self::Manual(clock) => clock.now(),
        }
    }
}

/// A clock that is advanced by its user; clones show the same time.
#[derive(Clone, Debug, Default)]
pub struct ManualClock {
    microseconds: Arc<AtomicU64>,
}

impl ManualClock {
    /// Advances the clock.
    pub fn advance(&self, by: Duration) {
        let by = u64::try_from(by.as_micros()).unwrap_or(u64::MAX);
        self.microseconds.fetch_add(by, Ordering::Relaxed);
    }

    /// Time since the clock was created.
    pub fn now(&self) -> Duration {
        Duration::from_micros(self.microseconds.load(Ordering::Relaxed))
    }
}
