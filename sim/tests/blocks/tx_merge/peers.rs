//! The neighbours of the send path in a test: tables, memory reads, pulse watchers.
//!
//! ```text
//!   flow_request ──> Flows ──> flow_reply      segment_*, region_* alike
//!   read_job ──> Reads ──> read_data           taken, error_count ──> Pulses
//! ```

use std::collections::VecDeque;
use std::rc::Rc;

use abi::config::SEND_READ_BYTES_MAX;
use rust_hdl_core::prelude::Synth;
use sim::harness::agent::Agent;
use sim::harness::payload::field;
use sim::harness::sink::MessageSink;
use sim::harness::source::{MessageSource, Packet, PacketSource};
use sim::harness::stall::Stall;
use stream::messages::{
    ReadJob, RegionReply, RegionRequest, SegmentReply, SegmentRequest, SendFlowReply,
};
use verilate::verilated::{Model, PortId};

use golden::tables::{Segment, Tables};

use crate::tx_merge::records::Memory;

/// The tables that all look-ups of a test see.
pub type SharedTables = Rc<Tables>;

type Answer = Box<dyn Fn(&[u8]) -> Vec<u8>>;

/// Answers each request of one stream on another.
pub struct Responder {
    request: MessageSink,
    reply: MessageSource,
    answer: Answer,
    waiting: VecDeque<(u64, Vec<u8>)>,
    now: u64,
    /// Cycles from a request to its answer, beside the handshakes.
    pub latency_cycles: u64,
    /// Requests so far.
    pub requests: u64,
}

impl Responder {
    fn new(model: &Model, name: &str, stall: Stall, seed: u64, answer: Answer) -> Responder {
        Responder {
            request: MessageSink::new(model, &format!("{name}_request"), stall, seed),
            reply: MessageSource::new(model, &format!("{name}_reply"), stall, seed ^ 0x5555),
            answer,
            waiting: VecDeque::new(),
            now: 0,
            latency_cycles: 0,
            requests: 0,
        }
    }

    /// Flow state by id.
    pub fn flows(model: &Model, tables: SharedTables, stall: Stall, seed: u64) -> Responder {
        let answer = move |request: &[u8]| {
            let id = u16::from_le_bytes([request[0], request[1]]);
            let reply = match tables.flow(id) {
                None => SendFlowReply::default(),
                Some(flow) => SendFlowReply {
                    hit: true,
                    generation: u64::from(flow.generation).into(),
                    owner: u64::from(flow.owner).into(),
                    domain: u64::from(flow.domain).into(),
                    floor: u64::from(flow.send_floor).into(),
                },
            };
            sim::harness::payload::bytes_of(reply)
        };
        Responder::new(model, "flow", stall, seed, Box::new(answer))
    }

    /// List entries by index or position.
    pub fn segments(model: &Model, tables: SharedTables, stall: Stall, seed: u64) -> Responder {
        let answer = move |request: &[u8]| {
            let get = |name| field::<SegmentRequest>(request, name);
            let flow = tables.flow(get("flow") as u16);
            let list = &flow.expect("only of flows found").lists[1];
            let index = match get("by_index") {
                1 => Some(later(get("index") as u16, list.head)),
                _ => list.find(get("position") as u32).ok(),
            };
            let entry = index.and_then(|index| Some((index, list.at(index)?)));
            let reply = match entry {
                None => SegmentReply { beyond: true, ..SegmentReply::default() },
                Some((index, segment)) => SegmentReply {
                    found: true,
                    beyond: false,
                    index: u64::from(index).into(),
                    position: u64::from(segment.position).into(),
                    bytes: u64::from(segment.bytes).into(),
                    region: u64::from(segment.region).into(),
                    region_key: u64::from(segment.region_key).into(),
                    offset: segment.offset.into(),
                },
            };
            sim::harness::payload::bytes_of(reply)
        };
        Responder::new(model, "segment", stall, seed, Box::new(answer))
    }

    /// Grants.
    pub fn regions(model: &Model, tables: SharedTables, stall: Stall, seed: u64) -> Responder {
        let answer = move |request: &[u8]| {
            let get = |name| field::<RegionRequest>(request, name);
            assert_eq!(get("write"), 0, "the send path reads");
            let place = Segment {
                region: get("region") as u16,
                region_key: get("region_key") as u16,
                offset: get("offset"),
                ..Segment::default()
            };
            let granted = tables.translate(&place, 0, get("bytes"), get("domain") as u16, false);
            let reply = match granted {
                None => RegionReply::default(),
                Some((address, bytes, memory)) => RegionReply {
                    granted: true,
                    address: address.into(),
                    bytes: bytes.into(),
                    memory: u64::from(memory).into(),
                },
            };
            sim::harness::payload::bytes_of(reply)
        };
        Responder::new(model, "region", stall, seed, Box::new(answer))
    }
}

/// The later of two list indices.
fn later(index: u16, head: u16) -> u16 {
    if (index.wrapping_sub(head) as i16) < 0 {
        head
    } else {
        index
    }
}

impl Agent for Responder {
    fn sample(&mut self, model: &Model) {
        self.request.sample(model);
        self.reply.sample(model);
        while let Some(request) = self.request.messages.pop_front() {
            self.requests += 1;
            let due = self.now + self.latency_cycles;
            self.waiting.push_back((due, (self.answer)(&request)));
        }
        self.now += 1;
        while self.waiting.front().is_some_and(|(due, _)| *due < self.now) {
            let (_, reply) = self.waiting.pop_front().expect("there is one");
            self.reply.push(reply);
        }
    }

    fn drive(&mut self, model: &mut Model) {
        self.request.drive(model);
        self.reply.drive(model);
    }
}

/// Serves read jobs from memory, each after `latency_cycles`, in order; checks their limits.
pub struct Reads<M: Memory> {
    jobs: MessageSink,
    data: PacketSource,
    memory: Rc<M>,
    waiting: VecDeque<(u64, Packet)>,
    latency_cycles: u64,
    now: u64,
    /// Jobs so far.
    pub jobs_seen: u64,
    /// While true no answer is given.
    pub held: bool,
}

impl<M: Memory> Reads<M> {
    /// A memory behind `read_job` and `read_data`.
    pub fn new(model: &Model, memory: Rc<M>, latency_cycles: u64, stall: Stall, seed: u64) -> Self {
        Reads {
            jobs: MessageSink::new(model, "read_job", stall, seed),
            data: PacketSource::new(model, "read_data", stall, seed ^ 0x3333),
            memory,
            waiting: VecDeque::new(),
            latency_cycles,
            now: 0,
            jobs_seen: 0,
            held: false,
        }
    }

    /// Forgets every job, as a reset does.
    pub fn forget(&mut self) {
        self.waiting.clear();
    }
}

impl<M: Memory> Agent for Reads<M> {
    fn sample(&mut self, model: &Model) {
        self.now += 1;
        self.jobs.sample(model);
        self.data.sample(model);
        while let Some(job) = self.jobs.messages.pop_front() {
            let address = field::<ReadJob>(&job, "address");
            let bytes = field::<ReadJob>(&job, "bytes");
            let longest = SEND_READ_BYTES_MAX as u64;
            assert!((1..=longest).contains(&bytes), "job of {bytes} bytes");
            assert_eq!(
                address / longest,
                (address + bytes - 1) / longest,
                "job over a multiple of {longest}"
            );
            self.jobs_seen += 1;
            let packet = Packet {
                bytes: self.memory.bytes(address, bytes as usize),
                abort: self.memory.fails(address, bytes as usize),
                meta: Vec::new(),
            };
            self.waiting.push_back((self.now + self.latency_cycles, packet));
        }
        while !self.held && self.waiting.front().is_some_and(|(due, _)| *due <= self.now) {
            let (_, packet) = self.waiting.pop_front().expect("there is one");
            self.data.push(packet);
        }
    }

    fn drive(&mut self, model: &mut Model) {
        self.jobs.drive(model);
        self.data.drive(model);
    }
}

/// Records the payloads of a pulse stream, or the cycles of a plain pulse.
pub struct Pulses {
    valid: PortId,
    payload: Option<PortId>,
    payload_bytes: usize,
    /// Payloads seen, empty for a plain pulse.
    pub seen: Vec<Vec<u8>>,
}

impl Pulses {
    /// Watches bundle `name`, or the one-bit port `name`.
    pub fn new(model: &Model, name: &str) -> Pulses {
        let payload = model.find_port(&format!("{name}$payload"));
        Pulses {
            valid: model.find_port(&format!("{name}$valid")).unwrap_or_else(|| model.port(name)),
            payload,
            payload_bytes: payload.map_or(0, |port| model.port_info(port).bits.div_ceil(8)),
            seen: Vec::new(),
        }
    }

    /// A field of the payloads, in order.
    pub fn fields<T: Synth>(&self, name: &str) -> Vec<u64> {
        self.seen.iter().map(|bytes| field::<T>(bytes, name)).collect()
    }
}

impl Agent for Pulses {
    fn sample(&mut self, model: &Model) {
        if model.is_high(self.valid) {
            let mut bytes = vec![0; self.payload_bytes];
            if let Some(port) = self.payload {
                model.get_bytes(port, &mut bytes);
            }
            self.seen.push(bytes);
        }
    }

    fn drive(&mut self, _model: &mut Model) {}
}
