//! Memory that is passed on as a descriptor: for DMA, or for pages of a region.
//!
//! Invariants
//! 1. The file cannot shrink or grow: no mapping of it ever loses a page.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{fcntl_add_seals, ftruncate, memfd_create, MemfdFlags, SealFlags};
use rustix::io::Errno;

use crate::mapping::Mapping;

/// A file in memory, of a fixed length, full of zeros at first.
#[derive(Debug)]
pub struct SharedFile {
    file: OwnedFd,
    bytes: usize,
}

impl SharedFile {
    /// Makes one. Pages that nobody touches take no memory.
    pub fn new(bytes: usize) -> Result<Self, Errno> {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let file = memfd_create("vfio-user", flags)?;
        ftruncate(&file, bytes as u64)?;
        fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
        Ok(Self { file, bytes })
    }

    /// Length.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Maps all of it, to be read and written.
    pub fn map(&self) -> Result<Mapping, Errno> {
        Mapping::new(self.as_fd(), 0, self.bytes, true)
    }
}

impl AsFd for SharedFile {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

impl From<SharedFile> for OwnedFd {
    fn from(file: SharedFile) -> Self {
        file.file
    }
}
