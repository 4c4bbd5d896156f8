//! Application memory of one direction of a flow: a ring of buffers, posted as segments again and
//! again.
//!
//! ```text
//!   region: | guard | buffer 0 | guard | buffer 1 | guard | ...      buffer i mod n is segment i
//!            posted ──► confirmed ──► used up ──► floor moved ──► floor confirmed ──► posted again
//! ```
//! Invariants
//! 1. A buffer is refilled (send) or judged for the last time (receive) only while the card may
//!    not touch it: before its post is handed over, after its floor is confirmed.
//! 2. Offsets count from the stream's start in 64 bits; positions on the wire are their low 32 bits
//!    from a base.

use std::collections::VecDeque;

use host::control::regions::Region;
use host::driver::bus::DmaMemory;
use host::records::commands::{segment_post, Direction, Entry, FlowName, Segment};

/// Guard bytes on each side of a buffer.
pub const GUARD_BYTES: usize = 32;
/// Value of the guard bytes.
pub const GUARD: u8 = 0xa5;

/// A buffer as it is posted now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Posted {
    /// Number since the start; the list index is its low 16 bits.
    pub number: u64,
    /// Stream offset of its first byte.
    pub start: u64,
    /// Bytes.
    pub bytes: u32,
    /// Bus address.
    pub address: u64,
}

impl Posted {
    /// Offset after its last byte.
    pub fn end(&self) -> u64 {
        self.start + u64::from(self.bytes)
    }
}

/// The buffers of one direction of one flow.
#[derive(Debug)]
pub struct Buffers {
    name: FlowName,
    direction: Direction,
    base: u32,
    region: Option<Region>,
    /// Address and bytes of each buffer.
    slots: Vec<(u64, u32)>,
    posted: VecDeque<Posted>,
    tail: u64,
    end: u64,
    confirmed_end: u64,
    used: u64,
    floor_asked: u64,
    floor_every: usize,
}

/// A floor to set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Floor {
    /// Stream offset.
    pub offset: u64,
    /// Number of the first segment still needed.
    pub head: u64,
}

/// Bytes of a region that holds buffers of these sizes with their guards, each shifted by less than
/// `shift_bytes`.
pub fn region_bytes(sizes: impl Iterator<Item = u32>, shift_bytes: usize) -> usize {
    let total: usize = sizes.map(|bytes| stride(bytes, shift_bytes)).sum();
    total.next_power_of_two().max(4096)
}

/// Used segments after which the floor is moved: two, as one ACK stands for two packets; more
/// where the list is long enough.
pub fn floor_every(slots: usize) -> usize {
    match slots {
        0..4 => 1,
        4..64 => 2,
        _ => 8,
    }
}

fn stride(bytes: u32, shift_bytes: usize) -> usize {
    (bytes as usize + 2 * GUARD_BYTES + shift_bytes).next_multiple_of(64)
}

impl Buffers {
    /// Buffers of `sizes` in a region, each shifted by what `shift` says, less than `shift_bytes`;
    /// 0 is for none.
    pub fn new(
        name: FlowName,
        direction: Direction,
        base: u32,
        region: Region,
        sizes: &[u32],
        (shift, shift_bytes): (impl Fn(usize) -> u64, usize),
    ) -> Self {
        let mut at = region.memory.address;
        let mut slots = Vec::with_capacity(sizes.len());
        for (number, &bytes) in sizes.iter().enumerate() {
            let shifted = shift(number).checked_rem(shift_bytes as u64).unwrap_or(0);
            slots.push((at + GUARD_BYTES as u64 + shifted, bytes));
            at += stride(bytes, shift_bytes) as u64;
        }
        Self {
            name,
            direction,
            base,
            region: Some(region),
            posted: VecDeque::with_capacity(slots.len()),
            floor_every: floor_every(slots.len()),
            slots,
            tail: 0,
            end: 0,
            confirmed_end: 0,
            used: 0,
            floor_asked: 0,
        }
    }

    /// Buffers of an unused direction: nothing can be posted.
    pub fn none(name: FlowName, direction: Direction, base: u32) -> Self {
        Self {
            name,
            direction,
            base,
            region: None,
            posted: VecDeque::new(),
            floor_every: 1,
            slots: Vec::new(),
            tail: 0,
            end: 0,
            confirmed_end: 0,
            used: 0,
            floor_asked: 0,
        }
    }

    /// The position on the wire of an offset.
    pub fn position(&self, offset: u64) -> u32 {
        self.base.wrapping_add(offset as u32)
    }

    /// The offset of a position less than 2^31 away from `near`.
    pub fn offset_near(&self, position: u32, near: u64) -> Option<u64> {
        let ahead = position.wrapping_sub(self.position(near)) as i32;
        near.checked_add_signed(i64::from(ahead))
    }

    /// The memory that holds the buffers.
    pub fn memory(&self) -> Option<DmaMemory> {
        self.region.map(|region| region.memory)
    }

    /// The next buffer to post, if one is free; `prepare` its memory, then hand the command over.
    pub fn take_next(&mut self) -> Option<(Posted, Entry)> {
        let region = self.region.filter(|_| self.posted.len() < self.slots.len())?;
        let (address, bytes) = self.slots[(self.tail % self.slots.len() as u64) as usize];
        let posted = Posted { number: self.tail, start: self.end, bytes, address };
        let segment = Segment {
            index: self.tail as u16,
            position: self.position(posted.start),
            bytes,
            region: region.index,
            region_key: region.key,
            offset: address - region.memory.address,
        };
        self.posted.push_back(posted);
        self.tail += 1;
        self.end = posted.end();
        Some((posted, segment_post(self.name, self.direction, &segment)))
    }

    /// The post of the segment that ends at `end` is confirmed.
    pub fn confirm_post(&mut self, end: u64) {
        self.confirmed_end = end;
    }

    /// The stream is used up to `offset`; returns the floor to set, if enough buffers lie below it.
    pub fn use_up(&mut self, offset: u64) -> Option<Floor> {
        self.used = self.used.max(offset);
        let behind = |posted: &&Posted| posted.end() <= self.used;
        let passed = self.posted.iter().take_while(behind);
        let fresh = passed.filter(|posted| posted.end() > self.floor_asked);
        if fresh.count() < self.floor_every {
            return None;
        }
        self.floor_asked = self.used;
        let needed = self.posted.iter().find(|posted| posted.end() > self.used);
        Some(Floor { offset: self.used, head: needed.map_or(self.tail, |posted| posted.number) })
    }

    /// A floor is confirmed: the next buffer below it, which is free again.
    pub fn release(&mut self, floor: &Floor) -> Option<Posted> {
        let first = self.posted.front()?;
        if first.number < floor.head {
            self.posted.pop_front()
        } else {
            None
        }
    }

    /// Offset up to which everything posted is confirmed.
    pub fn confirmed_end(&self) -> u64 {
        self.confirmed_end
    }

    /// Buffers that are posted now.
    pub fn all_posted(&self) -> impl Iterator<Item = &Posted> {
        self.posted.iter()
    }

    /// Index in the list of the segment that holds `offset`.
    pub fn list_index(&self, offset: u64) -> Option<u16> {
        let at = self.posted.partition_point(|posted| posted.end() <= offset);
        let posted = self.posted.get(at)?;
        (posted.start <= offset).then_some(posted.number as u16)
    }

    /// Where the bytes from `offset` on lie: address, offset and length of each piece.
    pub fn pieces(&self, offset: u64, bytes: usize) -> Option<Vec<(u64, u64, usize)>> {
        let mut pieces = Vec::with_capacity(2);
        let (mut from, end) = (offset, offset + bytes as u64);
        let mut at = self.posted.partition_point(|posted| posted.end() <= offset);
        while from < end {
            let posted = self.posted.get(at)?;
            if posted.start > from {
                return None;
            }
            let to = end.min(posted.end());
            pieces.push((posted.address + (from - posted.start), from, (to - from) as usize));
            from = to;
            at += 1;
        }
        Some(pieces)
    }

    /// The first byte outside the buffers, in the region's content, that is not the guard.
    pub fn first_broken_guard(&self, region: &[u8]) -> Option<usize> {
        let base = self.region?.memory.address;
        let mut at = 0;
        let broken = |from: usize, to: usize| {
            let gap = &region[from..to];
            gap.iter().position(|byte| *byte != GUARD).map(|found| from + found)
        };
        for (address, bytes) in &self.slots {
            let start = (address - base) as usize;
            if let Some(found) = broken(at, start) {
                return Some(found);
            }
            at = start + *bytes as usize;
        }
        broken(at, region.len())
    }

    /// Segments released so far.
    pub fn released_segments(&self) -> u64 {
        self.tail - self.posted.len() as u64
    }

    /// Complete passes over the list since `released` segments had been released.
    pub fn wraps_since(&self, released: u64) -> u64 {
        let used = self.released_segments() - released;
        used.checked_div(self.slots.len() as u64).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use host::control::regions::Regions;
    use host::driver::bus::MemoryKind;

    fn buffers() -> Buffers {
        let memory = DmaMemory { address: 0x10_0000, bytes: 4096, kind: MemoryKind::Application };
        let (region, _) = Regions::new(2, 4).register(memory, 0).unwrap();
        let name = FlowName { flow: 3, generation: 1 };
        let sizes = [100, 200, 300, 400];
        Buffers::new(name, Direction::Receive, u32::MAX - 50, region, &sizes, (|_| 5, 8))
    }

    #[test]
    fn buffer_is_reposted_behind_confirmed_floor() {
        let mut buffers = buffers();
        while buffers.take_next().is_some() {}
        assert_eq!(buffers.list_index(299), Some(1));
        assert_eq!(buffers.list_index(1000), None);
        assert_eq!(buffers.use_up(99), None);
        let floor = buffers.use_up(301).expect("two buffers are used up");
        assert_eq!(floor, Floor { offset: 301, head: 2 });
        assert_eq!(buffers.use_up(301), None);
        assert!(buffers.take_next().is_none());
        assert_eq!(buffers.release(&floor).map(|posted| posted.number), Some(0));
        assert_eq!(buffers.release(&floor).map(|posted| posted.number), Some(1));
        assert_eq!(buffers.release(&floor), None);
        let (posted, _) = buffers.take_next().expect("room");
        assert_eq!((posted.number, posted.start, posted.bytes), (4, 1000, 100));
        assert_eq!((buffers.released_segments(), buffers.wraps_since(0)), (2, 0));
    }

    #[test]
    fn pieces_cover_only_posted_range() {
        let mut buffers = buffers();
        buffers.take_next();
        buffers.take_next();
        let base = 0x10_0000 + 37;
        let second = base + 192;
        assert_eq!(buffers.pieces(90, 30), Some(vec![(base + 90, 90, 10), (second, 100, 20)]));
        assert_eq!(buffers.pieces(290, 20), None);
    }

    #[test]
    fn positions_wrap_and_offsets_come_back() {
        let buffers = buffers();
        assert_eq!(buffers.position(100), 49);
        assert_eq!(buffers.offset_near(49, 60), Some(100));
        assert_eq!(buffers.offset_near(u32::MAX - 60, 0), None);
    }
}
