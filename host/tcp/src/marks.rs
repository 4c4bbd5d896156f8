//! What the receiver echoes of congestion marks, and how the sender answers echoes.
//!
//! ```text
//!   Classic: CE ─► ECE in every ACK until CWR        Exact: ECE is what the last data carried;
//!                                                           a change is told at once
//! ```
//! Invariants
//! 1. In exact mode an ACK never covers both marked and unmarked data: what waits for its ACK when
//!    the mark changes is acknowledged on its own, with the old echo.
//!
//! Sources: RFC 3168, 6.1.2 and 6.1.3; RFC 8257, 3.2.

use arrayvec::ArrayVec;

use crate::config::Ecn;
use crate::segment::{Codepoint, Flags, Segment};

/// Changes of the mark that can wait for their ACK.
const CHANGES_MAX: usize = 16;

/// The state of ECN of a connection (RFC 3168, 6.1).
#[derive(Clone, Debug, Default)]
pub struct Marks {
    ecn: Ecn,
    is_echoing: bool,
    /// ACK numbers at which the mark changed, with the echo before (RFC 8257, 3.2).
    changes: ArrayVec<(u32, bool), CHANGES_MAX>,
    /// The next new data says that the window was reduced.
    is_reduced: bool,
    /// Everything before it was sent before the last reduction.
    reduced_at: u64,
}

impl Marks {
    /// ECN was agreed (RFC 3168, 6.1.1).
    pub fn agree(&mut self, ecn: Ecn) {
        self.ecn = ecn;
    }

    /// Whether it was (RFC 3168, 6.1.1).
    pub fn is_agreed(&self) -> bool {
        self.ecn != Ecn::Off
    }

    /// Data has come (RFC 3168, 6.1.3; RFC 8257, 3.2). `unacknowledged` is the ACK number of what
    /// waits for its ACK. Returns whether an ACK is due at once.
    pub fn take(&mut self, segment: &Segment, unacknowledged: Option<u32>) -> bool {
        let is_marked = segment.codepoint == Codepoint::Experienced;
        match self.ecn {
            Ecn::Off => false,
            Ecn::Classic => {
                if segment.flags.has(Flags::CWR) {
                    self.is_echoing = false;
                }
                self.is_echoing |= is_marked;
                false
            }
            Ecn::Exact => {
                let is_changed = is_marked != self.is_echoing;
                if let Some(number) = unacknowledged.filter(|_| is_changed) {
                    if !self.changes.is_full() {
                        self.changes.push((number, self.is_echoing));
                    }
                }
                self.is_echoing = is_marked;
                is_changed
            }
        }
    }

    /// The oldest ACK that a change of the mark has called for (RFC 8257, 3.2).
    pub fn change(&mut self) -> Option<(u32, bool)> {
        self.changes.pop_at(0)
    }

    /// Whether ECE is set (RFC 3168, 6.1.3).
    pub fn is_echoing(&self) -> bool {
        self.is_echoing
    }

    /// An ACK with ECE came. Returns whether it calls for less: once for each window (RFC 3168,
    /// 6.1.2).
    pub fn echo(&mut self, una: u64, next: u64) -> bool {
        if !self.is_agreed() || una < self.reduced_at {
            return false;
        }
        self.reduced_at = next;
        self.is_reduced = true;
        true
    }

    /// Whether new data carries CWR; asked once (RFC 3168, 6.1.2).
    pub fn take_reduced(&mut self) -> bool {
        std::mem::take(&mut self.is_reduced)
    }
}
