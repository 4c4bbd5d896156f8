//! The kernel's TCP behind a golden card, against packets made by hand: what it refuses, what it
//! reads differently from other stacks. Skipped where the machine allows no network namespace.

use std::cell::RefCell;
use std::collections::HashMap;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use abi::config::SMALL;
use host::clock::Clock;
use host::driver::bus::MemoryKind;
use host::driver::device::DeviceConfig;
use host::headers::layout::{ones_sum, ACK, FIN, RST, SYN};
use host::headers::packet::{flow_key, parse_tcp, TcpHeader};
use host::memory::ApplicationMapping;
use host::observed::Observed;
use host::provider::{ApplicationId, Completion, ConnectionId, Provider, RegionId};
use host::transport::patience::Patience;
use host::transport::peer::SmoltcpPeer;
use host::transport::{LinuxTransport, ListenerId, TransportError};
use lab::exchange::Side;
use lab::golden_card::{GoldenBus, GoldenCard};
use lab::machine::Machine;
use sim::harness::traffic::{timestamp_option, Addresses, Layer4, PacketSpec};
use skip::skip_if_refused;

use crate::provider::rig::{cancelled_completion, failure, link, received_completion};

const FIRST: ApplicationId = ApplicationId::FIRST;
const DRAM: MemoryKind = MemoryKind::Application;
const PSH: u8 = 0x08;
const URG: u8 = 0x20;
/// Rounds in which host and card deal with what the kernel made of a packet; both work in rounds
/// alone, so that more do no harm and time is no matter.
const SETTLED: u32 = 30;
/// Where nobody listens: the kernel answers a SYN there with a reset.
const CLOSED_PORT: u16 = 9;
/// Sequence number of the first payload byte.
const START: u32 = 1001;
const PEER_PORT: u16 = 4444;

fn v6(host: u8) -> [u8; 16] {
    [0xfd, 0x77, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, host]
}

/// What a packet is made of, beside its payload.
#[derive(Clone, Default)]
struct Segment {
    port: Option<u16>,
    /// Our port, when it is not the listener's.
    to: Option<u16>,
    tags: Vec<u16>,
    /// Last byte of the link address it goes to, when that is not ours.
    station: Option<u8>,
    sequence: u32,
    acknowledgement: u32,
    flags: u8,
    options: Vec<u8>,
    urgent: u16,
    /// Behind a header of destination options (RFC 8200, 4.6) of 8 bytes.
    destination_options: bool,
}

type KernelMachine =
    Machine<Provider<GoldenBus, Observed<LinuxTransport>>, Rc<RefCell<GoldenCard>>, SmoltcpPeer>;

/// The kernel's TCP on a golden card; the peer answers address questions, its TCP is made by hand.
struct Hand {
    machine: KernelMachine,
    completions: Vec<Completion>,
    /// TCP headers that our side has sent.
    sent: Vec<TcpHeader>,
    ipv6: bool,
    /// The peer's port of the next [`Hand::rest`].
    marker_port: u16,
}

impl Hand {
    fn open(ipv6: bool) -> Option<Self> {
        Self::on(GoldenCard::late(SMALL, seed::seed()), ipv6)
    }

    fn on(card: Rc<RefCell<GoldenCard>>, ipv6: bool) -> Option<Self> {
        let transport =
            skip_if_refused(LinuxTransport::open(&link(1)), TransportError::is_refusal)?;
        let bus = GoldenBus::new(card.clone());
        let protocol = (Observed::new(transport), DeviceConfig::with_seed(1));
        let neighbour = SmoltcpPeer::open(&link(2), Clock::Wall { divisor: 1 }).expect("a peer");
        let machine = Machine::provided(bus, protocol, card, neighbour, None);
        Some(Self {
            machine: machine.expect("the device opens"),
            completions: Vec::new(),
            sent: Vec::new(),
            ipv6,
            marker_port: 60_000,
        })
    }

    fn step(&mut self) {
        self.completions.extend(self.machine.poll().expect("it polls"));
        let sent = &mut self.sent;
        let carried = self.machine.carry(|side, frame| {
            let header = parse_tcp(&frame.bytes).filter(|_| side == Side::ToPeer);
            let is_ours = header.is_some();
            sent.extend(header);
            !is_ours
        });
        carried.expect("frames");
        std::thread::sleep(Duration::from_millis(1));
    }

    fn until(&mut self, what: &str, mut is_done: impl FnMut(&mut Self) -> bool) {
        let mut patience = Patience::new(());
        while !is_done(self) {
            assert!(!patience.is_over(()), "{what}: never; completions {:?}", self.completions);
            self.step();
        }
    }

    fn completion(&mut self, wanted: impl Fn(&Completion) -> bool) -> Completion {
        let mut found = None;
        self.until("a completion", |hand| {
            let at = hand.completions.iter().position(&wanted);
            found = at.map(|at| hand.completions.remove(at));
            found.is_some()
        });
        found.expect("found")
    }

    fn local(&self) -> SocketAddr {
        match self.ipv6 {
            true => (v6(1), 80).into(),
            false => ([10, 77, 0, 1], 80).into(),
        }
    }

    /// The card receives a packet from the peer.
    fn receive(&mut self, segment: &Segment, payload: &[u8]) {
        let spec = PacketSpec {
            tags: segment.tags.clone(),
            addresses: match self.ipv6 {
                true => Addresses::V6(v6(2), v6(1)),
                false => Addresses::V4([10, 77, 0, 2], [10, 77, 0, 1]),
            },
            ip_options: Vec::new(),
            ports: (segment.port.unwrap_or(PEER_PORT), segment.to.unwrap_or(80)),
            layer4: Layer4::Tcp {
                sequence: segment.sequence,
                acknowledgement: segment.acknowledgement,
                flags: segment.flags,
                options: segment.options.clone(),
            },
            payload: payload.to_vec(),
        };
        let mut bytes = spec.frame(0);
        bytes[..6].copy_from_slice(&link(1).mac);
        bytes[6..12].copy_from_slice(&link(2).mac);
        if let Some(station) = segment.station {
            bytes[5] = station;
        }
        if segment.urgent > 0 {
            set_urgent(&mut bytes, if self.ipv6 { 54 } else { 34 }, segment.urgent);
        }
        if segment.destination_options {
            insert_destination_options(&mut bytes);
        }
        self.machine.receive(bytes);
    }

    /// A handshake from `port` on; the ACK number of everything that follows.
    fn shake_hands(&mut self, port: u16, syn_options: &[u8], options: &[u8]) -> u32 {
        let mut segment = Segment {
            port: Some(port),
            sequence: START - 1,
            flags: SYN,
            options: syn_options.to_vec(),
            ..Segment::default()
        };
        self.receive(&segment, &[]);
        let mut answer = None;
        self.until("a SYN-ACK", |hand| {
            let answers = |header: &&TcpHeader| {
                header.flags & (SYN | ACK) == SYN | ACK && header.destination.port() == port
            };
            answer = hand.sent.iter().find(answers).copied();
            answer.is_some()
        });
        segment.sequence = START;
        segment.acknowledgement = answer.expect("found").sequence.wrapping_add(1);
        segment.flags = ACK;
        segment.options = options.to_vec();
        self.receive(&segment, &[]);
        segment.acknowledgement
    }

    fn accept(&mut self, listener: ListenerId) -> ConnectionId {
        let mut id = None;
        self.until("a connection", |hand| {
            id = hand.machine.host.accept(listener).expect("it accepts");
            id.is_some()
        });
        id.expect("found")
    }

    /// An open connection whose first `bytes` bytes go to the start of a page.
    fn connect(&mut self, bytes: u32, options: [&[u8]; 2]) -> Connected {
        let listener = self.machine.host.listen(FIRST, self.local()).expect("a port");
        let acknowledgement = self.shake_hands(PEER_PORT, options[0], options[1]);
        let id = self.accept(listener);
        let region = self.machine.host.register(FIRST, DRAM, 4096).expect("a region");
        let memory = self.machine.host.map(region).expect("a mapping");
        self.machine.host.recv(id, region.span(0, bytes), 1).expect("a request");
        self.completion(|c| *c == Completion::Opened(id));
        self.rest();
        Connected { id, region, memory, acknowledgement }
    }

    /// Goes on until everything that the card has received before is dealt with. All packets pass
    /// card, host and kernel in order: when the kernel has answered one that is received now, it
    /// is through with the earlier ones, however long that took.
    fn rest(&mut self) {
        let port = self.marker_port;
        self.marker_port += 1;
        let marker =
            Segment { port: Some(port), to: Some(CLOSED_PORT), flags: SYN, ..Segment::default() };
        self.receive(&marker, &[]);
        self.until("a reset of the marker", |hand| {
            let is_reset = |h: &TcpHeader| h.destination.port() == port && h.flags & RST != 0;
            hand.sent.iter().any(is_reset)
        });
        (0..SETTLED).for_each(|_| self.step());
    }
}

struct Connected {
    id: ConnectionId,
    region: RegionId,
    memory: ApplicationMapping,
    acknowledgement: u32,
}

/// Sets the urgent pointer, which was 0, and corrects the checksum.
fn set_urgent(frame: &mut [u8], tcp: usize, urgent: u16) {
    let old = u16::from_be_bytes([frame[tcp + 16], frame[tcp + 17]]);
    let sum = !ones_sum(&urgent.to_be_bytes(), !old);
    frame[tcp + 16..tcp + 18].copy_from_slice(&sum.to_be_bytes());
    frame[tcp + 18..tcp + 20].copy_from_slice(&urgent.to_be_bytes());
}

/// Puts 8 bytes of destination options, all padding, between the IPv6 and the TCP header.
fn insert_destination_options(frame: &mut Vec<u8>) {
    let bytes = u16::from_be_bytes([frame[18], frame[19]]) + 8;
    frame[18..20].copy_from_slice(&bytes.to_be_bytes());
    frame[20] = 60;
    frame.splice(54..54, [6, 0, 1, 4, 0, 0, 0, 0]);
}

fn data(connected: &Connected, offset: u32) -> Segment {
    Segment {
        sequence: START + offset,
        acknowledgement: connected.acknowledgement,
        flags: ACK | PSH,
        ..Segment::default()
    }
}

#[test]
fn urgent_byte_belongs_to_stream() {
    let Some(mut hand) = Hand::open(false) else { return };
    let connected = hand.connect(300, [&[], &[]]);
    hand.receive(&data(&connected, 0), &[b'a'; 100]);
    let urgent = Segment { flags: ACK | PSH | URG, urgent: 100, ..data(&connected, 100) };
    hand.receive(&urgent, &[b'b'; 100]);
    hand.receive(&data(&connected, 200), &[b'c'; 100]);
    hand.completion(|c| *c == received_completion(connected.id, 1, 300));
    let mut bytes = [0; 300];
    connected.memory.read(0, &mut bytes);
    let expected = [[b'a'; 100], [b'b'; 100], [b'c'; 100]].concat();
    assert_eq!(bytes[..], expected);
}

#[test]
fn reset_is_failure_not_stream_end() {
    let Some(mut hand) = Hand::open(false) else { return };
    let connected = hand.connect(100, [&[], &[]]);
    hand.receive(&data(&connected, 0), &[b'a'; 100]);
    hand.completion(|c| *c == received_completion(connected.id, 1, 100));
    let (id, region) = (connected.id, connected.region);
    // No receive request is open: nothing but the status tells.
    hand.machine.host.send(id, region.span(1000, 500), 2).unwrap();
    let before = hand.sent.len();
    hand.until("our bytes", |hand| hand.sent[before..].iter().any(|h| h.flags & PSH != 0));
    let reset = Segment { flags: RST | ACK, ..data(&connected, 100) };
    hand.receive(&reset, &[]);
    hand.completion(|c| *c == Completion::Closed(id));
    let failed = |c: &Completion| failure(c, id) == Some(libc::ECONNRESET);
    assert!(hand.completions.iter().any(failed), "{:?}", hand.completions);
    assert!(hand.completions.contains(&cancelled_completion(id, 2)));
    assert!(!hand.completions.contains(&Completion::EndOfStream(id)));
}

#[test]
fn end_of_stream_is_no_failure() {
    let Some(mut hand) = Hand::open(false) else { return };
    let connected = hand.connect(200, [&[], &[]]);
    hand.receive(&data(&connected, 0), &[b'a'; 100]);
    let end = Segment { flags: FIN | ACK, ..data(&connected, 100) };
    hand.receive(&end, &[]);
    hand.completion(|c| *c == received_completion(connected.id, 1, 100));
    hand.completion(|c| *c == Completion::EndOfStream(connected.id));
    hand.machine.host.close(connected.id).unwrap();
    hand.until("our FIN", |hand| hand.sent.iter().any(|h| h.flags & FIN != 0));
    let last = Segment {
        acknowledgement: connected.acknowledgement.wrapping_add(1),
        flags: ACK,
        ..data(&connected, 101)
    };
    hand.receive(&last, &[]);
    hand.completion(|c| *c == Completion::Closed(connected.id));
    assert_eq!(hand.completions, []);
}

/// Both halves have ended, and the peer resets instead of acknowledging our FIN: no byte is lost.
#[test]
fn reset_as_last_ack_is_no_failure() {
    let Some(mut hand) = Hand::open(false) else { return };
    let connected = hand.connect(200, [&[], &[]]);
    let mut end = Segment { flags: FIN | ACK, ..data(&connected, 0) };
    hand.receive(&end, &[]);
    hand.completion(|c| *c == Completion::EndOfStream(connected.id));
    hand.completion(|c| *c == received_completion(connected.id, 1, 0));
    hand.machine.host.finish(connected.id).unwrap();
    hand.until("our FIN", |hand| hand.sent.iter().any(|h| h.flags & FIN != 0));
    end.sequence += 1;
    end.flags = RST | ACK;
    hand.receive(&end, &[]);
    hand.rest();
    assert_eq!(hand.completions, []);
    hand.machine.host.close(connected.id).unwrap();
    hand.completion(|c| *c == Completion::Closed(connected.id));
    assert_eq!(hand.completions, []);
}

/// The card takes no TCP from behind these options; the host does.
#[test]
fn tcp_behind_destination_options_arrives() {
    let Some(mut hand) = Hand::open(true) else { return };
    let connected = hand.connect(200, [&[], &[]]);
    let segment = Segment { destination_options: true, ..data(&connected, 0) };
    hand.receive(&segment, &[b'a'; 100]);
    hand.receive(&data(&connected, 100), &[b'b'; 100]);
    hand.completion(|c| *c == received_completion(connected.id, 1, 200));
    let mut bytes = [0; 200];
    connected.memory.read(0, &mut bytes);
    assert_eq!(bytes[..], [[b'a'; 100], [b'b'; 100]].concat());
}

/// We connect; the SYN-ACK comes in a way that the card does not split, or carries payload.
fn a_syn_ack_opens(destination_options: bool, payload: &[u8]) {
    let Some(mut hand) = Hand::open(true) else { return };
    let peer = (v6(2), PEER_PORT).into();
    let id = hand.machine.host.connect(FIRST, peer).unwrap();
    hand.until("our SYN", |hand| !hand.sent.is_empty());
    let syn = hand.sent[0];
    let mut segment = Segment {
        to: Some(syn.source.port()),
        sequence: START - 1,
        acknowledgement: syn.sequence.wrapping_add(1),
        flags: SYN | ACK,
        destination_options,
        ..Segment::default()
    };
    hand.receive(&segment, payload);
    hand.completion(|c| *c == Completion::Opened(id));
    let region = hand.machine.host.register(FIRST, DRAM, 4096).unwrap();
    let memory = hand.machine.host.map(region).unwrap();
    hand.machine.host.recv(id, region.span(0, 100), 1).unwrap();
    hand.rest();
    (segment.sequence, segment.flags) = (START, ACK);
    hand.receive(&segment, &[0x11; 100]);
    hand.completion(|c| *c == received_completion(id, 1, 100));
    let mut bytes = [0; 100];
    memory.read(0, &mut bytes);
    assert_eq!(bytes, [0x11; 100]);
}

#[test]
fn syn_ack_behind_options_opens_connection() {
    a_syn_ack_opens(true, &[]);
}

#[test]
fn syn_ack_with_payload_opens_connection() {
    a_syn_ack_opens(false, &[0xee; 10]);
}

/// A packet that `change` makes one that TCP refuses comes before the good one with other bytes.
fn the_good_one_stands(what: &str, options: [&[u8]; 3], change: impl Fn(&mut Segment)) {
    let Some(mut hand) = Hand::open(false) else { return };
    let connected = hand.connect(100, [options[0], options[1]]);
    let mut refused = data(&connected, 0);
    change(&mut refused);
    hand.receive(&refused, &[0xee; 100]);
    hand.rest();
    assert!(hand.completions.is_empty(), "{what}: {:?}", hand.completions);
    let good = Segment { options: options[2].to_vec(), ..data(&connected, 0) };
    hand.receive(&good, &[0x11; 100]);
    hand.completion(|c| *c == received_completion(connected.id, 1, 100));
    let mut bytes = [0; 100];
    connected.memory.read(0, &mut bytes);
    assert_eq!(bytes, [0x11; 100], "{what}");
}

#[test]
fn kernel_refused_bytes_do_not_stand() {
    the_good_one_stands("VLAN", [&[]; 3], |segment| segment.tags = vec![5]);
    the_good_one_stands("station", [&[]; 3], |segment| segment.station = Some(9));
    the_good_one_stands("ACK", [&[]; 3], |segment| segment.acknowledgement += 1);
    the_good_one_stands("old ACK", [&[]; 3], |segment| segment.acknowledgement -= 1);
    let [syn, first, good, old] =
        [1_000_000, 1_000_001, 1_000_010, 995_000].map(|value| timestamp_option(value, 0));
    the_good_one_stands("timestamp", [&syn, &first, &good], |segment| {
        segment.options.clone_from(&old);
    });
}

/// Nine connections whose keys share both their buckets: eight fit, the ninth is served without a
/// flow.
#[test]
fn connection_without_key_slot_is_served() {
    // Of a late card more would be copied: what comes before a flow is confirmed.
    let Some(mut hand) = Hand::on(GoldenCard::new(SMALL), false) else { return };
    let secrets = *hand.machine.host.device().secrets();
    let mask = (1u16 << hand.machine.host.device().sizes().bucket_bits) - 1;
    let mut sharing = HashMap::<[u16; 2], Vec<u16>>::new();
    for port in 1024..=u16::MAX {
        let key = flow_key(([10, 77, 0, 2], port).into(), hand.local());
        let buckets = secrets.each_ref().map(|secret| secret.hash(&key) & mask);
        sharing.entry(buckets).or_default().push(port);
    }
    let ports = sharing.into_values().find(|ports| ports.len() >= 9);
    let ports = ports.expect("more ports than pairs of buckets");
    let region = hand.machine.host.register(FIRST, DRAM, 4096).expect("room");
    let memory = hand.machine.host.map(region).expect("it maps");
    let listener = hand.machine.host.listen(FIRST, hand.local()).expect("a port");
    for (number, &port) in ports.iter().take(9).enumerate() {
        let acknowledgement = hand.shake_hands(port, &[], &[]);
        let id = hand.accept(listener);
        hand.completion(|c| *c == Completion::Opened(id));
        let at = 100 * number as u64;
        hand.machine.host.recv(id, region.span(at, 100), 1).expect("a request");
        hand.rest();
        let segment = Segment {
            port: Some(port),
            sequence: START,
            acknowledgement,
            flags: ACK | PSH,
            ..Segment::default()
        };
        hand.receive(&segment, &[number as u8; 100]);
        hand.completion(|c| *c == received_completion(id, 1, 100));
        let mut bytes = [0xff; 100];
        memory.read(at as usize, &mut bytes);
        assert_eq!(bytes, [number as u8; 100]);
        let counters = hand.machine.host.counters();
        let beyond = u64::from(number == 8);
        let counted = (counters.unplaced_connections, counters.copied_payload_bytes);
        assert_eq!(counted, (beyond, 100 * beyond));
    }
    assert_eq!(hand.completions, []);
}
