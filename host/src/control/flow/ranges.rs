//! A set of stream offsets, kept as disjoint half-open ranges.

use std::collections::BTreeMap;

/// Ranges `start..end`, disjoint and not adjacent. The first one is kept apart from the others: a
/// stream in order has no other, and needs no memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct RangeSet {
    /// From and to; both 0 if the set is empty.
    first_range: (u64, u64),
    rest: BTreeMap<u64, u64>,
}

impl RangeSet {
    /// The first range.
    #[inline]
    fn first(&self) -> Option<(u64, u64)> {
        (self.first_range.0 < self.first_range.1).then_some(self.first_range)
    }

    /// Adds `start..end`.
    pub fn insert(&mut self, start: u64, end: u64) {
        if start >= end {
            return;
        }
        let Some((first_start, first_end)) = self.first() else {
            self.first_range = (start, end);
            return;
        };
        if start > first_end {
            self.insert_rest(start, end);
            return;
        }
        if end < first_start {
            self.rest.insert(first_start, first_end);
            self.first_range = (start, end);
            return;
        }
        let mut end = end.max(first_end);
        while let Some(entry) = self.rest.first_entry().filter(|entry| *entry.key() <= end) {
            end = end.max(entry.remove());
        }
        self.first_range = (start.min(first_start), end);
    }

    fn insert_rest(&mut self, start: u64, end: u64) {
        let (mut start, mut end) = (start, end);
        while let Some((&other_start, &other_end)) = self.rest.range(..=end).next_back() {
            if other_end < start {
                break;
            }
            self.rest.remove(&other_start);
            start = start.min(other_start);
            end = end.max(other_end);
        }
        self.rest.insert(start, end);
    }

    /// Removes `start..end`.
    pub fn remove(&mut self, start: u64, end: u64) {
        if start >= end {
            return;
        }
        while let Some((&other_start, &other_end)) = self.rest.range(..end).next_back() {
            if other_end <= start {
                break;
            }
            self.rest.remove(&other_start);
            if other_start < start {
                self.rest.insert(other_start, start);
            }
            if other_end > end {
                self.rest.insert(end, other_end);
            }
        }
        let Some((first_start, first_end)) = self.first() else { return };
        if first_start >= end || first_end <= start {
            return;
        }
        let below = (first_start < start).then_some((first_start, start));
        let above = (first_end > end).then_some((end, first_end));
        let first = match (below, above) {
            (Some(below), Some((above_start, above_end))) => {
                self.rest.insert(above_start, above_end);
                Some(below)
            }
            (below, above) => below.or(above).or_else(|| self.rest.pop_first()),
        };
        self.first_range = first.unwrap_or_default();
    }

    /// Whether the first range ends at `end`.
    #[inline]
    pub fn extends_to(&self, end: u64) -> bool {
        self.first().is_some_and(|(_, first_end)| first_end == end)
    }

    /// Adds `start..end` to the first range of a set that has no other. Returns false, and adds
    /// nothing, if it does not follow.
    #[inline]
    pub fn extend_first(&mut self, start: u64, end: u64) -> bool {
        let follows = self.extends_to(start) && start < end;
        if follows {
            self.first_range.1 = end;
        }
        follows
    }

    /// Number of ranges.
    pub fn len(&self) -> usize {
        usize::from(self.first().is_some()) + self.rest.len()
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.first().is_none()
    }

    /// The last range that starts before `end`.
    fn last_before(&self, end: u64) -> Option<(u64, u64)> {
        let in_rest = self.rest.range(..end).next_back();
        let first = self.first().filter(|(start, _)| *start < end);
        in_rest.map(|(&start, &end)| (start, end)).or(first)
    }

    /// The ranges that start from `start` on and before `end`, in order.
    fn starting(&self, start: u64, end: u64) -> impl Iterator<Item = (u64, u64)> + '_ {
        let first = self.first().filter(|(at, _)| (start..end).contains(at));
        let rest = self.rest.range(start..end.max(start));
        first.into_iter().chain(rest.map(|(&start, &end)| (start, end)))
    }

    /// End of the range that holds `at`, at most `end`; `at` if there is none.
    pub fn held_to(&self, at: u64, end: u64) -> u64 {
        let before = self.last_before(at.saturating_add(1));
        before.map_or(at, |(_, other_end)| other_end.clamp(at, end))
    }

    /// Start of the next range after `at`, at most `end`.
    pub fn next(&self, at: u64, end: u64) -> u64 {
        let next = self.starting(at.saturating_add(1), u64::MAX).next();
        next.map_or(end, |(start, _)| start.min(end))
    }

    /// Whether any part of `start..end` is in the set.
    pub fn overlaps(&self, start: u64, end: u64) -> bool {
        let before = self.last_before(end);
        start < end && before.is_some_and(|(_, other_end)| other_end > start)
    }

    /// The parts of `start..end` that are in the set, in order.
    pub fn parts(&self, start: u64, end: u64) -> Vec<(u64, u64)> {
        let mut parts = Vec::new();
        let first = self.held_to(start, end.max(start));
        if first > start {
            parts.push((start, first));
        }
        for (other_start, other_end) in self.starting(start.saturating_add(1), end) {
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
        let mut at = self.held_to(start, u64::MAX);
        for (other_start, other_end) in self.starting(start, end) {
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
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
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
            assert_eq!(set.held_to(from, to.max(from)), first.unwrap_or(to.max(from)));
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
