//! Receive side of one flow: buffers posted at stream positions, payload placed in them, payload
//! deferred.
//!
//! ```text
//!   stream   0 ......... announced ......... accepted ......... end of the queue
//!                │ with the application   │ by the protocol   │ posted buffers
//! ```
//! Invariants
//! 1. `announced ≤ accepted ≤` the queue's confirmed end. Bytes are announced only after the card
//!    confirmed a floor at or beyond them, so the card never writes an announced byte again.
//! 2. Deferred bytes are copied only below a confirmed floor, and only where no placed copy is
//!    valid ([`super::valid_copies`]).
//! 3. A request that may end early is truncated at its last accepted byte by the command that posts
//!    the next one there. So behind such a buffer only as many are posted as are likely to fill
//!    ([`ReceiveSide::holds_back`]). Payload that the card places behind the truncation before the
//!    command has its effect is read out of the buffer, as if it had been deferred.
//! 4. Where that cannot be, buffers are withdrawn, and the withdrawal is confirmed, before they are
//!    returned unfilled. A single buffer is truncated at its last accepted byte; several are passed
//!    by the head of the list. Those that stay are posted again for what they lack.

mod early;
mod withdrawing;

use super::buffer::{CompletedBuffer, Copy, Withdrawn};
use super::place::Posted;
use super::posted::BufferQueue;
use super::valid_copies::{Hole, ValidCopies};
use crate::control::position::Positions;
use crate::control::regions::RegionName;
use crate::control::rest::Rest;
use crate::prefetch::expect_all;
use crate::records::commands::Direction;
use crate::records::ticket::Ticket;

/// How far the floor may stay behind what is accepted while nothing waits for it, bytes.
pub const FLOOR_LAG_MAX: u64 = 64 << 10;
/// Most buffers that are spared to take the place of one that ends early.
const SPARED_MAX: usize = 8;

/// The receive side. See the head of this file. What a packet in order touches is in its first line
/// of 64 bytes, up to the first range of `copies`.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct ReceiveSide {
    accepted: u64,
    /// What the protocol has accepted, buffers or not.
    taken: u64,
    /// While nothing is under way: what may be accepted in order without a step.
    quiet_to: u64,
    positions: Positions,
    /// Whether a buffer was truncated, and the command is under way.
    has_truncated: bool,
    copies: ValidCopies,
    /// Buffers, waiting and posted.
    pub queue: BufferQueue,
    apart: Box<ReceiveColdState>,
}

/// What a packet in order does not need.
#[derive(Debug)]
struct ReceiveColdState {
    /// Buffers that are spared to take the place of one that ends early: as many as have filled
    /// since one did last, and one.
    run: usize,
    /// The furthest end that the protocol was told.
    promised: u64,
    /// The last step has completed requests: the application may post others.
    has_given: bool,
    announced: u64,
    floor_asked: u64,
    withdrawing: Option<Ticket>,
    /// Posted requests to be cancelled by a withdrawal.
    cancelling: Vec<u64>,
}

impl ReceiveSide {
    /// The side of a flow whose first byte has sequence number `base`.
    pub fn new(base: u32, flow: u16) -> Self {
        Self {
            accepted: 0,
            taken: 0,
            quiet_to: 0,
            positions: Positions { first: base },
            has_truncated: false,
            copies: ValidCopies::default(),
            queue: BufferQueue::new(base, flow, Direction::Receive),
            apart: Box::new(ReceiveColdState {
                run: 1,
                promised: 0,
                has_given: false,
                announced: 0,
                floor_asked: 0,
                withdrawing: None,
                cancelling: Vec::new(),
            }),
        }
    }

    /// A step follows: asks for what a packet in order does not need.
    #[inline]
    pub fn expect(&self) {
        expect_all(&*self.apart);
        self.copies.expect();
        self.queue.expect();
    }

    /// Stream offset of a sequence number near the accepted bytes; `None` before the stream's first
    /// byte.
    pub fn offset(&self, position: u32) -> Option<u64> {
        self.positions.offset(position, self.accepted)
    }

    /// The part of a payload from the first byte of the stream on, and its offset.
    pub fn in_stream<'a>(&self, sequence: u32, payload: &'a [u8]) -> Option<(u64, &'a [u8])> {
        if let Some(start) = self.offset(sequence) {
            return Some((start, payload));
        }
        let before = self.positions.of(0).wrapping_sub(sequence) as usize;
        payload.get(before..).map(|payload| (0, payload))
    }

    /// Bytes accepted by the protocol that are in buffers.
    pub fn accepted_bytes(&self) -> u64 {
        self.accepted
    }

    /// The protocol has accepted everything before `to` in order.
    pub fn take(&mut self, to: u64) {
        self.taken = self.taken.max(to);
    }

    /// Accepts what the protocol has, as far as buffers are posted.
    pub fn accept_taken(&mut self) {
        let end = match self.apart.withdrawing {
            Some(_) => self.accepted,
            None => self.taken.min(self.queue.confirmed_end()),
        };
        let full = self.queue.place(self.accepted);
        self.accepted = self.accepted.max(end);
        // A truncation ends at what was accepted.
        let filled = self.queue.place(self.accepted) - full;
        if filled > 0 {
            self.apart.run = (self.apart.run + filled).min(SPARED_MAX);
        }
    }

    /// Whether everything that the protocol has accepted is in buffers.
    pub fn has_all_taken(&self) -> bool {
        self.accepted == self.taken
    }

    /// First list index still needed when everything accepted is announced.
    pub fn head(&self) -> u16 {
        self.queue.index(self.accepted)
    }

    /// Bytes held outside of the buffers, with the bookkeeping of what was placed.
    pub fn held_bytes(&self) -> usize {
        self.copies.held_bytes()
    }

    /// Sets how many bytes may be held beside those that are.
    pub fn set_room(&mut self, room_bytes: usize) {
        self.copies.set_room(room_bytes);
    }

    /// Whether payload that the protocol takes can be recorded, and kept if it was deferred.
    pub fn has_room(&self, start: u64, deferred: Option<&[u8]>, budget_bytes: usize) -> bool {
        match deferred {
            Some(payload) => {
                let is_known = start + payload.len() as u64 <= self.apart.announced;
                let next = self.next();
                is_known || self.copies.may_defer(start, payload, next, budget_bytes)
            }
            None => self.copies.may_land(),
        }
    }

    /// Whether one more range can be recorded whatever other flows hold.
    pub fn has_ranges(&self) -> bool {
        self.copies.has_ranges()
    }

    /// Stream offset of the byte that the protocol waits for.
    fn next(&self) -> u64 {
        self.taken.max(self.accepted)
    }

    /// Payload was placed. Returns false when it cannot be recorded: its header must be withheld.
    #[inline]
    pub fn note_placed(&mut self, start: u64, bytes: u64) -> bool {
        let end = start + bytes;
        // Nothing from the accepted bytes on is announced.
        let is_new = start >= self.accepted;
        self.copies.follows(start, end)
            || is_new && self.copies.begins(start, end)
            || self.note_placed_apart(start, end)
    }

    fn note_placed_apart(&mut self, start: u64, end: u64) -> bool {
        self.copies.note_placed(start.max(self.apart.announced), end)
    }

    /// Payload of a packet that TCP probably refuses was placed. Returns false when it overwrote
    /// other bytes: no copy is valid then, and its header must be withheld.
    pub fn note_placed_in_doubt(&mut self, start: u64, bytes: u64) -> bool {
        let end = start + bytes;
        self.copies.note_placed_in_doubt(start.max(self.apart.announced), end)
    }

    /// Payload of a late packet was placed: what was there stays. Returns false when its header
    /// must be withheld.
    pub fn note_placed_late(&mut self, start: u64, bytes: u64) -> bool {
        let end = start + bytes;
        self.copies.note_placed_late(start.max(self.apart.announced), end)
    }

    /// Payload was placed by a packet whose header is withheld: what was there is no longer valid.
    pub fn note_overwritten(&mut self, start: u64, bytes: u64) {
        let end = start + bytes;
        self.copies.note_overwritten(start.max(self.apart.announced), end);
    }

    /// Payload was deferred. Returns false, and keeps nothing, when `budget_bytes` would be
    /// exceeded. The byte that TCP waits for is kept regardless of the budget, because it releases
    /// what is held after it.
    pub fn defer(&mut self, start: u64, payload: &[u8], budget_bytes: usize) -> bool {
        let is_known = start + payload.len() as u64 <= self.apart.announced;
        let next = self.next();
        is_known || self.copies.defer(start, payload, next, budget_bytes)
    }

    /// Payload of a packet that TCP probably refuses was deferred. Returns false when the budget is
    /// used up, or when TCP has been shown other doubtful bytes in its place.
    pub fn defer_in_doubt(&mut self, start: u64, payload: &[u8]) -> bool {
        let is_known = start + payload.len() as u64 <= self.apart.announced;
        is_known || self.copies.defer_in_doubt(start, payload, self.next())
    }

    /// Whether the floor is to follow what is accepted: when anything waits for it, as at the end
    /// of the stream or connection, when packets did not come in order, and at [`FLOOR_LAG_MAX`] in
    /// any case. A buffer that fills in order needs no floor before its end.
    pub fn is_floor_due(&self, is_ending: bool) -> bool {
        let lag = self.accepted.saturating_sub(self.apart.floor_asked);
        lag > 0 && (is_ending || lag >= FLOOR_LAG_MAX || !self.may_lag())
    }

    /// Whether nothing waits for the floor.
    fn may_lag(&self) -> bool {
        self.accepted < self.filling_to()
            && self.queue.waiting() == 0
            && self.apart.withdrawing.is_none()
            && self.apart.cancelling.is_empty()
            && self.copies.is_in_order_to(self.accepted)
    }

    /// The end of the buffer that fills, if its request completes only when it is full.
    fn filling_to(&self) -> u64 {
        match self.queue.oldest_is_partial() {
            true => 0,
            false => self.queue.oldest_end(),
        }
    }

    /// Finds how much may be accepted without a step, if nothing is under way.
    pub fn set_quiet(&mut self, is_quiet: bool) {
        self.quiet_to = match is_quiet {
            true => {
                let limit = self.filling_to().min(self.apart.floor_asked + FLOOR_LAG_MAX);
                limit.max(self.accepted + 1)
            }
            false => 0,
        };
    }

    /// Accepts what the protocol has, if that alone has changed since nothing was under way.
    /// Returns whether it had: the floor is not due, and there is nothing else to do.
    #[inline]
    pub fn absorb(&mut self) -> bool {
        let is_within = self.taken < self.quiet_to;
        let has_nothing_new = self.taken == self.accepted;
        let stays = is_within && (has_nothing_new || self.copies.is_in_order_to(self.taken));
        if stays {
            self.accepted = self.taken;
        }
        stays
    }

    /// A floor at the accepted offset was requested, with this head of the list.
    pub fn floor_asked(&mut self, ticket: Ticket, head: u16) {
        self.apart.floor_asked = self.accepted;
        self.queue.floor_asked(ticket, self.accepted, head);
    }

    /// Takes confirmations. Returns the offset up to which bytes may be announced.
    pub fn confirm(&mut self, confirmed: impl Fn(Ticket) -> bool) -> u64 {
        self.queue.confirm(&confirmed);
        self.has_truncated = self.has_truncated && self.queue.confirm_truncations(&confirmed);
        self.queue.confirmed_floor(confirmed).unwrap_or(self.apart.announced)
    }

    /// Copies that complete the buffers up to `floor`.
    pub fn copies(&self, floor: u64) -> std::result::Result<Vec<Copy<'_>>, Hole> {
        let mut copies = Vec::new();
        for (at, bytes) in self.copies.outside(self.apart.announced, floor)? {
            self.split_into_buffers(at, bytes, &mut copies);
        }
        Ok(copies)
    }

    fn split_into_buffers<'a>(&self, at: u64, bytes: &'a [u8], copies: &mut Vec<Copy<'a>>) {
        let (mut at, mut rest) = (at, bytes);
        let first = self.queue.place(at);
        for posted in self.queue.posted().range(first..) {
            if rest.is_empty() {
                break;
            }
            if at >= posted.start {
                let take = rest.len().min((posted.end() - at) as usize);
                let offset = posted.buffer.offset + (at - posted.start);
                let (now, later) = rest.split_at(take);
                copies.push(Copy { region: posted.buffer.region, offset, bytes: now });
                at += take as u64;
                rest = later;
            }
        }
    }

    /// Announces everything below `floor`. Requests that are full go to `done`.
    pub fn announce(&mut self, floor: u64, done: &mut Vec<CompletedBuffer>) {
        self.apart.announced = floor;
        self.copies.forget_below(floor);
        if self.apart.withdrawing.is_some() {
            return;
        }
        let before = done.len();
        self.queue.complete(floor, done);
        self.apart.has_given = done.len() > before;
        if !self.apart.cancelling.is_empty() {
            let done = &done[before..];
            let is_open = |request: &u64| !done.iter().any(|done| done.request == *request);
            self.apart.cancelling.retain(is_open);
        }
    }

    /// Whether a request that is not complete has bytes before the end.
    pub fn has_received(&self) -> bool {
        self.queue.has_bytes_before(self.last_end(true))
    }

    /// Ends all requests after the flow was removed: those with bytes are done, the others are to
    /// be cancelled. `copy` brings deferred bytes into buffers, and says whether it could.
    pub fn end(
        &mut self,
        spares_payload: bool,
        copy: &mut dyn FnMut(&Copy) -> bool,
        ended: &mut Withdrawn,
    ) {
        let end = self.last_end(spares_payload);
        let (end, copies) = match self.copies(end) {
            Ok(copies) => (end, copies),
            // What lies behind missing bytes is nothing that an application can use.
            Err((hole, _)) => (hole, self.copies(hole).unwrap_or_default()),
        };
        let is_whole = copies.iter().all(copy);
        self.queue.end_at(if is_whole { end } else { self.apart.announced }, ended);
    }

    /// Whether a posted buffer lies in the region.
    pub fn uses_region(&self, region: RegionName) -> bool {
        self.queue.posted().iter().any(|p| p.buffer.region == region)
    }

    /// Whether every accepted byte is announced, and no request has to be returned because of it.
    pub fn is_settled(&self) -> bool {
        self.apart.announced == self.accepted
            && self.apart.withdrawing.is_none()
            && !self.has_started()
    }

    /// What the side waits for. A withdrawal has more steps than its command.
    pub fn rest(&self, is_ending: bool) -> Rest {
        let is_asked = self.is_floor_due(is_ending) || !self.apart.cancelling.is_empty();
        match self.is_withdrawing() || self.has_started() || is_asked {
            true => Rest::Due,
            false if self.is_withheld(false) => self.queue.rest_of_commands(),
            false => self.queue.rest(self.reaches_next()),
        }
    }

    /// Whether a withdrawal is in progress.
    pub fn is_withdrawing(&self) -> bool {
        self.apart.withdrawing.is_some()
    }

    /// Whether the front request is partial and has bytes.
    fn has_started(&self) -> bool {
        let is_partial = self.queue.oldest_is_partial();
        let front = self.queue.posted().front().filter(|_| is_partial);
        front.is_some_and(|front| front.start < self.apart.announced)
    }

    fn only_posted(&self) -> Option<&Posted> {
        let front = self.queue.posted().front();
        front.filter(|_| self.queue.posted().len() == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::flow::buffer::Buffer;
    use crate::control::flow::deferred::PIECE_BYTES;
    use crate::control::flow::valid_copies::{DOUBTFUL_BYTES_MAX, RANGES_MAX};

    /// A side with a buffer of `bytes` bytes posted.
    fn side_with_buffer(bytes: u32) -> ReceiveSide {
        let mut side = ReceiveSide::new(0, 1);
        let region = RegionName { index: 1, key: 1 };
        side.queue.add(Buffer {
            request: 1,
            region,
            known: None,
            offset: 0,
            bytes,
            partial: true,
            filled: 0,
        });
        let segment = side.append(true).unwrap();
        side.queue.note_appended(Ticket::new(0, 0), &segment);
        side.confirm(|_| true);
        side
    }

    /// A side with a buffer of `bytes` bytes that completes when it is full, at rest.
    fn filling(bytes: u32) -> ReceiveSide {
        let mut side = side_with_buffer(bytes);
        let mut again = side.queue.restart(0);
        again[0].buffer.partial = false;
        *side.queue.list_mut() = crate::control::lists::FlowList::new(1);
        side.queue.add(again[0].buffer);
        let segment = side.append(true).unwrap();
        side.queue.note_appended(Ticket::new(0, 0), &segment);
        side.confirm(|_| true);
        side.set_quiet(true);
        side
    }

    /// A buffer of 1,000 bytes that may end early is truncated at its hundredth byte, and one that
    /// may not takes its place. What was confirmed behind is behind the end of what is posted now.
    #[test]
    fn nothing_is_granted_beyond_replacements_end() {
        let mut side = side_with_buffer(1000);
        let whole = |request| Buffer {
            request,
            partial: false,
            ..side.queue.posted().front().expect("one is posted").buffer
        };
        let buffers = [whole(2), whole(3)];
        for buffer in buffers {
            side.queue.add(buffer);
        }
        let segment = side.queue.append().expect("room");
        side.queue.note_appended(Ticket::new(0, 1), &segment);
        side.confirm(|_| true);
        assert_eq!((side.queue.end(), side.grantable()), (2000, 1000));
        side.promise(1000);
        side.take(100);
        side.accept_taken();
        let segment = side.truncate_and_append(1).expect("it may end early");
        side.queue.note_appended(Ticket::new(0, 2), &segment);
        side.note_truncated_by(Ticket::new(0, 2));
        assert_eq!((side.queue.end(), side.grantable()), (1100, 1100));
        side.take(1500);
        side.accept_taken();
        assert_eq!(side.accepted_bytes(), 1100, "the rest is in no buffer yet");
    }

    /// Bytes of a packet.
    const PACKET: u64 = 1448;

    /// A packet is placed and accepted, with all before it. Returns whether the side stays at rest.
    fn take_packet(side: &mut ReceiveSide, start: u64, accepted_to: u64) -> bool {
        assert!(side.note_placed(start, PACKET));
        side.take(accepted_to);
        side.absorb()
    }

    /// The floor is set and confirmed.
    fn set_floor(side: &mut ReceiveSide) {
        side.accept_taken();
        assert!(side.is_floor_due(false));
        side.floor_asked(Ticket::new(0, 1), side.head());
        assert!(!side.is_floor_due(true));
        let floor = side.confirm(|_| true);
        assert_eq!(floor, side.accepted_bytes());
        side.announce(floor, &mut Vec::new());
        side.set_quiet(true);
    }

    #[test]
    fn floor_follows_buffer_filling_from_afar() {
        let mut side = filling(200_000);
        let mut at = 0;
        for _ in 0..2 {
            let mut quiet_bytes = 0;
            while take_packet(&mut side, at, at + PACKET) {
                (at, quiet_bytes) = (at + PACKET, quiet_bytes + PACKET);
                assert!(!side.is_floor_due(false) && side.is_floor_due(true));
                assert_eq!((side.accepted_bytes(), side.held_bytes()), (at, 48));
            }
            at += PACKET;
            assert!((FLOOR_LAG_MAX - PACKET..FLOOR_LAG_MAX).contains(&quiet_bytes));
            set_floor(&mut side);
            assert_eq!((side.apart.announced, side.held_bytes()), (at, 0));
        }
    }

    /// What completes, what is partial, and what did not come in order has its floor at once.
    #[test]
    fn floor_follows_what_waits_at_once() {
        let mut side = filling(2 * PACKET as u32);
        assert!(take_packet(&mut side, 0, PACKET));
        assert!(!take_packet(&mut side, PACKET, 2 * PACKET), "it is full");
        set_floor(&mut side);

        let mut side = side_with_buffer(200_000);
        side.set_quiet(true);
        assert!(!take_packet(&mut side, 0, PACKET), "the request is partial");
        set_floor(&mut side);

        let mut side = filling(200_000);
        assert!(take_packet(&mut side, PACKET, 0), "nothing is accepted yet");
        assert!(!take_packet(&mut side, 0, 2 * PACKET), "there was a hole");
        set_floor(&mut side);
        assert!(take_packet(&mut side, 2 * PACKET, 3 * PACKET), "in order again");

        let mut side = filling(200_000);
        assert!(side.defer(0, &[7; PACKET as usize], 1 << 20));
        side.take(PACKET);
        assert!(!side.absorb(), "it is to be copied");
        assert!(!take_packet(&mut side, PACKET, 2 * PACKET));
        set_floor(&mut side);

        let mut side = filling(200_000);
        side.set_quiet(false);
        assert!(!take_packet(&mut side, 0, PACKET), "something is under way");
        side.accept_taken();
        side.queue.add(side_with_buffer(10).queue.restart(0)[0].buffer);
        assert!(side.is_floor_due(false), "a request waits for the list");
    }

    #[test]
    fn budget_never_refuses_next_bytes() {
        let mut side = ReceiveSide::new(0, 1);
        assert!(side.defer(100, &[1; 900], 1000));
        assert!(!side.defer(1000, &[2; 200], 1000), "over the budget");
        assert!(side.defer(0, &[3; 100], 950), "the next bytes");
        assert!(side.defer(0, &[3; 100], 950), "known already");
        assert_eq!(side.copies.apart.kept.bytes(), 1000 + 2 * PIECE_BYTES);
    }

    /// A peer repeats what TCP waits for, longer each time.
    #[test]
    fn repetitions_stay_within_the_budget() {
        let mut side = ReceiveSide::new(0, 1);
        assert!(side.defer(0, &[1], 1000));
        for _ in 0..100 {
            side.defer(0, &[1; 1460], 1000);
            side.defer_in_doubt(0, &[1; 1460]);
        }
        assert!(side.copies.apart.kept.bytes() <= 1000 + 1460);
        assert!(side.copies.apart.doubtful.bytes() <= DOUBTFUL_BYTES_MAX);
        for start in 0..2 * RANGES_MAX as u64 {
            side.note_placed(10_000 + 2 * start, 1);
            side.note_placed_in_doubt(1_000_000 + 2 * start, 1);
        }
        assert_eq!(
            (side.copies.placed.len(), side.copies.apart.in_doubt.len()),
            (RANGES_MAX, RANGES_MAX)
        );
        assert!(side.note_placed(10_001, 1), "no new range");
        let mut side = ReceiveSide::new(0, 1);
        assert!(side.note_placed(0, 1 << 20));
        assert!(side.note_placed_in_doubt(1 << 20, 1 << 20));
        for start in 0..1 << 20 {
            side.note_overwritten(2 * start, 1);
        }
        assert!(
            side.copies.placed.len() <= RANGES_MAX
                && side.copies.apart.in_doubt.len() <= RANGES_MAX
        );
        assert!(side.note_placed(0, 1), "what TCP waits for");
    }

    /// Doubtful placed copies are valid only where no other copy came, and never where they
    /// overwrote placed bytes.
    #[test]
    fn doubtful_bytes_stand_last() {
        let mut side = ReceiveSide::new(0, 1);
        assert!(side.note_placed_in_doubt(0, 30));
        assert!(side.note_placed(10, 10));
        assert!(side.defer(20, &[7; 5], 1000));
        assert!(side.defer_in_doubt(30, &[9; 10]));
        assert!(side.copies.placed.gaps(10, 20).is_empty());
        // No buffer is posted, so nothing is copied; the test is that nothing is missing.
        assert_eq!(side.copies(40), Ok(Vec::new()));
        assert_eq!(side.copies(41), Err((40, 1)));
        assert!(!side.note_placed_in_doubt(15, 10), "TCP does not hear of it");
        assert_eq!(side.copies(40), Err((15, 25)));
        assert!(side.note_placed(15, 5));
        assert_eq!(side.copies(40), Ok(Vec::new()));
    }

    /// Two doubtful packets with different bytes in the same place: TCP may accept the one that it
    /// is shown, so it is shown only one.
    #[test]
    fn tcp_sees_one_copy_of_doubtful_bytes() {
        let mut side = side_with_buffer(100);
        assert!(side.defer_in_doubt(0, &[1; 10]));
        assert!(side.defer_in_doubt(0, &[1; 20]), "the same bytes");
        assert!(!side.defer_in_doubt(0, &[2; 20]));
        assert!(!side.note_placed_in_doubt(5, 20));
        side.take(20);
        side.accept_taken();
        let copies = side.copies(20).unwrap();
        assert_eq!(copies[0].bytes, [1; 20]);
        assert!(side.note_placed_in_doubt(30, 10));
        assert!(!side.defer_in_doubt(25, &[3; 10]));
        assert!(!side.note_placed_in_doubt(35, 10));
        assert_eq!(side.copies(31), Err((20, 11)));
    }

    /// A partial request is returned while more was placed after it: those bytes keep priority over
    /// deferred copies, and doubtful ones are not lost.
    #[test]
    fn bytes_landed_in_returned_buffer_stand() {
        let mut side = side_with_buffer(100);
        side.note_placed(0, 10);
        side.note_placed(20, 10);
        side.note_placed_in_doubt(10, 10);
        assert!(side.defer(20, &[9; 10], 1000));
        side.take(10);
        side.accept_taken();
        side.announce(10, &mut Vec::new());
        side.withdraw(Ticket::new(0, 1));
        let rescued = side.rescues().into_iter();
        let rescued = rescued.map(|r| (r.stream_offset, vec![r.offset as u8; r.bytes]));
        let done = side.finish_withdrawal(rescued.collect(), false);
        assert_eq!(done.done.len(), 1);
        assert_eq!(side.copies.apart.kept.at(20, 30), Some(&[20; 10][..]));
        assert_eq!(side.copies.apart.doubtful.at(10, 20), Some(&[10; 10][..]));
        assert_eq!(side.copies(30), Ok(Vec::new()));
    }

    const STREAM: usize = 400;

    /// A card, a TCP and a memory beside a receive side, for packets at random.
    struct Race {
        side: ReceiveSide,
        memory: [u8; STREAM],
        /// Bytes that TCP has accepted, in order or not.
        taken: [bool; STREAM],
        /// The card's next byte in order.
        cursor: usize,
        state: u64,
    }

    impl Race {
        fn new(seed: u64) -> Self {
            Self {
                side: side_with_buffer(STREAM as u32),
                memory: [0; STREAM],
                taken: [false; STREAM],
                cursor: 0,
                state: seed,
            }
        }

        fn next(&mut self, below: usize) -> usize {
            self.state =
                self.state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (self.state >> 33) as usize % below
        }

        /// A packet arrives: a good one, or one that TCP refuses. TCP may accept a good one that is
        /// doubtful; late ones are always good. `overwrites` allows a refused one to be placed over
        /// accepted bytes.
        fn packet(&mut self, overwrites: bool) {
            let start = self.next(STREAM);
            let bytes = 1 + self.next(40.min(STREAM - start));
            let range = start..start + bytes;
            let is_good = self.next(3) > 0;
            let doubtful = !is_good || self.next(4) == 0;
            let is_late = is_good && doubtful && self.next(2) == 0;
            let payload: Vec<u8> = match is_good {
                true => range.clone().map(good).collect(),
                false => vec![0xee - self.next(4) as u8; bytes],
            };
            let is_taken = self.taken[range.clone()].contains(&true);
            let free = !doubtful || is_late || overwrites || !is_taken;
            let is_placed = start >= self.cursor && self.next(3) > 0 && free;
            let (at, side) = (start as u64, &mut self.side);
            let shown = match (is_placed, doubtful) {
                (true, true) if is_late => side.note_placed_late(at, bytes as u64),
                (true, true) => side.note_placed_in_doubt(at, bytes as u64),
                (true, false) => side.note_placed(at, bytes as u64),
                (false, true) => side.defer_in_doubt(at, &payload),
                (false, false) => side.defer(at, &payload, 1000),
            };
            assert!(side.copies.is_consistent());
            if is_placed {
                self.memory[range.clone()].copy_from_slice(&payload);
                self.cursor = if start == self.cursor { range.end } else { self.cursor };
            }
            if shown && is_good && (!doubtful || self.next(2) == 0) {
                self.taken[range].fill(true);
            }
        }

        /// The buffer is withdrawn, and the bytes placed in it are copied out.
        fn withdraw(&mut self) {
            let announced = self.side.apart.announced as usize;
            let parts = self.side.copies.in_place(announced as u64, STREAM as u64);
            let parts = parts.into_iter().map(|(start, end)| {
                let bytes = self.memory[start as usize..end as usize].to_vec();
                (start, bytes)
            });
            self.side.copies.rescue(parts.collect());
            self.memory[announced..].fill(0);
        }

        /// TCP's bytes are drained and announced. Returns false when some are missing.
        fn announce(&mut self) -> bool {
            let before = self.side.accepted_bytes() as usize;
            let ready = self.taken.iter().take_while(|&&taken| taken).count();
            let more = self.next(ready - before + 1);
            self.side.take((before + more) as u64);
            self.side.accept_taken();
            let floor = before + more;
            let Ok(copies) = self.side.copies(floor as u64) else { return false };
            for copy in copies {
                let at = copy.offset as usize;
                self.memory[at..at + copy.bytes.len()].copy_from_slice(copy.bytes);
            }
            self.side.announce(floor as u64, &mut Vec::new());
            assert!(self.side.copies.is_consistent());
            self.cursor = self.cursor.max(floor);
            let wrong = (0..floor).find(|&at| self.memory[at] != good(at));
            assert_eq!(wrong, None, "a byte that TCP did not take");
            true
        }
    }

    fn good(at: usize) -> u8 {
        (at % 97) as u8
    }

    /// No byte of a refused packet is ever announced. No accepted byte is missing, unless the card
    /// lets a refused packet overwrite it.
    #[test]
    fn good_copy_stands_none_is_lost() {
        let (mut finished, mut lost) = (0, 0);
        for seed in 0..4000 {
            let overwrites = seed % 2 == 1;
            let mut race = Race::new(seed);
            for _ in 0..400 {
                race.packet(overwrites);
                if race.next(20) == 0 {
                    race.withdraw();
                }
                if race.next(4) == 0 && !race.announce() {
                    assert!(overwrites, "seed {seed}: bytes are lost");
                    lost += 1;
                    break;
                }
            }
            finished += u32::from(race.side.accepted_bytes() > STREAM as u64 / 2);
        }
        assert!(finished > 1000 && lost > 0, "{finished} finished, {lost} lost");
    }
}
