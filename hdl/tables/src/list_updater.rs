//! Carries out commands on the lists of one direction, one at a time.
//!
//! ```text
//!  change ──► read list ──► judge ──► (fetch entry ──► store entry)* ──► write list ──► result
//! ```
//!
//! | Port | Direction | Meaning and duty |
//! |---|---|---|
//! | `change`, `result` | in, out | one result (CommandStatus) for each change, a pulse |
//! | `state_read`, `state_flow`, `state` | out, out, in | reads a list state; one cycle |
//! | `state_write`, `entry_write` | out | writes |
//! | `fetch`, `fetched` | out, in | reads an entry through the search loop |
//!
//! Timing: a post, a head move or an install takes 6 cycles, a truncate about 13, a move about 8
//! for each entry.
//!
//! Invariants:
//! 1. `result` comes after the last write; whoever reads the list later sees the change.
//! 2. A change that is refused writes nothing.
//! 3. A move copies entries before the list's state names the new place: searches never see a
//!    half-made copy.
//! 4. `reset` forgets the change in work; its result does not come.

use crate::list_judge::ListJudge;
use crate::list_ports::ListPorts;
use crate::list_steps::{ListSteps, UpdaterState};
use crate::updates::{
    EntryWrite, ListOperation, ListState, ListUpdate, ListWrite, SearchToken, SegmentEntry,
};
use stream::prelude::*;

/// The updater. See the module's head.
#[derive(LogicBlock)]
pub struct ListUpdater {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch.
    pub reset: Signal<In, Bit>,

    /// Changes.
    pub change: MessageSink<ListUpdate>,
    /// Their results.
    pub result: PulseSource<Bits<8>>,

    /// A list state is read in this cycle.
    pub state_read: Signal<Out, Bit>,
    /// Flow of that list.
    pub state_flow: Signal<Out, Bits<16>>,
    /// The state, one cycle later.
    pub state: Signal<In, ListState>,
    /// A list state to write.
    pub state_write: PulseSource<ListWrite>,
    /// A segment entry to write.
    pub entry_write: PulseSource<EntryWrite>,
    /// A segment entry to read.
    pub fetch: MessageSource<SearchToken>,
    /// That entry.
    pub fetched: PulseSink<SegmentEntry>,

    asked: DFF<ListUpdate>,
    list: DFF<ListState>,
    cursor: DFF<Bits<16>>,
    entry: DFF<SegmentEntry>,

    steps: ListSteps,
    judge: ListJudge,
    ports: ListPorts,

    asked_entry: Signal<Local, SegmentEntry>,
    at: Signal<Local, UpdaterState>,
    cursor_after: Signal<Local, Bits<16>>,
    one: Constant<Bits<16>>,
}

impl Default for ListUpdater {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            change: Default::default(),
            result: Default::default(),
            state_read: Default::default(),
            state_flow: Default::default(),
            state: Default::default(),
            state_write: Default::default(),
            entry_write: Default::default(),
            fetch: Default::default(),
            fetched: Default::default(),
            asked: Default::default(),
            list: Default::default(),
            cursor: Default::default(),
            entry: Default::default(),
            steps: Default::default(),
            judge: Default::default(),
            ports: Default::default(),
            asked_entry: Default::default(),
            at: Default::default(),
            cursor_after: Default::default(),
            one: Constant::new(1u64.to_bits()),
        }
    }
}

impl Logic for ListUpdater {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, asked, list, cursor, entry);
        self.judge.change.next = self.asked.q.val();
        self.judge.list.next = self.list.q.val();
        self.ports.change.next = self.asked.q.val();
        self.ports.list.next = self.list.q.val();
        self.ports.cursor.next = self.cursor.q.val();
        self.ports.entry.next = self.entry.q.val();

        // What the steps look at.
        self.asked_entry.next = self.asked.q.val().entry;
        self.cursor_after.next = self.cursor.q.val() + self.one.val();
        self.steps.clock.next = self.clock.val();
        self.steps.reset.next = self.reset.val();
        self.steps.change_valid.next = self.change.valid.val();
        self.steps.operation.next = self.asked.q.val().operation;
        self.steps.judged.next = self.judge.status.val();
        self.steps.empty.next = self.judge.empty.val();
        self.steps.fetch_ready.next = self.fetch.ready.val();
        self.steps.fetched_valid.next = self.fetched.valid.val();
        self.steps.grows.next = self.asked_entry.val().bytes > self.entry.q.val().bytes;
        self.steps.last_entry.next = self.cursor_after.val() == self.list.q.val().tail;

        // What they keep.
        self.at.next = self.steps.at.val();
        match self.at.val() {
            UpdaterState::Idle => {
                self.asked.d.next = self.change.payload.val();
                self.cursor.d.next = self.change.payload.val().index;
            }
            UpdaterState::Load => self.list.d.next = self.state.val(),
            UpdaterState::Judge => {
                if self.asked.q.val().operation == ListOperation::Move {
                    self.cursor.d.next = self.list.q.val().head;
                }
            }
            UpdaterState::Wait => self.entry.d.next = self.fetched.payload.val(),
            UpdaterState::Store => self.cursor.d.next = self.cursor_after.val(),
            _ => {}
        }

        // What they do.
        self.change.ready.next = self.at.val() == UpdaterState::Idle;
        self.result.valid.next = self.at.val() == UpdaterState::Finish;
        self.result.payload.next = self.steps.status.val();
        self.state_read.next = self.at.val() == UpdaterState::Read;
        self.state_flow.next = self.asked.q.val().flow;
        self.state_write.valid.next = self.at.val() == UpdaterState::Commit;
        self.state_write.payload.next.flow = self.asked.q.val().flow;
        self.state_write.payload.next.state = self.ports.after.val();
        self.fetch.valid.next = self.at.val() == UpdaterState::Fetch;
        self.fetch.payload.next = self.ports.fetch.val();
        self.entry_write.valid.next = self.steps.entry_write.val();
        self.entry_write.payload.next = self.ports.write.val();
    }
}
