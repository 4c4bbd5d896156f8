//! Memory that the card reaches: pages that each side maps, or finds, for itself.
//!
//! ```text
//!   MemoryFile, sealed ────┐                 ┌─ DeviceMapping       the card's DMA
//!   memory of the program ─┼─► MemoryRange ──┼─ ApplicationMapping  the application's own
//!   dma-buf (refused) ─────┘                 ├─ GuardedMapping      the control stack's: closed
//!                                            └─ SharedMapping       rings: words of both sides
//! ```
//! The control stack needs an address for each application buffer, because deferred payload is
//! copied into it, but it must not touch payload by mistake. `GuardedMapping::open` shows it the
//! bytes of one range for the duration of one call, and only `provider/copier.rs` makes a guarded
//! mapping. That of a file is a mapping of its own without access rights, which the kernel opens
//! page by page. Memory that a program brings by address has one mapping alone, the program's:
//! there the type is the only guard.
//!
//! Nobody borrows bytes of such memory: client and card write them when they like. They are copied
//! in and out, by [`SharedBytes`].
//!
//! Invariants
//! 1. Outside of `GuardedMapping::open` an access through the guarded mapping of a file raises
//!    SIGSEGV, and a system call with such an address fails with EFAULT.
//! 2. No mapping extends beyond its range.
//! 3. Every file is sealed against shrinking, and who brings memory by address keeps it mapped: no
//!    page disappears under a mapping.
//! 4. No reference to the bytes of a range exists outside the program that brought it.
#![allow(unsafe_code)]

mod address;
mod bytes;
mod dma_buf;
mod error;
mod file;
mod mapping;
mod pages;
mod range;

pub use self::address::AddressRange;
pub use self::bytes::SharedBytes;
pub use self::dma_buf::DmaBuf;
pub use self::error::{MemoryError, Result, PAGE_BYTES};
pub use self::file::MemoryFile;
pub use self::mapping::{ApplicationMapping, DeviceMapping};
pub(crate) use self::mapping::{GuardedMapping, SharedMapping};
pub use self::pages::FileRange;
pub use self::range::MemoryRange;

#[cfg(test)]
mod tests;
