//! The golden card's bus, with header entries that the card never wrote.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use abi::config::SLOT_BYTES;
use abi::{header_entry, registers as r};
use host::driver::bus::{Bus, DmaFault, DmaMemory, MemoryKind, Result};
use host::memory::MemoryRange;
use sim::golden_card::GoldenBus;

/// Slots that are to be written.
pub type Slots = Rc<RefCell<VecDeque<[u8; SLOT_BYTES]>>>;

/// The bus. See the head of this file.
pub struct LyingBus {
    inner: GoldenBus,
    slots: Slots,
    base: [u32; 2],
    bits: u32,
    consumed: u32,
}

impl LyingBus {
    /// Writes `slots`, one in each [`Bus::advance`], behind what the host has taken.
    pub fn new(inner: GoldenBus, slots: Slots) -> Self {
        Self {
            inner,
            slots,
            base: [0; 2],
            bits: 0,
            consumed: 0,
        }
    }

    fn lie(&mut self, mut slot: [u8; SLOT_BYTES]) -> Result<()> {
        let phase = u64::from((self.consumed >> self.bits) & 1 == 0);
        header_entry::PHASE.set(&mut slot, phase);
        let base = u64::from(self.base[1]) << 32 | u64::from(self.base[0]);
        let index = u64::from(self.consumed & ((1 << self.bits) - 1));
        self.inner
            .write_memory(base + index * SLOT_BYTES as u64, &slot)
    }
}

impl Bus for LyingBus {
    fn read_register(&mut self, offset: u32) -> Result<u32> {
        self.inner.read_register(offset)
    }

    fn write_register(&mut self, offset: u32, value: u32) -> Result<()> {
        match offset {
            at if at == r::CONTEXTS + r::CONTEXT_HEADER_BASE => self.base[0] = value,
            at if at == r::CONTEXTS + r::CONTEXT_HEADER_BASE + 4 => self.base[1] = value,
            at if at == r::CONTEXTS + r::CONTEXT_SIZES => self.bits = value >> 16 & 0xff,
            at if at == r::DOORBELLS + r::DOORBELL_HEADER => self.consumed = value,
            _ => {}
        }
        self.inner.write_register(offset, value)
    }

    fn write_line(&mut self, offset: u32, line: &[u8; r::PUSH_BYTES]) -> Result<()> {
        self.inner.write_line(offset, line)
    }

    fn allocate(&mut self, kind: MemoryKind, bytes: usize, align: usize) -> Result<DmaMemory> {
        self.inner.allocate(kind, bytes, align)
    }

    fn map(&mut self, range: &MemoryRange) -> Result<DmaMemory> {
        self.inner.map(range)
    }

    fn release(&mut self, memory: DmaMemory) -> Result<()> {
        self.inner.release(memory)
    }

    fn read_memory(&mut self, address: u64, into: &mut [u8]) -> Result<()> {
        self.inner.read_memory(address, into)
    }

    fn write_memory(&mut self, address: u64, from: &[u8]) -> Result<()> {
        self.inner.write_memory(address, from)
    }

    fn share(&self, memory: &DmaMemory) -> Result<MemoryRange> {
        self.inner.share(memory)
    }

    fn flush_address(&self, kind: MemoryKind) -> Option<u64> {
        self.inner.flush_address(kind)
    }

    fn take_faults(&mut self) -> Vec<DmaFault> {
        self.inner.take_faults()
    }

    fn advance(&mut self) -> Result<()> {
        let next = self.slots.borrow_mut().pop_front();
        match next {
            Some(slot) => self.lie(slot),
            None => self.inner.advance(),
        }
    }

    fn enable_interrupt(&mut self, vector: u16) -> Result<()> {
        self.inner.enable_interrupt(vector)
    }

    fn wait_interrupt(&mut self, limit: Duration) -> Result<Option<u16>> {
        self.inner.wait_interrupt(limit)
    }
}
