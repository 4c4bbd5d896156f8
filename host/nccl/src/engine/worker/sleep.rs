//! The sleep of the thread, while nothing moves: until a job, a frame, room on the line or a timer.
#![allow(unsafe_code)]

use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::sync::atomic::Ordering;
use std::time::Duration;

use host::driver::bus::Bus;
use host::transport::NextTimer;

use super::Worker;
use crate::line::Line;

/// Longest sleep.
const LONGEST: Duration = Duration::from_millis(100);
/// Sleep while something is to be closed, for which nobody calls.
const CLOSING: Duration = Duration::from_micros(200);

impl<B: Bus, L: Line> Worker<B, L> {
    fn limit(&mut self) -> Duration {
        let is_ending = !self.closing.is_empty() || !self.leaving.is_empty();
        let most = if is_ending { CLOSING } else { LONGEST };
        let now_ns = self.now_ns();
        match self.endpoint.deadline() {
            NextTimer::At(at_ns) => most.min(Duration::from_nanos(at_ns.saturating_sub(now_ns))),
            _ => most,
        }
    }

    /// Sleeps until a job, a frame or a timer.
    pub(super) fn sleep(&mut self) {
        let limit = self.limit();
        self.shared.is_asleep.store(true, Ordering::SeqCst);
        // A job that came before this was seen is not announced.
        if limit.is_zero() || self.take_jobs() != Some(false) {
            self.shared.is_asleep.store(false, Ordering::SeqCst);
            return;
        }
        let wake = self.shared.wake.as_fd();
        match self.line.descriptor() {
            None => {
                // An error of the card comes again with the next poll.
                let _ = self.endpoint.device().wait(limit, Some(wake));
            }
            Some(line) => {
                let entry = |descriptor: Option<BorrowedFd<'_>>, events| libc::pollfd {
                    // Of no descriptor nothing is told.
                    fd: descriptor.map_or(-1, |descriptor| descriptor.as_raw_fd()),
                    events,
                    revents: 0,
                };
                let (read, write) = (libc::POLLIN, libc::POLLOUT);
                let room = self.line.room();
                let mut entries =
                    [entry(Some(wake), read), entry(Some(line), read), entry(room, write)];
                let time = libc::timespec { tv_sec: 0, tv_nsec: limit.subsec_nanos().into() };
                let no_mask = std::ptr::null();
                // SAFETY: the entries are an array of that length; time and no mask are valid.
                unsafe { libc::ppoll(entries.as_mut_ptr(), 3, &time, no_mask) };
            }
        }
        self.shared.is_asleep.store(false, Ordering::SeqCst);
        let mut count = [0u8; 8];
        // SAFETY: the descriptor is open and does not block; eight bytes are at the address.
        unsafe { libc::read(wake.as_raw_fd(), count.as_mut_ptr().cast(), count.len()) };
    }
}
