//! Time in which nothing can happen is skipped, and with smoltcp at both ends a run follows from
//! its seed.
//!
//! ```text
//!   application ─ Provider ─ GoldenBus ─ golden device ── wire that loses frames ── smoltcp
//!                    └ smoltcp on headers only      one clock, set by the lab
//! ```
//! Proven: a lost frame costs a timeout of smoltcp in simulated time and no wait; what is skipped
//! is said; two runs of a seed take the same time; a wire that carries nothing is found out.

use std::time::Duration;

use abi::config::SMALL;
use host::driver::bus::MemoryKind;
use host::driver::device::DeviceConfig;
use host::provider::Provider;
use host::transport::peer::SmoltcpPeer;
use host::transport::{Clock, LinkConfig, ManualClock, SmoltcpTransport, Tuning};
use sim::golden_card::{GoldenBus, GoldenCard};
use sim::harness::wire::Disturbance;
use sim::lab::{Blind, Exchange, Lab, LabError, Outcome, Stuck};

const BYTES: u64 = 1 << 20;

fn run(seed: u64, mtu_bytes: u16, disturbance: Disturbance) -> Result<Outcome, LabError> {
    let time = ManualClock::default();
    let clock = || Clock::Manual(time.clone());
    let link = |host| LinkConfig::lab(host, mtu_bytes, Tuning::SIMULATION);
    let transport = SmoltcpTransport::open(&link(1), clock()).expect("a transport");
    let mut peer = SmoltcpPeer::open(&link(2), clock()).expect("a peer");
    let mut card = GoldenCard::new(SMALL);
    let bus = GoldenBus::new(card.clone());
    let mut provider = Provider::open(bus, transport, DeviceConfig::default()).expect("a card");
    let mut lab = Lab {
        provider: &mut provider,
        card: &mut card,
        peer: &mut peer,
        clock: Some(time),
    };
    let plan = Exchange {
        bytes: BYTES,
        seed,
        disturbance,
        memory: MemoryKind::Application,
    };
    let remote = "10.77.0.2:5001".parse().expect("an address");
    lab.run(remote, &plan, &mut Blind)
}

fn losing(loss: f64) -> Disturbance {
    Disturbance {
        loss,
        ..Disturbance::default()
    }
}

#[test]
fn lost_frames_cost_simulated_time_only_and_a_seed_gives_one_run() {
    let first = seed::seed_or(1);
    for seed in first..first + 6 {
        let outcome = run(seed, 1500, losing(0.01)).expect("it ends");
        println!("seed {seed}: {outcome:?}");
        assert!(outcome.is_exact(), "seed {seed}: {outcome:?}");
        assert!(outcome.lost > 0, "seed {seed}: nothing was lost");
        let again = run(seed, 1500, losing(0.01)).expect("it ends");
        assert_eq!(outcome, again, "seed {seed}");
    }
}

/// Nor is time lost over delayed acknowledgements.
#[test]
fn an_undisturbed_run_skips_nothing() {
    for mtu_bytes in [576, 1500, 9000] {
        let outcome = run(1, mtu_bytes, Disturbance::default()).expect("it ends");
        println!("MTU {mtu_bytes}: {outcome:?}");
        assert!(outcome.is_exact(), "{outcome:?}");
        assert_eq!(outcome.skipped, Duration::ZERO, "MTU {mtu_bytes}");
    }
}

#[test]
fn frames_held_back_at_the_end_are_released() {
    let disturbance = Disturbance {
        reorder: 0.1,
        ..Disturbance::default()
    };
    let outcome = run(2, 1500, disturbance).expect("it ends");
    println!("{outcome:?}");
    assert!(outcome.is_exact(), "{outcome:?}");
}

#[test]
fn a_wire_that_loses_everything_is_found_out_by_simulated_time() {
    match run(1, 1500, losing(1.0)) {
        Err(LabError::Stuck { why, lost, .. }) => {
            assert_eq!(why, Stuck::SimulatedTime);
            assert!(lost > 10, "{lost} frames lost");
        }
        other => panic!("{other:?}"),
    }
}
