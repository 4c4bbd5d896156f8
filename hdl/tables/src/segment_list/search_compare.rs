//! What one entry says about a search, in two combinational steps with a register between them.
//!
//! ```text
//!  token, entry, halves ──► SearchLook ──► seen ──► SearchCompare ──► again, with half the
//!                                                                     candidates, or result
//! ```
//! Timing: combinational.
//!
//! Invariants:
//! 1. The entry that holds the position stays among the candidates: an entry that starts at or
//!    before the position without holding it rules out itself and all entries before it.
//! 2. A search of n candidates ends after at most floor(log2 n) + 1 entries.

use crate::messages::{SearchResult, SearchToken, SegmentEntry, StoredSegment};
use crate::segment_list::search_bisect::{EntryAddresses, SearchHalves};
use stream::prelude::*;

/// What the first step sees of a search and its entry.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct SearchSeen {
    /// There are candidates.
    pub any: Bit,
    /// The search is for a position and has candidates.
    pub searches: Bit,
    /// There are candidates below the entry.
    pub lower: Bit,
    /// There are candidates above the entry.
    pub upper: Bit,
    /// The position lies below the entry.
    pub below: Bit,
    /// The position lies below the entry's end; valid for an entry that was posted.
    pub below_end: Bit,
    /// The entry is the last one of its list.
    pub last: Bit,
}

/// First step: where the position lies, and what is left to search.
#[derive(LogicBlock, BlockDefault)]
pub struct SearchLook {
    /// The search.
    pub token: Signal<In, SearchToken>,
    /// Entry at `token.index`, as it is stored.
    pub stored: Signal<In, StoredSegment>,
    /// Entry at `token.index` with its length.
    pub entry: Signal<Out, SegmentEntry>,
    /// Candidates below and above the entry.
    pub halves: Signal<In, SearchHalves>,
    /// Result of this step.
    pub seen: Signal<Out, SearchSeen>,

    #[value(1)]
    one: Constant<Bits<16>>,
}

impl Logic for SearchLook {
    #[hdl_gen]
    fn update(&mut self) {
        self.entry.next.position = self.stored.val().position;
        self.entry.next.bytes = self.stored.val().end - self.stored.val().position;
        self.entry.next.region = self.stored.val().region;
        self.entry.next.region_key = self.stored.val().region_key;
        self.entry.next.offset = self.stored.val().offset;
        self.seen.next.any = self.token.val().count != bits::<16>(0);
        self.seen.next.searches =
            !self.token.val().by_index & (self.token.val().count != bits::<16>(0));
        self.seen.next.lower = self.halves.val().lower_count != bits::<16>(0);
        self.seen.next.upper = self.halves.val().upper_count != bits::<16>(0);
        self.seen.next.last = (self.token.val().index + self.one.val()) == self.token.val().tail;
        self.seen.next.below = (self.token.val().position - self.stored.val().position).get_bit(31);
        self.seen.next.below_end = (self.token.val().position - self.stored.val().end).get_bit(31);
    }
}

/// An entry as it is stored: the inverse of what the first step does to it.
#[derive(LogicBlock, Default)]
pub struct SearchStore {
    /// Entry with its length.
    pub entry: Signal<In, SegmentEntry>,
    /// The same entry with its end.
    pub stored: Signal<Out, StoredSegment>,
}

impl Logic for SearchStore {
    #[hdl_gen]
    fn update(&mut self) {
        self.stored.next.position = self.entry.val().position;
        self.stored.next.end = self.entry.val().position + self.entry.val().bytes;
        self.stored.next.region = self.entry.val().region;
        self.stored.next.region_key = self.entry.val().region_key;
        self.stored.next.offset = self.entry.val().offset;
    }
}

/// Second step: whether the search goes on, and where.
#[derive(LogicBlock, Default)]
pub struct SearchCompare {
    /// The search.
    pub token: Signal<In, SearchToken>,
    /// Entry at `token.index`.
    pub entry: Signal<In, SegmentEntry>,
    /// Candidates below and above the entry.
    pub halves: Signal<In, SearchHalves>,
    /// Addresses of the entries in the middle of `halves`.
    pub addresses: Signal<In, EntryAddresses>,
    /// Result of the first step.
    pub seen: Signal<In, SearchSeen>,
    /// The search goes on.
    pub again: Signal<Out, Bit>,
    /// The search in its next round.
    pub next_round: Signal<Out, SearchToken>,
    /// Address of the entry that the next round reads.
    pub next_address: Signal<Out, Bits<24>>,
    /// Result of the search when it does not go on.
    pub result: Signal<Out, SearchResult>,

    holds: Signal<Local, Bit>,
}

impl Logic for SearchCompare {
    #[hdl_gen]
    fn update(&mut self) {
        self.holds.next = !self.seen.val().below & self.seen.val().below_end;

        self.next_round.next = self.token.val();
        self.next_round.next.count = self.halves.val().lower_count;
        self.next_round.next.index = self.halves.val().lower_index;
        self.next_address.next = self.addresses.val().lower;
        if !self.seen.val().below {
            self.next_round.next.count = self.halves.val().upper_count;
            self.next_round.next.index = self.halves.val().upper_index;
            self.next_address.next = self.addresses.val().upper;
        }
        self.again.next = self.seen.val().searches
            & ((self.seen.val().below & self.seen.val().lower)
                | (!self.seen.val().below & !self.seen.val().below_end & self.seen.val().upper));

        self.result.next.slot = self.token.val().slot;
        self.result.next.found =
            self.seen.val().any & (self.token.val().by_index | self.holds.val());
        self.result.next.beyond = !self.seen.val().any
            | (self.seen.val().searches
                & !self.seen.val().below
                & !self.holds.val()
                & self.seen.val().last);
        self.result.next.index = self.token.val().index;
        self.result.next.entry = self.entry.val();
    }
}
