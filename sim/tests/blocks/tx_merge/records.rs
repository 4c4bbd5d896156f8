//! Descriptors, headers, tables and memory for tests, fixed and random.

use abi::field::Field;
use abi::send_descriptor as at;

use crate::tx_merge::world::{Flow, Region, Segment, Tables};

/// A descriptor under construction.
#[derive(Clone, Debug)]
pub struct Record {
    bytes: Vec<u8>,
}

impl Record {
    /// A record with this header; two slots when it needs them.
    pub fn new(kind: u8, header: &[u8]) -> Record {
        let mut record = Record { bytes: vec![0; 256] };
        record.bytes[32..32 + header.len()].copy_from_slice(header);
        record.set(at::KIND, u64::from(kind));
        record.set(at::HEADER_BYTES, header.len() as u64);
        record.set(at::TWO_SLOTS, u64::from(header.len() > 96));
        record
    }

    /// A raw frame.
    pub fn raw(frame: &[u8]) -> Record {
        Record::new(at::KIND_RAW, frame)
    }

    /// Its header.
    pub fn header(&self) -> Vec<u8> {
        let bytes = at::HEADER_BYTES.get(&self.bytes) as usize;
        self.bytes[32..32 + bytes].to_vec()
    }

    /// Sets a field.
    pub fn set(&mut self, field: Field, value: u64) {
        field.set(&mut self.bytes, value);
    }

    /// The slots.
    pub fn bytes(&self) -> Vec<u8> {
        let slots = 1 + at::TWO_SLOTS.get(&self.bytes) as usize;
        self.bytes[..128 * slots].to_vec()
    }
}

/// Host memory as the card sees it.
pub trait Memory {
    /// Bytes from a bus address on.
    fn bytes(&self, address: u64, count: usize) -> Vec<u8>;
    /// A read of this range fails.
    fn fails(&self, address: u64, count: usize) -> bool;
}

/// Memory whose bytes follow from their address; reads fail where one of the bad ranges is touched.
#[derive(Clone, Debug, Default)]
pub struct Pattern {
    pub bad: Vec<(u64, u64)>,
}

/// Memory without a bad range.
pub fn plain_memory() -> Pattern {
    Pattern::default()
}

impl Memory for Pattern {
    fn bytes(&self, address: u64, count: usize) -> Vec<u8> {
        (address..address + count as u64)
            .map(|at| (at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8)
            .collect()
    }

    fn fails(&self, address: u64, count: usize) -> bool {
        let end = address + count as u64;
        self.bad.iter().any(|bad| bad.0 < end && address < bad.1)
    }
}

/// A flow with segments, the regions behind them, and descriptors that send from it.
pub struct World {
    pub flow: Flow,
    pub regions: Vec<Region>,
}

impl World {
    /// Flow 0 of owner 1 with one segment of `bytes`, `misalignment` bytes behind a page start.
    pub fn one_segment(bytes: u32, misalignment: u64) -> World {
        let pages = (u64::from(bytes) + misalignment).div_ceil(4096) + 1;
        World {
            flow: Flow {
                generation: 7,
                owner: 1,
                domain: 9,
                floor: 1_000,
                head: 0xfffe,
                segments: vec![Segment {
                    position: 1_000,
                    bytes,
                    region: 0,
                    region_key: 5,
                    offset: misalignment,
                }],
            },
            regions: vec![Region {
                key: 5,
                domain: 9,
                read: true,
                bytes: pages * 4096,
                page_bits: 12,
                pages: (0..pages).map(|page| (page ^ 5) << 12 | 1 << 40).collect(),
            }],
        }
    }

    /// The same flow with its bytes in segments of one byte each, `count` of them.
    pub fn crumbs(count: u32) -> World {
        let mut world = World::one_segment(count, 0);
        let whole = world.flow.segments[0].clone();
        let crumb = |i: u32| Segment {
            position: whole.position.wrapping_add(i),
            bytes: 1,
            offset: u64::from(i) * 3 % u64::from(count),
            ..whole.clone()
        };
        world.flow.segments = (0..count).map(crumb).collect();
        world
    }

    /// The tables that hold it.
    pub fn tables(&self) -> Tables {
        Tables { flows: vec![Some(self.flow.clone())], regions: self.regions.clone() }
    }

    /// A TCP send over IPv4 from the start of the list, both checksums inserted.
    pub fn tcp_send(&self, payload_bytes: u32, mss_bytes: u32) -> Record {
        let mut header = vec![0x02, 0, 0, 0, 0, 1, 0x02, 0, 0, 0, 0, 2, 0x08, 0x00];
        let total = 40 + payload_bytes.min(65_000) as u16;
        header.extend([0x45, 0, (total >> 8) as u8, total as u8]);
        header.extend([0x12, 0x34, 0x40, 0, 64, 6, 0xaa, 0xbb]);
        header.extend([10, 0, 0, 1, 10, 0, 0, 2]);
        header.extend([0x30, 0x39, 0x00, 0x50]);
        header.extend(self.flow.segments[0].position.to_be_bytes());
        header.extend([1, 2, 3, 4, 0x50, 0x99, 0x10, 0x00, 0xcc, 0xdd, 0, 0]);
        let mut record = Record::new(at::KIND_SEND, &header);
        record.set(at::IP_CHECKSUM, 1);
        record.set(at::L4_CHECKSUM, 1);
        record.set(at::GENERATION, u64::from(self.flow.generation));
        record.set(at::L3_OFFSET, 14);
        record.set(at::L4_OFFSET, 34);
        record.set(at::PAYLOAD_BYTES, u64::from(payload_bytes));
        record.set(at::MSS_BYTES, u64::from(mss_bytes));
        record.set(at::POSITION, u64::from(self.flow.segments[0].position));
        record.set(at::SEGMENT_INDEX, u64::from(self.flow.head));
        record
    }
}
