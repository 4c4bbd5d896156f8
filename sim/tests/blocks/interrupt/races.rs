//! A register write meets an interrupt in every cycle of its way, the cycle in which it fires among
//! them: nothing is lost, nothing comes twice, nothing comes after it was forbidden.
//!
//! ```text
//!   arm, entry ──► look, compare, judge ──► message
//!                   ▲ ▲ ▲ ▲ ▲ ▲ ▲ ▲ ▲ ▲ one write, a cycle later in each trial
//! ```
//! The laws are those of a host: they know no state of the block, only what was written and which
//! messages came when. They hold for each ring that raises interrupts.

use std::collections::BTreeMap;

use super::support::{Ring, Test, OWNERS};
use abi::registers;
use sim::caught::caught_by;
use sim::harness::stall::Stall;
use sim::switched::{TextFault, NO_FAULT};

/// Owner whose message is awaited.
const OWNER: u32 = 1;
/// Cycles of a round of the block over all its owners.
const ROUND_CYCLES: u64 = 3 * OWNERS as u64;
/// Cycles from the write to the entry, at most: beyond them the message has long come.
const OFFSETS: u64 = 40;
/// Cycles for which a message is under way: so many that the trials meet the round in every phase,
/// which `check_leads` sees to.
const LEAVING_CYCLES: u64 = 11;
/// Cycles after which whatever was to come has come.
const REST_CYCLES: u64 = 50;
/// From a decision to the offer of its message.
const OFFER_CYCLES: u64 = 2;
/// From a write to the cycle in which it changes the state: one to the port, one in its decoder.
const WRITE_CYCLES: u64 = 2;

/// What meets the interrupt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Meeting {
    /// The owner's enable word: it is disarmed.
    Disarmed,
    /// The enable word of another owner.
    OtherDisarmed,
    /// The owner arms again, with what it had seen before.
    ArmedAgain,
    /// The owner arms again and has seen the entry.
    ArmedWithAllSeen,
    /// The vector is masked.
    Masked,
    /// The vector is masked already, and another owner is disarmed while it becomes pending.
    PendingOtherDisarmed,
}

const MEETINGS: [Meeting; 6] = [
    Meeting::Disarmed,
    Meeting::OtherDisarmed,
    Meeting::ArmedAgain,
    Meeting::ArmedWithAllSeen,
    Meeting::Masked,
    Meeting::PendingOtherDisarmed,
];

fn enable(test: &mut Test, owner: u32) {
    let context = registers::CONTEXTS + owner * registers::CONTEXT_STRIDE;
    test.write(context + registers::CONTEXT_ENABLE, 1);
}

fn act(test: &mut Test, meeting: Meeting) {
    match meeting {
        Meeting::Disarmed => enable(test, OWNER),
        Meeting::OtherDisarmed | Meeting::PendingOtherDisarmed => enable(test, OWNER + 1),
        Meeting::ArmedAgain => test.arm(OWNER, 0),
        Meeting::ArmedWithAllSeen => test.arm(OWNER, 1),
        Meeting::Masked => test.table(OWNER, 3, 1),
    }
}

/// Runs some cycles and returns those, counted from `start`, in which a message was first offered.
fn offers(test: &mut Test, start: u64, cycles: u64) -> Vec<u64> {
    let mut offers = Vec::new();
    for _ in 0..cycles {
        let before = test.bench.get("write_job$valid");
        test.cycles(1);
        if before == 0 && test.bench.get("write_job$valid") == 1 {
            offers.push(test.bench.now() - start);
        }
    }
    offers
}

/// The messages of one trial.
struct Trial {
    /// Cycle of the write, from the entry on.
    written: u64,
    /// Offers of messages, from the entry on.
    offers: Vec<u64>,
}

impl Trial {
    /// Cycles from the decision on the first message until the write changes the state: 0 is the
    /// same cycle, negative is before it.
    fn lead(&self) -> Option<i64> {
        let decided = self.offers.first()? - OFFER_CYCLES;
        Some((self.written + WRITE_CYCLES) as i64 - decided as i64)
    }
}

/// One entry, with a write `written` cycles later, in a phase of the block's round.
fn trial(test: &mut Test, meeting: Meeting, phase: u64, written: u64) -> Trial {
    enable(test, OWNER);
    let masked = meeting == Meeting::PendingOtherDisarmed;
    test.table(OWNER, 3, masked.into());
    test.cycles(10);
    test.arm(OWNER, 0);
    let lag = (test.bench.now() + 10) % ROUND_CYCLES;
    test.cycles(10 + ROUND_CYCLES - lag + phase);
    assert!(test.take_fired().is_empty(), "{meeting:?}: nothing was produced");
    let start = test.bench.now();
    test.produce(OWNER, 1);
    let mut all = offers(test, start, written);
    act(test, meeting);
    all.extend(offers(test, start, OFFSETS + REST_CYCLES - written));
    let trial = Trial { written, offers: all };
    assert_eq!(test.take_fired().len(), trial.offers.len(), "{meeting:?}");
    trial
}

/// Messages for one entry more, without and then with an arming before it.
fn aftermath(test: &mut Test, produced: u32) -> usize {
    test.produce(OWNER, produced);
    test.cycles(REST_CYCLES);
    test.take_fired().len()
}

/// What a host may rely on, in one trial.
fn judge(test: &mut Test, meeting: Meeting, trial: &Trial) {
    let Trial { written, offers } = trial;
    let what = format!("{meeting:?} {written} cycles after the entry, messages {offers:?}");
    let last = offers.last().copied();
    let (came, pending) = (offers.len(), test.read(registers::MSIX_PENDING));
    match meeting {
        Meeting::Disarmed => {
            assert!(came <= 1, "a message twice: {what}");
            let lead = trial.lead().unwrap_or(1);
            assert!(lead > 0, "decided after it was disarmed: {what}");
            assert_eq!(aftermath(test, 2), 0, "armed after an enable word: {what}");
            test.arm(OWNER, 1);
            test.cycles(REST_CYCLES);
            assert_eq!(test.take_fired().len(), 1, "a lost message: {what}");
        }
        Meeting::OtherDisarmed => {
            assert_eq!(came, 1, "one arming, one message: {what}");
            assert_eq!(aftermath(test, 2), 0, "not armed again: {what}");
        }
        Meeting::ArmedAgain => {
            // It counts for one message more if it comes as the owner is disarmed, or later.
            let expected = match trial.lead().expect("a lost message") >= 0 {
                true => 2,
                false => 1,
            };
            assert_eq!(came, expected, "a lost arming: {what}");
            assert_eq!(aftermath(test, 2), 0, "not armed again: {what}");
        }
        Meeting::ArmedWithAllSeen => {
            let after = last.is_some_and(|offer| offer > *written);
            let later = aftermath(test, 2);
            assert!(after || later == 1, "a lost arming: {what}, {later} later");
            assert!(came + later <= 2, "more messages than armings: {what}");
            if trial.lead().is_some_and(|lead| lead >= 0) {
                assert_eq!((came, later), (1, 1), "for what was seen: {what}");
            }
        }
        Meeting::Masked => {
            assert!(came <= 1, "a message twice: {what}");
            let lead = trial.lead().unwrap_or(1);
            assert!(lead > 0, "decided while it was masked: {what}");
            assert_eq!(pending, u32::from(came == 0) << OWNER, "pending: {what}");
            test.table(OWNER, 3, 0);
            test.cycles(REST_CYCLES);
            let all = came + test.take_fired().len();
            assert_eq!(all, 1, "one arming, one message: {what}");
            assert_eq!(aftermath(test, 2), 0, "not armed again: {what}");
        }
        Meeting::PendingOtherDisarmed => {
            assert_eq!(came, 0, "a message of a masked vector: {what}");
            assert_eq!(pending, 1 << OWNER, "pending: {what}");
            test.table(OWNER, 3, 0);
            test.cycles(REST_CYCLES);
            assert_eq!(test.take_fired().len(), 1, "one arming, one message: {what}");
            assert_eq!(aftermath(test, 2), 0, "not armed again: {what}");
        }
    }
}

/// Some meetings in every phase and cycle; counts the trials by how far the write was from the
/// decision.
fn meet(test: &mut Test, meetings: &[Meeting]) -> BTreeMap<(Meeting, i64), u32> {
    let mut leads = BTreeMap::new();
    test.engine.leaves_after = LEAVING_CYCLES;
    for &meeting in meetings {
        for phase in 0..ROUND_CYCLES {
            for written in 0..OFFSETS {
                let trial = trial(test, meeting, phase, written);
                if let Some(lead) = trial.lead() {
                    *leads.entry((meeting, lead)).or_default() += 1;
                }
                judge(test, meeting, &trial);
            }
        }
    }
    leads
}

#[test]
fn write_during_interrupt_loses_nothing() {
    for ring in Ring::ALL {
        let mut test = Test::running(Stall::None, 1);
        test.ring = ring;
        let leads = meet(&mut test, &MEETINGS);
        let mut of_faults = Test::with_fault(&FAULTS, NO_FAULT, Stall::None, 1);
        of_faults.ring = ring;
        assert_eq!(meet(&mut of_faults, &MEETINGS), leads, "the model of all faults");
        check_leads(ring, &leads);
    }
}

/// The edges were met.
fn check_leads(ring: Ring, leads: &BTreeMap<(Meeting, i64), u32>) {
    // The last write that comes too late, and the first that comes in time: an enable word in the
    // cycle of a decision, or in the one before, puts it off.
    for (meeting, lead) in [
        (Meeting::Disarmed, 1),
        (Meeting::OtherDisarmed, 1),
        (Meeting::OtherDisarmed, -2),
        (Meeting::ArmedAgain, 0),
        (Meeting::ArmedAgain, -2),
        (Meeting::ArmedWithAllSeen, 0),
        (Meeting::Masked, 1),
    ] {
        let trials = leads.get(&(meeting, lead)).copied().unwrap_or(0);
        println!("{trials} trials: {ring:?}, {meeting:?}, the decision {lead} cycles before");
        assert!(trials > 0, "never met: {ring:?}, {meeting:?}, {lead}");
    }
}

/// All of this file: one model holds them.
const FAULTS: [TextFault; 4] = [
    UNWATCHED,
    A_VECTOR_DISARMED_BEFORE_THE_CYCLE_IT_FIRES,
    AN_ARMING_THAT_THE_MESSAGE_OF_ITS_CYCLE_TAKES_BACK,
    AN_ARMING_BETWEEN_LOOK_AND_DECISION,
];

/// A fault in the Verilog is found by the law that says `checker`.
fn caught(checker: &str, fault: TextFault, meetings: &[Meeting]) {
    let mut test = Test::with_fault(&FAULTS, fault, Stall::None, 1);
    caught_by(checker, fault.1, || {
        meet(&mut test, meetings);
    });
}

const A_VECTOR_DISARMED_BEFORE_THE_CYCLE_IT_FIRES: TextFault =
    ("assign ready = arm_ready & (~was_enabled);", "assign ready = arm_ready;");

#[test]
fn vector_disarmed_too_early_is_caught() {
    caught(
        "decided after it was disarmed",
        A_VECTOR_DISARMED_BEFORE_THE_CYCLE_IT_FIRES,
        &[Meeting::Disarmed],
    );
}

/// The set of armed owners takes one out in a cycle.
const UNWATCHED: TextFault = (
    "assign judges = (phase == InterruptPhase_Judge) & rings_ready;",
    "assign judges = phase == InterruptPhase_Judge;",
);

#[test]
fn decision_beside_own_enable_is_caught() {
    let checker = "decided after it was disarmed";
    caught(checker, UNWATCHED, &[Meeting::Disarmed]);
}

#[test]
fn decision_beside_other_enable_is_caught() {
    let checker = "one arming, one message";
    caught(checker, UNWATCHED, &[Meeting::OtherDisarmed]);
}

const AN_ARMING_THAT_THE_MESSAGE_OF_ITS_CYCLE_TAKES_BACK: TextFault =
    (".add(arms),", ".add(arms & (~disarm)),");

#[test]
fn arming_undone_by_message_is_caught() {
    caught(
        "a lost arming",
        AN_ARMING_THAT_THE_MESSAGE_OF_ITS_CYCLE_TAKES_BACK,
        &[Meeting::ArmedAgain],
    );
}

const AN_ARMING_BETWEEN_LOOK_AND_DECISION: TextFault =
    ("assign raises = (was_armed & ", "assign raises = (1'd1 & ");

#[test]
fn arming_before_decision_is_caught() {
    caught("for what was seen", AN_ARMING_BETWEEN_LOOK_AND_DECISION, &[Meeting::ArmedWithAllSeen]);
}
