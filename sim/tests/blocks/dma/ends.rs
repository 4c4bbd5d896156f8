//! Two ends of one read in one beat of RC, from a completer that is right or wrong: one answer, the
//! room for its completions given back once, the tag good for the next read.
//!
//! ```text
//!   RC beat 1 │        ...  A: descriptor, 1 dword │
//!   RC beat 2 │ rest of A │ B: descriptor, dwords  │   A and B answer one read, and both end here
//! ```

use std::collections::VecDeque;

use super::support::completer::{pack, Completer, Completion, RcBeat, ReadSeen};
use dma::requester::Requester;
use ip::completion_buffer::CompletionBuffer;
use rand::rngs::SmallRng;
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use seed::seed;
use sim::caught::caught_by;
use sim::coverage::Coverage;
use sim::dma_rig::TIMEOUT_CYCLES;
use sim::harness::bench::Bench;
use sim::harness::monitor::StreamMonitor;
use sim::harness::sink::PacketSink;
use sim::harness::source::MessageSource;
use sim::harness::stall::Stall;
use sim::switched::{TextFault, NO_FAULT};
use stream::messages::ReadJob;

/// Reads that are under way together.
const BATCH: u64 = 8;
/// Batches: with 256 tags each tag serves a dozen reads.
const BATCHES: u64 = 400;
/// Longest read: it fits the lanes of a beat once.
const DWORDS_MAX: usize = 12;

/// How the two completions of a read end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    /// As they should.
    Right,
    /// Both say that they are the last one.
    BothLast,
    /// The first is all of the read, the second repeats a part of it.
    LastAgain,
    /// Both are poisoned.
    BothPoisoned,
    /// Both are poisoned and say that they are the last one.
    BothPoisonedLast,
    /// The second is poisoned.
    SecondPoisoned,
}

const ENDINGS: [Ending; 6] = [
    Ending::Right,
    Ending::BothLast,
    Ending::LastAgain,
    Ending::BothPoisoned,
    Ending::BothPoisonedLast,
    Ending::SecondPoisoned,
];

/// What must be drawn: each ending in the beat in which the other completion ends, and apart.
const DRAWN: [&str; 12] = [
    "apart BothLast",
    "apart BothPoisoned",
    "apart BothPoisonedLast",
    "apart LastAgain",
    "apart Right",
    "apart SecondPoisoned",
    "together BothLast",
    "together BothPoisoned",
    "together BothPoisonedLast",
    "together LastAgain",
    "together Right",
    "together SecondPoisoned",
];

/// The byte at a bus address.
fn byte(address: u64) -> u8 {
    (address ^ address >> 8 ^ address >> 16).wrapping_mul(167) as u8
}

fn dwords(address: u64, count: usize) -> Vec<u32> {
    let first = address & !3;
    let dword = |index: u64| {
        let bytes = [0, 1, 2, 3].map(|at| byte(first + 4 * index + at));
        u32::from_le_bytes(bytes)
    };
    (0..count as u64).map(dword).collect()
}

/// A read job and how it is answered.
#[derive(Clone, Copy, Debug)]
struct Job {
    address: u64,
    bytes: usize,
    ending: Ending,
}

impl Job {
    fn draw(random: &mut SmallRng, place: u64) -> Job {
        let address = place * 4096 + random.random_range(0..64);
        let offset = (address % 4) as usize;
        let bytes = random.random_range(9..=4 * DWORDS_MAX - offset);
        let ending = ENDINGS[random.random_range(0..ENDINGS.len())];
        Job { address, bytes, ending }
    }

    fn dwords(&self) -> usize {
        (self.address as usize % 4 + self.bytes).div_ceil(4)
    }

    /// The completions, the first with `first` of the dwords.
    fn completions(&self, tag: u8, first: usize) -> [Completion; 2] {
        use Ending::{BothLast, BothPoisoned, BothPoisonedLast, LastAgain, SecondPoisoned};
        let ending = self.ending;
        let is_poisoned = matches!(ending, BothPoisoned | BothPoisonedLast);
        // The second begins at a dword.
        let (from, came) = match ending {
            LastAgain => (self.address & !3, 0),
            _ => {
                let came = 4 * first - self.address as usize % 4;
                (self.address + came as u64, came)
            }
        };
        let rest = match ending {
            LastAgain => 1,
            _ => self.dwords() - first,
        };
        [
            Completion {
                tag,
                address: self.address,
                byte_count: self.bytes,
                is_last: matches!(ending, BothLast | BothPoisonedLast | LastAgain),
                is_poisoned,
                is_timed_out: false,
                dwords: dwords(self.address, first),
            },
            Completion {
                tag,
                address: from,
                byte_count: self.bytes - came,
                is_last: true,
                is_poisoned: is_poisoned || ending == SecondPoisoned,
                is_timed_out: false,
                dwords: dwords(from, rest),
            },
        ]
    }

    /// The beats that answer it, drawn; counts how the two completions end in them.
    fn beats(&self, tag: u8, random: &mut SmallRng, drawn: &mut Coverage) -> Vec<RcBeat> {
        let all = self.dwords();
        let first = match self.ending {
            Ending::LastAgain => all,
            _ => random.random_range(1..all),
        };
        let quarter = [3, 3, 3, random.random_range(0..4)][random.random_range(0..4)];
        let beats = pack(&self.completions(tag, first), quarter);
        // The requester handles the end of what began before, and all of what begins here, in one
        // cycle, if they fill different lanes of 64 bytes.
        let behind = (4 * quarter + 3 + first).saturating_sub(16).min(first);
        let lanes = |from: usize, count: usize| -> u32 {
            let lane = |index: usize| (self.address as usize / 4 + from + index) % 16;
            (0..count).fold(0, |mask, index| mask | 1 << lane(index))
        };
        let other = match self.ending {
            Ending::LastAgain => lanes(0, 1),
            _ => lanes(first, all - first),
        };
        let meet = beats.iter().any(|beat| beat.ends.len() == 2);
        let began = beats.len() > 1 && beats[1].ends.len() == 2 && beats[1].starts.len() == 1;
        let together = meet && began && lanes(first - behind, behind) & other == 0;
        let place = if together { "together" } else { "apart" };
        drawn.count_of(place, format!("{:?}", self.ending));
        beats
    }

    /// Judges the answer.
    fn judge(&self, bytes: &[u8], abort: bool) {
        let right = (self.address..).map(byte).take(self.bytes);
        assert!(abort || right.eq(bytes.iter().copied()), "{self:x?} brings other bytes");
        match self.ending {
            Ending::Right => assert!(!abort, "{self:x?} is aborted"),
            // Its bytes are there: whether it counts as failed is open.
            Ending::LastAgain => {}
            _ => assert!(abort, "{self:x?} is not aborted"),
        }
    }
}

/// A requester whose completions the test writes.
struct Port {
    bench: Bench,
    completer: Completer,
    jobs: MessageSource,
    answers: PacketSink,
    monitor: StreamMonitor,
}

fn block() -> Requester {
    Requester::new(TIMEOUT_CYCLES, CompletionBuffer::default())
}

impl Port {
    fn new(bench: Bench) -> Port {
        let model = &bench.model;
        let mut port = Port {
            completer: Completer::new(model),
            jobs: MessageSource::new(model, "command_job", Stall::None, 1),
            answers: PacketSink::new(model, "command_data", Stall::None, 1),
            monitor: StreamMonitor::new(model, "command_data"),
            bench,
        };
        for (name, value) in [
            ("bus_master", 1),
            ("extended_tags", 1),
            ("cfg_max_payload", 1),
            ("cfg_max_read_req", 2),
            ("s_axis_rq_tready", 15),
            ("user_reset", 1),
        ] {
            port.bench.set(name, value);
        }
        port.cycles(4);
        port.bench.set("user_reset", 0);
        // No read goes out while tags are cleared.
        port.cycles(3 * dma::read::tags::TAGS as u64);
        port
    }

    fn cycles(&mut self, count: u64) {
        self.bench.cycles(
            count,
            &mut [&mut self.completer, &mut self.jobs, &mut self.answers, &mut self.monitor],
        );
    }

    /// Runs until `is_done`.
    fn until(&mut self, what: &str, is_done: impl Fn(&Port) -> bool) {
        let limit = self.bench.now() + 1_000;
        while !is_done(self) {
            self.cycles(1);
            assert!(self.bench.now() < limit, "{what} in 1,000 cycles");
        }
    }

    /// Some reads at once, whose completions come in any order.
    fn batch(&mut self, random: &mut SmallRng, first_place: u64, drawn: &mut Coverage) {
        let draw = |index| Job::draw(random, first_place + index);
        let jobs: Vec<Job> = (0..BATCH).map(draw).collect();
        for job in &jobs {
            self.jobs.push_struct(ReadJob {
                address: job.address.into(),
                bytes: (job.bytes as u64).into(),
            });
        }
        let asked = |port: &Port| port.completer.reads.len() == jobs.len();
        self.until("reads do not go out", asked);
        let reads: VecDeque<ReadSeen> = std::mem::take(&mut self.completer.reads);
        let mut answers: Vec<Vec<RcBeat>> = Vec::new();
        for (job, read) in jobs.iter().zip(reads) {
            assert_eq!((read.address, read.dwords), (job.address & !3, job.dwords()));
            answers.push(job.beats(read.tag, random, drawn));
        }
        answers.shuffle(random);
        self.completer.beats.extend(answers.into_iter().flatten());
        let ended = |port: &Port| port.answers.packets.len() == jobs.len();
        self.until("reads do not end", ended);
        self.until("beats stay on RC", |port| port.completer.beats.is_empty());
        self.cycles(20);
        for job in &jobs {
            let packet = self.answers.packets.pop_front().expect("counted");
            job.judge(&packet.bytes, packet.abort);
        }
        self.monitor.assert_clean();
        assert_eq!(self.completer.timeouts, 0, "a read timed out");
        assert!(self.answers.packets.is_empty(), "an answer too many");
        for level in ["headers", "data"].map(|of| format!("completion_{of}")) {
            let used = self.bench.get(&format!("activity${level}"));
            assert_eq!(used, 0, "{level}: room of no read");
        }
        for level in ["reads_in_flight", "tags_quarantined"] {
            assert_eq!(self.bench.get(&format!("activity${level}")), 0, "{level}");
        }
    }

    fn batches(&mut self, seed: u64) -> Coverage {
        let mut random = SmallRng::seed_from_u64(seed);
        let mut drawn = Coverage::default();
        for batch in 0..BATCHES {
            self.batch(&mut random, 0x40_0000 + BATCH * batch, &mut drawn);
        }
        drawn
    }
}

#[test]
fn two_ends_in_beat_are_one_answer() {
    let bench = Bench::of_shared("requester", "", block).expect("builds");
    let drawn = Port::new(bench).batches(seed());
    drawn.check("the ends of reads", &DRAWN);
}

/// All of this file: one model holds them.
const FAULTS: [TextFault; 4] = [
    ROOM_THAT_TWO_ENDS_GIVE_BACK_TWICE,
    ROOM_OF_A_READ_GIVEN_UP_THAT_COMES_BACK,
    A_READ_THAT_ENDS_TWICE_IN_ONE_CYCLE,
    A_READ_THAT_FAILS_TWICE_IN_ONE_CYCLE,
];

fn faulty(fault: TextFault) -> Port {
    let bench = Bench::with_fault("requester", "", block, &FAULTS, fault);
    Port::new(bench.expect("builds"))
}

fn caught(checker: &str, fault: TextFault) {
    let mut port = faulty(fault);
    caught_by(checker, fault.1, || {
        port.batches(seed());
    });
}

const ROOM_THAT_TWO_ENDS_GIVE_BACK_TWICE: TextFault = (" & (~(over_0 & (tag_0 == tag_1)))", "");

#[test]
fn room_returned_twice_is_caught() {
    caught("room of no read", ROOM_THAT_TWO_ENDS_GIVE_BACK_TWICE);
}

/// Room that a read keeps which is given up in one cycle, and perhaps ends in it too.
impl Port {
    fn given_up(&mut self, ends: bool) -> [u64; 2] {
        let (address, first, all) = (0x40_0000, 4, 12);
        let bytes = 4 * all;
        self.jobs.push_struct(ReadJob { address: address.into(), bytes: (bytes as u64).into() });
        self.until("the read does not go out", |port| !port.completer.reads.is_empty());
        let read = self.completer.reads.pop_front().expect("it went out");
        let part = |from: usize, to: usize, is_timed_out: bool| Completion {
            tag: read.tag,
            address: address + 4 * from as u64,
            byte_count: bytes - 4 * from,
            is_last: !is_timed_out,
            is_poisoned: false,
            is_timed_out,
            dwords: dwords(address + 4 * from as u64, to - from),
        };
        // The first begins in the last quarter of a beat and ends in the next one, as the other.
        let parts = [part(0, first, true), part(first, all, false)];
        let beats = pack(&parts[..1 + usize::from(ends)], 3);
        assert_eq!((beats.len(), beats[1].ends.len()), (2, 1 + usize::from(ends)));
        self.completer.beats.extend(beats);
        self.until("the read does not end", |port| !port.answers.packets.is_empty());
        self.cycles(20);
        let answer = self.answers.packets.pop_front().expect("counted");
        assert!(answer.abort, "the data of a read that was given up");
        assert_eq!(self.completer.timeouts, 1);
        assert_eq!(self.bench.get("activity$tags_quarantined"), 1);
        ["headers", "data"].map(|of| self.bench.get(&format!("activity$completion_{of}")))
    }
}

/// PG213: what the hard block has given up may still be answered, so its room is not free.
#[test]
fn given_up_read_returns_no_room() {
    let design = || Port::new(Bench::of_shared("requester", "", block).expect("builds"));
    let kept = design().given_up(false);
    assert!(kept.iter().all(|room| *room > 0), "{kept:?}");
    assert_eq!(design().given_up(true), kept);
    assert_eq!(faulty(NO_FAULT).given_up(true), kept, "the model of all faults");
}

const ROOM_OF_A_READ_GIVEN_UP_THAT_COMES_BACK: TextFault =
    ("~(over_0 & (tag_0 == tag_1))", "~(due_0 & (tag_0 == tag_1))");

#[test]
fn room_of_given_up_read_is_caught() {
    let kept = faulty(ROOM_OF_A_READ_GIVEN_UP_THAT_COMES_BACK).given_up(true);
    assert_eq!(kept, [0, 0], "the fault gives it back");
}

const A_READ_THAT_ENDS_TWICE_IN_ONE_CYCLE: TextFault = ("over_1 & (~(over_0 & same))", "over_1");

#[test]
fn read_ending_twice_is_caught() {
    caught("reads do not end", A_READ_THAT_ENDS_TWICE_IN_ONE_CYCLE);
}

const A_READ_THAT_FAILS_TWICE_IN_ONE_CYCLE: TextFault =
    ("fresh_1 & (~(fresh_0 & same))", "fresh_1");

#[test]
fn read_failing_twice_is_caught() {
    caught("brings other bytes", A_READ_THAT_FAILS_TWICE_IN_ONE_CYCLE);
}
