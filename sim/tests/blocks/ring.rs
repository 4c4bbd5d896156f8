//! The ring fetcher against a host memory that answers late and sometimes with an abort.
//!
//! ```text
//!   doorbells ──► Ring ──► read_job ──► host memory ──► read_data ──► Ring ──► fetched, entries
//! ```

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use abi::registers;
use host_interface::ring::ring_state::{RingKind, COMMAND_RING, SEND_RING};
use host_interface::ring::Ring;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use seed::seed;
use sim::harness::agent::Agent;
use sim::harness::bench::Bench;
use sim::harness::monitor::StreamMonitor;
use sim::harness::payload::field;
use sim::harness::sink::{MessageSink, PacketSink};
use sim::harness::source::{Packet, PacketSource};
use sim::harness::stall::Stall;
use stream::messages::{ReadJob, RingFetch};
use verilate::verilated::Model;
use verilate::width::lint_width_warnings;

const OWNERS: u32 = 4;

/// Register writes, one a cycle, and the owners whose ring stopped.
#[derive(Default)]
struct Settings {
    queue: VecDeque<(u32, u32)>,
    failed: Vec<u32>,
}

impl Settings {
    fn write(&mut self, address: u32, value: u32) {
        self.queue.push_back((address, value));
    }

    fn context(&mut self, owner: u32, register: u32, value: u32) {
        let address = registers::CONTEXTS + owner * registers::CONTEXT_STRIDE + register;
        self.write(address, value);
    }

    fn doorbell(&mut self, owner: u32, register: u32, value: u32) {
        let address = registers::DOORBELLS + owner * registers::DOORBELL_STRIDE + register;
        self.write(address, value);
    }
}

impl Agent for Settings {
    fn sample(&mut self, model: &Model) {
        if model.is_high(model.port("ring_failed$valid")) {
            let owner = model.get(model.port("ring_failed$payload"));
            self.failed.push(owner as u32);
        }
    }

    fn drive(&mut self, model: &mut Model) {
        let write = self.queue.pop_front();
        model.set(model.port("settings$valid"), u64::from(write.is_some()));
        if let Some((address, value)) = write {
            let payload = u64::from(address) | u64::from(value) << 24;
            model.set(model.port("settings$payload"), payload);
        }
    }
}

/// One host: rings of four owners, their content by index, and what was fetched.
struct Host {
    kind: RingKind,
    random: SmallRng,
    size_bits: [u32; OWNERS as usize],
    producer: [u32; OWNERS as usize],
    jobs: VecDeque<(u64, Packet)>,
    /// Cycles from a read to its answer.
    latency_cycles: Range<u64>,
    /// Aborts the answer to a read of this owner.
    fail: Option<u32>,
    log: Vec<(u32, u32)>,
}

/// The content of an entry, beat by beat, tells owner and index.
fn entry(owner: u32, index: u32, kind: &RingKind) -> Vec<u8> {
    let words = (1usize << kind.entry_bits) / 4;
    (0..words as u32)
        .flat_map(|word| (owner << 28 ^ index.wrapping_mul(0x101) ^ word << 20).to_le_bytes())
        .collect()
}

impl Host {
    fn new(kind: RingKind, seed: u64) -> Host {
        let mut random = SmallRng::seed_from_u64(seed);
        Host {
            kind,
            size_bits: std::array::from_fn(|_| random.random_range(2..6)),
            random,
            producer: [0; OWNERS as usize],
            jobs: VecDeque::new(),
            latency_cycles: 5..200,
            fail: None,
            log: Vec::new(),
        }
    }

    fn base(owner: u32) -> u64 {
        0x12_3456_0000_0000 + (u64::from(owner) << 32)
    }

    fn enable(&mut self, owner: u32, settings: &mut Settings) {
        let base = Host::base(owner);
        let size = self.size_bits[owner as usize] << self.kind.size_bit;
        settings.context(owner, self.kind.base, base as u32);
        settings.context(owner, self.kind.base + 4, (base >> 32) as u32);
        settings.context(owner, registers::CONTEXT_SIZES, size);
        settings.context(owner, registers::CONTEXT_ENABLE, 1);
        self.producer[owner as usize] = 0;
    }

    /// Answers a read job from the index that the ring's consumer must have reached.
    fn answer(&mut self, now: u64, job: &[u8], next: &mut BTreeMap<u32, u32>) {
        let address = field::<ReadJob>(job, "address");
        let bytes = field::<ReadJob>(job, "bytes");
        let owner = ((address - Host::base(0)) >> 32) as u32;
        let size = 1u32 << self.size_bits[owner as usize];
        let at = ((address - Host::base(owner)) >> self.kind.entry_bits) as u32;
        let count = (bytes >> self.kind.entry_bits) as u32;
        let index = next.entry(owner).or_default();
        assert_eq!(at, *index & (size - 1), "owner {owner}: place of index {index}");
        assert!(count >= 1 && count <= self.kind.entries_max);
        assert!(at + count <= size, "owner {owner}: {at} + {count} crosses the end");
        let ahead = self.producer[owner as usize].wrapping_sub(*index);
        assert!(count <= ahead, "owner {owner}: {count} of {ahead} produced");
        let bytes =
            (0..count).flat_map(|i| entry(owner, index.wrapping_add(i), &self.kind)).collect();
        *index = index.wrapping_add(count);
        let abort = self.fail == Some(owner);
        let due = now + self.random.random_range(self.latency_cycles.clone());
        self.jobs.push_back((due, Packet { bytes, abort, meta: Vec::new() }));
        self.log.push((owner, count));
    }
}

struct Test {
    bench: Bench,
    host: Host,
    settings: Settings,
    read_job: MessageSink,
    read_data: PacketSource,
    fetched: MessageSink,
    entries: PacketSink,
    monitors: [StreamMonitor; 3],
    read_index: BTreeMap<u32, u32>,
    got: Vec<(u32, u32, Vec<u8>)>,
}

impl Test {
    fn new(kind: RingKind, source: Stall, sink: Stall, seed: u64) -> Test {
        let bench = Bench::of_shared("ring", &format!("{kind:?}"), || Ring::<2, 4>::new(kind));
        let bench = bench.expect("builds");
        lint_width_warnings(bench.model.design().warnings()).expect("only masked casts");
        let model = &bench.model;
        Test {
            host: Host::new(kind, seed),
            settings: Settings::default(),
            read_job: MessageSink::new(model, "read_job", sink, seed ^ 1),
            read_data: PacketSource::new(model, "read_data", source, seed ^ 2),
            fetched: MessageSink::new(model, "fetched", sink, seed ^ 3),
            entries: PacketSink::new(model, "entries", sink, seed ^ 4),
            monitors: ["read_job", "fetched", "entries"].map(|n| StreamMonitor::new(model, n)),
            read_index: BTreeMap::new(),
            got: Vec::new(),
            bench,
        }
    }

    fn cycle(&mut self) {
        let [a, b, c] = &mut self.monitors;
        self.bench.cycle(&mut [
            &mut self.settings,
            &mut self.read_job,
            &mut self.read_data,
            &mut self.fetched,
            &mut self.entries,
            a,
            b,
            c,
        ]);
        let now = self.bench.now();
        while let Some(job) = self.read_job.messages.pop_front() {
            self.host.answer(now, &job, &mut self.read_index);
        }
        while self.host.jobs.front().is_some_and(|(due, _)| *due <= now) {
            let (_, packet) = self.host.jobs.pop_front().expect("there is one");
            self.read_data.push(packet);
        }
        while !self.entries.packets.is_empty() {
            let Some(message) = self.fetched.messages.pop_front() else {
                break;
            };
            let packet = self.entries.packets.pop_front().expect("there is one");
            assert!(!packet.abort);
            self.got.push((
                field::<RingFetch>(&message, "owner") as u32,
                field::<RingFetch>(&message, "index") as u32,
                packet.bytes,
            ));
        }
    }

    fn cycles(&mut self, count: u64) {
        (0..count).for_each(|_| self.cycle());
    }

    /// Produces up to `most` entries, never more than the ring holds beyond what was handed on.
    fn produce(&mut self, owner: u32, consumed: u32, most: u32) {
        let size = 1u32 << self.host.size_bits[owner as usize];
        let producer = self.host.producer[owner as usize];
        let free = size - producer.wrapping_sub(consumed);
        let count = self.host.random.random_range(0..=most).min(free);
        if count > 0 {
            self.host.producer[owner as usize] = producer + count;
            self.settings.doorbell(owner, self.host.kind.doorbell, producer + count);
        }
    }

    /// Every entry handed on, by owner, in index order and with its own content.
    fn check_content(&self) -> BTreeMap<u32, u32> {
        let mut next = BTreeMap::new();
        for (owner, index, bytes) in &self.got {
            let expected: &mut u32 = next.entry(*owner).or_default();
            assert_eq!(index, expected, "owner {owner}");
            for chunk in bytes.chunks(1 << self.host.kind.entry_bits) {
                assert_eq!(chunk, entry(*owner, *expected, &self.host.kind));
                *expected += 1;
            }
        }
        next
    }

    fn assert_clean(&self) {
        self.monitors.iter().for_each(StreamMonitor::assert_clean);
        assert!(self.fetched.messages.is_empty() && self.entries.packets.is_empty());
    }
}

fn traffic(kind: RingKind, source: Stall, sink: Stall, seed: u64) {
    let mut test = Test::new(kind, source, sink, seed);
    for owner in 0..OWNERS {
        test.host.enable(owner, &mut test.settings);
    }
    test.cycles(40);
    // Stalls may let little through: go on until every ring has wrapped.
    let mut rounds = 0;
    while rounds < 400 || test.host.producer.iter().any(|count| *count <= 64) {
        rounds += 1;
        assert!(rounds < 4_000, "every ring wrapped");
        let owner = test.host.random.random_range(0..OWNERS);
        let consumed = test.check_content().get(&owner).copied().unwrap_or(0);
        test.produce(owner, consumed, 20);
        let pause = test.host.random.random_range(0..60);
        test.cycles(pause);
    }
    test.cycles(6_000);
    let handed: Vec<u32> = test.check_content().into_values().collect();
    assert_eq!(handed, test.host.producer, "all that was produced, once");
    assert!(test.settings.failed.is_empty());
    test.assert_clean();
}

#[test]
fn command_rings_wrap_under_all_stalls() {
    Stall::matrix(seed(), |source, sink, seed| traffic(COMMAND_RING, source, sink, seed));
}

#[test]
fn send_rings_wrap_under_all_stalls() {
    Stall::matrix(seed(), |source, sink, seed| traffic(SEND_RING, source, sink, seed));
}

#[test]
fn aborted_fetch_stops_owner_until_enabled() {
    let mut test = Test::new(COMMAND_RING, Stall::None, Stall::None, seed());
    test.host.size_bits = [5; 4];
    for owner in 0..OWNERS {
        test.host.enable(owner, &mut test.settings);
    }
    test.cycles(40);
    test.host.fail = Some(2);
    for owner in 0..OWNERS {
        test.host.producer[owner as usize] = 32;
        test.settings.doorbell(owner, COMMAND_RING.doorbell, 32);
    }
    test.cycles(2_000);
    assert_eq!(test.settings.failed, [2], "one pulse for both fetches");
    let handed = test.check_content();
    assert_eq!(handed, BTreeMap::from([(0, 32), (1, 32), (3, 32)]));

    test.host.fail = None;
    test.host.enable(2, &mut test.settings);
    test.read_index.insert(2, 0);
    test.cycles(20);
    test.host.producer[2] = 5;
    test.settings.doorbell(2, COMMAND_RING.doorbell, 5);
    test.cycles(500);
    assert_eq!(test.check_content().get(&2), Some(&5));
    test.assert_clean();
}

#[test]
fn enables_do_not_disturb_other_owners() {
    let seed = seed();
    let mut test = Test::new(COMMAND_RING, Stall::Random(0.3), Stall::Random(0.3), seed);
    for owner in 0..OWNERS {
        test.host.enable(owner, &mut test.settings);
    }
    test.cycles(40);
    for _ in 0..500 {
        let owner = test.host.random.random_range(0..OWNERS - 1);
        let consumed = test.check_content().get(&owner).copied().unwrap_or(0);
        test.produce(owner, consumed, 6);
        for _ in 0..test.host.random.random_range(1..20) {
            let enable = test.host.random.random_range(0..2);
            test.settings.context(OWNERS - 1, registers::CONTEXT_ENABLE, enable);
        }
        let pause = test.host.random.random_range(0..30);
        test.cycles(pause);
    }
    test.cycles(8_000);
    let handed: Vec<u32> = test.check_content().into_values().collect();
    assert_eq!(handed, test.host.producer[..3]);
    assert!(test.settings.failed.is_empty());
    test.assert_clean();
}

#[test]
fn producer_beyond_the_ring_stops_it() {
    let mut test = Test::new(SEND_RING, Stall::None, Stall::None, seed());
    test.host.size_bits = [3; 4];
    test.host.enable(1, &mut test.settings);
    test.settings.doorbell(1, SEND_RING.doorbell, 9);
    test.cycles(200);
    assert_eq!(test.settings.failed, [1]);
    assert!(test.host.log.is_empty(), "nothing was read");
    test.assert_clean();
}

#[test]
fn fetch_across_enable_is_dropped() {
    let mut test = Test::new(COMMAND_RING, Stall::None, Stall::None, seed());
    test.host.size_bits = [4; 4];
    test.host.enable(0, &mut test.settings);
    test.host.producer[0] = 7;
    test.settings.doorbell(0, COMMAND_RING.doorbell, 7);
    while test.host.log.is_empty() {
        test.cycle();
    }
    test.host.jobs[0].0 = test.bench.now() + 300;
    test.settings.context(0, registers::CONTEXT_ENABLE, 1);
    test.cycles(600);
    assert!(test.got.is_empty(), "{:?}", test.got);
    test.read_index.clear();
    test.host.producer[0] = 3;
    test.settings.doorbell(0, COMMAND_RING.doorbell, 3);
    test.cycles(600);
    assert_eq!(test.check_content().get(&0), Some(&3));
    assert!(test.settings.failed.is_empty());
    test.assert_clean();
}

#[test]
fn reset_disables_every_ring() {
    let mut test = Test::new(COMMAND_RING, Stall::None, Stall::None, seed());
    let ring = |test: &mut Test, owner: u32, producer: u32| {
        test.host.producer[owner as usize] = producer;
        let doorbell = COMMAND_RING.doorbell;
        test.settings.doorbell(owner, doorbell, producer);
        test.cycles(500);
    };
    let all = |count| Vec::from_iter((0..OWNERS).map(|owner| (owner, count)));
    for owner in 0..OWNERS {
        test.host.enable(owner, &mut test.settings);
        test.cycles(20);
        ring(&mut test, owner, 2);
    }
    assert_eq!(Vec::from_iter(test.check_content()), all(2), "before");
    test.bench.set("reset", 1);
    test.cycles(16);
    test.bench.set("reset", 0);
    test.host.log.clear();
    (0..OWNERS).for_each(|owner| ring(&mut test, owner, 4));
    assert_eq!(test.host.log, [], "read while disabled");
    let model = &test.bench.model;
    assert_eq!(model.get(model.port("stopped")), 0, "disabled, not stopped");
    // Enabled again, each ring begins at its first entry.
    test.got.clear();
    test.read_index.clear();
    for owner in 0..OWNERS {
        test.host.enable(owner, &mut test.settings);
        test.cycles(20);
        ring(&mut test, owner, 3);
    }
    assert_eq!(Vec::from_iter(test.check_content()), all(3), "after");
    test.assert_clean();
}

/// Reads that take 900 ns: what is in flight must cover them, even for a single ring. Behind each
/// fetch of 32 beats is a cycle; PCIe brings 29 beats in 33 cycles.
#[test]
fn send_ring_reaches_32_beats_in_33() {
    let mut test = Test::new(SEND_RING, Stall::None, Stall::None, seed());
    test.host.size_bits = [9; 4];
    test.host.latency_cycles = 225..226;
    test.host.enable(1, &mut test.settings);
    test.cycles(40);
    let mut before = 0;
    for round in 0..60 {
        let consumed = test.check_content().get(&1).copied().unwrap_or(0);
        let producer = consumed + 512;
        test.host.producer[1] = producer;
        test.settings.doorbell(1, SEND_RING.doorbell, producer);
        test.cycles(50);
        if round == 19 {
            before = consumed;
        }
    }
    let slots = test.check_content()[&1] - before;
    println!("{slots} slots in 2,050 cycles");
    assert!(slots >= 990, "{slots} slots in 2,050 cycles");
    test.cycles(2_000);
    test.check_content();
    test.assert_clean();
}

#[test]
fn idle_rings_doorbell_is_found_immediately() {
    let mut test = Test::new(SEND_RING, Stall::None, Stall::None, seed());
    for owner in 0..OWNERS {
        test.host.enable(owner, &mut test.settings);
    }
    test.cycles(40);
    for owner in [3, 0, 2, 2, 1] {
        let producer = test.host.producer[owner as usize] + 1;
        test.host.producer[owner as usize] = producer;
        test.settings.doorbell(owner, SEND_RING.doorbell, producer);
        let before = test.host.log.len();
        let mut cycles = 0;
        while test.host.log.len() == before {
            test.cycle();
            cycles += 1;
        }
        assert!(cycles <= 9, "{cycles} cycles to the read of owner {owner}");
        test.cycles(300);
    }
    test.assert_clean();
}
