//! Mappings of a range, one kind for each side.

use std::ptr::NonNull;
use std::sync::atomic::AtomicU64;

use rustix::io::Errno;
use rustix::mm::{mmap, mprotect, munmap, MapFlags, MprotectFlags, ProtFlags};

use super::address::AddressRange;
use super::bytes::SharedBytes;
use super::error::{MemoryError, Result, PAGE_BYTES};
use super::pages::FileRange;

/// What a mapping may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rights {
    /// Nothing, until it is opened.
    None,
    /// Read and write.
    ReadWrite,
}

impl Rights {
    fn bits(self) -> u32 {
        match self {
            Self::None => 0,
            Self::ReadWrite => (ProtFlags::READ | ProtFlags::WRITE).bits(),
        }
    }
}

/// Whom the addresses of a mapping belong to.
#[derive(Debug)]
enum Pages {
    /// To the mapping, which unmaps them.
    Own,
    /// To the program that brought them, which keeps them mapped as long as this lives.
    Program { _range: AddressRange },
}

/// Addresses of a range in this process.
#[derive(Debug)]
pub(super) struct Mapping {
    start: NonNull<u8>,
    bytes: usize,
    pages: Pages,
}

// SAFETY: the pages belong to the process, not to a thread; all access is by copies or atomics.
unsafe impl Send for Mapping {}

impl Mapping {
    /// Maps pages of a file.
    pub(super) fn of_file(range: &FileRange, rights: Rights) -> Result<Self> {
        let (null, rights) = (std::ptr::null_mut(), ProtFlags::from_bits_retain(rights.bits()));
        let (file, offset, bytes) = (range.descriptor(), range.offset() as u64, range.bytes());
        // SAFETY: a new mapping at an address that the kernel chooses touches no other object; the
        // range lies inside its file.
        let start = unsafe { mmap(null, bytes, rights, MapFlags::SHARED, file, offset) };
        let start = start.and_then(|start| NonNull::new(start.cast::<u8>()).ok_or(Errno::NOMEM));
        let start = start.map_err(MemoryError::of("mmap"))?;
        Ok(Self { start, bytes, pages: Pages::Own })
    }

    /// Memory that is mapped already.
    pub(super) fn of_address(range: &AddressRange) -> Self {
        let pages = Pages::Program { _range: range.clone() };
        Self { start: range.start(), bytes: range.bytes(), pages }
    }

    fn shared_bytes(&self) -> SharedBytes<'_> {
        // SAFETY: the mapping is this long and lives as long as the borrow; no kind of mapping
        // gives out references. It has both rights, or gets them before the bytes are accessed
        // (`GuardedMapping::open`).
        unsafe { SharedBytes::new(self.start, self.bytes) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        if matches!(self.pages, Pages::Own) {
            // SAFETY: the mapping was made by `of_file` with this length, and nothing borrows it.
            let _ = unsafe { munmap(self.start.as_ptr().cast(), self.bytes) };
        }
    }
}

/// A range, as a card reaches it.
#[derive(Debug)]
pub struct DeviceMapping(Mapping);

impl DeviceMapping {
    pub(super) fn new(mapping: Mapping) -> Self {
        Self(mapping)
    }

    /// Address of the first byte in this process, at a page. With the length it is what VFIO maps
    /// for a device (type 1): a range that may be read and written, and stays as long as this does.
    pub fn address(&self) -> NonNull<u8> {
        self.0.start
    }

    /// The bytes.
    pub fn bytes(&self) -> SharedBytes<'_> {
        self.0.shared_bytes()
    }
}

/// The application's view of a buffer. Bytes are copied in and out, never borrowed: the card may
/// write them at any time between a request and its completion.
#[derive(Debug)]
pub struct ApplicationMapping(Mapping);

impl ApplicationMapping {
    pub(super) fn new(mapping: Mapping) -> Self {
        Self(mapping)
    }

    /// Length in bytes.
    pub fn bytes(&self) -> usize {
        self.0.bytes
    }

    /// Copies out of the buffer. Panics beyond its end.
    pub fn read(&self, offset: usize, into: &mut [u8]) {
        self.0.shared_bytes().read(offset, into);
    }

    /// Copies into the buffer. Panics beyond its end.
    pub fn write(&mut self, offset: usize, from: &[u8]) {
        self.0.shared_bytes().write(offset, from);
    }

    /// Copies other shared bytes into the buffer. Panics beyond its end.
    pub(crate) fn copy(&mut self, offset: usize, from: SharedBytes<'_>) {
        self.0.shared_bytes().copy(offset, from);
    }
}

/// Memory that host and card read and write at the same time, as words.
#[derive(Debug)]
pub(crate) struct SharedMapping(Mapping);

// SAFETY: the pages are reached through atomic words alone, which threads may share.
unsafe impl Sync for SharedMapping {}

impl SharedMapping {
    pub(super) fn new(mapping: Mapping) -> Self {
        Self(mapping)
    }

    /// The words; bytes at the end that are no whole word are left out.
    #[inline]
    pub(crate) fn words(&self) -> &[AtomicU64] {
        let (start, count) = (self.0.start.as_ptr(), self.0.bytes / size_of::<AtomicU64>());
        // SAFETY: a mapping starts at a page, is readable, writable and this long, and lives as
        // long as `self`. Whoever else writes the pages, a card or another mapping, changes what
        // the atomics hold, as another thread would.
        unsafe { std::slice::from_raw_parts(start.cast::<AtomicU64>(), count) }
    }
}

/// The control stack's view of a buffer: closed, but for the time of a call.
#[derive(Debug)]
pub(crate) struct GuardedMapping(Mapping);

impl GuardedMapping {
    pub(super) fn new(mapping: Mapping) -> Self {
        Self(mapping)
    }

    /// Calls `visit` with the bytes of a range, which are accessible only during the call.
    pub(crate) fn open(
        &mut self,
        offset: usize,
        bytes: usize,
        visit: &mut dyn FnMut(SharedBytes<'_>),
    ) -> Result<()> {
        let range = self.0.shared_bytes().part(offset, bytes);
        if bytes == 0 {
            return Ok(());
        }
        let closing = match self.0.pages {
            Pages::Own => Some(self.unlock(offset, bytes)?),
            Pages::Program { .. } => None,
        };
        visit(range);
        closing.map_or(Ok(()), Closing::close)
    }

    /// Gives access to the pages of a range.
    fn unlock(&self, offset: usize, bytes: usize) -> Result<Closing> {
        let first_page = offset / PAGE_BYTES * PAGE_BYTES;
        let end = (offset + bytes).next_multiple_of(PAGE_BYTES);
        // SAFETY: `first_page` lies inside the mapping, as the range that begins in it does.
        let start = unsafe { self.0.start.add(first_page) };
        let closing = Closing { start, bytes: end - first_page };
        protect(&closing, Rights::ReadWrite)?;
        Ok(closing)
    }

    /// The address of a byte, to show that it cannot be touched.
    #[cfg(test)]
    pub(crate) fn address(&self, offset: usize) -> *const u8 {
        assert!(offset < self.0.bytes);
        // SAFETY: the byte lies inside the mapping.
        unsafe { self.0.start.as_ptr().add(offset) }
    }
}

/// Pages of a guarded mapping that are open.
struct Closing {
    start: NonNull<u8>,
    bytes: usize,
}

impl Closing {
    /// Takes access away again.
    fn close(self) -> Result<()> {
        protect(&self, Rights::None)
    }
}

fn protect(pages: &Closing, rights: Rights) -> Result<()> {
    let rights = MprotectFlags::from_bits_retain(rights.bits());
    // SAFETY: the pages belong to one guarded mapping, and nothing refers to their bytes.
    let result = unsafe { mprotect(pages.start.as_ptr().cast(), pages.bytes, rights) };
    result.map_err(MemoryError::of("mprotect"))
}

impl Drop for Closing {
    /// The same where the visitor panics: nobody is left to be told that it failed.
    fn drop(&mut self) {
        if std::thread::panicking() {
            _ = protect(self, Rights::None);
        }
    }
}
