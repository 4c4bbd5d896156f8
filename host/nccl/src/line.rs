//! What carries the frames of a card that is simulated; a real card has a wire.

use std::os::fd::BorrowedFd;

/// Carries frames between a simulated card and the others.
pub trait Line {
    /// Carries what is there in both directions. Returns whether anything was.
    fn carry(&mut self) -> bool;

    /// What becomes writable when there is room for the frames that wait; `None` if none does.
    fn room(&self) -> Option<BorrowedFd<'_>>;

    /// Becomes readable when frames come.
    fn descriptor(&self) -> Option<BorrowedFd<'_>>;

    /// Frames sent so far.
    fn frames(&self) -> u64;
}

/// The line of a card with a wire.
#[derive(Debug)]
pub struct NoLine;

impl Line for NoLine {
    fn carry(&mut self) -> bool {
        false
    }

    fn room(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    fn frames(&self) -> u64 {
        0
    }
}
