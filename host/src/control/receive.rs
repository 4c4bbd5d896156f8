//! One flow's receive side: buffers posted at stream positions, what landed in them, what was
//! deferred.
//!
//! ```text
//!   stream   0 ......... announced ......... accepted ......... posted_end
//!                │ the application has it │ transport took it │ buffers wait
//! ```
//! Offsets count from the first byte of the stream in 64 bits; positions are their low 32 bits plus
//! the initial sequence number.
//!
//! Invariants
//! 1. `announced ≤ accepted ≤ posted_end`. Bytes are announced only after the card confirmed a
//!    floor at or beyond them, so the card never writes an announced byte again.
//! 2. Deferred bytes are copied only below a confirmed floor, and only where nothing landed: the
//!    first copy that landed stands. What came with packets that TCP will hardly accept stands
//!    last ([`super::expected`]).
//! 3. Buffers are withdrawn (the only one cut at its last accepted byte, several passed by the
//!    list's head; confirmed) before they go back unfilled.

use std::collections::VecDeque;

use abi::config::FLOW_REACH_BYTES;

use super::buffer::{ready, Buffer, Copy, Done, Rescue};
use super::commands::{segment_post, Direction, Entry, FlowName, Segment};
use super::deferred::Deferred;
use super::lists::FlowList;
use super::ranges::RangeSet;
use super::regions::RegionName;
use crate::device::Ticket;
use crate::error::Result;

#[derive(Clone, Copy, Debug)]
struct Posted {
    buffer: Buffer,
    start: u64,
}

impl Posted {
    fn end(&self) -> u64 {
        self.start + u64::from(self.buffer.bytes)
    }
}

/// The receive side. See the module's head.
#[derive(Debug)]
pub struct ReceiveSide {
    base: u32,
    /// The list on the card.
    pub list: FlowList,
    waiting: VecDeque<Buffer>,
    posted: VecDeque<Posted>,
    posted_end: u64,
    confirmed_end: u64,
    pending_posts: VecDeque<(Ticket, u64)>,
    accepted: u64,
    announced: u64,
    floor_asked: u64,
    pending_floors: VecDeque<(Ticket, u64, u16)>,
    withdrawing: Option<Ticket>,
    landed: RangeSet,
    /// Placed by packets that TCP will hardly accept, and by no other since.
    in_doubt: RangeSet,
    deferred: Deferred,
}

impl ReceiveSide {
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
            accepted: 0,
            announced: 0,
            floor_asked: 0,
            pending_floors: VecDeque::new(),
            withdrawing: None,
            landed: RangeSet::default(),
            in_doubt: RangeSet::default(),
            deferred: Deferred::default(),
        }
    }

    /// Sequence number of a stream offset.
    pub fn position(&self, offset: u64) -> u32 {
        self.base.wrapping_add(offset as u32)
    }

    /// Stream offset of a sequence number near the accepted bytes; `None` before the stream's first
    /// byte.
    pub fn offset(&self, position: u32) -> Option<u64> {
        let ahead = position.wrapping_sub(self.position(self.accepted)) as i32;
        self.accepted.checked_add_signed(i64::from(ahead))
    }

    /// Bytes accepted by the transport.
    pub fn accepted(&self) -> u64 {
        self.accepted
    }

    /// End of what is posted and confirmed: the right edge that may be offered to the peer.
    pub fn window_end(&self) -> u64 {
        self.confirmed_end
    }

    /// Bytes that the transport may accept now.
    pub fn drainable(&self) -> u64 {
        if self.withdrawing.is_some() {
            return 0;
        }
        self.confirmed_end - self.accepted
    }

    /// Bytes held for the flow outside its buffers.
    pub fn deferred_bytes(&self) -> usize {
        self.deferred.bytes()
    }

    /// First list index still needed once everything accepted is announced.
    pub fn head(&self) -> u16 {
        let passed = self.posted.partition_point(|p| p.end() <= self.accepted);
        let needed = self.posted.len() - passed;
        self.list.tail().wrapping_sub(needed as u16)
    }

    /// Takes a buffer; it is posted when the list has room.
    pub fn add(&mut self, buffer: Buffer) {
        self.waiting.push_back(buffer);
    }

    /// Requests that are not posted yet.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Requests at the front whose regions the card knows.
    pub fn ready(&self, confirmed: impl Fn(Ticket) -> bool) -> usize {
        ready(&self.waiting, confirmed)
    }

    /// Posts what the list has room for, and what the flow may reach; of the first `ready`
    /// requests.
    pub fn post(
        &mut self,
        name: FlowName,
        mut ready: usize,
        mut command: impl FnMut(Entry) -> Result<Ticket>,
    ) -> Result<()> {
        while self.withdrawing.is_none() && ready > 0 {
            ready -= 1;
            let Some(&buffer) = self.waiting.front() else {
                break;
            };
            let reach = self.posted_end + u64::from(buffer.bytes) - self.announced;
            if reach >= FLOW_REACH_BYTES.into() {
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
            let ticket = command(segment_post(name, Direction::Receive, &segment))?;
            self.posted.push_back(Posted {
                buffer,
                start: self.posted_end,
            });
            self.posted_end += u64::from(buffer.bytes);
            self.pending_posts.push_back((ticket, self.posted_end));
        }
        Ok(())
    }

    /// Payload landed in place.
    pub fn landed(&mut self, start: u64, bytes: u64) {
        self.landed.insert(start.max(self.announced), start + bytes);
        self.in_doubt.remove(start, start + bytes);
    }

    /// Payload of a packet that TCP will hardly accept landed in place: it stands only where it is
    /// the only one. Where it overwrote what had landed, neither stands.
    pub fn landed_in_doubt(&mut self, start: u64, bytes: u64) {
        let (start, end) = (start.max(self.announced), start + bytes);
        for (gap_start, gap_end) in self.landed.gaps(start, end) {
            self.in_doubt.insert(gap_start, gap_end);
        }
        self.landed.remove(start, end);
    }

    /// Payload that TCP never hears of landed in place: what was there does not stand any more.
    pub fn spoilt(&mut self, start: u64, bytes: u64) {
        self.landed.remove(start, start + bytes);
        self.in_doubt.remove(start, start + bytes);
    }

    /// Payload was deferred. Returns false, and keeps nothing, when the flow would pass
    /// `budget_bytes`. What TCP waits for is kept all the same: it lets go of what came after it.
    pub fn defer(&mut self, start: u64, payload: Vec<u8>, budget_bytes: usize) -> bool {
        let end = start + payload.len() as u64;
        let is_next = (start..end).contains(&self.accepted);
        let budget_bytes = match is_next {
            true => budget_bytes.max(self.deferred.bytes() + payload.len()),
            false => budget_bytes,
        };
        end <= self.announced || self.deferred.keep(start, payload, budget_bytes)
    }

    /// Payload of a packet that TCP will hardly accept was deferred.
    pub fn defer_in_doubt(&mut self, start: u64, payload: Vec<u8>) {
        if start + payload.len() as u64 > self.announced {
            self.deferred.doubt(start, payload);
        }
    }

    /// The transport accepted `bytes` more in order.
    pub fn accept(&mut self, bytes: u64) {
        assert!(bytes <= self.drainable(), "accepted more than was posted");
        self.accepted += bytes;
    }

    /// The floor to ask the card for, if it has not been asked for.
    pub fn floor_wanted(&self) -> Option<u64> {
        (self.accepted > self.floor_asked).then_some(self.accepted)
    }

    /// A floor at the accepted offset was asked for, with this head of the list.
    pub fn floor_asked(&mut self, ticket: Ticket, head: u16) {
        self.floor_asked = self.accepted;
        self.pending_floors.push_back((ticket, self.accepted, head));
    }

    /// Takes confirmations. Returns the offset up to which bytes may be announced.
    pub fn confirm(&mut self, confirmed: impl Fn(Ticket) -> bool) -> u64 {
        while let Some(&(ticket, end)) = self.pending_posts.front() {
            if !confirmed(ticket) {
                break;
            }
            self.confirmed_end = self.confirmed_end.max(end);
            self.pending_posts.pop_front();
        }
        let mut floor = self.announced;
        while let Some(&(ticket, offset, head)) = self.pending_floors.front() {
            if !confirmed(ticket) {
                break;
            }
            floor = offset;
            self.list.pass(head);
            self.pending_floors.pop_front();
        }
        floor
    }

    /// The copies that complete the bytes up to `floor`. `Err` holds offset and length of bytes
    /// that are nowhere.
    pub fn copies(&mut self, floor: u64) -> std::result::Result<Vec<Copy>, (u64, u64)> {
        let mut copies = Vec::new();
        for (start, end) in self.landed.gaps(self.announced, floor) {
            let mut at = start;
            while at < end {
                if let Some(bytes) = self.deferred.kept_at(at, end) {
                    self.split_into_buffers(at, bytes, &mut copies);
                    at += bytes.len() as u64;
                    continue;
                }
                // What comes now was doubted, and TCP took it.
                let limit = self.deferred.next_kept(at, end);
                let placed = match self.in_doubt.gaps(at, limit).first() {
                    Some(&(gap, _)) => gap,
                    None => limit,
                };
                if placed > at {
                    at = placed;
                } else if let Some(bytes) = self.deferred.doubtful_at(at, limit) {
                    self.split_into_buffers(at, bytes, &mut copies);
                    at += bytes.len() as u64;
                } else {
                    return Err((at, end - at));
                }
            }
        }
        Ok(copies)
    }

    fn split_into_buffers(&self, at: u64, bytes: &[u8], copies: &mut Vec<Copy>) {
        let (mut at, mut rest) = (at, bytes);
        for posted in &self.posted {
            if rest.is_empty() {
                break;
            }
            if at >= posted.start && at < posted.end() {
                let take = rest.len().min((posted.end() - at) as usize);
                let offset = posted.buffer.offset + (at - posted.start);
                let (now, later) = rest.split_at(take);
                copies.push(Copy {
                    region: posted.buffer.region,
                    offset,
                    bytes: now.to_vec(),
                });
                at += take as u64;
                rest = later;
            }
        }
    }

    /// Announces everything below `floor`; the requests that are full.
    pub fn announce(&mut self, floor: u64) -> Vec<Done> {
        self.announced = floor;
        self.landed.remove(0, floor);
        self.in_doubt.remove(0, floor);
        self.deferred.forget_below(floor);
        let mut done = Vec::new();
        while let Some(posted) = self.posted.front() {
            if posted.end() > floor || self.withdrawing.is_some() {
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

    /// Whether the front request should go back with what it has: some bytes, and none on the way.
    pub fn wants_partial(&self) -> bool {
        let settled = self.announced == self.accepted && self.pending_posts.is_empty();
        let front = self.posted.front();
        let started = front.is_some_and(|p| p.buffer.partial && p.start < self.announced);
        self.withdrawing.is_none() && settled && started
    }

    /// The only posted buffer, to be ended where the accepted bytes end: its list index and how
    /// many bytes stay. `None` when others are posted behind it: they must leave the list, too.
    pub fn cut(&self) -> Option<(u16, u32)> {
        let front = self.posted.front().filter(|_| self.posted.len() == 1)?;
        let stay = self.accepted.saturating_sub(front.start);
        Some((self.list.tail().wrapping_sub(1), stay as u32))
    }

    /// All buffers are being withdrawn by the command of `ticket`.
    pub fn withdraw(&mut self, ticket: Ticket) {
        self.withdrawing = Some(ticket);
    }

    /// The command that withdraws, once it is confirmed and every accepted byte is announced.
    pub fn withdrawn(&self, confirmed: impl Fn(Ticket) -> bool) -> bool {
        self.announced == self.accepted && self.withdrawing.is_some_and(confirmed)
    }

    /// What must be read out of the withdrawn buffers before they go back.
    pub fn rescues(&self) -> Vec<Rescue> {
        let mut rescues = Vec::new();
        for posted in &self.posted {
            let from = posted.start.max(self.announced);
            let mut at = from;
            let gaps = self.landed.gaps(from, posted.end());
            for (gap_start, gap_end) in gaps.into_iter().chain([(posted.end(), posted.end())]) {
                if gap_start > at {
                    rescues.push(Rescue {
                        region: posted.buffer.region,
                        offset: posted.buffer.offset + (at - posted.start),
                        bytes: (gap_start - at) as usize,
                        stream_offset: at,
                    });
                }
                at = gap_end;
            }
        }
        rescues
    }

    /// Ends a withdrawal with the bytes of [`ReceiveSide::rescues`]: the front request goes back
    /// with what it has, the others are posted again from the announced offset on, or go back empty
    /// at the `end` of the stream.
    pub fn finish_withdrawal(&mut self, rescued: Vec<(u64, Vec<u8>)>, end: bool) -> Vec<Done> {
        for (start, bytes) in rescued {
            self.landed.remove(start, start + bytes.len() as u64);
            self.deferred.keep_landed(start, bytes);
        }
        // Doubtful bytes are not worth a copy: if TCP took them after all, they are missing.
        self.in_doubt = RangeSet::default();
        self.withdrawing = None;
        self.pending_posts.clear();
        self.posted_end = self.announced;
        self.confirmed_end = self.announced;
        let mut done = Vec::new();
        let mut again = VecDeque::new();
        for posted in std::mem::take(&mut self.posted) {
            let filled = self.announced.saturating_sub(posted.start);
            let bytes = filled.min(u64::from(posted.buffer.bytes)) as u32;
            if bytes > 0 || end {
                done.push(Done {
                    request: posted.buffer.request,
                    bytes,
                });
            } else {
                again.push_back(posted.buffer);
            }
        }
        if end {
            let waiting = std::mem::take(&mut self.waiting);
            done.extend(waiting.iter().map(|b| Done {
                request: b.request,
                bytes: 0,
            }));
        }
        again.append(&mut self.waiting);
        self.waiting = again;
        done
    }

    /// Requests that will never be done, in order, when the flow is gone.
    pub fn cancel(&mut self) -> Vec<u64> {
        let mut all: Vec<u64> = self.posted.drain(..).map(|p| p.buffer.request).collect();
        all.extend(self.waiting.drain(..).map(|b| b.request));
        all
    }

    /// Whether a posted buffer lies in the region.
    pub fn uses_region(&self, region: RegionName) -> bool {
        self.posted.iter().any(|p| p.buffer.region == region)
    }

    /// Whether every byte that the transport accepted is announced.
    pub fn is_settled(&self) -> bool {
        self.announced == self.accepted
    }

    /// Whether any request is still open.
    pub fn has_requests(&self) -> bool {
        !self.posted.is_empty() || !self.waiting.is_empty()
    }

    /// Whether a withdrawal is on its way.
    pub fn is_withdrawing(&self) -> bool {
        self.withdrawing.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_budget_never_keeps_out_what_the_stream_waits_for() {
        let mut side = ReceiveSide::new(0, 1);
        assert!(side.defer(100, vec![1; 900], 1000));
        assert!(!side.defer(1000, vec![2; 200], 1000), "over the budget");
        assert!(side.defer(0, vec![3; 100], 950), "the next bytes");
        assert!(side.defer(0, vec![3; 100], 950), "known already");
        assert_eq!(side.deferred_bytes(), 1000);
    }

    /// Placed copies in doubt stand only where no other one came, and never where they fell upon
    /// bytes that had landed.
    #[test]
    fn doubtful_bytes_stand_last() {
        let mut side = ReceiveSide::new(0, 1);
        side.landed_in_doubt(0, 30);
        side.landed(10, 10);
        side.defer(20, vec![7; 5], 1000);
        side.defer_in_doubt(30, vec![9; 10]);
        assert!(side.landed.gaps(10, 20).is_empty());
        // No buffer is posted, so nothing is copied: what counts is that nothing is missing.
        assert_eq!(side.copies(40), Ok(Vec::new()));
        assert_eq!(side.copies(41), Err((40, 1)));
        side.landed_in_doubt(15, 10);
        assert_eq!(side.copies(40), Err((15, 25)));
        side.landed(15, 5);
        assert_eq!(side.copies(40), Ok(Vec::new()));
    }
}
