//! The slot splitter: fetches cut anywhere, descriptors of one and two slots, several owners.
//!
//! ```text
//!   descriptors ──► slots ──► random fetches ──► SlotSplitter ──► the same descriptors
//! ```

use std::collections::VecDeque;

use abi::config::SLOT_BYTES;
use abi::send_descriptor::TWO_SLOTS;
use host_interface::ring::slot_failure::SlotFailure;
use host_interface::ring::slot_splitter::SlotSplitter;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use seed::seed;
use sim::harness::bench::Bench;
use sim::harness::monitor::StreamMonitor;
use sim::harness::payload::field;
use sim::harness::sink::{MessageSink, PacketSink};
use sim::harness::source::{MessageSource, PacketSource};
use sim::harness::stall::Stall;
use stream::prelude::*;
use verilate::width::lint_width_warnings;

const OWNERS: usize = 4;

struct Descriptor {
    index: u32,
    bytes: Vec<u8>,
}

struct Owner {
    slots: VecDeque<Vec<u8>>,
    index: u32,
    expected: VecDeque<Descriptor>,
}

impl Owner {
    /// `count` descriptors of random length, from slot `index` on.
    fn new(random: &mut SmallRng, index: u32, count: usize) -> Owner {
        let mut owner = Owner { slots: VecDeque::new(), index, expected: VecDeque::new() };
        let mut at = index;
        for _ in 0..count {
            let two = random.random_bool(0.5);
            let slots = if two { 2 } else { 1 };
            let mut bytes: Vec<u8> = (0..slots * SLOT_BYTES).map(|_| random.random()).collect();
            TWO_SLOTS.set(&mut bytes, u64::from(two));
            owner.slots.extend(bytes.chunks(SLOT_BYTES).map(<[u8]>::to_vec));
            owner.expected.push_back(Descriptor { index: at, bytes });
            at = at.wrapping_add(slots as u32);
        }
        owner
    }

    /// The next `count` slots as one fetch.
    fn fetch(&mut self, count: usize) -> (u32, Vec<u8>) {
        let index = self.index;
        let slots: Vec<Vec<u8>> = self.slots.drain(..count.min(self.slots.len())).collect();
        self.index = self.index.wrapping_add(slots.len() as u32);
        (index, slots.concat())
    }
}

struct Test {
    bench: Bench,
    fetched: MessageSource,
    entries: PacketSource,
    descriptor_fetch: MessageSink,
    descriptor: PacketSink,
    monitors: [StreamMonitor; 2],
}

impl Test {
    fn new(source: Stall, sink: Stall, seed: u64) -> Test {
        let bench = Bench::of_shared("slots", "", SlotSplitter::<2, 4>::default).expect("builds");
        lint_width_warnings(bench.model.design().warnings()).expect("only masked casts");
        let model = &bench.model;
        Test {
            fetched: MessageSource::new(model, "fetched", source, seed),
            entries: PacketSource::new(model, "entries", source, seed ^ 1),
            descriptor_fetch: MessageSink::new(model, "descriptor_fetch", sink, seed ^ 2),
            descriptor: PacketSink::new(model, "descriptor", sink, seed ^ 3),
            monitors: ["descriptor_fetch", "descriptor"].map(|n| StreamMonitor::new(model, n)),
            bench,
        }
    }

    fn push(&mut self, owner: usize, (index, bytes): (u32, Vec<u8>)) {
        self.fetched.push_struct(RingFetch {
            owner: (owner as u64).into(),
            index: u64::from(index).into(),
        });
        self.entries.push(bytes);
    }

    fn cycles(&mut self, count: u64) {
        let [a, b] = &mut self.monitors;
        self.bench.cycles(
            count,
            &mut [
                &mut self.fetched,
                &mut self.entries,
                &mut self.descriptor_fetch,
                &mut self.descriptor,
                a,
                b,
            ],
        );
    }

    /// The descriptors that came out: owner, index of the first slot, bytes.
    fn take(&mut self) -> Vec<(usize, u32, Vec<u8>)> {
        self.monitors.iter().for_each(StreamMonitor::assert_clean);
        let messages = std::mem::take(&mut self.descriptor_fetch.messages);
        let packets = std::mem::take(&mut self.descriptor.packets);
        assert_eq!(messages.len(), packets.len(), "one message a descriptor");
        messages
            .iter()
            .zip(packets)
            .map(|(message, packet)| {
                assert!(!packet.abort);
                let owner = field::<RingFetch>(message, "owner") as usize;
                (owner, field::<RingFetch>(message, "index") as u32, packet.bytes)
            })
            .collect()
    }
}

#[test]
fn descriptors_arrive_whole_however_fetched() {
    Stall::matrix(seed(), |source, sink, seed| {
        let mut random = SmallRng::seed_from_u64(seed);
        let mut test = Test::new(source, sink, seed);
        let mut owners: Vec<Owner> = (0..OWNERS)
            .map(|owner| Owner::new(&mut random, 0u32.wrapping_sub(20 * owner as u32), 60))
            .collect();
        while owners.iter().any(|owner| !owner.slots.is_empty()) {
            let owner = random.random_range(0..OWNERS);
            if !owners[owner].slots.is_empty() {
                let fetch = owners[owner].fetch(random.random_range(1..=8));
                test.push(owner, fetch);
            }
        }
        while !(test.fetched.is_done() && test.entries.is_done()) {
            test.cycles(1);
            assert!(test.bench.now() < 100_000);
        }
        test.cycles(400);
        for (owner, index, bytes) in test.take() {
            let expected = owners[owner].expected.pop_front().expect("one was posted");
            assert_eq!((index, bytes), (expected.index, expected.bytes), "owner {owner}");
        }
        assert!(owners.iter().all(|owner| owner.expected.is_empty()));
    });
}

#[test]
fn kept_slot_is_forgotten_on_restart() {
    let mut random = SmallRng::seed_from_u64(seed());
    let mut test = Test::new(Stall::None, Stall::None, 1);
    let mut first = vec![7; SLOT_BYTES];
    TWO_SLOTS.set(&mut first, 1);
    test.push(1, (5, first));
    test.cycles(50);
    assert!(test.take().is_empty(), "its second slot is missing");
    let mut owner = Owner::new(&mut random, 0, 3);
    let fetch = owner.fetch(8);
    test.push(1, fetch);
    test.cycles(100);
    let got = test.take();
    assert_eq!(got.len(), 3);
    for ((_, index, bytes), expected) in got.into_iter().zip(owner.expected) {
        assert_eq!((index, bytes), (expected.index, expected.bytes));
    }
}

#[test]
fn reset_forgets_a_kept_slot() {
    let mut test = Test::new(Stall::None, Stall::None, 1);
    let mut first = vec![7; SLOT_BYTES];
    TWO_SLOTS.set(&mut first, 1);
    test.push(1, (5, first));
    test.cycles(50);
    test.bench.set("reset", 1);
    test.cycles(2);
    test.bench.set("reset", 0);
    let mut single = vec![9; SLOT_BYTES];
    TWO_SLOTS.set(&mut single, 0);
    test.push(1, (6, single.clone()));
    test.cycles(50);
    assert_eq!(test.take(), [(1, 6, single)]);
}

#[test]
fn a_slot_takes_two_cycles() {
    let mut test = Test::new(Stall::None, Stall::None, 1);
    let mut slot = vec![9; SLOT_BYTES];
    TWO_SLOTS.set(&mut slot, 0);
    for fetch in 0..40 {
        test.push(1, (16 * fetch, slot.repeat(16)));
    }
    test.cycles(50);
    let before = test.descriptor.packets.len();
    test.cycles(1000);
    assert!(test.descriptor.packets.len() - before >= 499);
}

/// Failures of rings between descriptors that follow each other without a pause, and on an idle
/// ring.
#[test]
fn failure_goes_between_descriptors() {
    Stall::matrix(seed(), |source, sink, seed| {
        let bench = Bench::of(&mut SlotFailure::default(), "slot_failure").expect("builds");
        let model = &bench.model;
        let mut names = MessageSource::new(model, "slots_fetch", source, seed);
        let mut packets = PacketSource::new(model, "slots", source, seed ^ 1);
        let mut names_out = MessageSink::new(model, "descriptor_fetch", sink, seed ^ 2);
        let mut packets_out = PacketSink::new(model, "descriptor", sink, seed ^ 3);
        let mut monitors = ["descriptor_fetch", "descriptor"].map(|n| StreamMonitor::new(model, n));
        let mut bench = bench;
        let (mut named, mut pushed) = (0u64, 0u64);
        for cycle in 0..12_000 {
            // A packet comes no earlier than its name is taken, as from the splitter.
            if named < 50 && named == pushed && packets.is_done() {
                names.push_struct(RingFetch { owner: 1u64.into(), index: named.into() });
                named += 1;
            } else if named > pushed && names.is_done() {
                packets.push(vec![pushed as u8 + 1; SLOT_BYTES * (1 + pushed as usize % 2)]);
                pushed += 1;
            }
            let fails = [3, 4, 40, 100, 1_900].contains(&cycle);
            bench.set("ring_failed$payload", cycle % 16);
            bench.set("ring_failed$valid", u64::from(fails));
            let [a, b] = &mut monitors;
            bench.cycle(&mut [&mut names, &mut packets, &mut names_out, &mut packets_out, a, b]);
        }
        monitors.iter().for_each(StreamMonitor::assert_clean);
        let (mut failed, mut next) = (Vec::new(), 0);
        for (name, packet) in names_out.messages.iter().zip(&packets_out.packets) {
            let get = |field_name| field::<RingFetch>(name, field_name);
            if packet.abort {
                assert_eq!(packet.bytes, vec![0; SLOT_BYTES]);
                failed.push(get("owner"));
            } else {
                assert_eq!((get("owner"), get("index")), (1, next));
                assert!(packet.bytes.iter().all(|byte| u64::from(*byte) == next + 1));
                next += 1;
            }
        }
        assert_eq!((failed, next), (vec![3, 4, 8, 4, 12], 50));
    });
}
