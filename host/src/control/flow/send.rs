//! Send side of one flow: buffers posted at stream positions, bytes offered to the protocol, bytes
//! acknowledged.
//!
//! ```text
//!   stream   0 ...... floor ..... acknowledged ..... offered ........ end of the queue
//!               │ complete │ floor under way  │ may be sent  │ under way
//! ```
//! Invariants
//! 1. The protocol is offered only bytes whose segments are confirmed, so the card finds the
//!    payload of every header.
//! 2. A request completes only after a send floor beyond it is confirmed: no fetch of it is in
//!    flight.

use abi::config::FLOW_REACH_BYTES;

use super::buffer::{CompletedBuffer, SendPart};
use super::posted::BufferQueue;
use crate::control::rest::Rest;
use crate::records::commands::{Direction, Segment};
use crate::records::ticket::Ticket;

/// Any so many consecutive segments hold at least [`DESCRIPTOR_BYTES_MAX`] bytes. Page boundaries
/// included, the payload of a descriptor then has less than `abi::config::SEND_PIECES_MAX` pieces.
const SMALL_SEGMENTS_MAX: usize = 64;
/// A request shorter than this may share its segment, and its floor, with others.
const SMALL_BYTES: u32 = 4096;
/// Longest segment of several requests.
const SHARED_BYTES_MAX: u32 = 1 << 16;
/// How long a floor waits at most for that of the next request.
const HELD_NS: u64 = 1_000_000;
/// Longest payload of a descriptor, bytes: limit of a TSO header of the transport.
pub const DESCRIPTOR_BYTES_MAX: u32 = 1 << 16;

/// The send side. See the head of this file. What a descriptor needs is in its first line of 64
/// bytes.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct SendSide {
    floor: u64,
    /// Buffers, waiting and posted.
    pub queue: BufferQueue,
    offered: u64,
    floor_asked: u64,
    /// 0: no floor waits.
    held_until_ns: u64,
    head_asked: u16,
}

impl SendSide {
    /// The side of a flow whose first byte has sequence number `base`.
    pub fn new(base: u32, flow: u16) -> Self {
        Self {
            queue: BufferQueue::new(base, flow, Direction::Send),
            offered: 0,
            floor: 0,
            floor_asked: 0,
            held_until_ns: 0,
            head_asked: 0,
        }
    }

    /// Sequence number of the last confirmed send floor.
    pub fn floor_position(&self) -> u32 {
        self.queue.position(self.floor)
    }

    /// Highest ACK number that the peer can send: all that is posted, and a FIN.
    pub fn ack_high(&self) -> u32 {
        self.queue.position(self.queue.end()).wrapping_add(1)
    }

    /// Whether one more segment may be posted: no descriptor may get too many pieces, and the flow
    /// must stay within its reach.
    fn may_post(&self, bytes: u32) -> bool {
        let end = self.queue.end() + u64::from(bytes);
        let posted = self.queue.posted();
        let run = posted.len().checked_sub(SMALL_SEGMENTS_MAX - 1);
        let first = run.and_then(|at| posted.get(at));
        let large = first.is_none_or(|first| end - first.start >= DESCRIPTOR_BYTES_MAX.into());
        large && end - self.floor < FLOW_REACH_BYTES.into()
    }

    fn may_post_next(&self) -> bool {
        self.may_post(self.queue.next().map_or(0, |buffer| buffer.bytes))
    }

    /// The segment of the next of `ready` requests, if it may be posted, and how many requests it
    /// has: small ones that follow each other in memory share it. Its command must be noted.
    pub fn append(&mut self, ready: usize) -> Option<(Segment, usize)> {
        let bytes = self.queue.next().filter(|_| ready > 0)?.bytes;
        let mut segment = self.may_post(bytes).then(|| self.queue.append())??;
        let mut requests = 1;
        while requests < ready && segment.bytes < SHARED_BYTES_MAX {
            let next = self.queue.next().map_or(0, |next| next.bytes);
            let is_small = next < SMALL_BYTES && segment.bytes + next <= SHARED_BYTES_MAX;
            if !is_small || !self.may_post(next) || !self.queue.extend(&mut segment) {
                break;
            }
            requests += 1;
        }
        Some((segment, requests))
    }

    /// The end of what the protocol may send, if there is more than it was told.
    pub fn offer(&mut self) -> Option<u64> {
        let end = self.queue.confirmed_end();
        (std::mem::replace(&mut self.offered, end) != end).then_some(end)
    }

    /// The end of what the protocol was told that it may send.
    pub fn offered_end(&self) -> u64 {
        self.offered
    }

    /// Whether every request was offered.
    pub fn all_offered(&self) -> bool {
        self.queue.waiting() == 0 && self.offered == self.queue.end()
    }

    /// List index of the segment that holds a sequence number. For a number below the floor, it is
    /// the first segment left; the card trims the part below the floor.
    pub fn segment_index(&self, position: u32) -> u16 {
        let offset = self.queue.positions().offset(position, self.floor);
        self.queue.index(offset.unwrap_or(0))
    }

    /// The peer has acknowledged everything before `to`. Returns whether a floor is due
    /// ([`SendSide::requested_floor`]): it passed a whole request. One for a small request alone
    /// waits for the next one, unless it `rides` on another command, nothing else is posted, or it
    /// has waited long enough.
    pub fn acknowledge(&mut self, to: u64, (rides, now_ns): (bool, u64)) -> bool {
        let floor = to.min(self.offered);
        let at = self.queue.place(floor);
        let passed = at.checked_sub(1).and_then(|last| self.queue.posted().get(last));
        let Some(passed) = passed.filter(|passed| passed.end() > self.floor_asked) else {
            return false;
        };
        let is_alone = passed.start <= self.floor_asked && passed.buffer.bytes < SMALL_BYTES;
        if is_alone && !rides && passed.end() < self.queue.end() {
            if self.held_until_ns == 0 {
                self.held_until_ns = now_ns + HELD_NS;
            }
            if now_ns < self.held_until_ns {
                return false;
            }
        }
        self.held_until_ns = 0;
        self.floor_asked = floor;
        self.head_asked = self.queue.index(floor);
        true
    }

    /// When a floor is due that waits for another request to be acknowledged; 0 if none does.
    pub fn held_until_ns(&self) -> u64 {
        self.held_until_ns
    }

    /// The floor that was requested last (sequence number, first index still needed).
    pub fn requested_floor(&self) -> (u32, u16) {
        (self.queue.position(self.floor_asked), self.head_asked)
    }

    /// The end of the oldest buffer: what is acknowledged before it completes nothing, and moves no
    /// floor.
    pub fn quiet_to(&self) -> u64 {
        self.queue.oldest_end()
    }

    /// Whether a sequence number is below the confirmed floor: its buffer was returned.
    pub fn is_below_floor(&self, position: u32) -> bool {
        self.queue.positions().distance_from(position, self.floor) < 0
    }

    /// The parts of buffers that hold `bytes` bytes from a sequence number on, at or above the
    /// floor, in order. `None` when no posted buffer holds one of them.
    pub fn parts(&self, position: u32, bytes: u32) -> Option<Vec<SendPart>> {
        let ahead = self.queue.positions().distance_from(position, self.floor);
        let (mut at, mut left) = (self.floor + u64::try_from(ahead).ok()?, bytes);
        let mut parts = Vec::new();
        let first = self.queue.place(at);
        for posted in self.queue.posted().range(first..) {
            if left == 0 {
                break;
            }
            let within = at.checked_sub(posted.start)?;
            let take = u64::from(left).min(posted.end() - at) as u32;
            parts.push(SendPart {
                region: posted.buffer.region,
                offset: posted.buffer.offset + within,
                bytes: take,
            });
            at += u64::from(take);
            left -= take;
        }
        (left == 0).then_some(parts)
    }

    /// What the side waits for.
    pub fn rest(&self) -> Rest {
        self.queue.rest(self.may_post_next())
    }

    /// Whether a floor beyond this sequence number was requested.
    pub fn has_passed(&self, position: u32) -> bool {
        self.queue.positions().distance_from(position, self.floor_asked) < 0
    }

    /// The floor of [`SendSide::acknowledge`] was requested.
    pub fn floor_asked(&mut self, ticket: Ticket) {
        self.queue.floor_asked(ticket, self.floor_asked, self.head_asked);
    }

    /// Takes confirmations. Requests that are complete go to `done`.
    pub fn confirm(&mut self, confirmed: impl Fn(Ticket) -> bool, done: &mut Vec<CompletedBuffer>) {
        self.queue.confirm(&confirmed);
        if let Some(floor) = self.queue.confirmed_floor(confirmed) {
            self.floor = floor;
        }
        self.queue.complete(self.floor, done);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::flow::buffer::Buffer;
    use crate::control::regions::RegionName;

    fn buffer(request: u64, bytes: u32) -> Buffer {
        Buffer {
            request,
            region: RegionName { index: 0, key: 1 },
            known: None,
            offset: 0,
            bytes,
            partial: false,
            filled: 0,
        }
    }

    /// Until the fence of its floor has passed, the card may still read a buffer.
    #[test]
    fn nothing_completes_before_floor_confirmation() {
        let (mut side, mut done) = (SendSide::new(7, 1), Vec::new());
        side.queue.add(buffer(3, 100));
        let (segment, _) = side.append(1).expect("room");
        side.queue.note_appended(Ticket(0), &segment);
        side.confirm(|_| true, &mut done);
        let end = side.offer().expect("it is confirmed");
        assert!(side.acknowledge(end, (true, 0)));
        side.floor_asked(Ticket(1));
        for _ in 0..3 {
            side.confirm(|_| false, &mut done);
            side.confirm(|ticket| ticket == Ticket(0), &mut done);
            assert!(done.is_empty(), "a buffer that may still be read is given back");
            assert_eq!(side.floor_position(), 7);
        }
        side.confirm(|ticket| ticket == Ticket(1), &mut done);
        assert_eq!((done.len(), side.floor_position()), (1, 107));
    }

    /// After 40,000 segments, more than half of the index range, a position below the floor gets
    /// the index of the first segment left, never 0.
    #[test]
    fn retransmission_below_floor_starts_at_rest() {
        const BYTES: u32 = 100;
        let (mut side, mut done) = (SendSide::new(0, 1), Vec::new());
        for number in 0..40_000u64 {
            side.queue.add(buffer(number, BYTES));
            let (segment, _) = side.append(1).expect("room");
            side.queue.note_appended(Ticket(number), &segment);
            side.confirm(|_| true, &mut done);
            let end = side.offer().expect("more is confirmed");
            // The last one stays open.
            if number < 39_999 {
                assert!(side.acknowledge(end, (true, 0)));
                side.floor_asked(Ticket(number));
                done.clear();
                side.confirm(|_| true, &mut done);
                assert_eq!(done.len(), 1);
            }
        }
        let floor = side.queue.position(39_999 * u64::from(BYTES));
        for behind in [0, 1, 5000] {
            assert_eq!(side.segment_index(floor.wrapping_sub(behind)), 39_999);
        }
        assert_eq!(side.segment_index(floor + BYTES - 1), 39_999);
        assert_eq!(side.segment_index(floor + BYTES), 40_000, "the next to be posted");
    }
}
