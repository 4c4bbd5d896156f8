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

/// Turns the ends of two completions into one bit per tag; only outstanding tags count.
#[derive(LogicBlock)]
pub struct EventMasks {
    /// A completion ends.
    pub event_0: PulseSink<TagEvent>,
    /// A completion ends.
    pub event_1: PulseSink<TagEvent>,
    /// Tags that wait for completions.
    pub outstanding: Signal<In, TagSet>,

    /// Tags that have got their last completion.
    pub finish: Signal<Out, TagSet>,
    /// Tags that got a wrong one.
    pub fail: Signal<Out, TagSet>,
    /// Tags that the hard block has given up.
    pub late: Signal<Out, TagSet>,

    mask_0: Signal<Local, TagSet>,
    mask_1: Signal<Local, TagSet>,
    finish_0: Signal<Local, TagSet>,
    finish_1: Signal<Local, TagSet>,
    fail_0: Signal<Local, TagSet>,
    fail_1: Signal<Local, TagSet>,
    late_0: Signal<Local, TagSet>,
    late_1: Signal<Local, TagSet>,
    one: Constant<TagSet>,
    none: Constant<TagSet>,
}

impl Default for EventMasks {
    fn default() -> Self {
        Self {
            event_0: Default::default(),
            event_1: Default::default(),
            outstanding: Default::default(),
            finish: Default::default(),
            fail: Default::default(),
            late: Default::default(),
            mask_0: Default::default(),
            mask_1: Default::default(),
            finish_0: Default::default(),
            finish_1: Default::default(),
            fail_0: Default::default(),
            fail_1: Default::default(),
            late_0: Default::default(),
            late_1: Default::default(),
            one: Constant::new(1u64.to_bits()),
            none: Constant::new(0u64.to_bits()),
        }
    }
}

impl Logic for EventMasks {
    #[hdl_gen]
    fn update(&mut self) {
        self.mask_0.next = self.none.val();
        if self.event_0.valid.val() {
            self.mask_0.next = self.one.val() << self.event_0.payload.val().tag;
        }
        self.mask_1.next = self.none.val();
        if self.event_1.valid.val() {
            self.mask_1.next = self.one.val() << self.event_1.payload.val().tag;
        }

        self.finish_0.next = self.none.val();
        self.fail_0.next = self.none.val();
        self.late_0.next = self.none.val();
        if self.event_0.payload.val().finished {
            self.finish_0.next = self.mask_0.val();
        }
        if self.event_0.payload.val().failed {
            self.fail_0.next = self.mask_0.val();
        }
        if self.event_0.payload.val().timed_out {
            self.late_0.next = self.mask_0.val();
        }
        self.finish_1.next = self.none.val();
        self.fail_1.next = self.none.val();
        self.late_1.next = self.none.val();
        if self.event_1.payload.val().finished {
            self.finish_1.next = self.mask_1.val();
        }
        if self.event_1.payload.val().failed {
            self.fail_1.next = self.mask_1.val();
        }
        if self.event_1.payload.val().timed_out {
            self.late_1.next = self.mask_1.val();
        }

        self.finish.next = (self.finish_0.val() | self.finish_1.val()) & self.outstanding.val();
        self.fail.next = (self.fail_0.val() | self.fail_1.val()) & self.outstanding.val();
        self.late.next = (self.late_0.val() | self.late_1.val()) & self.outstanding.val();
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
    /// A read timed out in this cycle.
    pub timed_out: Signal<Out, Bit>,
    /// A completion was not as expected.
    pub wrong: Signal<Out, Bit>,
    /// Tags that timed out.
    pub quarantined: Signal<Out, TagSet>,

    timer: TagTimer,
    masks: EventMasks,
    busy_bits: DFF<TagSet>,
    outstanding_bits: DFF<TagSet>,
    done_bits: DFF<TagSet>,
    failed_bits: DFF<TagSet>,
    quarantined_bits: DFF<TagSet>,
    is_draining: DFF<Bit>,

    issue_mask: Signal<Local, TagSet>,
    retire_mask: Signal<Local, TagSet>,
    expired_mask: Signal<Local, TagSet>,
    late_mask: Signal<Local, TagSet>,
    end_mask: Signal<Local, TagSet>,
    one: Constant<TagSet>,
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
            masks: Default::default(),
            busy_bits: Default::default(),
            outstanding_bits: Default::default(),
            done_bits: Default::default(),
            failed_bits: Default::default(),
            quarantined_bits: Default::default(),
            is_draining: Default::default(),
            issue_mask: Default::default(),
            retire_mask: Default::default(),
            expired_mask: Default::default(),
            late_mask: Default::default(),
            end_mask: Default::default(),
            one: Constant::new(1u64.to_bits()),
            none: Constant::new(0u64.to_bits()),
        }
    }
}

impl Logic for TagTable {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, busy_bits, outstanding_bits, done_bits);
        dff_setup!(self, clock, failed_bits, quarantined_bits, is_draining);
        self.timer.clock.next = self.clock.val();
        self.timer.issue.next = self.issue.val();
        self.timer.issue_tag.next = self.issue_tag.val();
        self.timer.outstanding.next = self.outstanding_bits.q.val();

        // One bit for what happens to each tag.
        self.issue_mask.next = self.none.val();
        if self.issue.val() {
            self.issue_mask.next = self.one.val() << self.issue_tag.val();
        }
        self.retire_mask.next = self.none.val();
        if self.retire.val() {
            self.retire_mask.next = self.one.val() << self.retire_tag.val();
        }
        self.expired_mask.next = self.none.val();
        if self.timer.expired.val() {
            self.expired_mask.next = self.one.val() << self.timer.expired_tag.val();
        }
        PulseSink::<TagEvent>::link(&mut self.event_0, &mut self.masks.event_0);
        PulseSink::<TagEvent>::link(&mut self.event_1, &mut self.masks.event_1);
        self.masks.outstanding.next = self.outstanding_bits.q.val();
        // One timeout a cycle, so that each is counted: an expiry comes round again.
        self.late_mask.next = self.expired_mask.val() & self.outstanding_bits.q.val();
        if self.masks.late.val() != self.none.val() {
            self.late_mask.next = self.masks.late.val();
        }
        self.end_mask.next = self.masks.finish.val() | self.late_mask.val();

        self.busy_bits.d.next = (self.busy_bits.q.val() | self.issue_mask.val())
            & !(self.retire_mask.val() & !self.quarantined_bits.q.val());
        self.outstanding_bits.d.next =
            (self.outstanding_bits.q.val() | self.issue_mask.val()) & !self.end_mask.val();
        self.done_bits.d.next =
            (self.done_bits.q.val() & !self.retire_mask.val()) | self.end_mask.val();
        self.failed_bits.d.next = (self.failed_bits.q.val() & !self.retire_mask.val())
            | self.masks.fail.val()
            | self.late_mask.val();
        self.quarantined_bits.d.next = self.quarantined_bits.q.val() | self.late_mask.val();
        self.is_draining.d.next =
            self.is_draining.q.val() & (self.outstanding_bits.q.val() != self.none.val());
        self.wrong.next = self.masks.fail.val() != self.none.val();
        self.timed_out.next = self.late_mask.val() != self.none.val();

        if self.reset.val() | self.is_draining.q.val() {
            self.busy_bits.d.next = self.none.val();
            self.done_bits.d.next = self.none.val();
            self.failed_bits.d.next = self.none.val();
            self.quarantined_bits.d.next = self.none.val();
        }
        if self.reset.val() {
            self.is_draining.d.next = true;
        }
        if self.link_reset.val() {
            self.outstanding_bits.d.next = self.none.val();
        }

        self.busy.next = self.busy_bits.q.val();
        self.outstanding.next = self.outstanding_bits.q.val();
        self.done.next = self.done_bits.q.val();
        self.failed.next = self.failed_bits.q.val();
        self.draining.next = self.is_draining.q.val();
        self.quarantined.next = self.quarantined_bits.q.val();
    }
}
