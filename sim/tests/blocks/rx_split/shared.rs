//! Beats that the tail of a payload and the metadata behind it have in common.

use abi::config::BEAT_BYTES;
use seed::seed;
use sim::harness::stall::Stall;
use stream::messages::SHARED_TAIL_BYTES_MAX;

use crate::rx_split::frames::Frame;
use crate::rx_split::held::memories;
use crate::rx_split::world::{Output, Stalls, World};
use crate::rx_split::{good, install, region, segment, set_up, NO_STALLS};

/// Payloads of up to three beats with each tail from 1 to 64 bytes.
fn lengths() -> impl Iterator<Item = usize> {
    (1..=64).map(|tail| tail % 3 * 64 + tail)
}

/// Sends such payloads in order, as the frames that `of` makes of sequence number and length.
fn send(world: &mut World, of: impl Fn(u32, usize) -> Frame) {
    let mut sequence = 1000;
    for bytes in lengths() {
        world.send(&of(sequence, bytes).build(), false);
        sequence += bytes as u32;
    }
    world.run();
    world.compare();
}

/// Placed and deferred payloads, with slots of other packets between them.
pub fn tails(world: &mut World) {
    world.enable(1, 9, 9);
    send(world, good);
    send(world, |sequence, bytes| Frame { acknowledgement: 999, ..good(sequence, bytes) });
}

/// Entries whose payload, or the last piece of it, ends early enough in its last beat.
fn behind_short_tails(world: &World) -> u64 {
    let shares = |outputs: &&[Output]| match outputs {
        [Output::Write(_, payload, true), Output::Write(_, _, false)] => {
            (1..=SHARED_TAIL_BYTES_MAX).contains(&(payload.len() % BEAT_BYTES))
        }
        _ => false,
    };
    world.outputs.windows(2).filter(shares).count() as u64
}

#[test]
fn short_tails_share_beat_with_metadata() {
    Stall::matrix(seed(), |source, sink, seed| {
        let mut world = set_up(World::new(Stalls { source, sink }, seed));
        tails(&mut world);
        let expected = behind_short_tails(&world);
        // Those that the end of a page cuts may have another tail.
        assert!(expected.abs_diff(2 * SHARED_TAIL_BYTES_MAX as u64) <= 4);
        assert_eq!(world.shared_beats, expected);
    });
}

#[test]
fn two_slot_entries_share_no_beat() {
    let mut world = set_up(World::new(NO_STALLS, 1));
    world.enable(1, 9, 9);
    send(&mut world, |sequence, bytes| Frame {
        tags: 2,
        ipv6: true,
        options: vec![1; 40],
        ..good(sequence, bytes)
    });
    assert_eq!(world.shared_beats, 0);
}

/// A flow in memory 0 and one in memory 1, both of owner 0; what is held of one holds the other's.
pub fn two_memories(world: &mut World) {
    world.enable(0, 9, 9);
    for id in 0..2 {
        let first = of_flow(id, 1000, 0);
        install(world, id, 0, &first, 1000, false);
        region(world, id, id as u8, true);
        segment(world, id, 1000, 0x8000, id, 0x123);
    }
    world.settle();
    world.flush_cycles = 300;
    let mut sequence = 1000;
    for (number, bytes) in lengths().enumerate() {
        world.send(&of_flow(0, sequence, bytes).build(), false);
        sequence += bytes as u32;
        if number % 16 == 8 {
            world.send(&of_flow(1, 1000 + number as u32 / 16, 1).build(), false);
        }
    }
    world.run();
    world.compare();
}

fn of_flow(id: u16, sequence: u32, bytes: usize) -> Frame {
    Frame { connection: id, ..good(sequence, bytes) }
}

#[test]
fn held_entry_shares_no_beat() {
    Stall::matrix(seed(), |source, sink, seed| {
        let mut world = World::new(Stalls { source, sink }, seed);
        two_memories(&mut world);
        let (shared, most) = (world.shared_beats, SHARED_TAIL_BYTES_MAX as u64);
        assert!((1..most).contains(&shared), "{shared} of {most}");
    });
}

#[test]
fn other_memorys_payload_shares_no_beat() {
    let mut world = memories(World::new(NO_STALLS, 1));
    for id in 1..4 {
        let mut sequence = 1000;
        for bytes in lengths() {
            world.send(&of_flow(id, sequence, bytes).build(), false);
            sequence += bytes as u32;
        }
    }
    world.run();
    world.compare();
    assert_eq!(world.shared_beats, 0);
}
