//! Units of time and rate.

/// Picoseconds of a nanosecond.
pub const NS_PS: u64 = 1_000;
/// Picoseconds of a microsecond.
pub const US_PS: u64 = 1_000_000;
/// Picoseconds of a millisecond.
pub const MS_PS: u64 = 1_000_000_000;

/// Time that a byte takes at 100 Gb/s.
pub const PS_PER_BYTE_100G: u64 = 80;
