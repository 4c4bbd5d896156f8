//! "GPU memory": a sealed memfd for each allocation, so that its descriptor can stand for a
//! dma-buf.
#![allow(unsafe_code)]

use std::collections::BTreeMap;
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd};
use std::sync::{Mutex, MutexGuard, PoisonError};

const GRAIN_BYTES: usize = 65_536;

struct Allocation {
    bytes: usize,
    file: OwnedFd,
}

static ALL: Mutex<BTreeMap<usize, Allocation>> = Mutex::new(BTreeMap::new());

fn lock() -> MutexGuard<'static, BTreeMap<usize, Allocation>> {
    ALL.lock().unwrap_or_else(PoisonError::into_inner)
}

fn file_of(bytes: usize) -> Option<OwnedFd> {
    // SAFETY: the name is a C string.
    let number =
        unsafe { libc::memfd_create(c"gpu".as_ptr(), libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING) };
    if number < 0 {
        return None;
    }
    // SAFETY: the call succeeded, so it is a new descriptor that nobody else owns.
    let file = unsafe { OwnedFd::from_raw_fd(number) };
    // SAFETY: the descriptor is open; the calls take no pointer.
    let is_made = unsafe {
        libc::ftruncate(number, bytes as i64) == 0
            && libc::fcntl(number, libc::F_ADD_SEALS, libc::F_SEAL_SHRINK) == 0
    };
    is_made.then_some(file)
}

/// Allocates memory; 0 where there is none. It is never freed: a test ends soon.
pub fn allocate(bytes: usize) -> usize {
    let bytes = bytes.max(1).next_multiple_of(GRAIN_BYTES);
    let Some(file) = file_of(bytes) else {
        return 0;
    };
    // SAFETY: a new mapping of a file of that length.
    let start = unsafe {
        let rights = libc::PROT_READ | libc::PROT_WRITE;
        let none = std::ptr::null_mut();
        libc::mmap(none, bytes, rights, libc::MAP_SHARED, file.as_raw_fd(), 0)
    };
    if start == libc::MAP_FAILED {
        return 0;
    }
    let start = start.expose_provenance();
    lock().insert(start, Allocation { bytes, file });
    start
}

/// First address and length of the allocation that an address lies in.
pub fn range_of(address: usize) -> Option<(usize, usize)> {
    let all = lock();
    let (start, found) = all.range(..=address).next_back()?;
    (address < start + found.bytes).then_some((*start, found.bytes))
}

/// A descriptor of a range that begins at an address, as of a dma-buf; its position says where.
pub fn descriptor_of(address: usize, bytes: usize) -> Option<i32> {
    let all = lock();
    let (start, found) = all.range(..=address).next_back()?;
    let offset = address - start;
    if offset + bytes > found.bytes {
        return None;
    }
    let path = format!("/proc/self/fd/{}", found.file.as_raw_fd());
    let opened = std::fs::File::options().read(true).write(true).open(path).ok()?;
    let opened = OwnedFd::from(opened);
    // SAFETY: the descriptor is open; the call takes no pointer.
    let at = unsafe { libc::lseek(opened.as_raw_fd(), offset as i64, libc::SEEK_SET) };
    (at == offset as i64).then(|| opened.into_raw_fd())
}
