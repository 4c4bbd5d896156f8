//! Peers that open runs and never end them, queues without room, epochs and owners that go: nothing
//! is lost, and nobody else waits.

use std::collections::BTreeSet;

use abi::command as c;
use abi::config::{FLOW_BANKS, RUN_PACKETS_MAX, SMALL};
use abi::header_entry as h;
use abi::reason::DropReason;
use abi::registers as r;
use golden::packet::parse;
use seed::seed;
use sim::harness::stall::Stall;

use super::expand::{entries, same_packets, same_payload, writes_of};
use super::{pushed, row, small_queue, switch_on, LONG, PACKET, RUN};
use crate::rx_split::frames::Frame;
use crate::rx_split::world::{command, header_base, Output, Stalls, World};
use crate::rx_split::{good, install_at, region, segment, simple, NO_STALLS};

/// Flows of the hostile peer: all but one. Two have one place of a run.
const FLOWS: u16 = (1 << SMALL.flow_bits) - 1;
/// Packets of each.
const PACKETS: u32 = 3;
/// Flow and connection of the other owner.
const VICTIM: u16 = FLOWS;
const START: u32 = 1000;
/// Words of the secrets of all banks.
const SECRETS: usize = FLOW_BANKS * r::HASH_SECRET_STRIDE as usize / 4;
/// Slots of the small queue.
const SLOTS: u32 = 4;

/// A hostile peer's packet of one byte; its timestamps jump.
fn single_byte(flow: u16, number: u32) -> Frame {
    let stamp =
        [5, 0x7fff_0000, 0x0100_0000, 0xffff_ffff][(number as usize + usize::from(flow)) % 4];
    let mut options = vec![1, 1, 8, 10];
    options.extend(u32::to_be_bytes(stamp));
    options.extend([0; 4]);
    Frame { connection: flow, options, ..good(START + number, 1) }
}

/// Owner 0 has the flows of the hostile peer, owner 1 that of another.
fn two_owners(stalls: Stalls) -> World {
    let mut world = World::new(stalls, 1);
    for owner in 0..2 {
        world.enable(owner, 9, 4);
    }
    // Without secrets all keys would have one bucket.
    for (address, word) in (r::HASH_SECRET..).step_by(4).take(SECRETS).zip(1u32..) {
        let secret = word.wrapping_mul(0x9e37_79b9);
        world.golden.write_register(address, secret, &mut world.expected);
    }
    region(&mut world, 0, 0, true);
    region(&mut world, 1, 0, true);
    let mut taken = BTreeSet::new();
    for flow in 0..=VICTIM {
        let connection = Frame { connection: flow, ..good(0, 0) };
        let slot = free_slot(&world, &connection, &mut taken);
        let is_victim = flow == VICTIM;
        install_at(&mut world, (flow, slot), is_victim.into(), &connection, START, false);
        let (bytes, memory, offset) = match is_victim {
            true => (0x4000, 1, 0x123),
            false => (0x80, 0, 0x100 * u64::from(flow)),
        };
        segment(&mut world, flow, START, bytes, memory, offset);
    }
    world.settle();
    world
}

/// A slot for the key of a connection, by number of eight, that no other has.
fn free_slot(world: &World, frame: &Frame, taken: &mut BTreeSet<(u16, u16)>) -> u16 {
    let tables = &world.golden.tables;
    let packet = parse(&frame.build(), &tables.profiles).expect("a good frame");
    let place = |slot: u16| (slot, tables.secrets[usize::from(slot % 2)].hash(&packet.key) & 0x1f);
    (0..8).find(|slot| taken.insert(place(*slot))).expect("room for a key")
}

fn victim(number: u32) -> Frame {
    let flags = if number % 4 == 3 { 0x18 } else { 0x10 };
    Frame { connection: VICTIM, flags, ..good(START + 200 * number, 200) }
}

/// With the hostile peer's packets between those of another owner: with runs in the card alone its
/// entries are, expanded, those of the golden card.
#[test]
fn hostile_peer_loses_nothing() {
    Stall::matrix(seed(), |source, sink, _| {
        let mut world = two_owners(Stalls { source, sink });
        (0..2).for_each(|owner| switch_on(&mut world, owner, LONG, false));
        for number in 0..PACKETS {
            for flow in 0..FLOWS {
                world.send(&single_byte(flow, number).build(), false);
                if flow % 16 == 0 {
                    let sent = u32::from(flow / 16) + number * u32::from(FLOWS.div_ceil(16));
                    world.send(&victim(sent).build(), false);
                }
            }
        }
        world.run();
        world.end_command(0, 7, &command(c::NOP, &[]));
        world.run();
        assert_eq!(world.pulses.drops, world.golden.drops, "drops");
        let lost: Vec<_> = DropReason::ALL
            .iter()
            .map(|reason| (reason.name(), world.golden.drops[*reason as usize]))
            .filter(|(_, count)| *count > 0)
            .collect();
        assert!(lost.is_empty(), "{lost:?} of {:?}", world.golden.dispositions);
        let card = writes_of(&world.outputs);
        same_payload(&card, &world.expected.0);
        for owner in 0..2 {
            same_packets(&entries(&card, owner), &entries(&world.expected.0, owner));
        }
    });
}

/// Cycles from a packet of the other owner that ends a run to its entry.
fn cycles_to_entry(world: &mut World) -> usize {
    let is_entry = |output: &Output| {
        let queue = header_base(1)..header_base(2);
        matches!(output, Output::Write(address, ..) if queue.contains(address))
    };
    assert!(!world.outputs.iter().any(is_entry), "nothing came before");
    world.send(&Frame { flags: 0x18, ..victim(0) }.build(), false);
    for cycle in 0..1_000 {
        if world.outputs.iter().any(is_entry) {
            return cycle;
        }
        world.cycle();
    }
    panic!("no entry");
}

/// Every place has a run that is never ended, that of the other owner's flow too.
#[test]
fn open_runs_delay_nobody_else() {
    let [alone, beside] = [false, true].map(|is_hostile| {
        let mut world = two_owners(NO_STALLS);
        (0..2).for_each(|owner| switch_on(&mut world, owner, LONG, false));
        world.drain();
        for number in 0..if is_hostile { PACKETS } else { 0 } {
            (0..FLOWS).for_each(|flow| world.send(&single_byte(flow, number).build(), false));
        }
        if is_hostile {
            world.run();
        }
        cycles_to_entry(&mut world)
    });
    assert_eq!(alone, beside, "cycles to the entry, alone and beside open runs");
}

/// A queue that is not emptied: what finds it full is dropped, and what was given back is used
/// again, to the last slot.
#[test]
fn full_queue_takes_what_is_given_back() {
    let mut world = small_queue(World::new(NO_STALLS, 1));
    for round in 1..4 {
        // Each is a run of one that ends at once: it needs a slot.
        for _ in 0..SLOTS + 2 {
            let cursor = world.golden.tables.flow(0).expect("installed").cursor;
            world.send(&Frame { flags: 0x18, ..good(cursor, 50) }.build(), false);
            world.run();
        }
        let lost = world.golden.drops[DropReason::HeaderQueueFull as usize];
        assert_eq!(lost, 2 * u64::from(round), "lost");
        world.give_back(1, round * SLOTS, 0);
        world.drain();
    }
    world.compare();
}

/// An open run has its slot: others may fill the queue, and it still ends with an entry.
#[test]
fn open_run_keeps_its_slot() {
    let mut world = small_queue(World::new(NO_STALLS, 1));
    let other = Frame { connection: 1, ..good(0, 0) };
    install_at(&mut world, (1, 1), 1, &other, START, false);
    segment(&mut world, 1, START, 0x4000, 0, 0x9000);
    world.settle();
    for frame in row(&[50; 3]) {
        world.send(&frame.build(), false);
    }
    for _ in 0..SLOTS + 2 {
        let cursor = world.golden.tables.flow(1).expect("installed").cursor;
        world.send(&Frame { connection: 1, flags: 0x18, ..good(cursor, 50) }.build(), false);
        world.run();
    }
    assert_eq!(world.golden.drops[DropReason::HeaderQueueFull as usize], 3);
    world.end_command(0, 7, &command(c::NOP, &[]));
    world.run();
    world.compare();
    let card = entries(&writes_of(&world.outputs), 1);
    let kinds: Vec<u64> = card.iter().map(|entry| h::KIND.get(entry)).collect();
    assert_eq!(kinds, [PACKET, PACKET, PACKET, RUN]);
}

/// A peer of one-byte segments, until more slots are given back than 17 bits count.
pub fn join_past_17_bits(world: &mut World) {
    let (segment_bytes, turn) = (0x8000, 2 * RUN_PACKETS_MAX as u32);
    let mut next = START;
    for segments in 1..6 {
        if segments > 1 {
            segment(world, 0, next, segment_bytes, 0, 0x123);
            world.settle();
        }
        for _ in 0..segment_bytes / turn {
            for _ in 0..turn {
                world.send(&good(next, 1).build(), false);
                next += 1;
            }
            world.run();
            world.give_back(1, (next - START) / RUN_PACKETS_MAX as u32, 0);
            world.drain();
        }
        world.compare();
        assert_eq!(world.golden.drops.iter().sum::<u64>(), 0, "of {}", next - START);
        world.outputs.clear();
        world.expected.0.clear();
    }
}

#[test]
fn slots_given_back_are_counted_on() {
    join_past_17_bits(&mut small_queue(World::new(NO_STALLS, 1)));
}

/// An owner that is disabled gets the entries of its open runs before the confirmation that
/// software waits for, a NOP of owner 0.
#[test]
fn disabled_owner_gets_its_runs() {
    let mut world = two_owners(NO_STALLS);
    (0..2).for_each(|owner| switch_on(&mut world, owner, LONG, true));
    world.drain();
    for number in 0..2 {
        world.send(&single_byte(4, number).build(), false);
        world.send(&victim(number).build(), false);
    }
    world.run();
    assert_eq!(entries(&writes_of(&world.outputs), 1).len(), 0, "the run is open");
    world.register(r::CONTEXTS + r::CONTEXT_STRIDE + r::CONTEXT_ENABLE, 0);
    world.drain();
    world.end_command(0, 7, &command(c::NOP, &[]));
    world.run();
    world.compare();
    for owner in [0, 1] {
        let card = entries(&writes_of(&world.outputs), owner);
        assert_eq!(card.iter().map(|entry| h::KIND.get(entry)).collect::<Vec<_>>(), [RUN]);
    }
}

/// An epoch in each cycle around a packet of an open run: nothing of the run is written in the next
/// epoch, and its place and slots are free.
#[test]
fn epoch_forgets_open_runs() {
    for cycles in 0..60 {
        let mut world = simple(NO_STALLS);
        switch_on(&mut world, 1, LONG, false);
        world.drain();
        let frames = row(&[100; 3]);
        for frame in &frames[..2] {
            world.send(&frame.build(), false);
        }
        world.run();
        world.send(&frames[2].build(), false);
        (0..cycles).for_each(|_| world.cycle());
        world.reset();
        world.run();
        world.outputs.clear();
        world.register(r::CONTROL, r::CONTROL_RX);
        world.enable(1, 6, 4);
        switch_on(&mut world, 1, LONG, false);
        world.drain();
        let next = world.pulses.cursors.last().expect("placed packets").1;
        let later = pushed(vec![good(next, 70), good(next + 70, 70)]);
        for frame in &later {
            world.send(&frame.build(), false);
        }
        world.run();
        let card = entries(&writes_of(&world.outputs), 1);
        let packets = golden::expand::expand(&card).expect("runs of packets");
        let bytes: Vec<u64> =
            packets.iter().map(|packet| h::PAYLOAD_BYTES.get(&packet.entry)).collect();
        assert_eq!(bytes, [70, 70], "an epoch after {cycles} cycles");
    }
}
