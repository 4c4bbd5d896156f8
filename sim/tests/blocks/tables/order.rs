//! What the tables promise about time: latencies, what a lookup sees of updates around it, epochs,
//! failed reads.

mod epochs;

use super::model::bench::*;
use super::model::{Access, Command, SegmentAnswer};
use abi::command::*;
use abi::flow_key::{hash, KEY_BYTES, SECRET_WORDS};
use abi::reason::CommandStatus;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use seed::seed;
use sim::harness::bench::Bench;
use sim::harness::payload::{bytes_of, field};
use sim::harness::sink::MessageSink;
use sim::harness::source::{MessageSource, PacketSource};
use sim::harness::stall::Stall;
use stream::messages::{
    Confirmation, CursorWrite, FlowReply, RingFetch, SendFlowReply, CONFIRMATIONS_MAX,
};
use tables::flow_table::toeplitz_fill::REWRITE_CYCLES;
use tables::DefaultTables;
use verilate::width::lint_width_warnings;

const FLOW_ID: u64 = 5;
const KEY: [u8; KEY_BYTES] = [0; KEY_BYTES];

/// The secret is zero in these tests: every key falls into bucket 0.
fn key_set(flow: u64) -> Command {
    let mut entry = command(KEY_SET, &[(FLOW, flow)]);
    entry[KEY_AT_BYTES..].copy_from_slice(&KEY);
    entry
}

fn region(bytes: u64) -> [Command; 2] {
    let fields = [
        (REGION, 4),
        (REGION_KEY, 7),
        (REGION_DOMAIN, 3),
        (REGION_WRITE, 1),
        (REGION_PAGE_BITS, 12),
        (REGION_FIRST_PAGE, 2),
        (REGION_BYTES, bytes),
    ];
    let page = [(PAGE, 2), (PAGE_ADDRESS, 0x7_0000_0000)];
    [command(REGION_INSTALL, &fields), command(PAGE_SET, &page)]
}

const ACCESS: Access = Access { region: 4, key: 7, domain: 3, write: true, offset: 16, bytes: 64 };

fn install_tables() -> Tables {
    let mut tables = Tables::new(Stall::None, Stall::None, 1);
    tables.execute(install(FLOW_ID, (40, 3)));
    tables.execute(key_set(FLOW_ID));
    tables.execute(post(FLOW_ID, 0, 1_000, 500));
    for entry in region(4096) {
        tables.execute(entry);
    }
    tables
}

fn requests() -> [(Port, Vec<u8>); 4] {
    [
        (Port::Flow, flow_request(&KEY)),
        (Port::SendFlow, FLOW_ID.to_le_bytes().to_vec()),
        (Port::RxSegment, segment_request(FLOW_ID as u16, false, 0, 1_499)),
        (Port::RxRegion, region_request(&ACCESS)),
    ]
}

fn hits(port: Port, reply: &[u8]) -> bool {
    match port {
        Port::Flow => flow_answer(reply).is_some(),
        Port::SendFlow => send_flow_answer(reply).is_some(),
        Port::RxSegment | Port::TxSegment => {
            matches!(segment_answer(reply), SegmentAnswer::Found(..))
        }
        Port::RxRegion | Port::TxRegion => region_answer(reply).is_some(),
    }
}

#[test]
fn earliest_replies_match_the_heads() {
    let mut tables = install_tables();
    for ((port, request), cycles) in requests().into_iter().zip([8, 3, 8, 8]) {
        let reply = tables.ask(port, &[request]).remove(0);
        assert!(hits(port, &reply), "{port:?}");
        let pair = &tables.pairs[port as usize];
        let took = pair.answered.cycles.last().unwrap() - pair.asked.cycles.last().unwrap();
        assert_eq!(took, cycles, "{port:?}");
    }
    tables.assert_clean();
}

#[test]
fn lookups_and_accesses_run_every_cycle() {
    let mut tables = install_tables();
    for (port, request) in requests() {
        if matches!(port, Port::Flow | Port::RxRegion) {
            tables.ask(port, &vec![request; 200]);
            let asked = &tables.pairs[port as usize].asked.cycles;
            assert_eq!(asked[199] - asked[0], 199, "{port:?}");
        }
    }
    tables.assert_clean();
}

#[test]
fn region_ports_alternate_cycles() {
    let mut tables = install_tables();
    for port in [Port::RxRegion, Port::TxRegion] {
        for _ in 0..200 {
            tables.pairs[port as usize].request.push(region_request(&ACCESS));
        }
    }
    tables.replies(Port::RxRegion, 200);
    tables.replies(Port::TxRegion, 200);
    for port in [Port::RxRegion, Port::TxRegion] {
        let asked = &tables.pairs[port as usize].asked.cycles;
        assert!(asked[199] - asked[0] <= 2 * 200, "{port:?} had its turns");
    }
    tables.assert_clean();
}

/// How many of the sorted `events` lie before `cycle`.
fn before(events: &[u64], cycle: u64) -> usize {
    events.partition_point(|event| *event < cycle)
}

#[test]
fn streaming_lookups_see_floors_once_confirmed() {
    let mut tables = install_tables();
    let first = tables.confirmed_at.cycles.len();
    let batch: Vec<Command> = (1..=16).map(|n| floor(FLOW_ID, 1_000 + n, 0)).collect();
    tables.send_commands(0, 7, &batch, false);
    let replies = tables.ask(Port::Flow, &vec![flow_request(&KEY); 600]);
    assert_eq!(tables.wait_for_statuses(0, 7, 16), [CommandStatus::Ok; 16]);
    let asked = &tables.pairs[Port::Flow as usize].asked.cycles;
    assert_eq!(asked[599] - asked[0], 599, "no update stalls a lookup");
    let mut last = 0;
    for (reply, cycle) in replies.iter().zip(asked) {
        let floor = field::<FlowReply>(reply, "floor") as usize;
        let confirmed = before(&tables.confirmed_at.cycles[first..], *cycle);
        assert!(floor >= 1_000 + confirmed, "{floor} after {confirmed} confirmations");
        assert!(floor >= last);
        last = floor;
    }
    assert_eq!(last, 1_016);
    tables.assert_clean();
}

#[test]
fn cursor_shows_pulses_two_cycles_old() {
    let mut tables = install_tables();
    for n in 1..=400u64 {
        tables
            .cursors
            .push(bytes_of(CursorWrite { flow: FLOW_ID.into(), cursor: (1_000 + n).into() }));
    }
    tables.bench.set("cursor_flow", FLOW_ID);
    tables.cycles(5);
    for _ in 0..300 {
        // The pulses of this cycle and of the one before are not in sight yet.
        let pulses = tables.cursors_at.cycles.len() as u64;
        let shown = tables.bench.model.get(tables.bench.model.port("cursor"));
        assert_eq!(shown, 1_000 + pulses - 2);
        tables.cycle();
    }
    tables.assert_clean();
}

#[test]
fn cursor_pulses_during_floors_are_kept() {
    let mut random = SmallRng::seed_from_u64(seed());
    let mut tables = install_tables();
    let (mut cursor, mut low) = (1_000u32, 1_000u32);
    for _ in 0..200 {
        low += random.random_range(0..300);
        tables.send_commands(0, 7, &[floor(FLOW_ID, low, 0)], false);
        let wait = random.random_range(0..24);
        tables.cycles(wait);
        // As a packet would that was looked up before: it never moves the cursor back.
        cursor += random.random_range(1..200);
        tables
            .cursors
            .push(bytes_of(CursorWrite { flow: FLOW_ID.into(), cursor: u64::from(cursor).into() }));
        assert_eq!(tables.wait_for_statuses(0, 7, 1), [CommandStatus::Ok]);
        tables.cycles(2);
        // A stored cursor below the floor counts as the floor.
        let seen = tables.cursor(FLOW_ID).max(low);
        assert_eq!(seen, cursor.max(low));
        cursor = seen;
    }
    tables.assert_clean();
}

#[test]
fn floors_await_pulse_gap_and_take_effect() {
    let mut random = SmallRng::seed_from_u64(seed());
    let mut tables = install_tables();
    for low in 1_001..1_101u64 {
        // The floor lifts the cursor, so it needs the cursor's memory, which pulses keep busy.
        tables.send_commands(0, 7, &[floor(FLOW_ID, low as u32, 0)], false);
        for _ in 0..random.random_range(20..40) {
            tables
                .cursors
                .push(bytes_of(CursorWrite { flow: (FLOW_ID + 1).into(), cursor: low.into() }));
        }
        assert_eq!(tables.wait_for_statuses(0, 7, 1), [CommandStatus::Ok]);
        let reply = tables.ask(Port::Flow, &[flow_request(&KEY)]).remove(0);
        assert_eq!(field::<FlowReply>(&reply, "floor"), low);
        assert_eq!(u64::from(tables.cursor(FLOW_ID)), low);
    }
    tables.assert_clean();
}

#[test]
fn every_bit_of_a_key_counts() {
    let mut tables = install_tables();
    let flipped: Vec<Vec<u8>> = (0..8 * KEY_BYTES)
        .map(|bit| {
            let mut key = KEY;
            key[bit / 8] ^= 1 << (bit % 8);
            flow_request(&key)
        })
        .collect();
    for (bit, reply) in tables.ask(Port::Flow, &flipped).iter().enumerate() {
        assert_eq!(flow_answer(reply), None, "bit {bit}");
    }
    let reply = tables.ask(Port::Flow, &[flow_request(&KEY)]).remove(0);
    assert!(flow_answer(&reply).is_some());
}

#[test]
fn streaming_accesses_see_confirmed_region_removal() {
    let mut tables = install_tables();
    let remove = |key| command(REGION_REMOVE, &[(REGION, 4), (REGION_KEY, key)]);
    let first = tables.confirmed_at.cycles.len();
    tables.send_commands(0, 7, &[remove(6), remove(7)], false);
    let replies = tables.ask(Port::RxRegion, &vec![region_request(&ACCESS); 120]);
    assert_eq!(tables.wait_for_statuses(0, 7, 2), [CommandStatus::Ok; 2]);
    let asked = &tables.pairs[Port::RxRegion as usize].asked.cycles;
    for (reply, cycle) in replies.iter().zip(asked) {
        let confirmed = before(&tables.confirmed_at.cycles[first..], *cycle);
        if confirmed == 0 {
            assert!(region_answer(reply).is_some(), "another key removes nothing");
        }
        assert!(confirmed < 2 || region_answer(reply).is_none(), "cycle {cycle}");
    }
    assert!(region_answer(replies.last().unwrap()).is_none());
    tables.assert_clean();
}

#[test]
fn far_floor_move_takes_cursor_along() {
    let mut tables = install_tables();
    let mut low = 1_000u32;
    for _ in 0..7 {
        low = low.wrapping_add((1 << 30) - 1);
        tables.execute(floor(FLOW_ID, low, 0));
        assert_eq!(tables.cursor(FLOW_ID), low);
    }
}

#[test]
fn aborted_piece_is_neither_run_nor_confirmed() {
    let mut tables = install_tables();
    tables.cycles(3);
    let done = tables.done.count;
    let batch: Vec<Command> = (1..=16).map(|n| floor(FLOW_ID, 1_000 + n, 0)).collect();
    tables.send_commands(0, 0, &batch, true);
    let long: Vec<Command> = (1..=17).map(|n| floor(FLOW_ID, 1_000 + n, 0)).collect();
    tables.send_commands(0, 0, &long, false);
    tables.cycles(500);
    assert_eq!((tables.failed.count, tables.done.count), (2, done));
    let reply = tables.ask(Port::Flow, &[flow_request(&KEY)]).remove(0);
    assert_eq!(field::<FlowReply>(&reply, "floor"), 1_000);
    tables.execute(floor(FLOW_ID, 1_001, 0));
    tables.assert_clean();
}

#[test]
fn send_flow_beyond_table_misses() {
    let mut tables = install_tables();
    let aliases: Vec<Vec<u8>> =
        (1..1024u64).map(|n| (FLOW_ID + 64 * n).to_le_bytes().to_vec()).collect();
    for reply in tables.ask(Port::SendFlow, &aliases) {
        assert_eq!(field::<SendFlowReply>(&reply, "hit"), 0);
    }
}

/// Commands wait for fences that do not pass: their confirmations have places behind the tables.
#[test]
fn commands_taken_never_exceed_confirmation_places() {
    let mut tables = Tables::new(Stall::None, Stall::None, 1);
    tables.last_fence.is_shut = true;
    let pieces = CONFIRMATIONS_MAX as u32 / 16 + 2;
    for piece in 0..pieces {
        tables.send_commands(0, 16 * piece, &[command(NOP, &[]); 16], false);
    }
    tables.wait_for_tables();
    tables.cycles(10_000);
    assert_eq!(tables.confirmations.messages.len(), CONFIRMATIONS_MAX);
    tables.last_fence.is_shut = false;
    let count = 16 * pieces as usize;
    assert_eq!(tables.wait_for_statuses(0, 0, count), vec![CommandStatus::Ok; count]);
    // An epoch later nothing is under way, whatever was.
    tables.last_fence.is_shut = true;
    tables.send_commands(0, 0, &[command(NOP, &[]); 16], false);
    assert_eq!(tables.wait_for_statuses(0, 0, 16), [CommandStatus::Ok; 16]);
    tables.start_epoch(2);
    tables.last_fence = LastFence::default();
    tables.last_fence.is_shut = true;
    for piece in 0..pieces {
        tables.send_commands(0, 16 * piece, &[command(NOP, &[]); 16], false);
    }
    tables.cycles(10_000);
    assert_eq!(tables.confirmations.messages.len(), CONFIRMATIONS_MAX);
}

#[test]
fn commands_wait_for_lookups_with_new_secret() {
    let mut tables = Tables::new(Stall::None, Stall::None, 1);
    // At power-up the tables of the secrets 0 are written first.
    let cycles = tables.wait_for_tables();
    assert!(cycles.abs_diff(REWRITE_CYCLES) <= 2, "{cycles} cycles");
    let secrets = [[0x9e37_79b9; SECRET_WORDS], [0x0bad_cafe; SECRET_WORDS]];
    tables.write_secrets(&secrets);
    assert_eq!(tables.bench.get("busy"), 1);
    let written = tables.bench.now();

    let key: [u8; KEY_BYTES] = std::array::from_fn(|byte| 3 * byte as u8 + 1);
    let bucket = hash(&key, &secrets[0]) & ((1 << abi::config::SMALL.bucket_bits) - 1);
    let mut set = command(KEY_SET, &[(FLOW, FLOW_ID), (KEY_BUCKET, u64::from(bucket))]);
    set[KEY_AT_BYTES..].copy_from_slice(&key);
    let commands = [install(FLOW_ID, (40, 3)), set];
    tables.send_commands(0, 0, &commands, false);
    let statuses = tables.wait_for_statuses(0, 0, commands.len());
    assert!(statuses.iter().all(|status| *status == CommandStatus::Ok));
    // The writes themselves took up to 40 cycles.
    assert!(tables.bench.now() - written >= REWRITE_CYCLES - 40);
    assert_eq!(tables.bench.get("busy"), 0);
    let reply = tables.ask(Port::Flow, &[flow_request(&key)]).remove(0);
    assert!(hits(Port::Flow, &reply));
    tables.assert_clean();
}

#[test]
fn default_sizes_reach_their_last_entries() {
    let mut block = DefaultTables::default();
    let mut bench = Bench::of(&mut block, "default_tables").expect("builds");
    lint_width_warnings(bench.model.design().warnings()).expect("only casts");
    bench.set("epoch", 1);
    let mut fetches = MessageSource::new(&bench.model, "command_fetch", Stall::None, 1);
    let mut commands = PacketSource::new(&bench.model, "commands", Stall::None, 1);
    let mut confirmations = MessageSink::new(&bench.model, "confirmation", Stall::None, 1);
    let sizes = abi::config::DEFAULT;
    let last = |bits: usize| (1u64 << bits) - 1;
    let list_base = (1 << sizes.segment_bits) - 8;
    let key = |bucket| command(KEY_SET, &[(FLOW, last(sizes.flow_bits)), (KEY_BUCKET, bucket)]);
    let install = |base| {
        let fields = [(FLOW, last(sizes.flow_bits)), (RX_LIST_BASE, base), (RX_LIST_BITS, 3)];
        command(FLOW_INSTALL, &fields)
    };
    let remove = |flow| command(FLOW_REMOVE, &[(FLOW, flow)]);
    let region = |region| command(REGION_REMOVE, &[(REGION, region)]);
    let page = |page| command(PAGE_SET, &[(PAGE, page)]);
    let expected = [
        (install(list_base), CommandStatus::Ok),
        (install(list_base + 1), CommandStatus::BadRange),
        (key(last(sizes.bucket_bits)), CommandStatus::Ok),
        (key(last(sizes.bucket_bits) + 1), CommandStatus::BadIndex),
        (remove(last(sizes.flow_bits)), CommandStatus::Ok),
        (remove(last(sizes.flow_bits) + 1), CommandStatus::BadIndex),
        (region(last(sizes.region_bits)), CommandStatus::Ok),
        (page(last(sizes.page_bits)), CommandStatus::Ok),
    ];
    fetches.push_struct(RingFetch::default());
    let entries: Vec<Command> = expected.iter().map(|(entry, _)| *entry).collect();
    commands.push(entries.concat());
    // At power-up the hash tables are written before the first command.
    let mut left = 600;
    while left > 0 {
        left -= u64::from(bench.get("busy") == 0);
        bench.cycle(&mut [&mut fetches, &mut commands, &mut confirmations]);
    }
    assert_eq!(confirmations.messages.len(), expected.len());
    for ((_, status), message) in expected.iter().zip(&confirmations.messages) {
        let code = field::<Confirmation>(message, "status") as u8;
        assert_eq!(CommandStatus::from_code(code), Some(*status));
    }
}
