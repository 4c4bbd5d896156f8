//! What one entry says about a search. Combinational.
//!
//! ```text
//!  token, entry, position - entry.position ──► again, with half the candidates, or result
//! ```
//!
//! Invariants:
//! 1. The last candidate that starts at or before the position stays among the candidates.
//! 2. A search of n candidates ends after at most ceil(log2 n) + 1 entries.

use crate::updates::{SearchResult, SearchToken, SegmentEntry};
use stream::prelude::*;

/// The comparison. See the module's head.
#[derive(LogicBlock)]
pub struct SearchCompare {
    /// The search.
    pub token: Signal<In, SearchToken>,
    /// The entry at `token.index`.
    pub entry: Signal<In, SegmentEntry>,
    /// Position sought minus position of the entry.
    pub ahead: Signal<In, Bits<32>>,
    /// The search goes on.
    pub again: Signal<Out, Bit>,
    /// The search in its next round.
    pub next_round: Signal<Out, SearchToken>,
    /// The answer when it does not go on.
    pub result: Signal<Out, SearchResult>,

    half: Signal<Local, Bits<16>>,
    upper_half: Signal<Local, Bits<16>>,
    index_after: Signal<Local, Bits<16>>,
    below: Signal<Local, Bit>,
    holds: Signal<Local, Bit>,
    zero: Constant<Bits<16>>,
    one: Constant<Bits<16>>,
}

impl Default for SearchCompare {
    fn default() -> Self {
        Self {
            token: Default::default(),
            entry: Default::default(),
            ahead: Default::default(),
            again: Default::default(),
            next_round: Default::default(),
            result: Default::default(),
            half: Default::default(),
            upper_half: Default::default(),
            index_after: Default::default(),
            below: Default::default(),
            holds: Default::default(),
            zero: Constant::new(0u64.to_bits()),
            one: Constant::new(1u64.to_bits()),
        }
    }
}

impl Logic for SearchCompare {
    #[hdl_gen]
    fn update(&mut self) {
        self.half.next = self.token.val().count >> 1;
        self.upper_half.next = self.token.val().count - self.half.val();
        self.index_after.next = self.token.val().index + self.one.val();
        self.below.next = self.ahead.val().get_bit(31);
        self.holds.next = !self.below.val() & (self.ahead.val() < self.entry.val().bytes);
        self.again.next =
            !self.token.val().by_index & !self.holds.val() & (self.half.val() != self.zero.val());

        self.next_round.next = self.token.val();
        self.next_round.next.count = self.half.val();
        if !self.below.val() {
            self.next_round.next.low = self.token.val().index;
            self.next_round.next.count = self.upper_half.val();
        }

        self.result.next.slot = self.token.val().slot;
        self.result.next.found = (self.token.val().count != self.zero.val())
            & (self.token.val().by_index | self.holds.val());
        self.result.next.beyond = (self.token.val().count == self.zero.val())
            | (!self.token.val().by_index
                & !self.below.val()
                & !self.holds.val()
                & (self.index_after.val() == self.token.val().tail));
        self.result.next.index = self.token.val().index;
        self.result.next.entry = self.entry.val();
    }
}
