//! Read jobs are answered byte for byte, in order, or aborted: whatever the completions do.
//!
//! ```text
//!   ReadJob ──► Requester ── RQ ──► PcieSim (splits, reorders) ── RC ──► Requester ──► packet
//! ```

use super::support::{generator, open, random_bytes};
use pcie_sim::{Fault, PcieConfig, Target};
use rand::rngs::SmallRng;
use rand::Rng;
use seed::seed;
use sim::dma_rig::{Read, Rig, Write};
use sim::harness::stall::Stall;

const LENGTHS: [usize; 24] = [
    1, 2, 3, 4, 5, 15, 16, 17, 31, 47, 48, 49, 60, 63, 64, 65, 67, 127, 128, 129, 191, 511, 512,
    513,
];
const MEMORY_BYTES: usize = 1 << 20;

/// Memory with random content.
fn fill(rig: &mut Rig, random: &mut SmallRng) -> (u64, Vec<u8>) {
    let base = rig.slot.memory(MEMORY_BYTES as u64);
    let content = random_bytes(random, MEMORY_BYTES);
    rig.slot.pcie.write(base, &content).expect("mapped");
    (base, content)
}

/// Runs the reads; returns for each of them whether it was aborted.
fn run(rig: &mut Rig, base: u64, content: &[u8], reads: &[Read]) -> Vec<bool> {
    let mut counts = [0; 4];
    for read in reads {
        rig.push_read(read);
        counts[read.client] += 1;
    }
    rig.finish_reads(counts);
    let mut aborted = Vec::new();
    for read in reads {
        let packet = rig.answer(read.client);
        let at = (read.address - base) as usize;
        assert_eq!(packet.bytes.len(), read.bytes, "{read:x?}");
        if !packet.abort {
            assert!(packet.bytes == content[at..at + read.bytes], "{read:x?}");
        }
        aborted.push(packet.abort);
    }
    rig.assert_clean();
    aborted
}

fn some_reads(random: &mut SmallRng, base: u64, count: usize) -> Vec<Read> {
    (0..count)
        .map(|_| {
            let longest = [64, 700, 16_384][random.random_range(0..3)];
            let bytes = random.random_range(1..=longest);
            let at = random.random_range(0..=MEMORY_BYTES - bytes);
            Read { client: random.random_range(0..4), address: base + at as u64, bytes }
        })
        .collect()
}

#[test]
fn every_alignment_and_length_reads_back() {
    let seed = seed();
    for (split, rcb_bytes) in [(64, 64), (128, 128), (256, 64)] {
        let mut random = generator(seed);
        let config = PcieConfig {
            seed,
            rcb_bytes,
            completion_payload_bytes: split,
            ..PcieConfig::default()
        };
        let mut rig = open(config, Stall::None, Stall::None);
        let (base, content) = fill(&mut rig, &mut random);
        let mut reads = Vec::new();
        for alignment in 0..64 {
            for (index, bytes) in LENGTHS.into_iter().enumerate() {
                let address = base + alignment + 448 * index as u64;
                let client = index % 4;
                reads.push(Read { client, address, bytes });
            }
        }
        let aborted = run(&mut rig, base, &content, &reads);
        assert!(!aborted.contains(&true));
    }
}

#[test]
fn reordered_split_completions_return_in_order() {
    Stall::matrix(seed(), |source, sink, seed| {
        let mut random = generator(seed);
        let config = PcieConfig {
            seed,
            mrrs_bytes: 128 << random.random_range(0..6),
            completion_payload_bytes: 64 << random.random_range(0..3),
            random_split_permille: random.random_range(0..500),
            reorder_permille: 500,
            jitter_ns: random.random_range(0..400),
            rq_stall_permille: random.random_range(0..500),
            idle_permille: random.random_range(0..500),
            ..PcieConfig::default()
        };
        let mut rig = open(config, source, sink);
        let (base, content) = fill(&mut rig, &mut random);
        let reads = some_reads(&mut random, base, 120);
        let aborted = run(&mut rig, base, &content, &reads);
        assert!(!aborted.contains(&true));
    });
}

/// Reads of 2 KiB, one of which meets `fault` in its second request.
fn one_fault(fault: Fault, config: PcieConfig) -> Rig {
    let mut random = generator(config.seed);
    let mut rig = open(config, Stall::None, Stall::Random(0.2));
    let (base, content) = fill(&mut rig, &mut random);
    let reads: Vec<Read> = (0..12u64)
        .map(|index| Read {
            client: index as usize % 4,
            address: base + index * 2048 + 3 * index,
            bytes: 2048,
        })
        .collect();
    let hit = 5;
    let at = reads[hit].address + 600;
    rig.slot.pcie.inject(fault, Target::Address(at..at + 1));
    let aborted = run(&mut rig, base, &content, &reads);
    for (index, aborted) in aborted.into_iter().enumerate() {
        assert_eq!(aborted, index == hit, "read {index} with {fault:?}");
    }
    rig
}

#[test]
fn failed_completion_aborts_its_job_alone() {
    let seed = seed();
    for fault in [
        Fault::UnsupportedRequest,
        Fault::CompleterAbort,
        Fault::Poison,
        Fault::WrongAddress,
        Fault::WrongLength,
    ] {
        let config = PcieConfig { seed, ..PcieConfig::default() };
        let rig = one_fault(fault, config);
        assert!(rig.slot.pulses.read_error > 0, "{fault:?}");
        assert_eq!(rig.slot.pulses.read_timeout, 0, "{fault:?}");
        assert_eq!(rig.bench.get("tag_quarantined"), 0, "{fault:?}");
    }
}

#[test]
fn reads_fill_completion_buffer_exactly() {
    // Completion headers bind at 64 bytes (32 x 8), completion data at 128 (56 x 32), tags without
    // extended tags.
    for (rcb_bytes, extended_tags, expected) in [(64, true, 32), (128, true, 56), (128, false, 32)]
    {
        let config = PcieConfig {
            rcb_bytes,
            extended_tags,
            completion_payload_bytes: rcb_bytes,
            latency_ns: 6_000,
            ..PcieConfig::default()
        };
        let mut random = generator(config.seed);
        let mut rig = open(config, Stall::None, Stall::None);
        let (base, content) = fill(&mut rig, &mut random);
        let read = |index: u64| Read {
            client: index as usize % 3,
            address: base + index * 16_384,
            bytes: 16_384,
        };
        let reads: Vec<Read> = (0..12).map(read).collect();
        assert!(!run(&mut rig, base, &content, &reads).contains(&true));
        assert_eq!(rig.slot.pcie.statistics().reads_in_flight_peak, expected);
    }
}

#[test]
fn reads_and_writes_share_the_port() {
    Stall::matrix(seed(), |source, sink, seed| {
        let mut random = generator(seed);
        let config = PcieConfig {
            seed,
            mps_bytes: 128 << random.random_range(0..4),
            completion_payload_bytes: 64 << random.random_range(0..2),
            random_split_permille: 200,
            reorder_permille: 300,
            rq_stall_permille: random.random_range(0..500),
            ..PcieConfig::default()
        };
        let mut rig = open(config, source, sink);
        let (base, content) = fill(&mut rig, &mut random);
        let target = rig.slot.memory(200 * 2048);
        let mut expected = vec![0; 200 * 2048];
        for index in 0..200 {
            let bytes = random.random_range(1..=1500);
            let at = index * 2048 + random.random_range(0..500);
            let bytes = random_bytes(&mut random, bytes);
            expected[at..at + bytes.len()].copy_from_slice(&bytes);
            rig.push_write(&Write {
                client: index % 3,
                address: target + at as u64,
                bytes,
                relaxed: random.random(),
            });
        }
        let reads = some_reads(&mut random, base, 100);
        let aborted = run(&mut rig, base, &content, &reads);
        assert!(!aborted.contains(&true));
        rig.finish_writes();
        rig.assert_clean();
        assert!(rig.slot.bytes(target, expected.len()) == expected);
    });
}
