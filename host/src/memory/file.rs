//! Files of pages: memory that several sides map, each with rights of its own.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::Arc;

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
        // SAFETY: the name is a C string; the call has no other argument that is a pointer.
        let number = unsafe {
            libc::memfd_create(c"zeronic".as_ptr(), libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING)
        };
        if number < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the call succeeded, so `number` is a new descriptor that nobody else owns.
        let descriptor = unsafe { OwnedFd::from_raw_fd(number) };
        let length = libc::off_t::try_from(bytes).map_err(io::Error::other)?;
        // SAFETY: the descriptor is open; the call takes no pointer.
        if unsafe { libc::ftruncate(descriptor.as_raw_fd(), length) } < 0 {
            return Err(io::Error::last_os_error());
        }
        let seals = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL;
        // SAFETY: the descriptor is open; the call takes no pointer.
        if unsafe { libc::fcntl(descriptor.as_raw_fd(), libc::F_ADD_SEALS, seals) } < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(Self { descriptor: Arc::new(descriptor), bytes })
    }

    /// A file that a program already has: a memfd of whole pages, sealed against shrinking
    /// (`F_SEAL_SHRINK`). What it grows by later is not part of it.
    pub fn adopt(descriptor: OwnedFd) -> Result<Self> {
        let failed = |call| move |source| MemoryError::System { call, source };
        // SAFETY: the descriptor is open; the call takes no pointer.
        let seals = unsafe { libc::fcntl(descriptor.as_raw_fd(), libc::F_GET_SEALS) };
        if seals < 0 {
            return Err(failed("F_GET_SEALS")(io::Error::last_os_error()));
        }
        if seals & libc::F_SEAL_SHRINK == 0 {
            return Err(MemoryError::NotSealed { seals });
        }
        // The length is read after the seal: it does not fall any more.
        let file = File::from(descriptor);
        let bytes = file.metadata().map_err(failed("fstat"))?.len();
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
