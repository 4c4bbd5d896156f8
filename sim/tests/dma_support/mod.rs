//! What the tests of the requester share: a rig that has to build, and reproducible bytes.

// Each test program uses a part of this.
#![allow(dead_code)]

use pcie_sim::PcieConfig;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use sim::requester::Rig;
use sim::stall::Stall;

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
