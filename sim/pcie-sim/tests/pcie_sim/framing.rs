//! Framing round trip: random requests through straddled RQ beats and back as straddled RC beats,
//! under stalls on every stream, compared with a plain model of the memory.
//!
//! ```text
//!   random writes and reads --> Card::pack --> RqReceiver ... RcSender --> Card::take_rc --> model
//! ```

use crate::card::Bench;
use pcie_sim::{MemoryId, PcieConfig, Random, Request, Rights};
use seed::seed_or;
use std::collections::HashMap;

const BUS: u64 = 0x10_0000_0000;
const BYTES: u64 = 1 << 16;

/// A random configuration: every knob that changes timing or splitting.
fn config(random: &mut Random) -> PcieConfig {
    let mps_bytes = 128u32 << random.below(3);
    let rcb_bytes = 64u32 << random.below(2);
    let sizes = (mps_bytes / rcb_bytes).ilog2() + 1;
    PcieConfig {
        seed: random.next_u64(),
        mps_bytes,
        mrrs_bytes: 128 << random.below(4),
        rcb_bytes,
        completion_payload_bytes: rcb_bytes << random.below(u64::from(sizes)),
        random_split_permille: random.below(500) as u32,
        jitter_ns: random.below(1000),
        reorder_permille: random.below(800) as u32,
        rq_stall_permille: random.below(600) as u32,
        idle_permille: random.below(600) as u32,
        ..PcieConfig::default()
    }
}

/// A random range that respects the size limit and the page.
fn range(random: &mut Random, bytes_max: u32) -> (u64, usize) {
    let at = random.below(BYTES);
    let page_room = 4096 - at % 4096;
    let size_room = u64::from(bytes_max) - at % 4;
    // Short ones more often, so that many packets share a beat.
    let longest = if random.chance(500) { 24 } else { page_room.min(size_room) };
    let bytes = 1 + random.below(longest.min(page_room).min(size_room));
    (at, bytes as usize)
}

#[test]
fn straddling_and_stalls_lose_no_packet() {
    let seed = seed_or(2026);
    for round in 0..30 {
        let mut random = Random::new(seed + round);
        let config = config(&mut random);
        let (mps, mrrs) = (config.mps_bytes, config.mrrs_bytes);
        let described = format!("round {round}: {config:?}");
        let mut bench = Bench::new(config);
        bench.card.rc_stall_permille = random.below(600) as u32;
        bench.sim.map(BUS, BYTES, MemoryId::Dram, 0, Rights::ReadWrite).unwrap();
        let mut model = vec![0u8; BYTES as usize];
        for _ in 0..20 {
            let mut expected = HashMap::new();
            for tag in 0..16u8 {
                if random.chance(500) {
                    let (at, bytes) = range(&mut random, mps);
                    let data: Vec<u8> = (0..bytes).map(|_| random.next_u64() as u8).collect();
                    model[at as usize..at as usize + bytes].copy_from_slice(&data);
                    bench.card.issue(Request::write(BUS + at, &data));
                } else {
                    // Later writes could land while the read runs, so it ends first.
                    let (at, bytes) = range(&mut random, mrrs);
                    bench.card.issue(Request::read(BUS + at, bytes, tag));
                    bench.settle();
                    expected.insert(tag, model[at as usize..at as usize + bytes].to_vec());
                }
            }
            bench.settle();
            for (tag, bytes) in expected {
                assert!(bench.bytes_of(tag) == bytes, "tag {tag}, {described}");
            }
            bench.card.completions.clear();
        }
        let mut memory = vec![0; BYTES as usize];
        bench.sim.read(BUS, &mut memory).unwrap();
        assert!(memory == model, "{described}");
        bench.assert_clean();
    }
}

#[test]
fn consecutive_reads_share_beats() {
    let seed = seed_or(7);
    for round in 0..30 {
        let mut random = Random::new(seed + round);
        let config = config(&mut random);
        let mrrs = config.mrrs_bytes.min(256);
        let described = format!("round {round}: {config:?}");
        let mut bench = Bench::new(config);
        bench.card.rc_stall_permille = random.below(900) as u32;
        bench.sim.map(BUS, BYTES, MemoryId::Dram, 0, Rights::ReadWrite).unwrap();
        let model: Vec<u8> = (0..BYTES).map(|_| random.next_u64() as u8).collect();
        bench.sim.write(BUS, &model).unwrap();
        for _ in 0..10 {
            let reads: Vec<(u64, usize)> = (0..32).map(|_| range(&mut random, mrrs)).collect();
            for (tag, (at, bytes)) in reads.iter().enumerate() {
                bench.card.issue(Request::read(BUS + at, *bytes, tag as u8));
            }
            bench.settle();
            for (tag, (at, bytes)) in reads.iter().enumerate() {
                let expected = &model[*at as usize..*at as usize + bytes];
                assert!(bench.bytes_of(tag as u8) == expected, "tag {tag}, {described}");
            }
            bench.card.completions.clear();
        }
        bench.assert_clean();
    }
}
