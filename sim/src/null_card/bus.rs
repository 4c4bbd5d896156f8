//! The null card as a bus: a register write is a store, a memory access a copy.

use std::sync::Arc;
use std::time::Duration;

use abi::registers::{self as r, PUSH_BYTES};
use abi::ABI_VERSION;
use host::driver::bus::{Bus, BusError, DmaFault, DmaMemory, MemoryKind, Result};
use host::memory::{ApplicationMapping, MemoryFile, MemoryRange};

use super::shared::{address_of, piece_at, Setting, Shared, DOORBELLS};

/// One allocated piece of memory.
struct Piece {
    kind: MemoryKind,
    range: MemoryRange,
    /// The host's mapping; `None` for memory of an application.
    bytes: Option<ApplicationMapping>,
}

/// The host's side of a null card.
pub struct NullBus {
    shared: Arc<Shared>,
    pieces: Vec<Piece>,
}

fn device(error: std::io::Error) -> BusError {
    BusError::Device(error.to_string())
}

fn bad_address(address: u64, bytes: usize, kind: &'static str) -> BusError {
    BusError::BadAddress {
        address,
        bytes,
        kind,
    }
}

impl NullBus {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self {
            shared,
            pieces: Vec::new(),
        }
    }

    /// Control memory and the offset in it.
    fn control(&mut self, address: u64, bytes: usize) -> Result<(&mut ApplicationMapping, usize)> {
        let (piece, offset) = piece_at(address);
        let piece = self.pieces.get_mut(piece);
        let memory = piece.and_then(|piece| piece.bytes.as_mut());
        match memory {
            Some(memory) if offset + bytes <= memory.bytes() => Ok((memory, offset)),
            _ => Err(bad_address(address, bytes, "control")),
        }
    }

    /// One more piece of memory, at an address of its own.
    fn add(&mut self, kind: MemoryKind, range: MemoryRange) -> Result<DmaMemory> {
        let bytes = range.bytes();
        if u32::try_from(bytes).is_err() {
            return Err(BusError::NoMemory { bytes });
        }
        let map = || match kind {
            MemoryKind::Control => range.map().map(Some).map_err(device),
            _ => Ok(None),
        };
        let address = address_of(self.pieces.len());
        self.shared.set(Setting::Memory(map()?));
        let bytes_here = map()?;
        self.pieces.push(Piece {
            kind,
            range,
            bytes: bytes_here,
        });
        Ok(DmaMemory {
            address,
            bytes,
            kind,
        })
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
            r::FEATURES => r::FEATURE_TSO,
            r::EPOCH => self.shared.epoch(),
            _ => 0,
        })
    }

    fn write_register(&mut self, offset: u32, value: u32) -> Result<()> {
        if let Some(at) = offset.checked_sub(r::DOORBELLS) {
            let owner = (at / r::DOORBELL_STRIDE) as usize;
            let doorbell = (at % r::DOORBELL_STRIDE / 4) as usize;
            self.shared.ring(owner, doorbell, value);
            return Ok(());
        }
        if offset == r::CONTROL && value & r::CONTROL_RESET != 0 {
            self.shared.start_epoch();
        }
        let contexts = r::CONTEXTS..r::CONTEXTS + (r::CONTEXT_STRIDE << 8);
        if contexts.contains(&offset) && offset % r::CONTEXT_STRIDE == r::CONTEXT_ENABLE {
            let owner = (offset - r::CONTEXTS) / r::CONTEXT_STRIDE;
            (0..DOORBELLS).for_each(|doorbell| self.shared.ring(owner as usize, doorbell, 0));
        }
        self.shared.set(Setting::Register(offset, value));
        Ok(())
    }

    /// It has no push window.
    fn write_line(&mut self, offset: u32, _line: &[u8; PUSH_BYTES]) -> Result<()> {
        Err(BusError::BadOffset(offset))
    }

    fn allocate(&mut self, kind: MemoryKind, bytes: usize, _align: usize) -> Result<DmaMemory> {
        let file = MemoryFile::new(bytes).map_err(device)?;
        self.add(kind, file.range(0, bytes).map_err(device)?)
    }

    fn map(&mut self, range: &MemoryRange) -> Result<DmaMemory> {
        self.add(MemoryKind::Application, range.clone())
    }

    /// Nothing is used again: a card lives for one measurement.
    fn release(&mut self, _memory: DmaMemory) -> Result<()> {
        Ok(())
    }

    fn read_memory(&mut self, address: u64, into: &mut [u8]) -> Result<()> {
        let (memory, offset) = self.control(address, into.len())?;
        memory.read(offset, into);
        Ok(())
    }

    fn write_memory(&mut self, address: u64, from: &[u8]) -> Result<()> {
        let (memory, offset) = self.control(address, from.len())?;
        memory.write(offset, from);
        Ok(())
    }

    fn share(&self, memory: &DmaMemory) -> Result<MemoryRange> {
        match self.pieces.get(piece_at(memory.address).0) {
            Some(Piece { kind, range, .. }) if *kind != MemoryKind::Control => Ok(range.clone()),
            _ => Err(bad_address(memory.address, memory.bytes, "application")),
        }
    }

    fn flush_address(&self, _kind: MemoryKind) -> Option<u64> {
        None
    }

    fn take_faults(&mut self) -> Vec<DmaFault> {
        Vec::new()
    }

    /// The card advances by itself, or by [`super::NullCard::step`].
    fn advance(&mut self) -> Result<()> {
        Ok(())
    }

    fn enable_interrupt(&mut self, _vector: u16) -> Result<()> {
        Ok(())
    }

    fn wait_interrupt(&mut self, _limit: Duration) -> Result<Option<u16>> {
        Ok(None)
    }
}
