//! The simulated card as a [`Bus`] of the host crate.
//!
//! Register reads and [`Bus::advance`] let simulated time pass; nothing else takes time. A bus
//! address does not reveal where the memory lies: the IOMMU maps it on allocation and unmaps it on
//! release.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use abi::registers::{BAR_BYTES, MSIX_TABLE, PUSH_BYTES};
use host::driver::bus::{page_bits, Bus, BusError, DmaFault, DmaMemory, MemoryKind, Result};
use host::driver::bus_memory::BusAddresses;
use host::driver::control_memory::ControlMemory;
use host::memory::MemoryRange;
use pcie_sim::{IommuError, MemoryId, PcieConfig, Rights, PAGE_BYTES};

use lab::time::{duration_of_ps, ADVANCE_CYCLES, USER_CLOCK_PS};

use crate::card::{DevicePages, SharedCard, SimulatedCard};

/// Cycles after which a register read fails.
const READ_CYCLES_MAX: u64 = 100_000;
/// Cycles between two polls for an interrupt.
const INTERRUPT_CYCLES: u64 = 16;
/// Bytes of an entry of the MSI-X table.
const MSIX_ENTRY_BYTES: u32 = 16;

/// A simulated card behind the host crate's bus. Clones of the handle see the same card.
pub struct SimulatedBus {
    card: Rc<RefCell<SimulatedCard>>,
    bar_base: u64,
    addresses: BusAddresses,
    dram_next: u64,
    gpu_next: u64,
    allocated: BTreeMap<u64, DmaMemory>,
    /// Memory of the applications' own, by address: its number and its pages.
    mapped: BTreeMap<u64, (MemoryId, MemoryRange)>,
    /// Released memory: memory, first byte, length.
    free: Vec<(MemoryId, u64, u64)>,
    flush_address: u64,
    interrupt_base: u64,
}

impl SimulatedBus {
    /// A bus to `card`, which was made with `config`. The first page of GPU memory serves flush
    /// reads.
    pub fn new(card: Rc<RefCell<SimulatedCard>>, config: &PcieConfig) -> Result<Self> {
        let bar_base = config.bars.first().map_or(0, |bar| bar.base);
        let mut bus = Self {
            card,
            bar_base,
            addresses: BusAddresses::default(),
            dram_next: 0,
            gpu_next: 0,
            allocated: BTreeMap::new(),
            mapped: BTreeMap::new(),
            free: Vec::new(),
            flush_address: 0,
            interrupt_base: config.interrupt_base,
        };
        if !config.gpus.is_empty() {
            let page = bus.allocate(MemoryKind::Gpu, PAGE_BYTES as usize, PAGE_BYTES as usize)?;
            bus.flush_address = page.address;
        }
        // Let the link come up.
        bus.advance()?;
        Ok(bus)
    }

    /// The same, with the card's side for a machine.
    pub fn with_card(card: SimulatedCard, config: &PcieConfig) -> Result<(Self, SharedCard)> {
        let card = Rc::new(RefCell::new(card));
        Ok((Self::new(card.clone(), config)?, card))
    }

    /// Maps `bytes` zeroed bytes of a memory at a bus address of that alignment. Returns address
    /// and place in the memory.
    fn place(&mut self, memory: MemoryId, bytes: usize, align: usize) -> Result<(u64, u64)> {
        let length = (bytes as u64).next_multiple_of(PAGE_BYTES);
        let address = self.addresses.next((align as u64).max(PAGE_BYTES));
        let next = match memory {
            MemoryId::Gpu(_) => &mut self.gpu_next,
            _ => &mut self.dram_next,
        };
        let mut card = self.card.borrow_mut();
        let released = (self.free.iter()).position(|free| (free.0, free.2) == (memory, length));
        let offset = released.map_or(*next, |index| self.free[index].1);
        card.pcie
            .map(address, length, memory, offset, Rights::ReadWrite)
            // Only memory that was allocated before may hold anything but zeros.
            .and_then(|()| match released {
                Some(_) => card.pcie.write(address, &vec![0; length as usize]),
                None => Ok(()),
            })
            .map_err(|_| BusError::NoMemory { bytes })?;
        match released {
            Some(index) => drop(self.free.swap_remove(index)),
            None => *next += length,
        }
        self.addresses.take(address, bytes);
        Ok((address, offset))
    }

    /// Unmaps what [`Self::place`] mapped.
    fn displace(&mut self, address: u64, bytes: usize) -> Result<()> {
        let length = (bytes as u64).next_multiple_of(PAGE_BYTES);
        let mut card = self.card.borrow_mut();
        let (place, offset) = card.pcie.locate(address, length).map_err(device)?;
        card.pcie.unmap(address, length).map_err(device)?;
        self.free.push((place, offset, length));
        Ok(())
    }
}

fn bus_error(error: std::io::Error) -> BusError {
    BusError::Device(error.to_string())
}

fn device(error: IommuError) -> BusError {
    BusError::Device(error.to_string())
}

impl Bus for SimulatedBus {
    fn read_register(&mut self, offset: u32) -> Result<u32> {
        if !offset.is_multiple_of(4) || offset as usize >= BAR_BYTES {
            return Err(BusError::BadOffset(offset));
        }
        let mut card = self.card.borrow_mut();
        let address = self.bar_base + u64::from(offset);
        let failed = |error: pcie_sim::MmioError| BusError::Device(error.to_string());
        let read = card.pcie.mmio_read(address, 4).map_err(failed)?;
        for _ in 0..READ_CYCLES_MAX {
            card.run(1);
            if let Some(result) = card.pcie.mmio_poll(read) {
                let bytes = result.map_err(failed)?;
                let word = bytes.try_into().map_err(|_| BusError::NoAnswer(offset))?;
                return Ok(u32::from_le_bytes(word));
            }
        }
        Err(BusError::NoAnswer(offset))
    }

    fn write_register(&mut self, offset: u32, value: u32) -> Result<()> {
        if !offset.is_multiple_of(4) || offset as usize >= BAR_BYTES {
            return Err(BusError::BadOffset(offset));
        }
        let address = self.bar_base + u64::from(offset);
        let mut card = self.card.borrow_mut();
        card.pcie.mmio_write32(address, value).map_err(|error| BusError::Device(error.to_string()))
    }

    fn write_line(&mut self, offset: u32, line: &[u8; PUSH_BYTES]) -> Result<()> {
        if !offset.is_multiple_of(PUSH_BYTES as u32) || offset as usize >= BAR_BYTES {
            return Err(BusError::BadOffset(offset));
        }
        let address = self.bar_base + u64::from(offset);
        let mut card = self.card.borrow_mut();
        card.pcie.mmio_write(address, line).map_err(|error| BusError::Device(error.to_string()))
    }

    fn writes_lines(&self) -> bool {
        true
    }

    fn allocate_control(&mut self, bytes: usize, align: usize) -> Result<ControlMemory> {
        let (address, offset) = self.place(MemoryId::Dram, bytes, align)?;
        let card = self.card.borrow();
        let pages = card.files[&MemoryId::Dram].range(offset as usize, bytes);
        Ok(ControlMemory::new(address, &pages.map_err(bus_error)?)?)
    }

    fn release_control(&mut self, memory: ControlMemory) -> Result<()> {
        self.displace(memory.address(), memory.bytes())
    }

    fn allocate(&mut self, kind: MemoryKind, bytes: usize, align: usize) -> Result<DmaMemory> {
        let memory = match kind {
            MemoryKind::Application => MemoryId::Dram,
            MemoryKind::Gpu => MemoryId::Gpu(0),
        };
        let (address, _) = self.place(memory, bytes, align)?;
        let memory = DmaMemory { address, bytes, kind };
        self.allocated.insert(address, memory);
        Ok(memory)
    }

    fn map(&mut self, range: &MemoryRange) -> Result<DmaMemory> {
        let pages = DevicePages(range.map_device()?);
        let bytes = range.bytes();
        let length = bytes as u64;
        let address = self.addresses.next(1 << page_bits(length));
        let mut card = self.card.borrow_mut();
        let memory = card.pcie.attach(Box::new(pages));
        let mapped = (card.pcie).map(address, length, memory, 0, Rights::ReadWrite);
        if let Err(error) = mapped {
            card.pcie.detach(memory);
            return Err(device(error));
        }
        self.addresses.take(address, bytes);
        self.mapped.insert(address, (memory, range.clone()));
        let memory = DmaMemory { address, bytes, kind: MemoryKind::Application };
        self.allocated.insert(address, memory);
        Ok(memory)
    }

    fn release(&mut self, memory: DmaMemory) -> Result<()> {
        self.allocated.remove(&memory.address);
        let Some((pages, _)) = self.mapped.remove(&memory.address) else {
            return self.displace(memory.address, memory.bytes);
        };
        let length = (memory.bytes as u64).next_multiple_of(PAGE_BYTES);
        let mut card = self.card.borrow_mut();
        card.pcie.unmap(memory.address, length).map_err(device)?;
        card.pcie.detach(pages);
        Ok(())
    }

    fn share(&self, memory: &DmaMemory) -> Result<MemoryRange> {
        let (address, bytes) = (memory.address, memory.bytes);
        let holds =
            |known: &DmaMemory| address + bytes as u64 <= known.address + known.bytes as u64;
        let below = self.allocated.range(..=address).next_back();
        if !below.is_some_and(|(_, known)| holds(known)) {
            return Err(BusError::BadAddress { address, bytes });
        }
        if let Some((_, range)) = self.mapped.get(&memory.address) {
            return Ok(range.clone());
        }
        let card = self.card.borrow();
        let located = card.pcie.locate(address, bytes as u64);
        let (place, offset) = located.map_err(device)?;
        let range = card.files[&place].range(offset as usize, bytes);
        range.map_err(bus_error)
    }

    fn flush_address(&self, kind: MemoryKind) -> Option<u64> {
        (kind == MemoryKind::Gpu && self.flush_address != 0).then_some(self.flush_address)
    }

    fn take_faults(&mut self) -> Vec<DmaFault> {
        let log = self.card.borrow_mut().pcie.take_fault_log();
        log.iter()
            .filter(|record| record.write)
            .map(|record| DmaFault { address: record.bus_address })
            .collect()
    }

    fn now(&self) -> Duration {
        duration_of_ps(self.card.borrow().cycles() * USER_CLOCK_PS)
    }

    fn advance(&mut self) -> Result<()> {
        let mut card = self.card.borrow_mut();
        card.run(ADVANCE_CYCLES);
        let wave = card.model.check_wave();
        wave.map_err(|error| BusError::Device(error.to_string()))
    }

    fn enable_interrupt(&mut self, vector: u16) -> Result<()> {
        self.card.borrow_mut().pcie.set_msix(true, false);
        let entry = MSIX_TABLE + MSIX_ENTRY_BYTES * u32::from(vector);
        // Address, data, and a vector control word that does not mask.
        self.write_register(entry, self.interrupt_base as u32)?;
        self.write_register(entry + 4, (self.interrupt_base >> 32) as u32)?;
        self.write_register(entry + 8, vector.into())?;
        self.write_register(entry + 12, 0)
    }

    fn wait_interrupt(&mut self, limit: Duration) -> Result<Option<u16>> {
        let mut card = self.card.borrow_mut();
        let cycles = limit.as_nanos() * 1000 / u128::from(USER_CLOCK_PS);
        let end = card.cycles() + cycles as u64;
        loop {
            if let Some(interrupt) = card.pcie.next_interrupt() {
                return Ok(Some(interrupt.data as u16));
            }
            let left = end.saturating_sub(card.cycles());
            if left == 0 {
                return Ok(None);
            }
            card.run(left.min(INTERRUPT_CYCLES));
        }
    }
}
