//! Interrupts: armed, raised, masked, moderated; and the table as the host reads it.
//!
//! ```text
//!   header_produced, doorbells, table ──► Interrupt ──► messages
//! ```

use super::support::{Test, OWNERS};
use abi::registers;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use seed::seed;
use sim::coverage::Coverage;
use sim::harness::stall::Stall;

#[test]
fn armed_owner_gets_one_message() {
    let mut test = Test::running(Stall::None, 1);
    test.arm(2, 0);
    test.cycles(60);
    assert!(test.take_fired().is_empty(), "nothing was produced");
    test.produce(2, 1);
    test.cycles(60);
    assert_eq!(test.take_fired(), [2]);
    test.produce(2, 2);
    test.cycles(60);
    assert!(test.take_fired().is_empty(), "not armed again");
    test.arm(2, 1);
    test.cycles(60);
    assert_eq!(test.take_fired(), [2], "the producer was beyond already");
    test.arm(2, 2);
    test.cycles(60);
    assert!(test.take_fired().is_empty(), "all was seen");
}

#[test]
fn indices_wrap() {
    let mut test = Test::running(Stall::None, 1);
    test.produce(1, 0xffff_ffff);
    test.arm(1, 0xffff_ffff);
    test.cycles(60);
    assert!(test.take_fired().is_empty());
    test.produce(1, 1);
    test.cycles(60);
    assert_eq!(test.take_fired(), [1]);
}

#[test]
fn enable_word_disarms_forgets_producer() {
    let mut test = Test::running(Stall::None, 1);
    test.produce(0, 9);
    test.cycles(5);
    test.write(registers::CONTEXTS + registers::CONTEXT_ENABLE, 1);
    test.arm(0, 0);
    test.cycles(60);
    assert!(test.take_fired().is_empty(), "the queue is empty again");
    test.write(registers::CONTEXTS + registers::CONTEXT_ENABLE, 1);
    test.cycles(10);
    test.produce(0, 1);
    test.cycles(60);
    assert!(test.take_fired().is_empty(), "disarmed");
}

#[test]
fn masked_vector_is_pending_until_unmasked() {
    let mut test = Test::running(Stall::None, 1);
    test.table(3, 3, 1);
    test.arm(3, 0);
    test.produce(3, 1);
    test.cycles(60);
    assert!(test.take_fired().is_empty());
    assert_eq!(test.read(registers::MSIX_PENDING), 1 << 3);
    assert_eq!(test.read(registers::MSIX_TABLE + 16 * 3 + 12), 1);
    test.table(3, 3, 0);
    test.cycles(60);
    assert_eq!(test.take_fired(), [3]);
    assert_eq!(test.read(registers::MSIX_PENDING), 0);
}

#[test]
fn masked_function_holds_every_vector_back() {
    let mut test = Test::running(Stall::None, 1);
    test.bench.set("msix_mask", 1);
    for owner in 0..OWNERS {
        test.arm(owner, 0);
        test.produce(owner, 1);
    }
    test.cycles(100);
    assert!(test.take_fired().is_empty());
    assert_eq!(test.read(registers::MSIX_PENDING), 0xf);
    test.bench.set("msix_mask", 0);
    test.cycles(100);
    let mut fired = test.take_fired();
    fired.sort_unstable();
    assert_eq!(fired, [0, 1, 2, 3]);
}

#[test]
fn nothing_leaves_before_enable() {
    let mut test = Test::running(Stall::None, 1);
    test.bench.set("msix_enable", 0);
    test.arm(1, 0);
    test.produce(1, 1);
    test.cycles(60);
    assert!(test.take_fired().is_empty());
    test.bench.set("msix_enable", 1);
    test.cycles(60);
    assert_eq!(test.take_fired(), [1]);
}

#[test]
fn masks_survive_epoch_not_function_reset() {
    let mut test = Test::running(Stall::None, 1);
    test.bench.set("reset", 1);
    test.cycles(16);
    test.bench.set("reset", 0);
    assert_eq!(test.read(registers::MSIX_TABLE + 12), 0, "open as before");
    test.arm(0, 0);
    test.produce(0, 1);
    test.cycles(60);
    assert_eq!(test.take_fired(), [0], "an epoch masks nothing");
    for port in ["reset", "function_reset"] {
        test.bench.set(port, 1);
    }
    test.cycles(16);
    for port in ["reset", "function_reset"] {
        test.bench.set(port, 0);
    }
    assert_eq!(test.read(registers::MSIX_TABLE + 12), 1);
    test.arm(0, 0);
    test.produce(0, 1);
    test.cycles(60);
    assert!(test.take_fired().is_empty());
    assert_eq!(test.read(registers::MSIX_PENDING), 1);
}

#[test]
fn moderation_outlives_an_epoch() {
    const INTERVAL: u64 = 700;
    let mut test = Test::running(Stall::None, 1);
    test.write(registers::INTERRUPT_INTERVAL, INTERVAL as u32);
    test.write(registers::INTERRUPT_ENTRIES, 3);
    test.cycles(10);
    test.bench.set("reset", 1);
    test.cycles(16);
    test.bench.set("reset", 0);
    let next = |test: &mut Test, produced: u32, seen: u32| {
        test.arm(0, seen);
        test.produce(0, produced);
        let start = test.bench.now();
        while test.take_fired().is_empty() {
            test.cycles(1);
            assert!(test.bench.now() < start + 2 * INTERVAL, "no message");
        }
        test.bench.now()
    };
    let first = next(&mut test, 1, 0);
    let second = next(&mut test, 2, 1);
    assert!(second - first >= INTERVAL - 10, "{} cycles", second - first);
    let third = next(&mut test, 5, 2);
    assert!(third - second < INTERVAL / 2, "three entries wait {} cycles", third - second);
}

#[test]
fn interval_delays_messages_unless_many_wait() {
    const INTERVAL: u64 = 500;
    let mut test = Test::running(Stall::None, 1);
    test.write(registers::INTERRUPT_INTERVAL, INTERVAL as u32);
    test.write(registers::INTERRUPT_ENTRIES, 20);
    let (mut index, mut times) = (0, Vec::new());
    test.arm(0, 0);
    while times.len() < 5 {
        index += 1;
        test.produce(0, index);
        test.cycles(50);
        if !test.take_fired().is_empty() {
            times.push(test.bench.now());
            test.arm(0, index);
        }
        assert!(test.bench.now() < 10_000);
    }
    for pair in times.windows(2) {
        let apart = pair[1] - pair[0];
        assert!((INTERVAL - 50..INTERVAL + 150).contains(&apart), "{apart} cycles");
    }
    test.produce(0, index + 20);
    test.cycles(50);
    assert_eq!(test.take_fired(), [0], "20 entries do not wait");
}

#[test]
fn table_reads_back() {
    let mut random = SmallRng::seed_from_u64(seed());
    let mut test = Test::new(Stall::None, 1);
    let mut words = [0u32; 16];
    for _ in 0..100 {
        let at = random.random_range(0..16usize);
        words[at] = random.random();
        test.table(at as u32 / 4, at as u32 % 4, words[at]);
        if at % 4 == 3 {
            words[at] &= 1;
        }
    }
    test.cycles(110);
    for at in 0..16u32 {
        let written = words[at as usize];
        // A control word that was never written is masked.
        let value = test.read(registers::MSIX_TABLE + 4 * at);
        assert!(value == written || (at % 4 == 3 && written == 0 && value == 1), "word {at}");
    }
}

/// A host that sleeps after arming and reads its queue when woken.
#[derive(Clone, Copy, Default)]
struct Sleeper {
    produced: u32,
    seen: u32,
    sleeps: bool,
    masked: bool,
    /// Messages that were due when the owner was enabled anew, and may still come.
    stale: u32,
}

impl Sleeper {
    /// What an owner is enabled anew in the middle of.
    fn state(&self) -> &'static str {
        match (self.sleeps, self.produced > self.seen, self.masked) {
            (false, ..) => "awake",
            (true, false, _) => "asleep",
            (true, true, false) => "due",
            (true, true, true) => "pending",
        }
    }

    /// A message has come. Returns whether it may.
    fn wake(&mut self) -> bool {
        if self.sleeps && self.produced > self.seen {
            self.sleeps = false;
            return true;
        }
        let is_stale = self.stale > 0;
        self.stale = self.stale.saturating_sub(1);
        is_stale
    }
}

/// What the test must draw, over all stalls.
const DRAWN: [&str; 13] = [
    "arm: all was seen",
    "arm: entries wait",
    "enable: asleep",
    "enable: awake",
    "enable: due",
    "enable: pending",
    "mask: asleep",
    "mask: awake",
    "mask: due",
    "mask: pending",
    "produce: asleep",
    "produce: awake",
    "unmask",
];

/// Cycles after which pulses of both bundles have arrived, so that their order is known.
const SETTLE_CYCLES: u64 = 8;

/// Enables an owner, apart from all pulses.
fn enable(test: &mut Test, owner: u32) {
    test.cycles(SETTLE_CYCLES);
    let context = registers::CONTEXTS + owner * registers::CONTEXT_STRIDE;
    test.write(context + registers::CONTEXT_ENABLE, 1);
    test.cycles(SETTLE_CYCLES);
}

fn no_wakeup_is_lost(sink: Stall, seed: u64) -> Coverage {
    let mut random = SmallRng::seed_from_u64(seed);
    let mut test = Test::running(sink, seed);
    let mut owners = [Sleeper::default(); OWNERS as usize];
    let mut drawn = Coverage::default();
    for step in 0..3_000 {
        let owner = random.random_range(0..OWNERS);
        let sleeper = &mut owners[owner as usize];
        match random.random_range(0..20) {
            0..5 => {
                drawn.count_of("produce:", ["awake", "asleep"][usize::from(sleeper.sleeps)]);
                sleeper.produced += random.random_range(1..3);
                let produced = sleeper.produced;
                test.produce(owner, produced);
            }
            5..10 if !sleeper.sleeps => {
                sleeper.seen = random.random_range(sleeper.seen..=sleeper.produced);
                sleeper.sleeps = true;
                let seen = sleeper.seen;
                let waits = usize::from(sleeper.produced > seen);
                drawn.count_of("arm:", ["all was seen", "entries wait"][waits]);
                test.arm(owner, seen);
            }
            10..15 => {
                let state = sleeper.state();
                sleeper.masked = random.random();
                match sleeper.masked {
                    true => drawn.count_of("mask:", state),
                    false => drawn.count("unmask"),
                }
                let word = sleeper.masked.into();
                test.table(owner, 3, word);
            }
            15 => {
                // The queue is empty again, and nothing is armed.
                drawn.count_of("enable:", sleeper.state());
                let due = sleeper.sleeps && sleeper.produced > sleeper.seen;
                *sleeper = Sleeper {
                    masked: sleeper.masked,
                    stale: sleeper.stale + u32::from(due),
                    ..Sleeper::default()
                };
                enable(&mut test, owner);
            }
            _ => {}
        }
        test.cycles(random.random_range(0..8));
        for vector in test.take_fired() {
            let sleeper = &mut owners[vector as usize];
            let state = sleeper.state();
            assert!(sleeper.wake(), "step {step}: owner {vector} is {state}");
        }
    }
    for vector in 0..OWNERS {
        test.table(vector, 3, 0);
    }
    test.cycles(500);
    for vector in test.take_fired() {
        owners[vector as usize].sleeps = false;
    }
    for (owner, sleeper) in owners.iter().enumerate() {
        assert!(
            !sleeper.sleeps || sleeper.produced == sleeper.seen,
            "owner {owner} sleeps with entries unseen"
        );
    }
    drawn
}

#[test]
fn no_wakeup_is_lost_under_stalls() {
    let mut drawn = Coverage::default();
    let all = Stall::matrix(seed(), |_, sink, seed| no_wakeup_is_lost(sink, seed));
    all.iter().for_each(|of_one| drawn.add(of_one));
    drawn.check("the interrupts", &DRAWN);
}
