//! When a stack acts by itself. Whoever drives a [`crate::clock::ManualClock`] may go there at
//! once.
//!
//! A point in time is a `u64`, nanoseconds of a clock; a length of time is a `Duration`.

/// When a stack acts next, if no frame and no call comes before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextTimer {
    /// Its timers run by the wall clock, and are not known outside.
    WallClock,
    /// No timer is set.
    Never,
    /// At this time of its clock, in ns; one that is not later than the present means at once.
    At(u64),
}
