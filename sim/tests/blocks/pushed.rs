//! Pushed send slots: a ring with its push window against a host that pushes, honestly or not.
//!
//! ```text
//!   doorbells, lines ──► PushedSlot ◄─► Ring ──► fetched, entries
//!                            ▲ reads
//!                            ▼
//!                        host memory
//! ```

mod block;

use std::collections::{BTreeMap, VecDeque};

use abi::config::SLOT_BYTES;
use abi::registers as r;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use seed::{enough, seed};
use sim::caught::caught_by;
use sim::harness::agent::Agent;
use sim::harness::bench::Bench;
use sim::harness::monitor::StreamMonitor;
use sim::harness::payload::field;
use sim::harness::sink::{MessageSink, PacketSink};
use sim::harness::source::{Packet, PacketSource};
use sim::harness::stall::Stall;
use sim::switched::{TextFault, NO_FAULT};
use stream::messages::{ReadJob, RingFetch};
use verilate::verilated::Model;

use block::{PushedRing, OWNER_BITS};

const OWNERS: u32 = 1 << OWNER_BITS;
/// log2 slots of every ring.
const RING_BITS: u32 = 4;
/// A push comes this much later than a register write before it, as the completer sees to.
const AFTER_WRITE_CYCLES: u64 = 3;

/// What the host does to the card.
#[derive(Clone, Debug)]
enum Act {
    Write(u32, u32),
    Push { owner: u32, second: bool, line: [u8; r::PUSH_BYTES] },
}

/// Carries the host's acts out in order, and counts slots that were served.
#[derive(Default)]
struct Driver {
    acts: VecDeque<Act>,
    cycle: u64,
    written_at: u64,
    served: u64,
    stopped: u64,
}

impl Agent for Driver {
    fn sample(&mut self, model: &Model) {
        self.served += model.get(model.port("served"));
        self.stopped += model.get(model.port("stopped"));
    }

    fn drive(&mut self, model: &mut Model) {
        self.cycle += 1;
        model.set(model.port("settings$valid"), 0);
        model.set(model.port("pushed$valid"), 0);
        let is_early = self.cycle < self.written_at + AFTER_WRITE_CYCLES;
        match self.acts.front() {
            None => {}
            Some(Act::Push { .. }) if is_early => {}
            Some(Act::Write(address, value)) => {
                model.set(model.port("settings$valid"), 1);
                let payload = u64::from(*address) | u64::from(*value) << 24;
                model.set(model.port("settings$payload"), payload);
                self.written_at = self.cycle;
                self.acts.pop_front();
            }
            Some(Act::Push { owner, second, line }) => {
                model.set(model.port("pushed$valid"), 1);
                // Owner (8 bits), half, data.
                let mut payload = [0; 2 + r::PUSH_BYTES];
                payload[0] = *owner as u8;
                payload[1] = u8::from(*second);
                for (at, byte) in line.iter().enumerate() {
                    payload[at + 1] |= byte << 1;
                    payload[at + 2] |= byte >> 7;
                }
                model.set_bytes(model.port("pushed$payload"), &payload);
                self.acts.pop_front();
            }
        }
    }
}

struct Test {
    bench: Bench,
    random: SmallRng,
    driver: Driver,
    read_job: MessageSink,
    read_data: PacketSource,
    fetched: MessageSink,
    entries: PacketSink,
    monitors: [StreamMonitor; 3],
    answers: VecDeque<(u64, Packet)>,
    memory: Vec<Vec<[u8; SLOT_BYTES]>>,
    /// Slots produced by each owner, oldest first.
    posted: Vec<Vec<[u8; SLOT_BYTES]>>,
    got: BTreeMap<u32, u32>,
    /// Owners whose content is not judged: they push what is not in their ring.
    liars: Vec<u32>,
    reads: u64,
}

fn page(owner: u32) -> u32 {
    r::DOORBELLS + owner * r::DOORBELL_STRIDE
}

fn base(owner: u32) -> u64 {
    0x7_0000_0000 + (u64::from(owner) << 32)
}

impl Test {
    fn new(bench: Bench, source: Stall, sink: Stall, seed: u64) -> Test {
        let model = &bench.model;
        let mut test = Test {
            random: SmallRng::seed_from_u64(seed),
            driver: Driver::default(),
            read_job: MessageSink::new(model, "read_job", sink, seed ^ 1),
            read_data: PacketSource::new(model, "read_data", source, seed ^ 2),
            fetched: MessageSink::new(model, "fetched", sink, seed ^ 3),
            entries: PacketSink::new(model, "entries", sink, seed ^ 4),
            monitors: ["read_job", "fetched", "entries"].map(|n| StreamMonitor::new(model, n)),
            answers: VecDeque::new(),
            memory: vec![vec![[0; SLOT_BYTES]; 1 << RING_BITS]; OWNERS as usize],
            posted: vec![Vec::new(); OWNERS as usize],
            got: BTreeMap::new(),
            liars: Vec::new(),
            reads: 0,
            bench,
        };
        (0..OWNERS).for_each(|owner| test.enable(owner));
        test.cycles(40);
        test
    }

    fn fresh(source: Stall, sink: Stall, seed: u64) -> Test {
        let bench = Bench::of_shared("pushed_ring", "", PushedRing::default).expect("builds");
        Test::new(bench, source, sink, seed)
    }

    fn enable(&mut self, owner: u32) {
        let context = r::CONTEXTS + owner * r::CONTEXT_STRIDE;
        for (register, value) in [
            (r::CONTEXT_SEND_BASE, base(owner) as u32),
            (r::CONTEXT_SEND_BASE + 4, (base(owner) >> 32) as u32),
            (r::CONTEXT_SIZES, RING_BITS << 8),
            (r::CONTEXT_ENABLE, 1),
        ] {
            self.driver.acts.push_back(Act::Write(context + register, value));
        }
        self.posted[owner as usize].clear();
        self.got.insert(owner, 0);
    }

    /// Puts random slots into an owner's ring.
    fn post(&mut self, owner: u32, count: usize) {
        for _ in 0..count {
            let slot: [u8; SLOT_BYTES] = std::array::from_fn(|_| self.random.random());
            let posted = &mut self.posted[owner as usize];
            self.memory[owner as usize][posted.len() % (1 << RING_BITS)] = slot;
            posted.push(slot);
        }
    }

    /// Room in an owner's ring.
    fn room(&self, owner: u32) -> usize {
        let consumed = self.got[&owner] as usize;
        (1 << RING_BITS) - (self.posted[owner as usize].len() - consumed)
    }

    fn push(&mut self, owner: u32, slot: &[u8], halves: &[bool]) {
        for &second in halves {
            let at = usize::from(second) * r::PUSH_BYTES;
            let line = slot[at..at + r::PUSH_BYTES].try_into().expect("a line");
            self.driver.acts.push_back(Act::Push { owner, second, line });
        }
    }

    /// Pushes the slot that was posted last.
    fn push_last(&mut self, owner: u32, halves: &[bool]) {
        let slot = *self.posted[owner as usize].last().expect("a slot");
        self.push(owner, &slot, halves);
    }

    fn ring(&mut self, owner: u32) {
        let produced = self.posted[owner as usize].len() as u32;
        let doorbell = page(owner) + r::DOORBELL_SEND;
        self.driver.acts.push_back(Act::Write(doorbell, produced));
    }

    fn answer(&mut self, job: &[u8]) {
        let address = field::<ReadJob>(job, "address") - base(0);
        let (owner, offset) = ((address >> 32) as usize, address as u32 as usize);
        let slots = field::<ReadJob>(job, "bytes") as usize / SLOT_BYTES;
        let first = offset / SLOT_BYTES;
        let packet = Packet {
            bytes: self.memory[owner][first..first + slots].concat(),
            abort: false,
            meta: Vec::new(),
        };
        let due = self.bench.now() + self.random.random_range(5..120);
        self.answers.push_back((due, packet));
        self.reads += 1;
    }

    fn cycle(&mut self) {
        let [a, b, c] = &mut self.monitors;
        self.bench.cycle(&mut [
            &mut self.driver,
            &mut self.read_job,
            &mut self.read_data,
            &mut self.fetched,
            &mut self.entries,
            a,
            b,
            c,
        ]);
        while let Some(job) = self.read_job.messages.pop_front() {
            self.answer(&job);
        }
        let now = self.bench.now();
        while self.answers.front().is_some_and(|(due, _)| *due <= now) {
            let (_, packet) = self.answers.pop_front().expect("there is one");
            self.read_data.push(packet);
        }
        while !self.entries.packets.is_empty() {
            let Some(message) = self.fetched.messages.pop_front() else {
                break;
            };
            let packet = self.entries.packets.pop_front().expect("there is one");
            self.judge(&message, &packet.bytes);
        }
    }

    fn judge(&mut self, message: &[u8], bytes: &[u8]) {
        let owner = field::<RingFetch>(message, "owner") as u32;
        let index = field::<RingFetch>(message, "index") as u32;
        let next = self.got.get_mut(&owner).expect("an owner");
        assert_eq!(index, *next, "owner {owner}");
        *next += (bytes.len() / SLOT_BYTES) as u32;
        let posted = &self.posted[owner as usize][index as usize..*next as usize];
        let is_right = bytes == posted.concat();
        assert!(
            is_right || self.liars.contains(&owner),
            "owner {owner}, slot {index}: not what it posted"
        );
    }

    fn cycles(&mut self, count: u64) {
        (0..count).for_each(|_| self.cycle());
    }

    fn finish(&mut self) {
        self.cycles(4_000);
        for owner in 0..OWNERS {
            let produced = self.posted[owner as usize].len() as u32;
            assert_eq!(self.got[&owner], produced, "owner {owner}: all, once");
        }
        assert_eq!(self.driver.stopped, 0);
        self.monitors.iter().for_each(StreamMonitor::assert_clean);
    }
}

const BOTH: [bool; 2] = [false, true];

/// Owners post, push (whole, in part, in the wrong order, into each other) and ring at random.
/// `liar` pushes what is not in its ring, too.
fn random_pushes(test: &mut Test, liar: Option<u32>, rounds: u32) {
    test.liars.extend(liar);
    for _ in 0..rounds {
        let owner = test.random.random_range(0..OWNERS);
        let room = test.room(owner);
        if room > 0 {
            let count = test.random.random_range(1..=room.min(3));
            let count = if test.random.random_bool(0.7) { 1 } else { count };
            test.post(owner, count);
            match test.random.random_range(0..10) {
                0 => test.push_last(owner, &[true]),
                1 => test.push_last(owner, &[true, false]),
                2 => test.push_last(owner, &[false]),
                3 => {}
                _ => test.push_last(owner, &BOTH),
            }
            if let (Some(liar), true) = (liar, test.random.random_bool(0.4)) {
                let garbage: [u8; SLOT_BYTES] = std::array::from_fn(|_| test.random.random());
                let halves = [&BOTH[..], &[false], &[true]][test.random.random_range(0..3)];
                test.push(liar, &garbage, halves);
            }
            test.ring(owner);
        }
        if test.random.random_bool(0.1) {
            // The same doorbell again, with or without a copy.
            let again = test.random.random_range(0..OWNERS);
            if test.random.random_bool(0.5) && !test.posted[again as usize].is_empty() {
                test.push_last(again, &BOTH);
            }
            test.ring(again);
        }
        if test.random.random_bool(0.02) && test.random.random_bool(0.5) {
            // An enabled owner starts again; what it had in flight is dropped.
            let again = test.random.random_range(0..OWNERS);
            test.cycles(2_000);
            test.enable(again);
        }
        // Now and then nothing is in flight, so that a copy can serve.
        let pause = match test.random.random_range(0..4) {
            0 => 0,
            1 => test.random.random_range(0..12),
            2 => test.random.random_range(0..200),
            _ => 250,
        };
        test.cycles(pause);
    }
    test.finish();
}

/// All owners ring at once for slots of the same index; one of them has pushed its own.
fn owners_in_step(test: &mut Test) {
    for round in 0..40 {
        let pusher = round % OWNERS;
        (0..OWNERS).for_each(|owner| test.post(owner, 1));
        test.push_last(pusher, &BOTH);
        (0..OWNERS).rev().for_each(|owner| test.ring(owner));
        test.cycles(400);
    }
    test.finish();
}

#[test]
fn owners_in_step_get_own_slots() {
    let mut test = Test::fresh(Stall::None, Stall::None, seed());
    owners_in_step(&mut test);
}

/// Two slots over the ring's end are fetched one by one; the copy is that of the second.
fn second_of_two(test: &mut Test) {
    let size = 1 << RING_BITS;
    let to_end = size - 1 - test.posted[1].len() % size;
    test.post(1, to_end);
    test.ring(1);
    test.cycles(500);
    test.post(1, 2);
    test.push_last(1, &BOTH);
    test.ring(1);
    test.cycles(500);
}

#[test]
fn copy_serves_its_index_alone() {
    let mut test = Test::fresh(Stall::None, Stall::None, seed());
    second_of_two(&mut test);
    test.finish();
}

#[test]
fn every_slot_leaves_once_despite_pushes() {
    Stall::matrix(seed(), |source, sink, seed| {
        let mut test = Test::fresh(source, sink, seed);
        random_pushes(&mut test, None, 600);
        let of = |what: &str| format!("{what}, {source:?} {sink:?}");
        enough(&of("slots served"), test.driver.served, 20);
        enough(&of("reads"), test.reads, 60);
    });
}

#[test]
fn pushes_never_leave_as_others() {
    Stall::matrix(seed(), |source, sink, seed| {
        let mut test = Test::fresh(source, sink, seed);
        random_pushes(&mut test, Some(3), 600);
        let what = format!("slots of one owner served, {source:?} {sink:?}");
        enough(&what, test.driver.served, 5);
    });
}

#[test]
fn pushed_slot_needs_no_read() {
    let mut test = Test::fresh(Stall::None, Stall::None, seed());
    // No turn of the owners has work: the doorbell's is looked at next.
    for owner in [2, 0, 3] {
        test.post(owner, 1);
        test.push_last(owner, &BOTH);
        test.ring(owner);
        while !test.driver.acts.is_empty() {
            test.cycle();
        }
        let before = test.got[&owner];
        let rung = test.bench.now();
        while test.got[&owner] == before {
            test.cycle();
        }
        let cycles = test.bench.now() - rung;
        assert!(cycles <= 16, "{cycles} cycles from the doorbell");
        test.cycles(100);
    }
    assert_eq!((test.driver.served, test.reads), (3, 0));
    test.finish();
}

/// The first half of one owner's slot, the second of another's.
fn halves_of_two_owners(test: &mut Test) {
    test.post(1, 1);
    test.push_last(1, &[false]);
    test.post(2, 1);
    test.push_last(2, &[true]);
    test.ring(2);
    test.cycles(250);
    test.ring(1);
    test.cycles(250);
}

#[test]
fn slot_is_read_after_incomplete_push() {
    for halves in [&[false][..], &[true], &[true, false], &[false, false]] {
        let mut test = Test::fresh(Stall::None, Stall::None, seed());
        test.post(1, 1);
        test.push_last(1, halves);
        test.ring(1);
        test.finish();
        assert_eq!((test.driver.served, test.reads), (0, 1), "{halves:?}");
    }
    // Another owner's half between, and a context enabled between.
    let mut test = Test::fresh(Stall::None, Stall::None, seed());
    halves_of_two_owners(&mut test);
    test.post(0, 1);
    test.push_last(0, &BOTH);
    let slot = *test.posted[0].last().expect("a slot");
    test.enable(0);
    test.memory[0][0] = slot;
    test.posted[0].push(slot);
    test.ring(0);
    test.finish();
    assert_eq!((test.driver.served, test.reads), (0, 3));
}

/// Faults in what makes a copy another owner's, or another slot's.
const FAULTS: [TextFault; 4] = [
    // Another owner's slot of the same index.
    ("same_owner = hold_named[8:1] == ring_of[7:0]", "same_owner = 1'b1"),
    // Halves of two owners.
    ("has_first & (pushed_payload[7:0] == slot[8:1])", "has_first"),
    // Another slot of the same owner.
    ("(hold_named[40:9] == ring_of[39:8])", "1'b1"),
    // Past reads in flight.
    ("(in_flight == 5'd0)", "1'b1"),
];

/// The random test catches them.
#[test]
fn planted_faults_are_caught() {
    let run = |fault: TextFault| {
        let block = PushedRing::default;
        let bench = Bench::with_fault("pushed_ring", "", block, &FAULTS, fault);
        let mut test = Test::new(bench.expect("builds"), Stall::None, Stall::None, seed());
        owners_in_step(&mut test);
        halves_of_two_owners(&mut test);
        second_of_two(&mut test);
        random_pushes(&mut test, Some(3), 1_500);
    };
    run(NO_FAULT);
    for fault in FAULTS {
        caught_by("not what it posted", fault.1, || run(fault));
    }
}
