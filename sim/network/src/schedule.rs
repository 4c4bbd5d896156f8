//! What happens when: a heap of events, by time and then in the order in which they were planned.
//!
//! Invariants
//! 1. Events of one time happen in the order in which they were planned: so a run is the same
//!    whatever the heap does inside.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

#[derive(Clone, Copy, Debug)]
struct Planned<E> {
    at_ps: u64,
    ordinal: u64,
    event: E,
}

impl<E> Planned<E> {
    fn key(&self) -> (u64, u64) {
        (self.at_ps, self.ordinal)
    }
}

impl<E> PartialEq for Planned<E> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl<E> Eq for Planned<E> {}

impl<E> PartialOrd for Planned<E> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The earliest is the greatest: a `BinaryHeap` gives the greatest first.
impl<E> Ord for Planned<E> {
    fn cmp(&self, other: &Self) -> Ordering {
        other.key().cmp(&self.key())
    }
}

/// Events that are planned.
#[derive(Clone, Debug)]
pub struct Schedule<E> {
    heap: BinaryHeap<Planned<E>>,
    ordinal: u64,
}

impl<E> Default for Schedule<E> {
    fn default() -> Self {
        Self { heap: BinaryHeap::new(), ordinal: 0 }
    }
}

impl<E: Copy> Schedule<E> {
    /// Plans an event.
    pub fn plan(&mut self, at_ps: u64, event: E) {
        self.ordinal += 1;
        self.heap.push(Planned { at_ps, ordinal: self.ordinal, event });
    }

    /// Takes the next event if it happens not after `until_ps`, with its time.
    pub fn next(&mut self, until_ps: u64) -> Option<(u64, E)> {
        if self.heap.peek()?.at_ps > until_ps {
            return None;
        }
        self.heap.pop().map(|it| (it.at_ps, it.event))
    }

    /// Whether nothing is planned.
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    /// How many were planned so far.
    pub fn planned_events(&self) -> u64 {
        self.ordinal
    }

    /// The events that are planned, in no order.
    pub fn events(&self) -> impl Iterator<Item = E> + '_ {
        self.heap.iter().map(|it| it.event)
    }
}
