//! The timestamps option: our clock, and what the peer's last said.
//!
//! Invariants
//! 1. A segment whose timestamp is before the last one is old, unless that is 24 days old itself
//!    (RFC 7323, 5.3 and 5.5).
//! 2. The timestamp to echo is taken only from a segment that begins at or before the last ACK
//!    sent (RFC 7323, 4.3).
//!
//! Source: RFC 7323, 3 to 5.

use crate::config::S_NS;
use crate::segment::Timestamps;
use crate::sequence::is_before;

/// How long a timestamp can be compared (RFC 7323, 5.5): 24 days.
pub const RECENT_NS_MAX: u64 = 24 * 24 * 3_600 * S_NS;

/// How old a repetition may be: 100 ms of a peer whose clock ticks each millisecond (RFC 7323, 5.4:
/// 1 ms to 1 s), in which no line of 100 Gb/s carries 2^31 bytes.
pub const LATE_TICKS_MAX: u32 = 100;

/// The timestamps of a connection (RFC 7323, 4).
#[derive(Clone, Debug)]
pub struct Clock {
    tick_ns: u64,
    /// Added to every value, so that it does not tell how long the host is up (RFC 7323, 7.1).
    offset: u32,
    /// TS.Recent, and when it was taken.
    recent: Option<u32>,
    recent_ns: u64,
}

impl Clock {
    /// A clock that begins at `offset` (RFC 7323, 4.1).
    pub fn new(tick_ns: u64, offset: u32) -> Self {
        Self { tick_ns: tick_ns.max(1), offset, recent: None, recent_ns: 0 }
    }

    /// TSval (RFC 7323, 4.1).
    pub fn value(&self, now_ns: u64) -> u32 {
        self.offset.wrapping_add((now_ns / self.tick_ns) as u32)
    }

    /// The option of a segment that is sent (RFC 7323, 3.2).
    pub fn stamp(&self, now_ns: u64) -> Timestamps {
        Timestamps { value: self.value(now_ns), echo: self.recent() }
    }

    /// TS.Recent (RFC 7323, 4.3).
    pub fn recent(&self) -> u32 {
        self.recent.unwrap_or(0)
    }

    /// PAWS: whether a segment is from an earlier time (RFC 7323, 5.3 R1).
    pub fn is_old(&self, now_ns: u64, value: u32) -> bool {
        let is_comparable = now_ns.saturating_sub(self.recent_ns) <= RECENT_NS_MAX;
        is_comparable && self.recent.is_some_and(|recent| is_before(value, recent))
    }

    /// Whether a timestamp is at most [`LATE_TICKS_MAX`] before the last one: a repetition may have
    /// it, and nothing from before the sequence numbers came round.
    pub fn is_recent(&self, value: u32) -> bool {
        let latest = value.wrapping_add(LATE_TICKS_MAX);
        self.recent.is_none_or(|recent| !is_before(latest, recent))
    }

    /// Takes the timestamp of an acceptable segment (RFC 7323, 4.3).
    pub fn take(&mut self, now_ns: u64, value: u32) {
        if !self.is_old(now_ns, value) {
            self.recent = Some(value);
            self.recent_ns = now_ns;
        }
    }
}
