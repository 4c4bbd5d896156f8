//! Runs of packets: the card against the golden card that sums up, and against the one that does
//! not.
//!
//! ```text
//!   frames ─┬─► card, runs on ──► writes ─┬─ equal to those of the golden card with runs
//!           │                             └─ expanded, the entries of the golden card without
//!           └─► golden card, runs on or off
//! ```

mod expand;
pub mod faults;
mod hostile;

use abi::command as c;
use abi::config::RUN_PACKETS_MAX;
use abi::registers as r;
use abi::{header_entry as h, registers};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use seed::seed;
use sim::coverage::Coverage;
use sim::harness::stall::Stall;

use self::expand::{entries, same_packets};
use crate::rx_split::frames::{payload, Frame};
use crate::rx_split::world::{command, header_base, Output, Stalls, World};
use crate::rx_split::{good, install, install_at, region, segment, set_up, NO_STALLS};

/// No run ends by time while a test of some hundred frames lasts.
const LONG: u32 = 0xffff;

/// Switches runs on for an owner, in both cards or in the card alone.
fn switch_on(world: &mut World, owner: u32, cycles: u32, golden_too: bool) {
    let enable = r::CONTEXTS + owner * r::CONTEXT_STRIDE + r::CONTEXT_ENABLE;
    let value = 1 | registers::CONTEXT_ENABLE_COALESCE;
    for (register, value) in [(r::COALESCE_CYCLES, cycles), (enable, value)] {
        match golden_too {
            true => world.register(register, value),
            false => world.register_of_card(register, value),
        }
    }
}

/// The world of one flow, with runs on in both.
fn with_runs(world: World) -> World {
    let mut world = set_up(world);
    switch_on(&mut world, 1, LONG, true);
    world.drain();
    world
}

/// Sends frames, ends what is open, and compares; entries of the card by kind.
fn kinds(world: &mut World, frames: &[Frame]) -> Vec<u64> {
    for frame in frames {
        world.send(&frame.build(), false);
    }
    world.run();
    world.end_command(0, 7, &command(c::NOP, &[]));
    world.run();
    world.compare();
    let queue = header_base(1)..header_base(2);
    let writes = world.outputs.iter().filter_map(|output| match output {
        Output::Write(address, bytes, _) if queue.contains(address) => Some(h::KIND.get(bytes)),
        _ => None,
    });
    writes.collect()
}

/// Frames of `bytes` each behind each other.
fn row(bytes: &[usize]) -> Vec<Frame> {
    let starts = bytes.iter().scan(1000, |next, bytes| {
        let start = *next;
        *next += *bytes as u32;
        Some(start)
    });
    starts.zip(bytes).map(|(start, bytes)| good(start, *bytes)).collect()
}

fn pushed(mut frames: Vec<Frame>) -> Vec<Frame> {
    frames.last_mut().expect("a frame").flags = 0x18;
    frames
}

const PACKET: u64 = h::KIND_PACKET as u64;
const RUN: u64 = h::KIND_RUN as u64;

#[test]
fn run_ends_with_push() {
    let mut world = with_runs(World::new(NO_STALLS, 1));
    assert_eq!(kinds(&mut world, &pushed(row(&[300; 5]))), [RUN]);
}

#[test]
fn run_ends_with_smaller_packet() {
    let mut world = with_runs(World::new(NO_STALLS, 1));
    assert_eq!(kinds(&mut world, &row(&[300, 300, 299, 299])), [RUN, PACKET]);
}

#[test]
fn larger_packet_opens_another_run() {
    let mut world = with_runs(World::new(NO_STALLS, 1));
    assert_eq!(kinds(&mut world, &row(&[300, 300, 301, 301])), [RUN, RUN]);
}

#[test]
fn push_alone_is_a_packet() {
    let mut world = with_runs(World::new(NO_STALLS, 1));
    assert_eq!(kinds(&mut world, &pushed(row(&[300]))), [PACKET]);
}

#[test]
fn run_has_64_packets_at_most() {
    let mut world = with_runs(World::new(NO_STALLS, 1));
    let frames = row(&[100; 2 * RUN_PACKETS_MAX + 1]);
    assert_eq!(kinds(&mut world, &frames), [RUN, RUN, PACKET]);
}

/// Every rule of joining: a second packet that just fails it is not in the run of the first.
#[test]
fn packet_that_differs_does_not_join() {
    let stamped = |value: u8| vec![1, 1, 8, 10, 0, 0, 5, value, 0, 0, 0, 9];
    let base = |frame: &mut Frame| frame.options = stamped(5);
    type Change<'a> = (&'a str, &'a dyn Fn(&mut Frame));
    let changes: [Change; 12] = [
        ("link address", &|frame| frame.link = 3),
        ("traffic class", &|frame| frame.class = 3),
        ("DF", &|frame| frame.fragment = 0x4000),
        ("reserved bits", &|frame| frame.reserved = 1),
        ("urgent pointer", &|frame| frame.urgent = 1),
        ("timestamp before", &|frame| frame.options = vec![1, 1, 8, 10, 0, 0, 5, 4, 0, 0, 0, 9]),
        ("other options", &|frame| frame.options = vec![1, 9, 8, 10, 0, 0, 5, 5, 0, 0, 0, 9]),
        ("no options", &|frame| frame.options = vec![]),
        ("ACK before", &|frame| frame.acknowledgement -= 1),
        ("CWR", &|frame| frame.flags |= 0x80),
        ("FIN", &|frame| frame.flags |= 1),
        ("IP options", &|frame| frame.ip_options = 1),
    ];
    for (name, change) in changes {
        let mut frames = row(&[300; 3]);
        frames.iter_mut().for_each(base);
        change(&mut frames[2]);
        let mut world = with_runs(World::new(NO_STALLS, 1));
        assert_eq!(kinds(&mut world, &frames), [RUN, PACKET], "{name}");
    }
    let mut frames = row(&[300; 3]);
    frames.iter_mut().for_each(base);
    frames[2].window = 7;
    (frames[2].identification, frames[2].hops, frames[2].acknowledgement) = (8, 9, 151);
    frames[2].options = stamped(6);
    assert_eq!(kinds(&mut with_runs(World::new(NO_STALLS, 1)), &frames), [RUN]);
}

/// A pure ACK, a hole and a repetition end the run and have entries of their own.
#[test]
fn what_is_not_placed_in_order_ends_the_run() {
    for (start, bytes) in [(1600, 0), (1700, 300), (1300, 300)] {
        let mut frames = row(&[300; 2]);
        frames.push(good(start, bytes));
        let mut world = with_runs(World::new(NO_STALLS, 1));
        assert_eq!(kinds(&mut world, &frames), [RUN, PACKET], "{start} {bytes}");
    }
}

/// Two packets, then a floor beyond them, and a packet that begins there: it is in order, and not
/// behind the run.
fn beyond_floor(world: &mut World) -> Vec<u64> {
    for frame in row(&[300; 2]) {
        world.send(&frame.build(), false);
    }
    world.run();
    let acks = [(c::ACK_LOW, 100), (c::ACK_HIGH, 200)];
    let floor = [[(c::GENERATION, 7), (c::FLOOR, 1900)], acks].concat();
    world.apply(&command(c::FLOOR_SET, &floor));
    world.settle();
    let got = kinds(world, &[good(1900, 300)]);
    let dispositions = world.golden.dispositions;
    assert_eq!(dispositions[0], 3, "all are placed in order: {dispositions:?}");
    got
}

#[test]
fn packet_beyond_floor_does_not_join() {
    assert_eq!(beyond_floor(&mut with_runs(World::new(NO_STALLS, 1))), [RUN, PACKET]);
}

/// The world of one flow, with runs on and room for four entries.
fn small_queue(mut world: World) -> World {
    world.enable(1, 2, 4);
    install(&mut world, 0, 1, &good(0, 0), 1000, false);
    region(&mut world, 0, 0, true);
    segment(&mut world, 0, 1000, 0x8000, 0, 0x123);
    world.settle();
    switch_on(&mut world, 1, LONG, true);
    world.drain();
    world
}

#[test]
fn joined_packets_give_their_slots_back() {
    let mut world = small_queue(World::new(NO_STALLS, 1));
    for frame in pushed(row(&[100; 20])) {
        world.send(&frame.build(), false);
        world.run();
    }
    world.compare();
    assert_eq!(world.golden.drops.iter().sum::<u64>(), 0);
}

const OWNERS: u32 = 2;
const FLOWS: u16 = 6;

fn connection(id: u16) -> Frame {
    Frame {
        tags: usize::from(id % 3),
        ipv6: id % 2 == 1,
        connection: id,
        acknowledgement: 120,
        options: if id < 3 { vec![1, 1, 8, 10, 0, 0, 4, 0, 0, 0, 0, 0] } else { vec![] },
        ..Frame::default()
    }
}

/// Several flows of two owners. Flows 0 and 32 have one place.
fn flow_id(number: u16) -> u16 {
    [0, 32, 1, 2, 3, 4][usize::from(number)]
}

fn build(random: &mut SmallRng, mut world: World, memory: u8) -> World {
    for owner in 0..OWNERS {
        world.enable(owner, 10, 9);
    }
    region(&mut world, memory.into(), memory, true);
    for number in 0..FLOWS {
        let id = flow_id(number);
        let owner = (number % OWNERS as u16) as u8;
        install_at(&mut world, (id, number), owner, &connection(number), 0xffff_f000, false);
        let mut position = 0xffff_f000u32;
        for _ in 0..12 {
            let bytes = random.random_range(1_000..6_000);
            segment(&mut world, id, position, bytes, memory.into(), random.random_range(0..9_000));
            position = position.wrapping_add(bytes);
        }
    }
    world.settle();
    world.flush_cycles = random.random_range(0..300);
    world
}

/// A frame of one of the flows: mostly the next one of its stream, like the one before.
fn traffic(
    random: &mut SmallRng,
    world: &World,
    last: &mut [Frame],
    drawn: &mut Coverage,
) -> Frame {
    let number = random.random_range(0..FLOWS);
    let cursor = world.golden.tables.flow(flow_id(number)).expect("installed").cursor;
    let frame = &mut last[usize::from(number)];
    let mut bytes = match random.random_range(0..12) {
        0 => random.random_range(0..200),
        1 => random.random_range(0..3),
        _ => 120,
    };
    frame.sequence = cursor;
    frame.identification = frame.identification.wrapping_add(1);
    frame.flags = if random.random_bool(0.1) { 0x18 } else { 0x10 };
    let mut change = "nothing";
    match random.random_range(0..40) {
        0 => (change, frame.class) = ("class", random.random_range(0..4)),
        1 => (change, frame.link) = ("link", random.random_range(2..4)),
        2 => (change, frame.flags) = ("flags", random.random::<u8>() | 0x10),
        3 => (change, frame.window) = ("window", random.random()),
        4 => (change, frame.hops) = ("hops", random.random()),
        5 => (change, frame.acknowledgement) = ("ack", random.random_range(110..140)),
        6 => (change, frame.label) = ("label", random.random_range(0..2)),
        7 => (change, frame.urgent) = ("urgent", random.random_range(0..2)),
        8 => (change, frame.reserved) = ("reserved", random.random_range(0..2)),
        9 => (change, frame.sequence) = ("hole", cursor.wrapping_add(random.random_range(1..300))),
        10 => {
            (change, frame.sequence) =
                ("repeated", cursor.wrapping_sub(random.random_range(1..300)))
        }
        11 => (change, bytes) = ("ACK", 0),
        12 => (change, bytes) = ("larger", 121),
        13 if !frame.options.is_empty() => {
            change = "timestamp";
            frame.options[7] = random.random_range(0..4);
            frame.options[11] = random.random();
        }
        14 if !frame.ipv6 => {
            (change, frame.fragment) = ("DF", [0, 0x4000, 0x8000][random.random_range(0..3)]);
        }
        _ => {}
    }
    drawn.count_of("change:", change);
    frame.payload = payload(random, bytes);
    frame.clone()
}

/// What the frames must draw.
const DRAWN: [&str; 17] = [
    "change: ACK",
    "change: DF",
    "change: ack",
    "change: class",
    "change: flags",
    "change: hole",
    "change: hops",
    "change: label",
    "change: larger",
    "change: link",
    "change: nothing",
    "change: repeated",
    "change: reserved",
    "change: timestamp",
    "change: urgent",
    "change: window",
    "runs",
];

/// A command in the middle: of a flow, of an owner, or of all.
fn some_command(random: &mut SmallRng) -> (u8, [u8; 64]) {
    let flow = (c::FLOW, flow_id(random.random_range(0..FLOWS)).into());
    let owner = random.random_range(0..OWNERS) as u8;
    match random.random_range(0..4) {
        0 => (owner, command(c::NOP, &[])),
        1 => (owner, command(c::FLOOR_SET, &[flow])),
        _ => (owner, command(c::SEGMENT_TRUNCATE, &[flow])),
    }
}

/// Random traffic with runs on in the card and in the golden card: every write in order.
fn exact(seed: u64, stalls: Stalls, memory: u8) -> Coverage {
    let mut drawn = Coverage::default();
    let mut random = SmallRng::seed_from_u64(seed);
    let world = World::new(stalls, random.random());
    let mut world = build(&mut random, world, memory);
    for owner in 0..OWNERS {
        switch_on(&mut world, owner, LONG, true);
    }
    let mut last: Vec<Frame> = (0..FLOWS).map(connection).collect();
    for round in 0..12 {
        for _ in 0..random.random_range(1..40) {
            let frame = traffic(&mut random, &world, &mut last, &mut drawn);
            world.send(&frame.build(), false);
        }
        world.run();
        let (owner, entry) = some_command(&mut random);
        world.end_command(owner, round, &entry);
        world.run();
    }
    world.end_command(0, 99, &command(c::NOP, &[]));
    world.run();
    world.compare();
    (0..world.golden.run_counters()[0]).for_each(|_| drawn.count("runs".to_owned()));
    drawn
}

#[test]
fn runs_agree_with_golden_card() {
    let all = Stall::matrix(seed(), |source, sink, seed| exact(seed, Stalls { source, sink }, 0));
    let mut drawn = Coverage::default();
    all.iter().for_each(|of_one| drawn.add(of_one));
    drawn.check("the frames", &DRAWN);
}

/// Random traffic with runs on in the card alone, and every time of theirs: expanded, its entries
/// are those of the golden card. Returns packets, and entries of the card.
fn expands(seed: u64, frames: usize, world: impl Fn(u64) -> World) -> (u64, u64) {
    let mut drawn = Coverage::default();
    let mut random = SmallRng::seed_from_u64(seed);
    let memory = random.random_range(0..2);
    let world = world(random.random());
    let mut world = build(&mut random, world, memory);
    let cycles = [1, 20, 200, 2_000][random.random_range(0..4)];
    for owner in 0..OWNERS {
        switch_on(&mut world, owner, cycles, false);
    }
    let mut last: Vec<Frame> = (0..FLOWS).map(connection).collect();
    for index in 0..frames {
        let frame = traffic(&mut random, &world, &mut last, &mut drawn);
        world.send(&frame.build(), false);
        (0..random.random_range(0..3) * random.random_range(0..40)).for_each(|_| world.cycle());
        if random.random_bool(0.03) {
            let (owner, entry) = some_command(&mut random);
            world.end_command(owner, index as u32, &entry);
        }
    }
    world.run();
    (0..cycles + 100).for_each(|_| world.cycle());
    world.run();
    assert_eq!(world.pulses.drops, world.golden.drops, "drops");
    assert_eq!(world.pulses.dispositions, world.golden.dispositions, "dispositions");
    let card = expand::writes_of(&world.outputs);
    let (mut got, mut want) = (0, 0);
    expand::same_payload(&card, &world.expected.0);
    for owner in 0..OWNERS {
        let ours = entries(&card, owner);
        let theirs = entries(&world.expected.0, owner);
        got += ours.len() as u64;
        want += theirs.len() as u64;
        same_packets(&ours, &theirs);
    }
    (want, got)
}

/// Frames of an exchange.
const FRAMES: usize = 300;
/// Exchanges for each pair of stalls: 21,600 frames in all.
const EXCHANGES: u64 = 8;
/// The same: 1,001,700 frames in all.
const EXCHANGES_LONG: u64 = 371;

fn expand_exchanges(exchanges: u64) {
    let all = Stall::matrix(seed(), |source, sink, seed| {
        let stalls = Stalls { source, sink };
        let one = |at: u64| expands(seed ^ at << 32, FRAMES, |seed| World::new(stalls, seed));
        (0..exchanges).map(one).fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
    });
    let (packets, entries) = all.iter().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    println!("{packets} packets in {entries} entries");
    seed::enough("packets that share an entry", packets - entries, packets / 30);
}

#[test]
fn expanded_runs_are_the_packets() {
    expand_exchanges(EXCHANGES);
}

#[test]
fn million_packets_expand() {
    if skip::long_runs("it simulates a million packets") {
        expand_exchanges(EXCHANGES_LONG);
    }
}
