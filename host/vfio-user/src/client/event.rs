//! An event descriptor by which a server tells of an interrupt.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::{eventfd, EventfdFlags};
use rustix::io::Errno;

/// An event, readable while it has been raised and not taken.
#[derive(Debug)]
pub struct Event(OwnedFd);

impl Event {
    /// Makes one.
    pub fn new() -> Result<Self, Errno> {
        eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).map(Self)
    }

    /// How often it was raised since the last call.
    pub fn take(&self) -> u64 {
        let mut number = [0; 8];
        match rustix::io::read(&self.0, &mut number) {
            Ok(8) => u64::from_ne_bytes(number),
            _ => 0,
        }
    }
}

impl AsFd for Event {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
