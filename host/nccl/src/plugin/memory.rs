//! Memory that NCCL registers.
//!
//! ```text
//!   any address ── rounded to pages ─► AddressRange ─┐
//!   dma-buf (tests: a sealed memfd) ─► MemoryFile ───┴─► region of the card
//! ```
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::sync::Arc;

use host::driver::bus::MemoryKind;
use host::memory::{AddressRange, MemoryFile, MemoryRange, PAGE_BYTES};
use host::provider::RegionId;

use crate::abi::{POINTER_CUDA, POINTER_HOST};
use crate::engine::{Engine, Job};
use crate::error::{PluginError, Result};

/// A registration, for every communicator of its device.
pub struct Registration {
    engine: Arc<Engine>,
    region: RegionId,
    /// The address of its first byte, as NCCL names it.
    start: usize,
    bytes: usize,
}

impl Registration {
    /// Registers memory at an address, which NCCL keeps mapped until it deregisters it.
    ///
    /// # Safety
    /// The bytes stay mapped, and are reached through pointers alone, as long as they are
    /// registered.
    pub unsafe fn of_address(
        engine: &Arc<Engine>,
        address: usize,
        bytes: usize,
        kind: i32,
    ) -> Result<Self> {
        if kind != POINTER_HOST {
            return Err(PluginError::MemoryKind(kind));
        }
        let not_registered = PluginError::not_registered(address, bytes);
        let start = address / PAGE_BYTES * PAGE_BYTES;
        let end = address.saturating_add(bytes).div_ceil(PAGE_BYTES).saturating_mul(PAGE_BYTES);
        // SAFETY: mapped pages are mapped whole, and the caller vouches for the bytes.
        let range = unsafe { AddressRange::new(start as *mut u8, end - start, Arc::new(())) };
        let range = range.map_err(not_registered)?;
        Self::of_range(engine, (address, bytes), start, MemoryKind::Application, range.into())
    }

    /// Registers a dma-buf: of tests, where a sealed memfd stands for it, whose file position says
    /// where in it the memory begins, as a real one begins with its memory.
    pub fn of_dma_buf(
        engine: &Arc<Engine>,
        (address, bytes): (usize, usize),
        kind: i32,
        offset: u64,
        descriptor: BorrowedFd<'_>,
    ) -> Result<Self> {
        if kind != POINTER_CUDA {
            return Err(PluginError::MemoryKind(kind));
        }
        let why = |why: String| PluginError::NotRegistered { address, bytes, why };
        let owned = descriptor.try_clone_to_owned().map_err(|error| why(error.to_string()))?;
        // SAFETY: the descriptor is open; the call takes no pointer.
        let begins = unsafe { libc::lseek(descriptor.as_raw_fd(), 0, libc::SEEK_CUR) };
        let begins =
            u64::try_from(begins).map_err(|_| why(io::Error::last_os_error().to_string()))?;
        let file = MemoryFile::adopt(owned).map_err(PluginError::not_registered(address, bytes))?;
        let at = begins.saturating_add(offset) as usize;
        let first = at / PAGE_BYTES * PAGE_BYTES;
        let end = at.saturating_add(bytes).div_ceil(PAGE_BYTES).saturating_mul(PAGE_BYTES);
        let range = file.range(first, end - first).map_err(|error| why(error.to_string()))?;
        // A golden card has no GPU to flush; the kind goes with the region all the same.
        Self::of_range(engine, (address, bytes), address - (at - first), MemoryKind::Gpu, range)
    }

    fn of_range(
        engine: &Arc<Engine>,
        (address, bytes): (usize, usize),
        start: usize,
        kind: MemoryKind,
        range: MemoryRange,
    ) -> Result<Self> {
        let held = range.bytes();
        let region = engine.ask(|reply| Job::Register(kind, range, reply))?;
        let why = |why| PluginError::NotRegistered { address, bytes, why };
        let region = region.map_err(why)?;
        Ok(Self { engine: Arc::clone(engine), region, start, bytes: held })
    }

    /// Where bytes lie in it.
    pub fn find(&self, address: usize, bytes: usize) -> Result<(RegionId, u64)> {
        let offset = address.wrapping_sub(self.start);
        let is_inside = offset.checked_add(bytes).is_some_and(|end| end <= self.bytes);
        let outside = PluginError::OutsideRegistration {
            address,
            bytes,
            start: self.start,
            held: self.bytes,
        };
        is_inside.then_some((self.region, offset as u64)).ok_or(outside)
    }

    /// Ends it. Returns when the card cannot reach the memory any more.
    pub fn end(self) -> Result<()> {
        let region = self.region;
        self.engine.ask(|reply| Job::Deregister(region, reply))
    }
}
