//! Buffers of one flow and direction: those waiting for a free list entry, those posted at stream
//! positions, and how many of them the card has confirmed.
//!
//! ```text
//!   stream   0 .... done .... posted, oldest first .... confirmed_end .... end │ waiting
//!                             │ segments confirmed           │ commands in flight
//! ```
//! Offsets count from the first byte of the stream in 64 bits. A position is the low 32 bits of an
//! offset plus the initial sequence number.
//!
//! Invariants
//! 1. Posted buffers are contiguous: each starts where the one before it ends, with the next list
//!    index, or the same one where they share a segment because they share memory.
//! 2. `confirmed_end ≤ end`.

use std::cell::Cell;
use std::collections::VecDeque;

use abi::config::SEGMENTS_BORROWED_BITS_MAX;

use super::buffer::{Buffer, CompletedBuffer, Withdrawn};
use super::place::{Posted, Truncation};
use crate::control::lists::FlowList;
use crate::control::position::Positions;
use crate::control::rest::Rest;
use crate::prefetch::expect_all;
use crate::records::commands::{Direction, Segment};
use crate::records::state::PostedState;
use crate::records::ticket::Ticket;

/// Requests that may be open on a connection in one direction: twice the longest list.
pub(crate) const REQUESTS_MAX: usize = 2 << SEGMENTS_BORROWED_BITS_MAX;

/// The buffers of one flow and direction. See the module's head. What a packet needs is here:
/// mostly it is in the oldest buffer, and the others are not looked at.
#[derive(Debug)]
#[repr(C)]
pub struct BufferQueue {
    positions: Positions,
    direction: Direction,
    /// Of the oldest posted buffer: whether its request may complete before it is full, list index,
    /// stream offset of its end; 0 if there is none.
    oldest_is_partial: bool,
    oldest_index: u16,
    oldest_end: u64,
    apart: Box<PostedColdState>,
}

/// What most packets do not need. It lies apart, so that connections lie close together.
#[derive(Debug)]
struct PostedColdState {
    posted: VecDeque<Posted>,
    /// Of the buffer that was looked up last behind the oldest one: its bytes of the stream, list
    /// index. The next header mostly names it again.
    near: Cell<(u64, u64, u16)>,
    list: FlowList,
    waiting: VecDeque<Buffer>,
    end: u64,
    confirmed_end: u64,
    /// Segments under way: the end of each.
    pending: VecDeque<(Ticket, u64)>,
    /// Floors under way, with the heads of the list that come with them.
    pending_floors: VecDeque<(Ticket, u64, u16)>,
}

impl BufferQueue {
    /// No buffers, for the stream whose first byte has sequence number `base`.
    pub fn new(base: u32, flow: u16, direction: Direction) -> Self {
        let apart = PostedColdState {
            posted: VecDeque::new(),
            near: Cell::default(),
            list: FlowList::new(flow),
            waiting: VecDeque::new(),
            end: 0,
            confirmed_end: 0,
            pending: VecDeque::new(),
            pending_floors: VecDeque::new(),
        };
        Self {
            positions: Positions { first: base },
            direction,
            oldest_is_partial: false,
            oldest_index: 0,
            oldest_end: 0,
            apart: Box::new(apart),
        }
    }

    /// A step follows: asks for what most packets do not need.
    #[inline]
    pub fn expect(&self) {
        expect_all(&*self.apart);
    }

    /// The list on the card.
    pub fn list(&self) -> &FlowList {
        &self.apart.list
    }

    /// The same, to be changed.
    pub fn list_mut(&mut self) -> &mut FlowList {
        &mut self.apart.list
    }

    /// How the stream's positions are counted.
    pub fn positions(&self) -> Positions {
        self.positions
    }

    /// Sequence number of a stream offset.
    pub fn position(&self, offset: u64) -> u32 {
        self.positions.of(offset)
    }

    /// Direction of the list.
    pub fn direction(&self) -> Direction {
        self.direction
    }

    /// Stream offset of the end of the last posted buffer.
    pub fn end(&self) -> u64 {
        self.apart.end
    }

    /// Stream offset up to which segments are confirmed. Behind a cut that is what was confirmed
    /// before it, as far as what took its place reaches.
    pub fn confirmed_end(&self) -> u64 {
        self.apart.confirmed_end.min(self.apart.end)
    }

    /// Whether all posted segments are confirmed.
    pub fn is_confirmed(&self) -> bool {
        self.apart.pending.is_empty()
    }

    /// What the queue waits for: for commands, floors included, or for room or regions for the
    /// requests that wait. `may_post` says whether the flow may have one more of them. A list that
    /// is full and cannot grow has a free entry when a floor is confirmed, or when its pool has one
    /// again: both end a rest.
    pub fn rest(&self, may_post: bool) -> Rest {
        let list = &self.apart.list;
        let has_place = may_post && list.room() > 0;
        match self.apart.waiting.is_empty() || !(has_place || list.may_grow()) {
            true => self.rest_of_commands(),
            false => Rest::Due,
        }
    }

    /// Whether requests wait because the pool of lists was empty.
    pub fn wants_list(&self) -> bool {
        !self.apart.waiting.is_empty() && self.apart.list.is_refused()
    }

    /// Adds a buffer, which is posted when the list has a free entry.
    pub fn add(&mut self, buffer: Buffer) {
        self.apart.waiting.push_back(buffer);
    }

    /// Requests that are not complete.
    pub fn open_requests(&self) -> usize {
        self.apart.posted.len() + self.apart.waiting.len()
    }

    /// What the queue waits for, but for those that wait to be posted.
    pub fn rest_of_commands(&self) -> Rest {
        let apart = &self.apart;
        match apart.pending.is_empty() && apart.pending_floors.is_empty() {
            true => apart.list.rest(),
            false => apart.list.rest().max(Rest::UnderWay),
        }
    }

    /// Requests that are not posted yet.
    pub fn waiting(&self) -> usize {
        self.apart.waiting.len()
    }

    /// The request to post next.
    pub(super) fn next(&self) -> Option<&Buffer> {
        self.apart.waiting.front()
    }

    /// The requests that wait, but for the first ones.
    pub(super) fn waiting_from(&self, first: usize) -> impl Iterator<Item = &Buffer> {
        self.apart.waiting.iter().skip(first)
    }

    /// Bytes of the buffer that was posted last.
    pub(super) fn last_bytes(&self) -> u64 {
        self.apart.posted.back().map_or(0, |last| last.buffer.bytes.into())
    }

    /// Whether any request is still open.
    pub fn has_requests(&self) -> bool {
        !self.apart.posted.is_empty() || !self.apart.waiting.is_empty()
    }

    /// Number of waiting requests, from the front, whose regions are confirmed and for which the
    /// list has room.
    pub fn ready(&self, confirmed: impl Fn(Ticket) -> bool) -> usize {
        let known = |buffer: &&Buffer| buffer.known.is_none_or(&confirmed);
        let waiting = self.apart.waiting.iter().take(self.apart.list.room());
        waiting.take_while(known).count()
    }

    /// Gives the next request its place in stream and list. Returns its segment, whose command must
    /// be noted ([`BufferQueue::appended`]); `None` when there is no request, or no free entry.
    pub(super) fn append(&mut self) -> Option<Segment> {
        self.apart.waiting.front()?;
        let index = self.apart.list.push()?;
        self.append_as(index)
    }

    /// Gives the next request its place in the stream and in the segment that was appended last,
    /// whose command is not queued yet: its memory begins where that of the segment ends. Returns
    /// whether it was so.
    pub(super) fn extend(&mut self, segment: &mut Segment) -> bool {
        let end = segment.offset + u64::from(segment.bytes);
        let next = self.apart.waiting.front().filter(|next| {
            let region = (next.region.index, next.region.key);
            region == (segment.region, segment.region_key) && next.offset == end
        });
        let more = next.map(|next| next.bytes);
        segment.bytes += more.unwrap_or(0);
        more.is_some() && self.append_as(segment.index).is_some()
    }

    /// The next request is posted, in the segment of this index.
    fn append_as(&mut self, index: u16) -> Option<Segment> {
        let buffer = self.apart.waiting.pop_front()?;
        let start = self.apart.end;
        let segment = (start, buffer.bytes);
        self.apart.posted.push_back(Posted {
            buffer,
            start,
            index,
            segment,
            truncation: Truncation::Not,
        });
        self.note_oldest();
        self.apart.end += u64::from(buffer.bytes);
        Some(Segment {
            index,
            position: self.position(start),
            bytes: buffer.bytes,
            region: buffer.region.index,
            region_key: buffer.region.key,
            offset: buffer.offset,
        })
    }

    /// A segment that was appended is posted by the command of `ticket`. Others may have been
    /// appended behind it, whose commands are not queued yet: it confirms nothing of them.
    pub fn note_appended(&mut self, ticket: Ticket, segment: &Segment) {
        let behind = segment.position.wrapping_add(segment.bytes);
        let end = self.positions.offset(behind, self.apart.end).unwrap_or(0);
        self.apart.pending.push_back((ticket, end));
    }

    /// Ends the posted buffers at a stream offset: the next one begins there. Those that begin
    /// behind it get nothing.
    pub(super) fn truncate_at(&mut self, offset: u64) {
        let first = self.place(offset);
        for posted in self.apart.posted.range_mut(first..) {
            posted.start = posted.start.min(offset);
            posted.buffer.bytes = (offset - posted.start) as u32;
            posted.truncation = Truncation::UnderWay(None);
        }
        self.apart.end = offset;
        self.note_oldest();
    }

    /// What was truncated last is truncated by the command of `ticket`.
    pub(super) fn note_truncated_by(&mut self, ticket: Ticket) {
        for posted in &mut self.apart.posted {
            if posted.truncation == Truncation::UnderWay(None) {
                posted.truncation = Truncation::UnderWay(Some(ticket));
            }
        }
    }

    /// Takes confirmations of truncations. Returns whether others are under way.
    pub(super) fn confirm_truncations(&mut self, confirmed: impl Fn(Ticket) -> bool) -> bool {
        for posted in &mut self.apart.posted {
            match posted.truncation {
                Truncation::UnderWay(Some(ticket)) if confirmed(ticket) => {
                    posted.truncation = Truncation::Done
                }
                Truncation::UnderWay(_) => return true,
                _ => {}
            }
        }
        false
    }

    /// Takes confirmations.
    pub fn confirm(&mut self, confirmed: impl Fn(Ticket) -> bool) {
        while let Some(&(ticket, end)) = self.apart.pending.front() {
            if !confirmed(ticket) {
                break;
            }
            self.apart.confirmed_end = end;
            self.apart.pending.pop_front();
        }
    }

    /// A floor was requested at this stream offset, with this head of the list.
    pub fn floor_asked(&mut self, ticket: Ticket, offset: u64, head: u16) {
        self.apart.pending_floors.push_back((ticket, offset, head));
    }

    /// Takes confirmations of floors, and passes the heads that came with them. Returns the last
    /// floor that was confirmed by now, if one was.
    pub fn confirmed_floor(&mut self, confirmed: impl Fn(Ticket) -> bool) -> Option<u64> {
        let mut floor = None;
        while let Some(&(ticket, offset, head)) = self.apart.pending_floors.front() {
            if !confirmed(ticket) {
                break;
            }
            floor = Some(offset);
            self.apart.list.pass(head);
            self.apart.pending_floors.pop_front();
        }
        floor
    }

    /// Posted buffers, oldest first.
    pub(super) fn posted(&self) -> &VecDeque<Posted> {
        &self.apart.posted
    }

    /// Must follow each change of `posted`.
    fn note_oldest(&mut self) {
        let oldest = self.apart.posted.front();
        self.oldest_is_partial = oldest.is_some_and(|oldest| oldest.buffer.partial);
        self.oldest_index = oldest.map_or(0, |oldest| oldest.index);
        self.oldest_end = oldest.map_or(0, Posted::end);
        self.apart.near.set((0, 0, 0));
    }

    /// Whether the request of the oldest posted buffer may complete before it is full.
    pub(super) fn oldest_is_partial(&self) -> bool {
        self.oldest_is_partial
    }

    /// Stream offset of the end of the oldest posted buffer; 0 if there is none.
    pub(super) fn oldest_end(&self) -> u64 {
        self.oldest_end
    }

    /// Place in [`BufferQueue::posted`] of the first buffer that ends beyond `offset`, or its
    /// length when there is none.
    pub(super) fn place(&self, offset: u64) -> usize {
        match offset < self.oldest_end {
            true => 0,
            false => self.apart.posted.partition_point(|posted| posted.end() <= offset),
        }
    }

    /// List index of the segment at `BufferQueue::place`, or of the next one to be posted.
    pub fn index(&self, offset: u64) -> u16 {
        if offset < self.oldest_end {
            return self.oldest_index;
        }
        let (start, end, index) = self.apart.near.get();
        if (start..end).contains(&offset) {
            return index;
        }
        let Some(posted) = self.apart.posted.get(self.place(offset)) else {
            return self.apart.list.tail();
        };
        self.apart.near.set((posted.start, posted.end(), posted.index));
        posted.index
    }

    /// Moves the requests that end at or below `offset`, which are complete and full or were
    /// truncated, to `done`; none whose truncation is under way, nor any behind it.
    pub fn complete(&mut self, offset: u64, done: &mut Vec<CompletedBuffer>) {
        let ended = self.apart.posted.iter().take(self.place(offset));
        let count = ended.take_while(|posted| !posted.is_truncated()).count();
        if count == 0 {
            return;
        }
        let mut unused = VecDeque::new();
        for posted in self.apart.posted.drain(..count) {
            match posted.unused_buffer() {
                Some(buffer) => unused.push_back(buffer),
                None => done.push(posted.buffer.done(posted.buffer.bytes)),
            }
        }
        if !unused.is_empty() {
            self.add_first(unused);
        }
        self.note_oldest();
    }

    /// Removes all posted buffers after the card has given up the list. The next buffer is posted
    /// at `offset`.
    pub(super) fn restart(&mut self, offset: u64) -> VecDeque<Posted> {
        self.apart.pending.clear();
        self.apart.end = offset;
        self.apart.confirmed_end = offset;
        let mut posted = std::mem::take(&mut self.apart.posted);
        for posted in &mut posted {
            posted.buffer = posted.unused_buffer().unwrap_or(posted.buffer);
        }
        self.note_oldest();
        posted
    }

    /// Inserts requests before those that wait.
    pub(super) fn add_first(&mut self, mut buffers: VecDeque<Buffer>) {
        buffers.append(&mut self.apart.waiting);
        self.apart.waiting = buffers;
    }

    /// Removes the requests that wait, in order.
    pub(super) fn take_waiting(&mut self) -> VecDeque<Buffer> {
        std::mem::take(&mut self.apart.waiting)
    }

    /// Removes the oldest request of this name that waits, if there is one, and returns what it
    /// has.
    pub fn cancel_waiting(&mut self, request: u64) -> Option<CompletedBuffer> {
        let at = self.apart.waiting.iter().position(|b| b.request == request)?;
        self.apart.waiting.remove(at).map(|buffer| buffer.done(0))
    }

    /// How far the oldest posted request of this name has come.
    pub fn posted_state(&self, request: u64) -> Option<PostedState> {
        let posted = self.apart.posted.iter().find(|p| p.buffer.request == request)?;
        Some(match posted.end() <= self.apart.confirmed_end {
            true => PostedState::Confirmed,
            false => PostedState::Unconfirmed,
        })
    }

    /// Whether a request has bytes of the stream before `offset`.
    pub fn has_bytes_before(&self, offset: u64) -> bool {
        let is_begun = |posted: &Posted| posted.start < offset || posted.buffer.filled > 0;
        let waits = |buffer: &Buffer| buffer.filled > 0;
        self.apart.posted.front().is_some_and(is_begun)
            || self.apart.waiting.front().is_some_and(waits)
    }

    /// Removes all requests, in order, after the flow was removed: those that have bytes of the
    /// stream before `offset` are done with them.
    pub fn end_at(&mut self, offset: u64, ended: &mut Withdrawn) {
        let posted = self.apart.posted.drain(..).map(|posted| {
            let bytes = offset.saturating_sub(posted.start).min(posted.buffer.bytes.into());
            posted.buffer.done(bytes as u32)
        });
        let waiting = self.apart.waiting.drain(..).map(|buffer| buffer.done(0));
        for done in posted.chain(waiting) {
            match done.bytes {
                0 => ended.cancelled.push(done.request),
                _ => ended.done.push(done),
            }
        }
        self.note_oldest();
    }

    /// Removes all requests, in order, after the flow was removed.
    pub fn cancel(&mut self) -> Vec<u64> {
        let posted = self.apart.posted.drain(..).map(|posted| posted.buffer);
        let all = posted.chain(self.apart.waiting.drain(..));
        let requests = all.map(|buffer| buffer.request).collect();
        self.note_oldest();
        requests
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::regions::RegionName;

    fn buffer(bytes: u32) -> Buffer {
        Buffer {
            request: 0,
            region: RegionName { index: 0, key: 1 },
            known: None,
            offset: 0,
            bytes,
            partial: false,
            filled: 0,
        }
    }

    /// What is kept of the oldest buffer is what the list says.
    fn check(queue: &BufferQueue) {
        let front = queue.posted().front();
        assert_eq!(queue.oldest_end(), front.map_or(0, Posted::end));
        let is_partial = front.is_some_and(|front| front.buffer.partial);
        assert_eq!(queue.oldest_is_partial(), is_partial);
        for offset in 0..queue.end() + 2 {
            let place = queue.posted().partition_point(|p| p.end() <= offset);
            assert_eq!(queue.place(offset), place, "offset {offset}");
            let index = queue.posted().get(place).map_or(queue.list().tail(), |p| p.index);
            assert_eq!(queue.index(offset), index, "offset {offset}");
        }
    }

    #[test]
    fn oldest_buffer_is_known_after_changes() {
        let mut queue = BufferQueue::new(7, 1, Direction::Send);
        check(&queue);
        for round in 0..40 {
            for bytes in [3, 1, 5] {
                queue.add(Buffer { partial: bytes == 1, ..buffer(bytes) });
                let segment = queue.append().expect("room");
                queue.note_appended(Ticket(0), &segment);
                check(&queue);
            }
            queue.confirm(|_| true);
            match round % 8 {
                6 => drop(queue.restart(queue.end())),
                7 => assert!(!queue.cancel().is_empty()),
                _ => {}
            }
            check(&queue);
            let mut done = Vec::new();
            for offset in queue.end().saturating_sub(9)..=queue.end() {
                queue.complete(offset, &mut done);
                check(&queue);
            }
            assert_eq!(queue.oldest_end(), 0, "all is complete");
            let tail = queue.list().tail();
            queue.list_mut().pass(tail);
        }
    }

    /// Of two segments that were appended in one step, the card may know the first one alone.
    #[test]
    fn command_confirms_its_segment_only() {
        for (is_shared, first_end) in [(false, 3), (true, 5)] {
            let mut queue = BufferQueue::new(u32::MAX - 4, 1, Direction::Send);
            queue.add(buffer(3));
            queue.add(Buffer { offset: 3, ..buffer(2) });
            queue.add(buffer(7));
            let mut first = queue.append().expect("room");
            assert_eq!(is_shared && queue.extend(&mut first), is_shared);
            let second = queue.append().expect("room");
            queue.note_appended(Ticket(1), &first);
            queue.note_appended(Ticket(2), &second);
            queue.confirm(|ticket| ticket == Ticket(1));
            assert_eq!(queue.confirmed_end(), first_end);
            queue.confirm(|_| true);
            assert_eq!(queue.confirmed_end(), queue.end());
        }
    }
}
