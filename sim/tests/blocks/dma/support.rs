//! What the tests of the requester share: a rig that has to build, and reproducible bytes.

pub mod completer;
pub mod twin;

use pcie_sim::PcieConfig;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use sim::dma_rig::{Rig, Write};
use sim::harness::stall::Stall;

/// Cycles after which what has landed is looked at, whether or not all has.
const EARLY_CYCLES: u64 = 5_000;

/// A requester in a slot, its clients stalling at random as told.
pub fn open(config: PcieConfig, source: Stall, sink: Stall) -> Rig {
    Rig::new(config, source, sink).expect("it builds")
}

/// Reproducible bytes.
pub fn random_bytes(random: &mut SmallRng, count: usize) -> Vec<u8> {
    (0..count).map(|_| random.random()).collect()
}

/// A generator for one test.
pub fn generator(seed: u64) -> SmallRng {
    SmallRng::seed_from_u64(seed)
}

/// Runs the writes, each inside its own stretch of memory, and compares all of the memory.
pub fn check(rig: &mut Rig, base: u64, memory_bytes: usize, writes: &[Write]) {
    for write in writes {
        rig.push_write(write);
    }
    check_pushed(rig, base, memory_bytes, writes);
}

/// Waits for queued writes and compares all of the memory.
fn check_pushed(rig: &mut Rig, base: u64, memory_bytes: usize, writes: &[Write]) {
    let old = rig.slot.bytes(base, memory_bytes);
    let mut expected = old.clone();
    for write in writes {
        let at = (write.address - base) as usize;
        expected[at..at + write.bytes.len()].copy_from_slice(&write.bytes);
    }
    let judge = |rig: &Rig, what: &str, is_wrong: &dyn Fn(u8, usize) -> bool| {
        let actual = rig.slot.bytes(base, memory_bytes);
        if let Some(at) = (0..memory_bytes).find(|&at| is_wrong(actual[at], at)) {
            let address = base + at as u64;
            let near = writes.iter().rfind(|w| w.address <= address);
            let near = near.map(|w| (w.address, w.bytes.len(), w.client));
            panic!("byte at {address:#x} {what}, after write {near:x?}");
        }
    };
    // A wrong byte shows before a write that never ends.
    rig.cycles(EARLY_CYCLES);
    rig.assert_clean();
    let in_flight = rig.slot.activity.writes_in_flight;
    assert!(in_flight <= 32, "{in_flight} writes in flight of 32");
    judge(rig, "is neither old nor new", &|byte, at| byte != old[at] && byte != expected[at]);
    rig.finish_writes();
    rig.assert_clean();
    judge(rig, "differs", &|byte, at| byte != expected[at]);
}

/// Two writes of one client that may share a beat, the first of `bytes`, at `alignment`; each in
/// its own part of `stretch`.
fn pair(random: &mut SmallRng, stretch: u64, (alignment, bytes): (u64, usize)) -> [Write; 2] {
    let client = random.random_range(0..3);
    let behind = random.random_range(33..=128);
    let of = |address, bytes, relaxed| Write { client, address, bytes, relaxed };
    [
        of(stretch + 2048 + alignment, random_bytes(random, bytes), true),
        of(stretch + 4 * random.random_range(0..256), random_bytes(random, behind), false),
    ]
}

/// Pairs of writes that share a beat, among writes that do not, land like any others.
pub fn check_pairs(rig: &mut Rig, random: &mut SmallRng, shapes: &[(u64, usize)]) {
    let memory_bytes = shapes.len() * 8192;
    let base = rig.slot.memory(memory_bytes as u64);
    let background = random_bytes(random, memory_bytes);
    rig.slot.pcie.write(base, &background).expect("mapped");
    let mut writes = Vec::new();
    for (index, shape) in (0u64..).zip(shapes) {
        let [first, second] = pair(random, base + 8192 * index, *shape);
        rig.push_shared_writes(&first, &second);
        if random.random_range(0..3) == 0 {
            // Another client waits, or the same one goes on.
            let other = Write {
                client: random.random_range(0..3),
                address: base + 8192 * index + 7000,
                bytes: random_bytes(random, 1 + index as usize % 200),
                relaxed: true,
            };
            rig.push_write(&other);
            writes.push(other);
        }
        writes.extend([first, second]);
    }
    check_pushed(rig, base, memory_bytes, &writes);
}
