//! A protocol that fails in any call, at random, around one that works.
//!
//! ```text
//!   Provider ─ Failing ─┬─ calls of even connections ─────────────► PlainTcp
//!                       ├─ calls of odd ones: now and then Err ───► PlainTcp, or not
//!                       └─ calls of none: now and then Err ───────► PlainTcp, or not
//! ```
//! The connection of an `Err` ends with its reason, and no other one notices: all bytes of the even
//! ones are right. No poll fails. What the errors are makes no difference: those of the card are
//! among them.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use host::driver::bus::BusError;
use host::driver::error::{HostError, Result};
use host::protocol::{
    Arrival, ConnectOptions, FlowIndex, FlowKey, Guards, HeaderSink, Install, Protocol,
    ProtocolEvent, Segment,
};
use host::provider::ConnectionId;
use host::transport::NextTimer;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use sim::harness::mac::Frame;

use super::*;

const CONNECTIONS: u16 = 12;
const BYTES: u32 = 60_000;
const PEER_SEED: u64 = 9;
/// One call in so many fails: of a connection, and of none.
const EVERY: u32 = 150;
const EVERY_OF_NONE: u32 = 40;
const MARK: u16 = 0x5a5a;

/// Which calls have failed, by name.
type Failed = Rc<RefCell<BTreeMap<&'static str, u32>>>;

struct Failing {
    inner: PlainTcp,
    random: RefCell<SmallRng>,
    failed: Failed,
}

impl Failing {
    fn error(&self, call: &'static str) -> HostError {
        *self.failed.borrow_mut().entry(call).or_default() += 1;
        match self.random.borrow_mut().random_range(0..6) {
            0 => HostError::Gone,
            1 => HostError::RingStopped { owner: 0, ring: "command" },
            2 => HostError::EpochLost { before: 1, now: 2 },
            3 => HostError::Bus(BusError::NoAnswer(0)),
            4 => HostError::UnknownConnection(0),
            _ => HostError::UnknownFlow(MARK),
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

impl Protocol for Failing {
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

    fn addresses(&self, flow: FlowIndex) -> Result<(SocketAddr, SocketAddr)> {
        self.inner.addresses(flow)
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

    fn arrive(&mut self, now_ns: u64, flow: FlowIndex, segment: &Segment<'_>) -> Result<Arrival> {
        self.fails("arrive", flow)?;
        self.inner.arrive(now_ns, flow, segment)
    }

    fn flow_of(&self, segment: &Segment<'_>) -> Option<FlowIndex> {
        self.inner.flow_of(segment)
    }

    fn arrive_without_flow(&mut self, now_ns: u64, segment: &Segment<'_>) -> Result<()> {
        self.fails_of_none("arrive_without_flow")?;
        self.inner.arrive_without_flow(now_ns, segment)
    }

    fn arrive_frame(&mut self, now_ns: u64, frame: &[u8]) -> Result<()> {
        self.fails_of_none("arrive_frame")?;
        self.inner.arrive_frame(now_ns, frame)
    }

    fn granted(&mut self, now_ns: u64, flow: FlowIndex, end: u64) {
        self.inner.granted(now_ns, flow, end);
    }

    fn offered(&mut self, now_ns: u64, flow: FlowIndex, end: u64) {
        self.inner.offered(now_ns, flow, end);
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

type Failer = Provider<GoldenBus, Failing>;

/// A connection's buffers: what it sends, and behind that what it receives.
struct Talk {
    region: host::provider::RegionId,
    received: u32,
    is_sent: bool,
    is_over: bool,
    failed: Option<String>,
}

fn start(provider: &mut Failer, remote: SocketAddr) -> (ConnectionId, Talk) {
    let first = ApplicationId::FIRST;
    let region = provider.register(first, MemoryKind::Application, 2 * BYTES as usize);
    let region = region.expect("room");
    let mut payload = vec![0; BYTES as usize];
    RandomBytes::new(u64::from(region.0)).fill(&mut payload);
    provider.map(region).expect("it maps").write(0, &payload);
    // Who called gets the error, and may call again.
    let id = (0..100).find_map(|_| provider.connect(first, remote).ok()).expect("a flow");
    provider.send(id, region.span(0, BYTES), 1).expect("it is taken");
    provider.recv(id, region.span(BYTES.into(), BYTES), 2).expect("it is taken");
    provider.finish(id).expect("it is taken");
    (id, Talk { region, received: 0, is_sent: false, is_over: false, failed: None })
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
fn check(provider: &mut Failer, id: ConnectionId, talk: &Talk) {
    let (mut found, mut expected) =
        (vec![0; talk.received as usize], vec![0; talk.received as usize]);
    provider.map(talk.region).expect("it maps").read(BYTES as usize, &mut found);
    RandomBytes::new(PEER_SEED).fill(&mut expected);
    assert!(found == expected, "{id:?}: a wrong byte among {}", talk.received);
}

/// Returns how many connections failed.
fn run(seed: u64, failed: &Failed) -> u32 {
    println!("replay with ZERONIC_SEED={seed}");
    let clock = ManualClock::default();
    let link = LinkConfig::lab(2, 1500, Tuning::SIMULATION);
    let mut peer = SmoltcpPeer::open(&link, Clock::Manual(clock.clone())).expect("a peer");
    let remote = REMOTE.parse().expect("an address");
    let script = Script { send_bytes: BYTES.into(), seed: PEER_SEED, receive_bytes_max: None };
    peer.listen(remote, script).expect("it listens");
    let mut card = GoldenCard::late(SMALL, seed);
    let protocol = Failing {
        inner: PlainTcp::new(LOCAL),
        random: RefCell::new(SmallRng::seed_from_u64(seed)),
        failed: failed.clone(),
    };
    let bus = GoldenBus::new(card.clone());
    let mut provider = Provider::open(bus, protocol, DeviceConfig::seeded(1)).expect("a card");
    provider.set_clock(Clock::Manual(clock.clone()));
    let mut talks: BTreeMap<u32, Talk> = BTreeMap::new();
    for _ in 0..CONNECTIONS {
        let (id, talk) = start(&mut provider, remote);
        talks.insert(id.0, talk);
    }
    let mut closing = BTreeSet::new();
    let mut buffer = vec![0; 2048];
    for _ in 0..400_000 {
        if talks.values().all(|talk| talk.is_over) {
            break;
        }
        provider.poll().expect("no error of a protocol is one of the card");
        while let Some(completion) = provider.next_completion() {
            let (Completion::Opened(id)
            | Completion::EndOfStream(id)
            | Completion::Closed(id)
            | Completion::Received { connection: id, .. }
            | Completion::Sent { connection: id, .. }
            | Completion::Cancelled { connection: id, .. }
            | Completion::Failed { connection: id, .. }) = completion.clone();
            let talk = talks.get_mut(&id.0).expect("one of ours");
            take(talk, completion);
            if talk.is_sent && talk.received == BYTES && closing.insert(id.0) {
                let _ = provider.close(id);
            }
        }
        let mut sent = Vec::new();
        card.take_sent(&mut sent);
        for frame in sent {
            peer.inject_frame(&frame.bytes).expect("it is taken");
        }
        while let Some(bytes) = peer.poll_frame(&mut buffer).expect("a frame") {
            let mut bytes = buffer[..bytes].to_vec();
            bytes.resize(bytes.len().max(60), 0);
            card.receive(Frame { bytes, ..Default::default() });
        }
        clock.advance(Duration::from_micros(50));
    }
    let mut failures = 0;
    for (id, talk) in &talks {
        let id = ConnectionId(*id);
        assert!(talk.is_over, "{id:?} never ends: {} bytes, {:?}", talk.received, talk.failed);
        check(&mut provider, id, talk);
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
    assert!(!any || provider.protocol_error().is_some());
    failures
}

#[test]
fn an_error_of_a_protocol_ends_its_own_connection_and_nothing_else() {
    let (first, failed) = (seed::seed(), Failed::default());
    let failures: u32 = (first..first + 6).map(|seed| run(seed, &failed)).sum();
    println!("{failures} connections failed, in {:?}", failed.borrow());
    seed::enough("connections that failed", failures.into(), 6);
    for call in ["arrive", "arrive_without_flow", "advance", "transmit"] {
        let times = failed.borrow().get(call).copied().unwrap_or_default();
        seed::enough(call, times.into(), 1);
    }
}

/// Four connections whose keys are asked for in one poll; the second one's fails.
#[test]
fn those_that_were_to_be_stepped_behind_a_failure_are_stepped() {
    struct Second(PlainTcp);
    impl Protocol for Second {
        type Remote = SocketAddr;
        fn connect(
            &mut self,
            _now_ns: u64,
            _flow: FlowIndex,
            _remote: SocketAddr,
            _options: &ConnectOptions,
        ) -> Result<()> {
            Ok(())
        }
        fn addresses(&self, flow: FlowIndex) -> Result<(SocketAddr, SocketAddr)> {
            self.0.addresses(flow)
        }
        fn key(&self, flow: FlowIndex) -> Result<Option<FlowKey>> {
            match flow.0 {
                1 => Err(HostError::Gone),
                _ => Ok(None),
            }
        }
        fn install(&mut self, _flow: FlowIndex) -> Result<Install> {
            Ok(Install { profile: 0, receive_first: 0, send_first: 0, early: Vec::new() })
        }
        fn finish(&mut self, _now_ns: u64, _flow: FlowIndex) -> Result<()> {
            Ok(())
        }
        fn close(&mut self, _now_ns: u64, _flow: FlowIndex) -> Result<()> {
            Ok(())
        }
        fn abort(&mut self, _now_ns: u64, _flow: FlowIndex) -> Result<()> {
            Ok(())
        }
        fn arrive(&mut self, _: u64, flow: FlowIndex, _: &Segment<'_>) -> Result<Arrival> {
            Err(HostError::UnknownFlow(flow.0))
        }
        fn flow_of(&self, _segment: &Segment<'_>) -> Option<FlowIndex> {
            None
        }
        fn arrive_without_flow(&mut self, _now_ns: u64, _segment: &Segment<'_>) -> Result<()> {
            Ok(())
        }
        fn granted(&mut self, _now_ns: u64, _flow: FlowIndex, _end: u64) {}
        fn offered(&mut self, _now_ns: u64, _flow: FlowIndex, _end: u64) {}
        fn advance(&mut self, _now_ns: u64) -> Result<()> {
            Ok(())
        }
        fn event(&mut self) -> Option<ProtocolEvent> {
            self.0.event()
        }
        fn transmit(&mut self, _now_ns: u64, _sink: &mut dyn HeaderSink) -> Result<()> {
            Ok(())
        }
    }
    let mut plain = PlainTcp::new(LOCAL);
    plain.open_all(4);
    let bus = GoldenBus::new(GoldenCard::new(SMALL));
    let provider = Provider::open(bus, Second(plain), DeviceConfig::seeded(1));
    let mut provider = provider.expect("a card");
    let remote = REMOTE.parse().expect("an address");
    let first = ApplicationId::FIRST;
    let ids = [(); 4].map(|()| provider.connect(first, remote).expect("a flow"));
    for _ in 0..20 {
        provider.poll().expect("it polls");
    }
    let mut opened = Vec::new();
    let mut failed = Vec::new();
    while let Some(completion) = provider.next_completion() {
        match completion {
            Completion::Opened(id) => opened.push(id),
            Completion::Failed { connection, .. } => failed.push(connection),
            _ => {}
        }
    }
    assert_eq!((opened, failed), (vec![ids[0], ids[2], ids[3]], vec![ids[1]]));
}
