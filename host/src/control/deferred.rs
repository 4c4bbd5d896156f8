//! Payload of one flow that the card deferred, until the floor passes it.
//!
//! ```text
//!   keep  ─► kept, within a budget; the first copy of a byte stands ─┐
//!   doubt ─► doubtful: the newest few, for bytes that nothing else ──┴─► at
//!            has brought
//! ```
//! A copy is doubtful when TCP will hardly accept its packet ([`super::expected`]). It stands only
//! where TCP did accept it after all: a packet that TCP refused must not decide what the
//! application reads.

use std::collections::VecDeque;

/// Doubtful payload that is remembered, bytes; the oldest goes first.
const DOUBTFUL_BYTES_MAX: usize = 256 << 10;

/// Copies, each with the stream offset of its first byte.
#[derive(Debug, Default)]
struct Copies {
    copies: VecDeque<(u64, Vec<u8>)>,
    bytes: usize,
}

impl Copies {
    fn push(&mut self, start: u64, payload: Vec<u8>) {
        self.bytes += payload.len();
        self.copies.push_back((start, payload));
    }

    fn pop(&mut self) {
        self.bytes -= self.copies.pop_front().map_or(0, |(_, p)| p.len());
    }

    /// The bytes from `at` to `end`, as far as the first copy that holds `at` goes.
    fn at(&self, at: u64, end: u64) -> Option<&[u8]> {
        self.copies.iter().find_map(|(start, payload)| {
            let skip = usize::try_from(at.checked_sub(*start)?).ok()?;
            let rest = payload.get(skip..).filter(|rest| !rest.is_empty())?;
            let wanted = usize::try_from(end - at).unwrap_or(usize::MAX);
            Some(&rest[..rest.len().min(wanted)])
        })
    }

    fn forget_below(&mut self, floor: u64) {
        self.copies
            .retain(|(start, payload)| start + payload.len() as u64 > floor);
        self.bytes = self.copies.iter().map(|(_, payload)| payload.len()).sum();
    }
}

/// What is deferred. See the module's head.
#[derive(Debug, Default)]
pub struct Deferred {
    kept: Copies,
    doubtful: Copies,
}

impl Deferred {
    /// Bytes held that count against the budget.
    pub fn bytes(&self) -> usize {
        self.kept.bytes
    }

    /// Keeps a copy, unless one that is kept already holds all of it. Returns false, and keeps
    /// nothing, when the flow would pass `budget_bytes`.
    pub fn keep(&mut self, start: u64, payload: Vec<u8>, budget_bytes: usize) -> bool {
        let end = start + payload.len() as u64;
        if let Some(known) = self.kept.at(start, end) {
            if known.len() == payload.len() {
                return true;
            }
        }
        if self.kept.bytes + payload.len() > budget_bytes {
            return false;
        }
        self.kept.push(start, payload);
        true
    }

    /// Keeps a copy that the application did read already: over any budget.
    pub fn keep_landed(&mut self, start: u64, payload: Vec<u8>) {
        self.kept.push(start, payload);
    }

    /// Remembers a doubtful copy.
    pub fn doubt(&mut self, start: u64, payload: Vec<u8>) {
        self.doubtful.push(start, payload);
        while self.doubtful.bytes > DOUBTFUL_BYTES_MAX {
            self.doubtful.pop();
        }
    }

    /// The kept bytes from `at` to `end`, as far as one copy goes.
    pub fn kept_at(&self, at: u64, end: u64) -> Option<&[u8]> {
        self.kept.at(at, end)
    }

    /// The doubtful bytes from `at` to `end`, as far as one copy goes.
    pub fn doubtful_at(&self, at: u64, end: u64) -> Option<&[u8]> {
        self.doubtful.at(at, end)
    }

    /// Where the next kept copy after `at` begins, at most `end`.
    pub fn next_kept(&self, at: u64, end: u64) -> u64 {
        let starts = self.kept.copies.iter().map(|&(start, _)| start);
        starts.filter(|&start| start > at).fold(end, u64::min)
    }

    /// Forgets the copies that end at or below `floor`.
    pub fn forget_below(&mut self, floor: u64) {
        self.kept.forget_below(floor);
        self.doubtful.forget_below(floor);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_kept_copy_stands_and_a_doubtful_one_only_where_there_is_none() {
        let mut deferred = Deferred::default();
        deferred.doubt(0, vec![9; 30]);
        assert!(deferred.keep(10, vec![1; 10], 100));
        assert!(deferred.keep(5, vec![2; 10], 100));
        assert_eq!(deferred.kept_at(10, 20), Some(&[1; 10][..]));
        assert_eq!(deferred.kept_at(5, 20), Some(&[2; 10][..]));
        assert_eq!(deferred.kept_at(0, 20), None);
        assert_eq!(deferred.next_kept(0, 20), 5);
        assert_eq!(deferred.doubtful_at(0, 5), Some(&[9; 5][..]));
        deferred.forget_below(15);
        assert_eq!(
            (deferred.kept_at(10, 20), deferred.bytes()),
            (Some(&[1; 10][..]), 10)
        );
    }

    #[test]
    fn what_comes_again_takes_no_room_and_doubt_pushes_out_doubt_alone() {
        let mut deferred = Deferred::default();
        assert!(deferred.keep(0, vec![1; 100], 150));
        assert!(deferred.keep(20, vec![2; 80], 150), "held already");
        assert!(!deferred.keep(20, vec![2; 81], 150));
        assert_eq!(deferred.bytes(), 100);
        for start in 0..40 {
            deferred.doubt(start * 9000, vec![3; 9000]);
        }
        assert_eq!(deferred.doubtful_at(0, 1), None);
        assert!(deferred.doubtful_at(39 * 9000, 40 * 9000).is_some());
        assert_eq!(deferred.kept_at(0, 100).map(<[u8]>::len), Some(100));
    }
}
