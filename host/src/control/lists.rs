//! Allocation of segment lists: each flow has eight committed entries, and may borrow a longer list
//! from a pool.
//!
//! ```text
//!   entry 0 ........ 8 x flows ............................ all
//!           │ committed, flow n at 8 n │ pool: blocks of 2^4 to 2^12 entries, aligned │
//! ```
//! There is one pool for each direction. It is a buddy allocator (Knowlton, 1965): a block is split
//! in halves until it fits, and joined with its other half when both are free. Blocks stay aligned
//! to their size, as the card requires.
//!
//! Invariants
//! 1. Committed entries are never lent to another flow.
//! 2. A block is lent to one flow at a time, until it is returned.

use std::collections::BTreeSet;

use super::rest::Rest;
use crate::records::commands::{list_move, Direction, Entry, FlowName, List};
use crate::records::ticket::Ticket;

use abi::config::{SEGMENTS_BORROWED_BITS_MAX, SEGMENTS_COMMITTED_BITS};

/// The pool of one direction.
#[derive(Clone, Debug)]
pub struct ListPool {
    /// First entries of the free blocks, by log2 of their length.
    free: Vec<BTreeSet<u32>>,
    free_entries: u32,
    /// A list came back since somebody asked.
    has_returned: bool,
}

impl ListPool {
    /// The pool of a card with 2^`segment_bits` entries and 2^`flow_bits` flows, whose committed
    /// entries are left out.
    pub fn new(flow_bits: u32, segment_bits: u32) -> Self {
        let mut free = vec![BTreeSet::new(); SEGMENTS_BORROWED_BITS_MAX + 1];
        let mut at = 1u32 << (flow_bits + SEGMENTS_COMMITTED_BITS as u32);
        let end = 1u32 << segment_bits;
        let free_entries = end.saturating_sub(at);
        while at < end {
            let fits = (end - at).ilog2().min(at.trailing_zeros());
            let bits = fits.min(SEGMENTS_BORROWED_BITS_MAX as u32);
            free[bits as usize].insert(at);
            at += 1 << bits;
        }
        Self { free, free_entries, has_returned: false }
    }

    /// Lends a list of 2^`bits` entries; `None` when no block of that length is free.
    pub fn take(&mut self, bits: u8) -> Option<List> {
        let wanted = usize::from(bits);
        let found = (wanted..self.free.len()).find(|&bits| !self.free[bits].is_empty())?;
        let base = self.free[found].pop_first()?;
        for half in wanted..found {
            self.free[half].insert(base + (1 << half));
        }
        self.free_entries -= 1 << bits;
        Some(List { base, bits })
    }

    /// Takes a list back.
    pub fn give(&mut self, list: List) {
        self.has_returned = true;
        self.free_entries += u32::from(list.capacity());
        let (mut base, mut bits) = (list.base, usize::from(list.bits));
        while bits + 1 < self.free.len() && self.free[bits].remove(&(base ^ (1 << bits))) {
            base &= !(1 << bits);
            bits += 1;
        }
        let fresh = self.free[bits].insert(base);
        assert!(fresh, "list at {base} was returned twice");
    }

    /// Entries that are not lent.
    pub fn free_entries(&self) -> u32 {
        self.free_entries
    }
}

/// The pools that all flows of a card borrow lists from.
#[derive(Debug)]
pub struct Shared {
    /// Pool of the receive lists.
    pub receive: ListPool,
    /// Pool of the send lists.
    pub send: ListPool,
    /// Times that a list needed to grow and its pool was empty.
    pub refusals: u64,
    all: u32,
}

impl Shared {
    /// The pools of a card with 2^`flow_bits` flows and 2^`segment_bits` entries in each direction.
    pub fn new(flow_bits: u32, segment_bits: u32) -> Self {
        let pool = ListPool::new(flow_bits, segment_bits);
        Self { all: 2 * pool.free_entries(), receive: pool.clone(), send: pool, refusals: 0 }
    }

    /// Whether lists came back since the last call: who was refused one may ask again.
    pub fn take_returned(&mut self) -> bool {
        let pools = [&mut self.receive, &mut self.send];
        let taken = pools.map(|pool| std::mem::take(&mut pool.has_returned));
        taken.contains(&true)
    }

    /// Entries lent to flows at present.
    pub fn borrowed_entries(&self) -> u32 {
        self.all - self.receive.free_entries() - self.send.free_entries()
    }
}

/// The segment list of one flow and direction: its place, and the indices in use.
///
/// Invariants: an index is posted only while both the present list and the target of a move have a
/// free entry; a list is returned to the pool only after the move away from it is confirmed.
#[derive(Debug)]
pub struct FlowList {
    list: List,
    committed: List,
    moving: Option<(Ticket, List)>,
    /// First index that the card may still hold: the last confirmed head.
    head: u16,
    tail: u16,
    /// The pool was empty when the list last needed to grow.
    refused: bool,
}

impl FlowList {
    /// The empty list of a flow that was just installed.
    pub fn new(flow: u16) -> Self {
        let committed = List::committed(flow);
        Self { list: committed, committed, moving: None, head: 0, tail: 0, refused: false }
    }

    /// The list of a connection that the card does not know: as long as the longest one, and of
    /// no pool.
    pub fn off_card() -> Self {
        let list = List { base: 0, bits: SEGMENTS_BORROWED_BITS_MAX as u8 };
        Self { list, committed: list, ..Self::new(0) }
    }

    /// The next index to post.
    pub fn tail(&self) -> u16 {
        self.tail
    }

    /// Entries that the card may hold.
    pub fn resident(&self) -> u16 {
        self.tail.wrapping_sub(self.head)
    }

    /// What the list waits for while no request waits: for a move that is under way or due.
    pub fn rest(&self) -> Rest {
        match self.moving {
            Some(_) => Rest::UnderWay,
            None if self.wanted_length(0).is_some() => Rest::Due,
            None => Rest::Quiet,
        }
    }

    /// Whether the pool had no longer list when one was needed.
    pub fn is_refused(&self) -> bool {
        self.refused
    }

    /// Whether the list is full, and a longer one is still to be asked for.
    pub fn may_grow(&self) -> bool {
        let is_full = self.resident() >= self.list.capacity();
        let is_longest = usize::from(self.list.bits) >= SEGMENTS_BORROWED_BITS_MAX;
        is_full && !is_longest && !self.refused && self.moving.is_none()
    }

    /// Entries that may be posted now.
    pub fn room(&self) -> usize {
        let target = self.moving.map_or(self.list, |(_, list)| list);
        let capacity = self.list.capacity().min(target.capacity());
        capacity.saturating_sub(self.resident()).into()
    }

    /// Takes the next index, if the list has a free entry.
    pub fn push(&mut self) -> Option<u16> {
        let index = self.tail;
        (self.room() > 0).then(|| {
            self.tail = self.tail.wrapping_add(1);
            index
        })
    }

    /// The card has confirmed that no entry before `head` is in use.
    pub fn pass(&mut self, head: u16) {
        if (head.wrapping_sub(self.head) as i16) > 0 {
            self.head = head;
        }
    }

    /// Wanted length of the list, log2, if it differs from the present one: longer while requests
    /// wait, the committed length when half of it suffices.
    fn wanted_length(&self, waiting: usize) -> Option<u8> {
        let resident = usize::from(self.resident());
        if waiting > 0 && resident >= usize::from(self.list.capacity()) {
            let bits = (resident + waiting).next_power_of_two().ilog2() as u8;
            let bits = bits.min(SEGMENTS_BORROWED_BITS_MAX as u8);
            return (bits > self.list.bits).then_some(bits);
        }
        let fits = waiting == 0 && resident <= usize::from(self.committed.capacity()) / 2;
        (fits && self.list != self.committed).then_some(self.committed.bits)
    }

    /// Borrows a longer list for `waiting` requests, or moves back to the committed one. `command`
    /// queues the move as owner 0. `refusals` counts the times that the pool had no longer list;
    /// requests then wait until entries are freed.
    pub fn adapt(
        &mut self,
        (name, direction): (FlowName, Direction),
        waiting: usize,
        pool: &mut ListPool,
        refusals: &mut u64,
        command: &mut dyn FnMut(Entry) -> Ticket,
    ) {
        if self.moving.is_some() {
            return;
        }
        let Some(wanted) = self.wanted_length(waiting) else {
            self.refused &= waiting > 0;
            return;
        };
        let target = if wanted == self.committed.bits {
            Some(self.committed)
        } else {
            (self.list.bits + 1..=wanted).rev().find_map(|bits| pool.take(bits))
        };
        let Some(target) = target else {
            *refusals += u64::from(!self.refused);
            self.refused = true;
            return;
        };
        self.refused = false;
        let ticket = command(list_move(name, direction, target));
        self.moving = Some((ticket, target));
    }

    /// Completes a confirmed move: the old list returns to its pool.
    pub fn confirm(&mut self, confirmed: impl Fn(Ticket) -> bool, pool: &mut ListPool) {
        let Some((ticket, list)) = self.moving else { return };
        if confirmed(ticket) {
            let left = std::mem::replace(&mut self.list, list);
            self.moving = None;
            self.give_back(left, pool);
        }
    }

    /// The flow is removed from the card: what it borrowed returns to its pool.
    pub fn end(&mut self, pool: &mut ListPool) {
        if let Some((_, list)) = self.moving.take() {
            self.give_back(list, pool);
        }
        let left = std::mem::replace(&mut self.list, self.committed);
        self.give_back(left, pool);
    }

    fn give_back(&self, list: List, pool: &mut ListPool) {
        if list != self.committed {
            pool.give(list);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_aligned_and_nobody_elses() {
        // The small card: 64 flows, 4,096 entries.
        let mut pool = ListPool::new(6, 12);
        let all = pool.free_entries();
        assert_eq!(all, 4096 - 512);
        let mut lent: Vec<List> = Vec::new();
        let mut state = 5u64;
        for step in 0..20_000 {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let (choice, bits) = ((state >> 33) % 3, 4 + ((state >> 40) % 9) as u8);
            if choice < 2 {
                let Some(list) = pool.take(bits) else { continue };
                let (start, end) = (list.base, list.base + u32::from(list.capacity()));
                assert!(start >= 512 && end <= 4096, "step {step}: {list:?}");
                assert_eq!(start % u32::from(list.capacity()), 0, "{list:?}");
                for other in &lent {
                    let other_end = other.base + u32::from(other.capacity());
                    assert!(end <= other.base || start >= other_end, "{list:?} {other:?}");
                }
                lent.push(list);
            } else if !lent.is_empty() {
                pool.give(lent.swap_remove((state >> 48) as usize % lent.len()));
            }
            let held: u32 = lent.iter().map(|list| u32::from(list.capacity())).sum();
            assert_eq!(pool.free_entries() + held, all);
        }
        lent.into_iter().for_each(|list| pool.give(list));
        // All blocks are joined again: the longest list of this card fits.
        assert_eq!(pool.free_entries(), all);
        assert_eq!(pool.take(11).map(|list| list.base), Some(2048));
    }

    #[test]
    fn empty_pool_refuses_then_serves() {
        let mut pool = ListPool::new(6, 12);
        let lists: Vec<List> = std::iter::from_fn(|| pool.take(9)).collect();
        assert_eq!(lists.len(), 7);
        assert_eq!(pool.take(4), None);
        pool.give(lists[3]);
        assert_eq!(pool.take(9), Some(lists[3]));
    }

    #[test]
    fn default_card_lends_lists_of_4096() {
        let mut pool = ListPool::new(14, 18);
        assert_eq!(pool.take(12).map(List::capacity), Some(4096));
        assert_eq!(pool.take(13), None);
    }

    const NAME: (FlowName, Direction) = (FlowName { flow: 5, generation: 1 }, Direction::Receive);

    fn adapt(list: &mut FlowList, waiting: usize, pool: &mut ListPool) -> (usize, u64) {
        let (mut moves, mut refusals) = (0, 0);
        let mut command = |_| {
            moves += 1;
            Ticket(9)
        };
        list.adapt(NAME, waiting, pool, &mut refusals, &mut command);
        (moves, refusals)
    }

    #[test]
    fn list_grows_under_load_and_shrinks() {
        let mut pool = ListPool::new(6, 12);
        let all = pool.free_entries();
        let mut list = FlowList::new(5);
        while list.push().is_some() {}
        assert_eq!(list.resident(), 8);
        assert_eq!(adapt(&mut list, 20, &mut pool), (1, 0));
        // Until the move is confirmed there is no free entry, and no second move.
        assert_eq!(list.push(), None);
        assert_eq!(adapt(&mut list, 20, &mut pool), (0, 0));
        list.confirm(|_| false, &mut pool);
        assert_eq!(list.push(), None);
        list.confirm(|_| true, &mut pool);
        while list.push().is_some() {}
        assert_eq!((list.resident(), pool.free_entries()), (32, all - 32));
        // Floors pass; only the confirmed ones count.
        list.pass(27);
        assert_eq!(adapt(&mut list, 0, &mut pool), (0, 0));
        list.pass(28);
        assert_eq!(adapt(&mut list, 0, &mut pool), (1, 0));
        // While it moves back, the list is as short as its target.
        assert_eq!((0..5).filter_map(|_| list.push()).count(), 4);
        list.confirm(|_| true, &mut pool);
        assert_eq!(pool.free_entries(), all);
    }

    /// Where no list is longer, none is asked for, and none is refused.
    #[test]
    fn longest_list_fills_without_refusal() {
        let mut pool = ListPool::new(14, 18);
        let mut list = FlowList::new(5);
        while list.push().is_some() {}
        assert_eq!(adapt(&mut list, 10_000, &mut pool), (1, 0));
        list.confirm(|_| true, &mut pool);
        while list.push().is_some() {}
        assert_eq!(list.resident(), 1 << SEGMENTS_BORROWED_BITS_MAX);
        let free = pool.free_entries();
        assert_eq!(adapt(&mut list, 1, &mut pool), (0, 0));
        assert_eq!(pool.free_entries(), free);
    }

    #[test]
    fn exhausted_pool_counts_once_blocks_nobody() {
        let mut pool = ListPool::new(6, 12);
        let hoard: Vec<List> = (4..=11).rev().flat_map(|bits| pool.take(bits)).collect();
        while pool.take(4).is_some() {}
        let (mut list, mut other) = (FlowList::new(5), FlowList::new(6));
        while list.push().is_some() {}
        assert_eq!(adapt(&mut list, 1, &mut pool), (0, 1));
        assert_eq!(adapt(&mut list, 1, &mut pool), (0, 0));
        assert_eq!((0..9).filter_map(|_| other.push()).count(), 8);
        pool.give(hoard[0]);
        assert_eq!(adapt(&mut list, 1, &mut pool), (1, 0));
    }

    #[test]
    fn ended_flow_returns_borrowed_entries() {
        let mut pool = ListPool::new(6, 12);
        let all = pool.free_entries();
        let mut list = FlowList::new(5);
        while list.push().is_some() {}
        adapt(&mut list, 3000, &mut pool);
        list.confirm(|_| true, &mut pool);
        while list.push().is_some() {}
        assert_eq!(list.resident(), 2048);
        list.end(&mut pool);
        assert_eq!(pool.free_entries(), all);
    }
}
