//! Every send error, one cause at a time, and what is sent in spite of it.

use abi::field::Field;
use abi::reason::SendError;
use abi::send_descriptor as at;

use crate::tx_merge::records::{plain_memory, Pattern, Record, World};
use crate::tx_merge::rig::{Rig, CALM};

/// Sends one record of a changed world and compares the error that the model and the block agree
/// on.
fn expect(world: &World, memory: Pattern, record: &Record, owner: u8, error: Option<SendError>) {
    let mut rig = Rig::new(world.tables(), memory, 10, CALM, 1);
    rig.post(&record.bytes(), owner);
    assert_eq!(rig.judge(5_000), [error]);
}

#[test]
fn range_below_the_floor_is_stale() {
    let mut world = World::one_segment(8192, 0);
    world.flow.floor = 1_000 + 500;
    let record = world.tcp_send(500, 1448);
    expect(&world, plain_memory(), &record, 1, Some(SendError::StaleSend));
}

#[test]
fn header_without_payload_is_never_stale() {
    let mut world = World::one_segment(8192, 0);
    world.flow.floor = 1_000 + 500;
    let record = world.tcp_send(0, 1448);
    expect(&world, plain_memory(), &record, 1, None);
}

#[test]
fn range_across_floor_starts_there() {
    let mut world = World::one_segment(8192, 0);
    world.flow.floor = 1_000 + 100;
    let mut rig = Rig::new(world.tables(), plain_memory(), 10, CALM, 1);
    rig.post(&world.tcp_send(500, 1448).bytes(), 1);
    rig.run_until_done(1, 5_000);
    let frame = &rig.frames.packets[0].bytes;
    assert_eq!(frame.len(), 54 + 400);
    assert_eq!(frame[16..18], 440u16.to_be_bytes(), "IPv4 total length");
    assert_eq!(frame[38..42], 1_100u32.to_be_bytes(), "sequence number");
    assert_eq!(rig.judge(5_000), [None]);
}

#[test]
fn payload_without_tcp_room_is_malformed() {
    let world = World::one_segment(8192, 0);
    let mut record = world.tcp_send(500, 1448);
    record.set(at::IP_CHECKSUM, 0);
    record.set(at::L4_CHECKSUM, 0);
    record.set(at::L4_OFFSET, 36);
    let error = Some(SendError::SendMalformed);
    expect(&world, plain_memory(), &record, 1, error);
}

#[test]
fn position_outside_list_has_no_segment() {
    let world = World::one_segment(4096, 0);
    let error = Some(SendError::SendNoSegment);
    expect(&world, plain_memory(), &world.tcp_send(4097, 1448), 1, error);
    let mut record = world.tcp_send(10, 1448);
    record.set(at::POSITION, 1_000 + 4096);
    expect(&world, plain_memory(), &record, 1, error);
    let mut record = world.tcp_send(10, 1448);
    record.set(at::SEGMENT_INDEX, 0x1234);
    expect(&world, plain_memory(), &record, 1, error);
}

#[test]
fn hole_between_segments_has_no_segment() {
    let mut world = World::crumbs(4);
    world.flow.segments[2].position += 1;
    let record = world.tcp_send(4, 1448);
    expect(&world, plain_memory(), &record, 1, Some(SendError::SendNoSegment));
}

#[test]
fn index_below_head_starts_there() {
    let world = World::one_segment(4096, 7);
    let mut record = world.tcp_send(200, 1448);
    record.set(at::SEGMENT_INDEX, u64::from(world.flow.head - 3));
    expect(&world, plain_memory(), &record, 1, None);
}

#[test]
fn region_refuses_key_domain_right_bounds() {
    type Change = fn(&mut World);
    let changes: [Change; 4] = [
        |world| world.flow.segments[0].region_key ^= 1,
        |world| world.flow.domain ^= 1,
        |world| world.regions[0].read = false,
        |world| world.regions[0].bytes = 499,
    ];
    for change in changes {
        let mut world = World::one_segment(8192, 0);
        change(&mut world);
        let record = world.tcp_send(500, 1448);
        expect(&world, plain_memory(), &record, 1, Some(SendError::SendRegionRefused));
    }
}

#[test]
fn refused_last_piece_reads_nothing() {
    let mut world = World::crumbs(4);
    world.flow.segments[3].region_key ^= 1;
    let mut rig = Rig::new(world.tables(), plain_memory(), 10, CALM, 1);
    rig.post(&world.tcp_send(4, 1448).bytes(), 1);
    assert_eq!(rig.judge(5_000), [Some(SendError::SendRegionRefused)]);
    assert_eq!(rig.reads.jobs_seen, 0);
}

#[test]
fn wrong_generation_or_owner_is_bad_flow() {
    let world = World::one_segment(8192, 0);
    let error = Some(SendError::SendBadFlow);
    let mut record = world.tcp_send(500, 1448);
    expect(&world, plain_memory(), &record, 2, error);
    record.set(at::GENERATION, 8);
    expect(&world, plain_memory(), &record, 1, error);
    let mut record = world.tcp_send(500, 1448);
    record.set(at::FLOW, 1);
    expect(&world, plain_memory(), &record, 1, error);
}

#[test]
fn contradictions_are_malformed() {
    let world = World::one_segment(16_384, 0);
    let cases: [(Field, u64); 12] = [
        (at::KIND, 0),
        (at::KIND, 3),
        (at::HEADER_BYTES, 13),
        (at::HEADER_BYTES, 97),
        (at::L3_OFFSET, 54),
        (at::L4_OFFSET, 54),
        (at::MSS_BYTES, 0),
        (at::MSS_BYTES, 9_163),
        (at::L4_OFFSET, 33),
        (at::L4_OFFSET, 35),
        (at::L4_OFFSET, 36),
        (at::IPV6, 1),
    ];
    for (field, value) in cases {
        let mut record = world.tcp_send(10_000, 1448);
        record.set(field, value);
        expect(&world, plain_memory(), &record, 1, Some(SendError::SendMalformed));
    }
    for (mss, error) in [(9_156, None), (9_157, Some(SendError::SendMalformed))] {
        let mut record = world.tcp_send(mss, mss);
        record.set(at::HEADER_BYTES, 60);
        expect(&world, plain_memory(), &record, 1, error);
    }
}

#[test]
fn pieces_may_fill_all_room() {
    for (pieces, error) in [(128, None), (129, Some(SendError::SendMalformed))] {
        let world = World::crumbs(pieces);
        let mut rig = Rig::new(world.tables(), plain_memory(), 10, CALM, 1);
        rig.post(&world.tcp_send(pieces, 1448).bytes(), 1);
        rig.post(&world.tcp_send(1, 1448).bytes(), 1);
        assert_eq!(rig.judge(20_000), [error, None]);
    }
}

#[test]
fn failed_read_loses_only_its_frames() {
    let world = World::one_segment(1 << 16, 0);
    let address = world.regions[0].address(12_817);
    let memory = Pattern { bad: vec![(address, address + 1)] };
    let mut rig = Rig::new(world.tables(), memory, 10, CALM, 1);
    rig.post(&world.tcp_send(40_000, 1000).bytes(), 1);
    rig.post(&world.tcp_send(1_000, 1000).bytes(), 1);
    rig.run_until_done(2, 20_000);
    // The read holds bytes 12,800 to 13,311: frames 12 and 13 of 40.
    assert_eq!(rig.frames.packets.len(), 40 - 2 + 1);
    assert_eq!(rig.judge(20_000), [Some(SendError::ReadFailed), None]);
}

#[test]
fn unread_descriptor_is_reported_and_skipped() {
    let world = World::one_segment(4096, 0);
    let mut rig = Rig::new(world.tables(), plain_memory(), 10, CALM, 1);
    rig.post_unread(&world.tcp_send(100, 1448).bytes(), 1);
    rig.run_until_done(1, 1_000);
    assert_eq!(rig.errors.seen, [[SendError::ReadFailed as u8]]);
    assert_eq!(rig.events.messages.len(), 1);
    rig.errors.seen.clear();
    rig.events.messages.clear();
    rig.taken.seen.clear();
    rig.post(&world.tcp_send(100, 1448).bytes(), 1);
    assert_eq!(rig.judge(1_000), [None]);
}

#[test]
fn dead_wire_fails_only_well_formed() {
    let world = World::one_segment(8192, 0);
    let mut rig = Rig::new(world.tables(), plain_memory(), 10, CALM, 1);
    let mut malformed = world.tcp_send(500, 1448);
    malformed.set(at::KIND, 3);
    rig.bench.set("sends_fail", 1);
    rig.post(&world.tcp_send(500, 1448).bytes(), 1);
    rig.post(&malformed.bytes(), 1);
    rig.post(&world.tcp_send(0, 1448).bytes(), 1);
    rig.run_until_done(3, 5_000);
    let link_down = SendError::LinkDown as u8;
    let seen: Vec<u8> = rig.errors.seen.iter().map(|code| code[0]).collect();
    assert_eq!(seen, [link_down, SendError::SendMalformed as u8, link_down]);
    assert_eq!(rig.events.messages.len(), 3, "an event for each");
    assert!(rig.frames.packets.is_empty());

    rig.bench.set("sends_fail", 0);
    rig.post(&world.tcp_send(500, 1448).bytes(), 1);
    rig.run_until_done(4, 5_000);
    assert_eq!(rig.frames.packets.len(), 1);
}
