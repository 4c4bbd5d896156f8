//! A set of stream offsets, kept as disjoint half-open ranges.

use std::collections::BTreeMap;

/// Ranges `start..end`, disjoint and not adjacent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RangeSet {
    ends: BTreeMap<u64, u64>,
}

impl RangeSet {
    /// Adds `start..end`.
    pub fn insert(&mut self, start: u64, end: u64) {
        if start >= end {
            return;
        }
        let (mut start, mut end) = (start, end);
        let touching: Vec<u64> = self
            .ends
            .range(..=end)
            .rev()
            .take_while(|&(_, &other_end)| other_end >= start)
            .map(|(&other_start, _)| other_start)
            .collect();
        for other_start in touching {
            if let Some(other_end) = self.ends.remove(&other_start) {
                start = start.min(other_start);
                end = end.max(other_end);
            }
        }
        self.ends.insert(start, end);
    }

    /// Removes `start..end`.
    pub fn remove(&mut self, start: u64, end: u64) {
        if start >= end {
            return;
        }
        let overlapping: Vec<(u64, u64)> = self
            .ends
            .range(..end)
            .rev()
            .take_while(|&(_, &other_end)| other_end > start)
            .map(|(&other_start, &other_end)| (other_start, other_end))
            .collect();
        for (other_start, other_end) in overlapping {
            self.ends.remove(&other_start);
            if other_start < start {
                self.ends.insert(other_start, start);
            }
            if other_end > end {
                self.ends.insert(end, other_end);
            }
        }
    }

    /// Number of ranges.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// End of the range that holds `at`, at most `end`; `at` if there is none.
    pub fn held_to(&self, at: u64, end: u64) -> u64 {
        let before = self.ends.range(..=at).next_back();
        before.map_or(at, |(_, &other_end)| other_end.clamp(at, end))
    }

    /// Start of the next range after `at`, at most `end`.
    pub fn next(&self, at: u64, end: u64) -> u64 {
        let next = self.ends.range(at.saturating_add(1)..).next();
        next.map_or(end, |(&start, _)| start.min(end))
    }

    /// Whether any part of `start..end` is in the set.
    pub fn overlaps(&self, start: u64, end: u64) -> bool {
        let before = self.ends.range(..end).next_back();
        start < end && before.is_some_and(|(_, &other_end)| other_end > start)
    }

    /// The parts of `start..end` that are in the set, in order.
    pub fn parts(&self, start: u64, end: u64) -> Vec<(u64, u64)> {
        let mut parts = Vec::new();
        let first = self.held_to(start, end.max(start));
        if first > start {
            parts.push((start, first));
        }
        for (&other_start, &other_end) in
            self.ends.range(start.saturating_add(1)..end.max(start + 1))
        {
            parts.push((other_start, other_end.min(end)));
        }
        parts
    }

    /// The parts of `start..end` that are not in the set, in order.
    pub fn gaps(&self, start: u64, end: u64) -> Vec<(u64, u64)> {
        let mut gaps = Vec::new();
        if start >= end {
            return gaps;
        }
        let mut at = start;
        let before = self.ends.range(..=start).next_back();
        if let Some((_, &other_end)) = before {
            at = at.max(other_end);
        }
        for (&other_start, &other_end) in self.ends.range(start..end) {
            if other_start > at {
                gaps.push((at, other_start));
            }
            at = at.max(other_end);
        }
        if at < end {
            gaps.push((at, end));
        }
        gaps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every operation on a small universe agrees with a plain array of flags.
    #[test]
    fn agrees_with_flags() {
        let mut state = 7u64;
        let mut next = |below: u64| {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (state >> 33) % below
        };
        let mut set = RangeSet::default();
        let mut flags = [false; 64];
        for _ in 0..20_000 {
            let (start, end) = (next(64), next(65));
            let add = next(2) == 0;
            if start < end {
                flags[start as usize..end as usize].fill(add);
            }
            if add {
                set.insert(start, end);
            } else {
                set.remove(start, end);
            }
            let (from, to) = (next(64), next(65));
            let held = |range: std::ops::Range<u64>| range.clone().any(|at| flags[at as usize]);
            assert_eq!(set.overlaps(from, to), held(from..to), "{from} to {to}");
            let first = (from..to).find(|&at| !flags[at as usize]);
            assert_eq!(
                set.held_to(from, to.max(from)),
                first.unwrap_or(to.max(from))
            );
            let mut present = [false; 64];
            for (part_start, part_end) in set.parts(from, to) {
                assert!(part_start < part_end);
                present[part_start as usize..part_end as usize].fill(true);
            }
            let mut missing = [false; 64];
            for (gap_start, gap_end) in set.gaps(from, to) {
                missing[gap_start as usize..gap_end as usize].fill(true);
            }
            for at in from..to {
                assert_eq!(missing[at as usize], !flags[at as usize], "offset {at}");
                assert_eq!(present[at as usize], flags[at as usize], "offset {at}");
            }
        }
    }
}
