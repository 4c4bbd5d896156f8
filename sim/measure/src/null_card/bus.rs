//! The null card as a bus: a register write is a store.

use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use abi::registers::{self as r, PUSH_BYTES};
use abi::ABI_VERSION;
use host::driver::bus::{Bus, BusError, DmaFault, DmaMemory, MemoryKind, Result};
use host::driver::control_memory::ControlMemory;
use host::memory::{MemoryFile, MemoryRange};

use super::shared::{address_of, piece_at, Piece, Setting, Shared, DOORBELLS};

/// The host's side of a null card.
pub struct NullBus {
    shared: Arc<Shared>,
    /// Memory by number: the pages of an application's, nothing for control memory.
    pieces: Vec<Option<MemoryRange>>,
    rung: [u64; DOORBELLS],
    begun: Instant,
}

fn device(error: std::io::Error) -> BusError {
    BusError::Device(error.to_string())
}

/// New memory.
fn pages(bytes: usize) -> Result<MemoryRange> {
    if u32::try_from(bytes).is_err() {
        return Err(BusError::NoMemory { bytes });
    }
    let file = MemoryFile::new(bytes).map_err(device)?;
    file.range(0, bytes).map_err(device)
}

impl NullBus {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self { shared, pieces: Vec::new(), rung: [0; DOORBELLS], begun: Instant::now() }
    }

    /// How often the doorbell at an offset of an owner's page was rung, of all owners.
    pub fn rung(&self, doorbell: u32) -> u64 {
        self.rung.get(doorbell as usize / 4).copied().unwrap_or(0)
    }

    /// How often any was.
    pub fn rung_all(&self) -> u64 {
        self.rung.iter().sum()
    }

    /// Memory of an application at an address of its own.
    fn add(&mut self, kind: MemoryKind, range: MemoryRange) -> Result<DmaMemory> {
        let (address, bytes) = (address_of(self.pieces.len()), range.bytes());
        let there = match self.shared.has_payload {
            true => Piece::Application(range.map()?),
            false => {
                // It is mapped once for its kind's sake: what cannot be is refused here, too.
                range.map_device()?;
                Piece::Untouched
            }
        };
        self.shared.set(Setting::Memory(there));
        self.pieces.push(Some(range));
        Ok(DmaMemory { address, bytes, kind })
    }
}

impl Bus for NullBus {
    fn read_register(&mut self, offset: u32) -> Result<u32> {
        let c = &self.shared.config;
        let word = |sizes: [usize; 4]| {
            let bytes = sizes.map(|size| size as u8);
            u32::from_le_bytes(bytes)
        };
        Ok(match offset {
            r::ID => r::ID_VALUE,
            r::VERSION => ABI_VERSION,
            r::SIZES_0 => word([c.flow_bits, c.bucket_bits, c.segment_bits, c.region_bits]),
            r::SIZES_1 => word([c.page_bits, c.owner_bits, 0, 0]),
            r::FEATURES => r::FEATURE_TSO | r::FEATURE_COALESCE,
            r::EPOCH => self.shared.epoch(),
            at if at >= r::DOORBELLS && at % r::DOORBELL_STRIDE == r::DOORBELL_STATUS => {
                self.shared.status(((at - r::DOORBELLS) / r::DOORBELL_STRIDE) as usize)
            }
            _ => 0,
        })
    }

    fn write_register(&mut self, offset: u32, value: u32) -> Result<()> {
        if let Some(at) = offset.checked_sub(r::DOORBELLS) {
            let owner = (at / r::DOORBELL_STRIDE) as usize;
            let doorbell = (at % r::DOORBELL_STRIDE / 4) as usize;
            self.shared.ring(owner, doorbell, value);
            if let Some(rung) = self.rung.get_mut(doorbell) {
                *rung += 1;
            }
            return Ok(());
        }
        if offset == r::CONTROL && value & r::CONTROL_RESET != 0 {
            self.shared.start_epoch();
        }
        let contexts = r::CONTEXTS..r::CONTEXTS + (r::CONTEXT_STRIDE << 8);
        if contexts.contains(&offset) && offset % r::CONTEXT_STRIDE == r::CONTEXT_ENABLE {
            let owner = (offset - r::CONTEXTS) / r::CONTEXT_STRIDE;
            self.shared.go_on(owner as usize);
            (0..DOORBELLS).for_each(|doorbell| self.shared.ring(owner as usize, doorbell, 0));
        }
        self.shared.set(Setting::Register(offset, value));
        Ok(())
    }

    /// It has no push window.
    fn write_line(&mut self, offset: u32, _line: &[u8; PUSH_BYTES]) -> Result<()> {
        Err(BusError::BadOffset(offset))
    }

    fn writes_lines(&self) -> bool {
        false
    }

    fn allocate_control(&mut self, bytes: usize, _align: usize) -> Result<ControlMemory> {
        let address = address_of(self.pieces.len());
        let memory = ControlMemory::new(address, &pages(bytes)?)?;
        self.shared.set(Setting::Memory(Piece::Control(memory.clone())));
        self.pieces.push(None);
        Ok(memory)
    }

    /// Nothing is used again: a card lives for one measurement.
    fn release_control(&mut self, _memory: ControlMemory) -> Result<()> {
        Ok(())
    }

    fn allocate(&mut self, kind: MemoryKind, bytes: usize, _align: usize) -> Result<DmaMemory> {
        self.add(kind, pages(bytes)?)
    }

    fn map(&mut self, range: &MemoryRange) -> Result<DmaMemory> {
        self.add(MemoryKind::Application, range.clone())
    }

    /// As [`NullBus::release_control`].
    fn release(&mut self, _memory: DmaMemory) -> Result<()> {
        Ok(())
    }

    fn share(&self, memory: &DmaMemory) -> Result<MemoryRange> {
        match self.pieces.get(piece_at(memory.address).0) {
            Some(Some(range)) => Ok(range.clone()),
            _ => Err(BusError::BadAddress { address: memory.address, bytes: memory.bytes }),
        }
    }

    fn flush_address(&self, _kind: MemoryKind) -> Option<u64> {
        None
    }

    fn take_faults(&mut self) -> Vec<DmaFault> {
        Vec::new()
    }

    fn now(&self) -> Duration {
        self.begun.elapsed()
    }

    /// The card advances by itself, or by [`super::NullCard::step`].
    fn advance(&mut self) -> Result<()> {
        Ok(())
    }

    fn enable_interrupt(&mut self, _vector: u16) -> Result<()> {
        Ok(())
    }

    fn interrupt_fd(&self, _vector: u16) -> Option<BorrowedFd<'_>> {
        None
    }

    fn wait_interrupt(&mut self, _limit: Duration) -> Result<Option<u16>> {
        Ok(None)
    }
}
