//! The tables against their model: random commands, then random questions on every port at once.
//!
//! ```text
//!  Traffic ──► commands ──► tables ──► statuses, replies ═══ Model
//! ```

use std::collections::BTreeMap;

use super::model::bench::*;
use super::model::traffic::{random_key, Traffic, DRAWN};
use super::model::{
    list_of, lookup, segment_at, segment_by_index, segments_of, translate, Access, Command, List,
    Model, SegmentAnswer,
};
use abi::config::SMALL;
use abi::flow_key::{Secret, SECRET_WORDS};
use abi::reason::CommandStatus;
use rand::Rng;
use seed::seed;
use sim::coverage::Coverage;
use sim::harness::stall::Stall;

use sim::harness::payload::bytes_of;
use stream::messages::CursorWrite;

/// Whether the segments of a list span half of all positions, gaps included: then those have no
/// order. Software keeps a flow within 2^30 of its floor; random commands do not.
fn spans_half(list: &List) -> bool {
    let segments = segments_of(list);
    let steps = segments.windows(2).map(|pair| pair[1].position.wrapping_sub(pair[0].position));
    let last = segments.last().map_or(0, |last| last.bytes.into());
    steps.map(u64::from).sum::<u64>() + last >= 1 << 31
}

struct Test {
    tables: Tables,
    model: Model,
    traffic: Traffic,
    index: u32,
    /// How often each kind of answer came: a test that never hits proves nothing.
    seen: BTreeMap<&'static str, usize>,
}

impl Test {
    fn new(mut tables: Tables, seed: u64) -> Test {
        let mut traffic = Traffic::new(seed);
        let secrets: [[u32; SECRET_WORDS]; 2] = traffic.random.random();
        tables.write_secrets(&secrets);
        let mut model = Model::new(SMALL);
        model.secrets = secrets.map(Secret::new);
        Test { tables, model, traffic, index: u32::MAX - 50, seen: BTreeMap::new() }
    }

    fn count(&mut self, kind: &'static str) {
        *self.seen.entry(kind).or_default() += 1;
    }

    fn send(&mut self, owner: u8, batch: &[Command]) -> Vec<CommandStatus> {
        self.tables.send_commands(owner, self.index, batch, false);
        let statuses = self.tables.wait_for_statuses(owner, self.index, batch.len());
        self.index = self.index.wrapping_add(batch.len() as u32);
        statuses
    }

    fn commands(&mut self) -> Vec<CommandStatus> {
        let owner = match self.traffic.random.random_range(0..6) {
            0 => self.traffic.random.random_range(1..4),
            _ => 0,
        };
        let count = self.traffic.random.random_range(1..=16);
        let mut batch = Vec::new();
        let mut expected = Vec::new();
        for _ in 0..count {
            let command = self.traffic.command(&self.model);
            expected.push(self.model.apply(owner, &command));
            batch.push(command);
        }
        let statuses = self.send(owner, &batch);
        for (n, status) in statuses.iter().enumerate() {
            assert_eq!(*status, expected[n], "owner {owner}: {:02x?}", batch[n]);
            self.count(status.name());
        }
        statuses
    }

    fn move_cursors(&mut self) {
        for _ in 0..4 {
            let id = self.traffic.flow(&self.model);
            let Some(flow) = self.model.flow_mut(id) else {
                continue;
            };
            let move_by = self.traffic.random.random_range(0..9_000u32);
            let cursor = flow.floor.wrapping_add(move_by).wrapping_sub(2_000);
            // A cursor behind the floor counts as the floor.
            flow.cursor = flow.floor.wrapping_add(move_by.saturating_sub(2_000));
            self.tables.cursors.push(bytes_of(CursorWrite {
                flow: u64::from(id).into(),
                cursor: u64::from(cursor).into(),
            }));
        }
        self.tables.cycles(6);
    }

    fn questions(&mut self) {
        let count = 24;
        let random_keys: Vec<_> = (0..count)
            .map(|_| {
                let at = self.traffic.random.random_range(0..100);
                let known = self.traffic.keys.get(at).copied();
                known.unwrap_or_else(|| random_key(&mut self.traffic.random))
            })
            .collect();
        let flows: Vec<u16> = (0..count).map(|_| self.traffic.flow(&self.model)).collect();
        let segments: [Vec<(u16, bool, u16, u32)>; 2] = [false, true].map(|tx| {
            (0..count)
                .map(|_| {
                    let flow = self.traffic.flow(&self.model);
                    let head = list_of(&self.model, tx, flow).head;
                    let near = self.traffic.random.random_range(0..12u16);
                    let index = head.wrapping_add(near).wrapping_sub(3);
                    let position = self.traffic.position(tx, flow, &self.model);
                    (flow, self.traffic.random.random(), index, position)
                })
                .collect()
        });
        let accesses: [Vec<Access>; 2] =
            [(); 2].map(|()| (0..count).map(|_| self.traffic.access(&self.model)).collect());

        let pairs = &mut self.tables.pairs;
        for n in 0..count {
            pairs[Port::Flow as usize].request.push(flow_request(&random_keys[n]));
            pairs[Port::SendFlow as usize].request.push_u64(flows[n].into());
            for tx in 0..2 {
                let (flow, by_index, index, position) = segments[tx][n];
                let request = segment_request(flow, by_index, index, position);
                pairs[Port::RxSegment as usize + tx].request.push(request);
                let request = region_request(&accesses[tx][n]);
                pairs[Port::RxRegion as usize + tx].request.push(request);
            }
        }
        self.judge(&random_keys, &flows, &segments, &accesses);
    }

    fn judge(
        &mut self,
        keys: &[[u8; 48]],
        flows: &[u16],
        segments: &[Vec<(u16, bool, u16, u32)>; 2],
        accesses: &[Vec<Access>; 2],
    ) {
        let count = keys.len();
        let replies = self.tables.replies(Port::Flow, count);
        for (key, reply) in keys.iter().zip(&replies) {
            let mut expected = lookup(&self.model, key);
            if let Some((id, flow)) = &mut expected {
                let stored = self.tables.cursor(u64::from(*id));
                let below = (stored.wrapping_sub(flow.floor) as i32) < 0;
                let cursor = if below { flow.floor } else { stored };
                assert_eq!(cursor, flow.cursor, "cursor of flow {id}");
                flow.cursor = 0;
            }
            assert_eq!(flow_answer(reply), expected, "key {key:02x?}");
            self.count(if expected.is_some() { "hit" } else { "no flow" });
        }
        let replies = self.tables.replies(Port::SendFlow, count);
        for (flow, reply) in flows.iter().zip(&replies) {
            let expected = self.model.flow(*flow);
            let expected = expected.map(|f| (f.generation, f.owner, f.domain, f.send_floor));
            assert_eq!(send_flow_answer(reply), expected, "flow {flow}");
            self.count(if expected.is_some() { "send flow" } else { "no send flow" });
        }
        for (tx, port) in [(false, Port::RxSegment), (true, Port::TxSegment)] {
            let replies = self.tables.replies(port, count);
            for (request, reply) in segments[usize::from(tx)].iter().zip(&replies) {
                let (flow, by_index, index, position) = *request;
                let Some(state) = self.model.flow(flow) else {
                    continue;
                };
                let list = &state.lists[usize::from(tx)];
                if !by_index && spans_half(list) {
                    continue;
                }
                let expected = if by_index {
                    segment_by_index(list, index)
                } else {
                    segment_at(list, position)
                };
                let found = segment_answer(reply);
                assert_eq!(found, expected, "tx {tx}: {request:?}, {:?}", segments_of(list));
                self.count(match expected {
                    SegmentAnswer::Found(..) => "found",
                    SegmentAnswer::Beyond => "beyond",
                    SegmentAnswer::Missing => "missing",
                });
            }
        }
        for (tx, port) in [(0, Port::RxRegion), (1, Port::TxRegion)] {
            let replies = self.tables.replies(port, count);
            for (access, reply) in accesses[tx].iter().zip(&replies) {
                let expected = translate(&self.model, access);
                assert_eq!(region_answer(reply), expected, "{access:?}");
                self.count(match expected {
                    Some((_, bytes, _)) if bytes == access.bytes => "granted",
                    Some(_) => "page end",
                    None => "refused",
                });
            }
        }
    }
}

#[test]
fn random_commands_pass_under_all_stalls() {
    commands_then_questions(Tables::new);
}

/// The same where the receive list is in the neighbour die: two cycles each way.
#[test]
fn list_in_neighbour_die_answers_same() {
    commands_then_questions(Tables::far);
}

fn commands_then_questions(make: impl Fn(Stall, Stall, u64) -> Tables + Sync) {
    let answers = Stall::matrix(seed(), |source, sink, seed| {
        let mut test = Test::new(make(source, sink, seed), seed);
        let mut statuses = Vec::new();
        for round in 0..60 {
            statuses.extend(test.commands());
            test.move_cursors();
            if round % 2 == 1 {
                test.questions();
            }
        }
        let done = test.tables.done.count;
        assert_eq!(done, statuses.len() as u64, "one pulse a command");
        assert_eq!(test.tables.failed.count, 0);
        test.tables.assert_clean();
        (test.seen, test.traffic.drawn)
    });
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let mut drawn = Coverage::default();
    for (answers, of_one) in answers {
        drawn.add(&of_one);
        for (kind, count) in answers {
            *seen.entry(kind).or_default() += count;
        }
    }
    drawn.check("the commands", &DRAWN);
    println!("{seen:?}");
    assert_eq!(seen.len(), 7 + 2 + 2 + 3 + 3, "every kind of answer came");
    assert!(seen.values().all(|count| *count >= 5));
}
