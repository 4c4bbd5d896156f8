//! Payload that a null card writes as DMA would, and what its reader must find.
//!
//! ```text
//!   Pattern ── bytes of a place ──► place ──► application memory ──► reader: sum of the place?
//! ```
//! Bytes follow from their place in the stream. The pattern's length is a prime, so a buffer that
//! is used again holds other bytes the next time, and what was not written shows.

use golden::tables::Tables;
use host::memory::ApplicationMapping;
use thiserror::Error;

use super::rings::Memory;

/// Bytes after which the pattern begins again.
const PERIOD_BYTES: usize = 4093;

/// A buffer holds other bytes than those of its place in the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{bytes} bytes from byte {place} on have the sum {found} instead of {expected}")]
pub struct WrongSum {
    /// Place of the first byte in the stream.
    pub place: u64,
    /// Bytes in the buffer.
    pub bytes: u32,
    /// Their sum.
    pub found: u64,
    /// The right one.
    pub expected: u64,
}

/// The bytes of a stream.
#[derive(Clone, Debug)]
pub struct Pattern {
    bytes: Vec<u8>,
    /// Sums of the first bytes of a period.
    sums: Vec<u64>,
}

impl Pattern {
    /// A pattern of which up to `bytes_max` bytes are asked for at once.
    pub fn new(bytes_max: usize) -> Self {
        let byte = |at: usize| ((at % PERIOD_BYTES) as u32).wrapping_mul(0x9e37_79b1) >> 24;
        let bytes = Vec::from_iter((0..PERIOD_BYTES + bytes_max).map(|at| byte(at) as u8));
        let mut sums = vec![0];
        for at in 0..PERIOD_BYTES {
            sums.push(sums[at] + u64::from(bytes[at]));
        }
        Self { bytes, sums }
    }

    /// So many bytes from a place in the stream.
    pub fn at(&self, place: u64, bytes: usize) -> &[u8] {
        let from = (place % PERIOD_BYTES as u64) as usize;
        &self.bytes[from..from + bytes]
    }

    /// The sum of the first bytes of the stream.
    fn sum_to(&self, end: u64) -> u64 {
        let (periods, rest) = (end / PERIOD_BYTES as u64, end % PERIOD_BYTES as u64);
        periods * self.sums[PERIOD_BYTES] + self.sums[rest as usize]
    }

    /// The sum of so many bytes from a place in the stream.
    pub fn sum(&self, place: u64, bytes: u64) -> u64 {
        self.sum_to(place + bytes) - self.sum_to(place)
    }

    /// Whether so many bytes from a place in the stream have the sum that was found.
    pub fn judge(&self, place: u64, bytes: u32, found: u64) -> Result<(), WrongSum> {
        let expected = self.sum(place, bytes.into());
        match found == expected {
            true => Ok(()),
            false => Err(WrongSum { place, bytes, found, expected }),
        }
    }
}

/// The sum of bytes, as their reader takes it.
pub fn sum(bytes: &[u8]) -> u64 {
    // Sums of 32 bits of a few bytes each are what vector instructions are good at.
    let parts = bytes.chunks(4096);
    let part = |bytes: &[u8]| bytes.iter().map(|byte| u32::from(*byte)).sum::<u32>();
    parts.map(|bytes| u64::from(part(bytes))).sum()
}

/// Bytes that are read at once: they stay in the first cache.
const READ_BYTES: usize = 4096;

/// The sum of the bytes of a buffer, read piece by piece.
pub fn sum_of_buffer(memory: &ApplicationMapping, start: usize, bytes: usize) -> u64 {
    let (mut found, mut piece) = (0, [0; READ_BYTES]);
    for at in (0..bytes).step_by(READ_BYTES) {
        let part = &mut piece[..READ_BYTES.min(bytes - at)];
        memory.read(start + at, part);
        found += sum(part);
    }
    found
}

/// Writes the payload of a packet into the segments of its flow, from the entry `index` on.
/// `None` if it does not go into memory that the card reaches.
pub(super) fn place(
    tables: &Tables,
    memory: &mut Memory,
    (flow, mut index): (u16, u16),
    mut position: u32,
    payload: &[u8],
) -> Option<()> {
    let flow = tables.flow(flow)?;
    let mut rest = payload;
    while !rest.is_empty() {
        let segment = flow.lists[0].at(index)?;
        let within = position.wrapping_sub(segment.position);
        let wanted = (segment.bytes - within).min(rest.len() as u32);
        let grant = tables.translate(&segment, within.into(), wanted.into(), flow.domain, true)?;
        let (now, later) = rest.split_at(grant.1 as usize);
        let (target, offset) = memory.application(grant.0)?;
        let fits = offset + now.len() <= target.bytes();
        fits.then(|| target.write(offset, now))?;
        position = position.wrapping_add(now.len() as u32);
        rest = later;
        if position.wrapping_sub(segment.position) == segment.bytes {
            index = index.wrapping_add(1);
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sum_of_part_is_its_bytes_sum() {
        let pattern = Pattern::new(10_000);
        for (place, bytes) in [(0, 1), (4092, 2), (5, 9000), (1 << 40, 10_000), (7, 0)] {
            let found = sum(pattern.at(place, bytes));
            assert_eq!(found, pattern.sum(place, bytes as u64), "{place}, {bytes}");
        }
        let (first, second) = (pattern.at(0, 1000), pattern.at(1 << 20, 1000));
        assert_ne!(first, second, "a buffer holds other bytes the second time");
    }
}
