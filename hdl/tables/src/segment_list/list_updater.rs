//! Carries out commands on the lists of one direction, one at a time.
//!
//! ```text
//!  control ──► states (own copy) ──► list ──► judge ──► control
//!                                     │
//!                                     └─► [copy: fetch ──► entry]* ──► entry_write, state_write
//! ```
//! Timing: an install, a post, a head move, both of them and a move of an empty list are in the
//! memories two cycles after `commit`, and are never `busy`. A truncate takes about 8 cycles more,
//! a move about 7 and one for each entry, more while searches keep the loop busy.
//!
//! Invariants:
//! 1. A change whose `commit` came in a cycle is seen by reads of the list two cycles later, or
//!    after `busy` has fallen.
//! 2. A truncate that is refused writes nothing.
//! 3. A move copies entries before the list's state names the new place: searches never see a
//!    half-made copy.
//! 4. `reset` forgets the change in work.
//! 5. It relies on a change that stands from four cycles before its `commit` until `busy` has
//!    fallen, on five cycles between two changes, and on one entry for each `fetch`.
//!
//! Source: `docs/specification.md`, Lists.

use crate::messages::{
    EntryWrite, ListOperation, ListState, ListUpdate, ListWrite, SearchToken, SegmentEntry,
};
use crate::segment_list::list_control::ListControlSink;
use crate::segment_list::list_copy::ListCopy;
use crate::segment_list::list_judge::ListJudge;
use crate::segment_list::list_ports::ListPorts;
use stream::prelude::*;

/// The updater. See the module's head.
#[derive(LogicBlock, Default)]
pub struct ListUpdater<const FLOW_BITS: usize> {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch: forgets the change in work. The states in memory are kept, and are
    /// installed again with their flows.
    pub reset: Signal<In, Bit>,

    /// Changes by commands; see [`crate::segment_list::list_control`].
    pub control: ListControlSink,

    /// List states to write.
    pub state_write: PulseSource<ListWrite>,
    /// Segment entries to write.
    pub entry_write: PulseSource<EntryWrite>,
    /// Segment entries to read through the search loop.
    pub fetch: MessageSource<SearchToken>,
    /// Entries read, in the order of `fetch`.
    pub fetched: PulseSink<SegmentEntry>,

    states: BlockRam<ListState, FLOW_BITS>,
    list: DFF<ListState>,
    entry: DFF<SegmentEntry>,
    entry_valid: DFF<Bit>,
    state_pending: DFF<ListWrite>,
    state_pending_valid: DFF<Bit>,
    entry_pending: DFF<EntryWrite>,
    entry_pending_valid: DFF<Bit>,

    full: DFF<Bit>,
    range_bad: DFF<Bit>,
    empty: DFF<Bit>,
    first: DFF<Bits<16>>,
    stop: DFF<Bits<16>>,

    judge: ListJudge,
    ports: ListPorts,
    copy: ListCopy,

    change: Signal<Local, ListUpdate>,
    change_entry: Signal<Local, SegmentEntry>,
    operation: Signal<Local, ListOperation>,
    truncates: Signal<Local, Bit>,
}

impl<const FLOW_BITS: usize> Logic for ListUpdater<FLOW_BITS> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, list, entry, entry_valid, full, range_bad, empty, first, stop);
        dff_setup!(
            self,
            clock,
            state_pending,
            state_pending_valid,
            entry_pending,
            entry_pending_valid
        );
        clock!(self, clock, states, copy);

        // The list that the change names, three cycles after it, and the verdict on it, one
        // more.
        self.change.next = self.control.change.val();
        self.states.read_enable.next = true;
        self.states.register_enable.next = true;
        self.states.read_address.next = bit_cast::<FLOW_BITS, 16>(self.change.val().flow);
        self.list.d.next = self.states.read_data.val();
        self.judge.change.next = self.change.val();
        self.judge.list.next = self.list.q.val();
        self.full.d.next = self.judge.full.val();
        self.range_bad.d.next = self.judge.range_bad.val();
        self.empty.d.next = self.judge.empty.val();
        self.control.full.next = self.full.q.val();
        self.control.range_bad.next = self.range_bad.q.val();
        self.ports.change.next = self.change.val();
        self.ports.list.next = self.list.q.val();
        self.ports.cursor.next = self.copy.cursor.val();
        self.ports.stored.next = self.copy.stored.val();
        self.ports.entry.next = self.entry.q.val();

        // The steps. Entries come back in the order in which they were fetched.
        self.operation.next = self.change.val().operation;
        self.change_entry.next = self.change.val().entry;
        self.entry.d.next = self.fetched.payload.val();
        self.entry_valid.d.next = self.fetched.valid.val() & !self.reset.val();
        self.truncates.next = self.operation.val() == ListOperation::Truncate;
        self.copy.reset.next = self.reset.val();
        self.copy.commit.next = self.control.commit.val();
        self.copy.truncates.next = self.truncates.val();
        self.copy.copies.next = self.truncates.val()
            | ((self.operation.val() == ListOperation::Move) & !self.empty.q.val());
        self.copy.posts.next = (self.operation.val() == ListOperation::Post)
            | (self.operation.val() == ListOperation::Advance);
        self.first.d.next = self.ports.first.val();
        self.stop.d.next = self.ports.stop.val();
        self.copy.first.next = self.first.q.val();
        self.copy.stop.next = self.stop.q.val();
        self.copy.fetch_ready.next = self.fetch.ready.val();
        self.copy.fetched_valid.next = self.entry_valid.q.val();
        self.copy.grows.next =
            self.truncates.val() & (self.change_entry.val().bytes > self.entry.q.val().bytes);
        self.control.busy.next = self.copy.busy.val();
        self.control.refused.next = self.copy.refused.val();
        self.fetch.valid.next = self.copy.fetch_valid.val();
        self.fetch.payload.next = self.ports.fetch.val();

        // The writes, a cycle later.
        self.state_pending_valid.d.next = self.copy.write_state.val();
        self.state_pending.d.next.flow = self.change.val().flow;
        self.state_pending.d.next.state = self.ports.after.val();
        self.entry_pending_valid.d.next = self.copy.write_entry.val();
        self.entry_pending.d.next = self.ports.write.val();
        self.states.write_address.next = bit_cast::<FLOW_BITS, 16>(self.state_pending.q.val().flow);
        self.states.write_data.next = self.state_pending.q.val().state;
        self.states.write_enable.next = self.state_pending_valid.q.val();
        self.state_write.valid.next = self.state_pending_valid.q.val();
        self.state_write.payload.next = self.state_pending.q.val();
        self.entry_write.valid.next = self.entry_pending_valid.q.val();
        self.entry_write.payload.next = self.entry_pending.q.val();
    }
}
