//! The whole slot: one step per cycle for the card, and the host's side as methods.
//!
//! ```text
//!   step(card outputs) -> card inputs          map, mmio_read, inject, fault_log, violations, ...
//! ```
//!
//! Timing: see the crate's head. Host methods take effect at once and between two steps.
//!
//! Invariant: the same configuration and the same calls give the same behaviour, cycle by cycle.

mod pages;

use crate::config::{ConfigError, PcieConfig, CYCLE_NS};
use crate::fault::{Fault, FaultRecord, Target};
use crate::hard_block::HardBlock;
use crate::iommu::{IommuError, Refusal, Rights, PAGE_BYTES};
use crate::link::Link;
use crate::memory::{Memories, MemoryBytes, MemoryError, MemoryId};
use crate::mmio::{Mmio, MmioError, MmioRead, MmioResult};
use crate::ports::cq::CqPacket;
use crate::ports::{CardInputs, CardOutputs};
use crate::root_complex::{Interrupt, RootComplex};
use crate::statistics::{Direction, Statistics};
use crate::tlp::Completion;
use crate::transmit::Upstream;
use crate::violation::{Log, TimedViolation};
use std::ops::Range;

/// What is sent to the card.
#[derive(Clone, Debug)]
enum Downstream {
    Completion(Completion),
    Request(CqPacket),
}

/// A simulated slot with a root complex behind it.
#[derive(Debug)]
pub struct PcieSim {
    config: PcieConfig,
    cycle: u64,
    inputs: CardInputs,
    hard_block: HardBlock,
    root: RootComplex,
    mmio: Mmio,
    down: Link<Downstream>,
    down_statistics: Direction,
    log: Log,
}

impl PcieSim {
    /// Power on: link up, memory decoding and bus mastering off, `user_reset` high for 16 cycles.
    pub fn new(config: PcieConfig) -> Result<Self, ConfigError> {
        config.validate()?;
        let memories = Memories::zeroed(config.dram_bytes, &config.gpus);
        Ok(Self::powered_on(config, memories))
    }

    /// Power on with memories whose bytes `bytes` provides, zeroed and of the requested size.
    pub fn with_memories<E: From<ConfigError>>(
        config: PcieConfig,
        bytes: &mut dyn FnMut(MemoryId, usize) -> Result<MemoryBytes, E>,
    ) -> Result<Self, E> {
        config.validate()?;
        let memories = Memories::new(config.dram_bytes, &config.gpus, bytes)?;
        Ok(Self::powered_on(config, memories))
    }

    fn powered_on(config: PcieConfig, memories: Memories) -> Self {
        let link = &config.link;
        let latency = crate::config::cycles(link.latency_ns);
        let inputs = CardInputs { user_reset: true, ..CardInputs::default() };
        Self {
            cycle: 0,
            inputs,
            hard_block: HardBlock::new(&config),
            root: RootComplex::new(&config, memories),
            mmio: Mmio::new(&config),
            down: Link::new(link.bytes_per_cycle_fixed(), latency),
            down_statistics: Direction::default(),
            log: Log::default(),
            config,
        }
    }

    /// What the card sees in the present cycle.
    pub fn inputs(&self) -> &CardInputs {
        &self.inputs
    }

    /// One rising clock edge: `card` is what the card drives before it; returns what it sees after.
    pub fn step(&mut self, card: &CardOutputs) -> &CardInputs {
        let now = self.cycle;
        self.log.at(now);
        if self.hard_block.is_running(now) {
            self.step_streams(now, card);
        }
        self.step_host(now);
        self.hard_block.drive(now, card, &mut self.inputs, &self.config);
        self.cycle += 1;
        &self.inputs
    }

    fn step_streams(&mut self, now: u64, card: &CardOutputs) {
        let Self { hard_block, root, mmio, log, config, inputs, .. } = self;
        hard_block.sample(now, card, inputs, config, mmio, log);
        for request in hard_block.dropped.drain(..) {
            root.refuse(now, &request, Refusal::NotBusMaster);
        }
        hard_block.transmitter.transmit(now);
        while let Some(tlp) = self.hard_block.transmitter.receive(now) {
            match tlp {
                Upstream::Request(request) => self.root.receive(now, request, &self.config),
                Upstream::Completion(Some(done)) => self.root.receive_result(now, done),
                Upstream::Completion(None) => {}
            }
        }
        self.send_downstream(now);
        while let Some(tlp) = self.down.receive(now) {
            match tlp {
                Downstream::Completion(completion) => {
                    self.hard_block.requester.receive(completion, &mut self.log);
                }
                Downstream::Request(packet) => {
                    self.hard_block.receive_request(packet, &mut self.mmio);
                }
            }
        }
        self.hard_block.requester.expire(now);
    }

    fn step_host(&mut self, now: u64) {
        let mmio = &mut self.mmio;
        self.root.commit(now, |done| mmio.finish(done));
        mmio.expire(now, &mut self.log);
    }

    /// Starts on the lanes to the card what may be sent in this cycle, register accesses first.
    fn send_downstream(&mut self, now: u64) {
        while self.down.is_free(now) {
            let (payload, overhead, tlp) = if let Some(packet) = self.mmio.next(now) {
                let payload = packet.words.len() as u32 * 4 - 16;
                match packet.nonposted {
                    Some(_) => self.down_statistics.reads += 1,
                    None => self.down_statistics.writes += 1,
                }
                (payload, self.config.link.request_overhead_bytes, Downstream::Request(packet))
            } else if let Some(completion) = self.root.completion(now, &self.config) {
                let payload = completion.payload.len() as u32 * 4;
                self.down_statistics.completions += 1;
                let overhead = self.config.link.completion_overhead_bytes;
                (payload, overhead, Downstream::Completion(completion))
            } else {
                return;
            };
            self.down_statistics.count(payload, payload + overhead);
            self.down.send(now, payload + overhead, tlp);
        }
    }

    /// Whether nothing is in flight in either direction: no request, completion, register access
    /// or write that is not yet visible. What the card still holds is not counted.
    pub fn is_idle(&self) -> bool {
        self.hard_block.transmitter.is_idle()
            && self.hard_block.requester.in_flight() == 0
            && self.root.is_idle()
            && self.mmio.is_idle()
            && self.down.is_empty()
    }

    /// Cycles stepped so far.
    pub fn cycle(&self) -> u64 {
        self.cycle
    }

    /// Simulated time in ns.
    pub fn now_ns(&self) -> u64 {
        self.cycle * CYCLE_NS
    }

    /// The configuration as it is now.
    pub fn config(&self) -> &PcieConfig {
        &self.config
    }
}

/// Configuration space and link.
impl PcieSim {
    /// Memory decoding, bus mastering and MSI-X on, as a driver leaves them after probing.
    pub fn enable_device(&mut self) {
        self.set_memory_enable(true);
        self.set_bus_master(true);
        self.set_msix(true, false);
    }

    /// Memory decoding: with it off, register reads end as unsupported requests.
    pub fn set_memory_enable(&mut self, on: bool) {
        self.hard_block.function.memory_enable = on;
    }

    /// Bus mastering: with it off, requests of the card are dropped.
    pub fn set_bus_master(&mut self, on: bool) {
        self.hard_block.function.set_bus_master(self.cycle, on);
    }

    /// MSI-X enable and function mask, shown on the `cfg_interrupt_msix_*` ports.
    pub fn set_msix(&mut self, enable: bool, mask: bool) {
        self.hard_block.function.set_msix(self.cycle, enable, mask);
    }

    /// Maximum payload size; completions are at most as long.
    pub fn set_max_payload(&mut self, bytes: u32) -> Result<(), ConfigError> {
        let completion_payload_bytes = self.config.completion_payload_bytes.min(bytes);
        self.reconfigure(PcieConfig { mps_bytes: bytes, completion_payload_bytes, ..self.copy() })
    }

    /// Maximum read request size.
    pub fn set_max_read_request(&mut self, bytes: u32) -> Result<(), ConfigError> {
        self.reconfigure(PcieConfig { mrrs_bytes: bytes, ..self.copy() })
    }

    fn copy(&self) -> PcieConfig {
        self.config.clone()
    }

    fn reconfigure(&mut self, config: PcieConfig) -> Result<(), ConfigError> {
        config.validate()?;
        self.config = config;
        Ok(())
    }

    /// Begins a function level reset: configuration cleared, reads of the card ended with error
    /// code 8, their late completions dropped. It ends when the card raises `cfg_flr_done`.
    pub fn start_function_reset(&mut self) {
        self.hard_block.start_function_reset(self.cycle);
    }

    /// Whether the card has yet to raise `cfg_flr_done`.
    pub fn function_reset_running(&self) -> bool {
        self.hard_block.function.reset_running
    }

    /// Takes the link down: everything in flight is lost, the configuration cleared, `user_reset`
    /// high. What had reached the root complex still becomes visible.
    pub fn link_down(&mut self) {
        self.hard_block.link_down(self.cycle, &mut self.inputs, &self.config);
        self.root.cancel_reads();
        self.mmio.reset(&self.config);
        self.down.clear();
    }

    /// Brings the link up again.
    pub fn link_up(&mut self) {
        self.hard_block.link_up(self.cycle);
    }

    /// Whether the link is up.
    pub fn is_link_up(&self) -> bool {
        self.hard_block.is_up()
    }
}

/// Memory and IOMMU.
impl PcieSim {
    /// Maps `bytes` bytes of `memory` from `offset` on to `bus_address`; all whole pages.
    pub fn map(
        &mut self,
        bus_address: u64,
        bytes: u64,
        memory: MemoryId,
        offset: u64,
        rights: Rights,
    ) -> Result<(), IommuError> {
        self.root.memories.reachable(memory, offset, bytes)?;
        let window = self.config.interrupt_base;
        let window_end = window + self.config.interrupt_bytes;
        if bus_address < window_end && bus_address.saturating_add(bytes) > window {
            return Err(IommuError::Overlap(window));
        }
        self.root.iommu.map(bus_address, bytes, memory, offset, rights)
    }

    /// Removes a mapping. Writes to DRAM that were translated before are visible with the next
    /// step; later ones go to the fault log.
    pub fn unmap(&mut self, bus_address: u64, bytes: u64) -> Result<(), IommuError> {
        self.root.iommu.unmap(bus_address, bytes)?;
        self.root.drain();
        Ok(())
    }

    /// Makes the IOMMU refuse every access of the card to these bus addresses from now on; the host
    /// still reaches the memory behind them. Writes that were translated before land.
    pub fn deny(&mut self, bus_addresses: Range<u64>) {
        self.root.iommu.deny(bus_addresses);
        self.root.drain();
    }

    /// Takes unused whole pages of DRAM and maps them; the bus address is `bus_base` plus their
    /// offset in DRAM.
    pub fn allocate(
        &mut self,
        bytes: u64,
        bus_base: u64,
        rights: Rights,
    ) -> Result<u64, IommuError> {
        let bytes = bytes.max(1).next_multiple_of(PAGE_BYTES);
        let offset = self.root.memories.allocate(bytes, PAGE_BYTES)?;
        let mapped = self.map(bus_base + offset, bytes, MemoryId::Dram, offset, rights);
        if mapped.is_err() {
            self.root.memories.free(offset);
        }
        mapped.map(|()| bus_base + offset)
    }

    /// Unmaps what [`Self::allocate`] returned and releases its pages; their content stays.
    pub fn free(&mut self, bus_address: u64) -> Result<(), IommuError> {
        let (_, offset) = self.root.iommu.locate(bus_address, 1)?;
        let allocated = self.root.memories.allocated_bytes(offset);
        let bytes = allocated.ok_or(IommuError::NotMapped(bus_address))?;
        self.unmap(bus_address, bytes)?;
        self.root.memories.free(offset);
        Ok(())
    }

    /// The memory behind a bus address, and where in it.
    pub fn locate(&self, bus_address: u64, bytes: u64) -> Result<(MemoryId, u64), IommuError> {
        self.root.iommu.locate(bus_address, bytes)
    }

    /// What the host reads behind a bus address: only what has become visible.
    pub fn read(&self, bus_address: u64, into: &mut [u8]) -> Result<(), IommuError> {
        let (memory, offset) = self.root.iommu.locate(bus_address, into.len() as u64)?;
        Ok(self.root.memories.read(memory, offset, into)?)
    }

    /// Writes memory behind a bus address from the host's side.
    pub fn write(&mut self, bus_address: u64, from: &[u8]) -> Result<(), IommuError> {
        let (memory, offset) = self.root.iommu.locate(bus_address, from.len() as u64)?;
        Ok(self.root.memories.write(memory, offset, from)?)
    }

    /// Reads a memory from its own side (CPU or GPU), mapped or not.
    pub fn read_memory(
        &self,
        memory: MemoryId,
        offset: u64,
        into: &mut [u8],
    ) -> Result<(), MemoryError> {
        self.root.memories.read(memory, offset, into)
    }

    /// Writes a memory from its own side (CPU or GPU), mapped or not.
    pub fn write_memory(
        &mut self,
        memory: MemoryId,
        offset: u64,
        from: &[u8],
    ) -> Result<(), MemoryError> {
        self.root.memories.write(memory, offset, from)
    }

    /// Changes how much of a GPU's memory its BAR shows.
    pub fn resize_gpu_bar(&mut self, gpu: usize, bytes: u64) -> Result<(), MemoryError> {
        self.root.memories.resize_bar(gpu, bytes)
    }
}

/// Register accesses and interrupts.
impl PcieSim {
    /// Queues a register write of 1 to 64 bytes within one 64-byte line.
    pub fn mmio_write(&mut self, address: u64, bytes: &[u8]) -> Result<(), MmioError> {
        self.require_link()?;
        self.mmio.write(&self.config.bars, address, bytes)
    }

    /// Queues a register write of 32 bits.
    pub fn mmio_write32(&mut self, address: u64, value: u32) -> Result<(), MmioError> {
        self.mmio_write(address, &value.to_le_bytes())
    }

    /// Queues a register write of 64 bits.
    pub fn mmio_write64(&mut self, address: u64, value: u64) -> Result<(), MmioError> {
        self.mmio_write(address, &value.to_le_bytes())
    }

    /// Queues a register read of 1 to 64 bytes within one 64-byte line.
    pub fn mmio_read(&mut self, address: u64, bytes: usize) -> Result<MmioRead, MmioError> {
        self.require_link()?;
        self.mmio.read(&self.config.bars, address, bytes)
    }

    fn require_link(&self) -> Result<(), MmioError> {
        match self.is_link_up() {
            true => Ok(()),
            false => Err(MmioError::LinkDown),
        }
    }

    /// The bytes of a register read, once and as soon as it has ended.
    pub fn mmio_poll(&mut self, read: MmioRead) -> Option<MmioResult> {
        self.mmio.poll(read)
    }

    /// The next interrupt, in order with the card's writes to DRAM.
    pub fn next_interrupt(&mut self) -> Option<Interrupt> {
        self.root.interrupts.pop_front()
    }

    /// Interrupts not yet taken.
    pub fn pending_interrupts(&self) -> impl Iterator<Item = &Interrupt> {
        self.root.interrupts.iter()
    }
}

/// A link that takes nothing for a while.
impl PcieSim {
    /// RQ takes no beat for so many cycles.
    pub fn stall_requests(&mut self, cycles: u64) {
        self.hard_block.rq_from = self.cycle + cycles;
    }

    /// The host gives no credit for posted requests for so many cycles: those that the hard block
    /// has taken wait in it.
    pub fn hold_posted(&mut self, cycles: u64) {
        self.hard_block.transmitter.hold_posted(self.cycle + cycles);
    }

    /// Writes that the hard block has taken and not yet given to the lanes: a completion of the
    /// card may overtake them.
    pub fn writes_waiting(&self) -> usize {
        self.hard_block.transmitter.writes_waiting()
    }
}

/// Faults, violations and counters.
impl PcieSim {
    /// Arms a fault.
    pub fn inject(&mut self, fault: Fault, target: Target) {
        self.root.injector.arm(fault, target);
    }

    /// Disarms every fault.
    pub fn clear_faults(&mut self) {
        self.root.injector.clear();
    }

    /// Accesses of the card that were refused, oldest first.
    pub fn fault_log(&self) -> &[FaultRecord] {
        &self.root.fault_log
    }

    /// Takes the fault log and clears it.
    pub fn take_fault_log(&mut self) -> Vec<FaultRecord> {
        std::mem::take(&mut self.root.fault_log)
    }

    /// Rules that the card broke, oldest first; the first thousand.
    pub fn violations(&self) -> &[TimedViolation] {
        self.log.reports()
    }

    /// Takes the violations and clears them.
    pub fn take_violations(&mut self) -> Vec<TimedViolation> {
        self.log.take()
    }

    /// Counters since power-on.
    pub fn statistics(&self) -> Statistics {
        let lanes = self.config.link.bytes_per_cycle_fixed() as f64 / (1u64 << 20) as f64;
        let carried = lanes * self.cycle.max(1) as f64;
        let upstream = self.hard_block.transmitter.statistics;
        let downstream = self.down_statistics;
        Statistics {
            cycles: self.cycle,
            upstream,
            downstream,
            upstream_utilisation: upstream.link_bytes as f64 / carried,
            downstream_utilisation: downstream.link_bytes as f64 / carried,
            reads_in_flight: self.hard_block.requester.in_flight(),
            reads_in_flight_peak: self.hard_block.requester.in_flight_peak,
            completion_headers_peak: self.hard_block.requester.stored_peak.headers,
            completion_data_peak: self.hard_block.requester.stored_peak.data,
            rq_stall_cycles: self.hard_block.rq_stall_cycles,
            interrupts: self.root.interrupt_count,
            refusals: self.root.refusal_count,
            violations: self.log.total(),
        }
    }
}
