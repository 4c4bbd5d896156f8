//! The receive path against the golden card: every write, in order, and every counter.

mod confirmations;
mod drops;
mod exact;
mod faults;
mod frames;
mod held;
mod judge;
mod random;
mod rate;
mod resets;
mod runs;
mod shared;
mod world;

use abi::command as c;
use abi::field::Field;
use abi::profile as p;
use abi::reason::Disposition;
use abi::registers as r;
use frames::Frame;
use golden::packet::parse;
use seed::seed;
use sim::harness::stall::Stall;
use world::{command, Stalls, World};

const NO_STALLS: Stalls = Stalls { source: Stall::None, sink: Stall::None };

/// Installs flow `id` for the connection of `frame`.
fn install(world: &mut World, id: u16, owner: u8, frame: &Frame, floor: u32, check: bool) {
    install_at(world, (id, id), owner, frame, floor, check);
}

/// The same with a key in the slot of that number, of eight.
fn install_at(
    world: &mut World,
    (id, slot): (u16, u16),
    owner: u8,
    frame: &Frame,
    floor: u32,
    check: bool,
) {
    let packet = parse(&frame.build(), &world.golden.tables.profiles).expect("a good frame");
    let bank = usize::from(slot % 2);
    let bucket = world.golden.tables.secrets[bank].hash(&packet.key) & 0x1f;
    let mut entry = command(
        c::KEY_SET,
        &[
            (c::FLOW, id.into()),
            (c::KEY_BUCKET, bucket.into()),
            (c::KEY_WAY, (slot / 2 % 4).into()),
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
            &[(c::PAGE, u64::from(16 * id) + page), (c::PAGE_ADDRESS, address)],
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
    set_up(World::new(stalls, 1))
}

/// The same in a world that may have a fault.
fn set_up(mut world: World) -> World {
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

/// Sends one frame into the simple world and expects the golden card to give it this disposition.
fn expect(world: &mut World, frame: &Frame, disposition: Disposition) {
    let mut wanted = world.golden.dispositions;
    wanted[disposition as usize] += 1;
    world.send(&frame.build(), false);
    assert_eq!(world.golden.dispositions, wanted, "{:?}", world.golden.drops);
    world.run();
    world.compare();
}

#[test]
fn beyond_the_cursor_is_placed_ahead() {
    expect(&mut simple(NO_STALLS), &good(5000, 1446), Disposition::PlacedAhead);
}

#[test]
fn frame_without_payload_goes_up_alone() {
    let mut syn = good(1000, 0);
    syn.flags = 0x02;
    expect(&mut simple(NO_STALLS), &syn, Disposition::NoPayload);
}

#[test]
fn payload_below_the_floor_is_old() {
    expect(&mut simple(NO_STALLS), &good(900, 100), Disposition::Old);
}

#[test]
fn payload_across_the_floor_is_trimmed() {
    expect(&mut simple(NO_STALLS), &good(900, 101), Disposition::PlacedInOrder);
    expect(&mut simple(NO_STALLS), &good(937, 1000), Disposition::PlacedInOrder);
}

#[test]
fn payload_below_cursor_is_duplicate() {
    let mut world = simple(NO_STALLS);
    world.send(&good(1000, 500).build(), false);
    expect(&mut world, &good(1499, 500), Disposition::Duplicate);
}

#[test]
fn unknown_connection_has_no_flow() {
    let mut frame = good(1000, 77);
    frame.connection = 9;
    expect(&mut simple(NO_STALLS), &frame, Disposition::NoFlow);
    frame.protocol = 17;
    expect(&mut simple(NO_STALLS), &frame, Disposition::NoFlow);
}

#[test]
fn list_gap_is_no_segment() {
    let mut world = simple(NO_STALLS);
    segment(&mut world, 0, 1000 + 0x8000 + 10, 100, 0, 0);
    world.settle();
    expect(&mut world, &good(1000 + 0x8000 - 10, 50), Disposition::NoSegment);
    expect(&mut world, &good(1000 + 0x8000, 5), Disposition::NoSegment);
}

#[test]
fn list_end_is_ahead_of_window() {
    let mut world = simple(NO_STALLS);
    expect(&mut world, &good(1000 + 0x8000 - 10, 50), Disposition::AheadOfWindow);
    expect(&mut world, &good(1000 + 0x8000, 50), Disposition::AheadOfWindow);
    expect(&mut world, &good(1000 + (1 << 30), 1), Disposition::AheadOfWindow);
}

#[test]
fn forbidden_flags_are_deferred() {
    for flags in [0x11 | 0x20, 0x14, 0x12, 0x01, 0x08] {
        let mut frame = good(1000, 64);
        frame.flags = flags;
        expect(&mut simple(NO_STALLS), &frame, Disposition::Flags);
    }
    let mut frame = good(1000, 64);
    frame.flags = 0xd9;
    expect(&mut simple(NO_STALLS), &frame, Disposition::PlacedInOrder);
}

#[test]
fn ack_outside_the_range_is_deferred() {
    for (ack, disposition) in [
        (99, Disposition::AckOutOfRange),
        (201, Disposition::AckOutOfRange),
        (100, Disposition::PlacedInOrder),
        (200, Disposition::PlacedInOrder),
    ] {
        let mut frame = good(1000, 64);
        frame.acknowledgement = ack;
        expect(&mut simple(NO_STALLS), &frame, disposition);
    }
}

#[test]
fn timestamp_is_demanded_and_compared() {
    for (options, disposition) in [
        (vec![], Disposition::TimestampOld),
        (vec![1, 1, 8, 10, 0, 0, 3, 0xe7, 0, 0, 0, 0], Disposition::TimestampOld),
        (vec![1, 1, 8, 10, 0, 0, 3, 0xe8, 0, 0, 0, 0], Disposition::PlacedInOrder),
        ([vec![1; 30], vec![8, 10, 0, 0, 4, 0, 0, 0, 0, 0]].concat(), Disposition::PlacedInOrder),
        (vec![0, 1, 8, 10, 0, 0, 4, 0, 0, 0, 0, 0], Disposition::TimestampOld),
        (vec![1, 1, 1, 8], Disposition::TimestampOld),
        // An option of length 0 or 1 does not parse: what follows it is not looked at.
        (vec![5, 0, 8, 10, 0, 0, 4, 0, 0, 0, 0, 0], Disposition::TimestampOld),
        (vec![5, 1, 8, 10, 0, 0, 4, 0, 0, 0, 0, 0], Disposition::TimestampOld),
        (vec![1, 5, 0, 8, 10, 0, 0, 4, 0, 0, 0, 0], Disposition::TimestampOld),
        (vec![1, 5, 1, 8, 10, 0, 0, 4, 0, 0, 0, 0], Disposition::TimestampOld),
        (vec![5, 2, 8, 10, 0, 0, 4, 0, 0, 0, 0, 0], Disposition::PlacedInOrder),
        (vec![1, 1, 8, 11, 0, 0, 4, 0, 0, 0, 0, 0], Disposition::TimestampOld),
    ] {
        let mut world = World::new(NO_STALLS, 1);
        world.enable(1, 6, 4);
        install(&mut world, 0, 1, &good(0, 0), 1000, true);
        region(&mut world, 0, 0, true);
        segment(&mut world, 0, 1000, 0x8000, 0, 0);
        world.settle();
        let mut frame = good(1000, 64);
        frame.options = options;
        expect(&mut world, &frame, disposition);
    }
}

#[test]
fn region_that_refuses_defers_all_pieces() {
    let mut world = simple(NO_STALLS);
    region(&mut world, 1, 0, false);
    segment(&mut world, 0, 1000 + 0x8000, 100, 1, 0);
    world.settle();
    expect(&mut world, &good(1000 + 0x8000 - 100, 150), Disposition::RegionRefused);
    expect(&mut world, &good(1000, 150), Disposition::PlacedInOrder);
}

#[test]
fn seventeen_pieces_are_too_many() {
    let mut world = World::new(NO_STALLS, 1);
    world.enable(1, 6, 4);
    install(&mut world, 0, 1, &good(0, 0), 1000, false);
    region(&mut world, 0, 0, true);
    for number in 0..40 {
        segment(&mut world, 0, 1000 + 7 * number, 7, 0, 4090 + 100 * u64::from(number));
    }
    world.settle();
    expect(&mut world, &good(1000, 7 * 16), Disposition::TooManyPieces);
    expect(&mut world, &good(1000, 7 * 15), Disposition::PlacedInOrder);
    expect(&mut world, &good(1000 + 7 * 15, 7 * 16), Disposition::PlacedInOrder);
}

#[test]
fn empty_segments_are_stepped_over() {
    let mut world = simple(NO_STALLS);
    segment(&mut world, 0, 1000 + 0x8000, 50, 0, 0x9000);
    segment(&mut world, 0, 1000 + 0x8000, 100, 0, 0xa000);
    world.apply(&command(
        c::SEGMENT_TRUNCATE,
        &[(c::FLOW, 0), (c::GENERATION, 7), (c::SEGMENT_INDEX, 1), (c::SEGMENT_BYTES, 0)],
    ));
    world.settle();
    expect(&mut world, &good(1000 + 0x8000 - 10, 50), Disposition::PlacedAhead);
}

#[test]
fn unverifiable_payload_is_deferred_whole() {
    let mut world = simple(NO_STALLS);
    for fragment in [0x2000, 0x0001, 0x1fff] {
        let frame = Frame { fragment, ..good(1000, 200) };
        expect(&mut world, &frame, Disposition::Unverified);
    }
    for tags in 0..3 {
        let frame = Frame { tags, ipv6: true, fragment: 1, ..good(1000, 9) };
        expect(&mut world, &frame, Disposition::Unverified);
    }
    let frame = Frame { protocol: 17, no_checksum: true, ..good(1000, 20) };
    expect(&mut world, &frame, Disposition::Unverified);
    let frame = Frame { fragment: 0x4000, ..good(1000, 200) };
    expect(&mut world, &frame, Disposition::PlacedInOrder);
}

#[test]
fn other_protocols_have_no_transport() {
    let mut world = simple(NO_STALLS);
    for tags in 0..4 {
        for ipv6 in [false, true] {
            let protocol = if tags == 3 { 6 } else { 1 };
            let frame = Frame { tags, ipv6, protocol, ..good(1000, 30) };
            expect(&mut world, &frame, Disposition::NotTransport);
        }
    }
    let mut arp = good(1000, 0).build();
    arp[12..14].copy_from_slice(&[8, 6]);
    world.send(&arp, false);
    world.run();
    world.compare();
}

/// Writes the two words of a header profile.
fn profile(world: &mut World, number: u32, port: u16, fields: &[(Field, u64)]) {
    let at = r::PROFILES + number * r::PROFILE_STRIDE;
    let mut word = [0; 4];
    for (field, value) in fields {
        field.set(&mut word, *value);
    }
    world.register(at, 1 << 16 | u32::from(port));
    world.register(at + 4, u32::from_le_bytes(word));
}

#[test]
fn profiles_place_by_their_own_position() {
    for (position_offset, position_bytes, key_offset, key_bytes) in
        [(0, 4, 4, 8), (13, 4, 0, 3), (61, 3, 24, 1), (7, 1, 7, 8), (30, 2, 37, 5)]
    {
        let mut world = World::new(NO_STALLS, 1);
        world.enable(0, 6, 4);
        world.enable(1, 6, 4);
        profile(&mut world, 1, 7, &[]);
        profile(
            &mut world,
            2,
            4791,
            &[
                (p::HEADER_BYTES, 64),
                (p::POSITION_OFFSET, position_offset),
                (p::POSITION_BYTES, position_bytes),
                (p::MESSAGE_KEY_OFFSET, key_offset),
                (p::MESSAGE_KEY_BYTES, key_bytes),
            ],
        );
        let mut frame = Frame {
            protocol: 17,
            port: 4791,
            ipv6: position_offset == 13,
            payload: (0..500).map(|i| (i * 7 % 251) as u8).collect(),
            ..Frame::default()
        };
        let packet = parse(&frame.build(), &world.golden.tables.profiles).expect("a good frame");
        install(&mut world, 0, 1, &frame, packet.position, false);
        region(&mut world, 0, 0, true);
        segment(&mut world, 0, packet.position, 0x8000, 0, 0x123);
        world.settle();
        expect(&mut world, &frame, Disposition::PlacedInOrder);
        frame.payload.truncate(64);
        expect(&mut world, &frame, Disposition::NoPayload);
        frame.payload.truncate(63);
        expect(&mut world, &frame, Disposition::NoFlow);
    }
}

#[test]
fn flow_of_another_profile_defers() {
    let mut world = simple(NO_STALLS);
    let entry =
        [(c::FLOW, 0), (c::GENERATION, 8), (c::OWNER, 1), (c::PROFILE, 3), (c::RX_LIST_BITS, 3)];
    world.apply(&command(c::FLOW_INSTALL, &entry));
    world.settle();
    expect(&mut world, &good(1000, 64), Disposition::Profile);
}

#[test]
fn event_without_room_is_counted() {
    Stall::matrix(seed(), |source, sink, seed| {
        let mut world = World::new(Stalls { source, sink }, seed);
        world.enable(2, 2, 2);
        // Nobody listens to owner 3; owner 2 has room for four.
        world.fail_send(3, 1);
        (0..6).for_each(|position| world.fail_send(2, position));
        world.run();
        assert_eq!(world.handshakes("send_event"), 7);
        assert_eq!(world.pulses.events_lost, 3);
        world.give_back(2, 2, 0);
        (6..9).for_each(|position| world.fail_send(2, position));
        world.run();
        assert_eq!(world.pulses.events_lost, 4);
        assert_eq!(world.pulses.produced.last(), Some(&(2, 6)));
        world.compare();
    });
}
