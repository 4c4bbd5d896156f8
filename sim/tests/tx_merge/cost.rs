//! What a descriptor and a frame cost in cycles. Tables answer after 8 cycles, memory after 250.

use crate::records::{plain_memory, Record, World};
use crate::rig::{Rig, CALM};
use crate::world::Tables;

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
    // Name, descriptor, frames of it, most cycles for each frame.
    let cases = [
        ("raw frame of 60 bytes", Record::raw(&[1; 60]), 1.0, 8.0),
        ("64 bytes of payload", send(64, 1448), 1.0, 40.0),
        ("1,448 bytes of payload", send(1448, 1448), 1.0, 40.0),
        ("8,948 bytes of payload", send(8948, 8948), 1.0, 150.0),
        ("64 KiB in frames of 1,448", send(65_160, 1448), 45.0, 27.0),
        ("64 KiB in frames of 8,948", send(62_636, 8948), 7.0, 146.0),
        ("64 KiB in frames of 536", send(64_320, 536), 120.0, 20.0),
    ];
    for (name, record, frames, limit) in cases {
        let each = cycles_each(world.tables(), &record, 20, 200_000) / frames;
        println!("{name}: {each:.1} cycles a frame");
        assert!(each <= limit, "{name}: {each:.1} cycles, at most {limit}");
    }
}
