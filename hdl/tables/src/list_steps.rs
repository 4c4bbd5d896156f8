//! The order of the steps of one list update.
//!
//! ```text
//!  idle ─► read ─► load ─► judge ─┬─────────────────────────────┬─► commit ─► finish ─► idle
//!                                 └─► fetch ─► wait ─► store ───┘
//!                                       ▲──── (move) ───┘ └─ (truncate, refused) ─► finish
//! ```
//! Timing: `at` and `status` are registers; `entry_write` belongs to the state that is named by
//! `at`.
//!
//! Invariants:
//! 1. `commit` and `entry_write` are reached with status `ok` only.

use crate::updates::ListOperation;
use abi::reason::CommandStatus;
use stream::prelude::*;

/// Where the updater is.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum UpdaterState {
    /// Waits for a change.
    Idle,
    /// Reads the list's state.
    Read,
    /// Keeps the list's state.
    Load,
    /// Decides, writes what needs no entry.
    Judge,
    /// Asks for an entry.
    Fetch,
    /// Waits for the entry.
    Wait,
    /// Writes the entry.
    Store,
    /// Writes the list's state.
    Commit,
    /// Gives the result.
    Finish,
}

/// The steps. See the module's head.
#[derive(LogicBlock)]
pub struct ListSteps {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch.
    pub reset: Signal<In, Bit>,

    /// A change is there.
    pub change_valid: Signal<In, Bit>,
    /// What it asks.
    pub operation: Signal<In, ListOperation>,
    /// CommandStatus of the judge.
    pub judged: Signal<In, Bits<8>>,
    /// The list holds nothing.
    pub empty: Signal<In, Bit>,
    /// The fetch is taken.
    pub fetch_ready: Signal<In, Bit>,
    /// The entry is there.
    pub fetched_valid: Signal<In, Bit>,
    /// A truncate would make the entry longer.
    pub grows: Signal<In, Bit>,
    /// The entry in work is the list's last.
    pub last_entry: Signal<In, Bit>,

    /// Where the updater is.
    pub at: Signal<Out, UpdaterState>,
    /// An entry is written in this cycle.
    pub entry_write: Signal<Out, Bit>,
    /// CommandStatus of the change.
    pub status: Signal<Out, Bits<8>>,

    state: DFF<UpdaterState>,
    result: DFF<Bits<8>>,

    ok: Constant<Bits<8>>,
    bad_range: Constant<Bits<8>>,
}

impl Default for ListSteps {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            change_valid: Default::default(),
            operation: Default::default(),
            judged: Default::default(),
            empty: Default::default(),
            fetch_ready: Default::default(),
            fetched_valid: Default::default(),
            grows: Default::default(),
            last_entry: Default::default(),
            at: Default::default(),
            entry_write: Default::default(),
            status: Default::default(),
            state: Default::default(),
            result: Default::default(),
            ok: Constant::new((CommandStatus::Ok as u64).to_bits()),
            bad_range: Constant::new((CommandStatus::BadRange as u64).to_bits()),
        }
    }
}

impl Logic for ListSteps {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, state, result);
        self.at.next = self.state.q.val();
        self.status.next = self.result.q.val();
        self.entry_write.next = false;

        match self.state.q.val() {
            // Waits for a change, then reads the list's state.
            UpdaterState::Idle => {
                if self.change_valid.val() {
                    self.state.d.next = UpdaterState::Read;
                }
            }
            UpdaterState::Read => self.state.d.next = UpdaterState::Load,
            UpdaterState::Load => self.state.d.next = UpdaterState::Judge,
            // Decides; a post writes its entry here.
            UpdaterState::Judge => {
                self.result.d.next = self.judged.val();
                self.state.d.next = UpdaterState::Commit;
                match self.operation.val() {
                    ListOperation::Post => {
                        self.entry_write.next = self.judged.val() == self.ok.val();
                    }
                    ListOperation::Truncate => self.state.d.next = UpdaterState::Fetch,
                    ListOperation::Move => {
                        if !self.empty.val() {
                            self.state.d.next = UpdaterState::Fetch;
                        }
                    }
                    _ => {}
                }
                if self.judged.val() != self.ok.val() {
                    self.state.d.next = UpdaterState::Finish;
                }
            }
            // Waits until the fetch is taken, then for the entry.
            UpdaterState::Fetch => {
                if self.fetch_ready.val() {
                    self.state.d.next = UpdaterState::Wait;
                }
            }
            UpdaterState::Wait => {
                if self.fetched_valid.val() {
                    self.state.d.next = UpdaterState::Store;
                }
            }
            // Writes it back shortened, or to the new place and goes on with the next.
            UpdaterState::Store => {
                self.entry_write.next = true;
                self.state.d.next = UpdaterState::Fetch;
                if self.last_entry.val() {
                    self.state.d.next = UpdaterState::Commit;
                }
                if self.operation.val() == ListOperation::Truncate {
                    self.entry_write.next = !self.grows.val();
                    self.state.d.next = UpdaterState::Finish;
                    if self.grows.val() {
                        self.result.d.next = self.bad_range.val();
                    }
                }
            }
            // Writes the list's state, then gives the result.
            UpdaterState::Commit => self.state.d.next = UpdaterState::Finish,
            UpdaterState::Finish => self.state.d.next = UpdaterState::Idle,
        }
        if self.reset.val() {
            self.state.d.next = UpdaterState::Idle;
        }
    }
}
