//! One flow's send side: buffers posted at stream positions, what the transport was fed, what is
//! acknowledged.
//!
//! ```text
//!   stream   0 ...... floor ...... fed ...... confirmed_end ...... posted_end
//!               │ acknowledged │ transport may send │ card knows the segments
//! ```
//! Invariants
//! 1. The transport is fed only bytes whose segments the card has confirmed: every header it makes
//!    finds them.
//! 2. A request completes only after the send floor beyond it is confirmed: no fetch of it is left.

use std::collections::VecDeque;

use abi::config::FLOW_REACH_BYTES;

use super::buffer::{ready, Buffer, Done};
use super::commands::{segment_post, Direction, Entry, FlowName, Segment};
use super::lists::FlowList;
use crate::device::Ticket;
use crate::error::Result;

/// Segments of which any so many in a row hold [`DESCRIPTOR_BYTES_MAX`] bytes: with page ends, the
/// payload of a descriptor then lies in less than `abi::config::SEND_PIECES_MAX` pieces.
const SMALL_SEGMENTS_MAX: usize = 64;
/// Longest payload of a descriptor, bytes: that of a TSO header of the transport.
pub const DESCRIPTOR_BYTES_MAX: u32 = 1 << 16;

#[derive(Clone, Copy, Debug)]
struct Posted {
    buffer: Buffer,
    start: u64,
    index: u16,
}

impl Posted {
    fn end(&self) -> u64 {
        self.start + u64::from(self.buffer.bytes)
    }
}

/// The send side. See the module's head.
#[derive(Debug)]
pub struct SendSide {
    base: u32,
    /// The list on the card.
    pub list: FlowList,
    waiting: VecDeque<Buffer>,
    posted: VecDeque<Posted>,
    posted_end: u64,
    confirmed_end: u64,
    pending_posts: VecDeque<(Ticket, u64)>,
    fed: u64,
    floor: u64,
    floor_asked: u64,
    head_asked: u16,
    pending_floors: VecDeque<(Ticket, u64, u16)>,
}

impl SendSide {
    /// The side of a flow whose first byte has sequence number `base`.
    pub fn new(base: u32, flow: u16) -> Self {
        Self {
            base,
            list: FlowList::new(flow),
            waiting: VecDeque::new(),
            posted: VecDeque::new(),
            posted_end: 0,
            confirmed_end: 0,
            pending_posts: VecDeque::new(),
            fed: 0,
            floor: 0,
            floor_asked: 0,
            head_asked: 0,
            pending_floors: VecDeque::new(),
        }
    }

    /// Sequence number of a stream offset.
    pub fn position(&self, offset: u64) -> u32 {
        self.base.wrapping_add(offset as u32)
    }

    /// Sequence number of the send floor that was confirmed last.
    pub fn floor_position(&self) -> u32 {
        self.position(self.floor)
    }

    /// Highest ACK number that the peer can send: all that is posted, and the FIN.
    pub fn ack_high(&self) -> u32 {
        self.position(self.posted_end).wrapping_add(1)
    }

    /// Takes a buffer; it is posted when the list has room.
    pub fn add(&mut self, buffer: Buffer) {
        self.waiting.push_back(buffer);
    }

    /// Requests that are not posted yet.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Whether one more segment would leave no descriptor with too many pieces, and the flow within
    /// its reach.
    fn may_post(&self, buffer: &Buffer) -> bool {
        let end = self.posted_end + u64::from(buffer.bytes);
        let run = self.posted.len().checked_sub(SMALL_SEGMENTS_MAX - 1);
        let first = run.and_then(|at| self.posted.get(at));
        let large = first.is_none_or(|first| end - first.start >= DESCRIPTOR_BYTES_MAX.into());
        large && end - self.floor < FLOW_REACH_BYTES.into()
    }

    /// Requests at the front whose regions the card knows.
    pub fn ready(&self, confirmed: impl Fn(Ticket) -> bool) -> usize {
        ready(&self.waiting, confirmed)
    }

    /// Posts what the list has room for, of the first `ready` requests. Returns whether anything
    /// was posted.
    pub fn post(
        &mut self,
        name: FlowName,
        ready: usize,
        mut command: impl FnMut(Entry) -> Result<Ticket>,
    ) -> Result<bool> {
        let mut any = false;
        for _ in 0..ready {
            let Some(&buffer) = self.waiting.front() else {
                break;
            };
            if !self.may_post(&buffer) {
                break;
            }
            let Some(index) = self.list.push() else {
                break;
            };
            self.waiting.pop_front();
            let segment = Segment {
                index,
                position: self.position(self.posted_end),
                bytes: buffer.bytes,
                region: buffer.region.index,
                region_key: buffer.region.key,
                offset: buffer.offset,
            };
            let ticket = command(segment_post(name, Direction::Send, &segment))?;
            self.posted.push_back(Posted {
                buffer,
                start: self.posted_end,
                index,
            });
            self.posted_end += u64::from(buffer.bytes);
            self.pending_posts.push_back((ticket, self.posted_end));
            any = true;
        }
        Ok(any)
    }

    /// Bytes the transport may be fed now.
    pub fn feedable(&self) -> u64 {
        self.confirmed_end - self.fed
    }

    /// The transport took `bytes`.
    pub fn feed(&mut self, bytes: u64) {
        assert!(bytes <= self.feedable(), "fed more than was confirmed");
        self.fed += bytes;
    }

    /// Whether every request was fed.
    pub fn all_fed(&self) -> bool {
        self.waiting.is_empty() && self.fed == self.posted_end
    }

    /// List index of the segment that holds a sequence number; of the first that is left where it
    /// lies below the floor, which the card trims off.
    pub fn segment_index(&self, position: u32) -> u16 {
        let ahead = position.wrapping_sub(self.position(self.floor)) as i32;
        let offset = self.floor.checked_add_signed(i64::from(ahead));
        let held = |offset| self.posted.partition_point(|p| p.end() <= offset);
        let held = self.posted.get(offset.map_or(0, held));
        held.map_or(self.list.tail(), |p| p.index)
    }

    /// Whether any request is still open.
    pub fn has_requests(&self) -> bool {
        !self.posted.is_empty() || !self.waiting.is_empty()
    }

    /// The peer has acknowledged everything but `unacknowledged` bytes of what was fed. Returns the
    /// floor (sequence number, first index still needed) to ask the card for, if it moved past a
    /// whole segment.
    pub fn acknowledge(&mut self, unacknowledged: u64) -> Option<(u32, u16)> {
        let floor = self.fed.saturating_sub(unacknowledged);
        let at = self.posted.partition_point(|p| p.end() <= floor);
        let passed = at.checked_sub(1).and_then(|last| self.posted.get(last));
        if passed.is_none_or(|p| p.end() <= self.floor_asked) {
            return None;
        }
        self.floor_asked = floor;
        let needed = self.posted.get(at);
        self.head_asked = needed.map_or(self.list.tail(), |p| p.index);
        Some((self.position(floor), self.head_asked))
    }

    /// The floor of [`SendSide::acknowledge`] was asked for.
    pub fn floor_asked(&mut self, ticket: Ticket) {
        self.pending_floors
            .push_back((ticket, self.floor_asked, self.head_asked));
    }

    /// Takes confirmations; the requests that are done.
    pub fn confirm(&mut self, confirmed: impl Fn(Ticket) -> bool) -> Vec<Done> {
        while let Some(&(ticket, end)) = self.pending_posts.front() {
            if !confirmed(ticket) {
                break;
            }
            self.confirmed_end = end;
            self.pending_posts.pop_front();
        }
        while let Some(&(ticket, floor, head)) = self.pending_floors.front() {
            if !confirmed(ticket) {
                break;
            }
            self.floor = floor;
            self.list.pass(head);
            self.pending_floors.pop_front();
        }
        let mut done = Vec::new();
        while let Some(posted) = self.posted.front() {
            if posted.end() > self.floor {
                break;
            }
            done.push(Done {
                request: posted.buffer.request,
                bytes: posted.buffer.bytes,
            });
            self.posted.pop_front();
        }
        done
    }

    /// Requests that will never be done, in order, when the flow is gone.
    pub fn cancel(&mut self) -> Vec<u64> {
        let posted = self.posted.drain(..).map(|p| p.buffer.request);
        let mut all: Vec<u64> = posted.collect();
        all.extend(self.waiting.drain(..).map(|b| b.request));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::super::regions::RegionName;
    use super::*;

    /// After 40,000 segments, long past half of the list's indices, what lies below the floor is
    /// looked for at the first segment that is left, never at index 0.
    #[test]
    fn a_retransmission_below_the_floor_begins_at_what_is_left() {
        const BYTES: u32 = 100;
        let name = FlowName {
            flow: 1,
            generation: 1,
        };
        let mut side = SendSide::new(0, 1);
        for number in 0..40_000u64 {
            side.add(Buffer {
                request: number,
                region: RegionName { index: 0, key: 1 },
                known: None,
                offset: 0,
                bytes: BYTES,
                partial: false,
            });
            assert!(side.post(name, 1, |_| Ok(Ticket(number))).unwrap());
            side.confirm(|_| true);
            side.feed(side.feedable());
            // The last one stays open.
            if number < 39_999 {
                assert!(side.acknowledge(0).is_some());
                side.floor_asked(Ticket(number));
                assert_eq!(side.confirm(|_| true).len(), 1);
            }
        }
        let floor = side.position(39_999 * u64::from(BYTES));
        for behind in [0, 1, 5000] {
            assert_eq!(side.segment_index(floor.wrapping_sub(behind)), 39_999);
        }
        assert_eq!(side.segment_index(floor + BYTES - 1), 39_999);
        assert_eq!(
            side.segment_index(floor + BYTES),
            40_000,
            "the next to be posted"
        );
    }
}
