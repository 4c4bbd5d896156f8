//! A bus between the host and its card that knows what passes, and may not do what it is asked to.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use abi::command as c;
use abi::config::{COMMAND_BYTES, METADATA_BYTES, SLOT_BYTES};
use abi::registers;
use abi::send_descriptor as d;
use host::driver::bus::{Bus, DmaFault, DmaMemory, MemoryKind, Result};
use host::memory::MemoryRange;

/// How the bus breaks a rule of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// Not at all.
    Nothing,
    /// 10: as if the control stack let the transport's window pass.
    WindowRaised,
    /// 13: as if the control stack did not look into the fault log.
    FaultsUnheard,
}

/// What passed.
#[derive(Debug, Default)]
pub struct Seen {
    /// Position behind the last receive segment.
    pub posted_end: Option<u32>,
    /// Memory of the application.
    pub application: Vec<DmaMemory>,
    /// Refused writes that the host was, or should have been, told of.
    pub faults: usize,
}

/// The bus. See the module's head.
pub struct Wrapped<B: Bus> {
    inner: B,
    wrong: Wrong,
    seen: Rc<RefCell<Seen>>,
}

impl<B: Bus> Wrapped<B> {
    /// Around a bus.
    pub fn new(inner: B, wrong: Wrong, seen: Rc<RefCell<Seen>>) -> Wrapped<B> {
        Wrapped { inner, wrong, seen }
    }

    fn note_command(&mut self, entry: &[u8]) {
        let is_post = c::OPCODE.get(entry) == u64::from(c::SEGMENT_POST);
        if is_post && c::DIRECTION.get(entry) == 0 {
            let position = c::SEGMENT_POSITION.get(entry) as u32;
            let end = position.wrapping_add(c::SEGMENT_BYTES.get(entry) as u32);
            self.seen.borrow_mut().posted_end = Some(end);
        }
    }
}

/// A descriptor that offers the largest window.
fn raised(slot: &[u8]) -> Vec<u8> {
    let mut slot = slot.to_vec();
    let l4 = d::L4_OFFSET.get(&slot) as usize;
    let has_tcp = d::L4_CHECKSUM.get(&slot) == 1 && d::UDP.get(&slot) == 0;
    if has_tcp && METADATA_BYTES + l4 + 16 <= slot.len() {
        let window = METADATA_BYTES + l4 + 14;
        slot[window..window + 2].fill(0xff);
    }
    slot
}

impl<B: Bus> Bus for Wrapped<B> {
    fn read_register(&mut self, offset: u32) -> Result<u32> {
        let value = self.inner.read_register(offset)?;
        // What is raised in the ring must not stand in a pushed copy too.
        Ok(match (self.wrong, offset) {
            (Wrong::WindowRaised, registers::FEATURES) => value & !registers::FEATURE_PUSH,
            _ => value,
        })
    }

    fn write_register(&mut self, offset: u32, value: u32) -> Result<()> {
        self.inner.write_register(offset, value)
    }

    fn write_line(&mut self, offset: u32, line: &[u8; registers::PUSH_BYTES]) -> Result<()> {
        self.inner.write_line(offset, line)
    }

    fn allocate(&mut self, kind: MemoryKind, bytes: usize, align: usize) -> Result<DmaMemory> {
        let memory = self.inner.allocate(kind, bytes, align)?;
        if kind != MemoryKind::Control {
            self.seen.borrow_mut().application.push(memory);
        }
        Ok(memory)
    }

    fn map(&mut self, range: &MemoryRange) -> Result<DmaMemory> {
        let memory = self.inner.map(range)?;
        self.seen.borrow_mut().application.push(memory);
        Ok(memory)
    }

    fn release(&mut self, memory: DmaMemory) -> Result<()> {
        self.inner.release(memory)
    }

    fn read_memory(&mut self, address: u64, into: &mut [u8]) -> Result<()> {
        self.inner.read_memory(address, into)
    }

    fn write_memory(&mut self, address: u64, from: &[u8]) -> Result<()> {
        match from.len() {
            COMMAND_BYTES => self.note_command(from),
            SLOT_BYTES if self.wrong == Wrong::WindowRaised => {
                return self.inner.write_memory(address, &raised(from));
            }
            _ => {}
        }
        self.inner.write_memory(address, from)
    }

    fn share(&self, memory: &DmaMemory) -> Result<MemoryRange> {
        self.inner.share(memory)
    }

    fn flush_address(&self, kind: MemoryKind) -> Option<u64> {
        self.inner.flush_address(kind)
    }

    fn take_faults(&mut self) -> Vec<DmaFault> {
        let faults = self.inner.take_faults();
        self.seen.borrow_mut().faults += faults.len();
        match self.wrong {
            Wrong::FaultsUnheard => Vec::new(),
            _ => faults,
        }
    }

    fn advance(&mut self) -> Result<()> {
        self.inner.advance()
    }

    fn enable_interrupt(&mut self, vector: u16) -> Result<()> {
        self.inner.enable_interrupt(vector)
    }

    fn wait_interrupt(&mut self, limit: Duration) -> Result<Option<u16>> {
        self.inner.wait_interrupt(limit)
    }
}
