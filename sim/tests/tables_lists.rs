//! Segment lists that are long, moved while they are searched, or older than 2^16 indices.

mod tables_model;

use abi::command::*;
use abi::reason::CommandStatus;
use sim::stall::Stall;
use tables_model::bench::*;
use tables_model::{Command, Segment, SegmentAnswer};

const FLOW_ID: u64 = 5;

/// A flow with 512 segments of 100 bytes with a byte between them, from position 1,000 on.
fn long_list(tables: &mut Tables) {
    tables.execute(install(FLOW_ID, (1024, 9)));
    for piece in 0..32u16 {
        let batch: Vec<Command> = (16 * piece..16 * piece + 16)
            .map(|n| post(FLOW_ID, n, 1_000 + 101 * u32::from(n), 100))
            .collect();
        tables.send_commands(0, 0, &batch, false);
        assert_eq!(tables.confirmed(0, 0, 16), [CommandStatus::Ok; 16]);
    }
    tables.send_commands(0, 0, &[post(FLOW_ID, 512, 60_000, 1)], false);
    assert_eq!(tables.confirmed(0, 0, 1), [CommandStatus::ListFull]);
}

fn expected(position: u32) -> SegmentAnswer {
    let ahead = position.wrapping_sub(1_000);
    if (ahead as i32) < 0 {
        return SegmentAnswer::Missing;
    }
    let index = ahead / 101;
    if index >= 512 || ahead == 511 * 101 + 100 {
        return SegmentAnswer::Beyond;
    }
    if ahead % 101 == 100 {
        return SegmentAnswer::Missing;
    }
    SegmentAnswer::Found(
        index as u16,
        Segment {
            position: 1_000 + 101 * index,
            bytes: 100,
            region: 0,
            region_key: 0,
            offset: u64::from(index) << 20,
        },
    )
}

fn search_everywhere(tables: &mut Tables) {
    let positions: Vec<u32> = (0..512)
        .flat_map(|n| [0, 57, 99, 100].map(|at| 1_000 + 101 * n + at))
        .chain([0, 999, 60_000, 1_000_000])
        .collect();
    let requests: Vec<_> = positions
        .iter()
        .map(|position| segment_request(FLOW_ID as u16, false, 0, *position))
        .collect();
    for (reply, position) in tables.ask(Port::RxSegment, &requests).iter().zip(positions) {
        assert_eq!(
            segment_answer(reply),
            expected(position),
            "position {position}"
        );
    }
}

#[test]
fn long_list_is_searched_ten_rounds_deep() {
    let mut tables = Tables::new(Stall::None, Stall::None, 1);
    long_list(&mut tables);
    search_everywhere(&mut tables);
    let asked = &tables.pairs[Port::RxSegment as usize].asked.cycles;
    let each = (asked[2_000] - asked[0]) as f64 / 2_000.0;
    // Ten rounds of five cycles, five searches at a time.
    assert!(each <= 10.5, "{each} cycles for each search");
    tables.assert_clean();
}

#[test]
fn list_is_searched_while_it_moves() {
    let mut tables = Tables::new(Stall::None, Stall::None, 1);
    long_list(&mut tables);
    let places = [(2048, 9, CommandStatus::Ok), (1024, 10, CommandStatus::Ok)];
    let refused = [
        (3072, 8, CommandStatus::ListFull),
        (1025, 9, CommandStatus::BadRange),
        (3585, 9, CommandStatus::BadRange),
    ];
    for (base, bits, status) in [places[0], refused[0], places[1], refused[1], refused[2]] {
        let fields = [
            (FLOW, FLOW_ID),
            (GENERATION, 9),
            (LIST_BASE, base),
            (LIST_BITS, bits),
        ];
        tables.send_commands(0, 0, &[command(LIST_MOVE, &fields)], false);
        search_everywhere(&mut tables);
        assert_eq!(
            tables.confirmed(0, 0, 1),
            [status],
            "to {base}, {bits} bits"
        );
        search_everywhere(&mut tables);
    }
    tables.assert_clean();
}

#[test]
fn list_indices_pass_2_16() {
    let mut tables = Tables::new(Stall::None, Stall::None, 1);
    tables.execute(install(FLOW_ID, (40, 3)));
    let mut position = 1_000u32;
    let mut index = 0u16;
    for piece in 0..8_200u32 {
        let mut batch: Vec<Command> = (0..8u16)
            .map(|n| {
                post(
                    FLOW_ID,
                    index.wrapping_add(n),
                    position + 10 * u32::from(n),
                    10,
                )
            })
            .collect();
        position += 80;
        index = index.wrapping_add(8);
        let kept = if piece % 64 == 63 { 3 } else { 0 };
        batch.push(floor(
            FLOW_ID,
            position - 10 * kept,
            index.wrapping_sub(kept as u16),
        ));
        if kept > 0 {
            batch.push(floor(FLOW_ID, position, index));
        }
        let middle = batch.len() - 1;
        tables.send_commands(0, 0, &batch[..middle], false);
        assert_eq!(
            tables.confirmed(0, 0, middle),
            vec![CommandStatus::Ok; middle]
        );
        if kept > 0 {
            let request = segment_request(FLOW_ID as u16, false, 0, position - 15);
            let reply = tables.ask(Port::RxSegment, &[request]).remove(0);
            let SegmentAnswer::Found(at, segment) = segment_answer(&reply) else {
                panic!("index {index}: nothing found");
            };
            assert_eq!(
                (at, segment.position),
                (index.wrapping_sub(2), position - 20)
            );
        }
        tables.execute(batch[middle]);
    }
    assert!(index < 8_200, "the indices wrapped");
    tables.assert_clean();
}
