//! The send path against the golden model: frames, errors, fence, and what it costs in cycles.

mod cost;
mod errors;
mod exact;
mod faults;
mod fence;
mod peers;
mod random;
mod records;
mod rig;
mod world;

use abi::config::FRAME_PAYLOAD_BYTES_MAX;
use std::collections::BTreeSet;

use abi::reason::SendError;
use abi::send_descriptor as at;
use rand::rngs::SmallRng;
use rand::SeedableRng;
use records::{plain_memory, Record, World};
use rig::{Rig, CALM};
use seed::seed;
use sim::harness::stall::Stall;
use world::Tables;

#[test]
fn raw_frame_leaves_unchanged_but_padded() {
    let mut rig = Rig::new(Tables::default(), plain_memory(), 20, CALM, 1);
    for bytes in [14, 59, 60, 61, 64, 96] {
        let header: Vec<u8> = (0..bytes).map(|i| i as u8 ^ 0x80).collect();
        rig.post(&Record::raw(&header).bytes(), 3);
    }
    for bytes in [14, 97, 128, 192, 193, 224] {
        let header: Vec<u8> = (0..bytes).map(|i| i as u8 ^ 0x41).collect();
        let mut record = Record::raw(&header);
        record.set(at::TWO_SLOTS, 1);
        rig.post(&record.bytes(), 3);
    }
    let errors = rig.judge(2_000);
    assert!(errors.iter().all(Option::is_none));
}

#[test]
fn one_frame_is_merged_and_checksummed() {
    let world = World::one_segment(1 << 16, 0);
    let mut rig = Rig::new(world.tables(), plain_memory(), 20, CALM, 1);
    for payload in [1, 63, 64, 65, 100, 1448] {
        rig.post(&world.tcp_send(payload, 1448).bytes(), 1);
    }
    let errors = rig.judge(5_000);
    assert!(errors.iter().all(Option::is_none), "{errors:?}");
}

#[test]
fn random_descriptors_agree_with_model() {
    let seen = Stall::matrix(seed(), |source, sink, seed| {
        let mut seen = BTreeSet::new();
        let mut random = SmallRng::seed_from_u64(seed);
        for world in 0..2 {
            let tables = random::tables(&mut random);
            let memory = random::memory(&mut random, &tables);
            let mut rig = Rig::new(tables.clone(), memory, 20 * world, (source, sink), seed);
            rig.set_table_latency(4 * world);
            for _ in 0..60 {
                let (record, owner) = random::descriptor(&mut random, &tables);
                rig.post(&record, owner);
            }
            // Small ones back to back: raw frames, headers alone, a few bytes, failures among them.
            for _ in 0..100 {
                let (record, owner) = random::small_descriptor(&mut random, &tables);
                rig.post(&record, owner);
            }
            seen.extend(rig.judge(400_000).into_iter().flatten());
        }
        seen
    });
    let seen: BTreeSet<SendError> = seen.into_iter().flatten().collect();
    // The model has no wire.
    let all = SendError::ALL.iter().copied();
    let all: BTreeSet<SendError> = all.filter(|it| *it != SendError::LinkDown).collect();
    assert_eq!(seen, all, "errors that came up");
}

#[test]
fn large_send_becomes_numbered_frames() {
    let world = World::one_segment(1 << 18, 4095);
    let mut rig = Rig::new(world.tables(), plain_memory(), 100, CALM, 1);
    rig.post(&world.tcp_send(65_535, 1448).bytes(), 1);
    rig.run_until_done(1, 20_000);
    let frames = &rig.frames.packets;
    assert_eq!(frames.len(), 46);
    for (number, frame) in frames.iter().enumerate() {
        let bytes = &frame.bytes;
        let payload = if number == 45 { 375 } else { 1448 };
        let flags = 0x10 | u8::from(number == 0) << 7 | if number == 45 { 0x09 } else { 0 };
        assert_eq!(bytes.len(), 54 + payload);
        assert_eq!(bytes[16..18], (40 + payload as u16).to_be_bytes(), "length");
        assert_eq!(bytes[18..20], (0x1234 + number as u16).to_be_bytes(), "id");
        let sequence = 1_000 + 1448 * number as u32;
        assert_eq!(bytes[38..42], sequence.to_be_bytes(), "sequence");
        assert_eq!(bytes[47], flags, "flags of frame {number}");
    }
    assert_eq!(rig.judge(20_000), [None]);
}

#[test]
fn largest_send_in_the_smallest_pages() {
    let world = World::one_segment(1 << 18, 4095);
    let mut rig = Rig::new(world.tables(), plain_memory(), 100, CALM, 1);
    rig.post(&world.tcp_send((1 << 18) - 1, FRAME_PAYLOAD_BYTES_MAX as u32).bytes(), 1);
    assert_eq!(rig.judge(20_000), [None]);
    // 262,143 bytes from the last one of a page on.
    assert_eq!(rig.reads.jobs_seen, 513);
}
