//! When the requests of an old epoch are over: with the link stalled in each of its states, nothing
//! that was begun before a reset leaves once `requests_pending` has fallen.
//!
//! ```text
//!   writes, reads ──► Requester ── RQ ─╫─ hard block ─╫─ lanes      ╫ stalled, before the reset
//!   reset ───────────►    └──► requests_pending falls ──► nothing old behind the next completion
//! ```

use super::support::{generator, open, random_bytes};
use pcie_sim::PcieConfig;
use rand::rngs::SmallRng;
use rand::Rng;
use seed::seed;
use sim::caught::caught_by;
use sim::coverage::Coverage;
use sim::dma_rig::{Read, Rig, Write};
use sim::harness::stall::Stall;
use sim::switched::TextFault;

/// Where the link stands still.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hold {
    /// RQ takes no beat.
    Port,
    /// The hard block takes requests, and has no credit for a posted one.
    Credit,
    /// RQ takes no beat, and bus mastering goes off and on meanwhile: the hard block drops what
    /// comes while it is off, and never returns the sequence number.
    Barred,
    /// RQ takes no beat, and the link goes down: the hard block loses all that it holds.
    Down,
}

const HOLDS: [Hold; 4] = [Hold::Port, Hold::Credit, Hold::Barred, Hold::Down];
/// Resets of each kind.
const ROUNDS: usize = 150;
/// How long the link stands still.
const HOLD_CYCLES: u64 = 700;
/// Cycles in which everything that waits leaves.
const END_CYCLES: u64 = 3_000;

/// What the generator must draw: the port when the reset comes, or what the hard block holds.
const DRAWN: [&str; 8] = [
    "block holds writes",
    "block is empty",
    "port begins and ends a request",
    "port begins a request",
    "port ends a request",
    "port goes on with a request",
    "port offers nothing",
    "port begins two requests",
];

/// The beat that is offered on RQ.
fn port_state(rig: &Rig) -> &'static str {
    let model = &rig.bench.model;
    if !model.is_high(model.port("s_axis_rq_tvalid")) {
        return "offers nothing";
    }
    let words = model.words(model.port("s_axis_rq_tuser"));
    // PG213: is_sop in bits 21:20, is_eop in bits 27:26.
    let (starts, ends) = (words[0] >> 20 & 3, words[0] >> 26 & 3);
    match (starts.count_ones(), ends.count_ones()) {
        (2, _) => "begins two requests",
        (1, 0) => "begins a request",
        (1, _) => "begins and ends a request",
        (_, 0) => "goes on with a request",
        _ => "ends a request",
    }
}

fn push_traffic(rig: &mut Rig, random: &mut SmallRng, base: u64) {
    for index in 0..40u64 {
        let longest = [64, 64, 300, 1500][random.random_range(0..4)];
        let length = random.random_range(1..=longest);
        rig.push_write(&Write {
            client: random.random_range(0..3),
            address: base + index * 4096 + random.random_range(0..2048),
            bytes: random_bytes(random, length),
            relaxed: random.random(),
        });
    }
    for index in 0..4 {
        let bytes = random.random_range(1..600);
        rig.push_read(&Read {
            client: random.random_range(0..3),
            address: base + index * 600,
            bytes,
        });
    }
}

/// Requests that begin on RQ until `cycles` are over.
fn starts(rig: &mut Rig, cycles: u64) -> u32 {
    let mut starts = 0;
    for _ in 0..cycles {
        let model = &rig.bench.model;
        let is_high = |name: &str| model.is_high(model.port(name));
        let ready = model.get(model.port("s_axis_rq_tready")) & 1 == 1;
        if is_high("s_axis_rq_tvalid") && ready {
            starts += (model.words(model.port("s_axis_rq_tuser"))[0] >> 20 & 3).count_ones();
        }
        rig.cycle();
    }
    starts
}

fn pending(rig: &Rig) -> bool {
    rig.bench.get("requests_pending") == 1
}

/// One reset while the link stands still.
fn round(rig: &mut Rig, random: &mut SmallRng, hold: Hold, base: u64, drawn: &mut Coverage) {
    push_traffic(rig, random, base);
    rig.cycles(random.random_range(0..120));
    match hold {
        Hold::Credit => rig.slot.pcie.hold_posted(HOLD_CYCLES),
        _ => rig.slot.pcie.stall_requests(HOLD_CYCLES),
    }
    rig.cycles([0, 1, 2, random.random_range(3..40), 250][random.random_range(0..5)]);
    drawn.count_of("port", port_state(rig));
    let holds = rig.slot.pcie.writes_waiting() > 0;
    drawn.count(if holds { "block holds writes" } else { "block is empty" });
    match hold {
        Hold::Barred => rig.slot.pcie.set_bus_master(false),
        Hold::Down => rig.slot.pcie.link_down(),
        _ => {}
    }
    rig.restart();
    match hold {
        Hold::Barred => {
            // On again before the port goes on, behind it, or in between.
            let begun = starts(rig, random.random_range(0..HOLD_CYCLES + 100));
            // Two may stand at the port, and two in the plan behind it.
            assert!(begun <= 4, "{begun} requests begin without bus mastering");
            rig.slot.pcie.set_bus_master(true);
        }
        Hold::Down => {
            rig.cycles(random.random_range(1..300));
            rig.slot.pcie.link_up();
            rig.wait_for_link();
            rig.slot.pcie.enable_device();
        }
        _ => {}
    }
    let limit = rig.bench.now() + END_CYCLES;
    while pending(rig) {
        rig.cycle();
        assert!(rig.bench.now() < limit, "requests of the old epoch do not end");
    }
    if hold == Hold::Down {
        assert_eq!(rig.bench.get("activity$writes_in_flight"), 0, "the block has lost them");
    }
    // What the card completes from now on comes behind all that is on the lanes.
    assert_ne!(rig.bench.get("s_axis_rq_tvalid"), 1, "over, but the port offers a request");
    if hold != Hold::Barred {
        let waiting = rig.slot.pcie.writes_waiting();
        assert_eq!(waiting, 0, "over, but the hard block holds writes that may be overtaken");
    }
    let left = rig.slot.pcie.statistics().upstream.writes;
    rig.cycles(END_CYCLES);
    let now = rig.slot.pcie.statistics().upstream.writes;
    if hold != Hold::Barred {
        assert_eq!(now, left, "over, and writes of the old epoch leave");
    }
    assert_eq!(rig.bench.get("activity$writes_in_flight"), 0, "nothing is in flight");

    // The new epoch works.
    let write =
        Write { client: 0, address: base, bytes: random_bytes(random, 777), relaxed: false };
    rig.push_write(&write);
    rig.finish_writes();
    assert_eq!(rig.slot.bytes(base, 777), write.bytes);
}

fn rounds(rig: &mut Rig, hold: Hold, seed: u64) -> Coverage {
    let mut random = generator(seed);
    let mut drawn = Coverage::default();
    let base = rig.slot.memory(40 * 4096);
    for _ in 0..ROUNDS {
        round(rig, &mut random, hold, base, &mut drawn);
    }
    rig.assert_clean();
    drawn
}

fn config() -> PcieConfig {
    PcieConfig { seed: seed(), ..PcieConfig::default() }
}

#[test]
fn old_epoch_is_silent_after_requests() {
    let mut drawn = Coverage::default();
    for hold in HOLDS {
        let mut rig = open(config(), Stall::None, Stall::None);
        drawn.add(&rounds(&mut rig, hold, seed()));
    }
    drawn.check("the link at a reset", &DRAWN);
}

/// All of this file: one model holds them.
const FAULTS: [TextFault; 3] =
    [WRITES_THAT_ARE_OVER_WITH_THE_PORT, OVER_WITH_THE_RESET, NUMBERS_THAT_ARE_WAITED_FOR_FOR_EVER];

fn caught(checker: &str, fault: TextFault, hold: Hold) {
    let rig = Rig::with_fault(&FAULTS, fault, config(), (Stall::None, Stall::None));
    let mut rig = rig.expect("it builds");
    caught_by(checker, fault.1, || {
        rounds(&mut rig, hold, seed());
    });
}

const WRITES_THAT_ARE_OVER_WITH_THE_PORT: TextFault =
    ("packer_idle & ((~(|packer_writes_in_flight)) | barred)", "packer_idle");

#[test]
fn writes_over_with_port_are_caught() {
    caught("may be overtaken", WRITES_THAT_ARE_OVER_WITH_THE_PORT, Hold::Credit);
}

const OVER_WITH_THE_RESET: TextFault =
    ("(reset | user_reset) | (flushing & (~has_left))", "reset | user_reset");

#[test]
fn requests_over_with_reset_are_caught() {
    caught("over, but the port offers a request", OVER_WITH_THE_RESET, Hold::Port);
}

const NUMBERS_THAT_ARE_WAITED_FOR_FOR_EVER: TextFault =
    ("barred = was_barred | (~bus_master)", "barred = 1'b0");

#[test]
fn lost_numbers_are_not_awaited() {
    caught("do not end", NUMBERS_THAT_ARE_WAITED_FOR_FOR_EVER, Hold::Barred);
}
