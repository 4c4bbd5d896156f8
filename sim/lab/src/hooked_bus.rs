//! A bus between a host and its card that may do some things differently.
//!
//! ```text
//!   Device ── HookedBus ──┬─ hooks: what is noted, changed, refused
//!                         └─► the inner bus: everything else
//! ```
//! A hook that is not overridden passes its call on. Control memory is not reached through the bus:
//! a hook keeps a clone of what [`Hooks::note_control`] is shown, and changes it when the host next
//! calls, as a card would. [`OwnerRings`] finds the rings in it.

use std::os::fd::BorrowedFd;
use std::time::Duration;

use abi::config::{COMMAND_BYTES, SLOT_BYTES};
use abi::registers::{self as r, PUSH_BYTES};
use host::driver::bus::{Bus, DmaFault, DmaMemory, MemoryKind, Result};
use host::driver::control_memory::ControlMemory;
use host::memory::MemoryRange;

/// What is done with each call of the host. See [`Bus`] for the calls.
#[allow(missing_docs)]
pub trait Hooks<B: Bus> {
    fn read_register(&mut self, bus: &mut B, offset: u32) -> Result<u32> {
        bus.read_register(offset)
    }

    fn write_register(&mut self, bus: &mut B, offset: u32, value: u32) -> Result<()> {
        bus.write_register(offset, value)
    }

    fn writes_lines(&self, bus: &B) -> bool {
        bus.writes_lines()
    }

    fn write_line(&mut self, bus: &mut B, offset: u32, line: &[u8; PUSH_BYTES]) -> Result<()> {
        bus.write_line(offset, line)
    }

    /// Control memory is handed out to the host.
    fn note_control(&mut self, _memory: &ControlMemory) {}

    fn release_control(&mut self, bus: &mut B, memory: ControlMemory) -> Result<()> {
        bus.release_control(memory)
    }

    fn allocate_control(
        &mut self,
        bus: &mut B,
        bytes: usize,
        align: usize,
    ) -> Result<ControlMemory> {
        bus.allocate_control(bytes, align)
    }

    fn allocate(
        &mut self,
        bus: &mut B,
        kind: MemoryKind,
        bytes: usize,
        align: usize,
    ) -> Result<DmaMemory> {
        bus.allocate(kind, bytes, align)
    }

    fn map(&mut self, bus: &mut B, range: &MemoryRange) -> Result<DmaMemory> {
        bus.map(range)
    }

    fn release(&mut self, bus: &mut B, memory: DmaMemory) -> Result<()> {
        bus.release(memory)
    }

    fn take_faults(&mut self, bus: &mut B) -> Vec<DmaFault> {
        bus.take_faults()
    }

    fn advance(&mut self, bus: &mut B) -> Result<()> {
        bus.advance()
    }

    fn interrupt_fd<'a>(&'a self, bus: &'a B, vector: u16) -> Option<BorrowedFd<'a>> {
        bus.interrupt_fd(vector)
    }
}

/// The bus. See the head of this file.
pub struct HookedBus<B, H> {
    /// The bus that the calls go on to.
    pub inner: B,
    /// What is done differently.
    pub hooks: H,
}

impl<B: Bus, H: Hooks<B>> Bus for HookedBus<B, H> {
    fn read_register(&mut self, offset: u32) -> Result<u32> {
        self.hooks.read_register(&mut self.inner, offset)
    }

    fn write_register(&mut self, offset: u32, value: u32) -> Result<()> {
        self.hooks.write_register(&mut self.inner, offset, value)
    }

    fn writes_lines(&self) -> bool {
        self.hooks.writes_lines(&self.inner)
    }

    fn write_line(&mut self, offset: u32, line: &[u8; PUSH_BYTES]) -> Result<()> {
        self.hooks.write_line(&mut self.inner, offset, line)
    }

    fn allocate_control(&mut self, bytes: usize, align: usize) -> Result<ControlMemory> {
        let memory = self.hooks.allocate_control(&mut self.inner, bytes, align)?;
        self.hooks.note_control(&memory);
        Ok(memory)
    }

    fn release_control(&mut self, memory: ControlMemory) -> Result<()> {
        self.hooks.release_control(&mut self.inner, memory)
    }

    fn allocate(&mut self, kind: MemoryKind, bytes: usize, align: usize) -> Result<DmaMemory> {
        self.hooks.allocate(&mut self.inner, kind, bytes, align)
    }

    fn map(&mut self, range: &MemoryRange) -> Result<DmaMemory> {
        self.hooks.map(&mut self.inner, range)
    }

    fn release(&mut self, memory: DmaMemory) -> Result<()> {
        self.hooks.release(&mut self.inner, memory)
    }

    fn share(&self, memory: &DmaMemory) -> Result<MemoryRange> {
        self.inner.share(memory)
    }

    fn flush_address(&self, kind: MemoryKind) -> Option<u64> {
        self.inner.flush_address(kind)
    }

    fn take_faults(&mut self) -> Vec<DmaFault> {
        self.hooks.take_faults(&mut self.inner)
    }

    fn now(&self) -> Duration {
        self.inner.now()
    }

    fn advance(&mut self) -> Result<()> {
        self.hooks.advance(&mut self.inner)
    }

    fn enable_interrupt(&mut self, vector: u16) -> Result<()> {
        self.inner.enable_interrupt(vector)
    }

    fn interrupt_fd(&self, vector: u16) -> Option<BorrowedFd<'_>> {
        self.hooks.interrupt_fd(&self.inner, vector)
    }

    fn wait_interrupt(&mut self, limit: Duration) -> Result<Option<u16>> {
        self.inner.wait_interrupt(limit)
    }
}

/// Where an entry of a ring is: memory, and offset in it.
pub type Place = (ControlMemory, usize);

/// The rings of one owner, as a bus learns of them: from the control memory that it hands out, and
/// from the writes to the owner's context.
#[derive(Debug, Default)]
pub struct OwnerRings {
    owner: u8,
    context: [u32; 16],
    memories: Vec<ControlMemory>,
}

impl OwnerRings {
    /// Those of owner `owner`.
    pub fn of(owner: u8) -> Self {
        Self { owner, ..Self::default() }
    }

    /// The owner.
    pub fn owner(&self) -> u8 {
        self.owner
    }

    /// Notes control memory, of any owner.
    pub fn note_memory(&mut self, memory: &ControlMemory) {
        self.memories.push(memory.clone());
    }

    /// Notes a register write.
    pub fn note_register(&mut self, offset: u32, value: u32) {
        let context = r::CONTEXTS + u32::from(self.owner) * r::CONTEXT_STRIDE;
        let at = offset.wrapping_sub(context) as usize / 4;
        if let Some(word) = self.context.get_mut(at).filter(|_| offset >= context) {
            *word = value;
        }
    }

    /// Which of its doorbells an offset is.
    pub fn doorbell(&self, offset: u32) -> Option<u32> {
        let page = r::DOORBELLS + u32::from(self.owner) * r::DOORBELL_STRIDE;
        let at = offset.checked_sub(page)?;
        (at < r::DOORBELL_STRIDE).then_some(at)
    }

    /// log2 of a ring's entries: commands, sends, headers, slow buffers.
    fn bits(&self, ring: u32) -> u32 {
        self.context[r::CONTEXT_SIZES as usize / 4] >> (8 * ring) & 0xff
    }

    /// log2 of the slots of the header queue.
    pub fn header_bits(&self) -> u32 {
        self.bits(2)
    }

    fn entry(&self, base: u32, bits: u32, index: u32, entry_bytes: usize) -> Option<Place> {
        let at = base as usize / 4;
        let start = u64::from(self.context[at + 1]) << 32 | u64::from(self.context[at]);
        let memory = self.memories.iter().rev();
        let memory = memory.clone().find(|memory| memory.address() == start)?;
        let slot = (index & ((1 << bits) - 1)) as usize;
        Some((memory.clone(), slot * entry_bytes))
    }

    /// A command.
    pub fn command(&self, index: u32) -> Option<Place> {
        self.entry(r::CONTEXT_COMMAND_BASE, self.bits(0), index, COMMAND_BYTES)
    }

    /// A slot of the send ring.
    pub fn send_slot(&self, index: u32) -> Option<Place> {
        self.entry(r::CONTEXT_SEND_BASE, self.bits(1), index, SLOT_BYTES)
    }

    /// A slot of the header queue.
    pub fn header_slot(&self, index: u32) -> Option<Place> {
        self.entry(r::CONTEXT_HEADER_BASE, self.bits(2), index, SLOT_BYTES)
    }
}
