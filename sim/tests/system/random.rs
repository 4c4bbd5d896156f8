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

mod flow;

use std::cell::RefCell;
use std::rc::Rc;

use abi::config::SMALL;
use abi::reason::{Disposition, DropReason};
use flow::Flow;
use host::control::placement::KeyTable;
use host::control::regions::Regions;
use host::driver::bus::{Bus, DmaMemory, MemoryKind};
use host::driver::device::DeviceConfig;
use host::driver::rings::HeaderEntry;
use host::records::commands as cmd;
use host::records::commands::{Entry, FlowInstall, FlowName};
use lab::frame::Frame;
use lab::golden_card::{GoldenBus, GoldenCard};
use lab::machine::CardModel;
use lab::network_side::NetworkSide;
use pcie_sim::PcieConfig;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use sim::bus::SimulatedBus;
use sim::card::{SharedCard, SimulatedCard};
use sim::coverage::Coverage;
use sim::direct::Direct;
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
struct Half<B: Bus, C: CardModel> {
    direct: Direct<B, C>,
    memories: Vec<DmaMemory>,
    entries: Vec<HeaderEntry>,
    refused: Vec<(u64, u8)>,
}

type Rtl = Half<SimulatedBus, SharedCard>;
type Golden = Half<GoldenBus, Rc<RefCell<GoldenCard>>>;

impl<B: Bus, C: CardModel> Half<B, C> {
    fn open(bus: B, card: C) -> Self {
        let mut direct = Direct::on(bus, card, DeviceConfig::with_seed(1));
        let memories = (0..FLOWS)
            .map(|_| {
                let kind = MemoryKind::Application;
                let bus = direct.machine.host.device.bus();
                let memory = bus.allocate(kind, REGION_BYTES, REGION_BYTES).expect("memory");
                direct.fill(&memory, 0, &[GUARD; REGION_BYTES]);
                memory
            })
            .collect();
        Half { direct, memories, entries: Vec::new(), refused: Vec::new() }
    }

    /// Posts commands and waits until the last is confirmed.
    fn command(&mut self, entries: Vec<Entry>) {
        let refused = self.direct.command(entries);
        self.refused.extend(refused.iter().map(|it| (it.ticket.0, it.status as u8)));
    }

    fn regions(&mut self) -> &mut Regions {
        &mut self.direct.machine.host.regions
    }

    /// Removes a region and installs it with a new key: segments posted before are refused now.
    fn replace_region(&mut self, index: u16) {
        let entry = self.regions().removal(index).expect("a region");
        self.command(vec![entry]);
        self.regions().forget(index);
        let memory = self.memories[usize::from(index)];
        let (region, commands) = self.regions().register(memory, 0).expect("room");
        assert_eq!(region.index, index);
        self.command(commands);
    }

    /// Puts a flow on the card, with a region of its own.
    fn install(&mut self, flow: &Flow, key: Vec<Entry>) {
        let memory = self.memories[usize::from(flow.name.flow)];
        let (_, mut commands) = self.regions().register(memory, 0).expect("room");
        commands.push(install(flow));
        commands.extend(key);
        self.command(commands);
    }

    fn take_entries(&mut self) {
        self.entries.extend(self.direct.entries());
    }

    fn bytes(&mut self, index: usize) -> Vec<u8> {
        self.direct.memory(&self.memories[index])
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
    rtl: &mut Rtl,
    golden: &mut Golden,
) {
    let mut both = Vec::new();
    for flow in flows.iter_mut() {
        let region = flow.name.flow;
        if random.random_bool(0.2) {
            both.push(flow.move_floor(random));
        }
        while random.random_bool(0.6) {
            let Some(entry) = flow.post(random, region, keys[usize::from(region)]) else { break };
            both.push(entry);
        }
    }
    rtl.command(both.clone());
    golden.command(both);
    if random.random_bool(0.1) {
        let index = random.random_range(0..FLOWS);
        rtl.replace_region(index);
        golden.replace_region(index);
        keys[usize::from(index)] = rtl.regions().get(index).expect("it is back").key;
    }
}

fn compare(rtl: &mut Rtl, golden: &mut Golden, batch: usize) {
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

fn packet_counters<B: Bus, C: CardModel>(half: &mut Half<B, C>) -> Vec<(&'static str, u64)> {
    let counters = half.direct.machine.host.device.counters().expect("counters");
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
    let bus = SimulatedBus::with_card(card.expect("it builds"), &pcie);
    let (bus, card) = bus.expect("a bus");
    let mut golden_card = GoldenCard::new(SMALL);
    let mut rtl = Half::open(bus, card.clone());
    let mut golden = Half::open(GoldenBus::new(golden_card.clone()), golden_card.clone());
    let mut flows = flows(&mut random);
    let mut table =
        KeyTable::new(*rtl.direct.machine.host.device.secrets(), SMALL.bucket_bits as u32);
    let mut keys = Vec::new();
    for flow in &flows {
        let key = table.insert(flow.key(), flow.name.flow).expect("it fits");
        rtl.install(flow, key.clone());
        golden.install(flow, key);
        keys.push(rtl.regions().get(flow.name.flow).expect("it is there").key);
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
    rtl.direct.assert_clean();
    drawn
}

/// On two cards, as a card takes one core.
#[test]
fn random_packets_agree_with_golden_card() {
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
