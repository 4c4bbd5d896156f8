//! Write jobs land byte for byte where they should, and nowhere else.
//!
//! ```text
//!   WriteJob, packet ──► Requester ── RQ ──► PcieSim ──► memory = what was there + packets
//! ```

use super::support::{check, check_pairs, generator, open, random_bytes};
use pcie_sim::{PcieConfig, Rights};
use rand::rngs::SmallRng;
use rand::Rng;
use seed::seed;
use sim::dma_rig::{Read, Rig, Write};
use sim::harness::stall::Stall;
use stream::messages::SHARED_TAIL_BYTES_MAX;

const LENGTHS: [usize; 24] = [
    1, 2, 3, 4, 5, 15, 16, 17, 31, 47, 48, 49, 60, 63, 64, 65, 67, 127, 128, 129, 191, 255, 256,
    320,
];

fn config(seed: u64, mps_bytes: u32) -> PcieConfig {
    PcieConfig {
        seed,
        mps_bytes,
        completion_payload_bytes: mps_bytes.min(256),
        ..PcieConfig::default()
    }
}

#[test]
fn every_alignment_and_length_lands_exactly() {
    let seed = seed();
    for mps in [128, 256, 512, 1024] {
        let mut random = generator(seed);
        let mut rig = open(config(seed, mps), Stall::None, Stall::None);
        let memory_bytes = 64 * LENGTHS.len() * 512;
        let base = rig.slot.memory(memory_bytes as u64);
        let background = random_bytes(&mut random, memory_bytes);
        rig.slot.pcie.write(base, &background).expect("mapped");
        let mut writes = Vec::new();
        for alignment in 0..64u64 {
            for (index, length) in LENGTHS.into_iter().enumerate() {
                let slot = (alignment as usize * LENGTHS.len() + index) as u64 * 512;
                writes.push(Write {
                    client: index % 3,
                    address: base + slot + 64 + alignment,
                    bytes: random_bytes(&mut random, length),
                    relaxed: index % 2 == 0,
                });
            }
        }
        check(&mut rig, base, memory_bytes, &writes);
    }
}

/// Around every power of two that a bus address may reach, up to its last pages.
#[test]
fn every_bit_of_an_address_counts() {
    let bytes = 0x1_0000;
    let around = (32..64).map(|bit| (1u64 << bit) - bytes / 2);
    for base in around.chain([0u64.wrapping_sub(bytes + 0x1000)]) {
        let mut random = generator(seed() ^ base);
        let mut rig = open(config(seed(), 256), Stall::None, Stall::None);
        let allocated = rig.slot.pcie.allocate(bytes, base, Rights::ReadWrite);
        assert_eq!(allocated.expect("memory"), base);
        let writes: Vec<Write> = (0..12u64)
            .map(|index| {
                let at = index * 0x1400 + random.random_range(0..64);
                let bytes = random_bytes(&mut random, [1, 64, 700, 5_000][index as usize % 4]);
                Write { client: index as usize % 3, address: base + at, bytes, relaxed: false }
            })
            .collect();
        check(&mut rig, base, bytes as usize, &writes);
        // And back.
        for write in writes.iter().filter(|write| write.bytes.len() <= 4096) {
            let bytes = write.bytes.len();
            rig.push_read(&Read { client: 0, address: write.address, bytes });
            let mut counts = [0; 4];
            counts[0] = 1;
            rig.finish_reads(counts);
            let answer = rig.answer(0);
            assert!(!answer.abort && answer.bytes == write.bytes, "{:#x}", write.address);
        }
    }
}

/// Runs a scenario with every pattern of stalls at the clients, at random at the port too, and any
/// maximum payload size.
fn under_stalls(scenario: impl Fn(&mut Rig, &mut SmallRng) + Sync) {
    Stall::matrix(seed(), |source, _, seed| {
        let mut random = generator(seed);
        let config = PcieConfig {
            rq_stall_permille: random.random_range(0..600),
            ..config(seed, 128 << random.random_range(0..4))
        };
        let mut rig = open(config, source, Stall::None);
        scenario(&mut rig, &mut random);
    });
}

#[test]
fn random_jobs_survive_stalls_everywhere() {
    under_stalls(|rig, random| {
        let memory_bytes = 24 * 20_480;
        let base = rig.slot.memory(memory_bytes as u64);
        let writes: Vec<Write> = (0..24u64)
            .map(|index| {
                let longest = [64, 1500, 16_384][random.random_range(0..3)];
                let length = random.random_range(1..=longest);
                Write {
                    client: random.random_range(0..3),
                    address: base + index * 20_480 + random.random_range(0..4096),
                    bytes: random_bytes(random, length),
                    relaxed: random.random(),
                }
            })
            .collect();
        check(rig, base, memory_bytes, &writes);
    });
}

#[test]
fn jobs_sharing_beat_land_at_alignments() {
    let seed = seed();
    for mps in [128, 256, 512] {
        let mut random = generator(seed);
        let mut rig = open(config(seed, mps), Stall::None, Stall::None);
        let tails = 1..=SHARED_TAIL_BYTES_MAX;
        let shapes: Vec<(u64, usize)> = (0..64)
            .flat_map(|alignment| tails.clone().map(move |tail| (alignment, tail)))
            .map(|(alignment, tail)| (alignment, 64 * random.random_range(0..8) + tail))
            .collect();
        check_pairs(&mut rig, &mut random, &shapes);
    }
}

#[test]
fn jobs_sharing_beat_survive_stalls() {
    under_stalls(|rig, random| {
        let shapes: Vec<(u64, usize)> = (0..200)
            .map(|_| {
                let tail = random.random_range(1..=SHARED_TAIL_BYTES_MAX);
                let bytes = 64 * random.random_range(0..20) + tail;
                (random.random_range(0..2048), bytes)
            })
            .collect();
        check_pairs(rig, random, &shapes);
    });
}
