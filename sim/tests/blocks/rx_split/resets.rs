//! An epoch begins around frames: none is counted twice or lost, and what was set stays.

use abi::profile as p;
use abi::reason::Disposition;
use abi::registers as r;
use golden::packet::parse;
use seed::seed;
use sim::harness::stall::Stall;

use crate::rx_split::frames::Frame;
use crate::rx_split::world::{Stalls, World};
use crate::rx_split::{good, install, profile, region, segment, simple, NO_STALLS};

/// An epoch begins in each cycle around a frame; the next one is placed by the profile that was
/// written before.
#[test]
fn profiles_outlive_an_epoch() {
    for cycles in 0..24 {
        let stalls = [NO_STALLS, Stalls { source: Stall::None, sink: Stall::Random(0.7) }];
        let mut world = World::new(stalls[cycles % 2], 1);
        let fields = [
            (p::HEADER_BYTES, 64),
            (p::POSITION_OFFSET, 13),
            (p::POSITION_BYTES, 4),
            (p::MESSAGE_KEY_OFFSET, 0),
            (p::MESSAGE_KEY_BYTES, 3),
        ];
        profile(&mut world, 2, 4791, &fields);
        let payload = (0..500).map(|i| (i * 7 % 251) as u8).collect();
        let frame = Frame { protocol: 17, port: 4791, payload, ..Frame::default() };
        let packet = parse(&frame.build(), &world.golden.tables.profiles).expect("a good frame");
        install(&mut world, 0, 1, &frame, packet.position, false);
        region(&mut world, 0, 0, true);
        segment(&mut world, 0, packet.position, 0x8000, 0, 0x123);
        world.settle();
        world.send(&good(1000, 600).build(), false);
        (0..cycles).for_each(|_| world.cycle());
        world.reset();
        world.run();
        world.register(r::CONTROL, r::CONTROL_RX);
        world.enable(1, 6, 4);
        let placed = |world: &World| world.pulses.dispositions[Disposition::PlacedInOrder as usize];
        let before = placed(&world);
        world.send(&frame.build(), false);
        world.run();
        assert_eq!(placed(&world), before + 1, "a reset after {cycles} cycles");
    }
}

#[test]
fn reset_keeps_counts_and_restarts() {
    let seed = seed();
    for round in 0..40 {
        let mut world = simple(NO_STALLS);
        for number in 0..40 {
            world.send(&good(1000 + 300 * number, 300).build(), false);
        }
        for _ in 0..(seed.wrapping_add(round * 37)) % 1500 {
            world.cycle();
        }
        world.reset();
        world.run();
        let drops: u64 = world.pulses.drops.iter().sum();
        let placed: u64 = world.pulses.dispositions.iter().sum();
        assert_eq!(drops + placed, 40, "round {round}");
        assert_eq!(world.pulses.frames, 40, "round {round}");
    }
}

/// A frame that a reset cuts short is refused, and what follows it is judged by its own headers.
#[test]
fn reset_within_frame_spares_later_ones() {
    for cycles in 0..24 {
        let mut world = simple(NO_STALLS);
        world.send(&good(1000, 600).build(), false);
        for _ in 0..cycles {
            world.cycle();
        }
        world.reset();
        world.run();
        let before: u64 = world.pulses.dispositions.iter().sum();
        world.register(r::CONTROL, r::CONTROL_RX);
        world.enable(1, 6, 4);
        for tags in [2, 0, 1] {
            let frame = Frame { tags, ..good(1000, 100 + 200 * tags) };
            world.send(&frame.build(), false);
        }
        world.run();
        let entries: u64 = world.pulses.dispositions.iter().sum();
        assert_eq!(
            entries - before,
            3,
            "reset after {cycles} cycles, drops {:?}",
            world.pulses.drops
        );
    }
}
