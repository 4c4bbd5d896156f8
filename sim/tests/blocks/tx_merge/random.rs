//! Random worlds and descriptors, bent so that every edge and every error comes up.

use abi::config::FRAME_PAYLOAD_BYTES_MAX;
use abi::send_descriptor as at;
use rand::rngs::SmallRng;
use rand::seq::IndexedRandom;
use rand::Rng;

use crate::tx_merge::records::{Pattern, Record};
use crate::tx_merge::world::{Flow, Region, Segment, Tables};

const OWNERS: u8 = 3;

/// Lengths around the edges of a beat, a page and a frame.
fn edge_length(random: &mut SmallRng, max: u32) -> u32 {
    let bases = [1, 64, 128, 192, 512, 1448, 4096, 8192, 9000];
    let base = *bases.choose(random).expect("not empty");
    let length = match random.random_range(0..3) {
        0 => base + random.random_range(0..3) - 1,
        1 => base + random.random_range(0..130),
        _ => random.random_range(1..=max),
    };
    length.clamp(1, max)
}

/// Regions of all page sizes from 4 to 16 KiB, one of them not readable.
fn regions(random: &mut SmallRng) -> Vec<Region> {
    (0..6)
        .map(|number| {
            let page_bits = random.random_range(12..15);
            let pages: Vec<u64> =
                (0..64).map(|_| random.random_range(1..1 << 30) << page_bits).collect();
            Region {
                key: random.random_range(0..4),
                domain: 9,
                read: number != 5,
                bytes: (64 << page_bits) - random.random_range(0..5),
                page_bits,
                pages,
            }
        })
        .collect()
}

fn flow(random: &mut SmallRng, regions: &[Region]) -> Flow {
    let start: u32 = random.random();
    let mut position = start;
    let mut segments = Vec::new();
    for _ in 0..random.random_range(1..24) {
        let number = match random.random_range(0..60) {
            0 => 5,
            _ => random.random_range(0..5),
        };
        let bytes = match random.random_range(0..20) {
            0 => 0,
            _ => edge_length(random, 30_000),
        };
        let region: &Region = &regions[number];
        let wrong_key = u16::from(random.random_range(0..80) == 0);
        segments.push(Segment {
            position,
            bytes,
            region: number as u16,
            region_key: region.key ^ wrong_key,
            offset: random.random_range(0..region.bytes - 29_999),
        });
        let hole = if random.random_range(0..30) == 0 { 5 } else { 0 };
        position = position.wrapping_add(bytes + hole);
    }
    let below = random.random_range(0..20_000);
    Flow {
        generation: random.random(),
        owner: random.random_range(0..OWNERS),
        domain: if random.random_range(0..12) == 0 { 8 } else { 9 },
        floor: start.wrapping_add(below),
        head: random.random(),
        segments,
    }
}

/// Tables of a few flows.
pub fn tables(random: &mut SmallRng) -> Tables {
    let regions = regions(random);
    let mut flows: Vec<Option<Flow>> = (0..5).map(|_| Some(flow(random, &regions))).collect();
    flows.push(None);
    Tables { flows, regions }
}

/// Memory in which a few places cannot be read, of each region one that is large enough for a
/// read to meet it.
pub fn memory(random: &mut SmallRng, tables: &Tables) -> Pattern {
    let mut bad = Vec::new();
    for _ in 0..random.random_range(0..24) {
        let region = tables.regions.choose(random).expect("not empty");
        let address = region.address(random.random_range(0..region.bytes));
        bad.push((address, address + random.random_range(1..100)));
    }
    for region in &tables.regions {
        let address = region.address(region.bytes / 2);
        bad.push((address, address + region.bytes / 8));
    }
    Pattern { bad }
}

struct Header {
    bytes: Vec<u8>,
    l3: usize,
    l4: usize,
    ipv6: bool,
    udp: bool,
}

/// Ethernet, 0 to 2 VLAN tags, IP with options or extensions, TCP or UDP, and more up to 224 bytes.
fn header(random: &mut SmallRng, position: u32) -> Header {
    let (ipv6, udp) = (random.random(), random.random());
    let mut bytes: Vec<u8> = (0..224).map(|_| random.random()).collect();
    let odd = usize::from(random.random_range(0..8) == 0);
    let l3 = 14 + 4 * random.random_range(0..3) + odd;
    let options = if random.random() { 0 } else { 4 * random.random_range(0..11) };
    let l4 = l3 + if ipv6 { 40 } else { 20 } + options;
    let l4_bytes = if udp { 8 } else { 20 + 4 * random.random_range(0..11) };
    let end = l4 + l4_bytes;
    let length = match random.random_range(0..3) {
        0 => random.random_range(end..=224),
        1 => [64, 96, 97, 128, 129, 192, 193].into_iter().find(|edge| *edge >= end).unwrap_or(end),
        _ => end,
    };
    bytes.truncate(length);
    bytes[l3] = if ipv6 { 0x60 } else { 0x45 + options as u8 / 4 };
    if !udp {
        bytes[l4 + 4..l4 + 8].copy_from_slice(&position.to_be_bytes());
    }
    Header { bytes, l3, l4, ipv6, udp }
}

/// A raw frame, sometimes with checksums to insert.
fn raw(random: &mut SmallRng) -> Record {
    let header = header(random, 0);
    let mut record = if random.random() {
        Record::raw(&header.bytes)
    } else {
        let length = random.random_range(14..=224);
        Record::raw(&(0..length).map(|_| random.random()).collect::<Vec<u8>>())
    };
    set_layers(&mut record, &header, random.random(), random.random());
    record
}

fn set_layers(record: &mut Record, header: &Header, ip_checksum: bool, l4_checksum: bool) {
    record.set(at::IP_CHECKSUM, u64::from(ip_checksum));
    record.set(at::L4_CHECKSUM, u64::from(l4_checksum));
    record.set(at::L3_OFFSET, header.l3 as u64);
    record.set(at::L4_OFFSET, header.l4 as u64);
    record.set(at::IPV6, u64::from(header.ipv6));
    record.set(at::UDP, u64::from(header.udp));
}

/// A send from a flow's list, mostly sane, of at most `payload_max` bytes.
fn zero_copy(random: &mut SmallRng, tables: &Tables, payload_max: u32) -> (Record, u8) {
    let id = random.random_range(0..tables.flows.len());
    let Some(flow) = &tables.flows[id] else {
        let mut record = Record::new(at::KIND_SEND, &[0; 54]);
        record.set(at::FLOW, id as u64);
        return (record, 1);
    };
    let entry = random.random_range(0..flow.segments.len());
    let segment = &flow.segments[entry];
    let inside = random.random_range(0..=segment.bytes);
    let position = segment.position.wrapping_add(inside);
    let header = header(random, position);
    let mss = edge_length(random, FRAME_PAYLOAD_BYTES_MAX as u32);
    let payload = match random.random_range(0..8) {
        0 => 0,
        1 => edge_length(random, 65_535).min(mss * 40),
        _ => edge_length(random, 20_000).min(mss * 20),
    };
    let payload = payload.min(payload_max);
    let mut record = Record::new(at::KIND_SEND, &header.bytes);
    let flags = random.random_range(0..4);
    set_layers(&mut record, &header, flags != 0, flags != 1);
    let stale = u64::from(random.random_range(0..30) == 0);
    record.set(at::FLOW, id as u64);
    record.set(at::GENERATION, u64::from(flow.generation) ^ stale);
    record.set(at::PAYLOAD_BYTES, u64::from(payload));
    record.set(at::MSS_BYTES, u64::from(mss));
    record.set(at::POSITION, u64::from(position));
    let index = flow.head.wrapping_add(entry as u16);
    let index = match random.random_range(0..6) {
        0 => flow.head,
        1 => flow.head.wrapping_sub(random.random_range(0..5)),
        2 if random.random_range(0..8) == 0 => index.wrapping_add(1),
        _ => index,
    };
    record.set(at::SEGMENT_INDEX, u64::from(index));
    (record, flow.owner)
}

/// A descriptor that takes few cycles: a raw frame, a header alone, or up to 200 bytes of payload.
pub fn small_descriptor(random: &mut SmallRng, tables: &Tables) -> (Vec<u8>, u8) {
    match random.random_range(0..4) {
        0 => (raw(random).bytes(), 2),
        kind => {
            let bytes = [0, 1, 200][kind - 1];
            let (mut record, owner) = zero_copy(random, tables, bytes);
            if random.random_range(0..20) == 0 {
                record.set(at::KIND, 3);
            }
            (record.bytes(), owner)
        }
    }
}

/// A descriptor and the owner whose ring it comes from.
pub fn descriptor(random: &mut SmallRng, tables: &Tables) -> (Vec<u8>, u8) {
    let (mut record, mut owner) = match random.random_range(0..5) {
        0 => (raw(random), 2),
        _ => zero_copy(random, tables, 1 << 18),
    };
    match random.random_range(0..100) {
        0 => owner = owner.wrapping_add(1),
        1 => record.set(at::KIND, random.random_range(0..5)),
        2 => record.set(at::HEADER_BYTES, random.random_range(0..256)),
        3 => record.set(at::L3_OFFSET, random.random_range(0..256)),
        4 => record.set(at::L4_OFFSET, random.random_range(0..256)),
        5 => record.set(at::MSS_BYTES, random.random_range(9_000..16_384)),
        6 => record.set(at::MSS_BYTES, 0),
        7 => record.set(at::TWO_SLOTS, random.random_range(0..2)),
        _ => {}
    }
    (record.bytes(), owner)
}
