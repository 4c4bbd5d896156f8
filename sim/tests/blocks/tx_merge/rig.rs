//! The send path with its neighbours around it, and the judge that compares it with the golden
//! model.
//!
//! ```text
//!   descriptors ──> TxMerge <──> Responders, Reads
//!                      └──> frames, events, counts ──> judge <── golden model
//! ```

use std::collections::VecDeque;
use std::rc::Rc;

use abi::reason::SendError;
use abi::registers::{CONTROL, CONTROL_TX};
use abi::send_descriptor as at;
use sim::harness::agent::Agent;
use sim::harness::bench::Bench;
use sim::harness::monitor::StreamMonitor;
use sim::harness::payload::{bytes_of, field};
use sim::harness::sink::{MessageSink, PacketSink};
use sim::harness::source::{MessageSource, Packet, PacketSource};
use sim::harness::stall::Stall;
use sim::switched::TextFault;
use stream::messages::{Confirmation, RegisterWrite, RingFetch, SendEvent};
use tx_merge::TxMerge;

use crate::tx_merge::faults::FAULTS;
use crate::tx_merge::peers::{Pulses, Reads, Responder, SharedTables};
use crate::tx_merge::records::Memory;
use crate::tx_merge::world::Tables;

/// No stalls anywhere.
pub const CALM: (Stall, Stall) = (Stall::None, Stall::None);

/// Names of the streams out of the block, all watched.
const WATCHED: [&str; 8] = [
    "flow_request",
    "segment_request",
    "region_request",
    "read_job",
    "confirmation_source",
    "send_event",
    "frames",
    "descriptors",
];

/// The block in its surroundings.
pub struct Rig<M: Memory> {
    pub bench: Bench,
    pub tables: SharedTables,
    pub memory: Rc<M>,
    pub reads: Reads<M>,
    pub frames: PacketSink,
    pub confirmations_in: MessageSource,
    pub confirmations_out: MessageSink,
    pub events: MessageSink,
    pub errors: Pulses,
    pub done: Pulses,
    pub taken: Pulses,
    flows: Responder,
    segments: Responder,
    regions: Responder,
    fetches: MessageSource,
    descriptors: PacketSource,
    /// Descriptors whose message has not been taken: their beats come no earlier.
    unnamed: VecDeque<Packet>,
    monitors: Vec<StreamMonitor>,
    expected: VecDeque<(Vec<u8>, u8, u32)>,
    ring_index: u32,
    posted: usize,
}

impl<M: Memory> Rig<M> {
    /// Builds and starts the block; the first stall is that of all sources, the second of all
    /// sinks.
    pub fn new(tables: Tables, memory: M, latency: u64, stalls: (Stall, Stall), seed: u64) -> Self {
        let bench = Bench::of_shared("tx_merge", "", TxMerge::default).expect("builds");
        Rig::around(bench, tables, memory, latency, stalls, seed)
    }

    /// A rig without stalls and with one of the [`FAULTS`].
    pub fn with_fault(tables: Tables, memory: M, fault: TextFault) -> Self {
        let bench = Bench::with_fault("tx_merge", "", TxMerge::default, &FAULTS, fault);
        Rig::around(bench.expect("builds"), tables, memory, 10, CALM, 1)
    }

    fn around(
        bench: Bench,
        tables: Tables,
        memory: M,
        latency: u64,
        stalls: (Stall, Stall),
        seed: u64,
    ) -> Self {
        let model = &bench.model;
        let (source, sink) = stalls;
        let tables: SharedTables = Rc::new(tables.build());
        let memory = Rc::new(memory);
        let mut rig = Rig {
            reads: Reads::new(model, memory.clone(), latency, source, seed ^ 1),
            frames: PacketSink::new(model, "frames", sink, seed ^ 2),
            confirmations_in: MessageSource::new(model, "confirmation_sink", source, seed ^ 3),
            confirmations_out: MessageSink::new(model, "confirmation_source", sink, seed ^ 4),
            events: MessageSink::new(model, "send_event", sink, seed ^ 5),
            errors: Pulses::new(model, "error_count"),
            done: Pulses::new(model, "descriptor_done"),
            taken: Pulses::new(model, "taken"),
            flows: Responder::flows(model, tables.clone(), sink, seed ^ 6),
            segments: Responder::segments(model, tables.clone(), sink, seed ^ 7),
            regions: Responder::regions(model, tables.clone(), sink, seed ^ 8),
            fetches: MessageSource::new(model, "descriptor_fetch", source, seed ^ 9),
            descriptors: PacketSource::new(model, "descriptors", source, seed ^ 10),
            unnamed: VecDeque::new(),
            monitors: WATCHED.iter().map(|name| StreamMonitor::new(model, name)).collect(),
            expected: VecDeque::new(),
            ring_index: 0xffff_fff0,
            posted: 0,
            tables,
            memory,
            bench,
        };
        rig.bench.set("epoch", 1);
        rig.control(CONTROL_TX);
        rig
    }

    /// Writes the control register.
    pub fn control(&mut self, value: u32) {
        let write =
            RegisterWrite { address: u64::from(CONTROL).into(), data: u64::from(value).into() };
        let port = self.bench.model.port("settings$payload");
        self.bench.model.set_bytes(port, &bytes_of(write));
        self.bench.set("settings$valid", 1);
        self.cycle();
        self.bench.set("settings$valid", 0);
    }

    /// Starts an epoch: one cycle of reset. What was posted is not expected any more.
    pub fn reset(&mut self) {
        self.bench.set("reset", 1);
        self.cycle();
        self.bench.set("reset", 0);
        self.reads.forget();
        self.expected.clear();
        self.posted = self.done.seen.len();
        self.taken.seen.clear();
    }

    /// Makes the tables answer after so many cycles.
    pub fn set_table_latency(&mut self, cycles: u64) {
        self.flows.latency_cycles = cycles;
        self.segments.latency_cycles = cycles;
        self.regions.latency_cycles = cycles;
    }

    /// Flows asked for so far.
    pub fn flow_requests(&self) -> u64 {
        self.flows.requests
    }

    /// Queues a descriptor of one or two slots and notes that its outcome is expected.
    pub fn post(&mut self, record: &[u8], owner: u8) {
        self.posted += 1;
        self.fetches.push_struct(RingFetch {
            owner: u64::from(owner).into(),
            index: u64::from(self.ring_index).into(),
        });
        self.unnamed.push_back(record.to_vec().into());
        let slots = record.len() as u32 / 128;
        self.ring_index = self.ring_index.wrapping_add(slots);
        self.expected.push_back((record.to_vec(), owner, self.ring_index));
    }

    /// Queues a descriptor whose fetch failed.
    pub fn post_unread(&mut self, record: &[u8], owner: u8) {
        self.posted += 1;
        self.fetches.push_struct(RingFetch {
            owner: u64::from(owner).into(),
            index: u64::from(self.ring_index).into(),
        });
        self.ring_index = self.ring_index.wrapping_add(record.len() as u32 / 128);
        self.unnamed.push_back(Packet { bytes: record.to_vec(), abort: true, meta: Vec::new() });
    }

    /// One cycle of everything.
    pub fn cycle(&mut self) {
        let get = |port| self.bench.get(port) as usize;
        let taken = get("descriptor_fetch$valid") & get("descriptor_fetch$ready");
        while self.unnamed.len() > self.fetches.waiting() - taken {
            let packet = self.unnamed.pop_front().unwrap_or_default();
            self.descriptors.push(packet);
        }
        let mut agents: Vec<&mut dyn Agent> = vec![
            &mut self.flows,
            &mut self.segments,
            &mut self.regions,
            &mut self.reads,
            &mut self.fetches,
            &mut self.descriptors,
            &mut self.frames,
            &mut self.confirmations_in,
            &mut self.confirmations_out,
            &mut self.events,
            &mut self.errors,
            &mut self.done,
            &mut self.taken,
        ];
        for monitor in &mut self.monitors {
            agents.push(monitor);
        }
        self.bench.cycle(&mut agents);
    }

    /// Runs until `count` descriptors are done and the last frame is out; returns the cycles.
    pub fn run_until_done(&mut self, count: usize, cycles_max: u64) -> u64 {
        let start = self.bench.now();
        let mut idle = 0;
        while self.done.seen.len() < count || idle < 40 {
            self.cycle();
            idle = if self.done.seen.len() < count || self.bench.get("frames$valid") == 1 {
                0
            } else {
                idle + 1
            };
            let spent = self.bench.now() - start;
            assert!(
                spent < cycles_max,
                "{} of {count} descriptors after {spent} cycles",
                self.done.seen.len()
            );
        }
        self.bench.now() - start
    }

    /// Runs everything posted and compares frames, events, counts and ring indices with the golden
    /// model; returns the errors.
    pub fn judge(&mut self, cycles_max: u64) -> Vec<Option<SendError>> {
        let expected: Vec<_> = self.expected.drain(..).collect();
        self.run_until_done(self.posted, cycles_max);
        let (mut errors, mut frames) = (Vec::new(), 0);
        let mut indices = Vec::new();
        for (record, owner, index_after) in &expected {
            let memory = &self.memory;
            let mut read = |address, count| {
                (!memory.fails(address, count)).then(|| memory.bytes(address, count))
            };
            let outcome = golden::tx::send(&self.tables, *owner, record, &mut read);
            frames += outcome.frames.len();
            for (number, frame) in outcome.frames.iter().enumerate() {
                let sent = self.frames.packets.pop_front();
                let sent =
                    sent.unwrap_or_else(|| panic!("frame {number} of {record:02x?} missing"));
                assert!(!sent.abort);
                assert_eq!(&sent.bytes, frame, "frame {number} of descriptor {record:02x?}");
            }
            if let Some(error) = outcome.error {
                self.judge_event(record, *owner, error);
            }
            errors.push(outcome.error);
            indices.push(u64::from(*index_after));
        }
        println!("{} descriptors, {frames} frames as predicted", errors.len());
        assert!(self.frames.packets.is_empty(), "a frame too many");
        assert!(self.events.messages.is_empty(), "an event too many");
        let counted: Vec<u8> = self.errors.seen.drain(..).map(|bytes| bytes[0]).collect();
        let wanted: Vec<u8> = errors.iter().flatten().map(|error| *error as u8).collect();
        assert_eq!(counted, wanted, "errors counted");
        assert_eq!(self.taken.fields::<RingFetch>("index"), indices);
        self.taken.seen.clear();
        self.monitors.iter().for_each(StreamMonitor::assert_clean);
        errors
    }

    fn judge_event(&mut self, record: &[u8], owner: u8, error: SendError) {
        let event = self.events.messages.pop_front().expect("an event");
        let get = |name| field::<SendEvent>(&event, name);
        assert_eq!(get("error"), error as u64, "{record:02x?}");
        assert_eq!(get("owner"), u64::from(owner));
        assert_eq!(get("flow"), at::FLOW.get(record));
        assert_eq!(get("generation"), at::GENERATION.get(record));
        assert_eq!(get("position"), at::POSITION.get(record));
    }

    /// Queues a confirmation.
    pub fn confirm(&mut self, index: u32) {
        self.confirmations_in.push_struct(Confirmation {
            owner: 1u64.into(),
            index: u64::from(index).into(),
            status: 0u64.into(),
        });
    }

    /// Holds the answers of what is posted back and checks that a confirmation waits for them.
    pub fn assert_confirmation_waits(&mut self) {
        self.reads.held = true;
        while self.reads.jobs_seen < 3 {
            self.cycle();
        }
        self.confirm(7);
        (0..500).for_each(|_| self.cycle());
        assert!(self.confirmed_indices().is_empty(), "it overtook a read");
        self.reads.held = false;
        self.judge(5_000);
        assert_eq!(self.confirmed_indices(), [7]);
    }

    /// Indices of the confirmations that have left.
    pub fn confirmed_indices(&self) -> Vec<u64> {
        let messages = self.confirmations_out.messages.iter();
        messages.map(|message| field::<Confirmation>(message, "index")).collect()
    }
}
