//! The table of tags, `dma::read::tags`, keeps its invariants in every cycle of random traffic.
//!
//! ```text
//!   random events ──┬──► TagTable ──────────► every port ─┐
//!                   └──► what is known of each tag ───────┴─ as the invariants say
//! ```

use dma::read::tag::TagEvent;
use dma::read::tag_timer::TIMEOUT_CYCLES_MIN;
use dma::read::tags::{TagTable, TAGS};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use sim::harness::bench::Bench;
use sim::harness::payload::bytes_of;
use std::collections::BTreeMap;
use stream::prelude::ToBits;

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
    fn find_tag(&self, tag: u64) -> Known {
        self.tags.get(&tag).copied().unwrap_or_default()
    }

    fn waits(&self, tag: u64) -> bool {
        self.find_tag(tag).waits && !self.cut_off
    }

    /// The read that is given up in this cycle, if no event meets it.
    fn expired_read(&self, cycle: &Cycle) -> Option<u64> {
        let tag = self.late.filter(|tag| self.waits(*tag))?;
        let meets = |event: &Option<(u64, [bool; 3])>| {
            event.is_some_and(|(of, [_, _, timed_out])| of == tag || timed_out)
        };
        (!cycle.events.iter().any(meets)).then_some(tag)
    }

    fn step(&mut self, cycle: &Cycle) {
        let expired = self.expired_read(cycle);
        let now = (self.cycle / EIGHTH) % 16;
        let scan = u64::from(self.cycle % TAGS as u32);
        let started = self.started.get(&scan).copied().unwrap_or_default();
        let looks_late = self.find_tag(scan).waits && (now + 16 - started) % 16 >= 9;
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
        self.late = (looks_late && !cycle.events.iter().any(|event| met(&event))).then_some(scan);
        self.draining |= cycle.reset | cycle.link_reset;
        self.cut_off |= cycle.link_reset;
        self.cycle += 1;
    }
}

fn drive(bench: &mut Bench, cycle: &Cycle, asked: u64) {
    for (port, tag) in [("issue", cycle.issue), ("retire", cycle.retire)] {
        bench.set(port, u64::from(tag.is_some()));
        bench.set(&format!("{port}_tag"), tag.unwrap_or_default());
    }
    bench.set("reset", u64::from(cycle.reset));
    bench.set("link_reset", u64::from(cycle.link_reset));
    for (port, event) in ["event_0", "event_1"].into_iter().zip(&cycle.events) {
        let (tag, [finished, failed, timed_out]) = event.unwrap_or_default();
        let payload = bytes_of(TagEvent { finished, failed, timed_out, tag: tag.to_bits() });
        let id = bench.model.port(&format!("{port}_payload"));
        bench.model.set_bytes(id, &payload);
        bench.set(&format!("{port}_valid"), u64::from(event.is_some()));
    }
    for port in ASKING {
        bench.set(port, asked);
    }
}

/// Ports that name the tag which is asked for.
const ASKING: [&str; 5] = ["candidate", "completion_tag", "tail_tag", "sampled_tag", "answer_tag"];

/// Whether each event was of a read that was awaited.
const EVENTS_KNOWN: [&str; 2] = ["event_known$0", "event_known$1"];

/// Tags in use: few, so that events of one tag meet.
const TAGS_USED: [u64; 6] = [0, 1, 16, 17, 200, 255];
const CYCLES: u32 = 24_000;

/// A cycle: what the table shows in it, and what its invariants say.
struct Moment<'a> {
    number: u32,
    cycle: &'a Cycle,
    /// The tag that every port asks for.
    asked: u64,
    bench: &'a Bench,
    golden: &'a Golden,
}

impl Moment<'_> {
    fn shows(&self, port: &str) -> bool {
        self.bench.get(port) == 1
    }

    #[track_caller]
    fn expect(&self, port: &str, expected: bool) {
        let Moment { number, asked, .. } = self;
        let shown = self.shows(port);
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
    let free = golden.find_tag(issues);
    cycle.reset = number % 4_000 == 2_300;
    cycle.link_reset = number % 12_000 > 11_000 && number % 12_000 < 11_004;
    let runs = !golden.draining && !cycle.reset && !cycle.link_reset;
    if runs && !free.busy && !free.lost && one_in(random, 2) {
        cycle.issue = Some(issues);
    }
    let ended = golden.find_tag(retires);
    if runs && ended.busy && !ended.waits && one_in(random, 3) {
        cycle.retire = Some(retires);
    }
    cycle
}

/// Drives a table at random and shows every cycle to `law`.
fn in_every_cycle(mut law: impl FnMut(&Moment)) {
    let seed = seed::seed_or(1);
    let mut random = SmallRng::seed_from_u64(seed);
    let mut table = TagTable::new(TIMEOUT_CYCLES_MIN);
    let mut bench = Bench::of(&mut table, "tag_table").expect("builds");
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
        let asked = TAGS_USED[random.random_range(0..TAGS_USED.len())];
        drive(&mut bench, &cycle, asked);
        law(&Moment { number, cycle: &cycle, asked, bench: &bench, golden: &golden });
        // That it may be over now is a law of its own.
        if golden.draining && bench.get("draining") == 0 {
            golden.tags.clear();
            (golden.draining, golden.cut_off) = (false, false);
            drained += 1;
        }
        golden.step(&cycle);
        bench.cycle(&mut []);
        timeouts += bench.get("timed_out");
    }
    assert!(timeouts > 10, "{timeouts} reads timed out");
    assert!(drained >= 6, "drained {drained} times");
}

#[test]
fn tag_is_outstanding_until_its_end() {
    in_every_cycle(|moment| {
        let golden = moment.golden;
        let waits = golden.waits(moment.asked);
        moment.expect("completion_known", waits);
        moment.expect("tail_known", waits);
        moment.expect("sampled_waits", waits);
        for (port, event) in EVENTS_KNOWN.into_iter().zip(&moment.cycle.events) {
            let waits = event.is_some_and(|(tag, _)| golden.waits(tag));
            moment.expect(port, waits);
        }
    });
}

/// The same for laws that say nothing of tags that are being cleared.
fn unless_draining(mut law: impl FnMut(&Moment, Known)) {
    in_every_cycle(|moment| {
        if !moment.golden.draining {
            law(moment, moment.golden.find_tag(moment.asked));
        }
    });
}

#[test]
fn done_means_read_has_ended() {
    unless_draining(|moment, known| {
        moment.expect("answer_done", !known.waits);
    });
}

#[test]
fn failure_stays_until_tag_retires() {
    unless_draining(|moment, known| {
        moment.expect("answer_failed", known.failed);
    });
}

#[test]
fn tag_is_busy_until_retired_or_lost() {
    unless_draining(|moment, known| {
        let busy = known.busy || known.lost;
        moment.expect("candidate_busy", busy);
    });
}

#[test]
fn timed_out_read_quarantines_tag() {
    let mut quarantined = 0;
    unless_draining(|moment, known| {
        moment.expect("candidate_quarantined", known.lost);
        quarantined += u32::from(known.lost);
    });
    assert!(quarantined > 100, "{quarantined} seen");
}

/// It lasts a round of all tags at least, and no longer than two without one that waits.
#[test]
fn draining_lasts_until_tags_are_cleared() {
    let (mut cycles, mut idle_cycles) = (0, 0);
    in_every_cycle(|moment| {
        let golden = moment.golden;
        if !golden.draining {
            moment.expect("draining", false);
            (cycles, idle_cycles) = (0, 0);
            return;
        }
        let waiting = golden.tags.values().any(|known| known.waits) && !golden.cut_off;
        if moment.shows("draining") {
            (cycles, idle_cycles) = (cycles + 1, if waiting { 0 } else { idle_cycles + 1 });
            assert!(idle_cycles <= 2 * TAGS + 4, "cycle {}", moment.number);
        } else {
            let number = moment.number;
            assert!(!waiting, "cycle {number}: drained with reads that wait");
            assert!(cycles >= TAGS, "cycle {number}: only {cycles} cycles");
        }
    });
}
