//! An owner sleeps on several rings at once: its header queue, its confirmations, its send status.
//!
//! ```text
//!   arm for some rings, then sleep ──► a message ──► read all, arm again
//!   rings grow, vectors are masked, the engine stalls ─┘
//! ```

use super::support::{Ring, Test, OWNERS};
use abi::registers;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use seed::seed;
use sim::caught::caught_by;
use sim::coverage::Coverage;
use sim::harness::stall::Stall;
use sim::switched::{TextFault, NO_FAULT};

/// Cycles after which what was to come has come.
const REST_CYCLES: u64 = 60;

#[test]
fn each_ring_interrupts_its_owner() {
    let mut test = Test::running(Stall::None, 1);
    for ring in Ring::ALL {
        test.ring = ring;
        test.arm(2, 0);
        test.cycles(REST_CYCLES);
        assert_eq!(test.take_fired(), [0; 0], "{ring:?}: it is empty");
        test.produce(2, 1);
        test.cycles(REST_CYCLES);
        assert_eq!(test.take_fired(), [2], "{ring:?}");
        test.produce(2, 2);
        test.cycles(REST_CYCLES);
        assert_eq!(test.take_fired(), [0; 0], "{ring:?}: not armed again");
        test.arm(2, 1);
        test.cycles(REST_CYCLES);
        assert_eq!(test.take_fired(), [2], "{ring:?}: it was beyond already");
    }
}

#[test]
fn unarmed_ring_raises_nothing() {
    for (armed, grows) in [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)] {
        let mut test = Test::running(Stall::None, 1);
        test.ring = Ring::ALL[armed];
        test.arm(1, 0);
        test.ring = Ring::ALL[grows];
        test.produce(1, 5);
        test.cycles(REST_CYCLES);
        assert_eq!(test.take_fired(), [0; 0], "armed for {armed}, {grows} grows");
    }
}

#[test]
fn one_message_stands_for_all_armed() {
    let mut test = Test::running(Stall::None, 1);
    for ring in Ring::ALL {
        test.ring = ring;
        test.arm(3, 0);
    }
    test.cycles(10);
    for ring in Ring::ALL {
        test.ring = ring;
        test.produce(3, 1);
        test.cycles(REST_CYCLES);
    }
    assert_eq!(test.take_fired(), [3], "disarmed by the first");
}

#[test]
fn every_ring_is_moderated() {
    const INTERVAL: u64 = 600;
    for ring in Ring::ALL {
        let mut test = Test::running(Stall::None, 1);
        test.ring = ring;
        test.write(registers::INTERRUPT_INTERVAL, INTERVAL as u32);
        test.write(registers::INTERRUPT_ENTRIES, 4);
        let next = |test: &mut Test, produced: u32, seen: u32| {
            test.arm(0, seen);
            test.produce(0, produced);
            let start = test.bench.now();
            while test.take_fired().is_empty() {
                test.cycles(1);
                assert!(test.bench.now() < start + 2 * INTERVAL, "{ring:?}: no message");
            }
            test.bench.now()
        };
        let first = next(&mut test, 1, 0);
        let second = next(&mut test, 4, 1);
        assert!(second - first >= INTERVAL - 10, "{ring:?}: {} cycles", second - first);
        let third = next(&mut test, 8, 4);
        assert!(third - second < INTERVAL / 2, "{ring:?}: four entries wait");
    }
}

/// A host that sleeps on some rings of its owner.
#[derive(Clone, Copy, Default)]
struct Sleeper {
    produced: [u32; 3],
    seen: [u32; 3],
    /// The rings that it has armed for, in its sleep.
    armed: [bool; 3],
    masked: bool,
    /// Armings so far, and messages.
    armings: u32,
    messages: u32,
}

impl Sleeper {
    fn sleeps(&self) -> bool {
        self.armed.contains(&true)
    }

    /// A ring that it sleeps on has grown.
    fn is_due(&self) -> bool {
        (0..3).any(|ring| self.armed[ring] && self.produced[ring] != self.seen[ring])
    }
}

const DRAWN: [&str; 8] = [
    "arm: 1 rings",
    "arm: 2 rings",
    "arm: 3 rings",
    "enable",
    "grows: Commands",
    "grows: Headers",
    "grows: Sends",
    "mask",
];

fn no_wakeup_is_lost(test: &mut Test, seed: u64) -> Coverage {
    let mut random = SmallRng::seed_from_u64(seed);
    let mut owners = [Sleeper::default(); OWNERS as usize];
    let mut drawn = Coverage::default();
    for step in 0..3_000 {
        let owner = random.random_range(0..OWNERS);
        let sleeper = &mut owners[owner as usize];
        test.engine.leaves_after = random.random_range(0..12);
        match random.random_range(0..20) {
            0..8 => {
                let ring = random.random_range(0..3);
                test.ring = Ring::ALL[ring];
                drawn.count_of("grows:", format!("{:?}", test.ring));
                sleeper.produced[ring] += random.random_range(1..3);
                test.produce(owner, sleeper.produced[ring]);
            }
            8..15 if !sleeper.sleeps() => {
                let rings = random.random_range(1..8u32);
                drawn.count_of("arm:", format!("{} rings", rings.count_ones()));
                for ring in (0..3).filter(|ring| rings >> ring & 1 == 1) {
                    sleeper.seen[ring] =
                        random.random_range(sleeper.seen[ring]..=sleeper.produced[ring]);
                    sleeper.armed[ring] = true;
                    sleeper.armings += 1;
                    test.ring = Ring::ALL[ring];
                    test.arm(owner, sleeper.seen[ring]);
                    test.cycles(random.random_range(0..5));
                }
            }
            15..18 => {
                drawn.count("mask");
                sleeper.masked = random.random();
                let word = sleeper.masked.into();
                test.table(owner, 3, word);
            }
            18 if random.random() => {
                drawn.count("enable");
                // What is under way or pending may still come.
                let (armings, messages) = (sleeper.armings, sleeper.messages);
                *sleeper =
                    Sleeper { masked: sleeper.masked, armings, messages, ..Sleeper::default() };
                test.cycles(8);
                let context = registers::CONTEXTS + owner * registers::CONTEXT_STRIDE;
                test.write(context + registers::CONTEXT_ENABLE, 1);
                test.cycles(8);
            }
            _ => {}
        }
        test.cycles(random.random_range(0..8));
        for vector in test.take_fired() {
            let sleeper = &mut owners[vector as usize];
            sleeper.messages += 1;
            let (armings, messages) = (sleeper.armings, sleeper.messages);
            assert!(messages <= armings, "step {step}: more messages of {vector} than armings");
            sleeper.armed = [false; 3];
        }
    }
    for vector in 0..OWNERS {
        test.table(vector, 3, 0);
    }
    test.cycles(500);
    for vector in test.take_fired() {
        owners[vector as usize].armed = [false; 3];
    }
    for (owner, sleeper) in owners.iter().enumerate() {
        assert!(!sleeper.is_due(), "owner {owner} sleeps while a ring has grown");
    }
    drawn
}

#[test]
fn no_ring_wakeup_is_lost_under_stalls() {
    let mut drawn = Coverage::default();
    let all = Stall::matrix(seed(), |_, sink, seed| {
        let drawn = no_wakeup_is_lost(&mut Test::running(sink, seed), seed);
        no_wakeup_is_lost(&mut Test::with_fault(&FAULTS, NO_FAULT, sink, seed), seed);
        drawn
    });
    all.iter().for_each(|of_one| drawn.add(of_one));
    drawn.check("the interrupts of several rings", &DRAWN);
}

/// All of this file: one model holds them.
const FAULTS: [TextFault; 2] = [ONE_RING_LEFT_OUT, DISARMED_BY_ANY_LOOK];

/// A ring that is looked at in vain.
const ONE_RING_LEFT_OUT: TextFault =
    ("(arm_commands_raises & arm_commands_armed)", "(arm_commands_raises & 1'd0)");

/// An owner is disarmed although nothing was due.
const DISARMED_BY_ANY_LOOK: TextFault =
    ("assign rings_disarm = judges & due;", "assign rings_disarm = judges & (due | 1'd1);");

#[test]
fn ring_waking_nobody_is_caught() {
    for fault in FAULTS {
        caught_by("sleeps while a ring has grown", fault.1, || {
            for number in 0..8 {
                let mut test = Test::with_fault(&FAULTS, fault, Stall::None, number);
                no_wakeup_is_lost(&mut test, seed().wrapping_add(number));
            }
        });
    }
}
