//! When a stack acts by itself. Whoever drives a [`crate::clock::ManualClock`] may go there at once.

use std::time::Duration;

/// When a stack acts next, if no frame and no call comes before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextTimer {
    /// Its timers run by the wall clock, and are not known outside.
    WallClock,
    /// No timer is set.
    Never,
    /// At this time of its manual clock; one that is not later than the present means at once.
    At(Duration),
}
