//! Memory that the card reaches: files of pages, which each side maps for itself.
//!
//! ```text
//!                        ┌─ DeviceMapping       the card's DMA (a simulated one's)
//!   MemoryFile (pages) ──┼─ ApplicationMapping  the application's own
//!                        ├─ GuardedMapping      the control stack's: no access at all
//!                        └─ SharedMapping       rings: words of control stack and card
//! ```
//! The control stack needs an address for each application buffer, because deferred payload is
//! copied into it, but it must not touch payload by mistake. Its mapping therefore has no access
//! rights. `GuardedMapping::open` grants access to the pages of one range for the duration of one
//! call, and only `provider/copier.rs` makes a guarded mapping.
//!
//! Invariants
//! 1. Outside of `GuardedMapping::open` an access through a guarded mapping raises SIGSEGV, and a
//!    system call with such an address fails with EFAULT.
//! 2. No mapping extends beyond its range.
//! 3. Every file is sealed against shrinking, so no page of a mapping disappears under it.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::ops::{Deref, DerefMut};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::AtomicU64;
use std::sync::Arc;

use thiserror::Error;

/// Bytes of a page, the unit of access rights.
pub const PAGE_BYTES: usize = 4096;

/// Why memory cannot be used by card and control stack.
#[derive(Debug, Error)]
pub enum MemoryError {
    /// Somebody may shrink the file under a mapping.
    #[error("the memory may shrink: its file has seals {seals:#x}, F_SEAL_SHRINK is 0x2")]
    NotSealed {
        /// Seals of the file.
        seals: i32,
    },
    /// A length that is no number of pages.
    #[error("{bytes} bytes are not whole pages of {PAGE_BYTES} bytes")]
    NotPages {
        /// Length.
        bytes: u64,
    },
    /// A system call on the file failed: it is no memfd.
    #[error("{call}: {source}")]
    System {
        /// The name of the call.
        call: &'static str,
        /// The error number of the call.
        source: io::Error,
    },
}

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
    pub fn adopt(descriptor: OwnedFd) -> Result<Self, MemoryError> {
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
        Ok(MemoryRange { file: self.clone(), offset, bytes })
    }

    /// The whole file.
    pub fn all(&self) -> io::Result<MemoryRange> {
        self.range(0, self.bytes)
    }
}

/// So many bytes, if they are whole pages.
fn whole_pages(bytes: u64) -> Result<usize, MemoryError> {
    let pages = usize::try_from(bytes).ok();
    pages
        .filter(|pages| *pages > 0 && pages.is_multiple_of(PAGE_BYTES))
        .ok_or(MemoryError::NotPages { bytes })
}

/// Pages of a [`MemoryFile`], not mapped yet. A bus returns them for application memory.
#[derive(Clone, Debug)]
pub struct MemoryRange {
    file: MemoryFile,
    offset: usize,
    bytes: usize,
}

impl MemoryRange {
    /// Length in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Checks that the range is whole pages: a card reaches whole pages.
    pub fn check_pages(&self) -> Result<(), MemoryError> {
        whole_pages(self.bytes as u64).map(drop)
    }

    /// Maps the range for the DMA of a simulated card.
    pub fn map_device(&self) -> io::Result<DeviceMapping> {
        let rights = libc::PROT_READ | libc::PROT_WRITE;
        Ok(DeviceMapping(Mapping::new(self, rights)?))
    }

    /// Maps the range for the application.
    pub fn map(&self) -> io::Result<ApplicationMapping> {
        let rights = libc::PROT_READ | libc::PROT_WRITE;
        Ok(ApplicationMapping(Mapping::new(self, rights)?))
    }

    /// Maps the range for words that host and card share.
    pub(crate) fn map_shared(&self) -> io::Result<SharedMapping> {
        let rights = libc::PROT_READ | libc::PROT_WRITE;
        Ok(SharedMapping(Mapping::new(self, rights)?))
    }

    /// Maps the range for the control stack, without access rights.
    pub(crate) fn guard(&self) -> io::Result<GuardedMapping> {
        Ok(GuardedMapping(Mapping::new(self, libc::PROT_NONE)?))
    }
}

/// A mapping of a range with given rights, unmapped on drop.
#[derive(Debug)]
struct Mapping {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the pages belong to the process, not to a thread; all access goes through `&self` or
// `&mut self` of one of the three kinds of mapping.
unsafe impl Send for Mapping {}

impl Mapping {
    fn new(range: &MemoryRange, rights: libc::c_int) -> io::Result<Self> {
        let (null, shared) = (std::ptr::null_mut(), libc::MAP_SHARED);
        let number = range.file.descriptor.as_raw_fd();
        let offset = range.offset as libc::off_t;
        // SAFETY: a new mapping at an address that the kernel chooses touches no other object; the
        // descriptor is open, and the range lies inside its file.
        let start = unsafe { libc::mmap(null, range.bytes, rights, shared, number, offset) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start = NonNull::new(start.cast::<u8>());
        Ok(Self { start: start.ok_or(io::ErrorKind::AddrNotAvailable)?, bytes: range.bytes })
    }

    /// The address of `bytes` bytes at `offset`. Panics when they are outside the mapping.
    fn at(&self, offset: usize, bytes: usize) -> *mut u8 {
        let end = offset.checked_add(bytes);
        let all = self.bytes;
        assert!(
            end.is_some_and(|end| end <= all),
            "{bytes} bytes at {offset} exceed the mapping of {all} bytes"
        );
        // SAFETY: `offset` is at most the length of the mapping.
        unsafe { self.start.as_ptr().add(offset) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `new` with this length, and nothing borrows it any more.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.bytes) };
    }
}

/// A range, as seen by the DMA of a simulated card.
#[derive(Debug)]
pub struct DeviceMapping(Mapping);

impl Deref for DeviceMapping {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: the mapping is readable and this long; the simulated card is the one that writes
        // while it runs, and it does so through `&mut self`.
        unsafe { std::slice::from_raw_parts(self.0.start.as_ptr(), self.0.bytes) }
    }
}

impl DerefMut for DeviceMapping {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as for `deref`; the borrow is exclusive among the users of this mapping.
        unsafe { std::slice::from_raw_parts_mut(self.0.start.as_ptr(), self.0.bytes) }
    }
}

/// The application's view of a buffer. Bytes are copied in and out, never borrowed: the card may
/// write them at any time between a request and its completion.
#[derive(Debug)]
pub struct ApplicationMapping(Mapping);

impl ApplicationMapping {
    /// Length in bytes.
    pub fn bytes(&self) -> usize {
        self.0.bytes
    }

    /// Copies out of the buffer. Panics beyond its end.
    pub fn read(&self, offset: usize, into: &mut [u8]) {
        let source = self.0.at(offset, into.len());
        // SAFETY: `at` has checked the range; `into` is a buffer of its own.
        unsafe { std::ptr::copy_nonoverlapping(source, into.as_mut_ptr(), into.len()) };
    }

    /// Copies into the buffer. Panics beyond its end.
    pub fn write(&mut self, offset: usize, from: &[u8]) {
        let target = self.0.at(offset, from.len());
        // SAFETY: `at` has checked the range; `from` is a buffer of its own.
        unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), target, from.len()) };
    }
}

/// Memory that host and card read and write at the same time, as words.
#[derive(Debug)]
pub(crate) struct SharedMapping(Mapping);

// SAFETY: the pages are reached through atomic words alone, which threads may share.
unsafe impl Sync for SharedMapping {}

impl SharedMapping {
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

/// The control stack's view of a buffer: an address without access rights.
#[derive(Debug)]
pub(crate) struct GuardedMapping(Mapping);

impl GuardedMapping {
    /// Calls `visit` with the bytes of a range, which are accessible only during the call.
    pub(crate) fn open(
        &mut self,
        offset: usize,
        bytes: usize,
        visit: &mut dyn FnMut(&mut [u8]),
    ) -> io::Result<()> {
        let start = self.0.at(offset, bytes);
        if bytes == 0 {
            return Ok(());
        }
        let first_page = offset / PAGE_BYTES * PAGE_BYTES;
        let pages = Pages {
            start: self.0.at(first_page, 0),
            bytes: (offset + bytes).next_multiple_of(PAGE_BYTES) - first_page,
        };
        pages.allow(libc::PROT_READ | libc::PROT_WRITE)?;
        let closing = Closing(pages);
        // SAFETY: `at` has checked the range and its pages were just made accessible; the borrow
        // ends before they are closed. The floor's fence has passed, so the card does not write
        // here.
        visit(unsafe { std::slice::from_raw_parts_mut(start, bytes) });
        drop(closing);
        Ok(())
    }

    /// The address of the first byte, to show that it cannot be touched.
    #[cfg(test)]
    pub(crate) fn address(&self) -> *const u8 {
        self.0.start.as_ptr()
    }
}

/// A whole-page range of a mapping.
struct Pages {
    start: *mut u8,
    bytes: usize,
}

impl Pages {
    fn allow(&self, rights: libc::c_int) -> io::Result<()> {
        // SAFETY: the pages belong to one guarded mapping, which nothing borrows outside `open`.
        match unsafe { libc::mprotect(self.start.cast(), self.bytes, rights) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

/// Removes access rights again, also when the visitor panics.
struct Closing(Pages);

impl Drop for Closing {
    fn drop(&mut self) {
        let closed = self.0.allow(libc::PROT_NONE);
        assert!(closed.is_ok(), "application memory stays open: {closed:?}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What ends a child that reads (or writes) one byte: its signal, 0 for none.
    fn signal_of_access(address: *const u8, write: bool) -> i32 {
        // SAFETY: the child calls nothing but the access and `_exit`, which are safe after a fork
        // of a process with threads.
        unsafe {
            let child = libc::fork();
            assert!(child >= 0, "fork: {}", io::Error::last_os_error());
            if child == 0 {
                match write {
                    true => address.cast_mut().write_volatile(1),
                    false => drop(std::hint::black_box(address.read_volatile())),
                }
                libc::_exit(0);
            }
            let mut status = 0;
            assert_eq!(libc::waitpid(child, &mut status, 0), child);
            match libc::WIFSIGNALED(status) {
                true => libc::WTERMSIG(status),
                false => 0,
            }
        }
    }

    fn range() -> MemoryRange {
        let file = MemoryFile::new(4 * PAGE_BYTES).unwrap();
        file.range(PAGE_BYTES, 2 * PAGE_BYTES).unwrap()
    }

    #[test]
    fn the_control_stack_cannot_touch_an_application_buffer() {
        let range = range();
        let mut guarded = range.guard().unwrap();
        let mut application = range.map().unwrap();
        let address = guarded.address();
        for write in [false, true] {
            assert_eq!(signal_of_access(address, write), libc::SIGSEGV);
        }
        // The same pages are open to the application, and to the one who asks, for a moment.
        application.write(10, b"payload");
        assert_eq!(signal_of_access(application.0.at(0, 1), true), 0);
        let mut seen = Vec::new();
        let mut open_signal = None;
        let mut copy = |bytes: &mut [u8]| {
            seen.extend_from_slice(bytes);
            open_signal = Some(signal_of_access(bytes.as_ptr(), true));
            bytes.fill(b'x');
        };
        guarded.open(10, 7, &mut copy).unwrap();
        assert_eq!((seen.as_slice(), open_signal), (&b"payload"[..], Some(0)));
        for write in [false, true] {
            assert_eq!(signal_of_access(address, write), libc::SIGSEGV);
        }
        let mut bytes = [0; 9];
        application.read(9, &mut bytes);
        assert_eq!(&bytes, b"\0xxxxxxx\0");
    }

    #[test]
    fn only_the_pages_of_the_range_are_opened() {
        let range = range();
        let mut guarded = range.guard().unwrap();
        let second = guarded.0.at(PAGE_BYTES, 1).cast_const();
        let mut signal = None;
        let mut check = |_: &mut [u8]| signal = Some(signal_of_access(second, false));
        guarded.open(PAGE_BYTES - 8, 8, &mut check).unwrap();
        assert_eq!(signal, Some(libc::SIGSEGV));
    }

    #[test]
    fn a_visitor_that_panics_leaves_the_buffer_closed() {
        let mut guarded = range().guard().unwrap();
        let address = guarded.address();
        let visit = std::panic::AssertUnwindSafe(|| {
            guarded.open(0, 1, &mut |_| panic!("a visitor")).unwrap();
        });
        assert!(std::panic::catch_unwind(visit).is_err());
        assert_eq!(signal_of_access(address, false), libc::SIGSEGV);
    }

    #[test]
    fn nobody_can_change_the_length_of_the_file() {
        let file = MemoryFile::new(2 * PAGE_BYTES).unwrap();
        for length in [0, PAGE_BYTES, 4 * PAGE_BYTES] {
            // SAFETY: the descriptor is open; the call takes no pointer.
            let result = unsafe { libc::ftruncate(file.descriptor.as_raw_fd(), length as _) };
            let error = io::Error::last_os_error();
            assert_eq!((result, error.raw_os_error()), (-1, Some(libc::EPERM)));
        }
    }

    #[test]
    fn ranges_are_pages_of_the_file() {
        let file = MemoryFile::new(2 * PAGE_BYTES).unwrap();
        assert!(file.range(0, 2 * PAGE_BYTES).is_ok());
        assert!(file.range(PAGE_BYTES, 1).is_ok());
        for (offset, bytes) in [(1, 1), (0, 0), (PAGE_BYTES, PAGE_BYTES + 1), (4096, !0)] {
            let refused = file.range(offset, bytes).unwrap_err();
            assert_eq!(refused.kind(), io::ErrorKind::InvalidInput, "{refused}");
        }
    }
}
