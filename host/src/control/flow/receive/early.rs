//! Receives that may end early: what is posted of the buffers behind them, and how one takes the
//! place of another.
//!
//! ```text
//!   stream   ....... accepted ........ end of the buffer that fills
//!   before   ██████████████░░░░░░░░░░░│ open, may end early      spared: the next ones
//!   cut      ██████████████│▒▒▒▒▒▒▒▒▒▒ the next one begins here │
//!            └─ complete ──┘ one command: floor, head, segment
//! ```
//! Invariants
//! 1. What was promised has a place before a truncation and behind it: beside a buffer that may end
//!    early no more is promised than the spared ones have.
//! 2. A buffer that was truncated is returned after the confirmation of the command alone. What the
//!    card has placed behind its end until then is found by its list index.

use abi::config::FLOW_REACH_BYTES;

use super::{Posted, ReceiveSide};
use crate::control::flow::buffer::Misplaced;
use crate::records::commands::Segment;
use crate::records::ticket::Ticket;

/// A buffer shorter than this that is posted after others were filled waits for the next floor, and
/// is posted by its command, while so many times as many buffers are open as wait.
const SMALL_BYTES: u32 = 4096;
const SMALL_OPEN_MIN: usize = 2;
/// Where one may end early, as many buffers are open, and as many spared, as have so many bytes:
/// windows are told in units of more than a small buffer.
const OPEN_BYTES_MIN: u64 = 1024;

impl ReceiveSide {
    /// End of the memory that the protocol may count on. While buffers are being withdrawn, there
    /// is none beyond the accepted bytes. Where a buffer may end early, only what takes its place
    /// then is certain.
    pub fn grantable(&self) -> u64 {
        let end = self.queue.confirmed_end();
        match self.apart.withdrawing {
            Some(_) => self.accepted,
            None if self.may_end_early() => {
                let spared = match (self.spared_bytes(0), self.open()) {
                    (0, 1) => return end,
                    // Another one is on its way back, probably.
                    (0, _) => self.queue.last_bytes(),
                    (spared, _) => spared,
                };
                end.min(self.accepted + spared).max(end.min(self.apart.promised))
            }
            None => end,
        }
    }

    /// The protocol was told what it may count on.
    pub fn promise(&mut self, end: u64) {
        self.apart.promised = self.apart.promised.max(end);
    }

    /// Posted buffers that are neither full nor truncated.
    fn open(&self) -> usize {
        self.queue.posted().len() - self.queue.place(self.accepted)
    }

    /// Bytes of the requests, from one of those that wait on, that are spared to take the place of
    /// one that ends early.
    fn spared_bytes(&self, from: usize) -> u64 {
        let (mut count, mut bytes) = (0, 0);
        for buffer in self.queue.waiting_from(from) {
            if count >= self.apart.run && bytes >= OPEN_BYTES_MIN {
                break;
            }
            count += 1;
            bytes += u64::from(buffer.bytes);
        }
        bytes
    }

    /// Whether the buffer that fills may end early.
    fn may_end_early(&self) -> bool {
        let front = self.queue.posted().get(self.queue.place(self.accepted));
        front.is_some_and(|front| front.buffer.partial)
    }

    /// Whether the next request is not to be posted now although it could be: it is spared to take
    /// the place of one that ends early, or it is small and comes with the next floor.
    pub fn is_withheld(&self, with_floor: bool) -> bool {
        let Some(next) = self.queue.next() else { return false };
        let (open, end) = (self.open(), self.queue.end());
        if open == 0 || end < self.apart.promised || end - self.accepted < OPEN_BYTES_MIN {
            return false;
        }
        let is_small = next.bytes < SMALL_BYTES && self.apart.announced > 0;
        let is_soon = !with_floor && is_small && SMALL_OPEN_MIN * self.queue.waiting() <= open;
        is_soon || self.may_end_early() && end >= self.accepted + self.spared_bytes(1)
    }

    /// Whether the segment of the next request would end within the flow's reach.
    pub(super) fn reaches_next(&self) -> bool {
        let bytes = self.queue.next().map_or(0, |buffer| buffer.bytes);
        let reach = self.queue.end() + u64::from(bytes) - self.apart.announced;
        reach < FLOW_REACH_BYTES.into()
    }

    /// The segment of the next request, if it is to be posted now, with a floor or without. Its
    /// command must be noted.
    pub fn append(&mut self, with_floor: bool) -> Option<Segment> {
        let may_post = self.apart.withdrawing.is_none() && self.reaches_next();
        (may_post && !self.is_withheld(with_floor)).then(|| self.queue.append())?
    }

    /// Truncates what is posted at what is accepted, if the buffer that fills may end early, and if
    /// the first `ready` requests can take its place: the segment of the next one then begins
    /// there. It must be posted by the command that moves the floor, and be noted. Buffers behind
    /// the one that ends wait again.
    pub fn truncate_and_append(&mut self, ready: usize) -> Option<Segment> {
        let front = self.queue.posted().get(self.queue.place(self.accepted))?;
        let (at, end) = (self.accepted, self.queue.end());
        let is_started = front.buffer.partial && front.start < at;
        let is_free = self.apart.withdrawing.is_none() && self.apart.cancelling.is_empty();
        if !(is_started && is_free && self.has_all_taken()) {
            return None;
        }
        // What was promised keeps its place.
        let bytes_of = |requests| {
            let waiting = self.queue.waiting_from(0).take(requests);
            waiting.map(|buffer| u64::from(buffer.bytes)).sum::<u64>()
        };
        let is_covered = at + bytes_of(ready) >= self.apart.promised;
        let bytes = bytes_of(1);
        let reaches = at + bytes - self.apart.announced < FLOW_REACH_BYTES.into();
        let has_room = self.queue.list().room() > 0;
        if !(is_covered && reaches && has_room && self.copies.in_place(at, end).is_empty()) {
            return None;
        }
        self.queue.truncate_at(at);
        self.has_truncated = true;
        self.apart.run = 1;
        self.queue.append()
    }

    /// What was truncated is truncated by the command of `ticket`.
    pub fn note_truncated_by(&mut self, ticket: Ticket) {
        self.queue.note_truncated_by(ticket);
    }

    /// Whether a buffer was truncated, and the command is under way.
    #[inline]
    pub fn has_truncated(&self) -> bool {
        self.has_truncated
    }

    /// Where the card has placed payload that belongs into the next buffer, because the one with
    /// this list index was truncated meanwhile.
    pub(crate) fn beyond_truncated(
        &self,
        index: u16,
        position: u32,
        bytes: u32,
    ) -> Option<Misplaced> {
        let (start, bytes) = (self.offset(position)?, u64::from(bytes));
        let mut truncated = self.queue.posted().iter().filter(|posted| posted.is_truncated());
        let crosses = |posted: &Posted| start < posted.end() && posted.end() < start + bytes;
        if truncated.clone().any(crosses) {
            return Some(Misplaced::Across);
        }
        let posted = truncated.find(|posted| posted.index == index && posted.end() <= start)?;
        let (from, segment_bytes) = posted.segment;
        // Across segments there is more than one place.
        let at = start.checked_sub(from).filter(|at| at + bytes <= segment_bytes.into());
        Some(at.map_or(Misplaced::Across, |at| {
            Misplaced::Behind(posted.buffer.region, posted.buffer.offset + at)
        }))
    }
}
