//! One direction of the link: serialising lanes, then a constant latency.
//!
//! ```text
//!   send(bytes, tlp) --> [ lanes: bytes per cycle ] --> [ latency ] --> receive(now)
//! ```
//!
//! Invariants: first in, first out; a TLP arrives `latency` after its last byte left; the lanes
//! carry one TLP at a time.

use std::collections::VecDeque;

/// Units of the lane clock in one cycle.
const CYCLE: u64 = 1 << 20;

/// One direction of the link.
#[derive(Clone, Debug)]
pub(crate) struct Link<T> {
    bytes_per_cycle_fixed: u64,
    latency_cycles: u64,
    /// Time at which the lanes are free, in units of 2^-20 cycle.
    free_at: u64,
    flight: VecDeque<(u64, T)>,
}

impl<T> Link<T> {
    /// A link that carries `bytes_per_cycle_fixed` / 2^20 bytes in a cycle.
    pub fn new(bytes_per_cycle_fixed: u64, latency_cycles: u64) -> Self {
        Self { bytes_per_cycle_fixed, latency_cycles, free_at: 0, flight: VecDeque::new() }
    }

    /// Whether the lanes can start a TLP within cycle `now`.
    pub fn is_free(&self, now: u64) -> bool {
        self.free_at < (now + 1) * CYCLE
    }

    /// Starts a TLP of `bytes` bytes, overhead included.
    pub fn send(&mut self, now: u64, bytes: u32, tlp: T) {
        let duration = u128::from(bytes) * u128::from(CYCLE) * u128::from(CYCLE);
        let duration = (duration / u128::from(self.bytes_per_cycle_fixed)) as u64;
        self.free_at = self.free_at.max(now * CYCLE) + duration;
        let arrival = self.free_at.div_ceil(CYCLE) + self.latency_cycles;
        self.flight.push_back((arrival, tlp));
    }

    /// The next TLP that has arrived.
    pub fn receive(&mut self, now: u64) -> Option<T> {
        match self.flight.front() {
            Some((arrival, _)) if *arrival <= now => self.flight.pop_front().map(|(_, tlp)| tlp),
            _ => None,
        }
    }

    /// Whether nothing is in flight.
    pub fn is_empty(&self) -> bool {
        self.flight.is_empty()
    }

    /// Drops everything in flight.
    pub fn clear(&mut self) {
        self.flight.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rate_and_latency_are_kept() {
        let mut link = Link::new(64 << 20, 10);
        let mut sent = 0;
        for now in 0..1000 {
            while link.is_free(now) {
                link.send(now, 96, sent);
                sent += 1;
            }
        }
        assert!((666..=668).contains(&sent), "{sent}");
        assert_eq!(link.receive(11), None);
        assert_eq!(link.receive(12), Some(0));
        assert_eq!(link.receive(12), None);
        assert_eq!(link.receive(13), Some(1));
    }
}
