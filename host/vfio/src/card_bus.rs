//! The bus to a card outside of this process, whichever it is.

use std::os::fd::BorrowedFd;
use std::time::Duration;

use abi::registers::PUSH_BYTES;
use host::driver::bus::{Bus, DmaFault, DmaMemory, MemoryKind, Result};
use host::driver::control_memory::ControlMemory;
use host::memory::MemoryRange;

use crate::{KernelBus, SocketBus};

/// What leads to a card.
pub enum CardBus {
    /// A socket, at which another process serves it.
    Socket(Box<SocketBus>),
    /// The slot that it is in.
    Slot(Box<KernelBus>),
}

impl CardBus {
    fn bus(&self) -> &dyn Bus {
        match self {
            CardBus::Socket(bus) => &**bus,
            CardBus::Slot(bus) => &**bus,
        }
    }

    fn bus_mut(&mut self) -> &mut dyn Bus {
        match self {
            CardBus::Socket(bus) => &mut **bus,
            CardBus::Slot(bus) => &mut **bus,
        }
    }

    /// Reads the configuration space.
    pub fn read_config(&mut self, offset: u64, into: &mut [u8]) -> Result<()> {
        match self {
            CardBus::Socket(bus) => bus.read_config(offset, into),
            CardBus::Slot(bus) => bus.read_config(offset, into),
        }
    }

    /// Whether doorbells are stores, and no messages.
    pub fn has_mapped_doorbells(&self) -> bool {
        match self {
            CardBus::Socket(bus) => bus.has_mapped_doorbells(),
            CardBus::Slot(_) => true,
        }
    }

    /// How the kernel's VFIO was opened, and the node near the card; `None`: it is at a socket.
    pub fn slot(&self) -> Option<(&'static str, Option<u32>)> {
        match self {
            CardBus::Socket(_) => None,
            CardBus::Slot(bus) => Some((bus.way(), bus.node())),
        }
    }

    /// Whether it is a slot of this machine.
    pub fn is_slot(&self) -> bool {
        matches!(self, CardBus::Slot(_))
    }

    /// Interrupt vectors of the card.
    pub fn vectors(&self) -> u32 {
        match self {
            CardBus::Socket(bus) => bus.vectors(),
            CardBus::Slot(bus) => bus.vectors(),
        }
    }
}

impl Bus for CardBus {
    fn read_register(&mut self, offset: u32) -> Result<u32> {
        self.bus_mut().read_register(offset)
    }

    fn write_register(&mut self, offset: u32, value: u32) -> Result<()> {
        self.bus_mut().write_register(offset, value)
    }

    fn writes_lines(&self) -> bool {
        self.bus().writes_lines()
    }

    fn write_line(&mut self, offset: u32, line: &[u8; PUSH_BYTES]) -> Result<()> {
        self.bus_mut().write_line(offset, line)
    }

    fn allocate_control(&mut self, bytes: usize, align_bytes: usize) -> Result<ControlMemory> {
        self.bus_mut().allocate_control(bytes, align_bytes)
    }

    fn release_control(&mut self, memory: ControlMemory) -> Result<()> {
        self.bus_mut().release_control(memory)
    }

    fn allocate(&mut self, kind: MemoryKind, bytes: usize, align: usize) -> Result<DmaMemory> {
        self.bus_mut().allocate(kind, bytes, align)
    }

    fn map(&mut self, range: &MemoryRange) -> Result<DmaMemory> {
        self.bus_mut().map(range)
    }

    fn release(&mut self, memory: DmaMemory) -> Result<()> {
        self.bus_mut().release(memory)
    }

    fn share(&self, memory: &DmaMemory) -> Result<MemoryRange> {
        self.bus().share(memory)
    }

    fn flush_address(&self, kind: MemoryKind) -> Option<u64> {
        self.bus().flush_address(kind)
    }

    fn take_faults(&mut self) -> Vec<DmaFault> {
        self.bus_mut().take_faults()
    }

    fn now(&self) -> Duration {
        self.bus().now()
    }

    fn advance(&mut self) -> Result<()> {
        self.bus_mut().advance()
    }

    fn enable_interrupt(&mut self, vector: u16) -> Result<()> {
        self.bus_mut().enable_interrupt(vector)
    }

    fn interrupt_fd(&self, vector: u16) -> Option<BorrowedFd<'_>> {
        self.bus().interrupt_fd(vector)
    }

    fn wait_interrupt(&mut self, limit: Duration) -> Result<Option<u16>> {
        self.bus_mut().wait_interrupt(limit)
    }
}
