//! The card held back from every side: by credits, ports, buffers and order of the link, by the
//! MAC, by each alone and by all at once.
//!
//! ```text
//!            credits, RQ and CC ready, idle cycles
//!   host ◄══ order, splits, jitter of answers ══ card ◄── peer
//!            room in the hard block                └────► MAC: tready falls
//! ```
//! Proven: below what is left of the link, both ways at once, nothing is lost and every byte is
//! right. Beyond it throughput falls, and data alone stays: what was sent leaves whole and in
//! order, what is received is right or was counted as lost. Rules of the link and of the MAC hold
//! in every cycle. With a ready of the link ignored in the card, the same check fails where the
//! link is held back, and passes where it is not; with that of the MAC it fails.

use measure::error::MeasureError;
use measure::run::{Measurement, Outcome};
use measure::scenario::{Acks, Family, Order, Scenario, Size};
use pcie_sim::{Credits, PcieConfig};
use seed::seed;
use sim::card::SimulatedCard;
use sim::faults::{build_with_faults, Fault};
use sim::harness::stall::Stall;
use sim::switched::FAULT_PORT;
use verilate::options::Options;

/// A way to hold the card back.
#[derive(Clone, Copy)]
struct Side {
    name: &'static str,
    link: fn(&mut PcieConfig),
    mac: Stall,
}

const NONE: Side = Side { name: "nothing", link: |_| (), mac: Stall::None };

const CREDITS: Side = Side {
    name: "credits",
    link: |pcie| {
        pcie.host_credits = Credits { posted_headers: 2, posted_data: 64, nonposted_headers: 1 }
    },
    ..NONE
};

const PORTS: Side = Side {
    name: "ports",
    link: |pcie| {
        pcie.rq_stall_permille = 300;
        pcie.cc_stall_permille = 300;
        pcie.idle_permille = 300;
    },
    ..NONE
};

const ANSWERS: Side = Side {
    name: "answers",
    link: |pcie| {
        pcie.reorder_permille = 300;
        pcie.random_split_permille = 300;
        pcie.jitter_ns = 400;
    },
    ..NONE
};

/// As little as the hard block can have: one largest TLP.
const BUFFERS: Side = Side {
    name: "buffers",
    link: |pcie| {
        pcie.card_credits =
            Credits { posted_headers: 1, posted_data: pcie.mps_bytes / 16, nonposted_headers: 1 };
        pcie.transmit_beats = pcie.mps_bytes / 64 + 1;
        pcie.nonposted_queue = 1;
    },
    ..NONE
};

const MAC: Side = Side { name: "MAC", mac: Stall::Random(0.8), ..NONE };

const ALL: Side = Side {
    name: "all at once",
    link: |pcie| {
        for side in [CREDITS, PORTS, ANSWERS, BUFFERS] {
            (side.link)(pcie);
        }
    },
    mac: MAC.mac,
};

/// Every side by itself, and all.
const SIDES: [Side; 6] = [CREDITS, PORTS, ANSWERS, BUFFERS, MAC, ALL];

/// What is less than the throughput with nothing held back.
const LESS: f64 = 0.98;

/// What is not more than it: of 800 frames in a run, a few fall on this or that side of its edges.
const NOT_MORE: f64 = 1.02;

/// A hundred microseconds of the small card.
fn short(size: Size, side: Side, seed: u64) -> Scenario {
    let mut scenario = Scenario {
        card: "small".to_owned(),
        time_ns: 100_000,
        wraps_min: 0,
        packets_min: 1,
        seed,
        ..Scenario::new(size)
    };
    scenario.pcie.seed = seed;
    (side.link)(&mut scenario.pcie);
    scenario
}

/// Both ways at once and out of order, a packet or an ACK every 3 us: less than any side leaves.
fn paced_scenario(side: Side, seed: u64) -> Scenario {
    Scenario {
        receive: true,
        send: true,
        flows: 4,
        family: Family::Mixed,
        order: Order::Random,
        acks: Acks::Pure,
        interval_ps: 3_000_000,
        time_ns: 250_000,
        ..short(Size::Mtu(1500), side, seed)
    }
}

/// As fast as the send ring is read.
fn sending(side: Side, seed: u64) -> Scenario {
    Scenario { send: true, ..short(Size::Mtu(1500), side, seed) }
}

/// As fast as the wire brings frames, whether or not the card keeps up.
fn receiving(side: Side, seed: u64) -> Scenario {
    Scenario { receive: true, ..short(Size::Frame(512), side, seed) }
}

/// Runs with what is held back at the MAC, and with a fault of a card that has some.
fn finish(
    measurement: Measurement,
    side: Side,
    seed: u64,
    fault: u8,
) -> Result<Outcome, MeasureError> {
    {
        let mut card = measurement.host.machine.card.borrow_mut();
        card.mac.stall_send(side.mac, seed);
        if let Some(port) = card.model.find_port(FAULT_PORT) {
            card.model.set(port, u64::from(fault));
        }
    }
    measurement.run(&mut |_| {})
}

fn run(scenario: &Scenario, side: Side) -> Outcome {
    let measurement = Measurement::open(scenario, Options::default()).expect("it opens");
    let outcome = finish(measurement, side, scenario.seed, 0).expect("a verdict");
    let gbps = [outcome.receive, outcome.send].map(|it| it.map(|it| it.goodput_gbps));
    println!("{}: {gbps:.1?} Gb/s, {} lost", side.name, outcome.frames_lost);
    outcome
}

fn counter(outcome: &Outcome, name: &str) -> u64 {
    let found = outcome.counters.iter().find(|counter| counter.0 == name);
    found.map_or(0, |counter| counter.1)
}

/// Frames that were dropped since their owner had no free slot, or no share left.
fn refused_frames(outcome: &Outcome) -> u64 {
    counter(outcome, "header_queue_full") + counter(outcome, "buffer_share_full")
}

fn assert_right(outcome: &Outcome, side: Side) {
    let problems = &outcome.problems.first;
    assert!(outcome.is_ok(), "{}: {problems:#?}", side.name);
}

#[test]
fn nothing_is_lost_below_remaining_rate() {
    let seed = seed();
    for side in SIDES {
        let outcome = run(&paced_scenario(side, seed), side);
        assert_right(&outcome, side);
        assert_eq!(outcome.frames_lost, 0, "{}", side.name);
        for figures in [outcome.receive, outcome.send].into_iter().flatten() {
            assert!(figures.packets > 20, "{}: {figures:?}", side.name);
        }
        // It was held back.
        let least = match side.name {
            "credits" => ("nonposted_credit_stall_cycles", 10_000),
            "ports" => ("rq_stall_cycles", 100),
            "all at once" => ("posted_credit_stall_cycles", 1_000),
            _ => continue,
        };
        let found = counter(&outcome, least.0);
        assert!(found > least.1, "{}: {found} {}", side.name, least.0);
    }
}

#[test]
fn starved_sending_is_slower_but_exact() {
    let seed = seed();
    let gbps = |outcome: Outcome| outcome.send.map_or(0.0, |figures| figures.goodput_gbps);
    let most = gbps(run(&sending(NONE, seed), NONE));
    for side in SIDES {
        let outcome = run(&sending(side, seed), side);
        assert_right(&outcome, side);
        let found = gbps(outcome);
        // What is left by the others is still more than the wire takes.
        let is_less = !["ports", "buffers"].contains(&side.name);
        let limit = most * if is_less { LESS } else { NOT_MORE };
        assert!(found > 0.0 && found < limit, "{}: {found} of {most}", side.name);
    }
}

#[test]
fn starved_receiving_is_slower_losses_counted() {
    let seed = seed();
    let gbps = |outcome: &Outcome| outcome.receive.map_or(0.0, |figures| figures.goodput_gbps);
    let most = gbps(&run(&receiving(NONE, seed), NONE));
    let outcome = run(&receiving(PORTS, seed), PORTS);
    assert_right(&outcome, PORTS);
    let (found, lost) = (gbps(&outcome), outcome.frames_lost);
    assert!(found < most * LESS, "{found} of {most}");
    assert_eq!(lost, refused_frames(&outcome));
    assert!(lost > 0, "none is lost");
    // One doorbell a poll goes through the smallest buffers as well: nothing is slower.
    let outcome = run(&receiving(BUFFERS, seed), BUFFERS);
    assert_right(&outcome, BUFFERS);
    let found = gbps(&outcome);
    assert!(found > most * LESS && found < most * NOT_MORE, "{found} of {most}");
    assert_eq!(outcome.frames_lost, 0);
    // A link that takes a twentieth of what comes: frames that were refused lie in the packet
    // buffer between those that wait, until these have left, so that the gate finds it full.
    for side in [CREDITS, ALL] {
        let outcome = run(&receiving(side, seed), side);
        let full = counter(&outcome, "rx_fifo_full");
        let lost = full + refused_frames(&outcome);
        let allowed = [format!("{full} frames dropped: rx_fifo_full")];
        assert_eq!(outcome.problems.first, allowed, "{}", side.name);
        assert_eq!(outcome.frames_lost, lost, "{}", side.name);
        assert!(lost > 0, "{}: nothing is lost", side.name);
        let found = gbps(&outcome);
        assert!(found > 0.0 && found < most * LESS, "{}: {found} of {most}", side.name);
    }
}

/// As above, where each of these sides loses frames; the card asks for a pause, the peer obeys.
#[test]
fn pause_keeps_what_slow_link_loses() {
    let seed = seed();
    for side in [CREDITS, PORTS, ALL] {
        let scenario = Scenario { pause: true, ..receiving(side, seed) };
        let outcome = run(&scenario, side);
        assert_right(&outcome, side);
        assert_eq!(outcome.frames_lost, 0, "{}", side.name);
        assert!(counter(&outcome, "pauses_asked") > 0, "{}", side.name);
    }
}

/// Whether a card with a fault, 0 for none, is right where a side is held back.
fn is_right(side: Side, fault: u8) -> bool {
    let (seed, design) = (seed(), build_with_faults());
    let build = |pcie| SimulatedCard::of(&design, pcie);
    let scenario = paced_scenario(side, seed);
    let measurement = Measurement::with_card(&scenario, build).expect("it opens");
    // A host that gets no answer any more gives up: no verdict is a catch too.
    let outcome = finish(measurement, side, seed, fault);
    outcome.is_ok_and(|outcome| outcome.is_ok() && outcome.frames_lost == 0)
}

#[test]
fn a_card_that_waits_is_right() {
    assert!(is_right(ALL, 0), "nothing is planted");
}

#[test]
fn requests_that_do_not_wait_fail() {
    let fault = Fault::RequestReadyIgnored as u8;
    assert!(!is_right(PORTS, fault), "it passes");
    assert!(is_right(NONE, fault), "nothing is held back");
}

#[test]
fn replies_that_do_not_wait_fail() {
    let fault = Fault::ReplyReadyIgnored as u8;
    assert!(!is_right(PORTS, fault), "it passes");
    assert!(is_right(NONE, fault), "nothing is held back");
}

#[test]
fn frames_that_do_not_wait_fail() {
    let fault = Fault::MacReadyIgnored as u8;
    assert!(!is_right(MAC, fault), "it passes");
    // The MAC itself lets ready fall: it takes no more than the wire.
    assert!(!is_right(NONE, fault), "it passes where nothing is held back");
}
