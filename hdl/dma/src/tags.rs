//! The life of the 256 read tags, as one bit per tag and state, and their timeout.
//!
//! ```text
//!   free ── issue ──► outstanding ── finish ──► done ── retire ──► free
//!                          └──── timeout ────► done, failed, quarantined ── reset ──► free
//! ```
//! Timing: every change is visible one cycle later. A timeout comes between `timeout_cycles` and
//! 1.25 `timeout_cycles` + 256 cycles after the issue: ages are kept in eighths of the timeout, and
//! one tag is looked at in each cycle.
//!
//! Invariants:
//! 1. `busy` holds from issue to retirement; a quarantined tag stays busy until reset.
//! 2. `done` means that nothing more will be stored for the tag. `failed` may come before it.
//! 3. After `reset`, `draining` holds until every read issued before it has finished or timed out.
//!    `link_reset` ends all of them: their completions cannot come any more.
//!
//! Source: PG213, tag management for non-posted transactions (client managed).

use crate::tag_row::TagRows;
use stream::prelude::*;

/// Bits of a read tag.
pub const TAG_BITS: usize = 8;
/// Read tags: as many as the hard block knows.
pub const TAGS: usize = 1 << TAG_BITS;
/// A read tag.
pub type Tag = Bits<TAG_BITS>;
/// One bit for each tag.
pub type TagSet = Bits<TAGS>;
/// Least completion timeout: every tag is looked at while its age is known.
pub const TIMEOUT_CYCLES_MIN: u32 = 4 * TAGS as u32;

/// A completion has ended.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct TagEvent {
    /// It was the last one of its request.
    pub finished: Bit,
    /// It was not as expected.
    pub failed: Bit,
    /// The hard block has given the request up.
    pub timed_out: Bit,
    /// Tag of the request.
    pub tag: Tag,
}

/// Finds the read that has waited too long.
#[derive(LogicBlock)]
pub struct TagTimer {
    /// Clock.
    pub clock: Signal<In, Clock>,

    /// A read starts.
    pub issue: Signal<In, Bit>,
    /// Its tag.
    pub issue_tag: Signal<In, Tag>,
    /// Reads that wait.
    pub outstanding: Signal<In, TagSet>,

    /// A read had waited too long one cycle ago; it may have ended since.
    pub expired: Signal<Out, Bit>,
    /// Its tag.
    pub expired_tag: Signal<Out, Tag>,

    started: LutRam<Bits<4>, TAG_BITS>,
    prescaler: DFF<Bits<32>>,
    now: DFF<Bits<4>>,
    scan: DFF<Tag>,
    late: DFF<Bit>,
    late_tag: DFF<Tag>,

    age: Signal<Local, Bits<4>>,
    tick_last: Constant<Bits<32>>,
}

impl TagTimer {
    /// Gives a read up after `timeout_cycles`, at least [`TIMEOUT_CYCLES_MIN`].
    pub fn new(timeout_cycles: u32) -> Self {
        assert!(
            timeout_cycles >= TIMEOUT_CYCLES_MIN,
            "timeout of {timeout_cycles} cycles"
        );
        Self {
            clock: Default::default(),
            issue: Default::default(),
            issue_tag: Default::default(),
            outstanding: Default::default(),
            expired: Default::default(),
            expired_tag: Default::default(),
            started: Default::default(),
            prescaler: Default::default(),
            now: Default::default(),
            scan: Default::default(),
            late: Default::default(),
            late_tag: Default::default(),
            age: Default::default(),
            tick_last: Constant::new((timeout_cycles / 8 - 1).to_bits()),
        }
    }
}

impl Logic for TagTimer {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, prescaler, now, scan, late, late_tag);
        self.started.clock.next = self.clock.val();
        self.started.write_address.next = self.issue_tag.val();
        self.started.write_data.next = self.now.q.val();
        self.started.write_enable.next = self.issue.val();

        self.prescaler.d.next = self.prescaler.q.val() + 1;
        if self.prescaler.q.val() == self.tick_last.val() {
            self.prescaler.d.next = 0.into();
            self.now.d.next = self.now.q.val() + 1;
        }
        self.scan.d.next = self.scan.q.val() + 1;
        self.started.read_address.next = self.scan.q.val();
        self.age.next = self.now.q.val() - self.started.read_data.val();
        // The eighth in which it began may have been almost over, hence nine.
        self.late.d.next =
            self.outstanding.val().get_bit(self.scan.q.val().index()) & (self.age.val() >= 9);
        self.late_tag.d.next = self.scan.q.val();
        self.expired.next = self.late.q.val();
        self.expired_tag.next = self.late_tag.q.val();
    }
}

/// The block. See the module's head.
#[derive(LogicBlock)]
pub struct TagTable {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Frees every tag once its read has ended.
    pub reset: Signal<In, Bit>,
    /// The hard block is in reset: nothing is outstanding.
    pub link_reset: Signal<In, Bit>,

    /// A read starts.
    pub issue: Signal<In, Bit>,
    /// Its tag.
    pub issue_tag: Signal<In, Tag>,
    /// A completion ends; of two in one cycle the older.
    pub event_0: PulseSink<TagEvent>,
    /// A completion ends.
    pub event_1: PulseSink<TagEvent>,
    /// The answer to a read has been handed on.
    pub retire: Signal<In, Bit>,
    /// Its tag.
    pub retire_tag: Signal<In, Tag>,

    /// Tags that must not be used.
    pub busy: Signal<Out, TagSet>,
    /// Tags that wait for completions.
    pub outstanding: Signal<Out, TagSet>,
    /// Tags whose answer is complete.
    pub done: Signal<Out, TagSet>,
    /// Tags whose answer is wrong.
    pub failed: Signal<Out, TagSet>,
    /// Reads of before the reset have not ended.
    pub draining: Signal<Out, Bit>,
    /// A read timed out one cycle ago.
    pub timed_out: Signal<Out, Bit>,
    /// A completion was not as expected one cycle ago.
    pub wrong: Signal<Out, Bit>,
    /// Tags that timed out.
    pub quarantined: Signal<Out, TagSet>,

    timer: TagTimer,
    rows: TagRows,
    is_draining: DFF<Bit>,

    is_late: Signal<Local, Bit>,
    one: Constant<Bits<16>>,
    none: Constant<TagSet>,
}

impl TagTable {
    /// Gives a read up after `timeout_cycles`, at least [`TIMEOUT_CYCLES_MIN`].
    pub fn new(timeout_cycles: u32) -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            link_reset: Default::default(),
            issue: Default::default(),
            issue_tag: Default::default(),
            event_0: Default::default(),
            event_1: Default::default(),
            retire: Default::default(),
            retire_tag: Default::default(),
            busy: Default::default(),
            outstanding: Default::default(),
            done: Default::default(),
            failed: Default::default(),
            draining: Default::default(),
            timed_out: Default::default(),
            wrong: Default::default(),
            quarantined: Default::default(),
            timer: TagTimer::new(timeout_cycles),
            rows: Default::default(),
            is_draining: Default::default(),
            is_late: Default::default(),
            one: Constant::new(1u64.to_bits()),
            none: Constant::new(0u64.to_bits()),
        }
    }
}

impl Logic for TagTable {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, is_draining);
        self.timer.clock.next = self.clock.val();
        self.timer.issue.next = self.issue.val();
        self.timer.issue_tag.next = self.issue_tag.val();
        self.timer.outstanding.next = self.rows.outstanding.val();
        self.rows.clock.next = self.clock.val();
        self.rows.clear.next = self.reset.val() | self.is_draining.q.val();
        self.rows.link_reset.next = self.link_reset.val();

        // A tag's row is bits 7:4 of its number, its column bits 3:0.
        PulseSink::<TagEvent>::link(&mut self.event_0, &mut self.rows.event_0);
        PulseSink::<TagEvent>::link(&mut self.event_1, &mut self.rows.event_1);
        self.rows.issue_column.next = self.one.val() << self.issue_tag.val().get_bits::<4>(0);
        self.rows.issue.next = 0.into();
        if self.issue.val() {
            self.rows.issue.next = self.one.val() << self.issue_tag.val().get_bits::<4>(4);
        }
        self.rows.retire_column.next = self.one.val() << self.retire_tag.val().get_bits::<4>(0);
        self.rows.retire.next = 0.into();
        if self.retire.val() {
            self.rows.retire.next = self.one.val() << self.retire_tag.val().get_bits::<4>(4);
        }
        // One timeout a cycle, so that each is counted: an expiry comes round again.
        self.is_late.next = (self.event_0.valid.val() & self.event_0.payload.val().timed_out)
            | (self.event_1.valid.val() & self.event_1.payload.val().timed_out);
        self.rows.expired_column.next =
            self.one.val() << self.timer.expired_tag.val().get_bits::<4>(0);
        self.rows.expired.next = 0.into();
        if self.timer.expired.val() & !self.is_late.val() {
            self.rows.expired.next =
                self.one.val() << self.timer.expired_tag.val().get_bits::<4>(4);
        }

        self.is_draining.d.next =
            self.is_draining.q.val() & (self.rows.outstanding.val() != self.none.val());
        if self.reset.val() {
            self.is_draining.d.next = true;
        }
        self.timed_out.next = self.rows.late.val();
        self.wrong.next = self.rows.wrong.val();
        self.busy.next = self.rows.busy.val();
        self.outstanding.next = self.rows.outstanding.val();
        self.done.next = self.rows.done.val();
        self.failed.next = self.rows.failed.val();
        self.draining.next = self.is_draining.q.val();
        self.quarantined.next = self.rows.quarantined.val();
    }
}
