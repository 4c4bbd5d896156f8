//! The life of the 256 read tags, and their timeout.
//!
//! ```text
//!   free ── issue ──► outstanding ── finish ──► done ── retire ──► free
//!                          └──── timeout ────► done, failed, quarantined ── reset ──► free
//! ```
//! Timing: look-ups are combinational, every change is visible one cycle later. A timeout comes
//! between `timeout_cycles` and 1.25 `timeout_cycles` + 256 cycles after the issue: ages are kept
//! in eighths of the timeout, and one tag is scanned in each cycle.
//!
//! Invariants:
//! 1. A tag is busy from issue to retirement; a quarantined tag stays busy until reset.
//! 2. Done means that nothing more will be stored for the tag. A failure may be known before.
//! 3. After `reset`, `draining` holds until every read issued before it has finished or timed out,
//!    and each tag was cleared after that, one in each cycle. `link_reset` ends all of them: no
//!    completion of theirs is expected.
//! 4. Of two events of a tag in one cycle the older ends it. A timeout that meets an event of its
//!    tag waits for the next scan of the tag.
//!
//! Source: PG213, tag management for non-posted transactions (client managed).

use crate::read::tag::{Tag, TagEvent, TAG_BITS};
use crate::read::tag_state::{TagFailures, TagUse, TagWaits};
use crate::read::tag_sweep::TagSweep;
use crate::read::tag_timer::{TagTimer, TIMEOUT_CYCLES_MIN};
use crate::read::tag_verdicts::TagVerdicts;
use stream::prelude::*;

/// Number of read tags that the hard block supports.
pub const TAGS: usize = 1 << TAG_BITS;

/// The block. See the module's head.
///
/// A read is given up after `timeout_cycles`, at least [`TIMEOUT_CYCLES_MIN`].
#[derive(LogicBlock, BlockDefault)]
#[new(timeout_cycles: u32)]
#[require(timeout_cycles >= TIMEOUT_CYCLES_MIN, "timeout of {timeout_cycles} cycles")]
pub struct TagTable {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Frees every tag after its read has ended.
    pub reset: Signal<In, Bit>,
    /// The PCIe hard block is in reset: no tag is outstanding.
    pub link_reset: Signal<In, Bit>,

    /// A read starts.
    pub issue: Signal<In, Bit>,
    /// Tag of the read that starts.
    pub issue_tag: Signal<In, Tag>,
    /// A completion ends; of two in one cycle the older.
    pub event_0: PulseSink<TagEvent>,
    /// A completion ends; of two in one cycle the younger.
    pub event_1: PulseSink<TagEvent>,
    /// The tags of event 0 and of event 1 are outstanding.
    pub event_known: [Signal<Out, Bit>; 2],
    /// The read data of a request have been delivered.
    pub retire: Signal<In, Bit>,
    /// Tag of the request whose read data have been delivered.
    pub retire_tag: Signal<In, Tag>,

    /// Tag that may be used next.
    pub candidate: Signal<In, Tag>,
    /// The candidate is in use or quarantined.
    pub candidate_busy: Signal<Out, Bit>,
    /// The candidate is out of use until reset.
    pub candidate_quarantined: Signal<Out, Bit>,
    /// Tag of the completion that begins.
    pub completion_tag: Signal<In, Tag>,
    /// The tag of the completion that begins is outstanding.
    pub completion_known: Signal<Out, Bit>,
    /// Tag of the completion that continues.
    pub tail_tag: Signal<In, Tag>,
    /// The tag of the completion that continues is outstanding.
    pub tail_known: Signal<Out, Bit>,
    /// Tag of the read whose latency is measured.
    pub sampled_tag: Signal<In, Tag>,
    /// The tag of the sampled read is outstanding.
    pub sampled_waits: Signal<Out, Bit>,
    /// Tag of the oldest request.
    pub answer_tag: Signal<In, Tag>,
    /// The read data of the oldest request are complete.
    pub answer_done: Signal<Out, Bit>,
    /// The read data of the oldest request are wrong or missing in part.
    pub answer_failed: Signal<Out, Bit>,

    /// Reads from before the reset have not all ended.
    pub draining: Signal<Out, Bit>,
    /// A read timed out one cycle before.
    pub timed_out: Signal<Out, Bit>,
    /// A completion was not as expected one cycle before.
    pub wrong: Signal<Out, Bit>,
    /// At least one tag is quarantined.
    pub has_quarantined: Signal<Out, Bit>,

    #[value(TagTimer::new(timeout_cycles))]
    timer: TagTimer,
    sweep: TagSweep,
    verdicts: TagVerdicts,
    waits: TagWaits,
    failures: TagFailures,
    tag_use: TagUse,

    linked: Signal<Local, Bit>,
}

impl Logic for TagTable {
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, timer, sweep, verdicts, waits, failures);
        clock!(self, clock, tag_use);
        self.sweep.reset.next = self.reset.val();
        self.sweep.link_reset.next = self.link_reset.val();
        self.sweep.scan_tag.next = self.timer.scan_tag.val();
        self.sweep.scan_waits.next = self.waits.waits[4].val();
        self.sweep.retire.next = self.retire.val();
        self.sweep.retire_tag.next = self.retire_tag.val();
        self.draining.next = self.sweep.draining.val();
        self.linked.next = !self.sweep.cut_off.val();

        // Tags to look up.
        self.waits.tag[0].next = self.completion_tag.val();
        self.waits.tag[1].next = self.tail_tag.val();
        self.waits.tag[2].next = self.sampled_tag.val();
        self.waits.tag[3].next = self.answer_tag.val();
        self.waits.tag[4].next = self.timer.scan_tag.val();
        self.failures.tag[3].next = self.answer_tag.val();
        self.completion_known.next = self.waits.waits[0].val() & self.linked.val();
        self.tail_known.next = self.waits.waits[1].val() & self.linked.val();
        self.sampled_waits.next = self.waits.waits[2].val() & self.linked.val();
        self.answer_done.next = !self.waits.waits[3].val();
        self.answer_failed.next = self.failures.failed[3].val();
        self.timer.scan_waits.next = self.waits.waits[4].val();
        PulseSink::<TagEvent>::link(&mut self.event_0, &mut self.verdicts.event_0);
        PulseSink::<TagEvent>::link(&mut self.event_1, &mut self.verdicts.event_1);
        self.verdicts.expired.next = self.timer.expired.val();
        self.verdicts.expired_tag.next = self.timer.expired_tag.val();
        self.verdicts.scan_tag.next = self.timer.scan_tag.val();
        self.verdicts.draining.next = self.sweep.draining.val();
        self.verdicts.cut_off.next = self.sweep.cut_off.val();
        self.verdicts.scan_waits.next = self.waits.waits[4].val();
        self.waits.given_up.next = self.verdicts.tag[2].val();
        for i in 0..2 {
            self.event_known[i].next = self.verdicts.event_known[i].val();
            self.waits.tag[i + 5].next = self.verdicts.tag[i].val();
            self.verdicts.waits[i].next = self.waits.waits[i + 5].val();
        }
        for i in 0..3 {
            self.failures.tag[i].next = self.verdicts.tag[i].val();
            self.tag_use.event_tag[i].next = self.verdicts.tag[i].val();
            self.verdicts.failed[i].next = self.failures.failed[i].val();
            self.waits.ends[i].next = self.verdicts.ends[i].val();
            self.failures.fails[i].next = self.verdicts.fails[i].val();
            self.tag_use.quarantines[i].next = self.verdicts.quarantines[i].val();
        }
        self.timed_out.next = self.verdicts.timed_out.val();
        self.wrong.next = self.verdicts.wrong.val();
        self.has_quarantined.next = self.verdicts.has_quarantined.val();
        self.timer.issue.next = self.issue.val();
        self.timer.issue_tag.next = self.issue_tag.val();
        self.waits.issue.next = self.issue.val();
        self.waits.issue_tag.next = self.issue_tag.val();
        self.tag_use.issue.next = self.issue.val();
        self.tag_use.issue_tag.next = self.issue_tag.val();
        self.tag_use.candidate.next = self.candidate.val();
        self.candidate_busy.next = self.tag_use.busy.val();
        self.candidate_quarantined.next = self.tag_use.quarantined.val();
        self.tag_use.retire.next = self.sweep.frees.val();
        self.tag_use.retire_tag.next = self.sweep.free_tag.val();
        self.tag_use.clears.next = self.sweep.clears.val();
        self.failures.forgive.next = self.sweep.frees.val();
        self.failures.forgive_tag.next = self.sweep.free_tag.val();
    }
}
