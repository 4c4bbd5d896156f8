//! A protocol of its own under the provider, on the golden card: it answers for each packet at
//! once, and repeats what is lost by its own timer.
//!
//! ```text
//!   application ─ Provider ─ PlainTcp (plain_tcp.rs)
//!                    └────── GoldenBus ─ golden card ── wire that loses ── smoltcp
//! ```
//! Proven: every byte is right both ways whatever the wire does, in the card's time; memory that is
//! taken away is not written, and what the protocol accepted meanwhile is not lost; a packet's
//! acknowledgement counts, whatever becomes of its payload; an error of any call ends its own
//! connection, and no other one notices.

mod acknowledging;
mod closed_window;
mod failing;
mod own_transport;
mod plain_tcp;
mod scripted;
mod tcp;

use std::cell::RefCell;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::rc::Rc;
use std::time::Duration;

use abi::config::SMALL;
use host::clock::{Clock, ManualClock};
use host::driver::bus::MemoryKind;
use host::driver::device::DeviceConfig;
use host::protocol::Protocol;
use host::provider::{ApplicationId, Completion, Provider, ReceiveOptions};
use host::transport::peer::{RandomBytes, Script, SmoltcpPeer, WirePeer};
use host::transport::{LinkConfig, Tuning};
use lab::exchange::{Blind, Exchange, Outcome};
use lab::frame::Frame;
use lab::golden_card::{GoldenBus, GoldenCard};
use lab::machine::Machine;
use lab::network_side::NetworkSide;
use lab::wire::Disturbance;
use plain_tcp::{PlainTcp, RTO_NS};

const LOCAL: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::new(10, 77, 0, 1), 50_000);
const REMOTE: &str = "10.77.0.2:5001";

/// A provider on the protocol, its card, its peer and the clock of both.
struct World<P: Protocol = PlainTcp, N: WirePeer = SmoltcpPeer> {
    machine: Machine<Provider<GoldenBus, P>, Rc<RefCell<GoldenCard>>, N>,
}

impl World {
    fn new(card: Rc<RefCell<GoldenCard>>) -> Self {
        Self::over(PlainTcp::new(LOCAL), card)
    }
}

impl<P: Protocol<Remote = SocketAddr>> World<P> {
    /// With smoltcp as the peer.
    fn over(protocol: P, card: Rc<RefCell<GoldenCard>>) -> Self {
        let clock = ManualClock::default();
        let link = LinkConfig::lab(2, 1500, Tuning::SIMULATION);
        let peer = SmoltcpPeer::open(&link, Clock::Manual(clock.clone())).expect("a peer");
        Self::with(protocol, card, peer, clock)
    }
}

impl<P: Protocol<Remote = SocketAddr>, N: WirePeer> World<P, N> {
    /// With a peer, and the clock of both.
    fn with(protocol: P, card: Rc<RefCell<GoldenCard>>, peer: N, clock: ManualClock) -> Self {
        let bus = GoldenBus::new(card.clone());
        let config = DeviceConfig::with_seed(1);
        let machine = Machine::provided(bus, (protocol, config), card, peer, Some(clock));
        Self { machine: machine.expect("a card") }
    }

    /// Moves `bytes` bytes each way.
    fn exchange(&mut self, bytes: u64, seed: u64, disturbance: Disturbance) {
        let remote = REMOTE.parse().expect("an address");
        self.exchange_with(remote, bytes, seed, disturbance);
    }

    /// The same with an address of the peer. Returns what it came to.
    fn exchange_with(
        &mut self,
        remote: SocketAddr,
        bytes: u64,
        seed: u64,
        disturbance: Disturbance,
    ) -> Outcome {
        let plan = Exchange { bytes, seed, disturbance, memory: MemoryKind::Application };
        let outcome = self.machine.exchange(remote, &plan, &mut Blind);
        let outcome = outcome.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        assert_eq!(outcome.received, (bytes, outcome.received_expected), "seed {seed}");
        assert_eq!(outcome.sent, (bytes, outcome.sent_expected), "seed {seed}");
        outcome
    }
}

#[test]
fn own_protocol_is_exact_without_copy() {
    let mut world = World::new(GoldenCard::new(SMALL));
    world.exchange(1 << 20, 1, Disturbance::default());
    let counters = world.machine.host.counters();
    assert_eq!(counters.copied_payload_bytes, 0, "{counters:?}");
    assert_eq!(counters.withheld_headers, 0);
}

/// The last confirmation waits for a descriptor that stops between its look-ups, and none does, for
/// longer than a card that rests says nothing.
const CONFIRMATION_HELD: u64 = 245_493;

/// Of the segments of several sends that one step posts, the card knows the first when the host
/// looks, and not yet the next.
const CONFIRMED_ONE_BY_ONE: u64 = 1_197_577_962;

#[test]
fn own_protocol_is_exact_on_late_cards() {
    let first = seed::seed();
    for seed in (first..first + 8).chain([CONFIRMATION_HELD, CONFIRMED_ONE_BY_ONE]) {
        let mut world = World::new(GoldenCard::late(SMALL, seed));
        world.exchange(200_000, seed, Disturbance::default());
    }
}

/// The peer says a SYN-ACK again after 1, 2, 4 s; who repeats his SYN every 2 ms meanwhile gives up
/// too early.
const THREE_SYN_ACKS_LOST: u64 = 132_972_485;

#[test]
fn own_protocol_is_exact_on_bad_wires() {
    let first = seed::seed();
    for seed in (first..first + 8).chain([THREE_SYN_ACKS_LOST]) {
        let share = |shift: u32| f64::from(((seed >> shift) as u8) % 10) / 100.0;
        let disturbance = Disturbance {
            loss: share(0),
            reorder: share(3),
            duplicate: share(5),
            corrupt: share(7),
            ..Disturbance::default()
        };
        World::new(GoldenCard::late(SMALL, seed)).exchange(200_000, seed, disturbance);
    }
}

/// Nothing but its timers ends the sleep of the host.
#[test]
fn protocol_timers_fire_in_sleeping_host() {
    let mut world = World::new(GoldenCard::new(SMALL));
    let remote = REMOTE.parse().expect("an address");
    world.machine.host.connect(ApplicationId::FIRST, remote).expect("a flow");
    let clock = world.machine.clock.clone().expect("it has one");
    let mut requests = Vec::new();
    for wait in 0..40 {
        world.machine.host.poll().expect("it polls");
        // Nobody answers.
        let sent = world.machine.take_sent();
        requests.extend(sent.iter().map(|_| clock.now_ns()));
        if requests.len() == 5 {
            break;
        }
        let start_ps = world.machine.card.now_ps();
        let due = world.machine.host.wait(Duration::from_secs(100)).expect("it waits");
        assert!(due, "wait {wait}: nothing to do");
        let slept = Duration::from_nanos((world.machine.card.now_ps() - start_ps) / 1000);
        world.machine.pass(slept);
    }
    let apart = Vec::from_iter(requests.windows(2).map(|pair| pair[1] - pair[0]));
    let expected = [1, 2, 4, 8].map(|times| times * RTO_NS);
    let late = apart.iter().zip(expected).map(|(apart, expected)| apart.abs_diff(expected));
    assert!(apart.len() == 4 && late.max() < Some(10_000), "{apart:?} ns between requests");
}

/// A limit that comes before the timer ends the sleep, and nothing is due then.
#[test]
fn sleep_ends_with_limit_or_timer() {
    let mut world = World::new(GoldenCard::new(SMALL));
    let limit = Duration::from_micros(700);
    assert!(!world.machine.host.wait(limit).expect("it waits"), "no timer is set");
    let remote = REMOTE.parse().expect("an address");
    world.machine.host.connect(ApplicationId::FIRST, remote).expect("a flow");
    world.machine.host.poll().expect("it polls");
    world.machine.host.poll().expect("it polls");
    assert!(!world.machine.host.wait(limit).expect("it waits"), "the timer is later");
    world.machine.pass(Duration::from_nanos(RTO_NS));
    assert!(world.machine.host.wait(Duration::from_secs(1)).expect("it waits"), "it is due");
}

/// A partial request is returned while the peer goes on sending: its buffer is truncated under the
/// protocol, which accepts what was in its window.
#[test]
fn arrival_during_memory_removal_is_kept() {
    let first = seed::seed();
    let partial = in_parts(GoldenCard::new(SMALL));
    seed::enough("requests returned in part", partial.into(), 1);
    for seed in first..first + 4 {
        in_parts(GoldenCard::late(SMALL, seed));
    }
}

/// Returns how many requests were returned in part.
fn in_parts(card: Rc<RefCell<GoldenCard>>) -> u32 {
    const BYTES: u64 = 100_000;
    /// Less than what comes between two polls.
    const BUFFER_BYTES: u32 = 30_000;
    let mut world = World::new(card);
    let remote = REMOTE.parse().expect("an address");
    let script = Script { send_bytes: BYTES, seed: 5, receive_bytes_max: None };
    world.machine.peer.listen(remote, script).expect("it listens");
    let provider = &mut world.machine.host;
    let first = ApplicationId::FIRST;
    let region = provider.register(first, MemoryKind::Application, 1 << 16);
    let region = region.expect("room");
    let memory = provider.map(region).expect("it maps");
    let id = provider.connect(first, remote).expect("a flow");
    let mut received = Vec::new();
    let receive = |provider: &mut Provider<GoldenBus, PlainTcp>| {
        provider
            .recv_with(id, region.span(0, BUFFER_BYTES), 1, ReceiveOptions { partial: true })
            .expect("it is taken");
    };
    receive(provider);
    let mut frame = vec![0; 2048];
    let mut partial = 0;
    for round in 0..200_000 {
        if received.len() as u64 == BYTES {
            break;
        }
        let provider = &mut world.machine.host;
        provider.poll().expect("it polls");
        while let Some(completion) = provider.next_completion() {
            match completion {
                Completion::Received { bytes, .. } => {
                    let mut piece = vec![0; bytes as usize];
                    memory.read(0, &mut piece);
                    received.extend(piece);
                    partial += u32::from(bytes < BUFFER_BYTES);
                    receive(provider);
                }
                Completion::Failed { reason, .. } => panic!("{reason}"),
                _ => {}
            }
        }
        for sent in world.machine.take_sent() {
            world.machine.peer.inject_frame(&sent.bytes).expect("it is taken");
        }
        // Slowly, so that requests are returned in part.
        let polled = match round % 4 {
            0 => world.machine.peer.poll_frame(&mut frame).expect("a frame"),
            _ => None,
        };
        if let Some(bytes) = polled {
            world.machine.card.receive(Frame::padded(&frame[..bytes]));
        }
        world.machine.pass(Duration::from_micros(10));
    }
    let mut expected = vec![0; BYTES as usize];
    RandomBytes::new(5).fill(&mut expected);
    assert!(received == expected, "{} bytes", received.len());
    partial
}
