//! The DMA engines alone in a simulated slot, with sources and sinks for their clients.
//!
//! ```text
//!   jobs, packets ──► Requester (Verilator) ── RQ ──► PcieSim: hard block, root complex, memory
//!   read data     ◄──                       ◄── RC ──
//! ```

mod clients;
pub mod shared_beat;

use dma::requester::Requester;
use ip::completion_buffer::CompletionBuffer;
use pcie_sim::{CardOutputs, PcieConfig, PcieSim, Rights};
use stream::messages::{ReadJob, WriteJob};
use verilate::block::BlockError;
use verilate::verilated::{Model, PortId};

pub use self::clients::{Clients, Read, Write, READERS, WRITERS};
use crate::harness::agent::Agent;
use crate::harness::bench::Bench;
use crate::harness::monitor::assert_none;
use crate::harness::pcie_ports::PciePorts;
use crate::harness::source::{Packet, PacketSource};
use crate::harness::stall::Stall;
use crate::switched::TextFault;

/// Bus address at which the host's memory begins.
pub const BUS_BASE: u64 = 0x40_0000_0000;
/// Cycles after which a requester under test times a read out.
pub const TIMEOUT_CYCLES: u32 = 4096;
/// Idle cycles on the link after which the requester is empty as well.
pub const QUIET_CYCLES: u64 = 200;
/// What the activity outputs of the requester have reported so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Activity {
    /// Cycles with bit n of `requests` high.
    pub requests: [u64; 8],
    /// Cycles with bit n of `reads` high.
    pub reads: [u64; 8],
    /// Cycles with bit n of `latency` high: reads by duration.
    pub latency: [u64; 8],
    /// Payload reads that failed.
    pub payload_failed: u64,
    /// Flush reads that failed.
    pub flush_failed: u64,
    /// Unexpected completions.
    pub unexpected: u64,
    /// Most reads in flight.
    pub reads_in_flight: u64,
    /// Most completion headers reserved.
    pub completion_headers: u64,
    /// Most completion data reserved, in units of 16 bytes.
    pub completion_data: u64,
    /// Most writes in flight.
    pub writes_in_flight: u64,
    /// Most write beats waiting.
    pub write_beats: u64,
    /// Most tags quarantined after a timeout.
    pub tags_quarantined: u64,
}

/// A field of [`Activity`], counted bit by bit or kept as a highest level.
enum Report<'a> {
    Bits(&'a mut [u64]),
    Level(&'a mut u64),
}

impl Activity {
    const PORTS: [&'static str; 12] = [
        "requests",
        "reads",
        "latency",
        "payload_failed",
        "flush_failed",
        "unexpected",
        "reads_in_flight",
        "completion_headers",
        "completion_data",
        "writes_in_flight",
        "write_beats",
        "tags_quarantined",
    ];

    /// Fields in the order of the ports.
    fn fields(&mut self) -> [Report<'_>; 12] {
        use std::slice::from_mut;
        use Report::{Bits, Level};
        [
            Bits(&mut self.requests),
            Bits(&mut self.reads),
            Bits(&mut self.latency),
            Bits(from_mut(&mut self.payload_failed)),
            Bits(from_mut(&mut self.flush_failed)),
            Bits(from_mut(&mut self.unexpected)),
            Level(&mut self.reads_in_flight),
            Level(&mut self.completion_headers),
            Level(&mut self.completion_data),
            Level(&mut self.writes_in_flight),
            Level(&mut self.write_beats),
            Level(&mut self.tags_quarantined),
        ]
    }

    fn sample(&mut self, model: &Model, ports: &[PortId]) {
        for (field, &port) in self.fields().into_iter().zip(ports) {
            let value = model.get(port);
            match field {
                Report::Bits(counts) => {
                    for (bit, count) in counts.iter_mut().enumerate() {
                        *count += value >> bit & 1;
                    }
                }
                Report::Level(highest) => *highest = value.max(*highest),
            }
        }
    }
}

/// The hard block with the link, root complex and memories behind it.
pub struct Slot {
    /// Link, root complex, memories.
    pub pcie: PcieSim,
    ports: PciePorts,
    outputs: CardOutputs,
    side_ports: SidePorts,
    /// Cycles in which the outputs for counters were high.
    pub pulses: Pulses,
    /// Values of the activity outputs.
    pub activity: Activity,
    activity_ports: Vec<PortId>,
    /// Holds the requester in reset.
    pub reset: bool,
    /// Reports to the hard block that a function level reset is done.
    pub function_reset_done: bool,
}

/// Counted pulses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pulses {
    /// Writes that left.
    pub write_tlp: u64,
    /// Reads that left.
    pub read_tlp: u64,
    /// Beats offered on RQ.
    pub rq_offers: u64,
    /// Cycles in which RC offered a beat.
    pub rc_offers: u64,
    /// Reads that timed out.
    pub read_timeout: u64,
    /// Reads that ended with an error.
    pub read_error: u64,
}

/// Ports beside those of the hard block and of the clients.
struct SidePorts {
    write_tlp: PortId,
    read_tlp: PortId,
    rq_valid: PortId,
    rc_valid: PortId,
    read_timeout: PortId,
    read_error: PortId,
    bus_master: PortId,
    extended_tags: PortId,
    reset: PortId,
}

impl SidePorts {
    fn new(model: &Model) -> SidePorts {
        SidePorts {
            write_tlp: model.port("write_tlp"),
            read_tlp: model.port("read_tlp"),
            rq_valid: model.port("s_axis_rq_tvalid"),
            rc_valid: model.port("m_axis_rc_tvalid"),
            read_timeout: model.port("read_timeout"),
            read_error: model.port("read_error"),
            bus_master: model.port("bus_master"),
            extended_tags: model.port("extended_tags"),
            reset: model.port("reset"),
        }
    }
}

impl Slot {
    /// A slot whose host has enabled the device.
    pub fn new(model: &Model, config: PcieConfig) -> Slot {
        let mut pcie = PcieSim::new(config).expect("valid configuration");
        pcie.enable_device();
        Slot {
            pcie,
            ports: PciePorts::new(model),
            outputs: CardOutputs::default(),
            side_ports: SidePorts::new(model),
            pulses: Pulses::default(),
            activity: Activity::default(),
            activity_ports: Activity::PORTS
                .iter()
                .map(|name| model.port(&format!("activity${name}")))
                .collect(),
            reset: false,
            function_reset_done: false,
        }
    }

    /// Host memory of `bytes` bytes that the card may access.
    pub fn memory(&mut self, bytes: u64) -> u64 {
        self.pcie.allocate(bytes, BUS_BASE, Rights::ReadWrite).expect("enough memory")
    }

    /// The bytes at a bus address.
    pub fn bytes(&self, address: u64, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        self.pcie.read(address, &mut bytes).expect("mapped");
        bytes
    }

    /// Rules of the link that the card broke.
    pub fn violations(&self) -> impl Iterator<Item = String> + '_ {
        let reports = self.pcie.violations().iter();
        reports.map(|report| format!("{report:?}"))
    }
}

impl Agent for Slot {
    fn sample(&mut self, model: &Model) {
        let high = |port: PortId| u64::from(model.is_high(port));
        self.pulses.write_tlp += high(self.side_ports.write_tlp);
        self.pulses.read_tlp += high(self.side_ports.read_tlp);
        self.pulses.read_timeout += high(self.side_ports.read_timeout);
        self.pulses.read_error += high(self.side_ports.read_error);
        self.pulses.rq_offers += high(self.side_ports.rq_valid);
        self.pulses.rc_offers += high(self.side_ports.rc_valid);
        self.activity.sample(model, &self.activity_ports);
        self.ports.sample(model, &mut self.outputs);
        self.outputs.cfg_flr_done = u8::from(self.function_reset_done);
        self.pcie.step(&self.outputs);
    }

    fn drive(&mut self, model: &mut Model) {
        let inputs = self.pcie.inputs();
        self.ports.drive(model, inputs);
        let mastering = inputs.cfg_function_status >> 2 & 1;
        model.set(self.side_ports.bus_master, mastering.into());
        let extended = self.pcie.config().extended_tags;
        model.set(self.side_ports.extended_tags, extended.into());
        model.set(self.side_ports.reset, u64::from(self.reset));
    }
}

/// What makes a requester for the hard block that is configured, and how it differs from others.
fn requester(config: &PcieConfig) -> (String, impl FnOnce() -> Requester) {
    let buffer =
        CompletionBuffer { headers: config.completion_headers, data: config.completion_data };
    let make = move || Requester::new(TIMEOUT_CYCLES, buffer);
    (format!("{buffer:?}"), make)
}

/// Requester, slot and clients.
pub struct Rig {
    /// The requester and its clock.
    pub bench: Bench,
    /// The slot that it is connected to.
    pub slot: Slot,
    /// Sources and sinks of its clients.
    pub clients: Clients,
    stalls: (Stall, Stall),
}

impl Rig {
    /// A rig out of reset, whose clients stall at random as given.
    pub fn new(config: PcieConfig, source: Stall, sink: Stall) -> Result<Rig, BlockError> {
        let (variant, block) = requester(&config);
        let bench = Bench::of_shared("requester", &variant, block)?;
        Ok(Rig::around(bench, config, source, sink))
    }

    /// A rig with one of the faults that are planted in its Verilog.
    pub fn with_fault(
        faults: &[TextFault],
        fault: TextFault,
        config: PcieConfig,
        (source, sink): (Stall, Stall),
    ) -> Result<Rig, BlockError> {
        let (variant, block) = requester(&config);
        let bench = Bench::with_fault("requester", &variant, block, faults, fault)?;
        Ok(Rig::around(bench, config, source, sink))
    }

    fn around(bench: Bench, config: PcieConfig, source: Stall, sink: Stall) -> Rig {
        let seed = config.seed;
        let slot = Slot::new(&bench.model, config);
        let clients = Clients::new(&bench.model, source, sink, seed);
        let mut rig = Rig { bench, slot, clients, stalls: (source, sink) };
        rig.wait_for_link();
        rig
    }

    /// Runs until the hard block is out of reset.
    pub fn wait_for_link(&mut self) {
        while self.slot.pcie.inputs().user_reset {
            self.cycle();
        }
    }

    /// Starts an epoch: `reset` for a cycle, and all state of the clients is discarded.
    pub fn restart(&mut self) {
        assert_none(&self.clients.violations().collect::<Vec<_>>());
        let seed = self.slot.pcie.config().seed ^ self.bench.now();
        let (source, sink) = self.stalls;
        self.clients = Clients::new(&self.bench.model, source, sink, seed);
        self.slot.reset = true;
        self.cycles(abi::config::RESET_CYCLES);
        self.slot.reset = false;
        self.cycle();
        // Whatever was on the streams during the reset does not count.
        self.clients = Clients::new(&self.bench.model, source, sink, seed);
    }

    /// Queues a write.
    pub fn push_write(&mut self, write: &Write) {
        self.push_write_job(write, false);
        self.clients.write_data[write.client].push(write.bytes.clone());
    }

    /// Queues two writes of one client that share a beat.
    pub fn push_shared_writes(&mut self, first: &Write, second: &Write) {
        self.push_write_job(first, true);
        self.push_write_job(second, false);
        let packet = shared_beat::join(&first.bytes, &second.bytes, 0xa5);
        self.clients.write_data[first.client].push(packet);
    }

    fn push_write_job(&mut self, write: &Write, shares: bool) {
        self.clients.write_jobs[write.client].push_struct(WriteJob {
            address: write.address.into(),
            bytes: (write.bytes.len() as u64).into(),
            relaxed: write.relaxed,
            shares,
        });
    }

    /// Queues a read.
    pub fn push_read(&mut self, read: &Read) {
        self.clients.read_jobs[read.client].push_struct(ReadJob {
            address: read.address.into(),
            bytes: (read.bytes as u64).into(),
        });
    }

    /// One clock cycle.
    pub fn cycle(&mut self) {
        let mut agents = self.clients.agents();
        agents.push(&mut self.slot);
        self.bench.cycle(&mut agents);
    }

    /// Several clock cycles.
    pub fn cycles(&mut self, count: u64) {
        (0..count).for_each(|_| self.cycle());
    }

    /// Every write was taken, and nothing is in flight on the link.
    pub fn is_quiet(&self) -> bool {
        let done = self.clients.write_data.iter().all(PacketSource::is_done);
        done && self.slot.pcie.is_idle()
    }

    /// Runs until every write is in memory.
    pub fn finish_writes(&mut self) {
        let mut quiet = 0;
        let limit = self.bench.now() + 2_000_000;
        while quiet < QUIET_CYCLES {
            self.cycle();
            quiet = if self.is_quiet() { quiet + 1 } else { 0 };
            if self.bench.now() >= limit {
                // What broke a rule is the cause.
                self.assert_clean();
                panic!("writes do not end");
            }
        }
    }

    /// Runs until every client has as many replies as given.
    pub fn finish_reads(&mut self, counts: [usize; 4]) {
        let limit = self.bench.now() + 2_000_000;
        while (0..4).any(|client| self.clients.answers[client].packets.len() < counts[client]) {
            self.cycle();
            if self.bench.now() >= limit {
                self.assert_clean();
                let answers = self.clients.answers.iter();
                let have: Vec<usize> = answers.map(|a| a.packets.len()).collect();
                panic!("{have:?} replies of {counts:?}");
            }
        }
    }

    /// Rules of the link or of a read data stream that the card broke.
    pub fn violations(&self) -> impl Iterator<Item = String> + '_ {
        self.slot.violations().chain(self.clients.violations())
    }

    /// # Panics
    /// If a rule was broken.
    pub fn assert_clean(&self) {
        assert_none(&self.violations().collect::<Vec<_>>());
    }

    /// The next read data of a client.
    pub fn answer(&mut self, client: usize) -> Packet {
        self.clients.answers[client].packets.pop_front().expect("counted")
    }
}
