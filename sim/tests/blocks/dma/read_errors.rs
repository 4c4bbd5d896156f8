//! Reads that never or too late come back, and everything that stops the requester in the middle.
//!
//! ```text
//!   jobs ──► Requester ──► PcieSim: lost or late completions, reset, bus mastering off, link down
//! ```

use super::support::{generator, open, random_bytes};
use pcie_sim::{Fault, PcieConfig, Target};
use rand::rngs::SmallRng;
use rand::Rng;
use seed::seed;
use sim::dma_rig::{Read, Rig, Write, TIMEOUT_CYCLES};
use sim::harness::stall::Stall;

const MEMORY_BYTES: usize = 1 << 18;

fn fill(rig: &mut Rig, random: &mut SmallRng) -> (u64, Vec<u8>) {
    let base = rig.slot.memory(MEMORY_BYTES as u64);
    let content = random_bytes(random, MEMORY_BYTES);
    rig.slot.pcie.write(base, &content).expect("mapped");
    (base, content)
}

/// Reads `count` times 2 KiB for each client and returns which of all were aborted.
fn read_all(rig: &mut Rig, base: u64, content: &[u8], count: u64) -> Vec<bool> {
    let reads: Vec<Read> = (0..4 * count)
        .map(|index| Read {
            client: index as usize % 4,
            address: base + index * 2048 + 3 * (index % 16),
            bytes: 1900,
        })
        .collect();
    reads.iter().for_each(|read| rig.push_read(read));
    rig.finish_reads([count as usize; 4]);
    let answers = reads.iter().map(|read| {
        let packet = rig.answer(read.client);
        let at = (read.address - base) as usize;
        let right = packet.bytes == content[at..at + read.bytes];
        assert!(packet.abort || right, "{read:x?}");
        assert_eq!(packet.bytes.len(), read.bytes);
        packet.abort
    });
    let aborted = answers.collect();
    rig.assert_clean();
    aborted
}

/// One read of the first round meets `fault`; more follow, then an epoch starts.
fn timeout_round(fault: Fault, completion_timeout_ns: Option<u64>) -> Rig {
    let seed = seed();
    let mut random = generator(seed);
    let config = PcieConfig { seed, completion_timeout_ns, ..PcieConfig::default() };
    let mut rig = open(config, Stall::None, Stall::None);
    let (base, content) = fill(&mut rig, &mut random);
    let at = base + 5 * 2048 + 600;
    rig.slot.pcie.inject(fault, Target::Address(at..at + 1));
    let aborted = read_all(&mut rig, base, &content, 8);
    let hit: Vec<usize> = (0..32).filter(|&index| aborted[index]).collect();
    assert_eq!(hit, [5], "{fault:?}");
    assert_eq!(rig.slot.pulses.read_timeout, 1);
    assert_eq!(rig.bench.get("tag_quarantined"), 1);
    // Enough requests for every tag to come round three times.
    for _ in 0..2 {
        assert!(!read_all(&mut rig, base, &content, 24).contains(&true));
    }
    assert_eq!(rig.bench.get("tag_quarantined"), 1);
    rig
}

#[test]
fn lost_completion_quarantines_its_tag() {
    let rig = timeout_round(Fault::Lost, None);
    assert_eq!(rig.slot.pulses.read_error, 0);
}

#[test]
fn reported_timeout_quarantines_its_tag() {
    timeout_round(Fault::Lost, Some(4_000));
}

#[test]
fn late_completion_is_dropped_and_counted() {
    let late_ns = 2 * u64::from(TIMEOUT_CYCLES) * 4;
    let mut rig = timeout_round(Fault::Late(late_ns), None);
    rig.cycles(u64::from(TIMEOUT_CYCLES));
    assert!(rig.slot.pulses.read_error > 0);
    rig.assert_clean();
}

#[test]
fn completion_with_other_attributes_is_dropped() {
    let seed = seed();
    let mut random = generator(seed);
    let config = PcieConfig { seed, ..PcieConfig::default() };
    let mut rig = open(config, Stall::None, Stall::None);
    let (base, content) = fill(&mut rig, &mut random);
    for read in 0..20 {
        rig.slot.pcie.inject(Fault::OtherAttributes, Target::Nth(3 * read));
    }
    assert!(!read_all(&mut rig, base, &content, 8).contains(&true), "no read fails");
    assert!(!read_all(&mut rig, base, &content, 8).contains(&true));
    assert_eq!(rig.slot.pulses.read_timeout, 0);
    assert!(rig.slot.pulses.read_error >= 10, "{}", rig.slot.pulses.read_error);
    rig.assert_clean();
}

#[test]
fn reset_lifts_the_quarantine() {
    let mut rig = timeout_round(Fault::Lost, Some(4_000));
    rig.restart();
    rig.cycles(100);
    assert_eq!(rig.bench.get("tag_quarantined"), 0);
}

/// Reads and writes under way, for `cycles` cycles.
fn busy(rig: &mut Rig, base: u64, random: &mut SmallRng, cycles: u64) {
    for index in 0..40 {
        rig.push_read(&Read {
            client: index % 4,
            address: base + random.random_range(0..0x1_0000),
            bytes: random.random_range(1..=16_384),
        });
        let bytes = random_bytes(random, 700);
        rig.push_write(&Write {
            client: index % 3,
            address: base + 0x3_0000 + random.random_range(0..0x8000),
            bytes,
            relaxed: false,
        });
    }
    rig.cycles(cycles);
}

/// After whatever happened: reads are right, and writes land.
fn check_recovery(rig: &mut Rig, base: u64, content: &[u8], random: &mut SmallRng) {
    assert!(!read_all(rig, base, content, 8).contains(&true));
    let bytes = random_bytes(random, 3000);
    let address = base + 0x3_8001;
    rig.push_write(&Write { client: 1, address, bytes: bytes.clone(), relaxed: false });
    rig.finish_writes();
    assert!(rig.slot.bytes(address, 3000) == bytes);
    rig.assert_clean();
}

fn interrupt_reads(mut interrupt: impl FnMut(&mut Rig)) {
    let seed = seed();
    let mut random = generator(seed);
    for round in 0..12 {
        let config = PcieConfig {
            seed: seed ^ round,
            rq_stall_permille: random.random_range(0..700),
            idle_permille: random.random_range(0..500),
            mps_bytes: 128 << random.random_range(0..3),
            completion_payload_bytes: 64 << random.random_range(0..2),
            ..PcieConfig::default()
        };
        let mut rig = open(config, Stall::Random(0.2), Stall::Random(0.2));
        let (base, content) = fill(&mut rig, &mut random);
        let cycles = random.random_range(20..1500);
        busy(&mut rig, base, &mut random, cycles);
        interrupt(&mut rig);
        check_recovery(&mut rig, base, &content, &mut random);
    }
}

#[test]
fn reset_forgets_jobs_cuts_no_tlp() {
    interrupt_reads(Rig::restart);
}

#[test]
fn bus_mastering_off_stops_between_tlps() {
    interrupt_reads(|rig| {
        rig.slot.pcie.set_bus_master(false);
        rig.cycles(3000);
        rig.slot.pcie.set_bus_master(true);
        rig.restart();
    });
}

#[test]
fn link_down_forgets_everything() {
    interrupt_reads(|rig| {
        rig.slot.pcie.link_down();
        rig.restart();
        rig.cycles(500);
        rig.slot.pcie.link_up();
        rig.wait_for_link();
        rig.slot.pcie.enable_device();
        rig.cycles(10);
    });
}

#[test]
fn function_reset_ends_reads() {
    interrupt_reads(|rig| {
        rig.slot.pcie.start_function_reset();
        rig.cycles(200);
        rig.restart();
        rig.slot.function_reset_done = true;
        rig.cycles(10);
        rig.slot.function_reset_done = false;
        rig.slot.pcie.enable_device();
        rig.cycles(10);
    });
}
