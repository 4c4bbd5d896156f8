//! Confirmations leave behind the entries of the packets before them.

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use seed::seed;
use sim::harness::stall::Stall;
use stream::messages::Confirmation;

use crate::rx_split::world::{Output, Stalls, World};
use crate::rx_split::{good, simple, NO_STALLS};

/// A confirmation to owner 1.
fn confirmation(index: u32) -> Confirmation {
    Confirmation { owner: 1u64.into(), index: u64::from(index).into(), status: 0u64.into() }
}

/// Confirmations at random times into a burst: each leaves behind the entry of every packet whose
/// lookup was requested before it came.
fn fence(world: &mut World, seed: u64) {
    let mut random = SmallRng::seed_from_u64(seed);
    let mut position = 1000;
    for _ in 0..20 {
        let bytes = random.random_range(1..900);
        world.send(&good(position, bytes).build(), false);
        position += bytes as u32;
    }
    let mut behind = Vec::new();
    for index in 0..30 {
        for _ in 0..random.random_range(0..60) {
            world.cycle();
        }
        world.confirm(confirmation(index));
        behind.push(world.lookups);
    }
    world.run();
    stays_behind(world, &behind);
    world.compare();
}

/// Each confirmation left behind the last byte of the entries of as many packets as are given for
/// it.
fn stays_behind(world: &World, packets: &[u64]) {
    assert_eq!(world.confirmed_behind.len(), packets.len());
    for (confirmed, packets) in world.confirmed_behind.iter().zip(packets) {
        let (index, written) = confirmed;
        assert!(written >= packets, "confirmation {index}: {written} of {packets}");
    }
}

/// Confirmations directly behind a packet: nothing else keeps them back.
pub fn tight_fence(world: &mut World) {
    let mut behind = Vec::new();
    for index in 0..20 {
        let lookups = world.lookups;
        world.send(&good(1000 + 300 * index, 300).build(), false);
        while world.lookups == lookups {
            world.cycle();
        }
        world.confirm(confirmation(index));
        behind.push(world.lookups);
        world.run();
    }
    stays_behind(world, &behind);
    world.compare();
}

#[test]
fn confirmation_follows_earlier_lookups_writes() {
    Stall::matrix(seed(), |source, sink, seed| {
        fence(&mut simple(Stalls { source, sink }), seed);
    });
}

#[test]
fn confirmation_passes_an_idle_path() {
    let mut world = simple(NO_STALLS);
    world.confirm(confirmation(77));
    world.run();
    assert_eq!(world.outputs, [Output::Confirmation(77)]);
}
