//! The interrupts alone: register writes and produced entries in, messages out.

use std::collections::VecDeque;

use abi::registers;
use host_interface::interrupt::Interrupt;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use sim::harness::agent::Agent;
use sim::harness::bench::Bench;
use sim::harness::monitor::StreamMonitor;
use sim::harness::payload::{bytes_of, field};
use sim::harness::sink::PacketSink;
use sim::harness::stall::Stall;
use sim::switched::TextFault;
use stream::prelude::*;
use verilate::verilated::Model;
use verilate::width::lint_width_warnings;

/// Owners of the block under test, each with a vector.
pub const OWNERS: u32 = 4;

/// A ring of an owner that raises its interrupt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ring {
    /// The header queue.
    Headers,
    /// The confirmations of commands.
    Commands,
    /// The send status.
    Sends,
}

impl Ring {
    pub const ALL: [Ring; 3] = [Ring::Headers, Ring::Commands, Ring::Sends];

    /// The doorbell that arms for it.
    fn doorbell(self) -> u32 {
        match self {
            Ring::Headers => registers::DOORBELL_ARM,
            Ring::Commands => registers::DOORBELL_ARM_COMMANDS,
            Ring::Sends => registers::DOORBELL_ARM_SENDS,
        }
    }

    /// The bundle that reports its entries.
    fn bundle(self) -> &'static str {
        match self {
            Ring::Headers => "header_produced",
            Ring::Commands => "confirmed",
            Ring::Sends => "reported",
        }
    }
}

/// Pulses on one bundle, one a cycle.
pub struct Pulses {
    name: &'static str,
    pub queue: VecDeque<Vec<u8>>,
}

impl Agent for Pulses {
    fn sample(&mut self, _model: &Model) {}

    fn drive(&mut self, model: &mut Model) {
        let pulse = self.queue.pop_front();
        let valid = model.port(&format!("{}$valid", self.name));
        model.set(valid, u64::from(pulse.is_some()));
        if let Some(pulse) = pulse {
            model.set_bytes(model.port(&format!("{}$payload", self.name)), &pulse);
        }
    }
}

/// The write engine and the hard block behind it: they take jobs, and report when the last one has
/// left.
pub struct Engine {
    /// No job is taken.
    pub blocked: bool,
    /// Cycles for which a job that was taken stays under way.
    pub leaves_after: u64,
    jobs: VecDeque<Vec<u8>>,
    payload_bytes: usize,
    stall: Stall,
    random: SmallRng,
    ready: bool,
    left: u64,
}

impl Engine {
    fn new(stall: Stall, seed: u64) -> Engine {
        Engine {
            blocked: false,
            leaves_after: 0,
            jobs: VecDeque::new(),
            payload_bytes: WriteJob::BITS.div_ceil(8),
            stall,
            random: SmallRng::seed_from_u64(!seed),
            ready: false,
            left: 0,
        }
    }
}

impl Agent for Engine {
    fn sample(&mut self, model: &Model) {
        self.left = self.left.saturating_sub(1);
        if self.ready && model.is_high(model.port("write_job$valid")) {
            let mut job = vec![0; self.payload_bytes];
            model.get_bytes(model.port("write_job$payload"), &mut job);
            self.jobs.push_back(job);
            self.left = self.leaves_after;
        }
    }

    fn drive(&mut self, model: &mut Model) {
        let stalls = match self.stall {
            Stall::None => false,
            Stall::Random(probability) => self.random.random_bool(probability),
        };
        self.ready = !stalls && !self.blocked;
        model.set(model.port("write_job$ready"), u64::from(self.ready));
        model.set(model.port("under_way"), u64::from(self.left > 0));
    }
}

/// The interrupts with what drives and reads them.
pub struct Test {
    pub bench: Bench,
    pub settings: Pulses,
    /// The ring of [`Test::arm`] and [`Test::produce`].
    pub ring: Ring,
    produced: [Pulses; 3],
    pub engine: Engine,
    data: PacketSink,
    monitors: [StreamMonitor; 2],
}

fn block() -> Interrupt<2, 4, 4> {
    Interrupt::default()
}

/// Address and data of a vector's message.
pub fn message_of(vector: u32) -> (u64, u32) {
    (0xfee0_0000_0000 + u64::from(vector) * 0x1004, 0x4040 + vector)
}

impl Test {
    pub fn new(sink: Stall, seed: u64) -> Test {
        let bench = Bench::of_shared("interrupt", "", block).expect("builds");
        lint_width_warnings(bench.model.design().warnings()).expect("only masked casts");
        Test::around(bench, sink, seed)
    }

    /// With one of the faults that are planted in its Verilog, otherwise as [`Test::running`].
    pub fn with_fault(faults: &[TextFault], fault: TextFault, sink: Stall, seed: u64) -> Test {
        let bench = Bench::with_fault("interrupt", "", block, faults, fault);
        Test::around(bench.expect("builds"), sink, seed).enable()
    }

    fn around(bench: Bench, sink: Stall, seed: u64) -> Test {
        let pulses = |name| Pulses { name, queue: VecDeque::new() };
        Test {
            settings: pulses("settings"),
            ring: Ring::Headers,
            produced: Ring::ALL.map(|ring| pulses(ring.bundle())),
            engine: Engine::new(sink, seed),
            data: PacketSink::new(&bench.model, "write_data", sink, seed ^ 1),
            monitors: ["write_job", "write_data"].map(|n| StreamMonitor::new(&bench.model, n)),
            bench,
        }
    }

    /// With MSI-X enabled, all vectors set up and open, all owners enabled.
    pub fn running(sink: Stall, seed: u64) -> Test {
        Test::new(sink, seed).enable()
    }

    fn enable(self) -> Test {
        let mut test = self;
        test.bench.set("msix_enable", 1);
        for vector in 0..OWNERS {
            let (address, data) = message_of(vector);
            test.table(vector, 0, address as u32);
            test.table(vector, 1, (address >> 32) as u32);
            test.table(vector, 2, data);
            test.table(vector, 3, 0);
            let context = registers::CONTEXTS + vector * registers::CONTEXT_STRIDE;
            test.write(context + registers::CONTEXT_ENABLE, 1);
        }
        test.cycles(40);
        test
    }

    pub fn write(&mut self, address: u32, value: u32) {
        self.settings.queue.push_back(bytes_of(RegisterWrite {
            address: u64::from(address).into(),
            data: u64::from(value).into(),
        }));
    }

    pub fn table(&mut self, vector: u32, word: u32, value: u32) {
        self.write(registers::MSIX_TABLE + 16 * vector + 4 * word, value);
    }

    pub fn read(&mut self, address: u32) -> u32 {
        self.bench.set("msix_read_address", u64::from(address));
        self.bench.get("msix_read_data") as u32
    }

    pub fn arm(&mut self, owner: u32, seen: u32) {
        let page = registers::DOORBELLS + owner * registers::DOORBELL_STRIDE;
        self.write(page + self.ring.doorbell(), seen);
    }

    pub fn produce(&mut self, owner: u32, index: u32) {
        self.produced[self.ring as usize].queue.push_back(bytes_of(RingFetch {
            owner: u64::from(owner).into(),
            index: u64::from(index).into(),
        }));
    }

    pub fn cycles(&mut self, count: u64) {
        let [a, b] = &mut self.monitors;
        let [headers, commands, sends] = &mut self.produced;
        let mut agents: [&mut dyn Agent; 8] =
            [&mut self.settings, headers, commands, sends, &mut self.engine, &mut self.data, a, b];
        self.bench.cycles(count, &mut agents);
    }

    /// Address and data of the messages written since the last call.
    pub fn messages(&mut self) -> Vec<(u64, u32)> {
        self.monitors.iter().for_each(StreamMonitor::assert_clean);
        let count = self.engine.jobs.len().min(self.data.packets.len());
        let jobs = self.engine.jobs.drain(..count);
        jobs.zip(self.data.packets.drain(..count))
            .map(|(job, packet)| {
                let data = u32::from_le_bytes(packet.bytes[..].try_into().expect("4 bytes"));
                assert_eq!(field::<WriteJob>(&job, "bytes"), 4);
                assert_eq!(field::<WriteJob>(&job, "relaxed"), 0);
                (field::<WriteJob>(&job, "address"), data)
            })
            .collect()
    }

    /// The vectors of the messages written since the last call.
    pub fn take_fired(&mut self) -> Vec<u32> {
        let vector_of = |(address, data): (u64, u32)| {
            let vector = data - message_of(0).1;
            assert_eq!(address, message_of(vector).0);
            vector
        };
        self.messages().into_iter().map(vector_of).collect()
    }
}
