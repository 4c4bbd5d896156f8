//! What a descriptor and a frame cost in cycles. Tables answer after 8 cycles, memory after 250.

use abi::send_descriptor as at;

use crate::tx_merge::records::{plain_memory, Record, World};
use crate::tx_merge::rig::{Rig, CALM};
use crate::tx_merge::world::{Segment, Tables};

const TABLE_CYCLES: u64 = 8;
const READ_CYCLES: u64 = 250;

/// Cycles for each of `count` equal descriptors in steady state.
fn cycles_each(tables: Tables, record: &Record, count: u64, cycles_max: u64) -> f64 {
    let mut rig = Rig::new(tables, plain_memory(), READ_CYCLES, CALM, 1);
    rig.set_table_latency(TABLE_CYCLES);
    for _ in 0..2 * count {
        rig.post(&record.bytes(), 1);
    }
    while rig.done.seen.len() < count as usize {
        rig.cycle();
    }
    let start = rig.bench.now();
    while rig.done.seen.len() < 2 * count as usize {
        rig.cycle();
        assert!(rig.bench.now() < cycles_max);
    }
    let each = (rig.bench.now() - start) as f64 / count as f64;
    rig.judge(cycles_max);
    each
}

#[test]
fn cycles_of_descriptors_and_frames() {
    let world = World::one_segment(1 << 18, 0);
    let send = |payload, mss| world.tcp_send(payload, mss);
    let mut checked = Record::raw(&world.tcp_send(0, 1448).header());
    checked.set(at::IP_CHECKSUM, 1);
    checked.set(at::L4_CHECKSUM, 1);
    checked.set(at::L3_OFFSET, 14);
    checked.set(at::L4_OFFSET, 34);
    // Name, descriptor, how many of it, frames of it, most cycles for each frame.
    let cases = [
        ("raw frame of 60 bytes", Record::raw(&[1; 60]), 200, 1.0, 2.2),
        ("raw frame with checksums", checked, 200, 1.0, 2.2),
        ("no payload", send(0, 1448), 200, 1.0, 2.2),
        ("64 bytes of payload", send(64, 1448), 200, 1.0, 4.0),
        ("1,446 bytes of payload", send(1446, 1448), 100, 1.0, 25.5),
        ("8,946 bytes of payload", send(8946, 8948), 20, 1.0, 144.0),
        ("64 KiB in frames of 1,448", send(65_160, 1448), 20, 45.0, 25.5),
        ("64 KiB in frames of 8,948", send(62_636, 8948), 20, 7.0, 144.0),
        ("64 KiB in frames of 536", send(64_320, 536), 20, 120.0, 12.0),
    ];
    for (name, record, count, frames, limit) in cases {
        let each = cycles_each(world.tables(), &record, count, 200_000) / frames;
        println!("{name}: {each:.1} cycles a frame");
        assert!(each <= limit, "{name}: {each:.1} cycles, at most {limit}");
    }
}

/// A small descriptor between large ones must not let the reads run dry while it is looked up.
#[test]
fn small_send_between_large_leaves_no_gap() {
    let world = World::one_segment(1 << 18, 0);
    let mut rig = Rig::new(world.tables(), plain_memory(), READ_CYCLES, CALM, 1);
    rig.set_table_latency(TABLE_CYCLES);
    const PAIRS: usize = 8;
    for _ in 0..PAIRS {
        rig.post(&world.tcp_send(45 * 1448, 1448).bytes(), 1);
        rig.post(&world.tcp_send(1448, 1448).bytes(), 1);
    }
    let run_until = |rig: &mut Rig<_>, count: usize| {
        while rig.done.seen.len() < count {
            rig.cycle();
            assert!(rig.bench.now() < 40_000);
        }
        rig.bench.now()
    };
    let start = run_until(&mut rig, 2);
    let end = run_until(&mut rig, 2 * PAIRS);
    let frames = 46 * (PAIRS - 1);
    let each = (end - start) as f64 / frames as f64;
    rig.judge(40_000);
    assert!(each < 25.5, "{each:.1} cycles a frame");
}

#[test]
fn small_segments_do_not_delay_wire() {
    // 1,446 bytes over three list entries each.
    let mut world = World::one_segment(1 << 18, 0);
    let whole = world.flow.segments[0].clone();
    world.flow.segments = (0..400u32)
        .map(|i| Segment {
            position: whole.position + 500 * i,
            offset: u64::from(500 * i),
            bytes: 500,
            ..whole.clone()
        })
        .collect();
    let each = cycles_each(world.tables(), &world.tcp_send(1446, 1448), 100, 200_000);
    println!("three segments a frame: {each:.1} cycles a frame");
    assert!(each <= 60.0, "{each:.1} cycles");
}
