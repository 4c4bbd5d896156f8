//! One card, opened: its registers checked, owner 0's rings set up, commands and descriptors
//! moving.
//!
//! Life of a command: [`Device::command`] queues it and gives a [`Ticket`]; [`Device::poll`] posts
//! what fits, rings the doorbell once, and takes completions; [`Device::confirmed`] says whether a
//! ticket's fence has passed. Tickets are confirmed in order.

use std::collections::VecDeque;

use abi::config::{COMMAND_BYTES, COMPLETION_BYTES, SLOT_BYTES, SLOW_BUFFER_BYTES};
use abi::reason::{CommandStatus, Disposition, DropReason, SendError};
use abi::{command, flow_key, registers, ABI_VERSION};

use crate::bus::{Bus, DmaMemory, MemoryKind};
use crate::error::{HostError, Result};
use crate::rings::{CompletionRing, HeaderEntry, HeaderQueue, PostRing};

/// Sizes of owner 0's rings, log2 entries, and the seed of the flow hashes.
#[derive(Clone, Copy, Debug)]
pub struct DeviceConfig {
    /// Command ring and completion ring.
    pub command_bits: u32,
    /// Send ring, slots.
    pub send_bits: u32,
    /// Header queue, slots.
    pub header_bits: u32,
    /// Slow buffers.
    pub slow_bits: u32,
    /// Seed of the flow table's hash secrets. Take it from the system's entropy where peers are
    /// hostile.
    pub hash_seed: u64,
}

impl Default for DeviceConfig {
    fn default() -> Self {
        Self {
            command_bits: 8,
            send_bits: 9,
            header_bits: 10,
            slow_bits: 6,
            hash_seed: 1,
        }
    }
}

/// Sizes that the card reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CardSizes {
    /// Flows, log2.
    pub flow_bits: u32,
    /// Buckets of a flow-table bank, log2.
    pub bucket_bits: u32,
    /// Segment entries of a direction, log2.
    pub segment_bits: u32,
    /// Regions, log2.
    pub region_bits: u32,
    /// Page entries, log2.
    pub page_bits: u32,
    /// Owners, log2.
    pub owner_bits: u32,
}

/// Names a command until it is confirmed. Tickets count from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(pub u64);

/// A command that the card refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefusedCommand {
    /// Its ticket.
    pub ticket: Ticket,
    /// Opcode.
    pub opcode: u8,
    /// Flow id in the command.
    pub flow: u16,
    /// Why.
    pub status: CommandStatus,
}

/// Bits between polls of the reset, before giving up.
const RESET_POLLS_MAX: u32 = 10_000;

/// An open card with owner 0's rings.
pub struct Device<B: Bus> {
    bus: B,
    sizes: CardSizes,
    secrets: [[u32; flow_key::SECRET_WORDS]; 2],
    commands: PostRing,
    waiting: VecDeque<[u8; COMMAND_BYTES]>,
    in_flight: VecDeque<(u8, u16)>,
    posted: u64,
    confirmed: u64,
    refused: VecDeque<RefusedCommand>,
    completions: CompletionRing,
    sends: PostRing,
    send_waiting: VecDeque<Vec<u8>>,
    send_status: DmaMemory,
    headers: HeaderQueue,
}

impl<B: Bus> Device<B> {
    /// Opens the card: checks mark and version, starts a new epoch, sets up owner 0, starts both
    /// directions.
    pub fn open(mut bus: B, config: DeviceConfig) -> Result<Self> {
        let mark = bus.read_register(registers::ID)?;
        if mark != registers::ID_VALUE {
            return Err(HostError::NotACard(mark));
        }
        let version = bus.read_register(registers::VERSION)?;
        if version >> 16 != ABI_VERSION >> 16 {
            return Err(HostError::Version {
                card: version,
                host: ABI_VERSION,
            });
        }
        let sizes = read_sizes(&mut bus)?;
        start_epoch(&mut bus)?;
        let secrets = write_secrets(&mut bus, config.hash_seed)?;
        for kind in [MemoryKind::Gpu] {
            if let Some(address) = bus.flush_address(kind) {
                write_register_64(
                    &mut bus,
                    registers::FLUSH + 8 * u32::from(kind.number()),
                    address,
                )?;
            }
        }
        let rings = Rings::allocate(&mut bus, config)?;
        rings.enable(&mut bus, config)?;
        bus.write_register(
            registers::CONTROL,
            registers::CONTROL_RX | registers::CONTROL_TX,
        )?;
        Ok(Self {
            bus,
            sizes,
            secrets,
            commands: PostRing::new(rings.commands, COMMAND_BYTES, config.command_bits),
            waiting: VecDeque::new(),
            in_flight: VecDeque::new(),
            posted: 0,
            confirmed: 0,
            refused: VecDeque::new(),
            completions: CompletionRing::new(rings.completions, config.command_bits),
            sends: PostRing::new(rings.sends, SLOT_BYTES, config.send_bits),
            send_waiting: VecDeque::new(),
            send_status: rings.send_status,
            headers: HeaderQueue::new(rings.headers, config.header_bits, rings.slow),
        })
    }

    /// The bus, for memory and simulated time.
    pub fn bus(&mut self) -> &mut B {
        &mut self.bus
    }

    /// Sizes that the card reports.
    pub fn sizes(&self) -> CardSizes {
        self.sizes
    }

    /// The hash secrets of both banks.
    pub fn secrets(&self) -> &[[u32; flow_key::SECRET_WORDS]; 2] {
        &self.secrets
    }

    /// Queues a command.
    pub fn command(&mut self, entry: [u8; COMMAND_BYTES]) -> Ticket {
        let ticket = Ticket(self.posted + self.waiting.len() as u64);
        self.waiting.push_back(entry);
        ticket
    }

    /// Whether the fence of a command has passed. True for a refused one, too: it had no effect.
    pub fn confirmed(&self, ticket: Ticket) -> bool {
        ticket.0 < self.confirmed
    }

    /// The next refused command, if there is one.
    pub fn take_refused(&mut self) -> Option<RefusedCommand> {
        self.refused.pop_front()
    }

    /// Queues a send descriptor of one or two slots.
    pub fn send(&mut self, descriptor: Vec<u8>) {
        assert!(
            matches!(descriptor.len(), SLOT_BYTES | 0x100),
            "one or two slots"
        );
        self.send_waiting.push_back(descriptor);
    }

    /// Descriptors not handed to the card yet.
    pub fn sends_waiting(&self) -> usize {
        self.send_waiting.len()
    }

    /// The next header entry, if there is one. [`Device::poll`] tells the card what was taken.
    pub fn next_header(&mut self) -> Result<Option<HeaderEntry>> {
        Ok(self.headers.poll(&mut self.bus)?)
    }

    /// Posts what waits, rings doorbells that changed, takes completions. Returns whether anything
    /// moved.
    pub fn poll(&mut self) -> Result<bool> {
        let mut moved = self.post_commands()?;
        moved |= self.post_sends()?;
        moved |= self.take_completions()?;
        Ok(moved)
    }

    /// Tells the card how far the header queue and the slow buffers were emptied.
    pub fn return_headers(&mut self) -> Result<()> {
        let (consumed, slow) = (self.headers.consumed(), self.headers.slow_consumed());
        self.bus
            .write_register(registers::DOORBELLS + registers::DOORBELL_HEADER, consumed)?;
        self.bus
            .write_register(registers::DOORBELLS + registers::DOORBELL_SLOW, slow)?;
        Ok(())
    }

    fn post_commands(&mut self) -> Result<bool> {
        let mut moved = false;
        while !self.waiting.is_empty() && self.commands.room(self.confirmed as u32) > 0 {
            if let Some(entry) = self.waiting.pop_front() {
                self.commands.post(&mut self.bus, &entry)?;
                let flow = command::FLOW.get(&entry) as u16;
                self.in_flight
                    .push_back((command::OPCODE.get(&entry) as u8, flow));
                self.posted += 1;
                moved = true;
            }
        }
        if moved {
            let produced = self.commands.produced();
            self.bus
                .write_register(registers::DOORBELLS + registers::DOORBELL_COMMAND, produced)?;
        }
        Ok(moved)
    }

    fn post_sends(&mut self) -> Result<bool> {
        if self.send_waiting.is_empty() {
            return Ok(false);
        }
        let mut status = [0; 4];
        self.bus
            .read_memory(self.send_status.address, &mut status)?;
        let consumed = u32::from_le_bytes(status);
        let mut moved = false;
        while let Some(descriptor) = self.send_waiting.front() {
            let slots = (descriptor.len() / SLOT_BYTES) as u32;
            if self.sends.room(consumed) < slots {
                break;
            }
            for slot in descriptor.chunks(SLOT_BYTES) {
                self.sends.post(&mut self.bus, slot)?;
            }
            self.send_waiting.pop_front();
            moved = true;
        }
        if moved {
            let produced = self.sends.produced();
            self.bus
                .write_register(registers::DOORBELLS + registers::DOORBELL_SEND, produced)?;
        }
        Ok(moved)
    }

    fn take_completions(&mut self) -> Result<bool> {
        let mut moved = false;
        while let Some(completion) = self.completions.poll(&mut self.bus)? {
            moved = true;
            // An entry confirms every command up to its own.
            let ahead = completion.index.wrapping_sub(self.confirmed as u32);
            for step in 0..=ahead {
                let Some((opcode, flow)) = self.in_flight.pop_front() else {
                    break;
                };
                if step == ahead {
                    let status = completion.status.unwrap_or(CommandStatus::BadOpcode);
                    if status != CommandStatus::Ok {
                        let ticket = Ticket(self.confirmed);
                        self.refused.push_back(RefusedCommand {
                            ticket,
                            opcode,
                            flow,
                            status,
                        });
                    }
                }
                self.confirmed += 1;
            }
        }
        Ok(moved)
    }

    /// Packets by disposition and by drop reason, and failed sends, as the card counted them since
    /// power-up.
    pub fn counters(&mut self) -> Result<Vec<(&'static str, u64)>> {
        let mut counters = Vec::new();
        for &code in Disposition::ALL {
            let at = registers::COUNTERS_DISPOSITION + 8 * code as u32;
            counters.push((code.name(), self.read_counter(at)?));
        }
        for &code in DropReason::ALL {
            counters.push((
                code.name(),
                self.read_counter(registers::COUNTERS_DROP + 8 * code as u32)?,
            ));
        }
        for &code in SendError::ALL {
            let at = registers::COUNTERS_SEND_ERROR + 8 * code as u32;
            counters.push((code.name(), self.read_counter(at)?));
        }
        for (index, &name) in registers::STAGE_COUNTERS.iter().enumerate() {
            counters.push((
                name,
                self.read_counter(registers::COUNTERS_STAGE + 8 * index as u32)?,
            ));
        }
        Ok(counters)
    }

    fn read_counter(&mut self, offset: u32) -> Result<u64> {
        // Reading the low word latches the high one.
        let low = self.bus.read_register(offset)?;
        let high = self.bus.read_register(offset + 4)?;
        Ok(u64::from(high) << 32 | u64::from(low))
    }
}

struct Rings {
    commands: DmaMemory,
    completions: DmaMemory,
    sends: DmaMemory,
    send_status: DmaMemory,
    headers: DmaMemory,
    slow: DmaMemory,
}

impl Rings {
    fn allocate(bus: &mut dyn Bus, config: DeviceConfig) -> Result<Self> {
        for (name, bits) in [
            ("command_bits", config.command_bits),
            ("send_bits", config.send_bits),
            ("header_bits", config.header_bits),
            ("slow_bits", config.slow_bits),
        ] {
            let (min, max) = (registers::RING_BITS_MIN, registers::RING_BITS_MAX);
            if !(min..=max).contains(&bits) {
                let (value, min, max) = (bits.into(), min.into(), max.into());
                return Err(HostError::BadSize {
                    name,
                    value,
                    min,
                    max,
                });
            }
        }
        let mut ring = |entry_bytes: usize, bits: u32, align: usize| {
            bus.allocate(MemoryKind::Control, (entry_bytes << bits).max(4096), align)
        };
        Ok(Self {
            commands: ring(COMMAND_BYTES, config.command_bits, 4096)?,
            completions: ring(COMPLETION_BYTES, config.command_bits, 4096)?,
            sends: ring(SLOT_BYTES, config.send_bits, 4096)?,
            send_status: ring(64, 0, 4096)?,
            headers: ring(SLOT_BYTES, config.header_bits, 4096)?,
            slow: ring(SLOW_BUFFER_BYTES, config.slow_bits, SLOW_BUFFER_BYTES)?,
        })
    }

    fn enable(&self, bus: &mut dyn Bus, config: DeviceConfig) -> Result<()> {
        let context = registers::CONTEXTS;
        for (offset, memory) in [
            (registers::CONTEXT_COMMAND_BASE, &self.commands),
            (registers::CONTEXT_COMPLETION_BASE, &self.completions),
            (registers::CONTEXT_SEND_BASE, &self.sends),
            (registers::CONTEXT_SEND_STATUS, &self.send_status),
            (registers::CONTEXT_HEADER_BASE, &self.headers),
            (registers::CONTEXT_SLOW_BASE, &self.slow),
        ] {
            write_register_64(bus, context + offset, memory.address)?;
        }
        let sizes = config.command_bits
            | config.send_bits << 8
            | config.header_bits << 16
            | config.slow_bits << 24;
        bus.write_register(context + registers::CONTEXT_SIZES, sizes)?;
        bus.write_register(context + registers::CONTEXT_ENABLE, 1)?;
        Ok(())
    }
}

fn read_sizes(bus: &mut dyn Bus) -> Result<CardSizes> {
    let first = bus.read_register(registers::SIZES_0)?;
    let second = bus.read_register(registers::SIZES_1)?;
    let byte = |word: u32, at: u32| (word >> (8 * at)) & 0xff;
    Ok(CardSizes {
        flow_bits: byte(first, 0),
        bucket_bits: byte(first, 1),
        segment_bits: byte(first, 2),
        region_bits: byte(first, 3),
        page_bits: byte(second, 0),
        owner_bits: byte(second, 1),
    })
}

fn start_epoch(bus: &mut dyn Bus) -> Result<()> {
    let before = bus.read_register(registers::EPOCH)?;
    bus.write_register(registers::CONTROL, registers::CONTROL_RESET)?;
    for _ in 0..RESET_POLLS_MAX {
        if bus.read_register(registers::EPOCH)? != before {
            return Ok(());
        }
        bus.advance()?;
    }
    Err(HostError::ResetTimeout(RESET_POLLS_MAX))
}

fn write_secrets(bus: &mut dyn Bus, seed: u64) -> Result<[[u32; flow_key::SECRET_WORDS]; 2]> {
    let mut state = seed;
    let mut secrets = [[0; flow_key::SECRET_WORDS]; 2];
    for (bank, secret) in secrets.iter_mut().enumerate() {
        for (word, value) in secret.iter_mut().enumerate() {
            *value = (split_mix(&mut state) >> 32) as u32;
            let offset = registers::HASH_SECRET
                + bank as u32 * registers::HASH_SECRET_STRIDE
                + 4 * word as u32;
            bus.write_register(offset, *value)?;
        }
    }
    Ok(secrets)
}

/// One step of SplitMix64 (Steele, Lea, Flood 2014): spreads one seed over many words.
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

fn write_register_64(bus: &mut dyn Bus, offset: u32, value: u64) -> Result<()> {
    bus.write_register(offset, value as u32)?;
    bus.write_register(offset + 4, (value >> 32) as u32)?;
    Ok(())
}
