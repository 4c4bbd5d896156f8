//! Which packet of a stream goes next, and how far a stream has come without a gap.

use std::collections::BTreeMap;

use crate::scenario::Order;

/// The packets of one stream, in the order of the scenario.
#[derive(Clone, Debug, Default)]
pub struct Sequence {
    given: u64,
    shuffled: Vec<u64>,
    packets: u64,
}

impl Sequence {
    /// Offset of the next packet of `bytes`, if it fits before `end` (out of order: with a whole
    /// window of packets).
    pub fn next(&mut self, order: Order, bytes: u64, end: u64, random: &mut u64) -> Option<u64> {
        let window = order.together();
        if self.shuffled.is_empty() {
            if end - self.given < bytes * window {
                return None;
            }
            let first = self.given;
            self.given += bytes * window;
            self.shuffled.extend((0..window).map(|n| first + n * bytes));
            for last in (1..self.shuffled.len()).rev() {
                let other = (step(random) % (last as u64 + 1)) as usize;
                self.shuffled.swap(last, other);
            }
        }
        self.packets += 1;
        self.shuffled.pop()
    }

    /// Offset after everything issued or about to be.
    pub fn given_end(&self) -> u64 {
        self.given
    }

    /// Packets issued.
    pub fn packets(&self) -> u64 {
        self.packets
    }
}

/// Ranges of a stream that have arrived.
#[derive(Clone, Debug, Default)]
pub struct Arrivals {
    upto: u64,
    ahead: BTreeMap<u64, u64>,
}

impl Arrivals {
    /// Adds a range; returns how far the stream has come without a gap. Ranges are packets, so they
    /// do not overlap.
    pub fn add(&mut self, start: u64, bytes: u64) -> u64 {
        if bytes > 0 {
            self.ahead.insert(start, start + bytes);
        }
        while let Some(end) = self.ahead.remove(&self.upto) {
            self.upto = end;
        }
        self.upto
    }
}

/// One step of xorshift64 (Marsaglia 2003).
fn step(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_permuted_and_complete() {
        let (mut sequence, mut random) = (Sequence::default(), 7);
        let mut take = |end| sequence.next(Order::Random, 10, end, &mut random);
        assert_eq!(take(639), None);
        let mut seen: Vec<u64> = (0..64).map(|_| take(640).expect("room")).collect();
        assert_eq!(take(640), None);
        assert!(!seen.is_sorted());
        seen.sort_unstable();
        assert_eq!(seen, (0..64).map(|n| n * 10).collect::<Vec<u64>>());
    }

    #[test]
    fn in_order_needs_room_for_one() {
        let (mut sequence, mut random) = (Sequence::default(), 7);
        let mut take = |end| sequence.next(Order::InOrder, 10, end, &mut random);
        assert_eq!([take(9), take(20), take(20), take(20)], [None, Some(0), Some(10), None]);
    }

    #[test]
    fn gaps_hold_the_stream_back() {
        let mut arrivals = Arrivals::default();
        assert_eq!(arrivals.add(10, 10), 0);
        assert_eq!(arrivals.add(30, 10), 0);
        assert_eq!(arrivals.add(0, 10), 20);
        assert_eq!(arrivals.add(20, 10), 40);
    }
}
