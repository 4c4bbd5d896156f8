//! A beat of RQ is planned as its layout says, dword by dword: tails, starts, two writes in a beat.
//!
//! ```text
//!   drawn state, requests ──┬──► layout of 16 dwords, written out here ──┐
//!                           └──► BeatPlanner, in Rust and in Verilog ────┴─ equal
//! ```

use super::support::twin::{wide, Twin};
use dma::messages::RequestTlp;
use dma::packer::beat_planner::{BeatPlan, BeatPlanner};
use dma::packer::ready_write::FittedTlp;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use rust_hdl_core::prelude::*;
use seed::{enough, seed};
use sim::caught::caught_by;

/// A request with `dwords` dwords of payload at `start`, and how it fits into beats.
fn request(random: &mut SmallRng, dwords: u64, start: u64) -> FittedTlp {
    // What writes have in common stays; address, count and ordering differ.
    let word = |random: &mut SmallRng| bit_cast::<128, 64>(random.random::<u64>().to_bits());
    let ordering = bit_cast::<128, 1>(random.random::<bool>().into());
    let header = word(random)
        | (bit_cast::<128, 64>(dwords.to_bits()) << 64)
        | (bit_cast::<128, 64>(0x0123_4567_89a8u64.to_bits()) << 75)
        | (ordering << 125);
    let less = |count: u64| dwords.saturating_sub(count).into();
    FittedTlp {
        tlp: RequestTlp {
            header,
            dwords: dwords.into(),
            start: start.into(),
            first_be: wide(random),
            last_be: wide(random),
            ..RequestTlp::default()
        },
        fits: dwords <= 12,
        rest: less(12),
        leaves_half: dwords <= 20,
        position: ((start + 12) % 65_536).into(),
        fits_straddled: dwords <= 4,
        rest_straddled: less(4),
        leaves_half_straddled: dwords <= 12,
        position_straddled: ((start + 4) % 65_536).into(),
        last_dword: ((dwords + 3) % 16).into(),
    }
}

/// What a beat holds, laid out dword by dword.
#[derive(Default)]
struct Layout {
    /// Position of the first payload dword.
    window: Option<u64>,
    /// Dwords in which TLPs end.
    ends: Vec<u64>,
    /// What remains of the TLP that is open after the beat, and where.
    open: Option<(u64, u64)>,
}

impl Layout {
    /// Places `dwords` dwords of payload, from `position` on, into the beat from dword `at` on.
    fn place(&mut self, at: u64, dwords: u64, position: u64) {
        let count = dwords.min(16 - at);
        if count > 0 {
            self.window.get_or_insert(position);
        }
        match dwords == count {
            true => self.ends.push(at + count - 1),
            false => self.open = Some((dwords - count, (position + count) % 65_536)),
        }
    }
}

/// Drawn state and requests of a beat.
struct Beat {
    rest: u64,
    position: u64,
    tlp: Option<FittedTlp>,
    second: Option<FittedTlp>,
    number: u64,
}

impl Beat {
    fn draw(random: &mut SmallRng) -> Beat {
        let edges = [1, 7, 8, 9, 15, 16, 17, 23, 24, 25, 31, 32, 33, 256];
        let rest = match random.random_range(0..3) {
            0 => 0,
            1 => edges[random.random_range(0..edges.len())],
            _ => random.random_range(0..=256),
        };
        let sizes = [0, 1, 3, 4, 5, 11, 12, 13, 19, 20, 21, 256, random.random_range(0..=256)];
        let size = |random: &mut SmallRng| sizes[random.random_range(0..sizes.len())];
        let (first, other) = (size(random), size(random).max(1));
        let [position, start, behind] = [0; 3].map(|_: u64| random.random_range(0..=0xffffu64));
        let starts = rest <= 8 && random.random_ratio(7, 8);
        let tlp = starts.then(|| request(random, first, start));
        // Two writes, the first of which ends before dword 8.
        let pairs = starts && rest == 0 && (1..=4).contains(&first) && random.random();
        Beat {
            rest,
            position,
            tlp,
            second: pairs.then(|| request(random, other, behind & !7)),
            number: random.random_range(0..64),
        }
    }

    fn layout(&self) -> Layout {
        let mut layout = Layout::default();
        if self.rest > 0 {
            layout.place(0, self.rest, self.position);
        }
        let at = if self.rest > 0 { 8 } else { 0 };
        for (at, tlp) in [(at, &self.tlp), (8, &self.second)] {
            if let Some(FittedTlp { tlp, .. }) = tlp {
                layout.place(at + 4, tlp.dwords.to_u64(), tlp.start.to_u64());
            }
        }
        layout
    }
}

/// Judges the starts of a plan: where, with which descriptor, enables and number.
fn judge_starts(beat: &Beat, plan: &BeatPlan) {
    let is_open = beat.rest > 0;
    let rear = beat.second.or(beat.tlp.filter(|_| is_open));
    assert_eq!(plan.starts_front, beat.tlp.is_some() && !is_open, "front");
    assert_eq!(plan.starts_rear, rear.is_some(), "rear");
    if let Some(FittedTlp { tlp, .. }) = rear {
        let start = tlp.start.to_u64();
        assert_eq!(plan.rear_header, tlp.header);
        assert_eq!(plan.begins_half, start % 8 == 0);
        assert_eq!(plan.half.to_u64(), start / 8 % 128, "half");
    }
    if let Some(FittedTlp { tlp, .. }) = beat.tlp {
        assert_eq!((plan.first_be, plan.last_be), (tlp.first_be, tlp.last_be));
        assert_eq!(plan.sequence.to_u64(), beat.number);
        if !is_open {
            assert_eq!(plan.front_header, tlp.header);
        }
    }
    if let Some(FittedTlp { tlp, .. }) = beat.second {
        let enables = (plan.second_first_be, plan.second_last_be);
        assert_eq!(enables, (tlp.first_be, tlp.last_be));
        // Numbers of writes have five bits.
        assert_eq!(plan.second_sequence.to_u64(), (beat.number + 1) % 32, "second number");
    }
}

/// The state that a planner gives for the time after a beat.
#[derive(Clone, Copy, Debug, PartialEq)]
struct After {
    rest: u64,
    is_open: bool,
    is_long: bool,
    position: u64,
}

impl After {
    fn of(planner: &BeatPlanner) -> After {
        After {
            rest: planner.rest_after.val().to_u64(),
            is_open: planner.is_open_after.val(),
            is_long: planner.is_long_after.val(),
            position: planner.position_after.val().to_u64(),
        }
    }
}

/// Judges a plan and the state after it by the layout of the beat.
fn judge(beat: &Beat, plan: &BeatPlan, after: &After) {
    let layout = beat.layout();
    judge_starts(beat, plan);
    assert_eq!(plan.loads, layout.window.is_some(), "loads");
    if let Some(window) = layout.window {
        assert_eq!(plan.window.to_u64(), window, "window");
        let behind = (window / 16 + 1) % 64;
        assert_eq!(plan.window_behind.to_u64(), behind, "window behind");
    }
    let ends = (1 << layout.ends.len()) - 1;
    assert_eq!(plan.ends.to_u64(), ends, "ends");
    for (end, at) in layout.ends.iter().zip([plan.end_0, plan.end_1]) {
        assert_eq!(at.to_u64(), *end, "end");
    }
    let open = layout.open;
    let (rest, position) = open.unwrap_or((0, after.position));
    let expected = After { rest, is_open: open.is_some(), is_long: rest > 8, position };
    assert_eq!(*after, expected, "after the beat");
}

#[test]
fn beat_holds_what_layout_says() {
    let random = &mut SmallRng::seed_from_u64(seed());
    let mut twin = Twin::<BeatPlanner>::new("beat_planner");
    let (mut pairs, mut straddles) = (0, 0);
    for _ in 0..6000 {
        let beat = Beat::draw(random);
        let idle = request(random, 3, 5);
        twin.set("rest", beat.rest.to_bits(), |b| &mut b.rest);
        twin.set("is_open", beat.rest > 0, |b| &mut b.is_open);
        twin.set("position", beat.position.to_bits(), |b| &mut b.position);
        twin.set("starts", beat.tlp.is_some(), |b| &mut b.starts);
        twin.set("fitted", beat.tlp.unwrap_or(idle), |b| &mut b.fitted);
        twin.set("pairs", beat.second.is_some(), |b| &mut b.pairs);
        twin.set("second", beat.second.unwrap_or(idle), |b| &mut b.second);
        twin.set("number", beat.number.to_bits(), |b| &mut b.number);
        twin.settle();
        twin.check("plan", |b| b.plan.val());
        twin.check("rest_after", |b| b.rest_after.val());
        twin.check("is_open_after", |b| b.is_open_after.val());
        twin.check("is_long_after", |b| b.is_long_after.val());
        twin.check("position_after", |b| b.position_after.val());
        judge(&beat, &twin.rust.plan.val(), &After::of(&twin.rust));
        pairs += u64::from(beat.second.is_some());
        straddles += u64::from(beat.rest > 0 && beat.tlp.is_some());
    }
    enough("pairs", pairs, 100);
    enough("beats that straddle", straddles, 200);
}

/// A twin in Rust has the faults of its kernel: the layout alone finds them.
#[test]
fn fault_in_both_twins_is_caught() {
    type Fault = fn(&mut BeatPlan, &mut After);
    let faults: [(&str, Fault); 6] = [
        ("rear", |plan, _| plan.starts_rear = false),
        ("second number", |plan, _| {
            plan.second_sequence = plan.sequence;
        }),
        ("half", |plan, _| plan.half = plan.window.get_bits::<7>(3)),
        ("end", |plan, _| plan.end_1 = plan.end_0),
        ("ends", |plan, _| plan.ends = plan.ends & 1),
        ("after the beat", |_, after| after.is_long = after.rest >= 8),
    ];
    for (checker, fault) in faults {
        let random = &mut SmallRng::seed_from_u64(seed());
        let mut planner = BeatPlanner::default();
        caught_by(checker, checker, || {
            for _ in 0..2000 {
                let beat = Beat::draw(random);
                let idle = request(random, 3, 5);
                planner.rest.next = beat.rest.to_bits();
                planner.is_open.next = beat.rest > 0;
                planner.position.next = beat.position.to_bits();
                planner.starts.next = beat.tlp.is_some();
                planner.fitted.next = beat.tlp.unwrap_or(idle);
                planner.pairs.next = beat.second.is_some();
                planner.second.next = beat.second.unwrap_or(idle);
                planner.number.next = beat.number.to_bits();
                assert!(simulate(&mut planner, 50));
                let (mut plan, mut after) = (planner.plan.val(), After::of(&planner));
                fault(&mut plan, &mut after);
                judge(&beat, &plan, &after);
            }
        });
    }
}
