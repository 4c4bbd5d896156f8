//! The loop that reads segment entries, one for each search in each round of four cycles.
//!
//! ```text
//!  fetch, tokens ─► choose ─► memory ─► look ─► compare ─┬─► result, fetched
//!                     ▲          └─► halves ─► places ─► ▲ │
//!                     └───────── half the candidates ◄─────┘
//! ```
//! A round reads the entry in the middle of a search's candidates; the search ends when that entry
//! holds the position, or when no candidate is left. Meanwhile it is worked out which entry either
//! half would read next, and where that lies.
//!
//! Timing: four tokens are under way at a time. A token that goes round keeps its place; `ready` of
//! `fetch` and `tokens` depends on that (registers only), and on the other's `valid`: while
//! searches wait, a fetch takes every fourth free place.
//!
//! Invariants:
//! 1. Every token taken comes out once, as a `result` or, with `fetch`, as `fetched`.
//! 2. Positions are compared as signed differences modulo 2^32: right while all lie within 2^30 of
//!    the flow's floor.
//! 3. `found` without `by_index` only for an entry that holds the position.

use crate::messages::{EntryWrite, SearchResult, SearchToken, SegmentEntry, StoredSegment};
use crate::segment_list::search_compare::{SearchCompare, SearchLook, SearchSeen, SearchStore};
use crate::segment_list::search_halves::SearchHalving;
use crate::segment_list::search_place::SearchPlace;
use stream::prelude::*;

/// Who gets a free place of the loop: a fetch when no search waits, or three have gone before it.
#[derive(LogicBlock, BlockDefault)]
pub struct FetchTurn {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// A fetch waits.
    pub fetch_waits: Signal<In, Bit>,
    /// A search waits.
    pub search_waits: Signal<In, Bit>,
    /// A place is free.
    pub place_free: Signal<In, Bit>,
    /// A fetch would get it.
    pub fetch_first: Signal<Out, Bit>,

    passed: DFF<Bits<2>>,

    first: Signal<Local, Bit>,
    #[value(1)]
    one: Constant<Bits<2>>,
    #[value(0)]
    zero: Constant<Bits<2>>,
}

impl Logic for FetchTurn {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, passed);
        self.first.next = self.passed.q.val().all() | !self.search_waits.val();
        self.fetch_first.next = self.first.val();
        if self.fetch_waits.val() & self.place_free.val() {
            self.passed.d.next = self.passed.q.val() + self.one.val();
            if self.first.val() {
                self.passed.d.next = self.zero.val();
            }
        }
    }
}

/// The loop. See the module's head.
#[derive(LogicBlock, Default)]
pub struct SearchLoop<const SEGMENT_BITS: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch.
    pub reset: Signal<In, Bit>,

    /// Searches.
    pub tokens: MessageSink<SearchToken>,
    /// Their answers.
    pub result: PulseSource<SearchResult>,
    /// One entry for an update.
    pub fetch: MessageSink<SearchToken>,
    /// That entry.
    pub fetched: PulseSource<SegmentEntry>,
    /// Entries to write.
    pub write: PulseSink<EntryWrite>,

    entries: BlockRam<StoredSegment, SEGMENT_BITS>,
    valid: DFF<Bits<4>>,
    chosen: DFF<SearchToken>,
    place: DFF<Bits<24>>,
    read: DFF<SearchToken>,
    registered: DFF<SearchToken>,
    compared: DFF<SearchToken>,
    entry_compared: DFF<SegmentEntry>,
    seen: DFF<SearchSeen>,

    halving: SearchHalving,
    token_place: SearchPlace,
    fetch_place: SearchPlace,
    look: SearchLook,
    compare: SearchCompare,
    store: SearchStore,
    turn: FetchTurn,

    search: Signal<Local, SearchToken>,
    update_fetch: Signal<Local, SearchToken>,
    again: Signal<Local, Bit>,
    choose: Signal<Local, Bit>,
    fetch_now: Signal<Local, Bit>,
}

impl<const SEGMENT_BITS: usize> Logic for SearchLoop<SEGMENT_BITS> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, valid, chosen, place, read, registered);
        dff_setup!(self, clock, compared, entry_compared, seen);
        clock!(self, clock, entries, turn, halving);
        // Compare: the token leaves, or goes round with half its candidates.
        self.compare.token.next = self.compared.q.val();
        self.compare.entry.next = self.entry_compared.q.val();
        self.compare.halves.next = self.halving.halves_placed.val();
        self.compare.places.next = self.halving.places.val();
        self.compare.seen.next = self.seen.q.val();
        self.again.next = self.valid.q.val().get_bit(3) & self.compare.again.val();
        self.result.valid.next =
            self.valid.q.val().get_bit(3) & !self.again.val() & !self.compared.q.val().fetch;
        self.result.payload.next = self.compare.result.val();
        self.fetched.valid.next = self.valid.q.val().get_bit(3) & self.compared.q.val().fetch;
        self.fetched.payload.next = self.entry_compared.q.val();

        // Choose: the token that goes round, else a new search, else (or in its turn) a fetch.
        self.turn.fetch_waits.next = self.fetch.valid.val();
        self.turn.search_waits.next = self.tokens.valid.val();
        self.turn.place_free.next = !self.again.val();
        self.fetch_now.next = self.fetch.valid.val() & self.turn.fetch_first.val();
        self.fetch.ready.next = !self.again.val() & self.turn.fetch_first.val();
        self.tokens.ready.next = !self.again.val() & !self.fetch_now.val();
        self.choose.next = self.again.val() | self.fetch.valid.val() | self.tokens.valid.val();
        self.search.next = self.tokens.payload.val();
        self.token_place.base.next = self.search.val().base;
        self.token_place.mask.next = self.search.val().mask;
        self.token_place.index.next = self.search.val().index;
        self.update_fetch.next = self.fetch.payload.val();
        self.fetch_place.base.next = self.update_fetch.val().base;
        self.fetch_place.mask.next = self.update_fetch.val().mask;
        self.fetch_place.index.next = self.update_fetch.val().index;
        self.chosen.d.next = self.search.val();
        self.place.d.next = self.token_place.place.val();
        if self.fetch_now.val() {
            self.chosen.d.next = self.update_fetch.val();
            self.place.d.next = self.fetch_place.place.val();
        }
        if self.again.val() {
            self.chosen.d.next = self.compare.next_round.val();
            self.place.d.next = self.compare.next_place.val();
        }

        // Latch, register and first look; beside them the halves and their places.
        self.entries.read_enable.next = self.valid.q.val().get_bit(0);
        self.entries.register_enable.next = self.valid.q.val().get_bit(1);
        self.entries.read_address.next = bit_cast::<SEGMENT_BITS, 24>(self.place.q.val());
        self.read.d.next = self.chosen.q.val();
        self.registered.d.next = self.read.q.val();
        self.halving.token.next = self.read.q.val();
        self.halving.token_before.next = self.registered.q.val();
        self.entry_compared.d.next = self.look.entry.val();
        self.compared.d.next = self.registered.q.val();
        self.look.token.next = self.registered.q.val();
        self.look.stored.next = self.entries.read_data.val();
        self.look.halves.next = self.halving.halves.val();
        self.seen.d.next = self.look.seen.val();
        self.valid.d.next = (self.valid.q.val() << 1) | bit_cast::<4, 1>(self.choose.val().into());
        if self.reset.val() {
            self.valid.d.next = 0.into();
        }
        self.entries.write_address.next =
            bit_cast::<SEGMENT_BITS, 24>(self.write.payload.val().address);
        self.store.entry.next = self.write.payload.val().entry;
        self.entries.write_data.next = self.store.stored.val();
        self.entries.write_enable.next = self.write.valid.val();
    }
}
