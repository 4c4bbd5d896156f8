//! A set of ranges of a stream, bounded in memory.
//!
//! ```text
//!   ──[ a )────[ b )──────[ c )──►  offsets; sorted, apart from each other by at least one
//! ```
//! Invariants
//! 1. Ranges are not empty, in order, and neither overlap nor touch.
//! 2. There are at most as many as the set was made for; what would be one more is refused whole.
//!
//! The memory of a set is bounded by 16 bytes a range, rounded up to a power of two of ranges.

use std::collections::VecDeque;

use thiserror::Error;

/// The offsets from `start` up to `end`, which is not in it (RFC 9293, 3.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// First offset.
    pub start: u64,
    /// Offset behind the last.
    pub end: u64,
}

impl Range {
    /// How many offsets it has (RFC 9293, 3.4).
    pub fn bytes(&self) -> u64 {
        self.end - self.start
    }
}

/// A set that has as many ranges as it may have (RFC 9293, 3.10.7.4 lets a receiver drop them).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{0} ranges are held, which is the limit")]
pub struct RangesFull(pub usize);

/// A bounded set of ranges (RFC 2018, 4; RFC 6675, 3).
#[derive(Clone, Debug)]
pub struct Ranges {
    list: VecDeque<Range>,
    ranges_max: usize,
    bytes: u64,
}

impl Ranges {
    /// An empty set of at most so many ranges (RFC 2018, 4).
    pub fn new(ranges_max: usize) -> Self {
        Self { list: VecDeque::new(), ranges_max, bytes: 0 }
    }

    /// Adds a range, and returns how many of its offsets are new (RFC 2018, 4).
    pub fn insert(&mut self, start: u64, end: u64) -> Result<u64, RangesFull> {
        if start >= end {
            return Ok(0);
        }
        // Those from `from` up to `to` overlap or touch the new one.
        let from = self.list.partition_point(|it| it.end < start);
        let to = from + self.touching(from, end);
        if from == to {
            if self.list.len() >= self.ranges_max {
                return Err(RangesFull(self.ranges_max));
            }
            self.list.insert(from, Range { start, end });
            self.bytes += end - start;
            return Ok(end - start);
        }
        let merged =
            Range { start: start.min(self.list[from].start), end: end.max(self.list[to - 1].end) };
        let held: u64 = self.list.range(from..to).map(Range::bytes).sum();
        self.list[from] = merged;
        if to - from > 1 {
            self.list.drain(from + 1..to);
        }
        self.bytes += merged.bytes() - held;
        Ok(merged.bytes() - held)
    }

    fn touching(&self, from: usize, end: u64) -> usize {
        self.list.range(from..).take_while(|it| it.start <= end).count()
    }

    /// Takes offsets out. Where that would leave one range too many, its right part goes as well
    /// (RFC 6675, 4).
    pub fn remove(&mut self, start: u64, end: u64) {
        if start >= end {
            return;
        }
        let mut at = self.list.partition_point(|it| it.end <= start);
        while let Some(range) = self.list.get(at).copied().filter(|it| it.start < end) {
            self.bytes -= range.bytes();
            self.list.remove(at);
            let parts = [
                Range { start: range.start, end: start.max(range.start) },
                Range { start: end.min(range.end), end: range.end },
            ];
            for part in parts.into_iter().filter(|it| it.start < it.end) {
                if self.list.len() < self.ranges_max {
                    self.list.insert(at, part);
                    self.bytes += part.bytes();
                    at += 1;
                }
            }
        }
    }

    /// Takes out everything below an offset (RFC 6675, 4).
    pub fn remove_below(&mut self, offset: u64) {
        while let Some(first) = self.list.front_mut().filter(|it| it.start < offset) {
            let cut = first.end.min(offset);
            self.bytes -= cut - first.start;
            first.start = cut;
            if first.start == first.end {
                self.list.pop_front();
            }
        }
    }

    /// Empties the set (RFC 2018, 8).
    pub fn clear(&mut self) {
        self.list.clear();
        self.bytes = 0;
    }

    /// The range that an offset is in (RFC 2018, 4).
    pub fn around(&self, offset: u64) -> Option<Range> {
        let at = self.list.partition_point(|it| it.end <= offset);
        self.list.get(at).copied().filter(|it| it.start <= offset)
    }

    /// The first range that ends behind an offset (RFC 6675, 4).
    pub fn next(&self, offset: u64) -> Option<Range> {
        self.list.get(self.list.partition_point(|it| it.end <= offset)).copied()
    }

    /// The lowest range (RFC 6675, 4).
    pub fn first(&self) -> Option<Range> {
        self.list.front().copied()
    }

    /// How many offsets are in the set (RFC 6675, 4).
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// How many ranges there are (RFC 2018, 4).
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there is none (RFC 2018, 4).
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The ranges in order (RFC 2018, 4).
    pub fn iter(&self) -> impl Iterator<Item = Range> + '_ {
        self.list.iter().copied()
    }
}
