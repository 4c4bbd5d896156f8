//! Memories that the bus can reach: host DRAM, GPU memories, each behind a resizable BAR, and pages
//! of host DRAM that programs have brought.
//!
//! ```text
//!   bus address --IOMMU--> (MemoryId, offset) --> Dram | Gpu(n) | Pages(n)
//! ```
//!
//! Invariants: nothing is written beyond the size; GPU memory beyond the BAR's present size cannot
//! be reached from the bus. Errors: [`MemoryError`].

use crate::config::GpuConfig;
use crate::tlp::Request;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fmt;
use thiserror::Error;

/// Which memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MemoryId {
    /// Host DRAM.
    Dram,
    /// Memory of the GPU with this number.
    Gpu(usize),
    /// Pages of host DRAM with this number, which a program has brought.
    Pages(usize),
}

/// An access outside the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum MemoryError {
    /// No GPU with this number.
    #[error("there is no gpu {0}")]
    NoGpu(usize),
    /// No pages with this number, or no longer.
    #[error("there are no pages {0}")]
    NoPages(usize),
    /// The range exceeds the memory.
    #[error("{bytes} bytes at offset {offset:#x} exceed the memory")]
    OutOfRange {
        /// First byte.
        offset: u64,
        /// Length.
        bytes: u64,
    },
    /// A BAR size that is not a power of two or exceeds the memory.
    #[error("bar size {0} is not a power of two within the memory")]
    BarSize(u64),
    /// The allocator has no such hole left.
    #[error("no {0} bytes left to allocate")]
    Exhausted(u64),
}

/// The bytes of a memory: a vector, or pages that others map as well, which is why they are copied
/// and not borrowed. An access beyond the end panics.
pub trait Bytes {
    /// Number of bytes.
    fn size(&self) -> usize;

    /// Copies out.
    fn read(&self, offset: usize, into: &mut [u8]);

    /// Copies in.
    fn write(&mut self, offset: usize, from: &[u8]);
}

impl Bytes for Vec<u8> {
    fn size(&self) -> usize {
        self.len()
    }

    fn read(&self, offset: usize, into: &mut [u8]) {
        into.copy_from_slice(&self[offset..offset + into.len()]);
    }

    fn write(&mut self, offset: usize, from: &[u8]) {
        self[offset..offset + from.len()].copy_from_slice(from);
    }
}

/// The bytes of a memory, of any kind.
pub type MemoryBytes = Box<dyn Bytes>;

/// One memory and the part of it that the bus can reach.
struct Bank {
    bytes: MemoryBytes,
    reachable: u64,
}

impl fmt::Debug for Bank {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (bytes, reachable) = (self.bytes.size(), self.reachable);
        write!(formatter, "{reachable} of {bytes} bytes")
    }
}

/// All memories.
#[derive(Debug)]
pub struct Memories {
    dram: Bank,
    gpus: Vec<Bank>,
    /// Pages that programs have brought. Their numbers are not used again: a read that is late
    /// finds nothing.
    pages: BTreeMap<usize, Bank>,
    pages_next: usize,
    /// Allocated parts of the DRAM: offset and length.
    allocated: BTreeMap<u64, u64>,
}

impl Memories {
    /// Memories of the configured sizes, with the bytes that `bytes` provides.
    pub fn new<E>(
        dram_bytes: usize,
        gpus: &[GpuConfig],
        bytes: &mut dyn FnMut(MemoryId, usize) -> Result<MemoryBytes, E>,
    ) -> Result<Self, E> {
        let mut bank = |memory, size, reachable| -> Result<Bank, E> {
            let bytes = bytes(memory, size)?;
            assert_eq!(bytes.size(), size, "bytes of {memory:?}");
            Ok(Bank { bytes, reachable })
        };
        let dram = bank(MemoryId::Dram, dram_bytes, dram_bytes as u64)?;
        let gpus = gpus.iter().enumerate();
        let gpus = gpus.map(|(n, gpu)| bank(MemoryId::Gpu(n), gpu.memory_bytes, gpu.bar_bytes));
        Ok(Self {
            dram,
            gpus: gpus.collect::<Result<_, E>>()?,
            pages: BTreeMap::new(),
            pages_next: 0,
            allocated: BTreeMap::new(),
        })
    }

    /// Zeroed memories of the configured sizes.
    pub fn zeroed(dram_bytes: usize, gpus: &[GpuConfig]) -> Self {
        let mut zeros = |_, size| Ok::<_, Infallible>(Box::new(vec![0u8; size]) as MemoryBytes);
        match Self::new(dram_bytes, gpus, &mut zeros) {
            Ok(memories) => memories,
            Err(never) => match never {},
        }
    }

    fn bank(&self, memory: MemoryId) -> Result<&Bank, MemoryError> {
        match memory {
            MemoryId::Dram => Ok(&self.dram),
            MemoryId::Gpu(gpu) => self.gpus.get(gpu).ok_or(MemoryError::NoGpu(gpu)),
            MemoryId::Pages(number) => {
                let bank = self.pages.get(&number);
                bank.ok_or(MemoryError::NoPages(number))
            }
        }
    }

    fn bank_mut(&mut self, memory: MemoryId) -> Result<&mut Bank, MemoryError> {
        match memory {
            MemoryId::Dram => Ok(&mut self.dram),
            MemoryId::Gpu(gpu) => self.gpus.get_mut(gpu).ok_or(MemoryError::NoGpu(gpu)),
            MemoryId::Pages(number) => {
                let bank = self.pages.get_mut(&number);
                bank.ok_or(MemoryError::NoPages(number))
            }
        }
    }

    /// Adds pages that a program has brought.
    pub fn attach(&mut self, bytes: MemoryBytes) -> MemoryId {
        let number = self.pages_next;
        self.pages_next += 1;
        let reachable = bytes.size() as u64;
        self.pages.insert(number, Bank { bytes, reachable });
        MemoryId::Pages(number)
    }

    /// Gives back what [`Memories::attach`] added.
    pub fn detach(&mut self, memory: MemoryId) {
        if let MemoryId::Pages(number) = memory {
            self.pages.remove(&number);
        }
    }

    /// Copies the visible content of a memory.
    pub fn read(&self, memory: MemoryId, offset: u64, into: &mut [u8]) -> Result<(), MemoryError> {
        let bank = self.bank(memory)?;
        let range = range_of(offset, into.len() as u64, bank.bytes.size() as u64)?;
        bank.bytes.read(range.start, into);
        Ok(())
    }

    /// Writes into a memory from its own side (CPU or GPU), visible at once.
    pub fn write(&mut self, memory: MemoryId, offset: u64, from: &[u8]) -> Result<(), MemoryError> {
        let bank = self.bank_mut(memory)?;
        let range = range_of(offset, from.len() as u64, bank.bytes.size() as u64)?;
        bank.bytes.write(range.start, from);
        Ok(())
    }

    /// Checks that the bus can reach `bytes` bytes from `offset`.
    pub fn reachable(&self, memory: MemoryId, offset: u64, bytes: u64) -> Result<(), MemoryError> {
        range_of(offset, bytes, self.bank(memory)?.reachable).map(|_| ())
    }

    /// Changes the size of a GPU's BAR.
    pub fn resize_bar(&mut self, gpu: usize, bytes: u64) -> Result<(), MemoryError> {
        let bank = self.bank_mut(MemoryId::Gpu(gpu))?;
        if !bytes.is_power_of_two() || bytes > bank.bytes.size() as u64 {
            return Err(MemoryError::BarSize(bytes));
        }
        bank.reachable = bytes;
        Ok(())
    }

    /// Takes the first `bytes` bytes of DRAM that are unused, aligned to `align`.
    pub fn allocate(&mut self, bytes: u64, align: u64) -> Result<u64, MemoryError> {
        let mut offset = 0;
        for (start, length) in &self.allocated {
            if *start >= offset + bytes {
                break;
            }
            offset = (start + length).next_multiple_of(align.max(1));
        }
        range_of(offset, bytes, self.dram.bytes.size() as u64)
            .map_err(|_| MemoryError::Exhausted(bytes))?;
        self.allocated.insert(offset, bytes);
        Ok(offset)
    }

    /// Length of the allocation that starts at `offset`.
    pub fn allocated_bytes(&self, offset: u64) -> Option<u64> {
        self.allocated.get(&offset).copied()
    }

    /// Releases an allocation.
    pub fn free(&mut self, offset: u64) {
        self.allocated.remove(&offset);
    }

    /// Carries out a posted write under its byte enables; `offset` is that of its first dword.
    pub(crate) fn commit(&mut self, memory: MemoryId, offset: u64, request: &Request) {
        let Ok(bank) = self.bank_mut(memory) else { return };
        // Bytes in a row are written at once.
        let mut row = Vec::with_capacity(4 * request.payload.len());
        let mut next = offset as usize;
        for (i, dword) in request.payload.iter().enumerate() {
            let enables = request.enables_of(i);
            for (lane, byte) in dword.to_le_bytes().into_iter().enumerate() {
                if enables & (1 << lane) != 0 {
                    row.push(byte);
                    continue;
                }
                bank.bytes.write(next, &row);
                next = offset as usize + 4 * i + lane + 1;
                row.clear();
            }
        }
        bank.bytes.write(next, &row);
    }

    /// Reads whole dwords; `offset` is dword aligned and within the memory.
    pub(crate) fn dwords(&self, memory: MemoryId, offset: u64, count: usize) -> Vec<u32> {
        let Ok(bank) = self.bank(memory) else { return vec![!0; count] };
        let mut bytes = vec![0; 4 * count];
        bank.bytes.read(offset as usize, &mut bytes);
        let dword = |b: &[u8]| u32::from_le_bytes([b[0], b[1], b[2], b[3]]);
        bytes.chunks_exact(4).map(dword).collect()
    }
}

fn range_of(offset: u64, bytes: u64, size: u64) -> Result<std::ops::Range<usize>, MemoryError> {
    match offset.checked_add(bytes) {
        Some(end) if end <= size => Ok(offset as usize..end as usize),
        _ => Err(MemoryError::OutOfRange { offset, bytes }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memories() -> Memories {
        Memories::zeroed(8192, &[GpuConfig { memory_bytes: 8192, bar_bytes: 4096 }])
    }

    #[test]
    fn commit_respects_byte_enables() {
        let mut memories = memories();
        memories.write(MemoryId::Dram, 0, &[0x11; 16]).unwrap();
        memories.commit(MemoryId::Dram, 0, &Request::write(3, &[1, 2, 3]));
        let mut seen = [0; 8];
        memories.read(MemoryId::Dram, 0, &mut seen).unwrap();
        assert_eq!(seen, [0x11, 0x11, 0x11, 1, 2, 3, 0x11, 0x11]);
    }

    #[test]
    fn bar_limits_bus_not_gpu() {
        let mut memories = memories();
        let gpu = MemoryId::Gpu(0);
        assert!(memories.write(gpu, 4096, &[1]).is_ok());
        let beyond = MemoryError::OutOfRange { offset: 4096, bytes: 4 };
        assert_eq!(memories.reachable(gpu, 4096, 4), Err(beyond));
        memories.resize_bar(0, 8192).unwrap();
        assert_eq!(memories.reachable(gpu, 4096, 4), Ok(()));
        assert_eq!(memories.resize_bar(0, 16384), Err(MemoryError::BarSize(16384)));
        assert_eq!(memories.resize_bar(1, 4096), Err(MemoryError::NoGpu(1)));
    }

    #[test]
    fn allocation_ends_with_the_memory() {
        let mut memories = memories();
        assert_eq!(memories.allocate(10, 64), Ok(0));
        assert_eq!(memories.allocate(10, 64), Ok(64));
        assert_eq!(memories.allocate(8192, 64), Err(MemoryError::Exhausted(8192)));
        memories.free(0);
        assert_eq!(memories.allocate(65, 64), Ok(128));
        assert_eq!(memories.allocate(64, 64), Ok(0));
    }
}
