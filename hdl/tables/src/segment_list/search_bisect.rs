//! Bisects the candidates of a search: those below and above the entry that it reads, and the entry
//! in the middle of either half, which is read next.
//!
//! ```text
//!  (count - 1) / 2 candidates │ index │ count / 2 candidates
//!        ▲ lower_index                        ▲ upper_index
//! ```
//! Timing: `halves` come one cycle after the token, `halves_kept` and `addresses` two cycles.
//!
//! Invariants:
//! 1. The index of a half of n candidates, n > 0, is the one with (n - 1) / 2 candidates before it.

use crate::messages::SearchToken;
use crate::segment_list::entry_address::EntryAddress;
use stream::prelude::*;

/// The two halves of a search's candidates: what is left below and above the entry read.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct SearchHalves {
    /// Candidates below the entry.
    pub lower_count: Bits<16>,
    /// Index of the candidate in the middle of the lower half.
    pub lower_index: Bits<16>,
    /// Candidates above the entry.
    pub upper_count: Bits<16>,
    /// Index of the candidate in the middle of the upper half.
    pub upper_index: Bits<16>,
}

/// Addresses of the entries in the middle of both halves.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct EntryAddresses {
    /// Address of the middle entry of the lower half.
    pub lower: Bits<24>,
    /// Address of the middle entry of the upper half.
    pub upper: Bits<24>,
}

/// The bisection. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct SearchBisect {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// The search.
    pub token: Signal<In, SearchToken>,
    /// The search of the cycle before.
    pub token_before: Signal<In, SearchToken>,
    /// Halves of `token_before`.
    pub halves: Signal<Out, SearchHalves>,
    /// Halves of the search before `token_before`.
    pub halves_kept: Signal<Out, SearchHalves>,
    /// Addresses that belong to `halves_kept`.
    pub addresses: Signal<Out, EntryAddresses>,

    halved: DFF<SearchHalves>,
    kept: DFF<SearchHalves>,
    located: DFF<EntryAddresses>,

    lower_address: EntryAddress,
    upper_address: EntryAddress,

    lower: Signal<Local, Bits<16>>,
    upper: Signal<Local, Bits<16>>,
    #[value(1)]
    one: Constant<Bits<16>>,
}

impl Logic for SearchBisect {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, halved, kept, located);
        self.lower.next = (self.token.val().count - self.one.val()) >> 1;
        self.upper.next = self.token.val().count >> 1;

        // The lower index is n / 2 + 1 back, which is adding the complement of n / 2.
        self.halved.d.next.lower_count = self.lower.val();
        self.halved.d.next.lower_index = self.token.val().index + !(self.lower.val() >> 1);
        self.halved.d.next.upper_count = self.upper.val();
        self.halved.d.next.upper_index =
            self.token.val().index + ((self.upper.val() + self.one.val()) >> 1);
        self.halves.next = self.halved.q.val();

        self.lower_address.base.next = self.token_before.val().base;
        self.lower_address.mask.next = self.token_before.val().mask;
        self.lower_address.index.next = self.halved.q.val().lower_index;
        self.upper_address.base.next = self.token_before.val().base;
        self.upper_address.mask.next = self.token_before.val().mask;
        self.upper_address.index.next = self.halved.q.val().upper_index;
        self.located.d.next.lower = self.lower_address.address.val();
        self.located.d.next.upper = self.upper_address.address.val();
        self.kept.d.next = self.halved.q.val();
        self.halves_kept.next = self.kept.q.val();
        self.addresses.next = self.located.q.val();
    }
}
