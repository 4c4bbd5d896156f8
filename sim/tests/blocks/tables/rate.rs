//! How many cycles the tables take, sustained: commands by opcode, searches by length of the list.
//!
//! Each test prints its table; the limits are what line rate needs (see the assertions).

use super::model::bench::*;
use super::model::Command;
use abi::command::*;
use abi::reason::CommandStatus;
use sim::harness::stall::Stall;

const FLOW_ID: u64 = 5;

fn flow(opcode: u8, fields: &[(abi::field::Field, u64)]) -> Command {
    command(opcode, &[&[(FLOW, FLOW_ID), (GENERATION, 9)], fields].concat())
}

/// Cycles for each command when `batches` pieces of 16 wait in the ring.
fn cycles_each(tables: &mut Tables, batch: impl Fn(u16) -> Vec<Command>, pieces: u16) -> f64 {
    let first = tables.confirmed_at.cycles.len();
    let mut count = 0;
    for piece in 0..pieces {
        let batch = batch(piece);
        tables.send_commands(0, count, &batch, false);
        count += batch.len() as u32;
    }
    let statuses = tables.wait_for_statuses(0, 0, count as usize);
    assert!(statuses.iter().all(|status| *status == CommandStatus::Ok));
    let at = &tables.confirmed_at.cycles[first..];
    (at[count as usize - 1] - at[0]) as f64 / f64::from(count - 1)
}

#[test]
fn commands_keep_rate_of_acks_posts() {
    let mut tables = Tables::new(Stall::None, Stall::None, 1);
    tables.execute(install(FLOW_ID, (1024, 10)));
    let post_at = |n: u16| post(FLOW_ID, n, 1_000 + 10 * u32::from(n), 10);
    let sixteen = |entry: Command| move |_: u16| vec![entry; 16];
    let mut rows = vec![
        ("nop", cycles_each(&mut tables, sixteen(command(NOP, &[])), 8)),
        (
            "segment_post",
            cycles_each(&mut tables, |p| (16 * p..16 * p + 16).map(post_at).collect(), 32),
        ),
        (
            "floor_set",
            cycles_each(
                &mut tables,
                |p| (1..=16).map(|n| floor(FLOW_ID, 1_000 + u32::from(16 * p + n), 0)).collect(),
                8,
            ),
        ),
    ];
    // As a busy receiver has it: for each segment one floor and one post of another flow.
    tables.execute(install(FLOW_ID + 1, (2048, 10)));
    let mixed = |p: u16| {
        (0..8u16)
            .flat_map(|n| {
                let n = 8 * p + n;
                [
                    floor(FLOW_ID, 2_000 + u32::from(n), 0),
                    post(FLOW_ID + 1, n, 1_000 + 10 * u32::from(n), 10),
                ]
            })
            .collect()
    };
    rows.push(("floor_set + segment_post", cycles_each(&mut tables, mixed, 16)));
    let truncate = flow(SEGMENT_TRUNCATE, &[(SEGMENT_INDEX, 3), (SEGMENT_BYTES, 7)]);
    let region = [(REGION_PAGE_BITS, 12), (REGION_BYTES, 4_096)];
    for (name, entry) in [
        ("flow_advance", flow(FLOW_ADVANCE, &[(FLOOR, 2_200), (SEND_FLOOR, 2_000)])),
        ("send_floor_set", flow(SEND_FLOOR_SET, &[(FLOOR, 2_000)])),
        ("segment_truncate", truncate),
        ("key_set", command(KEY_SET, &[])),
        ("flow_install", install(FLOW_ID + 2, (3072, 3))),
        ("region_install", command(REGION_INSTALL, &region)),
        ("region_remove", command(REGION_REMOVE, &[])),
        ("page_set", command(PAGE_SET, &[])),
    ] {
        rows.push((name, cycles_each(&mut tables, sixteen(entry), 8)));
    }
    println!("| command | cycles each, pieces of 16 |\n|---|---|");
    for (name, cycles) in &rows {
        println!("| `{name}` | {cycles:.1} |");
    }
    for (name, cycles) in rows {
        // 93 Gb/s each way in segments of 4 KiB, two posts each 88 cycles, a floor for every second
        // packet of 1,448 bytes each way: 18 cycles a command.
        let limit = match name {
            "segment_truncate" => 25.0,
            "region_remove" => 14.0,
            _ => 12.0,
        };
        assert!(cycles <= limit, "{name}: {cycles} cycles");
    }
    tables.assert_clean();
}

#[test]
fn list_moves_few_cycles_per_entry() {
    let mut tables = Tables::new(Stall::None, Stall::None, 1);
    tables.execute(install(FLOW_ID, (1024, 10)));
    for piece in 0..64u16 {
        let batch: Vec<Command> = (16 * piece..16 * piece + 16)
            .map(|n| post(FLOW_ID, n, 1_000 + 10 * u32::from(n), 10))
            .collect();
        tables.send_commands(0, 0, &batch, false);
        tables.wait_for_statuses(0, 0, 16);
    }
    for (search, base) in [(false, 2048), (true, 1024)] {
        let started = tables.bench.now();
        tables.send_commands(0, 0, &[list_move(FLOW_ID, base, 10)], false);
        if search {
            let requests: Vec<_> = (0..1_500)
                .map(|n| segment_request(FLOW_ID as u16, false, 0, 1_000 + n * 7))
                .collect();
            tables.ask(Port::RxSegment, &requests);
        }
        assert_eq!(tables.wait_for_statuses(0, 0, 1), [CommandStatus::Ok]);
        let cycles = *tables.confirmed_at.cycles.last().expect("confirmed") - started;
        println!("list_move of 1,024 entries, searches beside it: {search}: {cycles} cycles");
        assert!(cycles <= if search { 50_000 } else { 1_100 });
    }
}

/// Cycles for each search of a list of `count` segments, by the place of what is sought.
fn search_cycles(count: u16) -> [f64; 3] {
    let mut tables = Tables::new(Stall::None, Stall::None, 1);
    tables.execute(install(FLOW_ID, (1024, 10)));
    for n in 0..count {
        tables.execute(post(FLOW_ID, n, 1_000 + 10 * u32::from(n), 10));
    }
    let places: [&dyn Fn(u32) -> u32; 3] =
        [&|_| 0, &|n| (n * 37 + n * n * 11) % u32::from(count), &|_| u32::from(count) - 1];
    places.map(|place| {
        let requests: Vec<_> = (0..600)
            .map(|n| segment_request(FLOW_ID as u16, false, 0, 1_003 + 10 * place(n)))
            .collect();
        let first = tables.pairs[Port::RxSegment as usize].answered.cycles.len();
        tables.ask(Port::RxSegment, &requests);
        let answered = &tables.pairs[Port::RxSegment as usize].answered.cycles[first..];
        (answered[599] - answered[100]) as f64 / 499.0
    })
}

#[test]
fn searches_keep_up_with_packets() {
    println!("| segments | first | anywhere | last |\n|---|---|---|---|");
    for (count, limits) in [
        (1, [2.0, 2.0, 2.0]),
        (2, [2.3, 2.3, 2.3]),
        (4, [2.5, 2.8, 3.1]),
        (8, [3.1, 3.1, 4.1]),
        (64, [7.0, 7.0, 7.1]),
        (1_000, [10.1, 10.1, 10.1]),
    ] {
        let cycles = search_cycles(count);
        let [first, anywhere, last] = cycles;
        println!("| {count} | {first:.2} | {anywhere:.2} | {last:.2} |");
        for (cycles, limit) in cycles.into_iter().zip(limits) {
            assert!(cycles <= limit, "{count} segments: {cycles} cycles");
        }
    }
}
