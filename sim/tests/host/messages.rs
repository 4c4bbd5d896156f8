//! A protocol of our own over UDP, through the RTL as it is: the card learns it from a header
//! profile.
//!
//! ```text
//!   Endpoint ─ SimulatedBus ─ card (RTL) ── bad wires ── golden card ─ GoldenBus ─ Endpoint
//! ```
//! Proven: messages in both directions arrive exact and in place, several at a time, each in the
//! buffer of its own number; over a bad wire, and beyond the flow table, too.

use std::net::SocketAddr;

use abi::config::SMALL;
use host::driver::bus::{Bus, MemoryKind};
use host::driver::device::DeviceConfig;
use host::error::protocol::ProtocolError;
use host::error::region::RegionError;
use host::error::HostError;
use host::memory::ApplicationMapping;
use host::message::{Endpoint, MessageDone, Station};
use host::provider::RegionId;
use host::transport::peer::RandomBytes;
use lab::golden_card::{GoldenBus, GoldenCard};
use lab::wire::{Disturbance, Wire};
use pcie_sim::PcieConfig;
use sim::bus::SimulatedBus;
use sim::card::SimulatedCard;
use verilate::options::Options;

const ROUNDS_MAX: u32 = 20_000;
const ROUND_NS: u64 = 100_000;
const MTU_BYTES: u16 = 1500;
/// Messages in each direction; lengths around the packet, and several windows.
const LENGTHS: [u32; 5] = [1, 1407, 1408, 1409, 60_001];
const REGION_BYTES: usize = 256 << 10;
const GUARD: u8 = 0xa5;

fn station(host: u8, ipv6: bool) -> Station {
    let address: SocketAddr = match ipv6 {
        false => ([10, 77, 0, host], 7700).into(),
        true => ([0xfd77, 0, 0, 0, 0, 0, 0, host.into()], 7700).into(),
    };
    Station { mac: [2, 0, 0, 0, 0, host], address }
}

/// One end with its memory: what it sends in the first half, what it receives in the second.
struct End<B: Bus> {
    endpoint: Endpoint<B>,
    region: RegionId,
    memory: ApplicationMapping,
    /// Expected messages whose buffers the card has confirmed.
    ready: usize,
    done: Vec<MessageDone>,
}

fn bytes_of(seed: u64, message: u64, bytes: u32) -> Vec<u8> {
    let mut all = vec![0; bytes as usize];
    RandomBytes::new(seed << 32 | message).fill(&mut all);
    all
}

/// Where message `number` lies in its half: apart from the one before, at an odd offset.
fn place(number: usize) -> usize {
    let before: usize = LENGTHS[..number].iter().map(|bytes| *bytes as usize).sum();
    before + 67 * (number + 1)
}

impl<B: Bus> End<B> {
    fn new(bus: B, host: u8, ipv6: bool, seed: u64) -> Self {
        let local = station(host, ipv6);
        let endpoint = Endpoint::open(bus, local, MTU_BYTES, DeviceConfig::with_seed(1));
        let mut endpoint = endpoint.expect("it opens");
        let registered = endpoint.register(MemoryKind::Application, REGION_BYTES);
        let (region, mut memory) = registered.expect("room");
        memory.write(0, &vec![GUARD; REGION_BYTES]);
        let other = station(3 - host, ipv6);
        for (number, &bytes) in LENGTHS.iter().enumerate() {
            let message = 0xfeed_0000_0000 + number as u64;
            memory.write(place(number), &bytes_of(seed, message, bytes));
            let (from, into) = (place(number), REGION_BYTES / 2 + place(number));
            endpoint
                .expect(other, message, (region, into as u64, bytes), number as u64)
                .expect("a flow");
            let again = endpoint.expect(other, message, (region, 0, 1), 0);
            assert!(matches!(
                again,
                Err(HostError::Protocol(ProtocolError::MessageKnown(n))) if n == message
            ));
            let source = (region, from as u64, bytes);
            endpoint.send(other, message, source, 100 + number as u64).expect("a flow");
        }
        Self { endpoint, region, memory, ready: 0, done: Vec::new() }
    }

    fn poll(&mut self, now_ns: u64) {
        for done in self.endpoint.poll(now_ns).expect("it polls") {
            match done {
                MessageDone::Ready { .. } => self.ready += 1,
                done => self.done.push(done),
            }
        }
    }

    fn is_done(&self) -> bool {
        self.done.len() == 2 * LENGTHS.len()
    }

    /// Every message is in its place, and nothing else was written.
    fn judge(&self, other_seed: u64) {
        let mut expected = vec![GUARD; REGION_BYTES / 2];
        for (number, &bytes) in LENGTHS.iter().enumerate() {
            let message = 0xfeed_0000_0000 + number as u64;
            let at = place(number);
            expected[at..at + bytes as usize]
                .copy_from_slice(&bytes_of(other_seed, message, bytes));
        }
        let mut held = vec![0; REGION_BYTES / 2];
        self.memory.read(REGION_BYTES / 2, &mut held);
        let wrong = held.iter().zip(&expected).position(|(a, b)| a != b);
        assert_eq!(wrong, None, "first wrong byte");
        for (number, &bytes) in (0..).zip(&LENGTHS) {
            let done = |what| self.done.iter().filter(|d| **d == what).count();
            assert_eq!(done(MessageDone::Received { request: number, bytes }), 1);
            assert_eq!(done(MessageDone::Sent { request: 100 + number }), 1);
        }
    }
}

/// Both ends exchange all messages; the payload bytes that the CPU of the Verilated side copied.
fn exchange(ipv6: bool, disturbance: Disturbance) -> u64 {
    let seed = seed::seed();
    let options = Options::default();
    let card = SimulatedCard::new("small", PcieConfig::default(), options).expect("it builds");
    let bus = SimulatedBus::with_card(card, &PcieConfig::default());
    let (bus, mut card) = bus.expect("a bus");
    let mut golden = GoldenCard::late(SMALL, seed + 4);
    let mut here = End::new(bus, 1, ipv6, seed);
    let mut there = End::new(GoldenBus::new(golden.clone()), 2, ipv6, seed + 1);
    let mut out = Wire::new(disturbance, seed + 2);
    let mut back = Wire::new(disturbance, seed + 3);
    let mut now_ns = 0;
    // The Verilated card's flows are in place before anything comes: nothing has to be deferred.
    for _ in 0..ROUNDS_MAX {
        if here.ready == LENGTHS.len() {
            break;
        }
        here.poll(now_ns);
    }
    for _ in 0..ROUNDS_MAX {
        if here.is_done() && there.is_done() {
            break;
        }
        here.poll(now_ns);
        there.poll(now_ns);
        out.join(&mut card, &mut golden);
        back.join(&mut golden, &mut card);
        now_ns += ROUND_NS;
    }
    here.judge(seed + 1);
    there.judge(seed);
    let violations = card.borrow().violations();
    assert!(violations.is_empty(), "{violations:#?}");
    let unknown = here.endpoint.send(station(2, ipv6), 1, (RegionId(here.region.0 + 1), 0, 1), 0);
    let after = here.region.0 + 1;
    assert!(matches!(
        unknown,
        Err(HostError::Region(RegionError::UnknownRegion(n))) if n == after
    ));
    here.endpoint.copied_payload_bytes()
}

#[test]
fn messages_are_placed_without_a_copy() {
    assert_eq!(exchange(false, Disturbance::default()), 0);
}

#[test]
fn messages_are_placed_over_ipv6() {
    assert_eq!(exchange(true, Disturbance::default()), 0);
}

#[test]
fn messages_arrive_over_a_bad_wire() {
    let disturbance = Disturbance {
        loss: 0.02,
        reorder: 0.02,
        duplicate: 0.02,
        corrupt: 0.01,
        corrupt_unseen: 0.01,
        delay_ps: 0,
    };
    exchange(false, disturbance);
}

/// More messages at a time than either card has flows: those beyond the table are copied.
#[test]
fn more_messages_than_flows_arrive() {
    const MESSAGES: u64 = 80;
    const BYTES: u32 = 2000;
    let seed = seed::seed();
    let [mut near, mut far] = [0, 1].map(|number| GoldenCard::late(SMALL, seed + number));
    let [mut here, mut there] = [(near.clone(), 1), (far.clone(), 2)].map(|(card, host)| {
        let config = DeviceConfig::with_seed(1);
        let bus = GoldenBus::new(card);
        let endpoint = Endpoint::open(bus, station(host, false), MTU_BYTES, config);
        let mut endpoint = endpoint.expect("it opens");
        let bytes = MESSAGES as usize * BYTES as usize;
        let memory = endpoint.register(MemoryKind::Application, bytes);
        (endpoint, memory.expect("room"))
    });
    let place = |region: RegionId, message: u64| (region, message * u64::from(BYTES), BYTES);
    for message in 0..MESSAGES {
        let at = message as usize * BYTES as usize;
        here.1 .1.write(at, &bytes_of(seed, message, BYTES));
        let (from, to) = (station(1, false), station(2, false));
        let into = place(there.1 .0, message);
        there.0.expect(from, message, into, message).expect("it is taken");
        let source = place(here.1 .0, message);
        here.0.send(to, message, source, message).expect("it is taken");
    }
    let [mut out, mut back] = [2, 3].map(|n| Wire::new(Disturbance::default(), seed + n));
    let (mut sent, mut received, mut now_ns) = (0, 0, 0);
    for _ in 0..ROUNDS_MAX {
        let done = |done: &MessageDone| {
            matches!(done, MessageDone::Sent { .. } | MessageDone::Received { .. })
        };
        let of_here = here.0.poll(now_ns).expect("it polls");
        let mut of_there = there.0.poll(now_ns).expect("it polls");
        of_there.retain(|done| !matches!(done, MessageDone::Ready { .. }));
        assert!(of_here.iter().chain(&of_there).all(done), "{of_here:?} {of_there:?}");
        (sent, received) = (sent + of_here.len(), received + of_there.len());
        if (sent, received) == (MESSAGES as usize, MESSAGES as usize) {
            break;
        }
        out.join(&mut near, &mut far);
        back.join(&mut far, &mut near);
        now_ns += ROUND_NS;
    }
    assert_eq!((sent, received), (MESSAGES as usize, MESSAGES as usize));
    for message in 0..MESSAGES {
        let mut found = vec![0; BYTES as usize];
        there.1 .1.read(message as usize * BYTES as usize, &mut found);
        assert!(found == bytes_of(seed, message, BYTES), "message {message}");
    }
    // 63 have a flow on either card.
    for endpoint in [&here.0, &there.0] {
        let copied_bytes = endpoint.copied_payload_bytes();
        assert!(copied_bytes >= 17 * u64::from(BYTES), "{copied_bytes}");
    }
}
