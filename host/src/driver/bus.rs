//! The bus: registers and DMA memory of one card, real or simulated.
//!
//! ```text
//!   control stack ── read_register, write_register ──►┌──────┐
//!   control stack ── read_memory, write_memory ─────► │ Bus  │ ◄── DMA of the card
//!   application   ── share, then a mapping ─────────► └──────┘
//! ```
//! Memory comes in two kinds. Control memory (rings, slow buffers) belongs to the control stack.
//! Application memory holds payload: [`Bus::share`] names its pages, the application maps them for
//! itself, and the control stack maps them without access ([`crate::memory`]).

use std::time::Duration;

use abi::registers::PUSH_BYTES;
use thiserror::Error;

use crate::memory::MemoryRange;

/// What a bus call may answer.
pub type Result<T> = std::result::Result<T, BusError>;

/// An error of the bus.
#[derive(Debug, Error)]
pub enum BusError {
    /// An offset outside BAR 0, or not a multiple of what is accessed: 4, or 64 for a line.
    #[error("register offset {0:#x} is outside BAR 0 or not a multiple of 4 (64 for a line)")]
    BadOffset(u32),
    /// A register read returned no data: the card is gone or the link is down.
    #[error("register {0:#x} does not answer")]
    NoAnswer(u32),
    /// A memory access outside what was allocated as that kind.
    #[error("{bytes} bytes at {address:#x} are not {kind} memory of this bus")]
    BadAddress {
        /// First byte.
        address: u64,
        /// Length.
        bytes: usize,
        /// The kind of memory that was asked for.
        kind: &'static str,
    },
    /// No memory of that size left.
    #[error("no {bytes} bytes of DMA memory left")]
    NoMemory {
        /// Bytes asked for.
        bytes: usize,
    },
    /// The device behind the bus failed.
    #[error("device: {0}")]
    Device(String),
}

/// Where memory lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryKind {
    /// Host DRAM of the control stack.
    Control,
    /// Host DRAM of an application.
    Application,
    /// GPU memory of an application, behind the GPU's BAR.
    Gpu,
}

impl MemoryKind {
    /// Number of the memory in the contract: 0 is host DRAM, others are flushed before publication.
    pub const fn number(self) -> u8 {
        match self {
            MemoryKind::Control | MemoryKind::Application => 0,
            MemoryKind::Gpu => 1,
        }
    }
}

/// A piece of DMA memory, contiguous on the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DmaMemory {
    /// Bus address of the first byte.
    pub address: u64,
    /// Length in bytes.
    pub bytes: usize,
    /// Where it lies.
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

    /// Writes a 32-bit register of BAR 0. Posted: it may take effect later, but before any later
    /// read.
    fn write_register(&mut self, offset: u32, value: u32) -> Result<()>;

    /// Writes 64 bytes of BAR 0, at a multiple of 64, as one request if the machine can: posted, in
    /// order with register writes.
    fn write_line(&mut self, offset: u32, line: &[u8; PUSH_BYTES]) -> Result<()>;

    /// Allocates `bytes` of zeroed memory, contiguous on the bus, at a multiple of `align_bytes`
    /// (a power of two of at least 4,096).
    fn allocate(&mut self, kind: MemoryKind, bytes: usize, align_bytes: usize)
        -> Result<DmaMemory>;

    /// Returns memory. The card must not access it any more.
    fn release(&mut self, memory: DmaMemory) -> Result<()>;

    /// Reads control memory: after every earlier call, in any order within one.
    fn read_memory(&mut self, address: u64, into: &mut [u8]) -> Result<()>;

    /// Writes control memory.
    fn write_memory(&mut self, address: u64, from: &[u8]) -> Result<()>;

    /// The pages of a piece of application memory, to be mapped.
    fn share(&self, memory: &DmaMemory) -> Result<MemoryRange>;

    /// The address that a flush read of the memory kind goes to, if it needs one.
    fn flush_address(&self, kind: MemoryKind) -> Option<u64>;

    /// Refused posted writes since the last call.
    fn take_faults(&mut self) -> Vec<DmaFault>;

    /// Lets the card work for a moment: a real device needs nothing, a simulated one runs.
    fn advance(&mut self) -> Result<()>;

    /// Lets the card write the message of an interrupt vector.
    fn enable_interrupt(&mut self, vector: u16) -> Result<()>;

    /// Waits for an interrupt, at most for `limit` of the card's time, and takes it; its vector. A
    /// bus without interrupts returns `None` at once.
    fn wait_interrupt(&mut self, limit: Duration) -> Result<Option<u16>>;
}
