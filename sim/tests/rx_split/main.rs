//! The receive path against the golden card: every write, in order, and every counter.

mod frames;
mod world;

use abi::command as c;
use abi::flow_key::hash;
use frames::Frame;
use golden::packet::parse;
use sim::stall::Stall;
use world::{command, Stalls, World};

const NO_STALLS: Stalls = Stalls {
    source: Stall::None,
    sink: Stall::None,
};

/// Installs flow `id` for the connection of `frame`.
fn install(world: &mut World, id: u16, owner: u8, frame: &Frame, floor: u32, check: bool) {
    let packet = parse(&frame.build(), &world.golden.tables.profiles).expect("a good frame");
    let bank = usize::from(id % 2);
    let bucket = hash(&packet.key, &world.golden.tables.secrets[bank]) & 0x1f;
    let mut entry = command(
        c::KEY_SET,
        &[
            (c::FLOW, id.into()),
            (c::KEY_BUCKET, bucket.into()),
            (c::KEY_WAY, (id / 2 % 4).into()),
            (c::KEY_BANK, bank as u64),
        ],
    );
    entry[c::KEY_AT_BYTES..].copy_from_slice(&packet.key);
    world.apply(&entry);
    world.apply(&command(
        c::FLOW_INSTALL,
        &[
            (c::FLOW, id.into()),
            (c::GENERATION, 7),
            (c::OWNER, owner.into()),
            (c::PROFILE, packet.profile.into()),
            (c::TIMESTAMP_CHECK, check.into()),
            (c::DOMAIN, 5),
            (c::INSTALL_FLOOR, floor.into()),
            (c::INSTALL_ACK_LOW, 100),
            (c::INSTALL_ACK_HIGH, 200),
            (c::INSTALL_TIMESTAMP_FLOOR, 1000),
            (c::RX_LIST_BITS, 6),
        ],
    ));
}

/// Installs region `id` of 16 pages of 4 KiB.
fn region(world: &mut World, id: u16, memory: u8, writable: bool) {
    world.apply(&command(
        c::REGION_INSTALL,
        &[
            (c::REGION, id.into()),
            (c::REGION_KEY, 9),
            (c::REGION_DOMAIN, 5),
            (c::REGION_WRITE, writable.into()),
            (c::REGION_MEMORY, memory.into()),
            (c::REGION_PAGE_BITS, 12),
            (c::REGION_FIRST_PAGE, (16 * id).into()),
            (c::REGION_BYTES, 0x1_0000),
        ],
    ));
    for page in 0..16 {
        let address = 0x50_0000_0000 + (u64::from(id) << 32) + ((page * 7 % 16) << 16);
        world.apply(&command(
            c::PAGE_SET,
            &[
                (c::PAGE, u64::from(16 * id) + page),
                (c::PAGE_ADDRESS, address),
            ],
        ));
    }
}

/// Posts the next segment of flow `id`.
fn segment(world: &mut World, id: u16, position: u32, bytes: u32, region: u16, offset: u64) {
    let tail = world.golden.tables.flow(id).expect("installed").lists[0].tail;
    world.apply(&command(
        c::SEGMENT_POST,
        &[
            (c::FLOW, id.into()),
            (c::GENERATION, 7),
            (c::SEGMENT_INDEX, tail.into()),
            (c::SEGMENT_POSITION, position.into()),
            (c::SEGMENT_BYTES, bytes.into()),
            (c::SEGMENT_REGION, region.into()),
            (c::SEGMENT_REGION_KEY, 9),
            (c::SEGMENT_OFFSET, offset),
        ],
    ));
}

/// A TCP frame that the flow of connection 0 takes.
fn good(sequence: u32, bytes: usize) -> Frame {
    Frame {
        sequence,
        acknowledgement: 150,
        payload: (0..bytes).map(|i| i as u8).collect(),
        ..Frame::default()
    }
}

/// One owner, one flow with floor 1000, 64 KiB of memory behind it.
fn simple(stalls: Stalls) -> World {
    let mut world = World::new(stalls, 1);
    world.enable(1, 6, 4);
    world.enable(0, 6, 4);
    install(&mut world, 0, 1, &good(0, 0), 1000, false);
    region(&mut world, 0, 0, true);
    segment(&mut world, 0, 1000, 0x8000, 0, 0x123);
    world.settle();
    world
}

#[test]
fn segment_in_order_is_placed() {
    let mut world = simple(NO_STALLS);
    world.send(&good(1000, 300).build(), false);
    world.run();
    world.compare();
    assert_eq!(world.golden.dispositions[0], 1);
    assert_eq!(world.pulses.cursors, [(0, 1300)]);
    assert_eq!(world.pulses.produced, [(1, 1)]);
}
