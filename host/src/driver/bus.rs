//! The bus: registers and DMA memory of one card, real or simulated.
//!
//! ```text
//!   control stack ── read_register, write_register ──►┌──────┐
//!   control stack ── ControlMemory ─────────────────► │ Bus  │ ◄── DMA of the card
//!   application   ── share, then a mapping ─────────► └──────┘
//! ```
//! Control memory (rings, slow buffers) belongs to the control stack, which reads and writes it in
//! place ([`ControlMemory`]): the bus is no longer asked. Application memory holds payload:
//! [`Bus::share`] returns its pages, the application maps them for itself, and the control stack
//! keeps them closed ([`crate::memory`]). Memory that the application already has becomes the
//! card's by [`Bus::map`].

use std::os::fd::BorrowedFd;
use std::time::Duration;

use abi::config::{PAGE_BITS_MAX, PAGE_BITS_MIN};
use abi::registers::PUSH_BYTES;
use thiserror::Error;

use super::control_memory::ControlMemory;
use crate::memory::{MemoryError, MemoryRange};

/// Result of a bus call.
pub type Result<T> = std::result::Result<T, BusError>;

/// An error of the bus.
#[derive(Debug, Error)]
pub enum BusError {
    /// An offset outside BAR 0, or not aligned to the access: 4 bytes, or 64 for a line.
    #[error("register offset {0:#x} is outside BAR 0 or not a multiple of 4 (64 for a line)")]
    BadOffset(u32),
    /// A register read returned no data: the card was removed or the link is down.
    #[error("register {0:#x} returned no data")]
    NoAnswer(u32),
    /// Memory that was not allocated or mapped for an application.
    #[error("{bytes} bytes at {address:#x} are no application memory of this bus")]
    BadAddress {
        /// First byte.
        address: u64,
        /// Length.
        bytes: usize,
    },
    /// No free memory of that size.
    #[error("{bytes} bytes of DMA memory are not available")]
    NoMemory {
        /// Bytes requested.
        bytes: usize,
    },
    /// Memory that cannot be mapped for the card.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The device behind the bus failed.
    #[error("device: {0}")]
    Device(String),
}

/// log2 of the smallest page of the card that holds `bytes` bytes, or of its largest page.
pub const fn page_bits(bytes: u64) -> usize {
    let bits = (u64::BITS - bytes.saturating_sub(1).leading_zeros()) as usize;
    if bits < PAGE_BITS_MIN {
        PAGE_BITS_MIN
    } else if bits > PAGE_BITS_MAX {
        PAGE_BITS_MAX
    } else {
        bits
    }
}

/// Kind of application memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryKind {
    /// Host DRAM.
    Application,
    /// GPU memory, behind the GPU's BAR.
    Gpu,
}

impl MemoryKind {
    /// Memory number in the contract: 0 is host DRAM; writes to any other memory are flushed before
    /// their header entry is published.
    pub const fn number(self) -> u8 {
        match self {
            MemoryKind::Application => 0,
            MemoryKind::Gpu => 1,
        }
    }
}

/// A piece of application memory, contiguous on the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DmaMemory {
    /// Bus address of the first byte.
    pub address: u64,
    /// Length in bytes.
    pub bytes: usize,
    /// Kind of the memory.
    pub kind: MemoryKind,
}

/// A posted write of the card that the host refused (IOMMU fault).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DmaFault {
    /// Bus address of the write.
    pub address: u64,
}

/// Registers, DMA memory and faults of one card.
pub trait Bus {
    /// Reads a 32-bit register of BAR 0.
    fn read_register(&mut self, offset: u32) -> Result<u32>;

    /// Writes a 32-bit register of BAR 0. The write is posted: it may take effect later, but before
    /// any later read. It is a release: what the caller stored to control memory before is visible
    /// to the card when the write arrives. Where stores may pass stores (not on x86), and where
    /// control memory is not coherent, the bus has the barrier.
    fn write_register(&mut self, offset: u32, value: u32) -> Result<()>;

    /// Whether [`Bus::write_line`] makes one request of 64 bytes. A BAR that is mapped uncached
    /// needs a store of 64 bytes for it (MOVDIR64B). Without one the card would throw the halves
    /// away, so the driver never calls `write_line`.
    fn writes_lines(&self) -> bool {
        false
    }

    /// Writes 64 bytes of BAR 0, at a multiple of 64, as one request. The write is posted, in order
    /// with register writes.
    fn write_line(&mut self, offset: u32, _line: &[u8; PUSH_BYTES]) -> Result<()> {
        Err(BusError::BadOffset(offset))
    }

    /// Allocates `bytes` of zeroed control memory, contiguous on the bus, at a multiple of
    /// `align_bytes` (a power of two of at least 4,096).
    fn allocate_control(&mut self, bytes: usize, align_bytes: usize) -> Result<ControlMemory>;

    /// Takes control memory from the card, which must no longer access it. The pages live as long
    /// as a clone of it.
    fn release_control(&mut self, memory: ControlMemory) -> Result<()>;

    /// Allocates `bytes` of zeroed application memory, contiguous on the bus, at a multiple of
    /// `align_bytes` (a power of two of at least 4,096).
    fn allocate(&mut self, kind: MemoryKind, bytes: usize, align_bytes: usize)
        -> Result<DmaMemory>;

    /// Allocates memory for a region of the card: at a multiple of the page that holds all of it,
    /// so that the region takes one page entry, and of a smaller page where the bus has no such
    /// place. Regions above the largest page take one entry for each.
    fn allocate_region(&mut self, kind: MemoryKind, bytes: usize) -> Result<DmaMemory> {
        let mut align_bits = page_bits(bytes as u64);
        loop {
            match self.allocate(kind, bytes, 1 << align_bits) {
                Err(BusError::NoMemory { .. }) if align_bits > PAGE_BITS_MIN => align_bits -= 1,
                result => return result,
            }
        }
    }

    /// Maps memory that a program has, whole pages, for the card: the same pages, nothing is
    /// copied. A bus maps them by [`MemoryRange::map_device`], which it keeps until the release,
    /// and refuses a kind of memory that it cannot map, with the reason. The address is a multiple
    /// of the card's page that holds all of it, where the bus has such a place.
    fn map(&mut self, range: &MemoryRange) -> Result<DmaMemory>;

    /// Releases application memory that was allocated or mapped. The card must no longer access
    /// it.
    fn release(&mut self, memory: DmaMemory) -> Result<()>;

    /// The pages of application memory, to be mapped.
    fn share(&self, memory: &DmaMemory) -> Result<MemoryRange>;

    /// The address for flush reads of a memory kind, if that kind needs them.
    fn flush_address(&self, kind: MemoryKind) -> Option<u64>;

    /// Posted writes refused since the last call. A real bus learns of none (decision 13).
    fn take_faults(&mut self) -> Vec<DmaFault> {
        Vec::new()
    }

    /// Time of the card, from any moment on; it never goes back. All limits of the driver are
    /// counted by it, whatever a poll takes: a real card's is the system's, a simulated one's
    /// passes with [`Bus::advance`].
    fn now(&self) -> Duration;

    /// Advances a simulated card; does nothing for a real one.
    fn advance(&mut self) -> Result<()>;

    /// Enables an interrupt vector.
    fn enable_interrupt(&mut self, vector: u16) -> Result<()>;

    /// The event descriptor of an enabled interrupt vector, which becomes readable when it fires
    /// and holds a count of 8 bytes; `None` where the bus has none, as in simulated time.
    fn interrupt_fd(&self, _vector: u16) -> Option<BorrowedFd<'_>> {
        None
    }

    /// Waits for an interrupt, at most for `limit` of the card's time, and returns its vector. A
    /// bus without interrupts returns `None` at once.
    fn wait_interrupt(&mut self, limit: Duration) -> Result<Option<u16>>;
}
