//! The Verilated card against the golden card: the same commands, the same frames, the same memory.
//!
//! ```text
//!               ┌─► Device ─ SimulatedBus ─ card (Verilator) ◄── MAC ◄─┐
//!   commands ───┤                                                      ├── random frames
//!               └─► Device ─ GoldenBus ── golden card ◄────────────────┘
//! ```
//! Proven for random packets over all flows of the small card, with VLAN tags, IPv4 and IPv6,
//! options, any order, overlaps, malformed and damaged frames, moving floors and vanishing regions:
//! every header entry, every deferred payload, every byte of every buffer and its guards, and every
//! counter of packets agree, and every frame is accounted for.

use std::cell::RefCell;
use std::rc::Rc;

use abi::config::SMALL;
use abi::reason::{Disposition, DropReason};
use host::control::placement::KeyTable;
use host::control::regions::Regions;
use host::driver::bus::{Bus, DmaMemory, MemoryKind};
use host::driver::device::{Device, DeviceConfig};
use host::driver::rings::HeaderEntry;
use host::memory::ApplicationMapping;
use host::records::commands as cmd;
use host::records::commands::{Acceptance, Direction, Entry, FlowInstall, FlowName, Segment};
use lab::frame::Frame;
use lab::golden_card::{GoldenBus, GoldenCard};
use lab::network_side::NetworkSide;
use pcie_sim::PcieConfig;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use sim::bus::SimulatedBus;
use sim::card::SimulatedCard;
use sim::coverage::{length_class, Coverage};
use sim::harness::traffic::{set_tag_types, timestamp_option, Addresses, Layer4, PacketSpec};
use verilate::options::Options;

const FLOWS: u16 = 64;
const PACKETS: usize = 10_240;
const BATCH: usize = 32;
const REGION_BYTES: usize = 64 << 10;
const GUARD_BYTES: u64 = 256;
const GUARD: u8 = 0xa5;
const LIST: u16 = 8;

/// What the packets must draw.
const DRAWN: [&str; 51] = [
    "damage: FCS",
    "damage: a bit",
    "damage: cut",
    "damage: noise",
    "damage: none",
    "damage: padding",
    "end: a byte below the floor",
    "end: a byte beyond the list",
    "end: anywhere",
    "end: at the end of the list",
    "end: at the floor",
    "flags: FIN",
    "flags: PSH",
    "flags: RST",
    "flags: SYN",
    "flags: data",
    "flags: no ACK",
    "ip: 4",
    "ip: 6",
    "ip options: 0",
    "ip options: 40",
    "ip options: 8",
    "length: a byte beyond",
    "length: a byte short",
    "length: below a beat",
    "length: between",
    "length: none",
    "length: whole beats",
    "padding of options: 0",
    "padding of options: 1",
    "padding of options: 2",
    "padding of options: 3",
    "start: around the end",
    "start: at the floor",
    "start: below the floor",
    "start: beyond the list",
    "start: in the window",
    "tags: 0",
    "tags: 1",
    "tags: 2",
    "timestamp: false",
    "timestamp: true",
    "types: 8100",
    "types: 8100 8100",
    "types: 8100 88a8",
    "types: 88a8",
    "types: 88a8 8100",
    "types: 88a8 88a8",
    "wraps: false",
    "wraps: true",
    "wraps: inside",
];

/// One of the two cards, driven by the same calls.
struct Half<B: Bus> {
    device: Device<B>,
    memories: Vec<DmaMemory>,
    regions: Regions,
    entries: Vec<HeaderEntry>,
    refused: Vec<(u64, u8)>,
}

impl<B: Bus> Half<B> {
    fn open(bus: B) -> Self {
        let mut device = Device::open(bus, DeviceConfig::seeded(1)).expect("it opens");
        let regions = Regions::new(SMALL.region_bits as u32, SMALL.page_bits as u32);
        let memories = (0..FLOWS)
            .map(|_| {
                let kind = MemoryKind::Application;
                let memory = device.bus().allocate(kind, REGION_BYTES, REGION_BYTES);
                let memory = memory.expect("memory");
                mapping(&mut device, &memory).write(0, &[GUARD; REGION_BYTES]);
                memory
            })
            .collect();
        Half { device, memories, regions, entries: Vec::new(), refused: Vec::new() }
    }

    /// Posts commands and waits until the last is confirmed.
    fn command(&mut self, entries: Vec<Entry>) {
        let mut last = None;
        for entry in entries {
            last = Some(self.device.command(entry));
        }
        let Some(last) = last else { return };
        for _ in 0..10_000 {
            self.device.poll().expect("it polls");
            if self.device.confirmed(last) {
                while let Some(refused) = self.device.take_refused() {
                    self.refused.push((refused.ticket.0, refused.status as u8));
                }
                return;
            }
            self.device.bus().advance().expect("time passes");
        }
        panic!("a command is not confirmed");
    }

    /// Removes a region and installs it with a new key: segments posted before are refused now.
    fn replace_region(&mut self, index: u16) {
        let entry = self.regions.removal(index).expect("a region");
        self.command(vec![entry]);
        self.regions.forget(index);
        let memory = self.memories[usize::from(index)];
        let (region, commands) = self.regions.register(memory, 0).expect("room");
        assert_eq!(region.index, index);
        self.command(commands);
    }

    /// Puts a flow on the card, with a region of its own.
    fn install(&mut self, flow: &Flow, key: Vec<Entry>) {
        let memory = self.memories[usize::from(flow.name.flow)];
        let (_, mut commands) = self.regions.register(memory, 0).expect("room");
        commands.push(install(flow));
        commands.extend(key);
        self.command(commands);
    }

    fn take_entries(&mut self) {
        let mut entry = HeaderEntry::default();
        while self.device.next_header(&mut entry).expect("an entry") {
            self.entries.push(entry.clone());
        }
        self.device.return_headers().expect("a doorbell");
    }

    fn bytes(&mut self, index: usize) -> Vec<u8> {
        let memory = self.memories[index];
        let mut bytes = vec![0; REGION_BYTES];
        mapping(&mut self.device, &memory).read(0, &mut bytes);
        bytes
    }
}

/// The application's view of its memory.
fn mapping<B: Bus>(device: &mut Device<B>, memory: &DmaMemory) -> ApplicationMapping {
    let range = device.bus().share(memory).expect("application memory");
    range.map().expect("a mapping")
}

/// What the test knows of a flow.
#[derive(Clone, Debug)]
struct Flow {
    name: FlowName,
    ports: (u16, u16),
    ipv6: bool,
    base: u32,
    floor: u32,
    posted: u32,
    head: u16,
    tail: u16,
    ends: Vec<u32>,
}

impl Flow {
    fn addresses(&self) -> Addresses {
        let id = self.name.flow as u8;
        if self.ipv6 {
            let mut source = [0xfd; 16];
            let mut destination = [0xfd; 16];
            (source[15], destination[15]) = (id, 1);
            Addresses::V6(source, destination)
        } else {
            Addresses::V4([10, 0, 1, id], [10, 0, 0, 1])
        }
    }

    fn key(&self) -> [u8; abi::flow_key::KEY_BYTES] {
        let (source, destination): (std::net::IpAddr, std::net::IpAddr) = match self.addresses() {
            Addresses::V4(source, destination) => (source.into(), destination.into()),
            Addresses::V6(source, destination) => (source.into(), destination.into()),
        };
        let remote = (source, self.ports.0).into();
        let local = (destination, self.ports.1).into();
        host::headers::packet::flow_key(remote, local)
    }

    fn post(&mut self, random: &mut SmallRng, region: u16, region_key: u16) -> Option<Entry> {
        let room = LIST - self.tail.wrapping_sub(self.head);
        let bytes = random.random_range(1..6000u32).min(REGION_BYTES as u32 - 1024);
        let offset =
            GUARD_BYTES + u64::from(random.random_range(0..REGION_BYTES as u32 - bytes - 512));
        if room == 0 {
            return None;
        }
        let segment = Segment {
            index: self.tail,
            position: self.base.wrapping_add(self.posted),
            bytes,
            region,
            region_key,
            offset,
        };
        self.tail = self.tail.wrapping_add(1);
        self.posted += bytes;
        self.ends.push(self.posted);
        Some(cmd::segment_post(self.name, Direction::Receive, &segment))
    }

    fn acceptance(&self) -> Acceptance {
        Acceptance {
            floor: self.base.wrapping_add(self.floor),
            ack_low: 1000,
            ack_high: 2000,
            ..Acceptance::default()
        }
    }

    /// Moves the floor somewhere between where it is and the end of what is posted.
    fn move_floor(&mut self, random: &mut SmallRng) -> Entry {
        self.floor = random.random_range(self.floor..=self.posted);
        while self.ends.first().is_some_and(|end| *end <= self.floor) {
            self.ends.remove(0);
            self.head = self.head.wrapping_add(1);
        }
        cmd::floor_set(self.name, self.acceptance(), self.head)
    }

    /// First byte and length of a packet's payload, as offsets of the stream.
    fn range(&self, random: &mut SmallRng, drawn: &mut Coverage) -> (u32, usize) {
        let span = (self.posted - self.floor).max(1);
        let (from, start) = match random.random_range(0..10) {
            0 => {
                let below = random.random_range(0..800);
                (self.floor.saturating_sub(below), "below the floor")
            }
            1 => {
                let before = random.random_range(0..2000);
                (self.posted.saturating_sub(before), "around the end")
            }
            2 => (self.posted + random.random_range(0..3000), "beyond the list"),
            3..6 => (self.floor, "at the floor"),
            _ => (self.floor + random.random_range(0..span), "in the window"),
        };
        let length = match random.random_range(0..9) {
            0 => 0,
            1 => random.random_range(1..140),
            2 => random.random_range(1449..8900),
            3 => 64 * random.random_range(1..20) + random.random_range(0..3) - 1,
            _ => random.random_range(1..1449),
        };
        // Ends on both sides of the bounds that the rules compare with.
        let (end, name) = match random.random_range(0..16) {
            0 => (Some(self.floor), "at the floor"),
            1 => (self.floor.checked_sub(1), "a byte below the floor"),
            2 => (Some(self.posted), "at the end of the list"),
            3 => (Some(self.posted + 1), "a byte beyond the list"),
            _ => (None, "anywhere"),
        };
        let from = match end.and_then(|end| end.checked_sub(length as u32)) {
            Some(from) => {
                drawn.count_of("end:", name);
                from
            }
            None => {
                drawn.count("end: anywhere");
                drawn.count_of("start:", start);
                from
            }
        };
        drawn.count_of("length:", length_class(length));
        (from, length)
    }

    fn packet(&self, random: &mut SmallRng, drawn: &mut Coverage) -> Vec<u8> {
        let (from, length) = self.range(random, drawn);
        let mut payload = vec![0; length];
        random.fill(&mut payload[..]);
        let flags: u8 = match random.random_range(0..12) {
            0 => 0x18,
            1 => 0x11,
            2 => random.random(),
            _ => 0x10,
        };
        drawn.count_of("flags:", flag_class(flags));
        let has_timestamp = random.random_bool(0.5);
        let mut options = match has_timestamp {
            true => timestamp_option(random.random(), 0),
            false => Vec::new(),
        };
        let padding_words = random.random_range(0..4);
        options.resize(options.len() + 4 * padding_words, 1);
        let ip_options = 4 * [0, 0, 0, 2, 10][random.random_range(0..5)];
        let tags = random.random_range(0..3);
        let first = self.base.wrapping_add(from);
        let wraps = match first.checked_add(length as u32) {
            None => "inside",
            Some(_) if first < self.base => "true",
            Some(_) => "false",
        };
        drawn.count_of("wraps:", wraps);
        drawn.count_of("timestamp:", has_timestamp);
        drawn.count_of("padding of options:", padding_words);
        drawn.count_of("ip:", if self.ipv6 { 6 } else { 4 });
        drawn.count_of("ip options:", ip_options);
        drawn.count_of("tags:", tags);
        let spec = PacketSpec {
            tags: (0..tags).map(|_| random.random()).collect(),
            addresses: self.addresses(),
            ip_options: vec![1; ip_options],
            ports: self.ports,
            layer4: Layer4::Tcp {
                sequence: self.base.wrapping_add(from),
                acknowledgement: random.random_range(990..2010),
                flags,
                options,
            },
            payload,
        };
        let mut frame = spec.frame(random.random());
        let types: Vec<usize> = (0..tags).map(|_| random.random_range(0..2)).collect();
        set_tag_types(&mut frame, &types);
        if tags > 0 {
            let names: Vec<_> = types.iter().map(|at| ["8100", "88a8"][*at]).collect();
            drawn.count_of("types:", names.join(" "));
        }
        frame
    }
}

/// Which flags decide.
fn flag_class(flags: u8) -> &'static str {
    match flags {
        _ if flags & 0x10 == 0 => "no ACK",
        _ if flags & 0x02 != 0 => "SYN",
        _ if flags & 0x04 != 0 => "RST",
        _ if flags & 0x01 != 0 => "FIN",
        _ if flags & 0x08 != 0 => "PSH",
        _ => "data",
    }
}

/// A frame for some flow, or for none; some are spoiled.
fn frame(flows: &[Flow], random: &mut SmallRng, drawn: &mut Coverage) -> Frame {
    let mut bytes = flows[random.random_range(0..flows.len())].packet(random, drawn);
    let damage = match random.random_range(0..40) {
        0 => {
            let at = random.random_range(12..bytes.len());
            bytes[at] ^= 1 << random.random_range(0..8);
            "a bit"
        }
        1 => {
            bytes.truncate(random.random_range(60..=bytes.len()));
            "cut"
        }
        2 => {
            let length = random.random_range(60..600);
            bytes = (0..length).map(|_| random.random()).collect();
            "noise"
        }
        3 => {
            bytes.resize((bytes.len() + 300).min(9216), 0x5a);
            "padding"
        }
        _ => "none",
    };
    let is_bad = random.random_range(0..60) == 0;
    drawn.count_of("damage:", if is_bad { "FCS" } else { damage });
    Frame { bytes, is_bad, time_ps: 0 }
}

fn install(flow: &Flow) -> Entry {
    let list = u32::from(flow.name.flow) * u32::from(LIST);
    cmd::flow_install(&FlowInstall {
        name: flow.name,
        owner: 0,
        domain: 0,
        acceptance: flow.acceptance(),
        send_floor: 0,
        lists: [(list, 3), (list, 3)],
    })
}

fn flows(random: &mut SmallRng) -> Vec<Flow> {
    (0..FLOWS)
        .map(|id| Flow {
            name: FlowName { flow: id, generation: random.random() },
            ports: (random.random(), random.random()),
            ipv6: id % 3 == 0,
            base: if id % 4 == 0 { u32::MAX - 3000 } else { random.random() },
            floor: 0,
            posted: 0,
            head: 0,
            tail: 0,
            ends: Vec::new(),
        })
        .collect()
}

/// Changes some flows between two batches: floors, segments, and now and then a region.
fn changes(
    flows: &mut [Flow],
    random: &mut SmallRng,
    keys: &mut [u16],
    rtl: &mut Half<SimulatedBus>,
    golden: &mut Half<GoldenBus>,
) {
    let mut both = Vec::new();
    for flow in flows.iter_mut() {
        let region = flow.name.flow;
        if random.random_bool(0.2) {
            both.push(flow.move_floor(random));
        }
        while random.random_bool(0.6) {
            let Some(entry) = flow.post(random, region, keys[usize::from(region)]) else {
                break;
            };
            both.push(entry);
        }
    }
    rtl.command(both.clone());
    golden.command(both);
    if random.random_bool(0.1) {
        let index = random.random_range(0..FLOWS);
        rtl.replace_region(index);
        golden.replace_region(index);
        keys[usize::from(index)] = rtl.regions.get(index).expect("it is back").key;
    }
}

fn compare(rtl: &mut Half<SimulatedBus>, golden: &mut Half<GoldenBus>, batch: usize) {
    rtl.take_entries();
    golden.take_entries();
    for (number, (ours, theirs)) in rtl.entries.iter().zip(&golden.entries).enumerate() {
        assert_eq!(ours, theirs, "batch {batch}, entry {number}");
    }
    assert_eq!(rtl.entries.len(), golden.entries.len(), "batch {batch}");
    assert_eq!(rtl.refused, golden.refused, "batch {batch}: refused commands");
    rtl.entries.clear();
    golden.entries.clear();
}

fn packet_counters<B: Bus>(half: &mut Half<B>) -> Vec<(&'static str, u64)> {
    let counters = half.device.counters().expect("counters");
    let known = |name: &str| {
        Disposition::ALL.iter().any(|d| d.name() == name)
            || DropReason::ALL.iter().any(|d| d.name() == name)
    };
    counters.into_iter().filter(|(name, _)| known(name)).collect()
}

/// Gives so many packets to a card and a golden card; what was drawn.
fn agree(seed: u64, packets: usize) -> Coverage {
    let mut random = SmallRng::seed_from_u64(seed);
    let pcie = PcieConfig {
        seed,
        jitter_ns: 200,
        reorder_permille: 200,
        random_split_permille: 300,
        rq_stall_permille: 100,
        ..PcieConfig::default()
    };
    let card = SimulatedCard::new("small", pcie.clone(), Options::default());
    let card = Rc::new(RefCell::new(card.expect("it builds")));
    let bus = SimulatedBus::new(card.clone(), &pcie).expect("a bus");
    let mut golden_card = GoldenCard::new(SMALL);
    let mut rtl = Half::open(bus);
    let mut golden = Half::open(GoldenBus::new(golden_card.clone()));
    let mut flows = flows(&mut random);
    let mut table = KeyTable::new(*rtl.device.secrets(), SMALL.bucket_bits as u32);
    let mut keys = Vec::new();
    for flow in &flows {
        let key = table.insert(flow.key(), flow.name.flow).expect("it fits");
        rtl.install(flow, key.clone());
        golden.install(flow, key);
        keys.push(rtl.regions.get(flow.name.flow).expect("it is there").key);
    }
    let mut drawn = Coverage::default();
    for batch in 0..packets / BATCH {
        changes(&mut flows, &mut random, &mut keys, &mut rtl, &mut golden);
        for _ in 0..BATCH {
            let frame = frame(&flows, &mut random, &mut drawn);
            golden_card.receive(frame.clone());
            card.borrow_mut().mac.receive_frame(frame, 0);
            card.borrow_mut().run(random.random_range(0..600));
        }
        card.borrow_mut().run(4_000);
        compare(&mut rtl, &mut golden, batch);
    }
    for index in 0..usize::from(FLOWS) {
        assert_eq!(rtl.bytes(index), golden.bytes(index), "memory of flow {index}");
    }
    let (ours, theirs) = (packet_counters(&mut rtl), packet_counters(&mut golden));
    println!("{ours:?}, {} cycles", card.borrow().cycles());
    assert_eq!(ours, theirs);
    assert_eq!(ours.iter().map(|(_, count)| count).sum::<u64>(), packets as u64);
    let violations = card.borrow().violations();
    assert!(violations.is_empty(), "{} violations, first {}", violations.len(), violations[0]);
    drawn
}

/// On two cards, as a card takes one core.
#[test]
fn ten_thousand_random_packets_over_64_flows_agree_with_the_golden_card() {
    let seed = seed::seed();
    let mut drawn = Coverage::default();
    std::thread::scope(|scope| {
        let cards = [seed, !seed].map(|seed| scope.spawn(move || agree(seed, PACKETS / 2)));
        for card in cards {
            drawn.add(&card.join().expect("they agree"));
        }
    });
    drawn.check("the packets", &DRAWN);
}
