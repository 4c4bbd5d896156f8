//! The order of the steps of one list update.
//!
//! ```text
//!  idle ─┬─► (write at once) ─► idle
//!        └─► copy: fetch, fetch, ...   ──► name ─► idle
//!                  store, store, ...
//! ```
//! Timing: `busy`, `cursor`, `stored` and `refused` are registers; the other outputs are functions
//! of registers and of `commit`, `fetched_valid` and `grows`.
//!
//! Invariants:
//! 1. Entries `first` to `stop` - 1 are each fetched once and, unless they would grow, stored once,
//!    in order.
//! 2. `write_state` comes after the last `write_entry`.

use stream::prelude::*;

/// State of the update.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum CopyState {
    /// Waits for a commit.
    Idle,
    /// Reads entries and writes them, shortened or in their new place.
    Copy,
    /// Writes the list's state after a copy.
    Name,
}

/// The steps. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct ListCopy {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch: forgets the update.
    pub reset: Signal<In, Bit>,

    /// Begin the update.
    pub commit: Signal<In, Bit>,
    /// The change reads entries and writes them.
    pub copies: Signal<In, Bit>,
    /// The change is a truncate: the list's state stays.
    pub truncates: Signal<In, Bit>,
    /// The change is a post: its entry is written at once.
    pub posts: Signal<In, Bit>,
    /// First list index to read.
    pub first: Signal<In, Bits<16>>,
    /// List index after the last one to read.
    pub stop: Signal<In, Bits<16>>,
    /// The fetch is taken.
    pub fetch_ready: Signal<In, Bit>,
    /// An entry has been read.
    pub fetched_valid: Signal<In, Bit>,
    /// The entry that has been read would become longer.
    pub grows: Signal<In, Bit>,

    /// Entries are being read and written.
    pub busy: Signal<Out, Bit>,
    /// An entry was not written, because it would have grown.
    pub refused: Signal<Out, Bit>,
    /// List index to read next.
    pub cursor: Signal<Out, Bits<16>>,
    /// List index to write next.
    pub stored: Signal<Out, Bits<16>>,
    /// Fetch the entry at the cursor.
    pub fetch_valid: Signal<Out, Bit>,
    /// Write the entry.
    pub write_entry: Signal<Out, Bit>,
    /// Write the list's state.
    pub write_state: Signal<Out, Bit>,

    at: DFF<CopyState>,
    read_index: DFF<Bits<16>>,
    store_index: DFF<Bits<16>>,
    grew: DFF<Bit>,
    more: DFF<Bit>,

    read_after: Signal<Local, Bits<16>>,
    store_after: Signal<Local, Bits<16>>,
    #[value(1)]
    one: Constant<Bits<16>>,
}

impl Logic for ListCopy {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, at, read_index, store_index, grew, more);
        self.busy.next = self.at.q.val() != CopyState::Idle;
        self.refused.next = self.grew.q.val();
        self.cursor.next = self.read_index.q.val();
        self.stored.next = self.store_index.q.val();
        self.read_after.next = self.read_index.q.val() + self.one.val();
        self.store_after.next = self.store_index.q.val() + self.one.val();
        self.fetch_valid.next = false;
        self.write_entry.next = false;
        self.write_state.next = false;

        match self.at.q.val() {
            // Waits for a commit; what needs no entry is written at once.
            CopyState::Idle => {
                self.read_index.d.next = self.first.val();
                self.store_index.d.next = self.first.val();
                self.more.d.next = self.first.val() != self.stop.val();
                self.write_state.next = self.commit.val() & !self.copies.val();
                self.write_entry.next = self.commit.val() & self.posts.val();
                if self.commit.val() {
                    self.grew.d.next = false;
                    if self.copies.val() {
                        self.at.d.next = CopyState::Copy;
                    }
                }
            }
            // Reads ahead; writes each entry as it comes, the last one ends the copy.
            CopyState::Copy => {
                self.fetch_valid.next = self.more.q.val();
                if self.more.q.val() & self.fetch_ready.val() {
                    self.read_index.d.next = self.read_after.val();
                    self.more.d.next = self.read_after.val() != self.stop.val();
                }
                if self.fetched_valid.val() {
                    self.write_entry.next = !self.grows.val();
                    self.grew.d.next = self.grows.val();
                    self.store_index.d.next = self.store_after.val();
                    if self.store_after.val() == self.stop.val() {
                        self.at.d.next = CopyState::Name;
                    }
                }
            }
            // The entries are written: the state may name their place. A truncate changed none.
            CopyState::Name => {
                self.write_state.next = !self.truncates.val();
                self.at.d.next = CopyState::Idle;
            }
        }
        if self.reset.val() {
            self.at.d.next = CopyState::Idle;
        }
    }
}
