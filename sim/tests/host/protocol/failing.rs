//! A protocol that fails in any call, at random, around one that works.
//!
//! ```text
//!   Provider ─ Failing ─┬─ calls of even connections ─────────────► inner protocol
//!                       ├─ calls of odd ones: now and then Err ───► inner protocol, or not
//!                       └─ calls of none: now and then Err ───────► inner protocol, or not
//! ```
//! Inside is [`PlainTcp`], which connects; or smoltcp as a black box, which accepts.
//! The connection of an `Err` ends with its reason, and no other one notices: all bytes of the even
//! ones are right. No poll fails. What the errors are makes no difference: those of the card are
//! among them.

mod stepped;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use host::driver::bus::BusError;
use host::driver::error::DriverError;
use host::error::protocol::ProtocolError;
use host::error::request::RequestError;
use host::error::{HostError, Result};
use host::observed::Observed;
use host::protocol::{
    Arrival, ConnectOptions, FlowIndex, FlowKey, Guards, HeaderSink, Install, Packet, Protocol,
    ProtocolEvent,
};
use host::provider::{ConnectionId, ShardId};
use host::transport::{ListenerId, NextTimer, SmoltcpTransport, TransportError};
use lab::golden_card::RingKind;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};

use super::*;

const CONNECTIONS: u16 = 12;
const BYTES: u32 = 60_000;
const PEER_SEED: u64 = 9;
/// One call in so many fails: of a connection, and of none.
const EVERY: u32 = 150;
const EVERY_OF_NONE: u32 = 40;
const MARK: u16 = 0x5a5a;
/// So many that each call fails twenty times in the mean, or more often.
const RUNS: u64 = 16;

/// Which calls have failed, by name.
type Failed = Rc<RefCell<BTreeMap<&'static str, u32>>>;

struct Failing<P> {
    inner: P,
    random: RefCell<SmallRng>,
    failed: Failed,
}

impl<P> Failing<P> {
    fn around(inner: P, seed: u64, failed: &Failed) -> Self {
        let random = RefCell::new(SmallRng::seed_from_u64(seed));
        Self { inner, random, failed: failed.clone() }
    }

    fn error(&self, call: &'static str) -> HostError {
        *self.failed.borrow_mut().entry(call).or_default() += 1;
        match self.random.borrow_mut().random_range(0..6) {
            0 => HostError::Driver(DriverError::Gone),
            1 => HostError::Driver(DriverError::RingStopped { owner: 0, ring: "command" }),
            2 => HostError::Driver(DriverError::EpochLost { before: 1, now: 2 }),
            3 => HostError::Driver(DriverError::Bus(BusError::NoAnswer(0))),
            4 => HostError::Request(RequestError::UnknownConnection(0)),
            _ => HostError::Protocol(ProtocolError::UnknownFlow(MARK)),
        }
    }

    /// Fails now and then, of an odd connection.
    fn fails(&self, call: &'static str, flow: FlowIndex) -> Result<()> {
        let is_due = self.random.borrow_mut().random_ratio(1, EVERY);
        match is_due && flow.0 % 2 == 1 {
            true => Err(self.error(call)),
            false => Ok(()),
        }
    }

    /// Fails now and then, of no connection.
    fn fails_of_none(&self, call: &'static str) -> Result<()> {
        let is_due = self.random.borrow_mut().random_ratio(1, EVERY_OF_NONE);
        match is_due {
            true => Err(self.error(call)),
            false => Ok(()),
        }
    }
}

impl<P: Inner> Protocol for Failing<P> {
    type Remote = SocketAddr;

    fn connect(
        &mut self,
        now_ns: u64,
        flow: FlowIndex,
        remote: SocketAddr,
        options: &ConnectOptions,
    ) -> Result<()> {
        self.fails_of_none("connect")?;
        self.inner.connect(now_ns, flow, remote, options)
    }

    fn listen(&mut self, local: SocketAddr) -> Result<ListenerId> {
        self.fails_of_none("listen")?;
        self.inner.listen(local)
    }

    fn listener_address(&self, listener: ListenerId) -> Result<SocketAddr> {
        self.fails_of_none("listener_address")?;
        self.inner.listener_address(listener)
    }

    fn unlisten(&mut self, listener: ListenerId) -> Result<()> {
        self.fails_of_none("unlisten")?;
        self.inner.unlisten(listener)
    }

    fn accept(&mut self, now_ns: u64, listener: ListenerId, flow: FlowIndex) -> Result<bool> {
        self.fails_of_none("accept")?;
        self.inner.accept(now_ns, listener, flow)
    }

    fn refuse(&mut self, now_ns: u64, listener: ListenerId) -> Result<bool> {
        self.fails_of_none("refuse")?;
        self.inner.refuse(now_ns, listener)
    }

    fn addresses(&self, flow: FlowIndex) -> Result<(SocketAddr, SocketAddr)> {
        self.fails_of_none("addresses")?;
        self.inner.addresses(flow)
    }

    fn take_later(&mut self, now_ns: u64, flow: FlowIndex, packet: &Packet<'_>) -> Result<()> {
        self.fails("take_later", flow)?;
        self.inner.take_later(now_ns, flow, packet)
    }

    fn key(&self, flow: FlowIndex) -> Result<Option<FlowKey>> {
        self.fails("key", flow)?;
        self.inner.key(flow)
    }

    fn install(&mut self, flow: FlowIndex) -> Result<Install> {
        self.fails("install", flow)?;
        self.inner.install(flow)
    }

    fn guards(&self, flow: FlowIndex, send_floor: u32) -> Guards {
        self.inner.guards(flow, send_floor)
    }

    fn finish(&mut self, now_ns: u64, flow: FlowIndex) -> Result<()> {
        self.fails("finish", flow)?;
        self.inner.finish(now_ns, flow)
    }

    fn close(&mut self, now_ns: u64, flow: FlowIndex) -> Result<()> {
        self.fails("close", flow)?;
        self.inner.close(now_ns, flow)
    }

    /// It gives the connection up and fails nevertheless.
    fn abort(&mut self, now_ns: u64, flow: FlowIndex) -> Result<()> {
        self.inner.abort(now_ns, flow)?;
        self.fails_of_none("abort")
    }

    fn arrive(&mut self, now_ns: u64, flow: FlowIndex, packet: &Packet<'_>) -> Result<Arrival> {
        self.fails("arrive", flow)?;
        self.inner.arrive(now_ns, flow, packet)
    }

    fn flow_of(&self, packet: &Packet<'_>) -> Option<FlowIndex> {
        self.inner.flow_of(packet)
    }

    fn arrive_without_flow(&mut self, now_ns: u64, packet: &Packet<'_>) -> Result<()> {
        self.fails_of_none("arrive_without_flow")?;
        self.inner.arrive_without_flow(now_ns, packet)
    }

    fn arrive_frame(&mut self, now_ns: u64, frame: &[u8]) -> Result<()> {
        self.fails_of_none("arrive_frame")?;
        self.inner.arrive_frame(now_ns, frame)
    }

    fn extend_receive(&mut self, now_ns: u64, flow: FlowIndex, end: u64) {
        self.inner.extend_receive(now_ns, flow, end);
    }

    fn extend_send(&mut self, now_ns: u64, flow: FlowIndex, end: u64) {
        self.inner.extend_send(now_ns, flow, end);
    }

    fn advance(&mut self, now_ns: u64) -> Result<()> {
        self.fails_of_none("advance")?;
        self.inner.advance(now_ns)
    }

    fn event(&mut self) -> Option<ProtocolEvent> {
        self.inner.event()
    }

    /// It fails before it has sent anything, or behind all.
    fn transmit(&mut self, now_ns: u64, sink: &mut dyn HeaderSink) -> Result<()> {
        self.fails_of_none("transmit")?;
        self.inner.transmit(now_ns, sink)?;
        self.fails_of_none("transmit behind all")
    }

    fn deadline(&mut self) -> NextTimer {
        self.inner.deadline()
    }
}

/// What may be inside.
trait Inner: Protocol<Remote = SocketAddr> {}

impl<P: Protocol<Remote = SocketAddr>> Inner for P {}

type Failer<P> = Provider<GoldenBus, Failing<P>>;

/// A connection's buffers: what it sends, and behind that what it receives.
struct Talk {
    region: host::provider::RegionId,
    received: u32,
    is_sent: bool,
    is_over: bool,
    failed: Option<String>,
}

/// What a call that fails now and then answers in the end: who called gets the error, and may call
/// again.
fn persist<T>(mut call: impl FnMut() -> Result<T>) -> T {
    (0..100).find_map(|_| call().ok()).expect("it does not always fail")
}

/// Posts everything of a connection that has just begun.
fn start<P: Inner>(provider: &mut Failer<P>, id: ConnectionId) -> Talk {
    let first = ApplicationId::FIRST;
    let region = provider.register(first, MemoryKind::Application, 2 * BYTES as usize);
    let region = region.expect("room");
    let mut payload = vec![0; BYTES as usize];
    RandomBytes::new(u64::from(region.0)).fill(&mut payload);
    provider.map(region).expect("it maps").write(0, &payload);
    provider.send(id, region.span(0, BYTES), 1).expect("it is taken");
    provider.recv(id, region.span(BYTES.into(), BYTES), 2).expect("it is taken");
    provider.finish(id).expect("it is taken");
    Talk { region, received: 0, is_sent: false, is_over: false, failed: None }
}

fn take(talk: &mut Talk, completion: Completion) {
    match completion {
        Completion::Received { bytes, .. } => {
            assert!(talk.failed.is_none(), "{bytes} bytes behind the failure");
            talk.received += bytes;
        }
        Completion::Sent { .. } => talk.is_sent = true,
        Completion::Failed { reason, .. } => {
            assert!(talk.failed.is_none(), "it fails twice");
            talk.failed = Some(reason.to_string());
        }
        Completion::Closed(_) => talk.is_over = true,
        Completion::Opened(_) | Completion::Cancelled { .. } | Completion::EndOfStream(_) => {}
    }
}

/// All that a connection has received is right.
fn check<P: Inner>(provider: &mut Failer<P>, id: ConnectionId, talk: &Talk) {
    let (mut found, mut expected) =
        (vec![0; talk.received as usize], vec![0; talk.received as usize]);
    provider.map(talk.region).expect("it maps").read(BYTES as usize, &mut found);
    RandomBytes::new(PEER_SEED).fill(&mut expected);
    assert!(found == expected, "{id:?}: a wrong byte among {}", talk.received);
}

/// A provider on a late card, its peer, and what they say to each other.
struct Run<P: Inner> {
    machine: Machine<Failer<P>, Rc<RefCell<GoldenCard>>, SmoltcpPeer>,
    talks: BTreeMap<u32, Talk>,
    closing: BTreeSet<u32>,
}

impl<P: Inner> Run<P> {
    fn new(inner: P, clock: ManualClock, seed: u64, failed: &Failed) -> Self {
        println!("replay with ZERONIC_SEED={seed}");
        let link = LinkConfig::lab(2, 1500, Tuning::SIMULATION);
        let peer = SmoltcpPeer::open(&link, Clock::Manual(clock.clone())).expect("a peer");
        let card = GoldenCard::late(SMALL, seed);
        let protocol = Failing::around(inner, seed, failed);
        let bus = GoldenBus::new(card.clone());
        let config = DeviceConfig::with_seed(1);
        let machine = Machine::provided(bus, (protocol, config), card, peer, Some(clock));
        let machine = machine.expect("a card");
        Self { machine, talks: BTreeMap::new(), closing: BTreeSet::new() }
    }

    fn talk(&mut self, id: ConnectionId) {
        let talk = start(&mut self.machine.host, id);
        self.talks.insert(id.0, talk);
    }

    fn take_completions(&mut self) {
        while let Some(completion) = self.machine.host.next_completion() {
            let (Completion::Opened(id)
            | Completion::EndOfStream(id)
            | Completion::Closed(id)
            | Completion::Received { connection: id, .. }
            | Completion::Sent { connection: id, .. }
            | Completion::Cancelled { connection: id, .. }
            | Completion::Failed { connection: id, .. }) = completion.clone();
            let talk = self.talks.get_mut(&id.0).expect("one of ours");
            take(talk, completion);
            if talk.is_sent && talk.received == BYTES && self.closing.insert(id.0) {
                let _ = self.machine.host.close(id);
            }
        }
    }

    /// Everybody goes on for a moment.
    fn step(&mut self) {
        self.machine.host.poll().expect("no error of a protocol is one of the card");
        self.take_completions();
        self.machine.carry(|_, _| true).expect("frames");
        self.machine.pass(Duration::from_micros(50));
    }

    /// Goes on until all talks are over, and judges them. Returns how many connections failed.
    fn end(&mut self, failed: &Failed) -> u32 {
        for _ in 0..400_000 {
            if self.talks.values().all(|talk| talk.is_over) {
                break;
            }
            self.step();
        }
        let mut failures = 0;
        for (id, talk) in &self.talks {
            let id = ConnectionId(*id);
            assert!(talk.is_over, "{id:?} never ends: {} bytes, {:?}", talk.received, talk.failed);
            check(&mut self.machine.host, id, talk);
            match &talk.failed {
                None => assert_eq!((talk.received, talk.is_sent), (BYTES, true), "{id:?}"),
                Some(why) => {
                    assert!(id.0 % 2 == 1, "{id:?} failed for another: {why}");
                    failures += 1;
                }
            }
        }
        // What no connection was told is counted.
        let told_of_none = failed.borrow();
        let of_none = ["abort", "arrive_without_flow", "arrive_frame", "advance", "transmit"];
        let any = of_none.iter().any(|call| told_of_none.contains_key(call));
        assert!(!any || self.machine.host.protocol_error().is_some());
        failures
    }
}

fn script() -> Script {
    Script { send_bytes: BYTES.into(), seed: PEER_SEED, receive_bytes_max: None }
}

/// Connects to the peer. Returns how many connections failed.
fn connect_all(seed: u64, failed: &Failed) -> u32 {
    let mut run = Run::new(PlainTcp::new(LOCAL), ManualClock::default(), seed, failed);
    let remote = REMOTE.parse().expect("an address");
    run.machine.peer.listen(remote, script()).expect("it listens");
    for _ in 0..CONNECTIONS {
        let id = persist(|| run.machine.host.connect(ApplicationId::FIRST, remote));
        run.talk(id);
    }
    run.end(failed)
}

/// Accepts the peer's connections, and refuses one more when the shard's ring has stopped. Returns
/// how many connections failed.
fn accept_all(seed: u64, failed: &Failed) -> u32 {
    let clock = ManualClock::default();
    let link = LinkConfig::lab(1, 1500, Tuning::SIMULATION);
    let transport = SmoltcpTransport::open(&link, Clock::Manual(clock.clone()));
    let inner = Observed::new(transport.expect("a transport"));
    accept_all_by(Run::new(inner, clock, seed, failed), failed)
}

/// The same with our own TCP.
fn accept_all_by_tcp(seed: u64, failed: &Failed) -> u32 {
    let link = LinkConfig::lab(1, 1500, Tuning::SIMULATION);
    let secret = ::tcp::Secret([seed as u8; 32]);
    let inner = host::tcp::TcpProtocol::new(&link, ::tcp::Config::private_wire(), secret);
    accept_all_by(Run::new(inner, ManualClock::default(), seed, failed), failed)
}

fn accept_all_by<P: Inner>(mut run: Run<P>, failed: &Failed) -> u32 {
    let local = SocketAddr::from(([10, 77, 0, 1], 80));
    let listener = persist(|| run.machine.host.listen(ApplicationId::FIRST, local));
    let address = persist(|| run.machine.host.listener_address(listener));
    assert_eq!(address, local);
    // An error of a call leaves everything as it is.
    for port in 1000..1100 {
        let other = SocketAddr::from(([10, 77, 0, 1], port));
        let other = persist(|| run.machine.host.listen(ApplicationId::FIRST, other));
        while run.machine.host.unlisten(other).is_err() {
            assert!(!is_unknown(run.machine.host.accept(other)), "it still listens");
        }
    }
    (0..CONNECTIONS).for_each(|_| run.machine.peer.connect(local, script()).expect("it starts"));
    let mut steps = 0..400_000;
    while run.talks.len() < usize::from(CONNECTIONS) {
        steps.next().expect("all are accepted in the end");
        run.step();
        // An error of the call takes nothing from the listener.
        if let Ok(Some(id)) = run.machine.host.accept(listener) {
            for _ in 0..20 {
                assert_eq!(persist(|| run.machine.host.addresses(id)).0, local);
            }
            run.talk(id);
        }
    }
    let failures = run.end(failed);
    run.machine.card.borrow_mut().make_unreadable(ShardId::FIRST.0, RingKind::Command);
    let mut is_refused = |round: u32| {
        if round.is_multiple_of(1000) {
            run.machine.peer.connect(local, script()).expect("it starts");
        }
        run.step();
        match run.machine.host.accept(listener) {
            Err(HostError::Driver(DriverError::RingStopped { ring: "command", .. })) => true,
            // Nobody has noticed yet: it fails, and the peer tries again.
            Ok(Some(id)) => {
                run.talk(id);
                false
            }
            _ => false,
        }
    };
    assert!((0..20_000).any(&mut is_refused), "no connection is refused");
    persist(|| run.machine.host.unlisten(listener));
    assert!(is_unknown(run.machine.host.accept(listener)));
    failures
}

fn is_unknown(accepted: Result<Option<ConnectionId>>) -> bool {
    matches!(accepted, Err(HostError::Transport(TransportError::UnknownListener(_))))
}

#[test]
fn protocol_error_ends_own_connection_only() {
    let calls = ["arrive", "arrive_without_flow", "advance", "transmit"];
    fail_often(connect_all, &calls);
}

#[test]
fn accepting_protocols_error_ends_own_connection() {
    let calls = ["arrive", "take_later", "listen", "unlisten", "accept", "addresses", "transmit"];
    fail_often(accept_all, &calls);
}

#[test]
fn error_around_tcp_ends_own_connection() {
    let calls = ["arrive", "listen", "unlisten", "accept", "addresses", "transmit"];
    fail_often(accept_all_by_tcp, &calls);
}

/// Some of the connections, and each of `calls`, fail in so many runs.
fn fail_often(run: fn(u64, &Failed) -> u32, calls: &[&'static str]) {
    let (first, failed) = (seed::seed(), Failed::default());
    let failures: u32 = (first..first + RUNS).map(|seed| run(seed, &failed)).sum();
    println!("{failures} connections failed, in {:?}", failed.borrow());
    seed::enough("connections that failed", failures.into(), 6);
    for call in calls {
        let times = failed.borrow().get(call).copied().unwrap_or_default();
        seed::enough(call, times.into(), 1);
    }
}
