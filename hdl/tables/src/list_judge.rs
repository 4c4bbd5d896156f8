//! Decides whether a list may change as asked. Combinational.
//!
//! | operation | allowed when | else |
//! |---|---|---|
//! | install | always | |
//! | post | index = tail, tail - head <= mask | `list_full` |
//! | | 1 <= bytes <= 2^30, range fine | `bad_range` |
//! | truncate | head <= index < tail (and no growth, which the updater checks) | `bad_range` |
//! | set head | head <= index <= tail, range fine | `bad_range` |
//! | move | tail - head <= new mask + 1 | `list_full` |
//! | | empty, or old and new place do not overlap; range fine | `bad_range` |
//!
//! Differences of indices are modulo 2^16.

use crate::updates::{ListOperation, ListState, ListUpdate, SegmentEntry};
use abi::reason::CommandStatus;
use stream::prelude::*;

/// The judge. See the module's head.
#[derive(LogicBlock)]
pub struct ListJudge {
    /// What is asked.
    pub change: Signal<In, ListUpdate>,
    /// The list as it is.
    pub list: Signal<In, ListState>,
    /// CommandStatus.
    pub status: Signal<Out, Bits<8>>,
    /// The list holds nothing.
    pub empty: Signal<Out, Bit>,

    entry: Signal<Local, SegmentEntry>,
    extent: Signal<Local, Bits<16>>,
    offset: Signal<Local, Bits<16>>,
    last: Signal<Local, Bits<16>>,
    old_end: Signal<Local, Bits<25>>,
    new_end: Signal<Local, Bits<25>>,
    is_empty: Signal<Local, Bit>,
    overlap: Signal<Local, Bit>,
    bytes_bad: Signal<Local, Bit>,
    zero: Constant<Bits<16>>,
    one: Constant<Bits<16>>,
    no_bytes: Constant<Bits<32>>,
    bytes_max: Constant<Bits<32>>,
    ok: Constant<Bits<8>>,
    list_full: Constant<Bits<8>>,
    bad_range: Constant<Bits<8>>,
}

impl Default for ListJudge {
    fn default() -> Self {
        Self {
            change: Default::default(),
            list: Default::default(),
            status: Default::default(),
            empty: Default::default(),
            entry: Default::default(),
            extent: Default::default(),
            offset: Default::default(),
            last: Default::default(),
            old_end: Default::default(),
            new_end: Default::default(),
            is_empty: Default::default(),
            overlap: Default::default(),
            bytes_bad: Default::default(),
            zero: Constant::new(0u64.to_bits()),
            one: Constant::new(1u64.to_bits()),
            no_bytes: Constant::new(0u64.to_bits()),
            bytes_max: Constant::new((1u64 << 30).to_bits()),
            ok: Constant::new((CommandStatus::Ok as u64).to_bits()),
            list_full: Constant::new((CommandStatus::ListFull as u64).to_bits()),
            bad_range: Constant::new((CommandStatus::BadRange as u64).to_bits()),
        }
    }
}

impl Logic for ListJudge {
    #[hdl_gen]
    fn update(&mut self) {
        self.entry.next = self.change.val().entry;
        self.extent.next = self.list.val().tail - self.list.val().head;
        self.offset.next = self.change.val().index - self.list.val().head;
        self.last.next = self.extent.val() - self.one.val();
        self.is_empty.next = self.extent.val() == self.zero.val();
        self.empty.next = self.is_empty.val();
        self.old_end.next =
            bit_cast::<25, 24>(self.list.val().base) + bit_cast::<25, 16>(self.list.val().mask);
        self.new_end.next =
            bit_cast::<25, 24>(self.change.val().base) + bit_cast::<25, 16>(self.change.val().mask);
        self.overlap.next = (bit_cast::<25, 24>(self.list.val().base) <= self.new_end.val())
            & (bit_cast::<25, 24>(self.change.val().base) <= self.old_end.val());
        self.bytes_bad.next = (self.entry.val().bytes == self.no_bytes.val())
            | (self.entry.val().bytes > self.bytes_max.val());

        self.status.next = self.ok.val();
        match self.change.val().operation {
            ListOperation::Post => {
                if self.bytes_bad.val() | self.change.val().bad_range {
                    self.status.next = self.bad_range.val();
                }
                if (self.change.val().index != self.list.val().tail)
                    | (self.extent.val() > self.list.val().mask)
                {
                    self.status.next = self.list_full.val();
                }
            }
            ListOperation::Truncate => {
                if self.offset.val() >= self.extent.val() {
                    self.status.next = self.bad_range.val();
                }
            }
            ListOperation::SetHead => {
                if (self.offset.val() > self.extent.val()) | self.change.val().bad_range {
                    self.status.next = self.bad_range.val();
                }
            }
            ListOperation::Move => {
                if self.change.val().bad_range | (self.overlap.val() & !self.is_empty.val()) {
                    self.status.next = self.bad_range.val();
                }
                if !self.is_empty.val() & (self.last.val() > self.change.val().mask) {
                    self.status.next = self.list_full.val();
                }
            }
            _ => {}
        }
    }
}
