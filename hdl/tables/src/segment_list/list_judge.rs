//! Decides whether a list may change as requested.
//!
//! | operation | allowed when | else |
//! |---|---|---|
//! | install | always | |
//! | post | index = tail, tail - head <= mask | `full` |
//! | | 1 <= bytes <= 2^30 | `range_bad` |
//! | advance | as post, and as set head of `head`; room is that before the head moves | |
//! | truncate | head <= index < tail (and no growth, which the updater checks) | `range_bad` |
//! | set head | head <= index <= tail | `range_bad` |
//! | move | tail - head <= new mask + 1 | `full` |
//! | | empty, or old and new place do not overlap | `range_bad` |
//!
//! Timing: combinational.
//!
//! Invariants:
//! 1. Differences of indices are modulo 2^16. Both outputs may be high; the command's judge ranks
//!    them.
//!
//! Source: `docs/specification.md`, Commands.

use crate::messages::{ListOperation, ListState, ListUpdate, SegmentEntry};
use stream::prelude::*;

/// The judge. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct ListJudge {
    /// Change that is requested.
    pub change: Signal<In, ListUpdate>,
    /// State of the list before the change.
    pub list: Signal<In, ListState>,
    /// The segments do not fit, or the index is not the tail.
    pub full: Signal<Out, Bit>,
    /// A length or an index is outside its limits.
    pub range_bad: Signal<Out, Bit>,
    /// The list holds no segment.
    pub empty: Signal<Out, Bit>,

    entry: Signal<Local, SegmentEntry>,
    extent: Signal<Local, Bits<16>>,
    offset: Signal<Local, Bits<16>>,
    old_end: Signal<Local, Bits<25>>,
    new_end: Signal<Local, Bits<25>>,
    is_empty: Signal<Local, Bit>,
    overlap: Signal<Local, Bit>,
    bytes_bad: Signal<Local, Bit>,
    #[value(1)]
    one: Constant<Bits<16>>,
    #[value(1 << 30)]
    bytes_max: Constant<Bits<32>>,
}

impl Logic for ListJudge {
    #[hdl_gen]
    fn update(&mut self) {
        self.entry.next = self.change.val().entry;
        self.extent.next = self.list.val().tail - self.list.val().head;
        self.offset.next = self.change.val().index - self.list.val().head;
        self.is_empty.next = self.extent.val() == bits::<16>(0);
        self.empty.next = self.is_empty.val();
        self.old_end.next =
            bit_cast::<25, 24>(self.list.val().base) + bit_cast::<25, 16>(self.list.val().mask);
        self.new_end.next =
            bit_cast::<25, 24>(self.change.val().base) + bit_cast::<25, 16>(self.change.val().mask);
        self.overlap.next = (bit_cast::<25, 24>(self.list.val().base) <= self.new_end.val())
            & (bit_cast::<25, 24>(self.change.val().base) <= self.old_end.val());
        self.bytes_bad.next = (self.entry.val().bytes == bits::<32>(0))
            | (self.entry.val().bytes > self.bytes_max.val());

        self.full.next = false;
        self.range_bad.next = false;
        match self.change.val().operation {
            ListOperation::Post => {
                self.full.next = (self.change.val().index != self.list.val().tail)
                    | (self.extent.val() > self.list.val().mask);
                self.range_bad.next = self.bytes_bad.val();
            }
            ListOperation::Advance => {
                self.full.next = (self.change.val().index != self.list.val().tail)
                    | (self.extent.val() > self.list.val().mask);
                self.range_bad.next = self.bytes_bad.val()
                    | ((self.change.val().head - self.list.val().head) > self.extent.val());
            }
            ListOperation::Truncate => {
                self.range_bad.next = self.offset.val() >= self.extent.val();
            }
            ListOperation::SetHead => {
                self.range_bad.next = self.offset.val() > self.extent.val();
            }
            ListOperation::Move => {
                self.full.next = !self.is_empty.val()
                    & ((self.extent.val() - self.one.val()) > self.change.val().mask);
                self.range_bad.next = self.overlap.val() & !self.is_empty.val();
            }
            _ => {}
        }
    }
}
