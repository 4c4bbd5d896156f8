//! What one entry says about a search. Combinational.
//!
//! ```text
//!  token, entry, position - entry.position ──► again, with half the candidates, or result
//! ```
//!
//! Invariants:
//! 1. The entry that holds the position stays among the candidates: one that starts at or before
//!    the position without holding it rules out itself and all before it.
//! 2. A search of n candidates ends after at most floor(log2 n) + 1 entries.

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
    upper: Signal<Local, Bits<16>>,
    half_last: Signal<Local, Bits<16>>,
    upper_last: Signal<Local, Bits<16>>,
    index_after: Signal<Local, Bits<16>>,
    below: Signal<Local, Bit>,
    holds: Signal<Local, Bit>,
    more: Signal<Local, Bit>,
    zero: Constant<Bits<16>>,
    one: Constant<Bits<16>>,
    two: Constant<Bits<16>>,
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
            upper: Default::default(),
            half_last: Default::default(),
            upper_last: Default::default(),
            index_after: Default::default(),
            below: Default::default(),
            holds: Default::default(),
            more: Default::default(),
            zero: Constant::new(0u64.to_bits()),
            one: Constant::new(1u64.to_bits()),
            two: Constant::new(2u64.to_bits()),
        }
    }
}

impl Logic for SearchCompare {
    #[hdl_gen]
    fn update(&mut self) {
        // `half` candidates lie below the entry, `upper` above it.
        self.half.next = self.token.val().half;
        self.half_last.next = self.half.val() - self.one.val();
        self.upper_last.next = self.token.val().count - self.half.val() - self.two.val();
        self.upper.next = self.token.val().count - self.half.val() - self.one.val();
        self.index_after.next = self.token.val().index + self.one.val();
        self.below.next = self.ahead.val().get_bit(31);
        self.holds.next = !self.below.val() & (self.ahead.val() < self.entry.val().bytes);

        self.next_round.next = self.token.val();
        self.next_round.next.count = self.half.val();
        self.next_round.next.half = self.half_last.val() >> 1;
        self.more.next = self.half.val() != self.zero.val();
        if !self.below.val() {
            self.next_round.next.low = self.index_after.val();
            self.next_round.next.count = self.upper.val();
            self.next_round.next.half = self.upper_last.val() >> 1;
            self.more.next = self.upper.val() != self.zero.val();
        }
        self.again.next = !self.token.val().by_index
            & (self.token.val().count != self.zero.val())
            & !self.holds.val()
            & self.more.val();

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
