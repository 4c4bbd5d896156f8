//! A vector that is masked, read back, given another address and opened again, while its message
//! waits anywhere on its way: nothing comes that was forbidden, and nothing is lost.
//!
//! ```text
//!   entries ──► decided ──► offered ──► taken by the write engine ──► has left
//!      mask, read back, rewrite, open: from any cycle on   ▲ blocked for any time
//! ```
//! So does Linux move a vector to another CPU. The laws are those of PCI Local Bus 3.0, 6.8.3: from
//! the moment when the mask is read back, no message of the vector comes; its pending bit is set if
//! one is due; once the vector is open again it comes, with what the entry holds then.

use super::support::{message_of, Ring, Test};
use abi::registers;
use sim::caught::caught_by;
use sim::harness::stall::Stall;
use sim::switched::{TextFault, NO_FAULT};

/// Two owners are due at once, so that one waits for the message of the other.
const MOVED: [u32; 2] = [1, 2];
/// Cycles from the entries to the first mask: up to beyond the moment when a message has left.
const OFFSETS: u64 = 26;
/// Cycles for which the write engine takes nothing, from the entries on.
const BLOCKED: [u64; 4] = [0, 9, 23, 80];
/// Cycles from the engine to the link.
const LEAVING: [u64; 3] = [0, 7, 60];
/// From the last write to the moment when a read that follows it is carried out.
const READ_CYCLES: u64 = 4;
/// Cycles in which every owner is looked at.
const ROUND_CYCLES: u64 = 20;
/// Cycles after which whatever was to come has come.
const REST_CYCLES: u64 = 250;

/// Where a moved vector's message goes.
fn moved_message(vector: u32) -> (u64, u32) {
    let (address, data) = message_of(vector);
    (address + 0x10_0000, data)
}

/// Runs `cycles`; the engine is blocked before cycle `until` of the bench.
fn run(test: &mut Test, cycles: u64, until: u64) {
    for _ in 0..cycles {
        test.engine.blocked = test.bench.now() < until;
        test.cycles(1);
    }
}

/// A read of the table: waits for the block, and returns the word.
fn read(test: &mut Test, address: u32, until: u64) -> u32 {
    run(test, READ_CYCLES, until);
    for _ in 0..REST_CYCLES {
        if test.bench.get("msix_busy") == 0 {
            return test.read(address);
        }
        run(test, 1, until);
    }
    panic!("a read of the table was never answered");
}

/// One trial; whether a message of a moved vector came before its mask was read back.
fn trial(test: &mut Test, offset: u64, blocked: u64, leaving: u64) -> Vec<bool> {
    let what = format!("masked {offset} cycles after, blocked {blocked}, leaving {leaving}");
    test.engine.leaves_after = leaving;
    for vector in MOVED {
        test.arm(vector, 0);
    }
    run(test, 20, 0);
    let start = test.bench.now();
    let until = start + blocked;
    for vector in MOVED {
        test.produce(vector, 1);
    }
    run(test, offset, until);
    for vector in MOVED {
        test.table(vector, 3, 1);
    }
    run(test, 2, until);
    let mut came = Vec::new();
    for vector in MOVED {
        let word = read(test, registers::MSIX_TABLE + 16 * vector + 12, until);
        assert_eq!(word, 1, "not masked: {what}");
    }
    let before = test.messages();
    run(test, ROUND_CYCLES, until);
    let pending = read(test, registers::MSIX_PENDING, until);
    for vector in MOVED {
        let count = before.iter().filter(|message| **message == message_of(vector)).count();
        assert!(count <= 1, "a message twice: {what}");
        let is_pending = pending >> vector & 1 == 1;
        assert_eq!(is_pending, count == 0, "pending bit of vector {vector}: {what}");
        came.push(count == 1);
        test.table(vector, 0, moved_message(vector).0 as u32);
    }
    run(test, REST_CYCLES, until);
    assert_eq!(test.messages(), [], "a message of a masked vector: {what}");
    for vector in MOVED {
        test.table(vector, 3, 0);
    }
    run(test, REST_CYCLES, until);
    let mut after = test.messages();
    after.sort_unstable();
    let due = MOVED.iter().zip(&came).filter(|(_, came)| !**came);
    let due = Vec::from_iter(due.map(|(vector, _)| moved_message(*vector)));
    assert_eq!(after, due, "of the open vectors: {what}");
    // Nobody is left disarmed for ever, or armed.
    for vector in MOVED {
        test.produce(vector, 2);
    }
    run(test, REST_CYCLES, 0);
    assert_eq!(test.messages(), [], "not armed again: {what}");
    for vector in MOVED {
        test.arm(vector, 1);
    }
    run(test, REST_CYCLES, 0);
    let mut again = test.messages();
    again.sort_unstable();
    assert_eq!(again, MOVED.map(moved_message), "a lost owner: {what}");
    came
}

/// All trials; how many found the messages of both vectors gone, of one, of none.
fn all_trials(ring: Ring, make: impl Fn() -> Test) -> [u32; 3] {
    let mut test = make();
    test.ring = ring;
    let mut counts = [0; 3];
    for blocked in BLOCKED {
        for leaving in LEAVING {
            for offset in 0..OFFSETS {
                for vector in MOVED {
                    let context = registers::CONTEXTS + vector * registers::CONTEXT_STRIDE;
                    test.write(context + registers::CONTEXT_ENABLE, 1);
                    test.table(vector, 0, message_of(vector).0 as u32);
                    test.table(vector, 3, 0);
                }
                run(&mut test, 20 + offset % 7, 0);
                let came = trial(&mut test, offset, blocked, leaving);
                counts[came.iter().filter(|came| !**came).count()] += 1;
            }
        }
    }
    counts
}

#[test]
fn vector_moves_in_any_message_cycle() {
    for ring in Ring::ALL {
        let counts = all_trials(ring, || Test::running(Stall::None, 1));
        let with_none = || Test::with_fault(&FAULTS, NO_FAULT, Stall::None, 1);
        assert_eq!(counts, all_trials(ring, with_none), "the model of all faults");
        println!("{ring:?}: before the mask was read, {counts:?} times 2, 1, no messages had left");
        assert!(counts.iter().all(|&count| count > 20), "{ring:?}: {counts:?}");
    }
}

/// All of this file: one model holds them.
const FAULTS: [TextFault; 3] = [OUTDATED, LEFT_TOO_EARLY, TAKEN_AND_FORGOTTEN];

fn caught(checker: &str, fault: TextFault) {
    caught_by(checker, fault.1, || {
        all_trials(Ring::Headers, || Test::with_fault(&FAULTS, fault, Stall::None, 1));
    });
}

/// A read is answered although a message was decided on, until the write engine has taken it.
const OUTDATED: TextFault = ("assign sending = ", "assign sending = 1'd0 & ");

#[test]
fn mask_confirmed_at_once_is_caught() {
    caught("pending bit of vector", OUTDATED);
}

/// The wait ends with the handshake of the writer.
const LEFT_TOO_EARLY: TextFault =
    ("(phase == InterruptPhase_Leave)", "((phase == InterruptPhase_Leave) & 1'd0)");

#[test]
fn mask_confirmed_with_writer_is_caught() {
    caught("pending bit of vector", LEFT_TOO_EARLY);
}

/// The owner is disarmed and nobody keeps that its message is due.
const TAKEN_AND_FORGOTTEN: TextFault =
    ("assign held_back_add = (judges & due)", "assign held_back_add = (judges & 1'd0)");

#[test]
fn masked_vector_without_pending_is_caught() {
    caught("pending bit of vector", TAKEN_AND_FORGOTTEN);
}
