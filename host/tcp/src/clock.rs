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

/// How old a repetition may be: in 100 ms no line of 100 Gb/s carries 2^31 bytes.
pub const LATE_NS_MAX: u64 = S_NS / 10;
/// The same in ticks of a peer whose clock is not known to tick more often than each millisecond
/// (RFC 7323, 5.4: 1 ms to 1 s).
pub const LATE_TICKS_MAX: u32 = 100;
/// Between two timestamps by which the peer's clock is measured there is at least that much time,
/// once the connection has lasted so long.
const MEASURE_NS: u64 = S_NS;
/// And at most that much: ticks of a microsecond come round after 71 minutes.
const MEASURE_NS_MAX: u64 = 1_000 * S_NS;

/// The timestamps of a connection (RFC 7323, 4).
#[derive(Clone, Debug)]
pub struct Clock {
    tick_ns: u64,
    /// Added to every value, so that it does not tell how long the host is up (RFC 7323, 7.1).
    offset: u32,
    /// TS.Recent, and when it was taken.
    recent: Option<u32>,
    recent_ns: u64,
    /// Two earlier ones, the older first, by which the peer's clock is measured: value and time.
    earlier: [Option<(u32, u64)>; 2],
}

impl Clock {
    /// A clock that begins at `offset` (RFC 7323, 4.1).
    pub fn new(tick_ns: u64, offset: u32) -> Self {
        Self { tick_ns: tick_ns.max(1), offset, recent: None, recent_ns: 0, earlier: [None; 2] }
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

    /// Whether a timestamp is at most [`LATE_NS_MAX`] before the last one, by the peer's clock as
    /// it has ticked so far: a repetition may have it, and nothing from before the sequence numbers
    /// came round.
    pub fn is_recent(&self, value: u32) -> bool {
        let Some(recent) = self.recent else { return true };
        if !is_before(value, recent) {
            return true;
        }
        let late = recent.wrapping_sub(value);
        let by_its_clock = self.earlier[0].is_some_and(|(earlier, at_ns)| {
            let (ticks, ns) = (recent.wrapping_sub(earlier), self.recent_ns.saturating_sub(at_ns));
            let late_ns = u128::from(late) * u128::from(ns);
            let is_measured = late <= ticks && ns <= MEASURE_NS_MAX;
            is_measured && late_ns <= u128::from(LATE_NS_MAX) * u128::from(ticks)
        });
        late <= LATE_TICKS_MAX || by_its_clock
    }

    /// Takes the timestamp of an acceptable segment (RFC 7323, 4.3).
    pub fn take(&mut self, now_ns: u64, value: u32) {
        if !self.is_old(now_ns, value) {
            let [older, newer] = self.earlier;
            match (older, newer) {
                (None, _) => self.earlier = [Some((value, now_ns)); 2],
                (_, Some((_, at_ns))) if now_ns.saturating_sub(at_ns) >= MEASURE_NS => {
                    self.earlier = [newer, Some((value, now_ns))];
                }
                _ => {}
            }
            self.recent = Some(value);
            self.recent_ns = now_ns;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS_NS: u64 = S_NS / 1_000;

    /// A clock that has taken a timestamp each millisecond for so long, of a peer whose clock ticks
    /// so often. The last one is 0.
    fn taken(tick_ns: u64, ms: u64) -> Clock {
        let mut clock = Clock::new(1, 0);
        for at in 0..=ms {
            let ticks = (ms - at) * MS_NS / tick_ns;
            clock.take(at * MS_NS, 0_u32.wrapping_sub(ticks as u32));
        }
        clock
    }

    #[test]
    fn lateness_is_that_of_the_peers_own_clock() {
        for (tick_ns, ms) in [(1_000, 50), (1_000, 5_000), (MS_NS, 5_000), (10 * MS_NS, 5_000)] {
            let clock = taken(tick_ns, ms);
            let before = |ms: u64| 0_u32.wrapping_sub((ms * MS_NS / tick_ns) as u32);
            assert!(clock.is_recent(before(40)), "{tick_ns} ns");
            assert!(clock.is_recent(1), "{tick_ns} ns");
            let is_recent = clock.is_recent(before(3_000));
            assert!(!is_recent, "{tick_ns} ns");
        }
    }

    #[test]
    fn of_an_unknown_clock_a_hundred_ticks_are_late_enough() {
        let clock = taken(MS_NS, 0);
        assert!(clock.is_recent(0_u32.wrapping_sub(LATE_TICKS_MAX)));
        assert!(!clock.is_recent(0_u32.wrapping_sub(LATE_TICKS_MAX + 1)));
    }
}
