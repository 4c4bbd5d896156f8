//! Which copy of each byte is valid ("stands"), of those placed in the buffer and those deferred.
//!
//! ```text
//!   in the buffer       placed ······ in doubt ·········· lost
//!   outside of it              kept ············ doubtful
//!               highest priority ◄─ placed, kept, in doubt, doubtful ─► lowest
//! ```
//! A copy is doubtful when TCP probably refuses its packet (`observed/expected.rs`). If TCP
//! accepts it after all, that copy must be the valid one, so TCP is shown only one doubtful copy of
//! each byte. Bytes that TCP may have accepted and that were overwritten since are lost: only a
//! copy without doubt may replace them. A late packet overwrites bytes with the same bytes, so
//! nothing is lost by it.
//!
//! Memory is bounded whatever a peer sends: bytes by budgets, ranges by their number.

use super::deferred::{Deferred, PIECE_BYTES};
use super::ranges::RangeSet;
use crate::prefetch::expect_all;

/// Doubtful payload that one flow may hold outside its buffers, bytes.
pub(super) const DOUBTFUL_BYTES_MAX: usize = 256 << 10;
/// Limit of ranges in each set. Packets of a peer that leaves more holes are treated as lost.
pub(super) const RANGES_MAX: usize = 1 << 16;
/// Ranges in each set that a flow has whatever other flows hold.
const RANGES_COMMITTED: usize = 64;
/// Bookkeeping of a range, bytes.
const RANGE_BYTES: usize = 48;

/// Bytes outside their buffers, with their stream offset.
pub type OutsideBytes<'a> = (u64, &'a [u8]);
/// Offset and length of missing bytes.
pub type Hole = (u64, u64);

/// The copies of one flow's bytes. See the head of this file.
#[derive(Debug)]
#[repr(C)]
pub struct ValidCopies {
    /// Since nothing was held last, each packet was placed behind the one before: there is nothing
    /// but one range in `placed`.
    in_order: bool,
    pub(super) placed: RangeSet,
    pub(super) apart: Box<StreamColdState>,
}

/// What a stream in order does not have. It lies apart, so that the connections of such streams lie
/// close together.
#[derive(Debug)]
pub(super) struct StreamColdState {
    /// Placed by packets that TCP probably refuses, and by no other since.
    pub in_doubt: RangeSet,
    /// TCP may have accepted what was here, and it was overwritten.
    lost: RangeSet,
    pub kept: Deferred,
    /// Deferred from packets that TCP probably refuses.
    pub doubtful: Deferred,
    /// Bytes that may be held beside those that are.
    room_bytes: usize,
}

impl Default for ValidCopies {
    fn default() -> Self {
        let apart = StreamColdState {
            in_doubt: RangeSet::default(),
            lost: RangeSet::default(),
            kept: Deferred::default(),
            doubtful: Deferred::default(),
            room_bytes: usize::MAX,
        };
        Self { in_order: true, placed: RangeSet::default(), apart: Box::new(apart) }
    }
}

impl ValidCopies {
    /// A step follows: asks for what a stream in order does not need.
    #[inline]
    pub fn expect(&self) {
        expect_all(&*self.apart);
    }

    /// Bytes held: payload outside of the buffers, and bookkeeping.
    pub fn held_bytes(&self) -> usize {
        if self.in_order {
            return usize::from(!self.placed.is_empty()) * RANGE_BYTES;
        }
        let ranges = self.placed.len() + self.apart.in_doubt.len() + self.apart.lost.len();
        self.apart.kept.bytes() + self.apart.doubtful.bytes() + ranges * RANGE_BYTES
    }

    /// Whether all bytes up to `end`, and none beyond, were placed one after the other: the card's
    /// cursor is there, and it writes none of them again.
    #[inline]
    pub fn is_in_order_to(&self, end: u64) -> bool {
        self.in_order && self.placed.extends_to(end)
    }

    /// Payload was placed: takes it, if it follows the one before in order. Returns whether it
    /// does.
    #[inline]
    pub fn follows(&mut self, start: u64, end: u64) -> bool {
        self.is_in_order_to(start) && self.placed.extend_first(start, end)
    }

    /// The same for the first one, while nothing is held.
    #[inline]
    pub fn begins(&mut self, start: u64, end: u64) -> bool {
        let begins = self.in_order && self.placed.is_empty() && start < end;
        if begins {
            self.placed.insert(start, end);
        }
        begins
    }

    /// Whether a stream in order has nothing but one range.
    #[cfg(test)]
    pub fn is_consistent(&self) -> bool {
        let sets = [&self.apart.in_doubt, &self.apart.lost];
        let is_alone = sets.iter().all(|set| set.is_empty()) && self.placed.len() <= 1;
        let pieces = [&self.apart.kept, &self.apart.doubtful];
        !self.in_order || is_alone && pieces.iter().all(|held| held.is_empty())
    }

    fn is_clear(&self) -> bool {
        let sets = [&self.placed, &self.apart.in_doubt, &self.apart.lost];
        let pieces = [&self.apart.kept, &self.apart.doubtful];
        sets.iter().all(|set| set.is_empty()) && pieces.iter().all(|held| held.is_empty())
    }

    /// Sets how many bytes may be held beside those that are.
    pub fn set_room(&mut self, room_bytes: usize) {
        self.apart.room_bytes = room_bytes;
    }

    /// Ranges that a set of `len` ranges may grow to.
    fn ranges_max(&self, len: usize) -> usize {
        let grown = len.saturating_add(self.apart.room_bytes / RANGE_BYTES);
        grown.clamp(RANGES_COMMITTED, RANGES_MAX)
    }

    /// Whether one more range can be recorded in each set whatever other flows hold.
    pub fn has_ranges(&self) -> bool {
        let sets = [&self.placed, &self.apart.in_doubt, &self.apart.lost];
        self.in_order || sets.iter().all(|set| set.len() < RANGES_COMMITTED)
    }

    /// Whether one more range can be recorded.
    pub fn may_land(&self) -> bool {
        self.placed.len() < self.ranges_max(self.placed.len())
    }

    /// Whether [`Standing::defer`] keeps a payload.
    pub fn may_defer(&self, start: u64, payload: &[u8], next: u64, budget_bytes: usize) -> bool {
        let held_bytes = self.apart.kept.bytes();
        let budget_bytes = budget_bytes.min(held_bytes.saturating_add(self.apart.room_bytes));
        let needed_bytes = held_bytes + payload.len() + 2 * PIECE_BYTES;
        is_wanted(&self.apart.kept, start, payload, next) || needed_bytes <= budget_bytes
    }

    /// Payload was placed. Returns false when there are too many ranges to record it.
    pub fn note_placed(&mut self, start: u64, end: u64) -> bool {
        self.in_order &= self.is_clear();
        let before = self.placed.len();
        let limit = self.ranges_max(before);
        let past = self.remove_doubt(start, end);
        self.lose(end, past);
        self.placed.insert(start, end);
        let is_clear = self.placed.len() <= before.max(limit);
        if !is_clear {
            self.placed.remove(start, end);
            self.lose(start, end);
        }
        is_clear
    }

    /// Payload of a doubtful packet was placed. Returns false when its header must be withheld.
    pub fn note_placed_in_doubt(&mut self, start: u64, end: u64) -> bool {
        if start >= end {
            return true;
        }
        self.in_order = false;
        let stands = !self.placed.overlaps(start, end)
            && !self.apart.in_doubt.overlaps(start, end)
            && !self.apart.lost.overlaps(start, end)
            && !self.apart.doubtful.overlaps(start, end)
            && self.apart.in_doubt.len() < self.ranges_max(self.apart.in_doubt.len());
        match stands {
            true => self.apart.in_doubt.insert(start, end),
            false => self.note_overwritten(start, end),
        }
        stands
    }

    /// Payload of a late packet was placed, over the same bytes where any was placed. Returns false
    /// when its header must be withheld.
    pub fn note_placed_late(&mut self, start: u64, end: u64) -> bool {
        self.in_order = false;
        let mut fresh = Vec::new();
        for (from, to) in self.placed.gaps(start, end) {
            fresh.extend(self.apart.in_doubt.gaps(from, to));
        }
        let is_free = |&(from, to): &(u64, u64)| {
            !self.apart.lost.overlaps(from, to) && !self.apart.doubtful.overlaps(from, to)
        };
        let count = self.apart.in_doubt.len();
        let room = count + fresh.len() <= self.ranges_max(count);
        let stands = fresh.is_empty() || (room && fresh.iter().all(is_free));
        if stands {
            for (from, to) in fresh {
                self.apart.in_doubt.insert(from, to);
            }
        }
        stands
    }

    /// Payload was placed by a packet whose header is withheld.
    pub fn note_overwritten(&mut self, start: u64, end: u64) {
        if start >= end {
            return;
        }
        self.in_order = false;
        let mut parts = self.placed.parts(start, end);
        parts.extend(self.apart.in_doubt.parts(start, end));
        for (from, to) in parts {
            self.lose(from, to);
        }
        let limit = self.ranges_max(self.placed.len());
        let past = remove_range(&mut self.placed, start, end, limit);
        self.lose(end, past);
        let past = self.remove_doubt(start, end);
        self.lose(end, past);
    }

    fn remove_doubt(&mut self, start: u64, end: u64) -> u64 {
        let limit = self.ranges_max(self.apart.in_doubt.len());
        remove_range(&mut self.apart.in_doubt, start, end, limit)
    }

    /// Marks bytes that TCP may have accepted as lost. With too many ranges, everything below `end`
    /// is marked.
    fn lose(&mut self, start: u64, end: u64) {
        let is_full = self.apart.lost.len() >= self.ranges_max(self.apart.lost.len());
        if start < end {
            self.apart.lost.insert(if is_full { 0 } else { start }, end);
        }
    }

    /// Payload was deferred while TCP waits for `next`. Returns false, and keeps nothing, when the
    /// budget would be exceeded.
    pub fn defer(&mut self, start: u64, payload: &[u8], next: u64, budget_bytes: usize) -> bool {
        self.in_order = false;
        let budget_bytes = match is_wanted(&self.apart.kept, start, payload, next) {
            true => usize::MAX,
            false => {
                budget_bytes.min(self.apart.kept.bytes().saturating_add(self.apart.room_bytes))
            }
        };
        self.apart.kept.keep(start, payload, budget_bytes)
    }

    /// Payload of a doubtful packet was deferred. Returns false when its header must be withheld.
    pub fn defer_in_doubt(&mut self, start: u64, payload: &[u8], next: u64) -> bool {
        self.in_order = false;
        let end = start + payload.len() as u64;
        let room_bytes = self.apart.doubtful.bytes().saturating_add(self.apart.room_bytes);
        let is_other = self.apart.in_doubt.overlaps(start, end)
            || self.apart.lost.overlaps(start, end)
            || !self.apart.doubtful.agrees(start, payload);
        let budget_bytes = match is_wanted(&self.apart.doubtful, start, payload, next) {
            true => usize::MAX,
            false => DOUBTFUL_BYTES_MAX.min(room_bytes),
        };
        !is_other && self.apart.doubtful.keep(start, payload, budget_bytes)
    }

    /// The valid bytes from `start` to `end` that are not in the buffer, in order.
    pub fn outside(&self, start: u64, end: u64) -> Result<Vec<OutsideBytes<'_>>, Hole> {
        let mut pieces = Vec::new();
        for (gap, end) in self.placed.gaps(start, end) {
            let mut at = gap;
            while at < end {
                // Up to the next kept piece, doubtful copies that TCP accepted are valid.
                let limit = self.apart.kept.next(at, end);
                let placed = self.apart.in_doubt.held_to(at, limit);
                let doubtful_end = self.apart.lost.next(at, self.apart.in_doubt.next(at, limit));
                let is_lost = self.apart.lost.held_to(at, end) > at;
                let doubtful = || self.apart.doubtful.at(at, doubtful_end).filter(|_| !is_lost);
                if let Some(bytes) = self.apart.kept.at(at, end) {
                    pieces.push((at, bytes));
                    at += bytes.len() as u64;
                } else if placed > at {
                    at = placed;
                } else if let Some(bytes) = doubtful() {
                    pieces.push((at, bytes));
                    at += bytes.len() as u64;
                } else {
                    return Err((at, end - at));
                }
            }
        }
        Ok(pieces)
    }

    /// Ranges from `start` to `end` that are valid in the buffer, or would be if TCP accepted them.
    pub fn in_place(&self, start: u64, end: u64) -> Vec<(u64, u64)> {
        let mut parts = self.placed.parts(start, end);
        parts.extend(self.apart.in_doubt.parts(start, end));
        parts
    }

    /// The buffer is withdrawn: `rescued` holds the bytes that were placed in it. They keep their
    /// priority over deferred bytes, regardless of the budget.
    pub fn rescue(&mut self, rescued: Vec<(u64, Vec<u8>)>) {
        self.in_order = false;
        for (start, bytes) in rescued {
            match self.apart.in_doubt.overlaps(start, start + 1) {
                true => self.apart.doubtful.replace(start, &bytes),
                false => self.apart.kept.replace(start, &bytes),
            }
        }
        (self.placed, self.apart.in_doubt) = Default::default();
    }

    /// Forgets everything below `floor`.
    pub fn forget_below(&mut self, floor: u64) {
        self.placed.remove(0, floor);
        if self.in_order {
            // Nothing else is held.
            return;
        }
        for set in [&mut self.apart.in_doubt, &mut self.apart.lost] {
            set.remove(0, floor);
        }
        self.apart.kept.forget_below(floor);
        self.apart.doubtful.forget_below(floor);
        self.in_order |= self.is_clear();
    }
}

/// Whether a payload contains the byte that TCP waits for, and that byte is not held.
fn is_wanted(held: &Deferred, start: u64, payload: &[u8], next: u64) -> bool {
    (start..start + payload.len() as u64).contains(&next) && !held.holds(next)
}

/// Removes a range from a set. Where that would leave more than `ranges_max` ranges, the removal
/// extends to the next gap. Returns the end of the removed range.
fn remove_range(set: &mut RangeSet, start: u64, end: u64, ranges_max: usize) -> u64 {
    let end = if set.len() < ranges_max { end } else { set.held_to(end, u64::MAX) };
    set.remove(start, end);
    end
}
