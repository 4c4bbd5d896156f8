//! A machine in a test's hand: what goes wrong in its driver ends the test.
//!
//! ```text
//!   test ── commands, descriptors ──► Machine: Driver ─ Bus ══ card ◄── frames ── test
//!        ◄─ entries, memory ────────                                ──► frames
//! ```
//! Regions are filled with [`GUARD`] when they are made, and every flow has one TCP connection.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};

use abi::reason::{Disposition, DropReason};
use host::control::regions::Region;
use host::driver::bus::{Bus, DmaMemory, MemoryKind};
use host::driver::device::DeviceConfig;
use host::driver::rings::HeaderEntry;
use host::headers::packet::{flow_key, parse_tcp};
use host::records::commands::{self as cmd, Acceptance, Direction, Entry, FlowInstall, FlowName};
use host::records::descriptor::{send, Payload, Record};
use host::records::ticket::{RefusedCommand, Ticket};
use lab::frame::Frame;
use lab::machine::{CardModel, Driver, Machine};
use pcie_sim::PcieConfig;

use crate::bus::SimulatedBus;
use crate::card::{SharedCard, SimulatedCard};
use crate::harness::traffic::{Addresses, PacketSpec};

/// Value of memory that has not been written.
pub const GUARD: u8 = 0xa5;
/// Cycles after which nothing is in flight any more.
const REST_CYCLES: u64 = 8_000;
/// As many times [`REST_CYCLES`] as the longest test takes to come to rest, and many more.
const RESTS_MAX: u64 = 100;
/// Cycles between two looks at a command under way: what follows it is close behind.
const LOOK_CYCLES: u64 = 4;

/// Header bytes of a packet of [`Flow::packet`].
pub const HEADER_BYTES: usize = 14 + 20 + 20;

/// A flow with its connection.
#[derive(Clone, Copy, Debug)]
pub struct Flow {
    /// Id and generation.
    pub name: FlowName,
    /// First position, and the floor at the beginning.
    pub base: u32,
    /// Protection domain.
    pub domain: u16,
}

impl Flow {
    /// A flow of generation 1 in domain 0.
    pub fn new(flow: u16, base: u32) -> Flow {
        let name = FlowName { flow, generation: 1 };
        Flow { name, base, domain: 0 }
    }

    fn ends(&self) -> (SocketAddr, SocketAddr) {
        let ip = |host: u8| IpAddr::from([10, 0, 0, host]);
        let local = SocketAddr::from((ip(1), 80));
        (SocketAddr::from((ip(2), 9000 + self.name.flow)), local)
    }

    /// Key in the flow table.
    pub fn key(&self) -> [u8; abi::flow_key::KEY_BYTES] {
        let (remote, local) = self.ends();
        flow_key(remote, local)
    }

    /// A packet from the peer, at an offset of the stream.
    pub fn packet(&self, offset: u32, payload: &[u8]) -> PacketSpec {
        let (remote, local) = self.ends();
        PacketSpec::tcp(
            Addresses::V4([10, 0, 0, 2], [10, 0, 0, 1]),
            (remote.port(), local.port()),
            (self.base.wrapping_add(offset), 1),
            0x10,
            payload.to_vec(),
        )
    }

    /// The command that installs the flow, with both lists in their committed places.
    pub fn install(&self) -> Entry {
        cmd::flow_install(&FlowInstall {
            name: self.name,
            owner: 0,
            domain: self.domain,
            acceptance: self.acceptance(0),
            send_floor: self.base,
            lists: [(u32::from(self.name.flow) * 8, 3); 2],
        })
    }

    fn acceptance(&self, offset: u32) -> Acceptance {
        Acceptance {
            floor: self.base.wrapping_add(offset),
            ack_low: 0,
            ack_high: 1 << 20,
            ..Acceptance::default()
        }
    }

    /// The command that moves the receive floor and the head of the receive list.
    pub fn floor(&self, offset: u32, head: u16) -> Entry {
        cmd::floor_set(self.name, self.acceptance(offset), head)
    }

    /// The command that moves the send floor and the head of the send list.
    pub fn send_floor(&self, offset: u32, head: u16) -> Entry {
        cmd::send_floor_set(self.name, self.base.wrapping_add(offset), head)
    }

    /// The command that posts a segment for `bytes` bytes of the stream from `offset` on.
    pub fn segment(
        &self,
        direction: Direction,
        (index, offset, bytes): (u16, u32, u32),
        (region, at): (&Region, u64),
    ) -> Entry {
        let segment = cmd::Segment {
            index,
            position: self.base.wrapping_add(offset),
            bytes,
            region: region.index,
            region_key: region.key,
            offset: at,
        };
        cmd::segment_post(self.name, direction, &segment)
    }

    /// The descriptor that sends a range of the stream in frames of at most `mss_bytes`.
    pub fn descriptor(&self, offset: u32, bytes: u32, mss_bytes: u16) -> Record {
        let mut template = self.packet(offset, &[]).frame(0);
        template.truncate(HEADER_BYTES);
        let header = parse_tcp(&template).expect("it is TCP");
        let payload = Payload {
            name: self.name,
            position: self.base.wrapping_add(offset),
            bytes,
            mss_bytes,
            segment_index: 0,
        };
        send(&template, (&header).into(), &payload).record()
    }
}

/// The machine. See the head of the module.
pub struct Direct<B: Bus = SimulatedBus, C: CardModel = SharedCard> {
    /// The card and its driver.
    pub machine: Machine<Driver<B>, C>,
}

impl Direct {
    /// Opens a simulated card that was made with `pcie`.
    ///
    /// # Panics
    /// If it does not open.
    pub fn open(card: SimulatedCard, pcie: &PcieConfig, config: DeviceConfig) -> Direct {
        let (bus, card) = SimulatedBus::with_card(card, pcie).expect("a bus");
        let mut direct = Direct::on(bus, card, config);
        direct.machine.host.look_cycles = LOOK_CYCLES;
        direct
    }
}

impl<B: Bus, C: CardModel> Direct<B, C> {
    /// Opens a card on its bus.
    ///
    /// # Panics
    /// If it does not open.
    pub fn on(bus: B, card: C, config: DeviceConfig) -> Self {
        Self { machine: Machine::driven(bus, card, config).expect("it opens") }
    }

    /// Posts commands without waiting; returns the ticket of the last.
    ///
    /// # Panics
    /// If there are none, or the driver fails.
    pub fn post(&mut self, entries: impl IntoIterator<Item = Entry>) -> Ticket {
        let device = &mut self.machine.host.device;
        let last = entries.into_iter().map(|entry| device.command(entry)).last();
        device.poll().expect("it polls");
        last.expect("a command")
    }

    /// Runs in small steps until a command is confirmed.
    ///
    /// # Panics
    /// If it takes too long.
    pub fn wait(&mut self, ticket: Ticket) {
        self.machine.confirm(ticket).expect("it goes on");
    }

    /// Posts commands and waits for the last; returns those that were refused.
    pub fn command(&mut self, entries: impl IntoIterator<Item = Entry>) -> Vec<RefusedCommand> {
        self.machine.command(entries).expect("it goes on")
    }

    /// Posts commands and waits for the last; none may be refused.
    ///
    /// # Panics
    /// If a command is refused.
    pub fn done(&mut self, entries: impl IntoIterator<Item = Entry>) {
        let refused = self.command(entries);
        assert!(refused.is_empty(), "{refused:?}");
    }

    /// Allocates memory, fills it with [`GUARD`] and registers it in a domain.
    pub fn region(&mut self, kind: MemoryKind, bytes: usize, domain: u16) -> Region {
        let memory = self.machine.host.device.bus().allocate(kind, bytes, 4096);
        let memory = memory.expect("memory");
        self.fill(&memory, 0, &vec![GUARD; bytes]);
        self.register(memory, domain)
    }

    /// Registers memory.
    pub fn register(&mut self, memory: DmaMemory, domain: u16) -> Region {
        let (region, refused) = self.machine.register(memory, domain).expect("it goes on");
        assert!(refused.is_empty(), "{refused:?}");
        region
    }

    /// Removes a region from the card.
    pub fn deregister(&mut self, region: &Region) {
        let removal = self.machine.host.regions.removal(region.index).expect("it is there");
        self.done([removal]);
        self.machine.host.regions.forget(region.index);
    }

    /// Installs a flow on the card.
    pub fn install(&mut self, flow: &Flow) {
        let key = self.machine.host.keys.insert(flow.key(), flow.name.flow);
        let commands = std::iter::once(flow.install()).chain(key.expect("room"));
        self.done(commands);
    }

    /// Removes a flow from the card.
    pub fn remove(&mut self, flow: &Flow) {
        let key = self.machine.host.keys.remove(flow.name.flow).expect("it has a key");
        self.done([key, cmd::flow_remove(flow.name)]);
    }

    /// Writes application memory.
    pub fn fill(&mut self, memory: &DmaMemory, offset: usize, bytes: &[u8]) {
        self.machine.host.map(memory).expect("a mapping").write(offset, bytes);
    }

    /// Present content of application memory.
    pub fn memory(&mut self, memory: &DmaMemory) -> Vec<u8> {
        let mut bytes = vec![0; memory.bytes];
        self.machine.host.map(memory).expect("a mapping").read(0, &mut bytes);
        bytes
    }

    /// Puts a frame on the wire.
    pub fn receive(&mut self, bytes: Vec<u8>, is_bad: bool) {
        self.machine.card.receive(Frame { bytes, is_bad, time_ps: 0 });
    }

    /// Lets time pass.
    pub fn run(&mut self, cycles: u64) {
        self.machine.run(cycles).expect("it polls");
    }

    /// Runs until nothing is in flight any more, or until a rule is broken: a card that breaks one
    /// may never rest.
    ///
    /// # Panics
    /// If it goes on for ever.
    pub fn rest(&mut self) {
        for _ in 0..RESTS_MAX {
            self.run(REST_CYCLES);
            let card = &self.machine.card;
            if card.is_quiet() || !card.violations().is_empty() {
                return self.run(REST_CYCLES);
            }
        }
        panic!("the card does not come to rest in {} cycles", RESTS_MAX * REST_CYCLES);
    }

    /// Header entries that have arrived since the last call.
    pub fn entries(&mut self) -> Vec<HeaderEntry> {
        self.machine.host.take_entries().expect("entries")
    }

    /// Frames that the card has sent.
    pub fn sent(&mut self) -> Vec<Vec<u8>> {
        self.machine.take_sent().into_iter().map(|frame| frame.bytes).collect()
    }

    /// Counters by name.
    pub fn counters(&mut self) -> HashMap<&'static str, u64> {
        let counters = self.machine.host.device.counters().expect("counters");
        counters.into_iter().collect()
    }

    /// Packets dropped for this reason.
    pub fn dropped(&mut self, reason: DropReason) -> u64 {
        self.machine.host.device.read_drops(reason).expect("a counter")
    }

    /// # Panics
    /// If a frame moved no counter or two, or a rule of a link was broken.
    pub fn conclude(&mut self) {
        let counters = self.counters();
        let ends = Disposition::ALL.iter().map(|end| counters[end.name()]);
        let drops = DropReason::ALL.iter().map(|drop| counters[drop.name()]);
        let frames = self.machine.card.frames_in();
        assert_eq!(ends.chain(drops).sum::<u64>(), frames, "frames are not conserved");
        self.assert_clean();
    }

    /// # Panics
    /// If a rule of a link was broken.
    pub fn assert_clean(&self) {
        let violations = self.machine.card.violations();
        assert!(violations.is_empty(), "{violations:#?}");
    }
}

/// The disposition of an entry.
///
/// # Panics
/// If the entry has no known disposition.
pub fn disposition(entry: &HeaderEntry) -> Disposition {
    let code = abi::header_entry::DISPOSITION.get(&entry.metadata) as u8;
    Disposition::from_code(code).expect("a disposition")
}
