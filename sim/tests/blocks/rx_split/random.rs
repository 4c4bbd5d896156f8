//! Random traffic over several flows, with every kind of frame, stall and length.

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use seed::seed;
use sim::coverage::{length_class, Coverage};
use sim::harness::stall::Stall;

use crate::rx_split::frames::{options, payload, Frame};
use crate::rx_split::world::{Stalls, World};
use crate::rx_split::{install, region, segment};

const FLOWS: u16 = 8;

/// What the frames must draw, over all stalls.
const DRAWN: [&str; 39] = [
    "FCS bad",
    "FCS good",
    "case: ACK",
    "case: IP options",
    "case: PSH and FIN",
    "case: UDP",
    "case: flags",
    "case: fragment",
    "case: nothing",
    "case: other connection",
    "case: protocol 1",
    "case: protocol 17",
    "case: protocol 47",
    "case: tags",
    "damage: a bit",
    "damage: a byte",
    "damage: cut",
    "damage: giant",
    "damage: none",
    "length: a byte beyond",
    "length: a byte short",
    "length: below a beat",
    "length: between",
    "length: none",
    "length: whole beats",
    "start: ahead",
    "start: at the cursor",
    "start: behind",
    "types:",
    "types: 8100",
    "types: 8100 8100",
    "types: 8100 88a8",
    "types: 88a8",
    "types: 88a8 8100",
    "types: 88a8 88a8",
    "types: three",
    "wraps: false",
    "wraps: inside",
    "wraps: true",
];

fn connection(id: u16) -> Frame {
    Frame {
        tags: usize::from(id % 3),
        ipv6: id % 2 == 1,
        connection: id,
        acknowledgement: 150,
        ..Frame::default()
    }
}

fn floor(id: u16) -> u32 {
    // Flow 1 wraps around.
    0xffff_e000u32.wrapping_add(u32::from(id) << 20)
}

fn build(random: &mut SmallRng, stalls: Stalls) -> World {
    let mut world = World::new(stalls, random.random());
    for owner in 0..4 {
        world.enable(owner, 9, 9);
    }
    for id in 0..4 {
        region(&mut world, id, id as u8, id != 3 || random.random_bool(0.5));
    }
    for id in 0..FLOWS {
        install(&mut world, id, (id % 4) as u8, &connection(id), floor(id), id == 5);
        let mut position = floor(id);
        for _ in 0..random.random_range(20..60) {
            if random.random_bool(0.03) {
                position = position.wrapping_add(random.random_range(1..100));
            }
            let bytes = match random.random_range(0..6) {
                0 => random.random_range(1..4),
                1 => 64,
                _ => random.random_range(1..3000),
            };
            let region = if random.random_bool(0.03) { 3 } else { random.random_range(0..3) };
            let offset = random.random_range(0..0x1_0000 - 3000);
            segment(&mut world, id, position, bytes, region, offset);
            position = position.wrapping_add(bytes);
        }
    }
    world.settle();
    world.flush_cycles = random.random_range(0..2000);
    world
}

fn length(random: &mut SmallRng) -> usize {
    match random.random_range(0..10) {
        0 => 0,
        1..=3 => random.random_range(1..140),
        4..=6 => 64 * random.random_range(1..6) + random.random_range(0..3) - 1,
        7 | 8 => random.random_range(1..1460),
        _ => random.random_range(1460..8900),
    }
}

/// The name of the types of a frame's tags.
fn types_of(frame: &Frame) -> String {
    let name = |tag: usize| [" 88a8", " 8100"][usize::from(frame.tag_types >> tag & 1)];
    match frame.tags {
        0..=2 => (0..frame.tags).map(name).collect(),
        _ => " three".to_owned(),
    }
}

fn traffic(random: &mut SmallRng, world: &World, drawn: &mut Coverage) -> Frame {
    let id = random.random_range(0..FLOWS);
    let flow = world.golden.tables.flow(id).expect("installed");
    let bytes = length(random);
    let offset = match random.random_range(0..10) {
        0 => random.random_range(1..4000),
        1 => -random.random_range(1..4000),
        _ => 0,
    };
    let start = ["behind", "at the cursor", "ahead"][(i32::signum(offset) + 1) as usize];
    drawn.count_of("start:", start);
    drawn.count_of("length:", length_class(bytes));
    let timestamp = random.random_range(990..1100);
    let mut frame = Frame {
        sequence: flow.cursor.wrapping_add(offset as u32),
        payload: payload(random, bytes),
        options: options(random, timestamp),
        padding: random.random_range(0..3) * random.random_range(0..70),
        tag_types: random.random(),
        ..connection(id)
    };
    let wraps = match frame.sequence.checked_add(bytes as u32) {
        None => "inside",
        Some(_) if frame.sequence < floor(id) => "true",
        Some(_) => "false",
    };
    drawn.count_of("wraps:", wraps);
    vary(&mut frame, random, drawn);
    drawn.count(format!("types:{}", types_of(&frame)));
    frame
}

/// Changes one field of a frame, of some frames.
fn vary(frame: &mut Frame, random: &mut SmallRng, drawn: &mut Coverage) {
    let case: usize = random.random_range(0..40);
    match case {
        0 => frame.flags = random.random(),
        1 => frame.acknowledgement = random.random_range(80..220),
        2 => frame.protocol = *[17, 1, 47].get(random.random_range(0..3)).unwrap(),
        3 => frame.fragment = random.random_range(1..0x4000),
        4 => frame.tags = random.random_range(0..4),
        5 => frame.ip_options = random.random_range(1..11),
        6 => frame.connection = 77,
        7 => {
            frame.protocol = 17;
            frame.no_checksum = random.random();
        }
        8 => frame.flags = 0x19,
        _ => {}
    }
    if case == 2 {
        drawn.count_of("case: protocol", frame.protocol);
    } else {
        let names = [
            "flags",
            "ACK",
            "",
            "fragment",
            "tags",
            "IP options",
            "other connection",
            "UDP",
            "PSH and FIN",
        ];
        drawn.count_of("case:", names.get(case).unwrap_or(&"nothing"));
    }
}

/// Changes a byte, cuts or lengthens the frame, or lets the MAC mark it bad.
fn spoil(random: &mut SmallRng, frame: &mut Vec<u8>, drawn: &mut Coverage) -> bool {
    let case = random.random_range(0..30);
    let damage = match case {
        0 | 1 => {
            let at = random.random_range(0..frame.len().min(120));
            frame[at] = random.random();
            "a byte"
        }
        2 => {
            let at = random.random_range(0..frame.len());
            frame[at] ^= 1 << random.random_range(0..8);
            "a bit"
        }
        3 => {
            frame.truncate(random.random_range(1..=frame.len()));
            "cut"
        }
        4 => {
            frame.resize(random.random_range(9210..9300), 0);
            "giant"
        }
        _ => "none",
    };
    let is_bad = case == 5 && (60..=9216).contains(&frame.len());
    drawn.count_of("damage:", damage);
    drawn.count_of("FCS", ["good", "bad"][usize::from(is_bad)]);
    is_bad
}

fn run(seed: u64, stalls: Stalls, frames: usize) -> Coverage {
    let mut drawn = Coverage::default();
    let mut random = SmallRng::seed_from_u64(seed);
    let mut world = build(&mut random, stalls);
    for _ in 0..frames {
        let mut frame = traffic(&mut random, &world, &mut drawn).build();
        let bad_fcs = spoil(&mut random, &mut frame, &mut drawn);
        world.send(&frame, bad_fcs);
    }
    world.run();
    world.compare();
    println!("dispositions {:?}", world.golden.dispositions);
    println!("drops {:?}", world.golden.drops);
    drawn
}

#[test]
fn random_traffic_agrees_with_golden_card() {
    let all = Stall::matrix(seed(), |source, sink, seed| run(seed, Stalls { source, sink }, 400));
    let mut drawn = Coverage::default();
    all.iter().for_each(|of_one| drawn.add(of_one));
    drawn.check("the frames", &DRAWN);
}

#[test]
fn every_length_lands_at_every_alignment() {
    let none = Stalls { source: Stall::None, sink: Stall::None };
    let mut world = World::new(none, 1);
    for owner in 0..2 {
        world.enable(owner, 9, 9);
    }
    install(&mut world, 0, 1, &connection(0), 0, false);
    region(&mut world, 0, 0, true);
    segment(&mut world, 0, 0, 0xffff, 0, 1);
    world.settle();
    let mut sequence = 0;
    for bytes in 1..=270 {
        let frame = Frame {
            sequence,
            payload: (0..bytes).map(|i| (i + bytes) as u8).collect(),
            options: vec![1; 4 * (bytes % 11)],
            ip_options: bytes % 7,
            tags: bytes % 3,
            ..connection(0)
        };
        world.send(&frame.build(), false);
        sequence += bytes as u32;
    }
    world.run();
    world.compare();
    assert_eq!(world.golden.dispositions[0], 270);
}
