//! Buffers that leave their flow before they are full: cancelled, truncated, or at its end.

use std::collections::VecDeque;

use super::super::buffer::{Rescue, Withdrawn};
use super::ReceiveSide;
use crate::records::ticket::Ticket;

impl ReceiveSide {
    /// Asks for a posted request to be cancelled. Returns whether there is one of this name that
    /// was not asked for.
    pub fn cancel_posted(&mut self, request: u64) -> bool {
        let asked = self.apart.cancelling.iter().filter(|asked| **asked == request);
        let posted = self.queue.posted().iter();
        let posted = posted.filter(|posted| posted.buffer.request == request);
        let is_there = posted.count() > asked.count();
        if is_there {
            self.apart.cancelling.push(request);
        }
        is_there
    }

    /// Whether buffers are to be withdrawn because requests are cancelled.
    pub fn wants_cancel(&self) -> bool {
        !self.apart.cancelling.is_empty() && self.apart.withdrawing.is_none()
    }

    /// Whether the front request should be returned partly filled: it has some bytes, no more are
    /// in progress, and the application has had the time to post one in its place.
    pub fn wants_partial(&self) -> bool {
        let settled = self.apart.announced == self.accepted && self.queue.is_confirmed();
        self.apart.withdrawing.is_none() && settled && self.has_started() && !self.apart.has_given
    }

    /// List index and bytes to which the only posted buffer is truncated, the end of the accepted
    /// bytes. `None` when more buffers are posted: all must then be withdrawn.
    pub fn truncation(&self) -> Option<(u16, u32)> {
        let front = self.only_posted()?;
        let stay = self.accepted.saturating_sub(front.start);
        Some((front.index, stay as u32))
    }

    /// All buffers are being withdrawn by the command of `ticket`.
    pub fn withdraw(&mut self, ticket: Ticket) {
        self.apart.withdrawing = Some(ticket);
    }

    /// Whether the withdrawal is confirmed and every accepted byte is announced.
    pub fn is_withdrawn(&self, confirmed: impl Fn(Ticket) -> bool) -> bool {
        self.apart.announced == self.accepted && self.apart.withdrawing.is_some_and(confirmed)
    }

    /// Bytes to copy out of the withdrawn buffers before they are returned, doubtful ones included.
    pub fn rescues(&self) -> Vec<Rescue> {
        let mut rescues = Vec::new();
        for posted in self.queue.posted() {
            let from = posted.start.max(self.apart.announced);
            for (start, end) in self.copies.in_place(from, posted.end()) {
                rescues.push(Rescue {
                    region: posted.buffer.region,
                    offset: posted.buffer.offset + (start - posted.start),
                    bytes: (end - start) as usize,
                    stream_offset: start,
                });
            }
        }
        rescues
    }

    /// Ends a withdrawal with the bytes of [`ReceiveSide::rescues`]. Full requests, partial ones
    /// with bytes, those to be cancelled and, at the `end` of the stream, all complete with what
    /// they have. The others are posted again from the announced offset on.
    pub fn finish_withdrawal(&mut self, rescued: Vec<(u64, Vec<u8>)>, end: bool) -> Withdrawn {
        self.copies.rescue(rescued);
        self.apart.withdrawing = None;
        let mut withdrawn = Withdrawn::default();
        let mut again = VecDeque::new();
        self.has_truncated = false;
        self.apart.run = 1;
        let mut cancelling = std::mem::take(&mut self.apart.cancelling);
        for posted in self.queue.restart(self.apart.announced) {
            let buffer = posted.buffer;
            let filled = self.apart.announced.saturating_sub(posted.start);
            let bytes = filled.min(u64::from(buffer.bytes)) as u32;
            let asked = cancelling.iter().position(|asked| *asked == buffer.request);
            let is_cancelled = asked.map(|asked| cancelling.swap_remove(asked)).is_some();
            let has_bytes = buffer.filled + bytes > 0;
            if is_cancelled && !has_bytes {
                withdrawn.cancelled.push(buffer.request);
            } else if end || bytes == buffer.bytes || has_bytes && (buffer.partial || is_cancelled)
            {
                withdrawn.done.push(buffer.done(bytes));
            } else {
                again.push_back(buffer.rest(bytes));
            }
        }
        if end {
            let waiting = self.queue.take_waiting();
            let waiting = waiting.iter().map(|buffer| buffer.done(0));
            withdrawn.done.extend(waiting);
        }
        self.queue.add_first(again);
        withdrawn
    }

    /// How far the bytes reach that are in buffers, or can be brought there, once the flow is gone:
    /// what the protocol had accepted, or what was announced before the memory was in doubt.
    pub(super) fn last_end(&self, spares_payload: bool) -> u64 {
        match spares_payload {
            true => self.taken.min(self.queue.end()).max(self.accepted),
            false => self.apart.announced,
        }
    }
}
