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
use host::clock::{Clock, ManualClock};
use host::driver::bus::MemoryKind;
use host::driver::device::DeviceConfig;
use host::observed::Observed;
use host::transport::peer::{KernelPeer, SmoltcpPeer, WirePeer};
use host::transport::{
    LinkConfig, LinuxTransport, NextTimer, SmoltcpTransport, Transport, TransportError, Tuning,
};
use lab::exchange::{Blind, Exchange, LabError, Outcome, Stuck};
use lab::golden_card::{GoldenBus, GoldenCard};
use lab::machine::{smoltcp_ends, Machine};
use lab::wire::Disturbance;
use skip::skip_if_refused;

const BYTES: u64 = 1 << 20;

fn link(host: u8, mtu_bytes: u16) -> LinkConfig {
    LinkConfig::lab(host, mtu_bytes, Tuning::SIMULATION)
}

/// On a golden card that takes its time where the wire does.
fn exchange<N: WirePeer>(
    (transport, peer): (impl Transport, N),
    clock: ManualClock,
    seed: u64,
    disturbance: Disturbance,
) -> (Result<Outcome, LabError>, N) {
    let card = match disturbance == Disturbance::default() {
        true => GoldenCard::new(SMALL),
        false => GoldenCard::late(SMALL, seed),
    };
    let bus = GoldenBus::new(card.clone());
    let protocol = (Observed::new(transport), DeviceConfig::with_seed(1));
    let mut machine = Machine::provided(bus, protocol, card, peer, Some(clock)).expect("a card");
    let plan = Exchange { bytes: BYTES, seed, disturbance, memory: MemoryKind::Application };
    let remote = "10.77.0.2:5001".parse().expect("an address");
    (machine.exchange(remote, &plan, &mut Blind), machine.peer)
}

/// smoltcp on headers, and smoltcp as the peer that is host `peer`, by one clock.
fn both(clock: &ManualClock, peer: u8, mtu_bytes: u16) -> (SmoltcpTransport, SmoltcpPeer) {
    smoltcp_ends(&[link(1, mtu_bytes), link(peer, mtu_bytes)], clock).expect("two ends")
}

/// smoltcp at both ends.
fn run(seed: u64, mtu_bytes: u16, disturbance: Disturbance) -> Result<Outcome, LabError> {
    let clock = ManualClock::default();
    exchange(both(&clock, 2, mtu_bytes), clock, seed, disturbance).0
}

fn losing(loss: f64) -> Disturbance {
    Disturbance { loss, ..Disturbance::default() }
}

#[test]
fn lost_frames_cost_simulated_time_only() {
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

/// Its ten seconds are not skipped: the other end, a kernel perhaps, may still repeat its FIN.
#[test]
fn end_of_time_wait_is_no_timer() {
    let clock = ManualClock::default();
    let (outcome, mut peer) = exchange(both(&clock, 2, 1500), clock, 1, losing(0.0));
    assert!(outcome.expect("it ends").is_exact());
    assert_eq!(peer.next_timer(), NextTimer::Never);
}

#[test]
fn frames_held_at_end_are_released() {
    let disturbance = Disturbance { reorder: 0.1, ..Disturbance::default() };
    let outcome = run(2, 1500, disturbance).expect("it ends");
    println!("{outcome:?}");
    assert!(outcome.is_exact(), "{outcome:?}");
}

#[test]
fn dead_wire_is_found_by_simulated_time() {
    match run(1, 1500, losing(1.0)) {
        Err(error @ LabError::Stuck { why, lost, .. }) => {
            assert_eq!(why, Stuck::SimulatedTime(Duration::from_secs(1000)));
            assert!(lost > 10, "{lost} frames lost");
            let said = error.to_string();
            assert!(said.contains("; it waited for the retransmission timer of the "), "{said}");
        }
        other => panic!("{other:?}"),
    }
}

/// Where the wire spares every frame, a tenth of the time is enough.
#[test]
fn silent_peer_is_found_sooner() {
    let clock = ManualClock::default();
    match exchange(both(&clock, 3, 1500), clock, 1, Disturbance::default()).0 {
        Err(LabError::Stuck { why, lost, .. }) => {
            assert_eq!(why, Stuck::SimulatedTime(Duration::from_secs(100)));
            assert_eq!(lost, 0);
        }
        other => panic!("{other:?}"),
    }
}

/// Its timers run by the wall clock, and are not skipped; those of smoltcp are.
#[test]
fn kernel_end_is_given_time() {
    let seed = seed::seed_or(3);
    let Some(kernel) =
        skip_if_refused(KernelPeer::open(&link(2, 1500)), TransportError::is_refusal)
    else {
        return;
    };
    let Some(linux) =
        skip_if_refused(LinuxTransport::open(&link(1, 1500)), TransportError::is_refusal)
    else {
        return;
    };
    let clock = ManualClock::default();
    let smoltcp = SmoltcpTransport::open(&link(1, 1500), Clock::Manual(clock.clone()));
    let smoltcp = smoltcp.expect("a transport");
    let outcome = exchange((smoltcp, kernel), clock, seed, losing(0.01)).0.expect("it ends");
    println!("{outcome:?}");
    assert!(outcome.is_exact(), "{outcome:?}");
    let clock = ManualClock::default();
    let smoltcp = SmoltcpPeer::open(&link(2, 1500), Clock::Manual(clock.clone())).expect("a peer");
    let outcome = exchange((linux, smoltcp), clock, seed, losing(0.01)).0.expect("it ends");
    println!("{outcome:?}");
    assert!(outcome.is_exact(), "{outcome:?}");
}
