//! What a list update reads and writes, computed from its registers.
//!
//! ```text
//!  list, cursor ──────────────► fetch: the entry at the cursor
//!  list, change, stored, entry ► write: in the present place, or of a move in the new one
//!  list, change ──────────────► after: the list's state when all is done
//! ```
//! Timing: combinational.

use crate::messages::{
    EntryWrite, ListOperation, ListState, ListUpdate, SearchToken, SegmentEntry,
};
use stream::prelude::*;

/// The ports. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct ListPorts {
    /// Change that is requested.
    pub change: Signal<In, ListUpdate>,
    /// State of the list before the change.
    pub list: Signal<In, ListState>,
    /// List index to read next.
    pub cursor: Signal<In, Bits<16>>,
    /// List index to write next.
    pub stored: Signal<In, Bits<16>>,
    /// Entry that was read for `stored`.
    pub entry: Signal<In, SegmentEntry>,
    /// Token that reads the entry at the cursor.
    pub fetch: Signal<Out, SearchToken>,
    /// Entry to write, and where.
    pub write: Signal<Out, EntryWrite>,
    /// State of the list when the change is done.
    pub after: Signal<Out, ListState>,
    /// First list index that the change reads.
    pub first: Signal<Out, Bits<16>>,
    /// List index after the last one that the change reads.
    pub stop: Signal<Out, Bits<16>>,

    change_entry: Signal<Local, SegmentEntry>,
    written: Signal<Local, SegmentEntry>,
    place: Signal<Local, Bits<16>>,
    tail_after: Signal<Local, Bits<16>>,
    base: Signal<Local, Bits<24>>,
    #[value(1)]
    one: Constant<Bits<16>>,
}

impl Logic for ListPorts {
    #[hdl_gen]
    fn update(&mut self) {
        self.fetch.next.slot = 0.into();
        self.fetch.next.fetch = true;
        self.fetch.next.by_index = true;
        self.fetch.next.base = self.list.val().base;
        self.fetch.next.mask = self.list.val().mask;
        self.fetch.next.count = self.one.val();
        self.fetch.next.index = self.cursor.val();
        self.fetch.next.tail = self.list.val().tail;
        self.fetch.next.position = 0.into();

        self.change_entry.next = self.change.val().entry;
        self.tail_after.next = self.list.val().tail + self.one.val();
        self.first.next = self.change.val().index;
        self.stop.next = self.change.val().index + self.one.val();
        self.base.next = self.list.val().base;
        self.place.next = self.stored.val() & self.list.val().mask;
        self.written.next = self.entry.val();
        self.after.next = self.list.val();
        match self.change.val().operation {
            ListOperation::Install => {
                self.after.next.base = self.change.val().base;
                self.after.next.mask = self.change.val().mask;
                self.after.next.head = 0.into();
                self.after.next.tail = 0.into();
            }
            ListOperation::Post => {
                self.place.next = self.change.val().index & self.list.val().mask;
                self.written.next = self.change_entry.val();
                self.after.next.tail = self.tail_after.val();
            }
            ListOperation::Advance => {
                self.place.next = self.change.val().index & self.list.val().mask;
                self.written.next = self.change_entry.val();
                self.after.next.head = self.change.val().head;
                self.after.next.tail = self.tail_after.val();
            }
            ListOperation::Truncate => {
                self.written.next.bytes = self.change_entry.val().bytes;
            }
            ListOperation::SetHead => {
                self.after.next.head = self.change.val().index;
            }
            ListOperation::Move => {
                self.first.next = self.list.val().head;
                self.stop.next = self.list.val().tail;
                self.after.next.base = self.change.val().base;
                self.after.next.mask = self.change.val().mask;
                self.base.next = self.change.val().base;
                self.place.next = self.stored.val() & self.change.val().mask;
            }
        }
        self.write.next.address = self.base.val() + bit_cast::<24, 16>(self.place.val());
        self.write.next.entry = self.written.val();
    }
}
