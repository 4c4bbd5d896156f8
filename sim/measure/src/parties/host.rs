//! The host of a measurement: driver, regions, flows, and its work at each poll.
//!
//! ```text
//!   commands ──► Device ── rings, doorbells ──► card     all DMA and MMIO on the simulated link,
//!   header entries, completions ◄── Device ◄── card      the host's own work takes no time
//! ```
//! It polls every [`POLL_CYCLES`] cycles: it takes what has arrived, posts free buffers and rings
//! the doorbells that changed. Commands are rung in groups of `COMMANDS_TOGETHER`, or when one has
//! waited for `COMMAND_WAIT_PS`, so that they are fetched together. Application memory is accessed
//! directly, as by a CPU.

mod setup;

use std::collections::VecDeque;

use host::driver::device::{DeviceConfig, COALESCE_TIME};
use host::driver::rings::{HeaderEntry, RingSizes};
use host::driver::wire::WireSettings;
use host::error::HostError;
use host::records::commands::{floor_set, send_floor_set, Acceptance, Direction, Entry, FlowName};
use host::records::ticket::Ticket;
use lab::machine::{Driver, Machine};
use pcie_sim::PcieConfig;
use sim::bus::SimulatedBus;
use sim::card::{CardError, SharedCard, SimulatedCard};

use crate::error::MeasureError;
use crate::packets::buffers::{region_bytes, Buffers, Floor};
use crate::packets::content::Content;
use crate::packets::frames::Template;
use crate::scenario::{Acks, Rival, Scenario, ACK_DELAY_NS};

/// Cycles of the card between two polls of the host.
pub const POLL_CYCLES: u64 = 64;
/// Commands that one read of 512 bytes fetches.
const COMMANDS_TOGETHER: usize = 8;
/// How long a command waits for others, ps.
const COMMAND_WAIT_PS: u64 = 1_000_000;
/// Header slots after which the consumer index is written, at the latest.
const RETURN_SLOTS: u32 = 64;
/// Polls without progress after which the setup fails.
const SETUP_POLLS_MAX: u32 = 20_000;
/// Memory beside the buffers: rings, slow buffers.
const OTHER_BYTES: usize = 64 << 20;
/// How far beyond the send floor ACK numbers are accepted.
const ACK_REACH: u32 = 1 << 29;

/// Host DRAM that a scenario needs: every flow's regions, and the rest.
fn memory_bytes(scenario: &Scenario) -> usize {
    let directions = usize::from(scenario.receive) + usize::from(scenario.send);
    let shift_bytes = scenario.shift_bytes();
    let of_flow = |flow| region_bytes(scenario.slot_sizes(flow).into_iter(), shift_bytes);
    (0..scenario.flows).map(of_flow).sum::<usize>() * directions + OTHER_BYTES
}

/// One flow at the host and at its peer.
pub struct Flow {
    /// Name on the card.
    pub name: FlowName,
    /// Headers of packets to the card.
    pub arriving: Template,
    /// Headers of packets from the card.
    pub leaving: Template,
    /// What the peer sends, and what the application sends.
    pub contents: [Content; 2],
    /// Receive buffers.
    pub receive: Buffers,
    /// Send buffers.
    pub send: Buffers,
    /// Whether it is IPv6.
    pub is_ipv6: bool,
    /// Payload of a full packet.
    pub payload_bytes: usize,
    /// Offset up to which everything was received.
    pub received: u64,
    /// Offset up to which the peer knows that it may send.
    pub window_end: u64,
    /// A frame of its own has to announce a larger window.
    window_owed: bool,
    /// Offset up to which the peer has acknowledged what was sent, as far as the host knows.
    pub acknowledged: u64,
    /// Offset up to which what was sent has reached the peer.
    pub delivered: u64,
}

/// The command that a confirmation belongs to.
enum Pending {
    Post(usize, Direction, u64),
    Floor(usize, Direction, Floor),
}

/// The host with its card.
pub struct Host {
    /// The card in its slot, and the driver.
    pub machine: Machine<Driver<SimulatedBus>, SharedCard>,
    /// The flows.
    pub flows: Vec<Flow>,
    /// What went wrong, in order; the first few are kept.
    pub problems: Problems,
    /// Flows whose peer waits for an acknowledgement in a frame of its own.
    pub acks_owed: VecDeque<u16>,
    /// Commands that are not posted yet; below, since when the first has waited.
    queued: VecDeque<(Entry, Pending)>,
    queued_since_ps: u64,
    pending: VecDeque<(Ticket, Pending)>,
    /// Windows that reach the peer without a frame: when, flow, end.
    windows: VecDeque<(u64, usize, u64)>,
    acks: Acks,
    /// Packets that the peer sends only together.
    together: u64,
    unreturned: u32,
    /// Owners whose header queues are emptied: those below it.
    owners_drained: u8,
    owners: u8,
}

/// What went wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problems {
    /// The first problems, as text.
    pub first: Vec<String>,
    /// Number of all problems.
    pub count: u64,
}

impl Problems {
    const KEPT: usize = 8;

    /// Adds a problem.
    pub fn add(&mut self, what: impl FnOnce() -> String) {
        self.count += 1;
        if self.first.len() < Self::KEPT {
            self.first.push(what());
        }
    }
}

impl Host {
    /// Opens the card that `build` makes for a slot, installs every flow and posts its first
    /// buffers.
    pub fn open(
        scenario: &Scenario,
        build: impl FnOnce(PcieConfig) -> Result<SimulatedCard, CardError>,
    ) -> Result<Self, MeasureError> {
        let mut pcie = scenario.pcie.clone();
        pcie.dram_bytes = pcie.dram_bytes.max(memory_bytes(scenario));
        let bus = SimulatedBus::with_card(build(pcie.clone())?, &pcie);
        let (bus, card) = bus.map_err(HostError::from)?;
        let config = DeviceConfig {
            rings: RingSizes {
                command_bits: 10,
                send_bits: 10,
                header_bits: 12,
                ..RingSizes::default()
            },
            hash_seed: Some(scenario.seed),
            push_slots: scenario.push_slots,
            coalesce: scenario.coalesce.then_some(COALESCE_TIME),
        };
        let mut machine = Machine::driven(bus, card, config)?;
        let device = &mut machine.host.device;
        device.set_wire(&WireSettings {
            asks_pause: scenario.pause,
            pause_beats: scenario.pause_beats,
            ..WireSettings::default()
        })?;
        let mut owners = 1;
        if scenario.rival.is_some() {
            owners += device.open_owner(config.rings)?;
        }
        let is_undrained = scenario.rival == Some(Rival::Undrained);
        let mut host = Self {
            machine,
            flows: Vec::with_capacity(usize::from(scenario.flows)),
            problems: Problems::default(),
            acks_owed: VecDeque::new(),
            queued: VecDeque::new(),
            queued_since_ps: 0,
            pending: VecDeque::new(),
            windows: VecDeque::new(),
            acks: scenario.acks,
            together: scenario.order.together(),
            unreturned: 0,
            owners_drained: owners - u8::from(is_undrained),
            owners,
        };
        host.install(scenario)?;
        Ok(host)
    }

    /// Posts commands, takes confirmations and acts on them.
    pub fn look(&mut self) -> Result<(), MeasureError> {
        self.hand_over();
        self.machine.host.device.poll()?;
        let now = self.machine.card.borrow().now_ps();
        while let Some(&(at, flow, end)) = self.windows.front() {
            if at > now {
                break;
            }
            self.windows.pop_front();
            self.flows[flow].window_end = end;
        }
        while let Some(refused) = self.machine.host.device.take_refused() {
            self.problems.add(|| format!("command refused: {refused:?}"));
        }
        while let Some((ticket, _)) = self.pending.front() {
            if !self.machine.host.device.is_confirmed(*ticket) {
                break;
            }
            let Some((_, pending)) = self.pending.pop_front() else {
                break;
            };
            match pending {
                Pending::Post(flow, direction, end) => {
                    self.side(flow, direction).confirm_post(end);
                    if direction == Direction::Receive {
                        self.offer(flow, end);
                    }
                }
                Pending::Floor(flow, direction, floor) => {
                    while self.side(flow, direction).release(&floor).is_some() {}
                    self.post(flow, direction)?;
                }
            }
        }
        Ok(())
    }

    /// Announces to the peer that it may send up to `end`.
    fn offer(&mut self, flow: usize, end: u64) {
        if self.acks == Acks::InData {
            let at = self.machine.card.borrow().now_ps() + ACK_DELAY_NS * 1000;
            self.windows.push_back((at, flow, end));
            return;
        }
        // Two more packets bring an acknowledgement of their own, with the window in it.
        let it = &mut self.flows[flow];
        let needed = self.together.max(2) * it.payload_bytes as u64;
        if !it.window_owed && it.window_end < it.received + needed {
            it.window_owed = true;
            self.acks_owed.push_back(flow as u16);
        }
    }

    /// A frame of a flow has announced a window to the peer.
    pub fn note_offered(&mut self, flow: usize, end: u64) {
        let it = &mut self.flows[flow];
        it.window_owed &= end < it.receive.confirmed_end();
        it.window_end = it.window_end.max(end);
    }

    /// Commands whose fence has not passed.
    pub fn unconfirmed_count(&self) -> usize {
        self.queued.len() + self.machine.host.device.unconfirmed_count()
    }

    fn queue(&mut self, entry: Entry, pending: Pending) {
        if self.queued.is_empty() {
            self.queued_since_ps = self.machine.card.borrow().now_ps();
        }
        self.queued.push_back((entry, pending));
    }

    fn hand_over(&mut self) {
        let waited_ps = self.machine.card.borrow().now_ps() - self.queued_since_ps;
        if self.queued.len() < COMMANDS_TOGETHER && waited_ps < COMMAND_WAIT_PS {
            return;
        }
        for (entry, pending) in self.queued.drain(..) {
            let ticket = self.machine.host.device.command(entry);
            self.pending.push_back((ticket, pending));
        }
    }

    fn side(&mut self, flow: usize, direction: Direction) -> &mut Buffers {
        match direction {
            Direction::Receive => &mut self.flows[flow].receive,
            Direction::Send => &mut self.flows[flow].send,
        }
    }

    /// Posts every free buffer of a direction; send buffers get their content first.
    fn post(&mut self, flow: usize, direction: Direction) -> Result<(), MeasureError> {
        while let Some((posted, entry)) = self.side(flow, direction).take_next() {
            if direction == Direction::Send {
                let mut bytes = vec![0; posted.bytes as usize];
                self.flows[flow].contents[1].fill(posted.start, &mut bytes);
                self.write(posted.address, &bytes)?;
            }
            self.queue(entry, Pending::Post(flow, direction, posted.end()));
        }
        Ok(())
    }

    /// The peer's bytes up to `offset` are received without a gap.
    pub fn note_received(&mut self, flow: usize, offset: u64) {
        let it = &mut self.flows[flow];
        it.received = offset;
        let Some(floor) = it.receive.use_up(offset) else {
            return;
        };
        let acceptance = it.acceptance(floor.offset);
        let entry = floor_set(it.name, acceptance, floor.head as u16);
        self.queue(entry, Pending::Floor(flow, Direction::Receive, floor));
    }

    /// The peer acknowledges what was sent up to `offset`.
    pub fn note_acknowledged(&mut self, flow: usize, offset: u64) {
        let it = &mut self.flows[flow];
        it.acknowledged = it.acknowledged.max(offset);
        let Some(floor) = it.send.use_up(offset) else {
            return;
        };
        let position = it.send.position(floor.offset);
        let entry = send_floor_set(it.name, position, floor.head as u16);
        self.queue(entry, Pending::Floor(flow, Direction::Send, floor));
    }

    /// From now on every owner's header queue is emptied.
    pub fn drain_all(&mut self) {
        self.owners_drained = self.owners;
    }

    /// The next header entry of an owner whose queue is emptied.
    pub fn next_entry(&mut self) -> Result<Option<HeaderEntry>, MeasureError> {
        let mut owners = 0..self.owners_drained;
        let mut taken = HeaderEntry::default();
        let mut entry = None;
        while let (None, Some(owner)) = (&entry, owners.next()) {
            if self.machine.host.device.next_header_of(owner, &mut taken)? {
                entry = Some(std::mem::take(&mut taken));
            }
        }
        if let Some(entry) = &entry {
            let two_slots = abi::header_entry::TWO_SLOTS.get(&entry.metadata);
            self.unreturned += 1 + two_slots as u32;
            if self.unreturned >= RETURN_SLOTS || entry.deferred.is_some() {
                self.return_entries()?;
            }
        }
        Ok(entry)
    }

    /// Returns the header slots that were taken to the card.
    pub fn return_entries(&mut self) -> Result<(), MeasureError> {
        if self.unreturned > 0 {
            self.unreturned = 0;
            self.machine.host.device.return_headers()?;
        }
        Ok(())
    }

    /// Reads application memory directly.
    pub fn read(&self, address: u64, into: &mut [u8]) -> Result<(), MeasureError> {
        let card = self.machine.card.borrow();
        card.pcie.read(address, into).map_err(MeasureError::Memory)
    }

    fn write(&mut self, address: u64, from: &[u8]) -> Result<(), MeasureError> {
        let mut card = self.machine.card.borrow_mut();
        card.pcie.write(address, from).map_err(MeasureError::Memory)
    }

    /// Every byte of every region outside the buffers still holds the guard.
    pub fn check_guards(&mut self) -> Result<(), MeasureError> {
        let mut bytes = Vec::new();
        for flow in &self.flows {
            for side in [&flow.receive, &flow.send] {
                let Some(memory) = side.memory() else {
                    continue;
                };
                bytes.resize(memory.bytes, 0);
                self.read(memory.address, &mut bytes)?;
                if let Some(at) = side.first_broken_guard(&bytes) {
                    let id = flow.name.flow;
                    self.problems.add(|| format!("flow {id}: guard at {at:#x} overwritten"));
                }
            }
        }
        Ok(())
    }
}

impl Flow {
    fn acceptance(&self, floor: u64) -> Acceptance {
        Acceptance {
            floor: self.receive.position(floor),
            ack_low: self.send.position(self.acknowledged),
            ack_high: self.send.position(self.acknowledged).wrapping_add(ACK_REACH),
            ..Acceptance::default()
        }
    }
}
