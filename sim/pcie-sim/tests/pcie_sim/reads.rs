//! Reads of the card: splitting, data, tags, latency, interleaving.
//!
//! ```text
//!   Bench: card --RQ--> [ pcie-sim ] --RC--> card
//! ```

use std::collections::BTreeSet;

use crate::card::Bench;
use pcie_sim::{MemoryId, PcieConfig, Random, Request, Rights};
use seed::seed_or;

const BUS: u64 = 0x10_0000_0000;

fn bench(config: PcieConfig) -> Bench {
    let mut bench = Bench::new(config);
    bench.sim.map(BUS, 1 << 20, MemoryId::Dram, 0, Rights::ReadWrite).unwrap();
    let pattern: Vec<u8> = (0..1u32 << 20).map(|i| (i ^ (i >> 8) ^ (i >> 16)) as u8).collect();
    bench.sim.write(BUS, &pattern).unwrap();
    bench
}

fn expected_bytes(address: u64, bytes: usize) -> Vec<u8> {
    let offset = (address - BUS) as u32;
    (offset..offset + bytes as u32).map(|i| (i ^ (i >> 8) ^ (i >> 16)) as u8).collect()
}

#[test]
fn any_length_and_alignment_reads_right() {
    let mut bench = bench(PcieConfig::default());
    let mut cases = Vec::new();
    for offset in [0u64, 1, 2, 3, 4, 60, 63, 65, 255] {
        for bytes in [1usize, 2, 3, 4, 5, 8, 63, 64, 65, 128, 255, 256, 500] {
            cases.push((BUS + 0x2000 + offset, bytes));
        }
    }
    for (i, (address, bytes)) in cases.iter().enumerate() {
        if (address % 4) as usize + bytes > 512 {
            continue;
        }
        bench.card.completions.clear();
        bench.card.issue(Request::read(*address, *bytes, i as u8));
        bench.settle();
        assert_eq!(
            bench.bytes_of(i as u8),
            expected_bytes(*address, *bytes),
            "{address:#x} {bytes}"
        );
    }
    bench.assert_clean();
}

#[test]
fn completions_are_cut_and_count_down() {
    let config = PcieConfig { completion_payload_bytes: 64, ..PcieConfig::default() };
    let mut bench = bench(config);
    bench.card.issue(Request::read(BUS + 0x1030, 200, 7));
    bench.settle();
    let seen: Vec<_> = bench
        .card
        .completions
        .iter()
        .map(|c| (c.lower_address, c.byte_count, c.bytes.len(), c.completed))
        .collect();
    let cut = vec![
        (0x030, 200, 16, false),
        (0x040, 184, 64, false),
        (0x080, 120, 64, false),
        (0x0c0, 56, 56, true),
    ];
    assert_eq!(seen, cut);
    bench.assert_clean();
}

#[test]
fn unloaded_round_trip_is_configured_latency() {
    let mut bench = bench(PcieConfig::default());
    let start = bench.sim.cycle();
    bench.card.issue(Request::read(BUS, 64, 0));
    bench.settle();
    let cycles = bench.card.completions[0].cycle - start;
    assert!((225..235).contains(&cycles), "{cycles} cycles for 900 ns");
}

#[test]
fn zero_length_read_returns_one_dword() {
    let mut bench = bench(PcieConfig::default());
    bench.card.issue(Request::read(BUS + 0x40, 0, 1));
    bench.settle();
    let seen = &bench.card.completions[0];
    assert_eq!((seen.byte_count, seen.dwords, seen.completed), (1, 1, true));
    bench.assert_clean();
}

#[test]
fn split_reordered_reads_bring_own_bytes() {
    let seed = seed_or(11);
    let config = PcieConfig {
        seed,
        reorder_permille: 500,
        random_split_permille: 300,
        jitter_ns: 400,
        idle_permille: 200,
        rq_stall_permille: 200,
        ..PcieConfig::default()
    };
    let mut bench = bench(config);
    bench.card.rc_stall_permille = 200;
    let mut random = Random::new(seed);
    let mut order = Vec::new();
    for round in 0..20 {
        bench.card.completions.clear();
        let mut issued = Vec::new();
        for tag in 0..40u8 {
            let page = BUS + random.below(256) * 4096;
            let bytes = 1 + random.below(500);
            let address = page + random.below(4096 - bytes + 1);
            let fits = address % 4 + bytes <= 512 && (address % 4096) + bytes <= 4096;
            if fits {
                bench.card.issue(Request::read(address, bytes as usize, tag));
                issued.push((tag, address, bytes as usize));
            }
        }
        bench.settle();
        for (tag, address, bytes) in issued {
            assert_eq!(
                bench.bytes_of(tag),
                expected_bytes(address, bytes),
                "round {round} tag {tag}"
            );
        }
        order.extend(bench.card.completions.iter().map(|c| c.tag));
        bench.assert_clean();
    }
    assert!(order.windows(2).any(|pair| pair[0] > pair[1] + 1), "no reordering seen");
}

#[test]
fn large_reads_fill_the_link() {
    let mut bench = bench(PcieConfig::default());
    let mut next = 0u64;
    let mut free: Vec<u8> = (0..32).collect();
    let mut received = 0usize;
    let start = bench.sim.cycle();
    for _ in 0..20_000 {
        if let Some(tag) = free.pop() {
            bench.card.issue(Request::read(BUS + (next * 512) % (1 << 20), 512, tag));
            next += 1;
        }
        bench.step();
        for seen in bench.card.completions.drain(..) {
            received += seen.bytes.len();
            if seen.completed {
                free.insert(0, seen.tag);
            }
        }
    }
    let nanoseconds = (bench.sim.cycle() - start) * 4;
    let gigabits = received as f64 * 8.0 / nanoseconds as f64;
    // 32 reads of 512 bytes fill the 256 headers of the buffer if all are cut at 64 bytes.
    assert!((112.0..115.0).contains(&gigabits), "{gigabits}");
    bench.assert_clean();
}

/// The time of a read varies only where that is asked for.
#[test]
fn reads_without_jitter_take_equal_time() {
    let times = |config: PcieConfig| {
        let mut bench = bench(config);
        let mut times = BTreeSet::new();
        for tag in 0..64 {
            let start = bench.sim.cycle();
            bench.card.issue(Request::read(BUS, 64, tag));
            bench.settle();
            let seen = bench.card.completions.last().expect("a completion");
            times.insert(seen.cycle - start);
        }
        times
    };
    let usual = times(PcieConfig::default());
    assert_eq!(usual.len(), 1, "{usual:?}");
    let varied = times(PcieConfig { jitter_ns: 400, ..PcieConfig::default() });
    assert!(varied.len() > 4, "{varied:?}");
    assert!(varied.first() >= usual.first(), "{varied:?}");
}
