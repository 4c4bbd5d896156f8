//! The tables with a driver on every port: batches of commands in, statuses out, lookups, replies.

use std::collections::VecDeque;

use abi::command::*;
use abi::field::Field;
use abi::flow_key::{KEY_BYTES, SECRET_WORDS};
use abi::reason::CommandStatus;
use abi::registers::{HASH_SECRET, HASH_SECRET_STRIDE};
use sim::harness::agent::Agent;
use sim::harness::bench::Bench;
use sim::harness::monitor::StreamMonitor;
use sim::harness::payload::{bytes_of, field};
use sim::harness::sink::MessageSink;
use sim::harness::source::{MessageSource, Packet, PacketSource};
use sim::harness::stall::Stall;
use sim::switched::TextFault;
use stream::messages::*;
use tables::SmallTables;
use verilate::verilated::Model as Verilated;

use super::{Access, Command, Flow, Segment, SegmentAnswer};

/// Builds a command from its fields.
pub fn command(opcode: u8, fields: &[(Field, u64)]) -> Command {
    let mut entry = [0; 64];
    OPCODE.set(&mut entry, opcode.into());
    for (field, value) in fields {
        field.set(&mut entry, *value);
    }
    entry
}

/// Pulses into a port without `ready`, one a cycle.
pub struct Pulses {
    name: &'static str,
    queue: VecDeque<Vec<u8>>,
}

impl Pulses {
    pub fn new(name: &'static str) -> Pulses {
        Pulses { name, queue: VecDeque::new() }
    }

    pub fn push(&mut self, payload: Vec<u8>) {
        self.queue.push_back(payload);
    }
}

impl Agent for Pulses {
    fn sample(&mut self, _: &Verilated) {}

    fn drive(&mut self, model: &mut Verilated) {
        let pulse = self.queue.pop_front();
        let valid = model.port(&format!("{}$valid", self.name));
        model.set(valid, u64::from(pulse.is_some()));
        if let Some(pulse) = pulse {
            let payload = model.port(&format!("{}$payload", self.name));
            model.set_bytes(payload, &pulse);
        }
    }
}

/// Counts the pulses of a one-bit port.
pub struct Counter {
    name: &'static str,
    pub count: u64,
}

impl Agent for Counter {
    fn sample(&mut self, model: &Verilated) {
        self.count += model.get(model.port(self.name));
    }

    fn drive(&mut self, _: &mut Verilated) {}
}

/// The cycles in which a stream shook hands (a pulse: in which it was there).
pub struct Handshakes {
    name: &'static str,
    now: u64,
    pub cycles: Vec<u64>,
}

impl Handshakes {
    pub fn new(name: &'static str) -> Handshakes {
        Handshakes { name, now: 0, cycles: Vec::new() }
    }
}

impl Agent for Handshakes {
    fn sample(&mut self, model: &Verilated) {
        let high = |field: &str| {
            let port = model.find_port(&format!("{}${field}", self.name));
            port.is_none_or(|port| model.is_high(port))
        };
        if high("valid") && high("ready") {
            self.cycles.push(self.now);
        }
        self.now += 1;
    }

    fn drive(&mut self, _: &mut Verilated) {}
}

/// The last fence, right behind the tables: each confirmation has passed it a cycle after it came,
/// unless the fence is shut.
#[derive(Default)]
pub struct LastFence {
    pub is_shut: bool,
    waiting: u64,
}

impl Agent for LastFence {
    fn sample(&mut self, model: &Verilated) {
        let high = |port| model.is_high(model.port(port));
        self.waiting += u64::from(high("confirmation$valid") && high("confirmation$ready"));
    }

    fn drive(&mut self, model: &mut Verilated) {
        let passes = !self.is_shut && self.waiting > 0;
        self.waiting -= u64::from(passes);
        model.set(model.port("fence_passed"), u64::from(passes));
    }
}

/// A request port with its reply port.
pub struct Pair {
    pub request: MessageSource,
    pub reply: MessageSink,
    pub asked: Handshakes,
    pub answered: Handshakes,
    monitor: StreamMonitor,
}

impl Pair {
    fn new(bench: &Bench, names: [&'static str; 2], stalls: (Stall, Stall), seed: u64) -> Pair {
        let model = &bench.model;
        Pair {
            request: MessageSource::new(model, names[0], stalls.0, seed),
            reply: MessageSink::new(model, names[1], stalls.1, seed),
            asked: Handshakes::new(names[0]),
            answered: Handshakes::new(names[1]),
            monitor: StreamMonitor::new(model, names[1]),
        }
    }
}

/// The names of the request and reply ports, in the order of [`Port`].
const PAIRS: [[&str; 2]; 6] = [
    ["flow_lookup", "flow_reply"],
    ["send_flow_request", "send_flow_reply"],
    ["rx_segment_request", "rx_segment_reply"],
    ["tx_segment_request", "tx_segment_reply"],
    ["rx_region_request", "rx_region_reply"],
    ["tx_region_request", "tx_region_reply"],
];

/// A lookup port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Port {
    Flow,
    SendFlow,
    RxSegment,
    TxSegment,
    RxRegion,
    TxRegion,
}

/// The tables and what drives them.
pub struct Tables {
    pub bench: Bench,
    pub settings: Pulses,
    pub cursors: Pulses,
    pub commands: PacketSource,
    pub fetches: MessageSource,
    pub confirmations: MessageSink,
    pub last_fence: LastFence,
    pub pairs: Vec<Pair>,
    pub confirmed_at: Handshakes,
    pub cursors_at: Handshakes,
    pub done: Counter,
    pub failed: Counter,
    monitor: StreamMonitor,
}

impl Tables {
    pub fn new(source: Stall, sink: Stall, seed: u64) -> Tables {
        let bench = Bench::of_shared("tables", "", SmallTables::default).expect("builds");
        verilate::width::lint_width_warnings(bench.model.design().warnings()).expect("only casts");
        Tables::around(bench, source, sink, seed)
    }

    /// Small tables whose receive list is in the neighbour die.
    pub fn far(source: Stall, sink: Stall, seed: u64) -> Tables {
        let bench = Bench::of_shared("far_tables", "", SmallTables::far).expect("builds");
        verilate::width::lint_width_warnings(bench.model.design().warnings()).expect("only casts");
        Tables::around(bench, source, sink, seed)
    }

    /// Small tables but for 2^14 segment entries in each direction.
    pub fn wide(source: Stall, sink: Stall, seed: u64) -> Tables {
        let block = tables::Tables::<6, 5, 14, 6, 6, 2>::default;
        let bench = Bench::of_shared("wide_tables", "", block);
        Tables::around(bench.expect("builds"), source, sink, seed)
    }

    /// Small tables with one of the faults that are planted in their Verilog.
    pub fn with_fault(faults: &[TextFault], fault: TextFault) -> Tables {
        let block = SmallTables::default;
        let bench = Bench::with_fault("tables", "", block, faults, fault);
        Tables::around(bench.expect("it builds"), Stall::None, Stall::None, 1)
    }

    fn around(bench: Bench, source: Stall, sink: Stall, seed: u64) -> Tables {
        let model = &bench.model;
        let counter = |name| Counter { name, count: 0 };
        let mut tables = Tables {
            settings: Pulses::new("settings"),
            cursors: Pulses::new("cursor_write"),
            commands: PacketSource::new(model, "commands", source, seed ^ 11),
            fetches: MessageSource::new(model, "command_fetch", source, seed ^ 12),
            confirmations: MessageSink::new(model, "confirmation", sink, seed ^ 13),
            last_fence: LastFence::default(),
            pairs: (0..6)
                .map(|i| Pair::new(&bench, PAIRS[i], (source, sink), seed ^ (20 + i as u64)))
                .collect(),
            confirmed_at: Handshakes::new("confirmation"),
            cursors_at: Handshakes::new("cursor_write"),
            done: counter("command_done"),
            failed: counter("command_read_failed"),
            monitor: StreamMonitor::new(model, "confirmation"),
            bench,
        };
        tables.start_epoch(1);
        tables
    }

    pub fn cycle(&mut self) {
        let mut agents: Vec<&mut dyn Agent> = vec![
            &mut self.settings,
            &mut self.cursors,
            &mut self.commands,
            &mut self.fetches,
            &mut self.confirmations,
            &mut self.last_fence,
            &mut self.confirmed_at,
            &mut self.cursors_at,
            &mut self.done,
            &mut self.failed,
            &mut self.monitor,
        ];
        for pair in &mut self.pairs {
            agents.push(&mut pair.request);
            agents.push(&mut pair.reply);
            agents.push(&mut pair.asked);
            agents.push(&mut pair.answered);
            agents.push(&mut pair.monitor);
        }
        self.bench.cycle(&mut agents);
    }

    pub fn cycles(&mut self, count: u64) {
        (0..count).for_each(|_| self.cycle());
    }

    /// Runs until the tables are written, so that commands go on; the cycles it took.
    pub fn wait_for_tables(&mut self) -> u64 {
        let start = self.bench.now();
        while self.bench.get("busy") == 1 {
            self.cycle();
            assert!(self.bench.now() < start + 100_000, "the tables stay busy");
        }
        self.bench.now() - start
    }

    pub fn start_epoch(&mut self, epoch: u16) {
        self.bench.set("epoch", epoch.into());
        self.bench.set("reset", 1);
        self.cycles(2);
        self.bench.set("reset", 0);
    }

    pub fn write_secrets(&mut self, secrets: &[[u32; SECRET_WORDS]; 2]) {
        for (bank, words) in secrets.iter().enumerate() {
            for (at, word) in words.iter().enumerate() {
                let address = HASH_SECRET + bank as u32 * HASH_SECRET_STRIDE + 4 * at as u32;
                self.settings.push(bytes_of(RegisterWrite {
                    address: u64::from(address).into(),
                    data: u64::from(*word).into(),
                }));
            }
        }
        self.cycles(40);
    }

    /// Hands over one fetched piece of a command ring.
    pub fn send_commands(&mut self, owner: u8, index: u32, commands: &[Command], abort: bool) {
        self.fetches.push_struct(RingFetch {
            owner: u64::from(owner).into(),
            index: u64::from(index).into(),
        });
        self.commands.push(Packet { bytes: commands.concat(), abort, meta: Vec::new() });
    }

    /// Waits for the confirmations of a piece and gives their statuses.
    pub fn wait_for_statuses(&mut self, owner: u8, index: u32, count: usize) -> Vec<CommandStatus> {
        let limit = self.bench.now() + 100_000;
        while self.confirmations.messages.len() < count {
            self.cycle();
            assert!(self.bench.now() < limit, "confirmations do not come");
        }
        (0..count as u32)
            .map(|n| {
                let message = self.confirmations.messages.pop_front().unwrap();
                assert_eq!(field::<Confirmation>(&message, "owner"), u64::from(owner));
                let at = field::<Confirmation>(&message, "index");
                assert_eq!(at, u64::from(index.wrapping_add(n)));
                let code = field::<Confirmation>(&message, "status") as u8;
                CommandStatus::from_code(code).expect("a status")
            })
            .collect()
    }

    /// Carries out one command of owner 0 and expects `ok`.
    pub fn execute(&mut self, command: Command) {
        self.send_commands(0, 7, &[command], false);
        assert_eq!(self.wait_for_statuses(0, 7, 1), [CommandStatus::Ok]);
    }

    /// Requests on one port, all replies in order.
    pub fn ask(&mut self, port: Port, requests: &[Vec<u8>]) -> Vec<Vec<u8>> {
        for request in requests {
            self.pairs[port as usize].request.push(request.clone());
        }
        self.replies(port, requests.len())
    }

    /// Waits for the next replies of one port.
    pub fn replies(&mut self, port: Port, count: usize) -> Vec<Vec<u8>> {
        let limit = self.bench.now() + 600 * count as u64 + 2_000;
        while self.pairs[port as usize].reply.messages.len() < count {
            self.cycle();
            assert!(self.bench.now() < limit, "replies of {port:?} do not come");
        }
        self.pairs[port as usize].reply.messages.drain(..count).collect()
    }

    /// A flow's cursor as it was last written.
    pub fn cursor(&mut self, flow: u64) -> u32 {
        self.bench.set("cursor_flow", flow);
        self.cycles(3);
        self.bench.model.get(self.bench.model.port("cursor")) as u32
    }

    pub fn assert_clean(&self) {
        self.monitor.assert_clean();
        for pair in &self.pairs {
            pair.monitor.assert_clean();
            assert!(pair.reply.messages.is_empty(), "a reply too many");
        }
        assert!(self.confirmations.messages.is_empty());
    }
}

pub fn flow_request(key: &[u8; KEY_BYTES]) -> Vec<u8> {
    key.to_vec()
}

pub fn flow_answer(reply: &[u8]) -> Option<(u16, Flow)> {
    let word = |name| field::<FlowReply>(reply, name);
    (word("hit") == 1).then(|| {
        let flow = Flow {
            generation: word("generation") as u8,
            owner: word("owner") as u8,
            profile: word("profile") as u8,
            timestamp_check: word("timestamp_check") == 1,
            domain: word("domain") as u16,
            floor: word("floor") as u32,
            cursor: 0,
            ack_low: word("ack_low") as u32,
            ack_high: word("ack_high") as u32,
            timestamp_floor: word("timestamp_floor") as u32,
        };
        (word("flow") as u16, flow)
    })
}

/// Generation, owner, domain, send floor.
pub fn send_flow_answer(reply: &[u8]) -> Option<(u8, u8, u16, u32)> {
    let word = |name| field::<SendFlowReply>(reply, name);
    (word("hit") == 1).then(|| {
        (word("generation") as u8, word("owner") as u8, word("domain") as u16, word("floor") as u32)
    })
}

pub fn segment_request(flow: u16, by_index: bool, index: u16, position: u32) -> Vec<u8> {
    bytes_of(SegmentRequest {
        flow: u64::from(flow).into(),
        by_index,
        index: u64::from(index).into(),
        position: u64::from(position).into(),
    })
}

pub fn segment_answer(reply: &[u8]) -> SegmentAnswer {
    let word = |name| field::<SegmentReply>(reply, name);
    match (word("found"), word("beyond")) {
        (1, 0) => SegmentAnswer::Found(
            word("index") as u16,
            Segment {
                position: word("position") as u32,
                bytes: word("bytes") as u32,
                region: word("region") as u16,
                region_key: word("region_key") as u16,
                offset: word("offset"),
            },
        ),
        (0, 1) => SegmentAnswer::Beyond,
        (0, 0) => SegmentAnswer::Missing,
        both => panic!("found and beyond: {both:?}"),
    }
}

pub fn region_request(access: &Access) -> Vec<u8> {
    bytes_of(RegionRequest {
        region: u64::from(access.region).into(),
        region_key: u64::from(access.key).into(),
        domain: u64::from(access.domain).into(),
        write: access.write,
        offset: access.offset.into(),
        bytes: u64::from(access.bytes).into(),
    })
}

/// Address, bytes, memory.
pub fn region_answer(reply: &[u8]) -> Option<(u64, u32, u8)> {
    let word = |name| field::<RegionReply>(reply, name);
    (word("granted") == 1).then(|| (word("address"), word("bytes") as u32, word("memory") as u8))
}

/// flow_install, generation 9, receive floor 1,000, send list at its committed place.
pub fn install(flow: u64, rx: (u64, u64)) -> Command {
    let fields = [
        (FLOW, flow),
        (GENERATION, 9),
        (DOMAIN, 3),
        (INSTALL_FLOOR, 1_000),
        (INSTALL_SEND_FLOOR, 2_000),
        (RX_LIST_BASE, rx.0),
        (RX_LIST_BITS, rx.1),
        (TX_LIST_BASE, 8 * flow),
        (TX_LIST_BITS, 3),
    ];
    command(FLOW_INSTALL, &fields)
}

/// segment_post to the receive list.
pub fn post(flow: u64, index: u16, position: u32, bytes: u32) -> Command {
    let fields = [
        (FLOW, flow),
        (GENERATION, 9),
        (SEGMENT_INDEX, index.into()),
        (SEGMENT_POSITION, position.into()),
        (SEGMENT_BYTES, bytes.into()),
        (SEGMENT_OFFSET, u64::from(index) << 20),
    ];
    command(SEGMENT_POST, &fields)
}

/// list_move of the receive list.
pub fn list_move(flow: u64, base: u64, bits: u64) -> Command {
    let fields = [(FLOW, flow), (GENERATION, 9), (LIST_BASE, base), (LIST_BITS, bits)];
    command(LIST_MOVE, &fields)
}

/// floor_set.
pub fn floor(flow: u64, floor: u32, head: u16) -> Command {
    let fields = [(FLOW, flow), (GENERATION, 9), (FLOOR, floor.into()), (HEAD, head.into())];
    command(FLOOR_SET, &fields)
}
