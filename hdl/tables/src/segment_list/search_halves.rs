//! The candidates below and above the entry that a search reads, and which of them it would read
//! next.
//!
//! ```text
//!  (count - 1) / 2 candidates │ index │ count / 2 candidates
//!        ▲ lower_index                        ▲ upper_index
//! ```
//! Timing: `halves` come a cycle after the token, `halves_placed` and `places` two cycles.
//!
//! Invariants:
//! 1. Of a half of n candidates, n > 0, the index is the one with (n - 1) / 2 candidates before it.

use crate::messages::SearchToken;
use crate::segment_list::search_place::SearchPlace;
use stream::prelude::*;

/// Two halves of a search's candidates.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct SearchHalves {
    /// Candidates below the entry.
    pub lower_count: Bits<16>,
    /// The one of them to read.
    pub lower_index: Bits<16>,
    /// Candidates above the entry.
    pub upper_count: Bits<16>,
    /// The one of them to read.
    pub upper_index: Bits<16>,
}

/// Where the entries lie that the halves would read.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct SearchPlaces {
    /// In the lower half.
    pub lower: Bits<24>,
    /// In the upper half.
    pub upper: Bits<24>,
}

/// The halves. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct SearchHalving {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// The search.
    pub token: Signal<In, SearchToken>,
    /// The search of the cycle before.
    pub token_before: Signal<In, SearchToken>,
    /// Halves of `token_before`.
    pub halves: Signal<Out, SearchHalves>,
    /// Halves of the search before that one.
    pub halves_placed: Signal<Out, SearchHalves>,
    /// Their places.
    pub places: Signal<Out, SearchPlaces>,

    halved: DFF<SearchHalves>,
    placed: DFF<SearchHalves>,
    place: DFF<SearchPlaces>,

    lower_place: SearchPlace,
    upper_place: SearchPlace,

    last: Signal<Local, Bits<16>>,
    lower: Signal<Local, Bits<16>>,
    upper: Signal<Local, Bits<16>>,
    back: Signal<Local, Bits<16>>,
    upper_next: Signal<Local, Bits<16>>,
    ahead: Signal<Local, Bits<16>>,
    #[value(1)]
    one: Constant<Bits<16>>,
}

impl Logic for SearchHalving {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, halved, placed, place);
        self.last.next = self.token.val().count - self.one.val();
        self.lower.next = self.last.val() >> 1;
        self.upper.next = self.token.val().count >> 1;

        // The lower index is n / 2 + 1 back, which is adding the complement of n / 2.
        self.back.next = self.lower.val() >> 1;
        self.upper_next.next = self.upper.val() + self.one.val();
        self.ahead.next = self.upper_next.val() >> 1;
        self.halved.d.next.lower_count = self.lower.val();
        self.halved.d.next.lower_index = self.token.val().index + !self.back.val();
        self.halved.d.next.upper_count = self.upper.val();
        self.halved.d.next.upper_index = self.token.val().index + self.ahead.val();
        self.halves.next = self.halved.q.val();

        self.lower_place.base.next = self.token_before.val().base;
        self.lower_place.mask.next = self.token_before.val().mask;
        self.lower_place.index.next = self.halved.q.val().lower_index;
        self.upper_place.base.next = self.token_before.val().base;
        self.upper_place.mask.next = self.token_before.val().mask;
        self.upper_place.index.next = self.halved.q.val().upper_index;
        self.place.d.next.lower = self.lower_place.place.val();
        self.place.d.next.upper = self.upper_place.place.val();
        self.placed.d.next = self.halved.q.val();
        self.halves_placed.next = self.placed.q.val();
        self.places.next = self.place.q.val();
    }
}
