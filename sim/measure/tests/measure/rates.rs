//! The bench itself: short runs of the small card, and proof that a wrong answer fails.
//!
//! Proven: each kind of scenario runs to a verdict with every byte judged; figures stay below their
//! limits; wrong bytes in memory, wrong frames, an overwritten guard and lost frames are noticed.

use measure::limits::tightest_limit;
use measure::packets::content::Content;
use measure::run::{Measurement, Outcome};
use measure::scenario::{Acks, Family, Order, Scenario, Size};
use pcie_sim::{LinkConfig, PcieConfig};
use verilate::options::Options;

/// The small card with a packet every 400 ns: the bench is proven here, not the card's speed.
fn small(size: Size) -> Scenario {
    Scenario {
        card: "small".to_owned(),
        interval_ps: 400_000,
        time_ns: 60_000,
        wraps_min: 0,
        packets_min: 1,
        ..Scenario::new(size)
    }
}

fn run(scenario: &Scenario) -> Outcome {
    let measurement = Measurement::open(scenario, Options::default()).expect("it opens");
    measurement.run(&mut |_| {}).expect("a verdict")
}

fn assert_right(outcome: &Outcome) {
    assert!(outcome.is_ok(), "{:#?}", outcome.problems.first);
    assert_eq!(outcome.frames_lost, 0);
    let limit = tightest_limit(&outcome.limits);
    for figures in [outcome.receive, outcome.send].into_iter().flatten() {
        assert!(figures.packets > 0 && figures.mpps <= limit.mpps * 1.02, "{outcome:#?}");
    }
}

#[test]
fn one_duplex_flow_wraps_its_lists() {
    let scenario = Scenario {
        receive: true,
        send: true,
        burst: 45,
        send_burst: 45,
        wraps_min: 1,
        ..small(Size::Mtu(1500))
    };
    let outcome = run(&scenario);
    assert_right(&outcome);
    let wraps = [outcome.receive, outcome.send].map(|figures| figures.map_or(0, |f| f.wraps));
    assert!(wraps.iter().all(|wraps| *wraps >= 1), "{wraps:?}");
}

#[test]
fn random_flows_with_own_acks_pass() {
    let scenario = Scenario {
        receive: true,
        send: true,
        flows: 4,
        order: Order::Random,
        acks: Acks::Pure,
        family: Family::Mixed,
        ..small(Size::Mtu(1500))
    };
    assert_right(&run(&scenario));
}

#[test]
fn small_completions_are_own_limit() {
    let pcie = PcieConfig { completion_payload_bytes: 64, ..PcieConfig::default() };
    let scenario = Scenario { send: true, send_burst: 7, pcie, ..small(Size::Mtu(9000)) };
    let outcome = run(&scenario);
    assert_right(&outcome);
    assert_eq!(tightest_limit(&outcome.limits).by, "pcie down");
}

/// A card built for the usual buffer would ask for more than this one holds.
#[test]
fn smaller_completion_buffer_has_own_card() {
    let pcie = PcieConfig { completion_headers: 128, ..PcieConfig::default() };
    let scenario =
        Scenario { send: true, send_burst: 7, interval_ps: 0, pcie, ..small(Size::Mtu(9000)) };
    let outcome = run(&scenario);
    assert_right(&outcome);
    assert_eq!(tightest_limit(&outcome.limits).by, "reads in flight");
    let mut counters = outcome.counters.iter();
    let peak = counters.find(|counter| counter.0 == "completion_headers_peak");
    // A read of 512 bytes needs eight.
    let peak = peak.map_or(0, |counter| counter.1);
    assert!((121..=128).contains(&peak), "{peak} headers at once");
}

#[test]
fn wrong_bytes_in_memory_fail() {
    let scenario = Scenario { receive: true, ..small(Size::Mtu(1500)) };
    let mut measurement = Measurement::open(&scenario, Options::default()).expect("it opens");
    for _ in 0..20 {
        measurement.step().expect("a step");
    }
    // From here on the judge expects another stream than the one under way.
    measurement.host.flows[0].contents[0] = Content::new(99, 99);
    let outcome = measurement.run(&mut |_| {}).expect("a verdict");
    let first = &outcome.problems.first[0];
    assert!(first.contains("wrong bytes in memory"), "{first}");
}

#[test]
fn wrong_bytes_on_the_wire_fail() {
    let scenario = Scenario { send: true, send_burst: 4, ..small(Size::Mtu(1500)) };
    let mut measurement = Measurement::open(&scenario, Options::default()).expect("it opens");
    measurement.host.flows[0].contents[1] = Content::new(99, 99);
    let outcome = measurement.run(&mut |_| {}).expect("a verdict");
    let first = &outcome.problems.first[0];
    assert!(first.contains("first difference at"), "{first}");
}

#[test]
fn an_overwritten_guard_fails() {
    let scenario = Scenario { receive: true, ..small(Size::Mtu(1500)) };
    let measurement = Measurement::open(&scenario, Options::default()).expect("it opens");
    let memory = measurement.host.flows[0].receive.memory().expect("buffers");
    let card = measurement.host.machine.card.clone();
    card.borrow_mut().pcie.write(memory.address + 3, &[0]).expect("memory");
    let outcome = measurement.run(&mut |_| {}).expect("a verdict");
    let first = &outcome.problems.first[0];
    assert!(first.contains("guard at 0x3"), "{first}");
}

/// It has an entry, so that it is not lost; but it came too late to be judged.
#[test]
fn given_up_frames_entry_is_late() {
    let scenario = Scenario { receive: true, ..small(Size::Mtu(1500)) };
    let mut measurement = Measurement::open(&scenario, Options::default()).expect("it opens");
    for _ in 0..4 {
        measurement.step().expect("a step");
    }
    // Entries come up, and nobody looks.
    for _ in 0..120 {
        measurement.host.look().expect("the driver works");
        measurement.peer.fill_wire(&mut measurement.host);
        measurement.host.machine.card.borrow_mut().run(64);
    }
    measurement.peer.give_up_lost(&mut measurement.host);
    let lost = measurement.peer.arrived[0].lost;
    assert!(lost > 10, "{lost} given up");
    measurement.step().expect("a step");
    assert_eq!(measurement.peer.arrived[0].lost, 0);
    assert_eq!(measurement.host.problems.count, lost);
    let first = &measurement.host.problems.first[0];
    assert!(first.contains("us after its frame"), "{first}");
}

#[test]
fn lost_frame_fails_where_none_may() {
    let scenario = Scenario { receive: true, ..small(Size::Mtu(1500)) };
    let mut measurement = Measurement::open(&scenario, Options::default()).expect("it opens");
    for _ in 0..4 {
        measurement.step().expect("a step");
    }
    // One frame that the peer does not know, and which has a wrong FCS: a counted drop.
    let frame = lab::frame::Frame { bytes: vec![0; 60], is_bad: true, time_ps: 0 };
    measurement.host.machine.card.borrow_mut().mac.receive_frame(frame, 0);
    let outcome = measurement.run(&mut |_| {}).expect("a verdict");
    let first = &outcome.problems.first[0];
    assert!(first.contains("bad_fcs"), "{first}");
}

/// The lanes to the host have three quarters of their rate: less than the wire brings both ways.
#[test]
fn excess_over_link_is_lost_and_counted() {
    let nominal = PcieConfig::default();
    let link = LinkConfig { lane_mega_transfers: 6000, ..nominal.link };
    let scenario = Scenario {
        receive: true,
        send: true,
        send_burst: 7,
        interval_ps: 0,
        time_ns: 120_000,
        pcie: PcieConfig { link, ..nominal },
        ..small(Size::Mtu(1500))
    };
    let outcome = run(&scenario);
    assert!(outcome.is_ok(), "{:#?}", outcome.problems.first);
    let limit = tightest_limit(&outcome.limits);
    assert_eq!(limit.by, "pcie up");
    assert!(outcome.frames_lost > 0, "{outcome:#?}");
    let received = outcome.receive.expect("it receives").mpps;
    assert!((0.95..1.0).contains(&(received / limit.mpps)), "{received}");
}

/// Whatever lay where a dropped frame belongs, its own bytes must not.
#[test]
fn dropped_frames_bytes_in_memory_fail() {
    let scenario = Scenario { receive: true, interval_ps: 0, ..small(Size::Frame(128)) };
    let measurement = Measurement::open(&scenario, Options::default()).expect("it opens");
    let flow = &measurement.host.flows[0];
    let card = measurement.host.machine.card.clone();
    for posted in flow.receive.all_posted() {
        let mut bytes = vec![0; posted.bytes as usize];
        flow.contents[0].fill(posted.start, &mut bytes);
        let written = card.borrow_mut().pcie.write(posted.address, &bytes);
        written.expect("memory");
    }
    let outcome = measurement.run(&mut |_| {}).expect("a verdict");
    assert!(outcome.frames_lost > 0, "nothing was dropped");
    let first = &outcome.problems.first[0];
    assert!(first.contains("bytes of a dropped frame in memory"), "{first}");
}

/// Every size from the shortest to the longest at wire speed, twice.
#[test]
fn every_frame_size_arrives_at_wire_speed() {
    let scenario = Scenario { receive: true, interval_ps: 0, ..small(Size::Sweep(64, 9216)) };
    let outcome = run(&scenario);
    assert!(outcome.is_ok(), "{:#?}", outcome.problems.first);
    let figures = outcome.receive.expect("it receives");
    // Those of the first and the last look that are under way.
    assert!(figures.packets > 2 * 9152 - 64, "{figures:?}");
    assert_eq!(outcome.frames_lost, 0);
    let limit = tightest_limit(&outcome.limits);
    println!(
        "{} of {} lost, {:.3} of {:.3} Mpps",
        outcome.frames_lost, figures.packets, figures.mpps, limit.mpps
    );
    assert_eq!(limit.by, "wire");
    assert!(figures.mpps > 0.99 * limit.mpps, "{figures:?} of {limit:?}");
    // Acknowledgements ride in data, and there is none to send.
    let is_sent = |counter: &&(&str, u64)| counter.0 == "tx_frames";
    assert_eq!(outcome.counters.iter().find(is_sent), None);
}

#[test]
fn small_frames_are_all_accounted_for() {
    let scenario = Scenario { receive: true, flows: 8, interval_ps: 0, ..small(Size::Frame(128)) };
    let outcome = run(&scenario);
    let of = |name: &str| {
        let found = outcome.counters.iter().find(|counter| counter.0 == name);
        found.map_or(0, |counter| counter.1)
    };
    assert!(outcome.is_ok(), "{:#?}", outcome.problems.first);
    assert_eq!(outcome.frames_lost, of("header_queue_full") + of("buffer_share_full"));
}
