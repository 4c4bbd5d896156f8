//! The state of the read tags, in rows of sixteen.
//!
//! ```text
//!              event 0, event 1, issue, retire, expiry
//!   columns ───┼───┼───┼───┼───  one bit for each tag of the row
//!   row ───────o───o───o───o───  one bit for each that concerns this row, and what it says
//! ```
//! A tag is concerned where row and column meet, so a tag's decoder is one gate.
//!
//! [`TagRows`] is all sixteen of them.
//!
//! Timing: changes are visible one cycle later, and so are `late` and `wrong`.
//!
//! Invariants:
//! 1. Events and expiries change outstanding tags only.
//! 2. A quarantined tag stays busy until `clear`.

use crate::tags::{Tag, TagEvent, TagSet};
use stream::prelude::*;

/// Tags of a row.
pub const ROW_TAGS: usize = 16;

/// The row. See the module's head.
#[derive(LogicBlock, Default)]
pub struct TagRow {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Frees every tag but for what is outstanding.
    pub clear: Signal<In, Bit>,
    /// Nothing is outstanding.
    pub link_reset: Signal<In, Bit>,

    /// Column of event 0.
    pub column_0: Signal<In, Bits<ROW_TAGS>>,
    /// Event 0 finishes a tag of this row.
    pub finish_0: Signal<In, Bit>,
    /// It was not as expected.
    pub fail_0: Signal<In, Bit>,
    /// The hard block has given it up.
    pub late_0: Signal<In, Bit>,
    /// Column of event 1.
    pub column_1: Signal<In, Bits<ROW_TAGS>>,
    /// Event 1 finishes a tag of this row.
    pub finish_1: Signal<In, Bit>,
    /// It was not as expected.
    pub fail_1: Signal<In, Bit>,
    /// The hard block has given it up.
    pub late_1: Signal<In, Bit>,
    /// Column of the tag that has waited too long.
    pub expired_column: Signal<In, Bits<ROW_TAGS>>,
    /// It is in this row.
    pub expired: Signal<In, Bit>,
    /// Column of the tag that is issued.
    pub issue_column: Signal<In, Bits<ROW_TAGS>>,
    /// It is in this row.
    pub issue: Signal<In, Bit>,
    /// Column of the tag whose answer was handed on.
    pub retire_column: Signal<In, Bits<ROW_TAGS>>,
    /// It is in this row.
    pub retire: Signal<In, Bit>,

    /// Tags that must not be used.
    pub busy: Signal<Out, Bits<ROW_TAGS>>,
    /// Tags that wait for completions.
    pub outstanding: Signal<Out, Bits<ROW_TAGS>>,
    /// Tags whose answer is complete.
    pub done: Signal<Out, Bits<ROW_TAGS>>,
    /// Tags whose answer is wrong.
    pub failed: Signal<Out, Bits<ROW_TAGS>>,
    /// Tags that timed out.
    pub quarantined: Signal<Out, Bits<ROW_TAGS>>,
    /// A tag timed out.
    pub late: Signal<Out, Bit>,
    /// A tag got a completion that was not as expected.
    pub wrong: Signal<Out, Bit>,

    busy_bits: DFF<Bits<ROW_TAGS>>,
    outstanding_bits: DFF<Bits<ROW_TAGS>>,
    done_bits: DFF<Bits<ROW_TAGS>>,
    failed_bits: DFF<Bits<ROW_TAGS>>,
    quarantined_bits: DFF<Bits<ROW_TAGS>>,
    was_late: DFF<Bit>,
    was_wrong: DFF<Bit>,

    finish_mask: Signal<Local, Bits<ROW_TAGS>>,
    fail_mask: Signal<Local, Bits<ROW_TAGS>>,
    late_mask: Signal<Local, Bits<ROW_TAGS>>,
    issue_mask: Signal<Local, Bits<ROW_TAGS>>,
    retire_mask: Signal<Local, Bits<ROW_TAGS>>,
    finishes: [Signal<Local, Bits<ROW_TAGS>>; 2],
    fails: [Signal<Local, Bits<ROW_TAGS>>; 2],
    lates: [Signal<Local, Bits<ROW_TAGS>>; 3],
}

impl Logic for TagRow {
    #[hdl_gen]
    #[rustfmt::skip]
    fn update(&mut self) {
        dff_setup!(self, clock, busy_bits, outstanding_bits, done_bits);
        dff_setup!(self, clock, failed_bits, quarantined_bits, was_late, was_wrong);
        self.finishes[0].next = 0.into();
        if self.finish_0.val() { self.finishes[0].next = self.column_0.val(); }
        self.finishes[1].next = 0.into();
        if self.finish_1.val() { self.finishes[1].next = self.column_1.val(); }
        self.fails[0].next = 0.into();
        if self.fail_0.val() { self.fails[0].next = self.column_0.val(); }
        self.fails[1].next = 0.into();
        if self.fail_1.val() { self.fails[1].next = self.column_1.val(); }
        self.lates[0].next = 0.into();
        if self.late_0.val() { self.lates[0].next = self.column_0.val(); }
        self.lates[1].next = 0.into();
        if self.late_1.val() { self.lates[1].next = self.column_1.val(); }
        self.lates[2].next = 0.into();
        if self.expired.val() { self.lates[2].next = self.expired_column.val(); }
        self.issue_mask.next = 0.into();
        if self.issue.val() { self.issue_mask.next = self.issue_column.val(); }
        self.retire_mask.next = 0.into();
        if self.retire.val() { self.retire_mask.next = self.retire_column.val(); }
        self.finish_mask.next =
            (self.finishes[0].val() | self.finishes[1].val()) & self.outstanding_bits.q.val();
        self.fail_mask.next =
            (self.fails[0].val() | self.fails[1].val()) & self.outstanding_bits.q.val();
        self.late_mask.next = (self.lates[0].val() | self.lates[1].val() | self.lates[2].val())
            & self.outstanding_bits.q.val();
        self.was_late.d.next = self.late_mask.val().any();
        self.was_wrong.d.next = self.fail_mask.val().any();
        self.late.next = self.was_late.q.val();
        self.wrong.next = self.was_wrong.q.val();

        self.busy_bits.d.next = (self.busy_bits.q.val() | self.issue_mask.val())
            & !(self.retire_mask.val() & !self.quarantined_bits.q.val());
        self.outstanding_bits.d.next = (self.outstanding_bits.q.val() | self.issue_mask.val())
            & !(self.finish_mask.val() | self.late_mask.val());
        self.done_bits.d.next = (self.done_bits.q.val() & !self.retire_mask.val())
            | self.finish_mask.val()
            | self.late_mask.val();
        self.failed_bits.d.next = (self.failed_bits.q.val() & !self.retire_mask.val())
            | self.fail_mask.val()
            | self.late_mask.val();
        self.quarantined_bits.d.next = self.quarantined_bits.q.val() | self.late_mask.val();
        if self.clear.val() {
            self.busy_bits.d.next = 0.into();
            self.done_bits.d.next = 0.into();
            self.failed_bits.d.next = 0.into();
            self.quarantined_bits.d.next = 0.into();
        }
        if self.link_reset.val() {
            self.outstanding_bits.d.next = 0.into();
        }
        self.busy.next = self.busy_bits.q.val();
        self.outstanding.next = self.outstanding_bits.q.val();
        self.done.next = self.done_bits.q.val();
        self.failed.next = self.failed_bits.q.val();
        self.quarantined.next = self.quarantined_bits.q.val();
    }
}

/// One bit of each tag, from the rows.
#[derive(LogicBlock, Default)]
pub struct TagSetJoin {
    /// The rows' bits.
    pub rows: [Signal<In, Bits<ROW_TAGS>>; 16],
    /// All of them.
    pub set: Signal<Out, TagSet>,

    low: Signal<Local, TagSet>,
    high: Signal<Local, TagSet>,
}

impl Logic for TagSetJoin {
    #[hdl_gen]
    fn update(&mut self) {
        self.low.next = bit_cast::<256, 16>(self.rows[0].val())
            | (bit_cast::<256, 16>(self.rows[1].val()) << 16)
            | (bit_cast::<256, 16>(self.rows[2].val()) << 32)
            | (bit_cast::<256, 16>(self.rows[3].val()) << 48)
            | (bit_cast::<256, 16>(self.rows[4].val()) << 64)
            | (bit_cast::<256, 16>(self.rows[5].val()) << 80)
            | (bit_cast::<256, 16>(self.rows[6].val()) << 96)
            | (bit_cast::<256, 16>(self.rows[7].val()) << 112);
        self.high.next = (bit_cast::<256, 16>(self.rows[8].val()) << 128)
            | (bit_cast::<256, 16>(self.rows[9].val()) << 144)
            | (bit_cast::<256, 16>(self.rows[10].val()) << 160)
            | (bit_cast::<256, 16>(self.rows[11].val()) << 176)
            | (bit_cast::<256, 16>(self.rows[12].val()) << 192)
            | (bit_cast::<256, 16>(self.rows[13].val()) << 208)
            | (bit_cast::<256, 16>(self.rows[14].val()) << 224)
            | (bit_cast::<256, 16>(self.rows[15].val()) << 240);
        self.set.next = self.low.val() | self.high.val();
    }
}

/// The rows that an event concerns, and its column.
#[derive(LogicBlock)]
pub struct EventRows {
    /// A completion ends.
    pub event: PulseSink<TagEvent>,
    /// Column of its tag.
    pub column: Signal<Out, Bits<ROW_TAGS>>,
    /// Row of a tag that has got its last completion.
    pub finish: Signal<Out, Bits<16>>,
    /// Row of a tag that got a wrong one.
    pub fail: Signal<Out, Bits<16>>,
    /// Row of a tag that the hard block has given up.
    pub late: Signal<Out, Bits<16>>,

    payload: Signal<Local, TagEvent>,
    tag: Signal<Local, Tag>,
    row: Signal<Local, Bits<16>>,
    one: Constant<Bits<16>>,
}

impl Default for EventRows {
    fn default() -> Self {
        Self {
            event: Default::default(),
            column: Default::default(),
            finish: Default::default(),
            fail: Default::default(),
            late: Default::default(),
            payload: Default::default(),
            tag: Default::default(),
            row: Default::default(),
            one: Constant::new(1u64.to_bits()),
        }
    }
}

impl Logic for EventRows {
    #[hdl_gen]
    fn update(&mut self) {
        self.payload.next = self.event.payload.val();
        self.tag.next = self.payload.val().tag;
        self.column.next = self.one.val() << self.tag.val().get_bits::<4>(0);
        self.row.next = 0.into();
        if self.event.valid.val() {
            self.row.next = self.one.val() << self.tag.val().get_bits::<4>(4);
        }
        self.finish.next = 0.into();
        if self.payload.val().finished {
            self.finish.next = self.row.val();
        }
        self.fail.next = 0.into();
        if self.payload.val().failed {
            self.fail.next = self.row.val();
        }
        self.late.next = 0.into();
        if self.payload.val().timed_out {
            self.late.next = self.row.val();
        }
    }
}

/// All rows. See the module's head.
#[derive(LogicBlock, Default)]
pub struct TagRows {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Frees every tag but for what is outstanding.
    pub clear: Signal<In, Bit>,
    /// Nothing is outstanding.
    pub link_reset: Signal<In, Bit>,

    /// A completion ends.
    pub event_0: PulseSink<TagEvent>,
    /// A completion ends.
    pub event_1: PulseSink<TagEvent>,
    /// Row of the tag that has waited too long.
    pub expired: Signal<In, Bits<16>>,
    /// Its column.
    pub expired_column: Signal<In, Bits<ROW_TAGS>>,
    /// Row of the tag that is issued.
    pub issue: Signal<In, Bits<16>>,
    /// Its column.
    pub issue_column: Signal<In, Bits<ROW_TAGS>>,
    /// Row of the tag whose answer was handed on.
    pub retire: Signal<In, Bits<16>>,
    /// Its column.
    pub retire_column: Signal<In, Bits<ROW_TAGS>>,

    /// Tags that must not be used.
    pub busy: Signal<Out, TagSet>,
    /// Tags that wait for completions.
    pub outstanding: Signal<Out, TagSet>,
    /// Tags whose answer is complete.
    pub done: Signal<Out, TagSet>,
    /// Tags whose answer is wrong.
    pub failed: Signal<Out, TagSet>,
    /// Tags that timed out.
    pub quarantined: Signal<Out, TagSet>,
    /// A tag timed out.
    pub late: Signal<Out, Bit>,
    /// A tag got a completion that was not as expected.
    pub wrong: Signal<Out, Bit>,

    rows: [TagRow; 16],
    event_0_rows: EventRows,
    event_1_rows: EventRows,
    busy_join: TagSetJoin,
    outstanding_join: TagSetJoin,
    done_join: TagSetJoin,
    failed_join: TagSetJoin,
    quarantined_join: TagSetJoin,

    late_rows: [Signal<Local, Bit>; 17],
    wrong_rows: [Signal<Local, Bit>; 17],
}

impl Logic for TagRows {
    #[hdl_gen]
    fn update(&mut self) {
        PulseSink::<TagEvent>::link(&mut self.event_0, &mut self.event_0_rows.event);
        PulseSink::<TagEvent>::link(&mut self.event_1, &mut self.event_1_rows.event);
        for i in 0..16 {
            self.rows[i].clock.next = self.clock.val();
            self.rows[i].clear.next = self.clear.val();
            self.rows[i].link_reset.next = self.link_reset.val();
            self.rows[i].column_0.next = self.event_0_rows.column.val();
            self.rows[i].finish_0.next = self.event_0_rows.finish.val().get_bit(i);
            self.rows[i].fail_0.next = self.event_0_rows.fail.val().get_bit(i);
            self.rows[i].late_0.next = self.event_0_rows.late.val().get_bit(i);
            self.rows[i].column_1.next = self.event_1_rows.column.val();
            self.rows[i].finish_1.next = self.event_1_rows.finish.val().get_bit(i);
            self.rows[i].fail_1.next = self.event_1_rows.fail.val().get_bit(i);
            self.rows[i].late_1.next = self.event_1_rows.late.val().get_bit(i);
            self.rows[i].expired_column.next = self.expired_column.val();
            self.rows[i].expired.next = self.expired.val().get_bit(i);
            self.rows[i].issue_column.next = self.issue_column.val();
            self.rows[i].issue.next = self.issue.val().get_bit(i);
            self.rows[i].retire_column.next = self.retire_column.val();
            self.rows[i].retire.next = self.retire.val().get_bit(i);
            self.busy_join.rows[i].next = self.rows[i].busy.val();
            self.outstanding_join.rows[i].next = self.rows[i].outstanding.val();
            self.done_join.rows[i].next = self.rows[i].done.val();
            self.failed_join.rows[i].next = self.rows[i].failed.val();
            self.quarantined_join.rows[i].next = self.rows[i].quarantined.val();
            self.late_rows[i + 1].next = self.late_rows[i].val() | self.rows[i].late.val();
            self.wrong_rows[i + 1].next = self.wrong_rows[i].val() | self.rows[i].wrong.val();
        }
        self.busy.next = self.busy_join.set.val();
        self.outstanding.next = self.outstanding_join.set.val();
        self.done.next = self.done_join.set.val();
        self.failed.next = self.failed_join.set.val();
        self.quarantined.next = self.quarantined_join.set.val();
        self.late_rows[0].next = false;
        self.wrong_rows[0].next = false;
        self.late.next = self.late_rows[16].val();
        self.wrong.next = self.wrong_rows[16].val();
    }
}
