//! The whole card under everything at once: traffic over a bad wire and sends, while the tables
//! change under both, nothing waiting for anything.
//!
//! ```text
//!   slots ── commands ──►┌──────┐◄── wire with faults ◄── traffic
//!   send ── descriptors ►│ card │
//!        ◄── frames ─────└──┬───┘
//!                           ├─ header entries ──► receive ──┐ explained by a state of history?
//!                           ├─ events, frames ──► send ─────┘
//!                           └─ memory ──────────► arena: nothing written that is not open
//! ```
//! Proven, with 64 flows over TCP and two UDP profiles, IPv4 and IPv6, in host and GPU memory:
//! each packet ends as the golden model says in a state between the last command confirmed before
//! it and the last issued when its entry was seen, in order per flow; each send likewise; after a
//! confirmation nothing happens that the state before it allowed; no byte that is announced,
//! truncated, removed or between buffers ever changes; every frame is counted once.
//!
//! `ZERONIC_LONG=1` runs the default sizes as long as the small ones.

mod arena;
mod history;
mod receive;
mod send;
mod slots;
mod software;
mod traffic;

use std::collections::VecDeque;

use abi::config::{CardConfig, DEFAULT, SMALL};
use abi::header_entry as h;
use abi::reason::CommandStatus;
use golden::tables::Tables;
use host::control::placement::KeyTable;
use host::driver::bus::{Bus, MemoryKind};
use host::driver::device::DeviceConfig;
use host::driver::rings::{HeaderEntry, RingSizes};
use host::records::descriptor::Descriptor;
use host::records::ticket::Ticket;
use lab::machine::{Driver, Machine};
use lab::wire::{Disturbance, Wire};
use pcie_sim::PcieConfig;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use sim::bus::SimulatedBus;
use sim::card::{SharedCard, SimulatedCard};
use sim::caught::caught_by;
use sim::faults::{build_with_faults, Fault};
use sim::switched::FAULT_PORT;
use verilate::options::Options;

use arena::Arena;
use history::{History, GROUP_SLOTS};
use receive::{Given, Receives};
use send::Sends;
use slots::{SLOTS, SLOT_BYTES};
use software::{Effect, Software};

/// Commands under way, at most.
const COMMANDS_MAX: u64 = 100;
/// Pages of a region: a slot's part crosses their ends.
const REGION_ALIGN: usize = 32 << 10;
/// Cycles after which everything that comes of a descriptor is there.
const SETTLED_CYCLES: u64 = 20_000;
/// Cycles after which everything has come to rest.
const REST_CYCLES: u64 = 60_000;

const WIRE: Disturbance = Disturbance {
    loss: 0.02,
    reorder: 0.04,
    duplicate: 0.03,
    corrupt: 0.01,
    corrupt_unseen: 0.02,
    delay_ps: 0,
};

struct World {
    random: SmallRng,
    machine: Machine<Driver<SimulatedBus>, SharedCard>,
    software: Software,
    history: History,
    wire: Wire,
    receive: Receives,
    send: Sends,
    effects: VecDeque<(u64, Effect)>,
    refusals: Vec<(u64, CommandStatus)>,
    confirmed: u64,
    /// Rounds in which nothing of the queues is given back.
    asleep: u32,
}

/// A host that answers late, out of order and in pieces.
fn pcie(seed: u64) -> PcieConfig {
    PcieConfig {
        seed,
        jitter_ns: 200,
        reorder_permille: 200,
        random_split_permille: 300,
        rq_stall_permille: 100,
        relaxed_pass_permille: 200,
        ..PcieConfig::default()
    }
}

/// Slots whose keys are those of their packets, and the memory of their regions.
fn new_software(
    config: &CardConfig,
    random: &mut SmallRng,
    machine: &mut Machine<Driver<SimulatedBus>, SharedCard>,
) -> Software {
    let (device, card) = (&mut machine.host.device, &machine.card);
    let mut slots = slots::slots(config, random);
    for slot in &mut slots {
        let frame = traffic::packet(slot, 0, 1, random).frame(0);
        let parsed = golden::packet::parse(&frame, &traffic::profiles());
        slot.key = parsed.expect("it is a packet").key;
    }
    let arenas = (0..SLOTS / GROUP_SLOTS).map(|group| {
        let kind = match group % 4 {
            3 => MemoryKind::Gpu,
            _ => MemoryKind::Application,
        };
        let memory =
            device.bus().allocate(kind, GROUP_SLOTS * SLOT_BYTES, REGION_ALIGN).expect("memory");
        Arena::new(&mut card.borrow_mut(), memory, 0xa5)
    });
    let arenas = arenas.collect();
    let keys = KeyTable::new(*device.secrets(), config.bucket_bits as u32);
    Software::new(config, keys, slots, arenas)
}

impl World {
    fn new(config: &CardConfig, seed: u64) -> World {
        let card = SimulatedCard::new(config.name, pcie(seed), Options::default());
        World::around(card.expect("it builds"), config, seed)
    }

    fn around(card: SimulatedCard, config: &CardConfig, seed: u64) -> World {
        let mut random = SmallRng::seed_from_u64(seed);
        let (bus, card) = SimulatedBus::with_card(card, &pcie(seed)).expect("a bus");
        let rings = DeviceConfig {
            rings: RingSizes { header_bits: 7, slow_bits: 5, ..RingSizes::default() },
            ..DeviceConfig::with_seed(1)
        };
        let mut machine = Machine::driven(bus, card, rings).expect("it opens");
        let device = &mut machine.host.device;
        for (register, value) in traffic::profile_registers() {
            device.bus().write_register(register, value).expect("a register");
        }
        // An answer comes behind all register writes: receive runs.
        device.bus().read_register(abi::registers::CONTROL).expect("it answers");
        let mut tables = Tables::new(*config);
        tables.secrets = *device.secrets();
        tables.profiles = traffic::profiles();
        let software = new_software(config, &mut random, &mut machine);
        World {
            software,
            history: History::new(tables),
            wire: Wire::new(WIRE, seed ^ 1),
            receive: Receives::default(),
            send: Sends::default(),
            effects: VecDeque::new(),
            refusals: Vec::new(),
            confirmed: 0,
            asleep: 0,
            random,
            machine,
        }
    }

    fn cycles(&self) -> u64 {
        self.machine.card.borrow().cycles()
    }

    /// Issues some commands, whatever is under way.
    fn change(&mut self) {
        for _ in 0..self.random.random_range(0..8) {
            if self.history.issued_count() - self.confirmed > COMMANDS_MAX {
                return;
            }
            let card = &mut self.machine.card.borrow_mut();
            for issue in self.software.act(&mut self.random, card) {
                let ticket = self.machine.host.device.command(issue.entry);
                let status = self.history.apply(&issue.entry, issue.touch);
                assert_eq!(ticket, Ticket(self.history.issued_count() - 1));
                if status != CommandStatus::Ok {
                    self.refusals.push((ticket.0, status));
                }
                if let Some(effect) = issue.effect {
                    assert_eq!(status, CommandStatus::Ok, "command {ticket:?}");
                    self.effects.push_back((self.history.issued_count(), effect));
                }
            }
        }
        let now = (self.confirmed, self.cycles());
        if let Some(record) = self.send.post(&self.software, &mut self.random, now) {
            self.machine.host.device.send(Descriptor::of(&record));
        }
        self.machine.host.device.poll().expect("it polls");
    }

    /// Puts a burst of frames on the wire.
    fn traffic(&mut self) {
        for _ in 0..self.random.random_range(1..8) {
            let frame = traffic::frame(&mut self.software.slots, &mut self.random);
            let mut arriving = Vec::new();
            self.wire.carry(frame, &mut arriving);
            for mut frame in arriving {
                traffic::tag(&mut frame.bytes, self.receive.given.len() as u64);
                self.receive.given.push(Given {
                    bytes: frame.bytes.clone(),
                    is_bad: frame.is_bad,
                    confirmed: self.confirmed,
                    is_judged: false,
                });
                self.machine.card.borrow_mut().mac.receive_frame(frame, 0);
            }
        }
    }

    /// Looks at everything that the card has written and sent.
    fn observe(&mut self) {
        let before = self.confirmed;
        self.machine.host.device.poll().expect("it polls");
        while self.machine.host.device.is_confirmed(Ticket(self.confirmed)) {
            self.confirmed += 1;
        }
        let issued = self.history.issued_count();
        let mut entry = HeaderEntry::default();
        while self.machine.host.device.next_header(&mut entry).expect("an entry") {
            if h::KIND.get(&entry.metadata) == u64::from(h::KIND_EVENT) {
                self.send.event(&entry, issued);
                continue;
            }
            let window = (before, issued);
            let pieces = self.receive.judge(&entry, window, &self.history, &self.software);
            for piece in pieces {
                let holds = |address: u64, memory: &host::driver::bus::DmaMemory| {
                    (memory.address..memory.address + memory.bytes as u64).contains(&address)
                };
                let groups = &mut self.software.groups;
                let group = groups
                    .iter_mut()
                    .find(|group| holds(piece.address, &group.arena.memory))
                    .expect("a region");
                let card = &self.machine.card.borrow();
                group.arena.note_written(card, piece.address, &piece.bytes);
            }
        }
        let sent: Vec<_> = self.machine.card.borrow_mut().mac.sent.drain(..).collect();
        for frame in sent {
            self.send.note_sent(frame, issued);
        }
        // Only now: what was written before the confirmation had to be there when it was seen.
        while self.effects.front().is_some_and(|(n, _)| *n <= self.confirmed) {
            let Some((_, effect)) = self.effects.pop_front() else { break };
            let card = &mut self.machine.card.borrow_mut();
            self.software.apply_confirmed(effect, self.random.random(), card);
        }
        let settled = self.cycles().saturating_sub(SETTLED_CYCLES);
        self.send.judge(&self.software, &self.history, settled);
        let needed = self.send.needs_from().unwrap_or(self.confirmed);
        self.history.forget_before(needed.min(self.confirmed));
        self.asleep = self.asleep.saturating_sub(1);
        if self.asleep == 0 {
            self.machine.host.device.return_headers().expect("a doorbell");
        }
    }

    fn check_memory(&self, all: bool) {
        for group in &self.software.groups {
            group.arena.check(&self.machine.card.borrow(), all);
        }
    }

    fn run(&mut self, packets: usize) {
        let mut round = 0;
        while self.receive.given.len() < packets {
            self.change();
            self.traffic();
            let cycles = self.random.random_range(0..1500);
            self.machine.card.borrow_mut().run(cycles);
            self.observe();
            // Now and then the application sleeps: queue and slow buffers run full.
            if self.asleep == 0 && self.random.random_bool(0.01) {
                self.asleep = self.random.random_range(5..100);
            }
            round += 1;
            if round % 64 == 0 {
                self.check_memory(false);
            }
        }
        self.asleep = 0;
        let end = self.cycles() + REST_CYCLES;
        while self.cycles() < end {
            self.machine.card.borrow_mut().run(1000);
            self.observe();
        }
        self.conclude();
    }

    fn conclude(&mut self) {
        assert_eq!(self.confirmed, self.history.issued_count(), "unconfirmed commands");
        self.check_memory(true);
        let mut refused = Vec::new();
        while let Some(command) = self.machine.host.device.take_refused() {
            refused.push((command.ticket.0, command.status));
        }
        assert_eq!(refused, self.refusals);
        let counters = self.machine.host.device.counters().expect("counters").into_iter().collect();
        println!(
            "{} frames, {} packets with a race, {} commands, {} descriptors, {} cycles",
            self.receive.given.len(),
            self.receive.raced,
            self.history.issued_count(),
            self.send.judged,
            self.cycles()
        );
        let (failed, lost, overtaken) = (self.send.failed, self.send.lost, self.send.overtaken);
        println!("{counters:?}, failed sends {failed:?}, {lost} untold, {overtaken} overtaken");
        self.receive.conclude(&counters);
        self.send.conclude(&counters);
        let card = self.machine.card.borrow();
        let violations = card.violations();
        assert!(violations.is_empty(), "{violations:#?}");
        assert!(card.pcie.fault_log().is_empty(), "refused accesses");
    }
}

fn is_long() -> bool {
    std::env::var_os("ZERONIC_LONG").is_some()
}

#[test]
fn ten_thousand_packets_race_with_commands() {
    let mut world = World::new(&SMALL, seed::seed());
    world.run(10_240);
    let raced = world.receive.raced;
    seed::enough("packets with a race, small card", raced, 0);
    seed::enough("failed sends without room to be told", world.send.lost, 0);
}

#[test]
fn packets_race_commands_in_default_card() {
    let packets = if is_long() { 10_240 } else { 2_048 };
    let mut world = World::new(&DEFAULT, seed::seed());
    world.run(packets);
    let raced = world.receive.raced;
    seed::enough("packets with a race, default card", raced, 0);
}

#[test]
fn race_judges_catch_planted_faults() {
    let design = build_with_faults();
    let seed = seed::seed();
    // Each with what its judge says: of an entry or a send that no state explains, or of a byte.
    for (fault, checker) in [
        (Fault::FenceSkipped, " of slot "),
        (Fault::FloorIgnored, " of slot "),
        (Fault::BadFrameBelieved, "an entry of frame "),
        (Fault::SegmentMisplaced, "not what its entry says"),
        (Fault::RegionIgnored, " of slot "),
        (Fault::SendFloorIgnored, "descriptor "),
    ] {
        let card = SimulatedCard::of(&design, pcie(seed)).expect("a card");
        let mut world = World::around(card, &SMALL, seed);
        {
            let model = &mut world.machine.card.borrow_mut().model;
            let port = model.port(FAULT_PORT);
            model.set(port, fault as u64);
        }
        caught_by(checker, &format!("{fault:?}"), || world.run(10_240));
        let frames = world.receive.given.len();
        println!("{fault:?} is caught within {frames} frames");
    }
}
