//! Deferred payload of one flow, held until the floor passes it.
//!
//! ```text
//!   payload ─► keep ─► disjoint pieces, within a budget ─► at
//! ```
//! Each byte is held once, and the first copy is kept. Repeated packets therefore take no memory.
//! The total is bounded by a budget, in which each piece also counts its bookkeeping. A packet adds
//! one piece at most: pieces inside its range are merged into it.

use std::collections::BTreeMap;

/// Budget of deferred payload of one flow, bytes. Beyond it headers are withheld: a counted loss.
pub(crate) const DEFERRED_BYTES_MAX: usize = 4 << 20;
/// Bookkeeping of a piece, bytes: its map entry and its allocation, rounded up.
pub const PIECE_BYTES: usize = 96;

/// Pieces of a stream, disjoint, by the offset of their first byte.
#[derive(Debug, Default)]
pub struct Deferred {
    pieces: BTreeMap<u64, Vec<u8>>,
    payload_bytes: usize,
}

/// End offset of a piece.
fn end_of(start: u64, piece: &[u8]) -> u64 {
    start + piece.len() as u64
}

impl Deferred {
    /// Bytes that count against the budget: payload and bookkeeping.
    pub fn bytes(&self) -> usize {
        self.payload_bytes + self.pieces.len() * PIECE_BYTES
    }

    /// Whether nothing is held.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Keeps the bytes that are not held yet. Returns false, and keeps nothing, when `budget_bytes`
    /// would be exceeded.
    pub fn keep(&mut self, start: u64, payload: &[u8], budget_bytes: usize) -> bool {
        let (start, payload) = self.trim(start, payload);
        if payload.is_empty() {
            return true;
        }
        let end = end_of(start, payload);
        let enclosed = self.pieces.range(start..end);
        let (count, bytes) =
            enclosed.fold((0, 0), |(count, bytes), (_, piece)| (count + 1, bytes + piece.len()));
        if count > 0 && bytes == payload.len() {
            return true;
        }
        let rest = self.bytes() - bytes - count * PIECE_BYTES;
        if rest + payload.len() + PIECE_BYTES > budget_bytes {
            return false;
        }
        self.insert(start, payload.to_vec(), end);
        true
    }

    /// Keeps all bytes regardless of the budget, and replaces what is held in their place.
    pub fn replace(&mut self, start: u64, payload: &[u8]) {
        let end = end_of(start, payload);
        if payload.is_empty() {
            return;
        }
        self.forget(start, end);
        self.payload_bytes += payload.len();
        self.pieces.insert(start, payload.to_vec());
    }

    /// Removes the parts at both ends that neighbouring pieces already hold.
    fn trim<'a>(&self, start: u64, payload: &'a [u8]) -> (u64, &'a [u8]) {
        let (mut from, mut to) = (start, end_of(start, payload));
        if let Some((&before, piece)) = self.pieces.range(..start).next_back() {
            from = from.max(end_of(before, piece));
        }
        if let Some((&last, piece)) = self.pieces.range(start..to).next_back() {
            if end_of(last, piece) > to {
                to = last;
            }
        }
        if from >= to {
            return (start, &[]);
        }
        (from, &payload[(from - start) as usize..(to - start) as usize])
    }

    /// Inserts a piece that ends at `end` and merges the pieces inside its range, whose bytes are
    /// kept.
    fn insert(&mut self, start: u64, mut payload: Vec<u8>, end: u64) {
        while let Some((&inner, _)) = self.pieces.range(start..end).next() {
            let piece = self.pieces.remove(&inner).unwrap_or_default();
            let at = (inner - start) as usize;
            payload[at..at + piece.len()].copy_from_slice(&piece);
            self.payload_bytes -= piece.len();
        }
        self.payload_bytes += payload.len();
        self.pieces.insert(start, payload);
    }

    /// The bytes from `at` to `end`, up to the end of one piece.
    pub fn at(&self, at: u64, end: u64) -> Option<&[u8]> {
        let (start, piece) = self.pieces.range(..=at).next_back()?;
        let rest = piece.get(usize::try_from(at - start).ok()?..)?;
        let wanted = usize::try_from(end - at).unwrap_or(usize::MAX);
        Some(&rest[..rest.len().min(wanted)]).filter(|bytes| !bytes.is_empty())
    }

    /// Whether a byte is held.
    pub fn holds(&self, at: u64) -> bool {
        self.at(at, at + 1).is_some()
    }

    /// Whether any byte from `start` to `end` is held.
    pub fn overlaps(&self, start: u64, end: u64) -> bool {
        let before = self.pieces.range(..end).next_back();
        before.is_some_and(|(&first, piece)| end_of(first, piece) > start)
    }

    /// Whether all held bytes of this range equal the payload.
    pub fn agrees(&self, start: u64, payload: &[u8]) -> bool {
        let end = end_of(start, payload);
        let before = self.pieces.range(..start).next_back();
        let overlapping = before.into_iter().chain(self.pieces.range(start..end));
        overlapping.into_iter().all(|(&other, piece)| {
            let (from, to) = (other.max(start), end_of(other, piece).min(end));
            if from >= to {
                return true;
            }
            let part =
                |bytes_start: u64| (from - bytes_start) as usize..(to - bytes_start) as usize;
            piece[part(other)] == payload[part(start)]
        })
    }

    /// Start of the next piece after `at`, at most `end`.
    pub fn next(&self, at: u64, end: u64) -> u64 {
        let next = self.pieces.range(at.saturating_add(1)..).next();
        next.map_or(end, |(&start, _)| start.min(end))
    }

    /// Forgets the bytes from `start` to `end`.
    pub fn forget(&mut self, start: u64, end: u64) {
        while let Some((&first, piece)) = self.pieces.range(..end).next_back() {
            let piece_end = end_of(first, piece);
            if piece_end <= start {
                break;
            }
            let mut piece = self.pieces.remove(&first).unwrap_or_default();
            self.payload_bytes -= piece.len();
            if piece_end > end {
                let rest = piece.split_off((end - first) as usize);
                self.payload_bytes += rest.len();
                self.pieces.insert(end, rest);
            }
            if first < start {
                piece.truncate((start - first) as usize);
                piece.shrink_to_fit();
                self.payload_bytes += piece.len();
                self.pieces.insert(first, piece);
            }
        }
    }

    /// Forgets the pieces that end at or below `floor`.
    pub fn forget_below(&mut self, floor: u64) {
        while let Some(first) = self.pieces.first_entry() {
            if end_of(*first.key(), first.get()) > floor {
                break;
            }
            self.payload_bytes -= first.remove().len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_copy_of_byte_stands() {
        let mut deferred = Deferred::default();
        assert!(deferred.keep(10, &[1; 10], 1000));
        assert!(deferred.keep(5, &[2; 10], 1000));
        assert!(deferred.keep(0, &[3; 30], 1000));
        assert_eq!(deferred.at(0, 5), Some(&[3; 5][..]));
        assert_eq!(deferred.at(5, 10), Some(&[2; 5][..]));
        assert_eq!(deferred.at(10, 20), Some(&[1; 10][..]));
        assert_eq!(deferred.at(20, 40), Some(&[3; 10][..]));
        assert_eq!((deferred.at(30, 40), deferred.next(30, 40)), (None, 40));
        assert_eq!(deferred.bytes(), 30 + PIECE_BYTES, "one piece");
        deferred.replace(10, &[4; 10]);
        assert_eq!(deferred.at(10, 30), Some(&[4; 10][..]));
        assert_eq!((deferred.next(0, 40), deferred.holds(20)), (10, true));
    }

    #[test]
    fn repetition_is_free_small_pieces_cost_more() {
        let mut deferred = Deferred::default();
        let budget = 150 + PIECE_BYTES;
        assert!(deferred.keep(0, &[1; 100], budget));
        assert!(deferred.keep(20, &[2; 80], budget), "held already");
        assert!(!deferred.keep(20, &[2; 81], budget), "a piece costs");
        assert!(deferred.keep(50, &[], budget));
        assert_eq!(deferred.bytes(), 100 + PIECE_BYTES);
        let small = (0..1000u64).filter(|at| deferred.keep(200 + 2 * at, &[1], 100 * PIECE_BYTES));
        assert!(small.count() < 100);
    }

    /// Every operation on a small universe agrees with a plain array of bytes.
    #[test]
    fn agrees_with_bytes() {
        let mut state = 11u64;
        let mut next = |below: u64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) % below
        };
        let (mut deferred, mut bytes) = (Deferred::default(), [0u8; 64]);
        for round in 0..20_000u32 {
            let (start, end) = (next(64), next(65));
            let value = round as u8 | 1;
            let range = start as usize..(end as usize).max(start as usize);
            let payload = vec![value; range.len()];
            match next(4) {
                0 => {
                    deferred.replace(start, &payload);
                    bytes[range].fill(value);
                }
                1 => {
                    deferred.forget(start, end);
                    bytes[range].fill(0);
                }
                _ => {
                    assert_eq!(
                        deferred.agrees(start, &payload),
                        bytes[range.clone()].iter().all(|&b| b == 0 || b == value)
                    );
                    assert!(deferred.keep(start, &payload, usize::MAX));
                    let empty = bytes[range].iter_mut().filter(|byte| **byte == 0);
                    empty.for_each(|byte| *byte = value);
                }
            }
            let held: Vec<u8> =
                (0..64).map(|at| deferred.at(at, 64).map_or(0, |bytes| bytes[0])).collect();
            assert_eq!(held, bytes);
            let count = bytes.iter().filter(|&&byte| byte != 0).count();
            let pieces = deferred.pieces.len();
            assert_eq!(deferred.bytes(), count + pieces * PIECE_BYTES);
        }
    }
}
