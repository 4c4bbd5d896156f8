//! What surrounds the receive path: MAC, tables, memory; and the golden card beside it.
//!
//! ```text
//!   frames ──► RxSplit ──► writes ─┐
//!      │        │ ▲                ├─ compared: every write, in order; every counter
//!      │      tables (a copy)      │
//!      └──► GoldenDevice ─► writes ┘
//! ```

mod outputs;
mod pace;
mod pulses;
mod replies;

use std::collections::VecDeque;

use abi::command as c;
use abi::config::{CardConfig, SLOT_BYTES, SMALL};
use abi::field::Field;
use abi::reason::SendError;
use abi::{registers as r, send_descriptor as d};
use golden::coalesce::Ends;
use golden::device::{GoldenDevice, Memory};
use golden::tables::Tables;
use rx_split::RxSplit;
use sim::harness::agent::Agent;
use sim::harness::bench::Bench;
use sim::harness::monitor::StreamMonitor;
use sim::harness::sink::{MessageSink, PacketSink};
use sim::harness::source::{MessageSource, Packet, PacketSource};
use sim::harness::stall::Stall;
use sim::switched::TextFault;
use stream::messages::*;

pub use self::outputs::Output;
use self::outputs::TakenJob;
pub use self::pace::{Pace, NEVER_REFUSED};
use self::pulses::{CursorPort, Pulses};
use self::replies::{flow_reply, region_reply, segment_reply};
use crate::rx_split::faults::FAULTS;
use crate::rx_split::judge;

/// Cycles until a setting has crossed to the MAC's clock.
const CROSSING_CYCLES: usize = 16;

/// Writes of the golden card.
#[derive(Default)]
pub struct Log(pub Vec<(u64, Vec<u8>)>);

impl Memory for Log {
    fn read(&mut self, _address: u64, bytes: usize) -> Option<Vec<u8>> {
        Some(vec![0; bytes])
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> bool {
        self.0.push((address, bytes.to_vec()));
        true
    }
}

/// Which cycles are held back where.
#[derive(Clone, Copy)]
pub struct Stalls {
    /// Frames, replies and all else that comes in.
    pub source: Stall,
    /// Writes, requests and all else that goes out.
    pub sink: Stall,
}

/// The receive path and all around it.
pub struct World {
    bench: Bench,
    /// The golden card.
    pub golden: GoldenDevice,
    /// What it wrote.
    pub expected: Log,
    /// Pulses seen, register writes to do.
    pub pulses: Pulses,
    /// What left the card.
    pub outputs: Vec<Output>,
    /// Confirmations on their way in, with the number of lookups requested when they were taken.
    pub confirmation: MessageSource,
    /// Send events on their way in.
    events: MessageSource,
    /// The tables that answer the card.
    pub tables: Tables,
    /// When frames come.
    pub pace: Pace,
    /// Whether the flow table answers.
    pub flows_answer: bool,
    /// Lookups requested.
    pub lookups: u64,
    /// Slots of header queues written to their last byte.
    slots_written: u64,
    /// Confirmations with the slots that were written when they left.
    pub confirmed_behind: Vec<(u32, u64)>,
    /// Cycles until a flush read is answered.
    pub flush_cycles: u64,
    /// Which flush reads of each memory fail, from now on, in order.
    pub flush_fails: [VecDeque<bool>; 4],
    flushes: VecDeque<(u64, u64)>,
    frames: PacketSource,
    frames_pushed: u64,
    /// Frames to come, and whether the golden card drops them.
    unsent: VecDeque<(Packet, bool)>,
    /// Beats of the frames under way: of those that go up, and of those that are dropped, which
    /// overtake them.
    under_way: [VecDeque<u64>; 2],
    /// Frames of both kinds that had left the card a cycle ago.
    left: [u64; 2],
    written_off: u64,
    wire_free: f64,
    cursor_port: CursorPort,
    requests: [MessageSink; 3],
    replies: [MessageSource; 3],
    write_job: MessageSink,
    write_data: PacketSink,
    flush_job: MessageSink,
    flush_data: PacketSource,
    confirmed: MessageSink,
    jobs: VecDeque<TakenJob>,
    /// Beats that a payload's tail and an entry's metadata had in common.
    pub shared_beats: u64,
    monitors: Vec<StreamMonitor>,
    frames_monitor: StreamMonitor,
}

/// Streams of the card's clock that a monitor watches.
const STREAMS: [&str; 12] = [
    "flow_lookup",
    "flow_reply",
    "segment_request",
    "segment_reply",
    "region_request",
    "region_reply",
    "write_job",
    "write_data",
    "flush_job",
    "flush_data",
    "confirmation_source",
    "send_event",
];

/// A command with its fields.
pub fn command(opcode: u8, fields: &[(Field, u64)]) -> [u8; 64] {
    let mut entry = [0; 64];
    c::OPCODE.set(&mut entry, opcode.into());
    for (field, value) in fields {
        field.set(&mut entry, *value);
    }
    entry
}

/// Where owner `n`'s header queue lies.
pub fn header_base(owner: u32) -> u64 {
    0x10_0000_0000 + (u64::from(owner) << 24)
}

/// Where owner `n`'s slow buffers lie.
pub fn slow_base(owner: u32) -> u64 {
    0x20_0000_0000 + (u64::from(owner) << 24)
}

/// Flush address of a memory.
pub fn flush_address(memory: u32) -> u64 {
    0x30_0000_0040 + (u64::from(memory) << 32)
}

impl World {
    /// A world with the small configuration, receive running, no owner enabled.
    pub fn new(stalls: Stalls, seed: u64) -> World {
        let bench = Bench::of_shared("rx_split", "", RxSplit::<10, 2, 4>::default);
        World::around(bench.expect("the block builds"), stalls, seed)
    }

    /// A world around a block with one of the [`FAULTS`].
    pub fn with_fault(fault: TextFault, stalls: Stalls) -> World {
        let block = RxSplit::<10, 2, 4>::default;
        let bench = Bench::with_fault("rx_split", "", block, &FAULTS, fault);
        World::around(bench.expect("the block builds"), stalls, 1)
    }

    fn around(bench: Bench, stalls: Stalls, seed: u64) -> World {
        let model = &bench.model;
        let sink = |name| MessageSink::new(model, name, stalls.sink, seed ^ 1);
        let source = |name, salt| MessageSource::new(model, name, stalls.source, seed ^ salt);
        let config: CardConfig = SMALL;
        let mut world = World {
            golden: GoldenDevice::new(config),
            expected: Log::default(),
            pulses: Pulses::default(),
            outputs: Vec::new(),
            confirmation: source("confirmation_sink", 2),
            events: source("send_event", 3),
            tables: Tables::new(config),
            pace: NEVER_REFUSED,
            flows_answer: true,
            lookups: 0,
            slots_written: 0,
            confirmed_behind: Vec::new(),
            flush_cycles: 0,
            flush_fails: Default::default(),
            flushes: VecDeque::new(),
            frames: PacketSource::new(model, "frames", stalls.source, seed ^ 4),
            frames_pushed: 0,
            unsent: VecDeque::new(),
            under_way: Default::default(),
            left: [0; 2],
            written_off: 0,
            wire_free: 0.0,
            cursor_port: CursorPort::default(),
            requests: [sink("flow_lookup"), sink("segment_request"), sink("region_request")],
            replies: [
                source("flow_reply", 5),
                source("segment_reply", 6),
                source("region_reply", 7),
            ],
            write_job: sink("write_job"),
            write_data: PacketSink::new(model, "write_data", stalls.sink, seed ^ 8),
            flush_job: sink("flush_job"),
            flush_data: PacketSource::new(model, "flush_data", stalls.source, seed ^ 9),
            confirmed: sink("confirmation_source"),
            jobs: VecDeque::new(),
            shared_beats: 0,
            monitors: STREAMS.map(|name| StreamMonitor::new(model, name)).into(),
            frames_monitor: StreamMonitor::new(model, "frames"),
            bench,
        };
        world.register(r::CONTROL, r::CONTROL_RX);
        for memory in 1..4 {
            let address = flush_address(memory);
            world.register(r::FLUSH + 8 * memory, address as u32);
            world.register(r::FLUSH + 8 * memory + 4, (address >> 32) as u32);
        }
        world
    }

    /// Writes a register of both cards.
    pub fn register(&mut self, address: u32, value: u32) {
        self.pulses.settings.push_back((address, value));
        self.golden.write_register(address, value, &mut self.expected);
    }

    /// Enables an owner with rings of these sizes, log2.
    pub fn enable(&mut self, owner: u32, header_bits: u32, slow_bits: u32) {
        let at = r::CONTEXTS + owner * r::CONTEXT_STRIDE;
        let (header, slow) = (header_base(owner), slow_base(owner));
        self.register(at + r::CONTEXT_HEADER_BASE, header as u32);
        self.register(at + r::CONTEXT_HEADER_BASE + 4, (header >> 32) as u32);
        self.register(at + r::CONTEXT_SLOW_BASE, slow as u32);
        self.register(at + r::CONTEXT_SLOW_BASE + 4, (slow >> 32) as u32);
        let sizes = 2 | 2 << 8 | header_bits << 16 | slow_bits << 24;
        self.register(at + r::CONTEXT_SIZES, sizes);
        self.register(at + r::CONTEXT_ENABLE, 1);
    }

    /// Writes a register of the card alone: the golden card keeps what it has.
    pub fn register_of_card(&mut self, address: u32, value: u32) {
        self.pulses.settings.push_back((address, value));
    }

    /// Hands in a confirmation of a command that ends no runs.
    pub fn confirm(&mut self, confirmation: Confirmation) {
        self.confirmation.push_struct(CommandEnd { confirmation, ..CommandEnd::default() });
    }

    /// Hands in the confirmation of a command of an owner, with the runs that it ends in both.
    pub fn end_command(&mut self, owner: u8, index: u32, entry: &[u8; 64]) {
        let ends = golden::coalesce::ends(entry);
        self.golden.end_runs_of(ends, owner.into(), &mut self.expected);
        self.confirmation.push_struct(CommandEnd {
            confirmation: Confirmation {
                owner: u64::from(owner).into(),
                index: u64::from(index).into(),
                status: 0u64.into(),
            },
            ends_flow: matches!(ends, Ends::Flow(_)),
            ends_owner: ends == Ends::Owner,
            flow: c::FLOW.get(entry).into(),
        });
    }

    /// Returns all header slots and slow buffers of an owner to both cards.
    pub fn give_back(&mut self, owner: u32, headers: u32, slow: u32) {
        let at = r::DOORBELLS + owner * r::DOORBELL_STRIDE;
        self.register(at + r::DOORBELL_HEADER, headers);
        self.register(at + r::DOORBELL_SLOW, slow);
    }

    /// Applies a command to the golden tables; the card sees it from the next [`World::settle`] on.
    pub fn apply(&mut self, entry: &[u8; 64]) {
        let status = self.golden.tables.apply(0, entry);
        assert_eq!(status as u8, 0, "{status:?}");
    }

    /// Makes the card's tables those of the golden card.
    pub fn settle(&mut self) {
        self.tables = self.golden.tables.clone();
        for id in 0..1 << SMALL.flow_bits {
            if let Some(flow) = self.tables.flow(id) {
                self.cursor_port.stored.insert(id, flow.cursor);
            }
        }
    }

    /// Runs until all register writes are done, and known in both clocks.
    pub fn drain(&mut self) {
        if self.pulses.settings.is_empty() {
            return;
        }
        while !self.pulses.settings.is_empty() {
            self.cycle();
        }
        (0..CROSSING_CYCLES).for_each(|_| self.cycle());
    }

    /// Sends a frame to both.
    pub fn send(&mut self, frame: &[u8], bad_fcs: bool) {
        self.drain();
        let drops: u64 = self.golden.drops.iter().sum();
        self.golden.receive(frame, bad_fcs, &mut self.expected);
        let is_dropped = self.golden.drops.iter().sum::<u64>() > drops;
        self.frames_pushed += 1;
        let packet = Packet { bytes: frame.to_vec(), abort: bad_fcs, ..Packet::default() };
        self.unsent.push_back((packet, is_dropped));
    }

    /// A send of an owner fails, in both.
    pub fn fail_send(&mut self, owner: u8, position: u32) {
        self.drain();
        let (error, mut record) = (SendError::SendMalformed, [0; SLOT_BYTES]);
        for (field, value) in [(d::FLOW, 0x1234), (d::GENERATION, 0x56)] {
            field.set(&mut record, value);
        }
        d::POSITION.set(&mut record, position.into());
        self.golden.fail_send(owner.into(), error, &record, &mut self.expected);
        self.events.push_struct(SendEvent {
            owner: u64::from(owner).into(),
            flow: d::FLOW.get(&record).into(),
            generation: d::GENERATION.get(&record).into(),
            error: (error as u64).into(),
            position: u64::from(position).into(),
        });
    }

    /// Resets the block as long as the card does; what the tables owe it is forgotten.
    pub fn reset(&mut self) {
        self.set("reset", 1);
        for _ in 0..abi::config::RESET_CYCLES {
            self.cycle();
        }
        self.set("reset", 0);
        for reply in &mut self.replies {
            reply.clear();
        }
        // The write engine forgets its jobs too, with what it has of their bytes.
        self.jobs.clear();
        self.write_data.clear();
        let entries: u64 = self.pulses.dispositions.iter().sum();
        self.written_off = entries - self.pulses.produced.len() as u64;
    }

    /// Sets a plain input.
    pub fn set(&mut self, port: &str, value: u64) {
        self.bench.set(port, value);
    }

    /// One cycle.
    pub fn cycle(&mut self) {
        self.feed();
        let mut agents: Vec<&mut dyn Agent> = vec![
            &mut self.pulses,
            &mut self.cursor_port,
            &mut self.confirmation,
            &mut self.events,
            &mut self.write_job,
            &mut self.write_data,
            &mut self.flush_job,
            &mut self.flush_data,
            &mut self.confirmed,
        ];
        agents.extend(self.requests.iter_mut().map(|a| a as &mut dyn Agent));
        agents.extend(self.replies.iter_mut().map(|a| a as &mut dyn Agent));
        agents.extend(self.monitors.iter_mut().map(|a| a as &mut dyn Agent));
        let mac_agents: &mut [&mut dyn Agent] = &mut [&mut self.frames, &mut self.frames_monitor];
        self.bench.cycle_with_mac(&mut agents, mac_agents);
        self.answer();
        self.collect();
    }

    fn answer(&mut self) {
        while self.flows_answer {
            let Some(request) = self.requests[0].messages.pop_front() else {
                break;
            };
            self.lookups += 1;
            let reply = flow_reply(&self.tables, &request);
            self.replies[0].push_struct(reply);
        }
        while let Some(request) = self.requests[1].messages.pop_front() {
            let reply = segment_reply(&self.tables, &request);
            self.replies[1].push_struct(reply);
        }
        while let Some(request) = self.requests[2].messages.pop_front() {
            let reply = region_reply(&self.tables, &request);
            self.replies[2].push_struct(reply);
        }
    }

    /// Beats that came in so far.
    pub fn beats(&self) -> u64 {
        self.frames_monitor.handshakes()
    }

    /// Handshakes of a stream so far.
    pub fn handshakes(&self, stream: &str) -> u64 {
        let at = STREAMS.iter().position(|name| *name == stream);
        self.monitors[at.expect("a stream that is watched")].handshakes()
    }

    /// Runs until every frame sent is counted and nothing moves any more.
    pub fn run(&mut self) {
        let mut quiet = 0;
        let mut seen = 0;
        for _ in 0..4_000_000 {
            self.cycle();
            let counted: u64 = self.pulses.drops.iter().sum::<u64>()
                + self.pulses.dispositions.iter().sum::<u64>();
            let handshakes = self.monitors.iter().map(StreamMonitor::handshakes);
            let moved = handshakes.sum::<u64>() + self.beats();
            let waits = moved == seen && self.flushes.is_empty();
            quiet = if waits { quiet + 1 } else { 0 };
            seen = moved;
            let done = counted == self.frames_pushed && self.pulses.settings.is_empty();
            if done && quiet > 200 {
                return;
            }
        }
        panic!(
            "stuck: {} frames, drops {:?}, dispositions {:?}",
            self.frames_pushed, self.pulses.drops, self.pulses.dispositions
        );
    }

    /// Compares counters and writes, in order, and checks the streams' rules.
    pub fn compare(&mut self) {
        assert_eq!(self.pulses.frames, self.frames_pushed, "frames that came in");
        assert_eq!(self.pulses.drops, self.golden.drops, "drops");
        assert_eq!(self.pulses.dispositions, self.golden.dispositions, "dispositions");
        assert_eq!(self.pulses.events_lost, self.golden.send_events_lost, "events without room");
        let got = judge::writes(&self.outputs);
        let want = self.expected.0.iter().map(|w| (w.0, w.1.as_slice()));
        let want: Vec<_> = want.collect();
        if self.has_flushed() {
            judge::same_by_owner(&got, &want);
            judge::behind_their_flushes(&self.outputs, &want);
        } else {
            judge::same_writes(&got, &want, "all");
        }
        for monitor in self.monitors.iter().chain([&self.frames_monitor]) {
            monitor.assert_clean();
        }
    }
}
