//! Completion entries and send-ring indices, and the one write client that both share.
//!
//! ```text
//!   confirmations ──► CompletionWriter ──► writes ──► ring of each owner
//!   taken pulses  ──► SendStatus       ──► writes ──► newest index of each owner
//! ```

mod send_status;

use std::collections::VecDeque;

use abi::completion;
use abi::reason::CommandStatus;
use abi::registers;
use host_interface::completion::completion_pause::{MANY, PAUSE_CYCLES};
use host_interface::completion::CompletionWriter;
use host_interface::small_write::SmallWrite;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use seed::{enough, seed};
use sim::harness::agent::Agent;
use sim::harness::bench::Bench;
use sim::harness::monitor::StreamMonitor;
use sim::harness::payload::{bytes_of, field};
use sim::harness::sink::MessageSink;
use sim::harness::source::MessageSource;
use sim::harness::stall::Stall;
use stream::prelude::*;
use verilate::verilated::Model;
use verilate::width::lint_width_warnings;

const OWNERS: u32 = 4;
const EPOCH: u64 = 0xbeef;

/// Pulses on one bundle, one a cycle.
struct Pulses {
    name: &'static str,
    queue: VecDeque<Vec<u8>>,
}

impl Pulses {
    fn new(name: &'static str) -> Pulses {
        Pulses { name, queue: VecDeque::new() }
    }

    fn context(&mut self, owner: u32, register: u32, value: u32) {
        let address = registers::CONTEXTS + owner * registers::CONTEXT_STRIDE + register;
        self.queue.push_back(bytes_of(RegisterWrite {
            address: u64::from(address).into(),
            data: u64::from(value).into(),
        }));
    }
}

impl Agent for Pulses {
    fn sample(&mut self, _model: &Model) {}

    fn drive(&mut self, model: &mut Model) {
        let pulse = self.queue.pop_front();
        let valid = model.port(&format!("{}$valid", self.name));
        model.set(valid, u64::from(pulse.is_some()));
        if let Some(pulse) = pulse {
            model.set_bytes(model.port(&format!("{}$payload", self.name)), &pulse);
        }
    }
}

fn base(owner: u32) -> u64 {
    0x1_2345_0000_0000 + (u64::from(owner) << 32) + 0x40
}

fn enable(settings: &mut Pulses, owner: u32, register: u32, size_bits: u32) {
    settings.context(owner, register, base(owner) as u32);
    settings.context(owner, register + 4, (base(owner) >> 32) as u32);
    settings.context(owner, registers::CONTEXT_SIZES, size_bits);
    settings.context(owner, registers::CONTEXT_ENABLE, 1);
}

struct Completions {
    bench: Bench,
    settings: Pulses,
    confirmation: MessageSource,
    write: MessageSink,
    monitor: StreamMonitor,
}

impl Completions {
    fn new(source: Stall, sink: Stall, seed: u64) -> Completions {
        let bench = Bench::of_shared("completion", "", CompletionWriter::<2, 4>::default);
        let mut bench = bench.expect("builds");
        lint_width_warnings(bench.model.design().warnings()).expect("only masked casts");
        bench.set("epoch", EPOCH);
        Completions {
            settings: Pulses::new("settings"),
            confirmation: MessageSource::new(&bench.model, "confirmation", source, seed),
            write: MessageSink::new(&bench.model, "write", sink, seed),
            monitor: StreamMonitor::new(&bench.model, "write"),
            bench,
        }
    }

    fn cycles(&mut self, count: u64) {
        self.bench.cycles(
            count,
            &mut [&mut self.settings, &mut self.confirmation, &mut self.write, &mut self.monitor],
        );
    }

    /// Cycles in which the write client takes nothing.
    fn stall_cycles(&mut self, count: u64) {
        self.bench.set("write$ready", 0);
        self.bench
            .cycles(count, &mut [&mut self.settings, &mut self.confirmation, &mut self.monitor]);
    }

    fn confirm(&mut self, owner: u32, index: u32, status: CommandStatus) {
        self.confirmation.push_struct(Confirmation {
            owner: u64::from(owner).into(),
            index: u64::from(index).into(),
            status: (status as u64).into(),
        });
    }

    fn drain(&mut self) {
        while !self.confirmation.is_done() {
            self.cycles(1);
            assert!(self.bench.now() < 200_000);
        }
        self.cycles(600);
        self.monitor.assert_clean();
    }
}

/// One owner's ring as the host reads it.
struct HostRing {
    size_bits: u32,
    read: u32,
    /// Index and status of every command, in order; the front is not confirmed yet.
    commands: VecDeque<(u32, CommandStatus)>,
}

impl HostRing {
    /// Takes the next entry; returns the commands it confirmed.
    fn take(&mut self, owner: u32, write: &[u8]) -> usize {
        let place = u64::from(self.read & ((1 << self.size_bits) - 1));
        assert_eq!(field::<SmallWrite>(write, "address"), base(owner) + 16 * place);
        assert_eq!(field::<SmallWrite>(write, "bytes"), 16);
        let entry = &bits_from(write, 69)[..16];
        let odd = (self.read >> self.size_bits) & 1 == 0;
        assert_eq!(completion::PHASE.get(entry), u64::from(odd), "entry {}", self.read);
        assert_eq!(completion::EPOCH.get(entry), EPOCH);
        self.read += 1;
        let index = completion::INDEX.get(entry) as u32;
        let status = CommandStatus::from_code(completion::STATUS.get(entry) as u8);
        for confirmed in 1.. {
            let (command, expected) = self.commands.pop_front().expect("was a command");
            if command == index {
                assert_eq!(status, Some(expected), "command {command}");
                return confirmed;
            }
            assert_eq!(expected, CommandStatus::Ok, "command {command} failed silently");
        }
        unreachable!("the commands end before the numbers do")
    }
}

/// The bits of `bytes` from bit `offset` on.
fn bits_from(bytes: &[u8], offset: usize) -> Vec<u8> {
    let (byte, shift) = (offset / 8, offset % 8);
    (byte..bytes.len())
        .map(|at| {
            let high = bytes.get(at + 1).copied().unwrap_or(0);
            (u16::from_le_bytes([bytes[at], high]) >> shift) as u8
        })
        .collect()
}

/// Confirms commands of all owners; returns how many entries told more than one.
fn confirm_all(source: Stall, sink: Stall, seed: u64) -> usize {
    let mut random = SmallRng::seed_from_u64(seed);
    let mut test = Completions::new(source, sink, seed);
    let mut rings: Vec<HostRing> = (0..OWNERS)
        .map(|owner| {
            let size_bits = random.random_range(2..5);
            let register = registers::CONTEXT_COMPLETION_BASE;
            enable(&mut test.settings, owner, register, size_bits);
            HostRing { size_bits, read: 0, commands: VecDeque::new() }
        })
        .collect();
    test.cycles(30);
    let mut next = [0u32; OWNERS as usize];
    for _ in 0..300 {
        let owner = random.random_range(0..OWNERS);
        for _ in 0..random.random_range(1..5) {
            let index = next[owner as usize];
            next[owner as usize] += 1;
            let status = match random.random_range(0..6) {
                0 => CommandStatus::BadFlow,
                1 => CommandStatus::ListFull,
                _ => CommandStatus::Ok,
            };
            rings[owner as usize].commands.push_back((index, status));
            test.confirm(owner, index, status);
        }
    }
    test.drain();
    let mut merged = 0;
    for write in std::mem::take(&mut test.write.messages) {
        let owner = ((field::<SmallWrite>(&write, "address") - base(0)) >> 32) as u32;
        merged += usize::from(rings[owner as usize].take(owner, &write) > 1);
    }
    for ring in rings {
        assert!(ring.commands.is_empty(), "{} not confirmed", ring.commands.len());
        assert!(ring.read >> ring.size_bits >= 2, "the phase has flipped");
    }
    merged
}

#[test]
fn commands_are_confirmed_waiting_ones_share_entries() {
    Stall::matrix(seed(), |source, sink, seed| {
        let merged = confirm_all(source, sink, seed);
        if source == Stall::None && sink != Stall::None {
            let what = format!("entries that told several commands, {sink:?}");
            enough(&what, merged as u64, 20);
        }
    });
}

/// What an entry takes beside the pause behind it.
const ENTRY_CYCLES: usize = 6;

#[test]
fn busy_owner_shares_entries_delays_none() {
    let mut test = Completions::new(Stall::None, Stall::None, 1);
    for owner in 0..2 {
        enable(&mut test.settings, owner, registers::CONTEXT_COMPLETION_BASE, 8);
    }
    test.cycles(30);
    // The first at once, then one entry in each pause: a short one where few commands share it.
    test.confirm(0, 0, CommandStatus::Ok);
    test.cycles(10);
    assert_eq!(test.write.messages.len(), 1);
    let mut confirmed = 0;
    for (every, pause) in [(60, PAUSE_CYCLES), (20, 2 * PAUSE_CYCLES)] {
        assert_eq!(PAUSE_CYCLES / every >= MANY, pause > PAUSE_CYCLES);
        let before = test.write.messages.len();
        for _ in 0..64 {
            confirmed += 1;
            test.confirm(0, confirmed, CommandStatus::Ok);
            test.cycles(every as u64);
        }
        let entries = test.write.messages.len() - before;
        // The first pause behind few commands is a short one: one entry more.
        let expected = 64 * every / (pause + ENTRY_CYCLES) + usize::from(pause > PAUSE_CYCLES);
        assert!(entries.abs_diff(expected) <= 1, "{entries}");
    }
    // A pause has begun: one that failed, or another owner's, ends it.
    test.drain();
    for (owner, status) in [(0, CommandStatus::BadFlow), (1, CommandStatus::Ok)] {
        test.confirm(0, confirmed + 1 + owner, CommandStatus::Ok);
        test.cycles(12);
        let before = test.write.messages.len();
        test.confirm(0, confirmed + 2 + owner, CommandStatus::Ok);
        test.cycles(12);
        assert_eq!(test.write.messages.len(), before, "no pause");
        test.confirm(owner, confirmed + 3 + owner, status);
        test.cycles(20);
        // The failed one tells of the one before it, too.
        let entries = before + 1 + owner as usize;
        assert_eq!(test.write.messages.len(), entries, "{status:?} waits");
        test.drain();
    }
}

/// The second of two confirmations waits for the pause, and the write client stands still for some
/// cycles, from each cycle around it on. Returns the cycles from there, or from the end of the
/// standstill, to the last entry.
fn wait_around_a_standstill(from: u64, cycles: u64) -> u64 {
    let mut test = Completions::new(Stall::None, Stall::None, 1);
    enable(&mut test.settings, 0, registers::CONTEXT_COMPLETION_BASE, 8);
    test.cycles(30);
    test.confirm(0, 0, CommandStatus::Ok);
    test.cycles(10);
    test.confirm(0, 1, CommandStatus::Ok);
    test.cycles(from);
    // As many as make the next pause a long one, the last one in the standstill.
    (2..7).for_each(|index| test.confirm(0, index, CommandStatus::Ok));
    test.stall_cycles(cycles);
    let (mut waited, mut last) = (0, None);
    while last != Some(6) {
        test.cycles(1);
        waited += 1;
        assert!(waited < 10_000, "never: from {from}, {cycles} cycles");
        let index = |write: &Vec<u8>| completion::INDEX.get(&bits_from(write, 69)[..16]);
        last = test.write.messages.back().map(index);
    }
    test.monitor.assert_clean();
    waited
}

#[test]
fn confirmation_waits_a_microsecond_at_most() {
    let latest = (2 * PAUSE_CYCLES + 2 * ENTRY_CYCLES) as u64;
    let mut longest = 0;
    for cycles in [6, 40, 300, 2_000] {
        for from in (0..300).step_by(3) {
            longest = longest.max(wait_around_a_standstill(from, cycles));
        }
    }
    assert!((latest - 20..=latest).contains(&longest), "{longest} cycles, at most {latest}");
}

#[test]
fn disabled_owner_gets_no_entry() {
    let mut test = Completions::new(Stall::None, Stall::None, 1);
    test.confirm(2, 0, CommandStatus::Ok);
    test.drain();
    assert!(test.write.messages.is_empty());
    // Enabled, it gets the entries of what is confirmed from then on, and none of before.
    enable(&mut test.settings, 2, registers::CONTEXT_COMPLETION_BASE, 2);
    test.cycles(600);
    assert!(test.write.messages.is_empty(), "an entry of before");
    test.confirm(2, 1, CommandStatus::Ok);
    test.drain();
    let entry = test.write.messages.pop_front().expect("an entry");
    let mut ring =
        HostRing { size_bits: 2, read: 0, commands: VecDeque::from([(1, CommandStatus::Ok)]) };
    assert_eq!(ring.take(2, &entry), 1);
    assert!(test.write.messages.is_empty(), "one entry only");
}

#[test]
fn enable_word_starts_the_ring_afresh() {
    let mut test = Completions::new(Stall::None, Stall::None, 1);
    for round in 0..2 {
        enable(&mut test.settings, 1, registers::CONTEXT_COMPLETION_BASE, 2);
        test.cycles(20);
        for index in 0..6 {
            test.confirm(1, index, CommandStatus::BadRange);
        }
        test.drain();
        let writes = std::mem::take(&mut test.write.messages);
        assert_eq!(writes.len(), 6, "round {round}: failures are not merged");
        let addresses: Vec<u64> = writes
            .iter()
            .map(|write| (field::<SmallWrite>(write, "address") - base(1)) / 16)
            .collect();
        assert_eq!(addresses, [0, 1, 2, 3, 0, 1]);
    }
}

#[test]
fn enable_word_leaves_other_owners_rings() {
    let mut test = Completions::new(Stall::None, Stall::None, 1);
    for owner in [1, 2] {
        enable(&mut test.settings, owner, registers::CONTEXT_COMPLETION_BASE, 8);
    }
    test.cycles(30);
    // In each cycle of an entry.
    for index in 0..16 {
        test.confirm(1, index, CommandStatus::BadRange);
        test.cycles(u64::from(index));
        test.settings.context(2, registers::CONTEXT_ENABLE, 1);
        test.drain();
        let write = test.write.messages.pop_front().expect("an entry");
        let address = base(1) + 16 * u64::from(index);
        assert_eq!(field::<SmallWrite>(&write, "address"), address);
    }
}

#[test]
fn reset_withdraws_waiting_entry() {
    let mut test = Completions::new(Stall::None, Stall::None, 1);
    let register = registers::CONTEXT_COMPLETION_BASE;
    enable(&mut test.settings, 1, register, 8);
    test.cycles(30);
    test.confirm(1, 0, CommandStatus::Ok);
    // Nobody takes what is written.
    test.bench.set("write$ready", 0);
    let Completions { bench, settings, confirmation, .. } = &mut test;
    let mut offers = |reset: u64| {
        bench.set("reset", reset);
        bench.cycles(20, &mut [settings, confirmation]);
        bench.model.is_high(bench.model.port("write$valid"))
    };
    assert!(offers(0));
    assert!(!offers(1));
    assert!(!offers(0));
}
