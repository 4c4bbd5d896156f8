//! Sleeps until one of several descriptors is readable.
//!
//! ```text
//!   interrupts' event descriptors ──┐
//!   the transport's descriptor ─────┴─► poll(2) ─► which are readable
//! ```

use std::io;
use std::os::fd::BorrowedFd;
use std::time::Duration;

use rustix::event::{poll, PollFd, PollFlags, Timespec};
use rustix::io::Errno;

/// Sleeps until one of `descriptors` is readable, at most for `limit`. Returns which are. A signal
/// ends the sleep early.
pub(super) fn until_readable(
    descriptors: &[BorrowedFd<'_>],
    limit: Duration,
) -> io::Result<Vec<bool>> {
    let entry = |descriptor| PollFd::from_borrowed_fd(descriptor, PollFlags::IN);
    let mut entries: Vec<PollFd<'_>> = descriptors.iter().copied().map(entry).collect();
    // A limit that no clock reaches is none.
    match poll(&mut entries, Timespec::try_from(limit).ok().as_ref()) {
        Ok(_) | Err(Errno::INTR) => {
            Ok(entries.iter().map(|entry| !entry.revents().is_empty()).collect())
        }
        Err(error) => Err(error.into()),
    }
}

/// Takes the count of an event descriptor, so that it is no longer readable.
pub(super) fn drain(descriptor: BorrowedFd<'_>) -> io::Result<()> {
    match rustix::io::read(descriptor, &mut [0u8; 8]) {
        Ok(_) | Err(Errno::AGAIN) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
