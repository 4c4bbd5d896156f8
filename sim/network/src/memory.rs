//! The receiver's memory: every byte is written once, where it belongs.

use std::collections::BTreeMap;

/// Which bytes of a stream have come. There are no bytes: placement is arithmetic.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    /// Ranges that were taken, by start; they do not touch.
    taken: BTreeMap<u64, u64>,
    /// Everything before this offset may be taken.
    pub granted: u64,
    /// Everything before this offset was accepted in order.
    pub accepted: u64,
}

impl Memory {
    /// Takes a range.
    ///
    /// # Panics
    /// If it was not granted, or a byte of it was taken before.
    pub fn take(&mut self, start: u64, end: u64) {
        if start == end {
            return;
        }
        assert!(end <= self.granted, "taken to {end}, granted to {}", self.granted);
        let before = self.taken.range(..=start).next_back().map(|(from, to)| (*from, *to));
        assert!(before.is_none_or(|(_, to)| to <= start), "{start} is taken a second time");
        let after = self.taken.range(start..).next().map(|(from, to)| (*from, *to));
        assert!(after.is_none_or(|(from, _)| from >= end), "{end} is taken a second time");
        let mut range = (start, end);
        if let Some((from, _)) = before.filter(|(_, to)| *to == start) {
            self.taken.remove(&from);
            range.0 = from;
        }
        if let Some((from, to)) = after.filter(|(from, _)| *from == end) {
            self.taken.remove(&from);
            range.1 = to;
        }
        self.taken.insert(range.0, range.1);
    }

    /// Accepts everything before an offset.
    ///
    /// # Panics
    /// If a byte before it has not come, or more was accepted before.
    pub fn accept(&mut self, to: u64) {
        let held = self.taken.get(&0).copied().unwrap_or(0);
        assert!(to <= held, "accepted to {to}, held to {held}");
        assert!(to >= self.accepted, "accepted to {to} after {}", self.accepted);
        self.accepted = to;
    }
}
