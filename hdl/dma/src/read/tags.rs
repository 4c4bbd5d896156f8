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

#[cfg(test)]
mod tests {
    use super::*;
    use rand::rngs::SmallRng;
    use rand::{Rng, SeedableRng};
    use std::collections::BTreeMap;

    /// What is known of a tag in use.
    #[derive(Clone, Copy, Default)]
    struct Known {
        busy: bool,
        waits: bool,
        failed: bool,
        lost: bool,
    }

    /// The table as its invariants say, beside the block.
    struct Golden {
        tags: BTreeMap<u64, Known>,
        started: BTreeMap<u64, u32>,
        cycle: u32,
        late: Option<u64>,
        draining: bool,
        cut_off: bool,
    }

    /// What happens in a cycle.
    #[derive(Default)]
    struct Cycle {
        issue: Option<u64>,
        retire: Option<u64>,
        events: [Option<(u64, [bool; 3])>; 2],
        reset: bool,
        link_reset: bool,
    }

    const EIGHTH: u32 = TIMEOUT_CYCLES_MIN / 8;

    impl Golden {
        fn known(&self, tag: u64) -> Known {
            self.tags.get(&tag).copied().unwrap_or_default()
        }

        fn waits(&self, tag: u64) -> bool {
            self.known(tag).waits && !self.cut_off
        }

        /// The read that is given up in this cycle, if no event meets it.
        fn expired(&self, cycle: &Cycle) -> Option<u64> {
            let tag = self.late.filter(|tag| self.waits(*tag))?;
            let meets = |event: &Option<(u64, [bool; 3])>| {
                event.is_some_and(|(of, [_, _, timed_out])| of == tag || timed_out)
            };
            (!cycle.events.iter().any(meets)).then_some(tag)
        }

        fn step(&mut self, cycle: &Cycle) {
            let expired = self.expired(cycle);
            let now = (self.cycle / EIGHTH) % 16;
            let scan = u64::from(self.cycle % TAGS as u32);
            let started = self.started.get(&scan).copied().unwrap_or_default();
            let looks_late = self.known(scan).waits && (now + 16 - started) % 16 >= 9;
            let before = self.tags.clone();
            let mut end = |tag: u64, fails: bool, lost: bool, ends: bool| {
                let known = self.tags.entry(tag).or_default();
                known.failed |= fails;
                known.lost |= lost && !self.draining;
                known.waits &= !ends;
            };
            for (tag, [finished, failed, timed_out]) in cycle.events.iter().flatten() {
                if before.get(tag).is_some_and(|known| known.waits) && !self.cut_off {
                    end(*tag, failed | timed_out, *timed_out, finished | timed_out);
                }
            }
            if let Some(tag) = expired {
                end(tag, true, true, true);
            }
            if let Some(tag) = cycle.retire.filter(|_| !self.draining) {
                let known = self.tags.entry(tag).or_default();
                (known.busy, known.failed) = (false, false);
            }
            if let Some(tag) = cycle.issue {
                let known = self.tags.entry(tag).or_default();
                (known.busy, known.waits) = (true, true);
                self.started.insert(tag, now);
            }
            let met = |event: &&Option<(u64, [bool; 3])>| event.is_some_and(|(of, _)| of == scan);
            self.late =
                (looks_late && !cycle.events.iter().any(|event| met(&event))).then_some(scan);
            self.draining |= cycle.reset | cycle.link_reset;
            self.cut_off |= cycle.link_reset;
            self.cycle += 1;
        }
    }

    fn drive(dut: &mut TagTable, cycle: &Cycle) {
        dut.clock.next = Clock { clk: false };
        dut.issue.next = cycle.issue.is_some();
        dut.issue_tag.next = cycle.issue.unwrap_or_default().to_bits();
        dut.retire.next = cycle.retire.is_some();
        dut.retire_tag.next = cycle.retire.unwrap_or_default().to_bits();
        dut.reset.next = cycle.reset;
        dut.link_reset.next = cycle.link_reset;
        let payload = |event: &Option<(u64, [bool; 3])>| {
            let (tag, [finished, failed, timed_out]) = event.unwrap_or_default();
            TagEvent {
                finished,
                failed,
                timed_out,
                tag: tag.to_bits(),
            }
        };
        dut.event_0.valid.next = cycle.events[0].is_some();
        dut.event_0.payload.next = payload(&cycle.events[0]);
        dut.event_1.valid.next = cycle.events[1].is_some();
        dut.event_1.payload.next = payload(&cycle.events[1]);
    }

    /// Tags in use: few, so that events of one tag meet.
    const TAGS_USED: [u64; 6] = [0, 1, 16, 17, 200, 255];
    const CYCLES: u32 = 24_000;

    /// A cycle: what the table shows in it, and what its invariants say.
    struct Moment<'a> {
        number: u32,
        cycle: &'a Cycle,
        /// The tag that every port asks for.
        asked: u64,
        dut: &'a TagTable,
        golden: &'a Golden,
    }

    impl Moment<'_> {
        #[track_caller]
        fn expect(&self, port: &str, shown: bool, expected: bool) {
            let Moment { number, asked, .. } = self;
            assert_eq!(shown, expected, "{port} in cycle {number}, tag {asked}");
        }
    }

    /// What happens in a cycle, drawn from `random`: reads that somebody or nobody ends, resets.
    fn traffic(random: &mut SmallRng, number: u32, golden: &Golden) -> Cycle {
        let mut cycle = Cycle::default();
        let tag = |random: &mut SmallRng| TAGS_USED[random.random_range(0..TAGS_USED.len())];
        let one_in = |random: &mut SmallRng, count: u32| random.random_range(0..count) == 0;
        let quiet = number % 6_000 < 2_500;
        for event in &mut cycle.events {
            if one_in(random, if quiet { 400 } else { 6 }) {
                let flags = [2, 4, 400].map(|count| one_in(random, count));
                *event = Some((tag(random), flags));
            }
        }
        let (issues, retires) = (tag(random), tag(random));
        let free = golden.known(issues);
        cycle.reset = number % 4_000 == 2_300;
        cycle.link_reset = number % 12_000 > 11_000 && number % 12_000 < 11_004;
        let runs = !golden.draining && !cycle.reset && !cycle.link_reset;
        if runs && !free.busy && !free.lost && one_in(random, 2) {
            cycle.issue = Some(issues);
        }
        let ended = golden.known(retires);
        if runs && ended.busy && !ended.waits && one_in(random, 3) {
            cycle.retire = Some(retires);
        }
        cycle
    }

    /// Drives a table at random and shows every cycle to `law`.
    fn in_every_cycle(mut law: impl FnMut(&Moment)) {
        let seed = seed::seed_or(1);
        let mut random = SmallRng::seed_from_u64(seed);
        let mut dut = TagTable::new(TIMEOUT_CYCLES_MIN);
        dut.connect_all();
        check_all(&dut).expect("is connected");
        let mut golden = Golden {
            tags: BTreeMap::new(),
            started: BTreeMap::new(),
            cycle: 0,
            late: None,
            draining: false,
            cut_off: false,
        };
        let (mut timeouts, mut drained) = (0, 0);
        for number in 0..CYCLES {
            let cycle = traffic(&mut random, number, &golden);
            drive(&mut dut, &cycle);
            let asked = TAGS_USED[random.random_range(0..TAGS_USED.len())];
            dut.candidate.next = asked.to_bits();
            dut.completion_tag.next = asked.to_bits();
            dut.tail_tag.next = asked.to_bits();
            dut.sampled_tag.next = asked.to_bits();
            dut.answer_tag.next = asked.to_bits();
            assert!(simulate(&mut dut, 100));
            law(&Moment {
                number,
                cycle: &cycle,
                asked,
                dut: &dut,
                golden: &golden,
            });
            // That it may be over now is a law of its own.
            if golden.draining && !dut.draining.val() {
                golden.tags.clear();
                (golden.draining, golden.cut_off) = (false, false);
                drained += 1;
            }
            golden.step(&cycle);
            dut.clock.next = Clock { clk: true };
            assert!(simulate(&mut dut, 100));
            timeouts += u32::from(dut.timed_out.val());
        }
        assert!(timeouts > 10, "{timeouts} reads timed out");
        assert!(drained >= 6, "drained {drained} times");
    }

    #[test]
    fn a_tag_is_outstanding_from_its_issue_to_its_end() {
        in_every_cycle(|moment| {
            let (dut, golden) = (moment.dut, moment.golden);
            let waits = golden.waits(moment.asked);
            moment.expect("completion", dut.completion_known.val(), waits);
            moment.expect("tail", dut.tail_known.val(), waits);
            moment.expect("sampled", dut.sampled_waits.val(), waits);
            for (known, event) in dut.event_known.iter().zip(&moment.cycle.events) {
                let waits = event.is_some_and(|(tag, _)| golden.waits(tag));
                moment.expect("event", known.val(), waits);
            }
        });
    }

    /// The same for laws that say nothing of tags that are being cleared.
    fn unless_draining(mut law: impl FnMut(&Moment, Known)) {
        in_every_cycle(|moment| {
            if !moment.golden.draining {
                law(moment, moment.golden.known(moment.asked));
            }
        });
    }

    #[test]
    fn done_means_that_the_read_has_ended() {
        unless_draining(|moment, known| {
            moment.expect("done", moment.dut.answer_done.val(), !known.waits);
        });
    }

    #[test]
    fn a_failure_stays_until_the_tag_is_retired() {
        unless_draining(|moment, known| {
            moment.expect("failed", moment.dut.answer_failed.val(), known.failed);
        });
    }

    #[test]
    fn a_tag_is_busy_until_it_is_retired_and_for_good_when_it_is_lost() {
        unless_draining(|moment, known| {
            let busy = known.busy || known.lost;
            moment.expect("busy", moment.dut.candidate_busy.val(), busy);
        });
    }

    #[test]
    fn a_read_that_times_out_quarantines_its_tag() {
        let mut quarantined = 0;
        unless_draining(|moment, known| {
            let shown = moment.dut.candidate_quarantined.val();
            moment.expect("quarantined", shown, known.lost);
            quarantined += u32::from(shown);
        });
        assert!(quarantined > 100, "{quarantined} seen");
    }

    /// It lasts a round of all tags at least, and no longer than two without one that waits.
    #[test]
    fn draining_lasts_until_the_reads_have_ended_and_the_tags_are_cleared() {
        let (mut cycles, mut idle_cycles) = (0, 0);
        in_every_cycle(|moment| {
            let Moment { dut, golden, .. } = moment;
            if !golden.draining {
                moment.expect("draining", dut.draining.val(), false);
                (cycles, idle_cycles) = (0, 0);
                return;
            }
            let waiting = golden.tags.values().any(|known| known.waits) && !golden.cut_off;
            if dut.draining.val() {
                (cycles, idle_cycles) = (cycles + 1, if waiting { 0 } else { idle_cycles + 1 });
                assert!(idle_cycles <= 2 * TAGS + 4, "cycle {}", moment.number);
            } else {
                let number = moment.number;
                assert!(!waiting, "cycle {number}: drained with reads that wait");
                assert!(cycles >= TAGS, "cycle {number}: only {cycles} cycles");
            }
        });
    }
}
