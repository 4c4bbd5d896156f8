//! Runs, expanded by the host, against the entries of a card that sums nothing up.
//!
//! ```text
//!   seed ─► packets, commands, time ─┬─► golden card, runs off ─► driver ─► entries ────────┐
//!                                    └─► golden card, runs on ──► driver ─► entries ─► packets ═?
//! ```
//! Of each flow the packets are the same, in the same order, with the same bytes in memory, but for
//! what the contract lets a run leave out: the IPv4 identification and time to live, checksums, and
//! what the packets between first and last acknowledge and say of windows and time.

use std::cell::RefCell;
use std::rc::Rc;

use abi::config::SMALL;
use abi::header_entry as field;
use abi::reason::Disposition;
use host::control::placement::KeyTable;
use host::control::regions::{Region, Regions};
use host::driver::bus::{Bus, MemoryKind};
use host::driver::device::{Device, DeviceConfig, COALESCE_TIME};
use host::driver::rings::HeaderEntry;
use host::headers::builder::{Route, Tcp};
use host::headers::layout::{ones_sum, tcp_checksum, TcpLayout, ACK, FIN, TCP_CHECKSUM_OFFSET};
use host::headers::packet::{flow_key, parse_tcp, TcpHeader};
use host::memory::ApplicationMapping;
use host::records::commands::{
    floor_set, flow_install, segment_post, Acceptance, Direction, Entry, FlowInstall, FlowName,
    Segment,
};
use lab::frame::Frame;
use lab::golden_card::{GoldenBus, GoldenCard};
use lab::network_side::NetworkSide;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};

const FLOWS: usize = 3;
const SEGMENTS: u16 = 8;
const SEGMENT_BYTES: u32 = 30_000;
/// The first position of each stream: it wraps.
const FIRST: u32 = u32::MAX - 50_000;
const PSH: u8 = 0x08;
const ROUNDS: usize = 5_000;

/// A packet as an entry says it.
#[derive(Clone, Debug, PartialEq)]
struct Packet {
    disposition: Option<Disposition>,
    flow: u16,
    parsed: TcpHeader,
    payload_bytes: u32,
    position: u32,
    /// Its ACK number, window and timestamps are exact.
    is_exact: bool,
}

/// A card, its driver and what it has said.
struct Rig {
    device: Device<GoldenBus>,
    card: Rc<RefCell<GoldenCard>>,
    memory: ApplicationMapping,
    packets: Vec<Packet>,
    runs: u64,
    joined: u64,
}

fn name(flow: usize) -> FlowName {
    FlowName { flow: flow as u16, generation: 1 }
}

fn route(flow: usize) -> Route {
    let ends = |host: u8, port: u16| match flow {
        0 => format!("[fd00::{host}]:{port}"),
        _ => format!("10.0.0.{host}:{port}"),
    };
    let [from, to] =
        [ends(2, 4000 + flow as u16), ends(1, 80)].map(|it| it.parse().expect("it is"));
    Route { macs: [[2, 0, 0, 0, 0, 2], [2, 0, 0, 0, 0, 1]], from, to }
}

impl Rig {
    fn open(coalesces: bool) -> Self {
        let card = GoldenCard::new(SMALL);
        let coalesce = coalesces.then_some(COALESCE_TIME);
        let config = DeviceConfig { coalesce, ..DeviceConfig::with_seed(1) };
        let mut device = Device::open(GoldenBus::new(card.clone()), config).expect("it opens");
        let sizes = device.sizes();
        let mut regions = Regions::new(sizes.region_bits, sizes.page_bits);
        let mut keys = KeyTable::new(*device.secrets(), sizes.bucket_bits);
        let bytes = FLOWS * usize::from(SEGMENTS) * SEGMENT_BYTES as usize;
        let memory = device.bus().allocate(MemoryKind::Application, bytes, 1 << 20);
        let memory = memory.expect("room");
        let mapping = device.bus().share(&memory).expect("pages").map().expect("a mapping");
        let (region, mut commands) = regions.register(memory, 0).expect("room");
        for flow in 0..FLOWS {
            commands.extend(install(flow, &region));
            let Route { from, to, .. } = route(flow);
            commands.extend(keys.insert(flow_key(from, to), flow as u16).expect("a slot"));
        }
        let mut rig =
            Self { device, card, memory: mapping, packets: Vec::new(), runs: 0, joined: 0 };
        for entry in commands {
            rig.device.command(entry);
        }
        rig.poll();
        assert_eq!(rig.device.take_refused(), None);
        rig
    }

    /// Takes what the card has published.
    fn poll(&mut self) {
        self.device.poll().expect("it polls");
        let mut entry = HeaderEntry::default();
        while self.device.next_header(&mut entry).expect("right entries") {
            self.take(&entry);
        }
        self.device.return_headers().expect("a doorbell");
    }

    fn take(&mut self, entry: &HeaderEntry) {
        let get = |field: abi::field::Field| field.get(&entry.metadata);
        let disposition = Disposition::from_code(get(field::DISPOSITION) as u8);
        let flow = get(field::FLOW) as u16;
        let Some(run) = entry.run else {
            let parsed = parse_tcp(&entry.header).expect("TCP");
            let (payload_bytes, position) =
                (get(field::PAYLOAD_BYTES) as u32, get(field::POSITION) as u32);
            let is_exact = true;
            self.packets.push(Packet {
                disposition,
                flow,
                parsed,
                payload_bytes,
                position,
                is_exact,
            });
            return;
        };
        self.runs += 1;
        self.joined += u64::from(run.packets);
        for packet in 0..run.packets {
            let header = run.header(&entry.header, packet..packet + 1).expect("a header");
            let parsed = parse_tcp(&header).expect("TCP");
            self.packets.push(Packet {
                disposition,
                flow,
                parsed,
                payload_bytes: run.payload_bytes(packet..packet + 1),
                position: parsed.sequence,
                is_exact: packet == 0 || packet + 1 == run.packets,
            });
        }
    }

    fn of_flow(&self, flow: usize) -> Vec<&Packet> {
        self.packets.iter().filter(|packet| usize::from(packet.flow) == flow).collect()
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; FLOWS * usize::from(SEGMENTS) * SEGMENT_BYTES as usize];
        self.memory.read(0, &mut bytes);
        bytes
    }
}

/// Commands that install a flow and post its segments, one behind the other in the region.
fn install(flow: usize, region: &Region) -> Vec<Entry> {
    let list = (flow as u32 * u32::from(SEGMENTS), SEGMENTS.ilog2() as u8);
    let spare = ((flow + FLOWS) as u32 * u32::from(SEGMENTS), SEGMENTS.ilog2() as u8);
    let mut commands = vec![flow_install(&FlowInstall {
        name: name(flow),
        owner: 0,
        domain: 0,
        acceptance: acceptance(FIRST),
        send_floor: 0,
        lists: [list, spare],
    })];
    for index in 0..SEGMENTS {
        let at = u32::from(index) * SEGMENT_BYTES;
        let place =
            (flow as u64 * u64::from(SEGMENTS) + u64::from(index)) * u64::from(SEGMENT_BYTES);
        let segment = Segment {
            index,
            position: FIRST.wrapping_add(at),
            bytes: SEGMENT_BYTES,
            region: region.index,
            region_key: region.key,
            offset: place,
        };
        commands.push(segment_post(name(flow), Direction::Receive, &segment));
    }
    commands
}

fn acceptance(floor: u32) -> Acceptance {
    Acceptance { floor, ack_low: 0, ack_high: u32::MAX, ..Acceptance::default() }
}

/// What a peer sends next.
#[derive(Clone, Copy, Debug)]
struct Peer {
    /// Offset of the next byte.
    next: u32,
    acknowledgement: u32,
    clock: u32,
    identification: u16,
    segment_bytes: u32,
}

impl Peer {
    fn frame(&mut self, random: &mut SmallRng, flow: usize) -> Vec<u8> {
        let draw = random.random_range(0..100);
        let mut flags = ACK;
        let mut payload_bytes = self.segment_bytes;
        let mut start = self.next;
        match draw {
            0..=3 => payload_bytes = random.random_range(1..self.segment_bytes + 100),
            4..=7 => flags |= PSH,
            8..=10 => payload_bytes = 0,
            11 => flags |= FIN,
            // Lost, and what comes again: behind, or ahead.
            12..=13 => start += self.segment_bytes,
            14..=15 => start = start.saturating_sub(self.segment_bytes * 2),
            16 => self.clock = self.clock.wrapping_sub(random.random_range(1..50)),
            17 => self.acknowledgement = self.acknowledgement.wrapping_sub(10),
            18 => self.segment_bytes = random.random_range(1..2_000),
            _ => {}
        }
        self.clock = self.clock.wrapping_add(random.random_range(0..2));
        self.acknowledgement = self.acknowledgement.wrapping_add(random.random_range(0..2) * 100);
        self.identification = self.identification.wrapping_add(1);
        let mut options = [1, 1, 8, 10, 0, 0, 0, 0, 0, 0, 0, 7];
        options[4..8].copy_from_slice(&self.clock.to_be_bytes());
        let has_stamps = flow != 2 || draw == 19;
        let tcp = Tcp {
            sequence: FIRST.wrapping_add(start),
            acknowledgement: self.acknowledgement,
            flags,
            window: random.random(),
            options: if has_stamps { &options } else { &[] },
        };
        let is_marked = draw == 20;
        let bytes = self.finish(route(flow), &tcp, (start, payload_bytes), is_marked);
        let end = start + payload_bytes;
        if !(12..=13).contains(&draw) {
            self.next = self.next.max(end);
        }
        bytes
    }

    /// The whole frame: identification, mark, payload by its place in the stream, checksums.
    fn finish(&self, route: Route, tcp: &Tcp<'_>, place: (u32, u32), is_marked: bool) -> Vec<u8> {
        let (start, payload_bytes) = place;
        let (mut bytes, layers) = route.tcp(tcp, payload_bytes as usize);
        let at = |offset: u32| (offset.wrapping_mul(0x9e37_79b1) >> 24) as u8;
        bytes.extend((start..start + payload_bytes).map(at));
        let l3 = layers.l3_offset;
        if layers.ipv6 {
            bytes[l3 + 1] |= if is_marked { 0x30 } else { 0x20 };
        } else {
            bytes[l3 + 1] |= if is_marked { 3 } else { 2 };
            bytes[l3 + 4..l3 + 6].copy_from_slice(&self.identification.to_be_bytes());
            let sum = !ones_sum(&bytes[l3..layers.l4_offset], 0);
            bytes[l3 + 10..l3 + 12].copy_from_slice(&sum.to_be_bytes());
        }
        let layout = TcpLayout::parse(&bytes).expect("TCP");
        let sum = tcp_checksum(&bytes, &layout).to_be_bytes();
        let at = layers.l4_offset + TCP_CHECKSUM_OFFSET;
        bytes[at..at + 2].copy_from_slice(&sum);
        bytes.resize(bytes.len().max(60), 0);
        bytes
    }
}

/// A packet of a card with runs is that of one without.
fn compare(with: &Packet, without: &Packet) {
    let mut expected = without.clone();
    expected.is_exact = with.is_exact;
    if !with.is_exact {
        expected.parsed.acknowledgement = with.parsed.acknowledgement;
        expected.parsed.window = with.parsed.window;
        expected.parsed.timestamp = with.parsed.timestamp;
    }
    assert_eq!(*with, expected);
}

/// Both cards get the same packets, commands and time.
#[test]
fn expanded_runs_are_the_packets() {
    let mut random = SmallRng::seed_from_u64(seed::seed());
    let (mut runs, mut joined, mut packets) = (0, 0, 0);
    for _ in 0..20 {
        let mut rigs = [Rig::open(true), Rig::open(false)];
        let mut peers = [Peer {
            next: 0,
            acknowledgement: 0,
            clock: u32::MAX - 20,
            identification: 0,
            segment_bytes: 1_000,
        }; FLOWS];
        for _ in 0..ROUNDS / 20 {
            let flow = random.random_range(0..FLOWS);
            let burst = [1, 1, 3, 8][random.random_range(0..4)];
            let frames: Vec<_> = (0..burst).map(|_| peers[flow].frame(&mut random, flow)).collect();
            let act = random.random_range(0..40);
            let floor = FIRST.wrapping_add(peers[flow].next.saturating_sub(20_000));
            for rig in &mut rigs {
                for bytes in &frames {
                    let frame = Frame { bytes: bytes.clone(), ..Frame::default() };
                    rig.card.receive(frame);
                }
                match act {
                    0 => drop(rig.device.command(floor_set(name(flow), acceptance(floor), 0))),
                    1 => drop(rig.device.command([0; abi::config::COMMAND_BYTES])),
                    2..=9 => rig.device.bus().advance().expect("time passes"),
                    _ => {}
                }
                rig.poll();
            }
            if peers[flow].next > SEGMENT_BYTES * (u32::from(SEGMENTS) - 1) {
                break;
            }
        }
        for rig in &mut rigs {
            for _ in 0..20 {
                rig.device.bus().advance().expect("time passes");
            }
            rig.poll();
        }
        let [with, without] = &rigs;
        for flow in 0..FLOWS {
            let (with, without) = (with.of_flow(flow), without.of_flow(flow));
            assert_eq!(with.len(), without.len(), "flow {flow}");
            with.iter().zip(&without).for_each(|(with, without)| compare(with, without));
            packets += with.len() as u64;
        }
        assert!(with.bytes() == without.bytes(), "bytes in memory differ");
        runs += with.runs;
        joined += with.joined;
        assert_eq!(without.runs, 0);
    }
    seed::enough("packets", packets, 2_000);
    seed::enough("runs", runs, 200);
    seed::enough("packets of runs", joined, 700);
}
