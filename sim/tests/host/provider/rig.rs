//! A provider on a card, golden or Verilated, and a peer in this process: no kernel, no wall clock.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use abi::config::SMALL;
use host::clock::ManualClock;
use host::driver::bus::Bus;
use host::driver::device::DeviceConfig;
use host::driver::rings::RingSizes;
use host::headers::layout::{ACK, SYN};
use host::headers::packet::parse_tcp;
use host::observed::Observed;
use host::provider::{Completion, ConnectionId, Provider};
use host::transport::peer::SmoltcpPeer;
use host::transport::{LinkConfig, Transport, Tuning};
use lab::exchange::Side;
use lab::frame::Frame;
use lab::golden_card::{GoldenBus, GoldenCard};
use lab::machine::{smoltcp_ends, Machine};
use lab::network_side::NetworkSide;
use pcie_sim::PcieConfig;
use sim::bus::SimulatedBus;
use sim::card::SimulatedCard;
use sim::harness::traffic::{Addresses, PacketSpec};
use verilate::options::Options;

/// Rounds after which a test is stuck.
const ROUNDS_MAX: u32 = 200_000;
/// Rounds for which a card may go on with what is under way, and in which it has nothing before it
/// rests: what it ends makes the host begin.
const REST_ROUNDS_MAX: usize = 200;
const REST_ROUNDS: usize = 4;
/// Time that the protocols' clock moves on in a round.
const ROUND: Duration = Duration::from_micros(500);

/// The golden card in a rig.
pub type GoldenRig = Rig<GoldenBus, Rc<RefCell<GoldenCard>>>;
/// The Verilated card in a rig.
pub type VerilatedRig = Rig<SimulatedBus, Rc<RefCell<SimulatedCard>>>;

/// A provider on any transport.
type ObservedProvider<B> = Provider<B, Observed<Box<dyn Transport>>>;

/// Our side, the card and the peer.
pub struct Rig<B: Bus, C: NetworkSide> {
    pub machine: Machine<ObservedProvider<B>, C, SmoltcpPeer>,
    /// Completions that no test has taken.
    pub completions: Vec<Completion>,
    /// Frames of the peer that carry payload and are held back: those with these numbers, from 0.
    pub hold: Vec<usize>,
    /// Frames that were held back.
    pub held: Vec<Frame>,
    /// Frames of the peer that carry payload, so far.
    pub payload_frames: usize,
    /// What our side has sent, and the peer.
    pub sent: Vec<Vec<u8>>,
    pub received: Vec<Vec<u8>>,
    /// The peer is cut off: nothing reaches it, nothing of it reaches the card.
    pub cut: bool,
    /// Connections whose stream has ended.
    ended: Vec<ConnectionId>,
}

/// Small enough for a window without a scale: every byte of a buffer can be offered.
pub const TUNING: Tuning = Tuning { receive_buffer_bytes: 60_000, ..Tuning::REAL_TIME };

pub fn link(host: u8) -> LinkConfig {
    LinkConfig::lab(host, 1500, TUNING)
}

/// A TCP packet from the peer's address to ours: ports, sequence and ACK number.
pub fn forge_packet(ports: (u16, u16), numbers: (u32, u32), flags: u8, payload: &[u8]) -> Frame {
    let spec = PacketSpec::tcp(
        Addresses::V4([10, 77, 0, 2], [10, 77, 0, 1]),
        ports,
        numbers,
        flags,
        payload.to_vec(),
    );
    let mut bytes = spec.frame(0);
    bytes[..6].copy_from_slice(&link(1).mac);
    bytes[6..12].copy_from_slice(&link(2).mac);
    Frame { bytes, ..Frame::default() }
}

/// Whether a frame is longer than any header here.
pub fn carries_payload(frame: &[u8]) -> bool {
    frame.len() > 120
}

/// A rig whose commands go out four at a time, so that many queued ones hold the next one back.
pub fn slow_commands() -> GoldenRig {
    let card = GoldenCard::late(SMALL, seed::seed());
    let rings = RingSizes { command_bits: 2, ..RingSizes::default() };
    let config = DeviceConfig { rings, ..DeviceConfig::with_seed(1) };
    Rig::with(GoldenBus::new(card.clone()), card, config)
}

/// A golden card that takes its time, at random.
pub fn golden() -> GoldenRig {
    let card = GoldenCard::late(SMALL, seed::seed());
    Rig::new(GoldenBus::new(card.clone()), card)
}

/// A golden card that does everything at once: for tests that count rounds or requests under way.
pub fn prompt() -> GoldenRig {
    let card = GoldenCard::new(SMALL);
    Rig::new(GoldenBus::new(card.clone()), card)
}

/// The Verilated card, bare.
pub fn verilated_card() -> Rc<RefCell<SimulatedCard>> {
    let options = Options::default();
    let card = SimulatedCard::new("small", PcieConfig::default(), options).expect("it builds");
    Rc::new(RefCell::new(card))
}

pub fn verilated_rig() -> VerilatedRig {
    let card = verilated_card();
    let bus = SimulatedBus::new(card.clone(), &PcieConfig::default()).expect("a bus");
    Rig::new(bus, card)
}

/// No rule of a link was broken.
pub fn assert_clean(card: &Rc<RefCell<SimulatedCard>>) {
    let violations = card.borrow().violations();
    assert!(violations.is_empty(), "{violations:#?}");
}

/// The completion of a receive.
pub const fn received_completion(connection: ConnectionId, request: u64, bytes: u32) -> Completion {
    Completion::Received { connection, request, bytes }
}

/// The completion of a send.
pub const fn sent_completion(connection: ConnectionId, request: u64) -> Completion {
    Completion::Sent { connection, request }
}

/// A request that was cancelled.
pub const fn cancelled_completion(connection: ConnectionId, request: u64) -> Completion {
    Completion::Cancelled { connection, request }
}

/// The number with which a connection failed, if that is what a completion tells.
pub fn failure(completion: &Completion, of: ConnectionId) -> Option<i32> {
    match completion {
        Completion::Failed { connection, reason } if *connection == of => Some(reason.errno()),
        _ => None,
    }
}

impl<B: Bus, C: NetworkSide> Rig<B, C> {
    pub fn new(bus: B, card: C) -> Self {
        Self::with(bus, card, DeviceConfig::with_seed(1))
    }

    fn with(bus: B, card: C, config: DeviceConfig) -> Self {
        Self::over(bus, card, config, |transport| transport)
    }

    /// A rig whose transport is what `wrap` makes of smoltcp.
    pub fn over(
        bus: B,
        card: C,
        config: DeviceConfig,
        wrap: impl FnOnce(Box<dyn Transport>) -> Box<dyn Transport>,
    ) -> Self {
        let clock = ManualClock::default();
        let (transport, peer) = smoltcp_ends(&[link(1), link(2)], &clock).expect("two ends");
        let protocol = (Observed::new(wrap(Box::new(transport))), config);
        let machine = Machine::provided(bus, protocol, card, peer, Some(clock));
        Self {
            machine: machine.expect("the device opens"),
            completions: Vec::new(),
            hold: Vec::new(),
            held: Vec::new(),
            payload_frames: 0,
            sent: Vec::new(),
            received: Vec::new(),
            cut: false,
            ended: Vec::new(),
        }
    }

    /// Lets everybody go on for a moment.
    pub fn step(&mut self) {
        for completion in self.machine.poll().expect("it polls") {
            self.note_end(&completion);
            self.completions.push(completion);
        }
        let Self { machine, sent, received, hold, held, payload_frames, cut, .. } = self;
        let carried = machine.carry(|side, frame| {
            if side == Side::ToPeer {
                sent.push(frame.bytes.clone());
                return !*cut;
            }
            if carries_payload(&frame.bytes) {
                *payload_frames += 1;
                if hold.contains(&(*payload_frames - 1)) {
                    held.push(frame.clone());
                    return false;
                }
            }
            received.push(frame.bytes.clone());
            !*cut
        });
        carried.expect("frames");
        self.machine.pass(ROUND);
    }

    /// The end of a stream is said behind all its bytes.
    fn note_end(&mut self, completion: &Completion) {
        match completion {
            Completion::EndOfStream(id) => self.ended.push(*id),
            Completion::Received { connection, .. } => {
                let is_over = self.ended.contains(connection);
                assert!(!is_over, "behind the end of its stream: {completion:?}");
            }
            _ => {}
        }
    }

    /// Lets everybody go on for some rounds, and the card until it has nothing under way.
    pub fn steps(&mut self, rounds: usize) {
        (0..rounds).for_each(|_| self.step());
        let mut at_rest = 0;
        for _ in 0..REST_ROUNDS_MAX {
            at_rest = self.machine.card.traffic().map_or(0, |_| at_rest + 1);
            if at_rest == REST_ROUNDS {
                break;
            }
            self.step();
        }
    }

    /// What our TCP expects of the peer next: sequence number, ACK number, its port and ours.
    pub fn peer_next(&self) -> (u32, u32, (u16, u16)) {
        self.next_of_peer(|_| true)
    }

    /// The same for what was sent to a port.
    pub fn peer_next_at(&self, port: u16) -> (u32, u32, (u16, u16)) {
        self.next_of_peer(|to| to == port)
    }

    fn next_of_peer(&self, is_asked_for: impl Fn(u16) -> bool) -> (u32, u32, (u16, u16)) {
        let mut headers = self.sent.iter().rev().filter_map(|f| parse_tcp(f));
        let last = headers.find(|header| is_asked_for(header.destination.port()));
        let last = last.expect("we have spoken");
        let syn = u32::from(last.flags & SYN != 0);
        let ports = (last.destination.port(), last.source.port());
        (last.acknowledgement, last.sequence.wrapping_add(syn), ports)
    }

    /// The card receives a TCP packet from the peer's address that the peer never sent.
    pub fn forge(&mut self, ports: (u16, u16), numbers: (u32, u32), flags: u8, payload: &[u8]) {
        self.machine.card.receive(forge_packet(ports, numbers, flags, payload));
    }

    /// The card receives a forged SYN and answers; our next sequence number.
    pub fn forge_syn(&mut self, ports: (u16, u16), sequence: u32) -> u32 {
        self.sent.clear();
        self.forge(ports, (sequence, 0), SYN, &[]);
        let mut next = None;
        self.until("a SYN-ACK", |rig| {
            let mut headers = rig.sent.iter().filter_map(|frame| parse_tcp(frame));
            let flags = SYN | ACK;
            let answer =
                headers.find(|h| h.flags & flags == flags && h.destination.port() == ports.0);
            next = answer.map(|header| header.sequence.wrapping_add(1));
            next.is_some()
        });
        next.expect("it came")
    }

    /// Goes on until `is_done`.
    pub fn until(&mut self, what: &str, mut is_done: impl FnMut(&mut Self) -> bool) {
        for _ in 0..ROUNDS_MAX {
            if is_done(self) {
                return;
            }
            self.step();
        }
        panic!("{what}: never; completions {:?}", self.completions);
    }

    /// Goes on until a completion that `wanted` accepts comes, and takes it.
    pub fn completion(&mut self, wanted: impl Fn(&Completion) -> bool) -> Completion {
        let mut found = None;
        self.until("a completion", |rig| {
            let at = rig.completions.iter().position(&wanted);
            found = at.map(|at| rig.completions.remove(at));
            found.is_some()
        });
        found.expect("found")
    }
}
