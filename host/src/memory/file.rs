//! Files of pages: memory that several sides map, each with rights of its own.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use rustix::fs::{
    fcntl_add_seals, fcntl_get_seals, ftruncate, memfd_create, MemfdFlags, SealFlags,
};

use super::error::{whole_pages, MemoryError, Result, PAGE_BYTES};
use super::pages::FileRange;
use super::range::MemoryRange;

/// An anonymous file (memfd), initially zero; pages are allocated when they are written.
#[derive(Clone, Debug)]
pub struct MemoryFile {
    descriptor: Arc<OwnedFd>,
    bytes: usize,
}

impl MemoryFile {
    /// A file of `bytes` bytes. It is sealed: nobody with a descriptor of it can shrink it under a
    /// mapping.
    pub fn new(bytes: usize) -> io::Result<Self> {
        let descriptor = memfd_create(c"zeronic", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
        ftruncate(&descriptor, bytes as u64)?;
        fcntl_add_seals(&descriptor, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
        Ok(Self { descriptor: Arc::new(descriptor), bytes })
    }

    /// A file that a program already has: a memfd of whole pages, sealed against shrinking
    /// (`F_SEAL_SHRINK`). What it grows by later is not part of it.
    pub fn adopt(descriptor: OwnedFd) -> Result<Self> {
        let seals = fcntl_get_seals(&descriptor).map_err(MemoryError::of("F_GET_SEALS"))?;
        if !seals.contains(SealFlags::SHRINK) {
            return Err(MemoryError::NotSealed { seals: seals.bits() as i32 });
        }
        // The length is read after the seal: it does not fall any more.
        let file = File::from(descriptor);
        let bytes = file.metadata().map_err(MemoryError::of("fstat"))?.len();
        Ok(Self { bytes: whole_pages(bytes)?, descriptor: Arc::new(file.into()) })
    }

    /// The range of `bytes` bytes from `offset`, a multiple of [`PAGE_BYTES`], to be mapped.
    pub fn range(&self, offset: usize, bytes: usize) -> io::Result<MemoryRange> {
        let fits = offset.checked_add(bytes).is_some_and(|end| end <= self.bytes);
        if bytes == 0 || !fits || !offset.is_multiple_of(PAGE_BYTES) {
            let all = self.bytes;
            let text = format!(
                "{bytes} bytes at {offset:#x} are no whole-page range of a file of {all} bytes"
            );
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        Ok(FileRange::new(Arc::clone(&self.descriptor), offset, bytes).into())
    }

    /// The whole file.
    pub fn all(&self) -> io::Result<MemoryRange> {
        self.range(0, self.bytes)
    }
}
