//! The loop that reads segment entries, one for each search in each round of four cycles.
//!
//! ```text
//!  fetch, tokens ─► choose ─► memory ─► look ─► compare ─┬─► result, fetched
//!                     ▲          └─► halves ─► addresses ► ▲ │
//!                     └───────── half the candidates ◄─────┘
//! ```
//! A round reads the entry in the middle of a search's candidates. The search ends when that entry
//! holds the position, or when no candidate is left. Meanwhile the loop computes which entry either
//! half would read next, and its address.
//!
//! Timing: four tokens are in the loop at a time. A token that goes round keeps its place. `ready`
//! of `fetch` and `tokens` depends on that (registers only), and on the other's `valid`: while
//! searches wait, a fetch takes every fourth free place.
//!
//! Invariants:
//! 1. Every token taken comes out once, as a `result` or, with `fetch`, as `fetched`.
//! 2. Positions are compared as signed differences modulo 2^32: right while all lie within 2^30 of
//!    the flow's floor.
//! 3. `found` without `by_index` only for an entry that holds the position.

use crate::messages::{EntryWrite, SearchResult, SearchToken, SegmentEntry, StoredSegment};
use crate::segment_list::entry_address::EntryAddress;
use crate::segment_list::search_bisect::SearchBisect;
use crate::segment_list::search_compare::{SearchCompare, SearchLook, SearchSeen, SearchStore};
use stream::prelude::*;

/// Grants the free places of the loop: to a fetch when no search waits, or when three searches have
/// gone before it.
#[derive(LogicBlock, BlockDefault)]
pub struct FetchArbiter {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// A fetch waits.
    pub fetch_waits: Signal<In, Bit>,
    /// A search waits.
    pub search_waits: Signal<In, Bit>,
    /// A place of the loop is free.
    pub place_free: Signal<In, Bit>,
    /// A fetch is granted before a search.
    pub fetch_first: Signal<Out, Bit>,

    passed: DFF<Bits<2>>,

    first: Signal<Local, Bit>,
    #[value(1)]
    one: Constant<Bits<2>>,
}

impl Logic for FetchArbiter {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, passed);
        self.first.next = self.passed.q.val().all() | !self.search_waits.val();
        self.fetch_first.next = self.first.val();
        if self.fetch_waits.val() & self.place_free.val() {
            self.passed.d.next = self.passed.q.val() + self.one.val();
            if self.first.val() {
                self.passed.d.next = 0.into();
            }
        }
    }
}

/// The loop. See the module's head.
#[derive(LogicBlock, Default)]
pub struct SearchLoop<const SEGMENT_BITS: usize> {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch: forgets all tokens. The entries in memory are kept.
    pub reset: Signal<In, Bit>,

    /// Searches.
    pub tokens: MessageSink<SearchToken>,
    /// Results of the searches, in any order.
    pub result: PulseSource<SearchResult>,
    /// Entries to read for an update.
    pub fetch: MessageSink<SearchToken>,
    /// Entries read, in the order of `fetch`.
    pub fetched: PulseSource<SegmentEntry>,
    /// Entries to write.
    pub write: PulseSink<EntryWrite>,

    entries: BlockRam<StoredSegment, SEGMENT_BITS>,
    valid: DFF<Bits<4>>,
    chosen: DFF<SearchToken>,
    address: DFF<Bits<24>>,
    read: DFF<SearchToken>,
    registered: DFF<SearchToken>,
    compared: DFF<SearchToken>,
    entry_compared: DFF<SegmentEntry>,
    seen: DFF<SearchSeen>,

    bisect: SearchBisect,
    token_address: EntryAddress,
    fetch_address: EntryAddress,
    look: SearchLook,
    compare: SearchCompare,
    store: SearchStore,
    arbiter: FetchArbiter,

    search: Signal<Local, SearchToken>,
    update_fetch: Signal<Local, SearchToken>,
    again: Signal<Local, Bit>,
    choose: Signal<Local, Bit>,
    fetch_now: Signal<Local, Bit>,
}

impl<const SEGMENT_BITS: usize> Logic for SearchLoop<SEGMENT_BITS> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, valid, chosen, address, read, registered);
        dff_setup!(self, clock, compared, entry_compared, seen);
        clock!(self, clock, entries, arbiter, bisect);
        // Compare: the token leaves, or goes round with half its candidates.
        self.compare.token.next = self.compared.q.val();
        self.compare.entry.next = self.entry_compared.q.val();
        self.compare.halves.next = self.bisect.halves_kept.val();
        self.compare.addresses.next = self.bisect.addresses.val();
        self.compare.seen.next = self.seen.q.val();
        self.again.next = self.valid.q.val().get_bit(3) & self.compare.again.val();
        self.result.valid.next =
            self.valid.q.val().get_bit(3) & !self.again.val() & !self.compared.q.val().fetch;
        self.result.payload.next = self.compare.result.val();
        self.fetched.valid.next = self.valid.q.val().get_bit(3) & self.compared.q.val().fetch;
        self.fetched.payload.next = self.entry_compared.q.val();

        // Choose: the token that goes round, else a new search, else (or when granted) a fetch.
        self.arbiter.fetch_waits.next = self.fetch.valid.val();
        self.arbiter.search_waits.next = self.tokens.valid.val();
        self.arbiter.place_free.next = !self.again.val();
        self.fetch_now.next = self.fetch.valid.val() & self.arbiter.fetch_first.val();
        self.fetch.ready.next = !self.again.val() & self.arbiter.fetch_first.val();
        self.tokens.ready.next = !self.again.val() & !self.fetch_now.val();
        self.choose.next = self.again.val() | self.fetch.valid.val() | self.tokens.valid.val();
        self.search.next = self.tokens.payload.val();
        self.token_address.base.next = self.search.val().base;
        self.token_address.mask.next = self.search.val().mask;
        self.token_address.index.next = self.search.val().index;
        self.update_fetch.next = self.fetch.payload.val();
        self.fetch_address.base.next = self.update_fetch.val().base;
        self.fetch_address.mask.next = self.update_fetch.val().mask;
        self.fetch_address.index.next = self.update_fetch.val().index;
        self.chosen.d.next = self.search.val();
        self.address.d.next = self.token_address.address.val();
        if self.fetch_now.val() {
            self.chosen.d.next = self.update_fetch.val();
            self.address.d.next = self.fetch_address.address.val();
        }
        if self.again.val() {
            self.chosen.d.next = self.compare.next_round.val();
            self.address.d.next = self.compare.next_address.val();
        }

        // Latch, register and first look; beside them the halves and their addresses.
        self.entries.read_enable.next = self.valid.q.val().get_bit(0);
        // The register follows the latch in every cycle: an enable of all its bits, in all banks,
        // would be a net with 9,216 loads.
        self.entries.register_enable.next = true;
        self.entries.read_address.next = bit_cast::<SEGMENT_BITS, 24>(self.address.q.val());
        self.read.d.next = self.chosen.q.val();
        self.registered.d.next = self.read.q.val();
        self.bisect.token.next = self.read.q.val();
        self.bisect.token_before.next = self.registered.q.val();
        self.entry_compared.d.next = self.look.entry.val();
        self.compared.d.next = self.registered.q.val();
        self.look.token.next = self.registered.q.val();
        self.look.stored.next = self.entries.read_data.val();
        self.look.halves.next = self.bisect.halves.val();
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
