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

use super::commands::{segment_post, Direction, Entry, FlowName, Segment};
use super::receive::{Buffer, Done};
use crate::device::Ticket;

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
    capacity: u16,
    waiting: VecDeque<Buffer>,
    posted: VecDeque<Posted>,
    tail: u16,
    posted_end: u64,
    confirmed_end: u64,
    pending_posts: VecDeque<(Ticket, u64)>,
    fed: u64,
    floor: u64,
    floor_asked: u64,
    pending_floors: VecDeque<(Ticket, u64)>,
}

impl SendSide {
    /// A side whose first byte has sequence number `base`, with a list of `capacity` segments.
    pub fn new(base: u32, capacity: u16) -> Self {
        Self {
            base,
            capacity,
            waiting: VecDeque::new(),
            posted: VecDeque::new(),
            tail: 0,
            posted_end: 0,
            confirmed_end: 0,
            pending_posts: VecDeque::new(),
            fed: 0,
            floor: 0,
            floor_asked: 0,
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

    /// Posts what the list has room for. Returns whether anything was posted.
    pub fn post(&mut self, name: FlowName, mut command: impl FnMut(Entry) -> Ticket) -> bool {
        let mut any = false;
        while self.posted.len() < usize::from(self.capacity) {
            let Some(buffer) = self.waiting.pop_front() else {
                break;
            };
            let segment = Segment {
                index: self.tail,
                position: self.position(self.posted_end),
                bytes: buffer.bytes,
                region: buffer.region,
                region_key: buffer.region_key,
                offset: buffer.offset,
            };
            let ticket = command(segment_post(name, Direction::Send, &segment));
            self.posted.push_back(Posted {
                buffer,
                start: self.posted_end,
                index: self.tail,
            });
            self.tail = self.tail.wrapping_add(1);
            self.posted_end += u64::from(buffer.bytes);
            self.pending_posts.push_back((ticket, self.posted_end));
            any = true;
        }
        any
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

    /// Bytes fed in all.
    pub fn fed(&self) -> u64 {
        self.fed
    }

    /// Whether every request was fed.
    pub fn all_fed(&self) -> bool {
        self.waiting.is_empty() && self.fed == self.posted_end
    }

    /// List index of the segment that holds a sequence number.
    pub fn segment_index(&self, position: u32) -> Option<u16> {
        let ahead = position.wrapping_sub(self.position(self.floor)) as i32;
        let offset = self.floor.checked_add_signed(i64::from(ahead))?;
        self.posted
            .iter()
            .find(|p| (p.start..p.end()).contains(&offset))
            .map(|p| p.index)
    }

    /// The peer has acknowledged everything but `unacknowledged` bytes of what was fed. Returns the
    /// floor (sequence number, first index still needed) to ask the card for, if it moved past a
    /// whole segment or everything is acknowledged.
    pub fn acknowledge(&mut self, unacknowledged: u64) -> Option<(u32, u16)> {
        let floor = self.fed.saturating_sub(unacknowledged);
        let segment_passed = self
            .posted
            .iter()
            .any(|p| p.end() <= floor && p.end() > self.floor_asked);
        if !segment_passed || floor <= self.floor_asked {
            return None;
        }
        self.floor_asked = floor;
        let needed = self.posted.iter().find(|p| p.end() > floor);
        Some((self.position(floor), needed.map_or(self.tail, |p| p.index)))
    }

    /// The floor of [`SendSide::acknowledge`] was asked for.
    pub fn floor_asked(&mut self, ticket: Ticket) {
        self.pending_floors.push_back((ticket, self.floor_asked));
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
        while let Some(&(ticket, floor)) = self.pending_floors.front() {
            if !confirmed(ticket) {
                break;
            }
            self.floor = floor;
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
