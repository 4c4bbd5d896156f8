//! Sequence numbers, which wrap, and offsets, which never do.
//!
//! ```text
//!   offset   0      1 ............ n        n + 1
//!            SYN    first byte ... last     FIN
//!   number   first, first + 1 ... modulo 2^32
//! ```
//! Everything in this crate computes with offsets; numbers exist in segments alone.
//!
//! Invariants
//! 1. A number means the offset nearest to one that is known: up to 2^31 before it, or less than
//!    2^31 behind it.
//!
//! Source: RFC 9293, 3.4.

/// How the sequence numbers of one direction are counted (RFC 9293, 3.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Numbers {
    /// The initial sequence number: that of the SYN.
    pub first: u32,
}

impl Numbers {
    /// The number of an offset (RFC 9293, 3.4).
    pub fn of(self, offset: u64) -> u32 {
        self.first.wrapping_add(offset as u32)
    }

    /// The offset of a number near a known one; below 0 before the SYN (RFC 9293, 3.4).
    pub fn offset(self, number: u32, near: u64) -> i64 {
        near as i64 + i64::from(number.wrapping_sub(self.of(near)) as i32)
    }
}

/// Whether a number or timestamp is before another, by up to 2^31 (RFC 9293, 3.4; RFC 7323, 5.2).
pub fn is_before(number: u32, other: u32) -> bool {
    (number.wrapping_sub(other) as i32) < 0
}
