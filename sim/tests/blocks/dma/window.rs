//! Writes that share a beat of RQ while the link has no credits: at most 32 are in flight, each
//! with a number of its own, whatever the requester counts.
//!
//! ```text
//!   short writes ──► Requester ── RQ: two in a beat ──► hard block ──► link without credits
//!                                  │                        │
//!                                  └──► Window: numbers ◄───┘ numbers that return, late
//! ```

use std::collections::BTreeSet;

use super::support::{generator, open, random_bytes};
use pcie_sim::{Credits, PcieConfig};
use rand::rngs::SmallRng;
use rand::Rng;
use seed::seed;
use sim::caught::caught_by;
use sim::coverage::Coverage;
use sim::dma_rig::{Rig, Write};
use sim::harness::stall::Stall;
use sim::switched::TextFault;

/// Most writes whose number has not returned.
const WINDOW: usize = 32;
/// Bit of a sequence number that is set for reads.
const READ: u64 = 32;
/// What the writes must meet: starts in a beat, and how many writes were in flight before it.
const DRAWN: [&str; 7] =
    ["one at 29", "one at 30", "one at 31", "one below", "two at 29", "two below", "window full"];

/// The writes in flight, as the port shows them.
#[derive(Default)]
struct Window {
    in_flight: BTreeSet<u64>,
    next: u64,
    drawn: Coverage,
}

impl Window {
    /// Looks at the port in the cycle that is about to end.
    fn look(&mut self, rig: &Rig) {
        let is_taken = rig.bench.get("s_axis_rq_tvalid") & rig.bench.get("s_axis_rq_tready");
        if is_taken & 1 == 1 {
            let model = &rig.bench.model;
            self.beat(model.words(model.port("s_axis_rq_tuser")));
        }
        for lane in ["0", "1"] {
            if rig.bench.get(&format!("pcie_rq_seq_num_vld{lane}")) == 1 {
                let number = rig.bench.get(&format!("pcie_rq_seq_num{lane}"));
                let was_there = self.in_flight.remove(&number);
                assert!(was_there, "number {number} returns twice");
            }
        }
    }

    /// The starts of a beat: PG213, bits 20, 21, 61 to 66 and 67 to 72 of the side band.
    fn beat(&mut self, user: &[u32]) {
        let bits = |at: usize| {
            let (word, shift) = (at / 32, at % 32);
            (u64::from(user[word]) | u64::from(user[word + 1]) << 32) >> shift
        };
        let starts = (bits(20) & 3).count_ones() as usize;
        let before = self.in_flight.len();
        for number in [bits(61), bits(67)].iter().take(starts) {
            let number = number & 63;
            assert_eq!(number & READ, 0, "only writes are sent");
            assert_eq!(number, self.next, "a number out of order");
            self.next = (number + 1) % WINDOW as u64;
            assert!(self.in_flight.insert(number), "number {number} is in flight");
        }
        let after = self.in_flight.len();
        let count = ["none", "one", "two"][starts];
        match before {
            29..WINDOW if starts > 0 => self.drawn.count_of(count, format!("at {before}")),
            _ if starts > 0 => self.drawn.count_of(count, "below"),
            _ => {}
        }
        if after == WINDOW && starts > 0 {
            self.drawn.count("window full");
        }
    }
}

/// Posted headers for which the link has credits, and how late they return, in ns: the window
/// stays full, or empties in bursts and fills again.
const LINKS: [(u32, u64); 4] = [(5, 900), (16, 1500), (24, 2000), (40, 1500)];

fn config(seed: u64, (posted_headers, credit_return_ns): (u32, u64)) -> PcieConfig {
    PcieConfig {
        seed,
        host_credits: Credits { posted_headers, posted_data: 2032, nonposted_headers: 8 },
        credit_return_ns,
        // Two writes start together if the first had to wait.
        rq_stall_permille: 400,
        ..PcieConfig::default()
    }
}

/// Pairs of writes of which the second may start in the beat of the first, or in the middle of it.
fn short_writes(rig: &mut Rig, random: &mut SmallRng, count: u64) -> Coverage {
    let base = rig.slot.memory(512 * count);
    let mut writes = Vec::new();
    for index in 0..count / 2 {
        let client = random.random_range(0..3);
        // Of at most four dwords: another write may start in its beat.
        let tiny = random.random_range(1..=13);
        let behind = [tiny, tiny, 40, 90][random.random_range(0..4)];
        let [first, second] = [(0, tiny), (512, behind)].map(|(at, bytes)| Write {
            client,
            address: base + 1024 * index + at,
            bytes: random_bytes(random, bytes),
            relaxed: true,
        });
        match behind > 32 {
            true => rig.push_shared_writes(&first, &second),
            false => {
                rig.push_write(&first);
                rig.push_write(&second);
            }
        }
        writes.push(first);
        writes.push(second);
    }
    let mut window = Window::default();
    let limit = rig.bench.now() + 200_000;
    let mut quiet = 0;
    while quiet < 500 {
        window.look(rig);
        rig.cycle();
        quiet = if rig.is_quiet() { quiet + 1 } else { 0 };
        assert!(rig.bench.now() < limit, "writes do not end");
    }
    rig.assert_clean();
    assert!(window.in_flight.is_empty(), "numbers do not return");
    for write in &writes {
        let landed = rig.slot.bytes(write.address, write.bytes.len());
        assert!(landed == write.bytes, "{:#x} differs", write.address);
    }
    window.drawn
}

/// Every link, with clients that stall more or less.
fn on_all_links(open: impl Fn(PcieConfig, Stall) -> Rig) -> Coverage {
    let seed = seed();
    let mut random = generator(seed);
    let mut drawn = Coverage::default();
    for link in LINKS {
        for stall in [Stall::None, Stall::Random(0.3)] {
            let mut rig = open(config(seed, link), stall);
            drawn.add(&short_writes(&mut rig, &mut random, 1_000));
        }
    }
    drawn
}

#[test]
fn two_writes_in_beat_keep_window() {
    let drawn = on_all_links(|config, stall| open(config, stall, Stall::None));
    drawn.check("writes in flight", &DRAWN);
}

/// All of this file: one model holds them.
const FAULTS: [TextFault; 4] = [
    A_SECOND_WRITE_OF_A_BEAT_BEYOND_THE_WINDOW,
    A_SECOND_WRITE_OF_A_BEAT_THAT_NOBODY_COUNTS,
    ROOM_FOR_ONE_WRITE_THAT_TWO_TAKE,
    TWO_WRITES_OF_A_BEAT_WITH_ONE_NUMBER,
];

fn caught(checker: &str, fault: TextFault) {
    let faulty = |config, stall| {
        let rig = Rig::with_fault(&FAULTS, fault, config, (stall, Stall::None));
        rig.expect("it builds")
    };
    caught_by(checker, fault.1, || {
        on_all_links(faulty);
    });
}

const A_SECOND_WRITE_OF_A_BEAT_BEYOND_THE_WINDOW: TextFault =
    (" & second_ready) & count_two_in_window;", " & second_ready);");

#[test]
fn second_write_beyond_window_is_caught() {
    caught("is in flight", A_SECOND_WRITE_OF_A_BEAT_BEYOND_THE_WINDOW);
}

/// The requester's own count says nothing of it: the port does.
const A_SECOND_WRITE_OF_A_BEAT_THAT_NOBODY_COUNTS: TextFault =
    ("assign counted = takes_write | took_two;", "assign counted = takes_write;");

#[test]
fn second_write_left_uncounted_is_caught() {
    caught("is in flight", A_SECOND_WRITE_OF_A_BEAT_THAT_NOBODY_COUNTS);
}

const ROOM_FOR_ONE_WRITE_THAT_TWO_TAKE: TextFault =
    ("in_flight_max_of_two = 6'd30", "in_flight_max_of_two = 6'd32");

#[test]
fn one_room_for_two_writes_is_caught() {
    caught("is in flight", ROOM_FOR_ONE_WRITE_THAT_TWO_TAKE);
}

const TWO_WRITES_OF_A_BEAT_WITH_ONE_NUMBER: TextFault =
    ("next_number <= next_number + 5'd2", "next_number <= next_number + 5'd1");

#[test]
fn two_writes_with_one_number_are_caught() {
    caught("a number out of order", TWO_WRITES_OF_A_BEAT_WITH_ONE_NUMBER);
}
