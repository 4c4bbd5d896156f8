//! Segment lists that are long, moved while they are searched, or older than 2^16 indices.

use super::model::bench::*;
use super::model::{Command, Segment, SegmentAnswer};
use abi::reason::CommandStatus;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use seed::seed;
use sim::harness::stall::Stall;

const FLOW_ID: u64 = 5;

/// A flow with 512 segments of 100 bytes with a byte between them, from position 1,000 on.
fn long_list(tables: &mut Tables) {
    tables.execute(install(FLOW_ID, (1024, 9)));
    for piece in 0..32u16 {
        let batch: Vec<Command> = (16 * piece..16 * piece + 16)
            .map(|n| post(FLOW_ID, n, 1_000 + 101 * u32::from(n), 100))
            .collect();
        tables.send_commands(0, 0, &batch, false);
        assert_eq!(tables.wait_for_statuses(0, 0, 16), [CommandStatus::Ok; 16]);
    }
    tables.send_commands(0, 0, &[post(FLOW_ID, 512, 60_000, 1)], false);
    assert_eq!(tables.wait_for_statuses(0, 0, 1), [CommandStatus::ListFull]);
}

fn expected_answer(position: u32) -> SegmentAnswer {
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
        assert_eq!(segment_answer(reply), expected_answer(position), "position {position}");
    }
}

#[test]
fn long_list_takes_ten_search_rounds() {
    let mut tables = Tables::new(Stall::None, Stall::None, 1);
    long_list(&mut tables);
    search_everywhere(&mut tables);
    let asked = &tables.pairs[Port::RxSegment as usize].asked.cycles;
    let each = (asked[2_000] - asked[0]) as f64 / 2_000.0;
    // Ten rounds of four cycles, four searches at a time.
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
        tables.send_commands(0, 0, &[list_move(FLOW_ID, base, bits)], false);
        search_everywhere(&mut tables);
        assert_eq!(tables.wait_for_statuses(0, 0, 1), [status], "to {base}, {bits} bits");
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
            .map(|n| post(FLOW_ID, index.wrapping_add(n), position + 10 * u32::from(n), 10))
            .collect();
        position += 80;
        index = index.wrapping_add(8);
        let kept = if piece % 64 == 63 { 3 } else { 0 };
        batch.push(floor(FLOW_ID, position - 10 * kept, index.wrapping_sub(kept as u16)));
        if kept > 0 {
            batch.push(floor(FLOW_ID, position, index));
        }
        let middle = batch.len() - 1;
        tables.send_commands(0, 0, &batch[..middle], false);
        assert_eq!(tables.wait_for_statuses(0, 0, middle), vec![CommandStatus::Ok; middle]);
        if kept > 0 {
            let request = segment_request(FLOW_ID as u16, false, 0, position - 15);
            let reply = tables.ask(Port::RxSegment, &[request]).remove(0);
            let SegmentAnswer::Found(at, segment) = segment_answer(&reply) else {
                panic!("index {index}: nothing found");
            };
            assert_eq!((at, segment.position), (index.wrapping_sub(2), position - 20));
        }
        tables.execute(batch[middle]);
    }
    assert!(index < 8_200, "the indices wrapped");
    tables.assert_clean();
}

/// A list that a flow fills, reads, pops and moves while it wraps: positions of 10 bytes each.
struct Ring {
    tables: Tables,
    head: u16,
    tail: u16,
    /// Position of the head's first byte.
    low: u32,
}

impl Ring {
    fn position_of(&self, index: u16) -> u32 {
        let ahead = index.wrapping_sub(self.head);
        self.low.wrapping_add(10 * u32::from(ahead))
    }

    fn resident_count(&self) -> u16 {
        self.tail.wrapping_sub(self.head)
    }

    /// Hands over a piece of a ring, and questions all over the list while it is carried out.
    fn race(&mut self, batch: &[Command], random: &mut SmallRng) -> Vec<CommandStatus> {
        self.tables.send_commands(0, 0, batch, false);
        let at: Vec<u32> = (0..12)
            .map(|_| random.random_range(0..10 * u32::from(self.resident_count()) + 40))
            .map(|ahead| self.low.wrapping_add(ahead))
            .collect();
        let requests: Vec<_> = at
            .iter()
            .map(|position| segment_request(FLOW_ID as u16, false, 0, *position))
            .collect();
        for (reply, position) in self.tables.ask(Port::RxSegment, &requests).iter().zip(at) {
            if let SegmentAnswer::Found(_, segment) = segment_answer(reply) {
                let ahead = position.wrapping_sub(segment.position);
                assert!(ahead < segment.bytes, "position {position}: {segment:?}");
            }
        }
        self.tables.wait_for_statuses(0, 0, batch.len())
    }

    fn post(&mut self, count: u16, random: &mut SmallRng) {
        let posts = |n: u16| {
            let index = self.tail.wrapping_add(n);
            post(FLOW_ID, index, self.position_of(index), 10)
        };
        let batch: Vec<Command> = (0..count).map(posts).collect();
        let ok = vec![CommandStatus::Ok; batch.len()];
        assert_eq!(self.race(&batch, random), ok);
        self.tail = self.tail.wrapping_add(count);
    }

    fn pop(&mut self, count: u16, random: &mut SmallRng) {
        let head = self.head.wrapping_add(count);
        let low = self.position_of(head);
        let batch = [floor(FLOW_ID, low, head)];
        assert_eq!(self.race(&batch, random), [CommandStatus::Ok]);
        (self.head, self.low) = (head, low);
    }

    fn move_to(&mut self, base: u64, bits: u64, status: CommandStatus, random: &mut SmallRng) {
        let batch = [list_move(FLOW_ID, base, bits)];
        assert_eq!(self.race(&batch, random), [status], "to {base}, {bits} bits");
    }

    /// Every answer is exact when nothing changes: all entries, both edges, the end.
    fn check(&mut self) {
        let end = 10 * u32::from(self.resident_count());
        let aheads: Vec<u32> = (0..end).step_by(37).chain([end - 1, end]).collect();
        let requests: Vec<_> = aheads
            .iter()
            .map(|ahead| {
                let position = self.low.wrapping_add(*ahead);
                segment_request(FLOW_ID as u16, false, 0, position)
            })
            .collect();
        let replies = self.tables.ask(Port::RxSegment, &requests);
        for (reply, ahead) in replies.iter().zip(aheads) {
            let index = self.head.wrapping_add((ahead / 10) as u16);
            match segment_answer(reply) {
                SegmentAnswer::Found(at, segment) => {
                    let expected = (index, self.position_of(index));
                    assert_eq!((at, segment.position), expected, "{ahead} bytes on");
                }
                // Beyond the resident list: `ahead_of_window`.
                answer => assert!(ahead == end && answer == SegmentAnswer::Beyond, "{ahead}"),
            }
        }
    }
}

/// Borrows `1 << bits` entries, wraps them twice, and returns them.
fn borrow(bits: u64, rounds: u32) {
    let mut random = SmallRng::seed_from_u64(seed());
    let mut tables = Tables::wide(Stall::None, Stall::None, 1);
    tables.execute(install(FLOW_ID, (40, 3)));
    let mut ring = Ring { tables, head: 0, tail: 0, low: 1_000 };
    let capacity = 1u16 << bits;
    ring.post(8, &mut random);
    let full = [post(FLOW_ID, 8, 1_080, 10)];
    assert_eq!(ring.race(&full, &mut random), [CommandStatus::ListFull]);
    ring.move_to(4_096, bits, CommandStatus::Ok, &mut random);
    let mut posted = u32::from(ring.tail);
    while posted < rounds * u32::from(capacity) {
        while ring.resident_count() + 16 <= capacity {
            ring.post(16, &mut random);
            posted += 16;
        }
        ring.check();
        let other = [8_192, 4_096][usize::from(random.random::<bool>())];
        let overlaps = ring.race(&[list_move(FLOW_ID, other, bits)], &mut random);
        assert!(matches!(overlaps[0], CommandStatus::Ok | CommandStatus::BadRange));
        ring.check();
        // More than a committed list's eight stay: a floor never passes the tail.
        let gone = random.random_range(capacity / 2..ring.resident_count() - 8);
        ring.pop(gone, &mut random);
        ring.check();
    }
    ring.move_to(40, 3, CommandStatus::ListFull, &mut random);
    let rest = ring.resident_count() - 8;
    ring.pop(rest, &mut random);
    ring.move_to(40, 3, CommandStatus::Ok, &mut random);
    ring.check();
    ring.tables.assert_clean();
}

#[test]
fn flow_borrows_1024_wrapping_entries() {
    borrow(10, 3);
}

#[test]
fn flow_borrows_4096_wrapping_entries() {
    borrow(12, 3);
}

#[test]
fn borrowed_list_never_reaches_another_flow() {
    let mut tables = Tables::wide(Stall::None, Stall::None, 1);
    tables.execute(install(FLOW_ID, (40, 3)));
    tables.execute(install(FLOW_ID + 1, (48, 3)));
    for n in 0..8u16 {
        tables.execute(post(FLOW_ID, n, 1_000 + 10 * u32::from(n), 10));
        tables.execute(post(FLOW_ID + 1, n, 1_000 + 20 * u32::from(n), 20));
    }
    tables.execute(list_move(FLOW_ID, 1_024, 10));
    for n in 8..1_024u16 {
        tables.execute(post(FLOW_ID, n, 1_000 + 10 * u32::from(n), 10));
    }
    let requests: Vec<_> =
        (0..8).map(|n| segment_request(FLOW_ID as u16 + 1, false, 0, 1_000 + 20 * n)).collect();
    for (n, reply) in tables.ask(Port::RxSegment, &requests).iter().enumerate() {
        let SegmentAnswer::Found(index, segment) = segment_answer(reply) else {
            panic!("segment {n} of the neighbour is gone");
        };
        assert_eq!((usize::from(index), segment.bytes), (n, 20));
    }
}
