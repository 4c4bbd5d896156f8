//! Sleeps until one of several descriptors is readable.
//!
//! ```text
//!   interrupts' event descriptors ──┐
//!   the transport's descriptor ─────┴─► poll(2) ─► which are readable
//! ```
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::Duration;

/// Sleeps until one of `descriptors` is readable, at most for `limit`. Returns which are. A signal
/// ends the sleep early.
pub(super) fn until_readable(
    descriptors: &[BorrowedFd<'_>],
    limit: Duration,
) -> io::Result<Vec<bool>> {
    let entry = |descriptor: &BorrowedFd<'_>| libc::pollfd {
        fd: descriptor.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    };
    let mut entries: Vec<libc::pollfd> = descriptors.iter().map(entry).collect();
    let time = libc::timespec {
        tv_sec: libc::time_t::try_from(limit.as_secs()).unwrap_or(libc::time_t::MAX),
        tv_nsec: limit.subsec_nanos().into(),
    };
    let (count, no_mask) = (entries.len() as libc::nfds_t, std::ptr::null());
    // SAFETY: the entries are an array of that length, the time and no mask are valid for the call;
    // the descriptors are borrowed, so they are open.
    let ready = unsafe { libc::ppoll(entries.as_mut_ptr(), count, &time, no_mask) };
    let error = io::Error::last_os_error();
    if ready < 0 && error.kind() != io::ErrorKind::Interrupted {
        return Err(error);
    }
    Ok(entries.iter().map(|entry| entry.revents != 0).collect())
}

/// Takes the count of an event descriptor, so that it is no longer readable.
pub(super) fn drain(descriptor: BorrowedFd<'_>) -> io::Result<()> {
    let mut count = [0u8; 8];
    // SAFETY: the buffer has 8 bytes, and the descriptor is borrowed, so it is open.
    let read =
        unsafe { libc::read(descriptor.as_raw_fd(), count.as_mut_ptr().cast(), count.len()) };
    let error = io::Error::last_os_error();
    match read < 0 && error.kind() != io::ErrorKind::WouldBlock {
        true => Err(error),
        false => Ok(()),
    }
}
