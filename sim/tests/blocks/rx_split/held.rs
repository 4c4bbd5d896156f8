//! Entries that wait for flush reads, and what goes on meanwhile.

use abi::header_entry as h;
use seed::seed;
use sim::harness::stall::Stall;
use stream::messages::Confirmation;

use crate::rx_split::frames::Frame;
use crate::rx_split::world::{flush_address, header_base, Output, Pace, Stalls, World};
use crate::rx_split::{good, install, region, segment, NO_STALLS};

/// Payload of each packet.
const BYTES: usize = 200;

/// Connection `id`, which owner `id` has, in memory `id`.
fn packet(id: u16, number: u32) -> Frame {
    Frame { connection: id, ..good(1000 + number * BYTES as u32, BYTES) }
}

/// Flows 0 to 3 of owners 0 to 3, whose receive lists lie in memories 0 to 3.
pub fn memories(mut world: World) -> World {
    for id in 0..4u16 {
        world.enable(id.into(), 9, 4);
        install(&mut world, id, id as u8, &packet(id, 0), 1000, false);
        region(&mut world, id, id as u8, true);
        segment(&mut world, id, 1000, 0x8000, id, 0x123);
    }
    world.settle();
    world
}

fn quiet() -> World {
    memories(World::new(NO_STALLS, 1))
}

pub fn confirmation(owner: u64, index: u32) -> Confirmation {
    Confirmation { owner: owner.into(), index: u64::from(index).into(), status: 0u64.into() }
}

fn place(world: &World, wanted: impl Fn(&Output) -> bool) -> Vec<usize> {
    let hits = world.outputs.iter().enumerate().filter(|(_, o)| wanted(o));
    hits.map(|(at, _)| at).collect()
}

fn entries(world: &World, owner: u32) -> Vec<usize> {
    let queue = header_base(owner)..header_base(owner + 1);
    place(world, |o| matches!(o, Output::Write(at, ..) if queue.contains(at)))
}

fn flushes(world: &World, memory: u32) -> Vec<usize> {
    let address = flush_address(memory);
    place(world, |o| *o == Output::Flush(address))
}

fn count_confirmed(world: &World, index: u32) -> usize {
    place(world, |o| *o == Output::Confirmation(index))[0]
}

#[test]
fn packet_memories_are_flushed_before_entry() {
    let mut world = World::new(NO_STALLS, 1);
    world.enable(1, 6, 4);
    install(&mut world, 0, 1, &good(0, 0), 1000, false);
    for memory in 0..4 {
        region(&mut world, memory, memory as u8, true);
    }
    for (number, memory) in [3, 0, 1, 3].into_iter().enumerate() {
        segment(&mut world, 0, 1000 + 100 * number as u32, 100, memory, 64);
    }
    world.settle();
    world.send(&good(1000, 400).build(), false);
    // A duplicate goes to the slow buffer; its entry stays behind.
    world.send(&good(1400 - 300, 50).build(), false);
    world.run();
    world.compare();
    assert_eq!(flushes(&world, 1).len(), 1);
    assert_eq!(flushes(&world, 2).len(), 0);
    assert_eq!(flushes(&world, 3).len(), 1);
    assert_eq!(entries(&world, 1).len(), 2);
}

/// A burst to memory 1 while its flush reads take long.
fn burst(world: &mut World, packets: u32) {
    for number in 0..packets {
        world.send(&packet(1, number).build(), false);
    }
    world.run();
    world.compare();
}

/// Forty packets while flush reads take 1,000 cycles.
pub fn long_flush(world: &mut World) {
    world.flush_cycles = 1000;
    world.pace = Pace::Wire(0.5);
    burst(world, 40);
}

#[test]
fn one_flush_covers_earlier_writes() {
    let mut world = quiet();
    long_flush(&mut world);
    assert_eq!(entries(&world, 1).len(), 40);
    let reads = flushes(&world, 1).len();
    assert!((1..=3).contains(&reads), "{reads} flush reads");
}

#[test]
fn overflow_of_queue_waits_and_arrives() {
    Stall::matrix(seed(), |source, sink, seed| {
        let mut world = memories(World::new(Stalls { source, sink }, seed));
        world.flush_cycles = 5000;
        world.pace = Pace::Wire(0.12);
        burst(&mut world, 85);
        assert_eq!(entries(&world, 1).len(), 85);
    });
}

/// Slots that one beat holds, of frames without a transport, between slots of two: all of an owner
/// whose payload goes to memory 1.
pub fn short_slots(world: &mut World) {
    let mut arp = vec![0xff; 60];
    arp[12..14].copy_from_slice(&[0x08, 0x06]);
    world.enable(0, 9, 6);
    install(world, 0, 0, &packet(0, 0), 1000, false);
    region(world, 1, 1, true);
    segment(world, 0, 1000, 0x8000, 1, 0x123);
    world.settle();
    world.flush_cycles = 1000;
    for number in 0..12 {
        world.send(&packet(0, number).build(), false);
        (0..number % 3).for_each(|_| world.send(&arp, false));
    }
    world.run();
    world.compare();
}

#[test]
fn short_slots_wait_with_long_ones() {
    Stall::matrix(seed(), |source, sink, seed| {
        let mut world = World::new(Stalls { source, sink }, seed);
        short_slots(&mut world);
        let flushed = flushes(&world, 1)[0];
        let held = entries(&world, 0).into_iter().filter(|at| *at > flushed);
        let held: Vec<usize> = held.collect();
        assert_eq!(held.len(), 24, "all wait");
        let is_short = |at: &&usize| match &world.outputs[**at] {
            Output::Write(_, bytes, _) => bytes.len() <= 64,
            _ => false,
        };
        assert_eq!(held.iter().filter(is_short).count(), 12, "in one beat each");
    });
}

/// Packets to be placed and packets to be deferred, of one owner.
pub fn send_mixed(world: &mut World) {
    world.flush_cycles = 1000;
    for number in 0..8 {
        world.send(&packet(1, number).build(), false);
        let mut odd = packet(1, number + 1);
        odd.acknowledgement = 999;
        world.send(&odd.build(), false);
    }
    world.run();
    world.compare();
}

#[test]
fn owners_entries_stay_in_order() {
    send_mixed(&mut quiet());
}

#[test]
fn other_owners_entries_do_not_wait() {
    let mut world = quiet();
    world.flush_cycles = 5000;
    world.pace = Pace::Wire(0.5);
    for number in 0..20 {
        for id in [1, 0, 2] {
            world.send(&packet(id, number).build(), false);
        }
    }
    world.run();
    world.compare();
    let (last, first) = (entries(&world, 0)[19], entries(&world, 1)[0]);
    assert!(last < first, "memory 0 waited for memory 1");
    let asked = (flushes(&world, 1)[0], flushes(&world, 2)[0]);
    assert!(asked.1 < first, "memory 2 asked only after memory 1: {asked:?}");
}

/// Confirmations of three owners while entries of owner 1 are held.
pub fn fences(world: &mut World) {
    world.flush_cycles = 3000;
    for number in 0..5 {
        world.send(&packet(1, number).build(), false);
    }
    while flushes(world, 1).is_empty() {
        world.cycle();
    }
    for _ in 0..600 {
        world.cycle();
    }
    for owner in [2, 0, 1] {
        world.confirm(confirmation(owner, owner as u32));
    }
    for number in 5..10 {
        world.send(&packet(1, number).build(), false);
    }
    world.run();
    world.compare();
    let first = entries(world, 1)[0];
    let held = entries(world, 1)[4];
    assert!(count_confirmed(world, 2) < first, "owner 2 has nothing held");
    assert!(count_confirmed(world, 1) > held, "owner 1's fence was skipped");
    assert!(count_confirmed(world, 0) > held, "owner 0's fence was skipped");
}

#[test]
fn confirmations_stay_behind_what_is_held() {
    fences(&mut quiet());
}

/// The mark in the metadata of owner 1's entries.
fn marks(world: &mut World) -> Vec<bool> {
    let at = entries(world, 1);
    let mut found = Vec::new();
    for place in at {
        let Output::Write(_, bytes, _) = &mut world.outputs[place] else {
            panic!("{place} is no write");
        };
        found.push(h::UNFLUSHED.get(bytes) == 1);
        h::UNFLUSHED.set(bytes, 0);
    }
    found
}

/// Three packets, one after the other, while flush reads fail as told.
fn fails(world: &mut World, pattern: &[bool]) -> Vec<bool> {
    world.flush_fails[1] = pattern.iter().copied().collect();
    for number in 0..3 {
        world.send(&packet(1, number).build(), false);
        world.send(&packet(2, number).build(), false);
        world.run();
    }
    let found = marks(world);
    world.compare();
    found
}

/// A memory that does not answer twice.
pub fn silence(world: &mut World) {
    let marked = fails(world, &[true, true]);
    assert_eq!(marked, [true, false, false], "what a silent memory leaves");
}

#[test]
fn failed_flush_is_repeated_then_reported() {
    let once = fails(&mut quiet(), &[true, false]);
    assert_eq!(once, [false, false, false]);
    silence(&mut quiet());
    let ever = fails(&mut quiet(), &[true, true, true, true, true, false]);
    assert_eq!(ever, [true, true, false]);
}

#[test]
fn reset_forgets_what_is_held() {
    for round in 0..20 {
        let mut world = quiet();
        world.flush_cycles = 300;
        for number in 0..30 {
            world.send(&packet(1 + number as u16 % 3, number / 3).build(), false);
        }
        for _ in 0..200 + 30 * round {
            world.cycle();
        }
        world.reset();
        world.run();
        let (drops, entries) = (&world.pulses.drops, &world.pulses.dispositions);
        let counted = drops.iter().sum::<u64>() + entries.iter().sum::<u64>();
        assert_eq!(counted, 30, "round {round}");
    }
}

/// An epoch begins while flush reads are under way; those of the next one have the addresses that
/// were written before.
#[test]
fn flush_addresses_outlive_an_epoch() {
    for round in 0..20 {
        let mut world = quiet();
        world.flush_cycles = 300;
        for number in 0..30 {
            world.send(&packet(1 + number as u16 % 3, number / 3).build(), false);
        }
        (0..200 + 30 * round).for_each(|_| world.cycle());
        world.reset();
        world.run();
        world.register(abi::registers::CONTROL, abi::registers::CONTROL_RX);
        (0..4).for_each(|owner| world.enable(owner, 9, 4));
        let before: Vec<usize> = (1..4).map(|memory| flushes(&world, memory).len()).collect();
        (1..4).for_each(|id| world.send(&packet(id, 10).build(), false));
        world.run();
        for (memory, before) in (1..4).zip(before) {
            assert!(flushes(&world, memory).len() > before, "memory {memory}, round {round}");
        }
    }
}
