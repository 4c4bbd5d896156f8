//! The Verilated card as the model behind a socket.
//!
//! ```text
//!   registers ─► pcie_sim ══ card ══ MAC ── frames
//!                    └─► IOMMU ─► ranges that the client has mapped
//! ```
//! Simulated time passes in [`Model::run`] and in register reads. It has nothing to do with that of
//! the client, which is hundreds of times faster: what a driver waits for by the clock of its own,
//! a new epoch and clear tables, is waited for here.
//!
//! Vectors of MSI-X are events of the client's: the card's table holds their numbers.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use abi::config::CardConfig;
use abi::registers as r;
use anyhow::{Context, Result};
use lab::frame::Frame;
use pcie_sim::{Bytes, MemoryId, MmioRead, PcieConfig, Rights};
use served::{ClientSide, Model, ORDER_CYCLES};
use sim::card::SimulatedCard;
use verilate::options::Options;
use vfio_user::client::LINE_BYTES;
use vfio_user::codec::DmaMap;
use vfio_user::{Errno, RangeBytes};

use super::shown::Shown;

/// Cycles between two looks at the client.
const CYCLES_PER_LOOK: u64 = 64;
/// Cycles in which the link comes up.
const SETTLING_CYCLES: u64 = 1_000;
/// Cycles after which a register read is all ones, as on a bus.
const READ_CYCLES_MAX: u64 = 100_000;
/// Cycles until a card that was reset has clear tables, at most.
const RESET_CYCLES_MAX: u64 = 4_000_000;
/// Bytes of an entry of the MSI-X table.
const MSIX_ENTRY_BYTES: u32 = 16;
/// Memory of the simulated host that is not a client's: none is used.
const OWN_BYTES: usize = 1 << 20;

/// A range of the client's memory. A file that was cut off reads as zeros, and takes no writes.
struct ClientPages(RangeBytes);

impl Bytes for ClientPages {
    fn size(&self) -> usize {
        self.0.bytes()
    }

    fn read(&self, offset: usize, into: &mut [u8]) {
        if self.0.read(offset, into).is_err() {
            into.fill(0);
        }
    }

    fn write(&mut self, offset: usize, from: &[u8]) {
        let _ = self.0.write(offset, from);
    }
}

/// The card, its link and its MAC.
pub struct RtlModel {
    card: SimulatedCard,
    config: CardConfig,
    base: u64,
    /// Ranges of the client, by address: their length and their memory.
    mapped: BTreeMap<u64, (u64, MemoryId)>,
    /// Contexts that are enabled.
    enabled: Vec<bool>,
    /// The state of an owner's page that is being read.
    state: (usize, Option<MmioRead>),
    states: Vec<(usize, u32)>,
    /// When the client came: cycles, and the machine's time.
    joined: (u64, Instant),
    violations_said: usize,
}

impl RtlModel {
    /// Builds a card of these sizes, which takes minutes the first time.
    pub fn new(config: CardConfig, has_wave: bool) -> Result<Self> {
        let pcie = PcieConfig { gpus: Vec::new(), dram_bytes: OWN_BYTES, ..PcieConfig::default() };
        let base = pcie.bars.first().map_or(0, |bar| bar.base);
        let interrupts = pcie.interrupt_base;
        let options = Options { trace: has_wave, ..Options::default() };
        let card = SimulatedCard::new(config.name, pcie, options);
        let mut card = card.context("the card does not build")?;
        // A client that resets the card may cut off a frame.
        card.mac.allow_cuts();
        let owners = 1 << config.owner_bits;
        let mut model = Self {
            card,
            config,
            base,
            mapped: BTreeMap::new(),
            enabled: vec![false; owners],
            state: (0, None),
            states: Vec::new(),
            joined: (0, Instant::now()),
            violations_said: 0,
        };
        model.card.run(SETTLING_CYCLES);
        model.card.pcie.set_msix(true, false);
        for vector in 0..owners as u32 {
            let entry = r::MSIX_TABLE + MSIX_ENTRY_BYTES * vector;
            let words = [interrupts as u32, (interrupts >> 32) as u32, vector, 0];
            for (at, word) in (entry..).step_by(4).zip(words) {
                model.post(at, word);
            }
        }
        model.reset(r::CONTROL_RESET);
        Ok(model)
    }

    /// Begins a waveform.
    pub fn open_wave(&mut self, path: &Path) -> Result<()> {
        let opened = self.card.model.open_wave(path);
        opened.with_context(|| format!("waveform {}", path.display()))
    }

    /// A posted write takes a cycle: no client is faster than the link for long.
    fn post(&mut self, offset: u32, value: u32) {
        // A bus tells nobody of a write that fails: the link is up, and the offset inside the BAR.
        let _ = self.card.pcie.mmio_write32(self.base + u64::from(offset), value);
        self.card.run(1);
    }

    /// Reads a register; all ones if the card does not answer.
    fn fetch(&mut self, offset: u32) -> u32 {
        let read = self.card.pcie.mmio_read(self.base + u64::from(offset), 4);
        let Ok(read) = read else { return u32::MAX };
        for _ in 0..READ_CYCLES_MAX {
            self.card.run(1);
            if let Some(result) = self.card.pcie.mmio_poll(read) {
                let bytes = result.ok().and_then(|bytes| bytes.try_into().ok());
                return bytes.map_or(u32::MAX, u32::from_le_bytes);
            }
        }
        u32::MAX
    }

    /// Begins an epoch by a write to the control register, and waits for it, and until nothing of
    /// an earlier one is left.
    fn reset(&mut self, control: u32) {
        let (before, end) = (self.fetch(r::EPOCH), self.card.cycles() + RESET_CYCLES_MAX);
        self.post(r::CONTROL, control);
        while self.fetch(r::EPOCH) == before && self.card.cycles() < end {}
        self.fetch_status();
        self.enabled.fill(false);
    }

    /// The card's status, as soon as it is at rest: tables take thousands of cycles to be written.
    fn fetch_status(&mut self) -> u32 {
        let end = self.card.cycles() + RESET_CYCLES_MAX;
        loop {
            let status = self.fetch(r::STATUS);
            let busy = status & (r::STATUS_TABLES_BUSY | r::STATUS_REQUESTS_PENDING);
            if busy == 0 || self.card.cycles() >= end {
                return status;
            }
        }
    }

    /// Takes the states of doorbell pages, one owner after the other: a client that maps a page
    /// reads it there.
    fn look_at_state(&mut self) {
        let (owner, read) = self.state;
        if let Some(read) = read {
            let Some(result) = self.card.pcie.mmio_poll(read) else { return };
            if let Some(bytes) = result.ok().and_then(|bytes| bytes.try_into().ok()) {
                self.states.push((owner, u32::from_le_bytes(bytes)));
            }
        }
        let owners = self.enabled.len();
        let next = (1..=owners).map(|at| (owner + at) % owners).find(|at| self.enabled[*at]);
        let mut start = |owner: usize| {
            let page = r::DOORBELLS + owner as u32 * r::DOORBELL_STRIDE;
            let address = self.base + u64::from(page + r::DOORBELL_STATUS);
            self.card.pcie.mmio_read(address, 4).ok()
        };
        self.state = next.map_or((0, None), |owner| (owner, start(owner)));
    }

    /// Raises what the card has sent, and forgets what the IOMMU has refused.
    fn pass_on(&mut self, client: &mut ClientSide<'_>) {
        while let Some(interrupt) = self.card.pcie.next_interrupt() {
            client.raise(interrupt.data as u16);
        }
        self.card.pcie.take_fault_log();
    }

    fn note_context(&mut self, offset: u32, value: u32) {
        let Some(at) = offset.checked_sub(r::CONTEXTS) else { return };
        if at % r::CONTEXT_STRIDE == r::CONTEXT_ENABLE {
            if let Some(owner) = self.enabled.get_mut((at / r::CONTEXT_STRIDE) as usize) {
                *owner = value & 1 == 1;
            }
        }
    }
}

impl Model for RtlModel {
    fn config(&self) -> CardConfig {
        self.config
    }

    fn read_register(&mut self, offset: u32, client: &mut ClientSide<'_>) -> u32 {
        let value = match offset {
            r::STATUS => self.fetch_status(),
            _ => self.fetch(offset),
        };
        self.pass_on(client);
        value
    }

    fn write_register(&mut self, offset: u32, value: u32, client: &mut ClientSide<'_>) {
        match offset {
            // The table holds the numbers of events: see the head of this file.
            r::MSIX_TABLE..r::MSIX_PENDING => return,
            r::CONTROL if value & r::CONTROL_RESET != 0 => self.reset(value),
            _ => self.post(offset, value),
        }
        self.note_context(offset, value);
        self.pass_on(client);
    }

    fn write_line(&mut self, offset: u32, line: &[u8; LINE_BYTES], client: &mut ClientSide<'_>) {
        let _ = self.card.pcie.mmio_write(self.base + u64::from(offset), line);
        self.card.run(1);
        self.pass_on(client);
    }

    fn receive(&mut self, bytes: &[u8], is_bad: bool, _client: &mut ClientSide<'_>) {
        let frame = Frame { bytes: bytes.to_vec(), is_bad, ..Frame::default() };
        let now_ps = self.card.now_ps();
        self.card.mac.receive_frame(frame, now_ps);
    }

    fn take_sent(&mut self) -> Vec<Vec<u8>> {
        self.card.mac.sent.drain(..).map(|frame| frame.bytes).collect()
    }

    fn start_anew(&mut self) {
        self.reset(r::CONTROL_RESET);
        while self.card.pcie.next_interrupt().is_some() {}
        self.states.clear();
    }

    fn run(&mut self, client: &mut ClientSide<'_>) {
        self.card.run(CYCLES_PER_LOOK);
        self.look_at_state();
        self.pass_on(client);
    }

    fn take_states(&mut self, into: &mut Vec<(usize, u32)>) {
        into.append(&mut self.states);
    }

    fn set_mastering(&mut self, is_on: bool) {
        self.card.pcie.set_bus_master(is_on);
    }

    fn memory_mapped(&mut self, map: &DmaMap, client: &ClientSide<'_>) {
        let rights = match (map.rights.read, map.rights.write) {
            (true, true) => Rights::ReadWrite,
            (true, false) => Rights::Read,
            (false, true) => Rights::Write,
            (false, false) => return,
        };
        // What is in no file would be asked for by messages: the card's accesses to it are faults.
        let Some(bytes) = client.range_bytes(map.address) else { return };
        let pcie = &mut self.card.pcie;
        let memory = pcie.attach(Box::new(ClientPages(bytes)));
        match pcie.map(map.address, map.bytes, memory, 0, rights) {
            Ok(()) => drop(self.mapped.insert(map.address, (map.bytes, memory))),
            Err(_) => pcie.detach(memory),
        }
    }

    fn memory_unmapped(&mut self, address: u64, bytes: u64) {
        if let Some((mapped, memory)) = self.mapped.remove(&address) {
            debug_assert_eq!(mapped, bytes, "a range is unmapped as it was mapped");
            // It was mapped with this address and length.
            let _ = self.card.pcie.unmap(address, mapped);
            self.card.pcie.detach(memory);
        }
    }

    fn client_left(&mut self) {
        let mapped: Vec<(u64, u64)> = self.mapped.iter().map(|it| (*it.0, it.1 .0)).collect();
        for (address, bytes) in mapped {
            self.memory_unmapped(address, bytes);
        }
    }

    fn control_bytes(&self) -> u64 {
        ORDER_CYCLES.len() as u64
    }

    fn control(&mut self, order: &[u8], _client: &mut ClientSide<'_>) -> Result<Vec<u8>, Errno> {
        match order == ORDER_CYCLES {
            true => Ok(self.card.cycles().to_le_bytes().to_vec()),
            false => Err(Errno::INVAL),
        }
    }
}

impl Shown for RtlModel {
    fn has_time(&self) -> bool {
        true
    }

    fn has_room(&self) -> bool {
        self.card.mac.is_quiet()
    }

    fn check(&mut self) -> Result<()> {
        Ok(self.card.model.check_wave()?)
    }

    fn join(&mut self) {
        self.joined = (self.card.cycles(), Instant::now());
    }

    fn leave(&mut self) -> Result<String> {
        let (cycles, since) = (self.card.cycles() - self.joined.0, self.joined.1.elapsed());
        self.card.model.close_wave()?;
        let rate = cycles as f64 / since.as_secs_f64();
        let mut said = format!(
            "{cycles} cycles of 250 MHz in {:.2} s: {rate:.0} cycles/s\n",
            since.as_secs_f64()
        );
        let violations = self.card.violations();
        for violation in violations.iter().skip(self.violations_said) {
            said.push_str(&format!("the card has broken a rule: {violation}\n"));
        }
        self.violations_said = violations.len();
        Ok(said)
    }
}
