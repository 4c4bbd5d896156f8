//! Tuples in TIME-WAIT: what is needed to answer late segments, and nothing more.
//!
//! ```text
//!   closed ─► kept for 2 MSL ─► forgotten         the oldest goes first if there are too many
//!                 │ new SYN, provably newer ─► a new connection at once
//! ```
//! Invariants
//! 1. There are at most as many as the table was made for, about 100 bytes each.
//! 2. Only segments that take sequence space are answered, so that two ends never answer each
//!    other's ACKs; a reset is ignored (RFC 1337, 3).
//! 3. A repeated FIN does not prolong the wait: an end that lasts for ever would not be bounded.
//!
//! Sources: RFC 9293, 3.6.1 and 3.10.7.4; RFC 6191, 2; RFC 1337.

use std::collections::{HashMap, VecDeque};

use crate::secret::Tuple;
use crate::segment::{Flags, Segment};
use crate::sequence::is_before;

/// What is kept of a connection (RFC 9293, 3.6.1; RFC 6191, 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// SND.NXT.
    pub send_next: u32,
    /// RCV.NXT.
    pub receive_next: u32,
    /// TS.Recent, if timestamps were used.
    pub recent: Option<u32>,
    /// When it is forgotten.
    pub until_ns: u64,
}

/// What a segment for a waiting tuple asks for (RFC 9293, 3.10.7.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Late {
    /// Nothing.
    Nothing,
    /// An ACK of the last numbers.
    Acknowledge,
    /// A new connection: the SYN is newer than all that was before (RFC 6191, 2).
    Reopen,
}

impl Waiting {
    /// Judges a segment (RFC 6191, 2; RFC 9293, 3.10.7.4).
    pub fn judge(&self, segment: &Segment) -> Late {
        if segment.flags.has(Flags::RST) {
            return Late::Nothing;
        }
        if segment.flags.has(Flags::SYN) && !segment.flags.has(Flags::ACK) {
            let value = segment.options.timestamps.map(|it| it.value);
            let is_newer = match (self.recent, value) {
                // RFC 6191, 2: a later timestamp, or the same and a later number.
                (Some(recent), Some(value)) if value != recent => is_before(recent, value),
                _ => is_before(self.receive_next, segment.sequence),
            };
            return if is_newer { Late::Reopen } else { Late::Acknowledge };
        }
        if segment.length() > 0 {
            Late::Acknowledge
        } else {
            Late::Nothing
        }
    }
}

/// The table (RFC 9293, 3.6.1).
#[derive(Debug)]
pub struct TimeWaits {
    waiting: HashMap<Tuple, Waiting>,
    /// In the order in which they are forgotten; one that is not in the table is skipped.
    order: VecDeque<(u64, Tuple)>,
    waiting_max: usize,
}

impl TimeWaits {
    /// An empty table for so many (RFC 9293, 3.6.1).
    pub fn new(waiting_max: usize) -> Self {
        Self { waiting: HashMap::new(), order: VecDeque::new(), waiting_max }
    }

    /// Keeps a tuple (RFC 9293, 3.6.1).
    pub fn insert(&mut self, tuple: Tuple, waiting: Waiting) {
        while self.order.len() >= self.waiting_max.max(1) {
            self.forget_first();
        }
        self.order.push_back((waiting.until_ns, tuple));
        self.waiting.insert(tuple, waiting);
    }

    fn forget_first(&mut self) {
        if let Some((until_ns, tuple)) = self.order.pop_front() {
            // It may have been taken, and have come again later.
            if self.waiting.get(&tuple).is_some_and(|it| it.until_ns == until_ns) {
                self.waiting.remove(&tuple);
            }
        }
    }

    /// Forgets those whose time is over (RFC 9293, 3.10.8).
    pub fn advance(&mut self, now_ns: u64) {
        while self.order.front().is_some_and(|(until_ns, _)| *until_ns <= now_ns) {
            self.forget_first();
        }
    }

    /// What is kept of a tuple (RFC 6191, 2).
    pub fn get(&self, tuple: &Tuple) -> Option<Waiting> {
        self.waiting.get(tuple).copied()
    }

    /// Takes a tuple out, for a new connection (RFC 6191, 2).
    pub fn remove(&mut self, tuple: &Tuple) -> Option<Waiting> {
        self.waiting.remove(tuple)
    }

    /// How many there are (RFC 9293, 3.6.1).
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Whether there is none (RFC 9293, 3.6.1).
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}
