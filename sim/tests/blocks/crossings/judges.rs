//! What each crossing is given, and what must come of it.
//!
//! ```text
//!   write side ── random values, random pauses ──► crossing ──► read side, which is not always
//!        └────────────── what was given, when ──► judge ◄───────┘ ready
//! ```

use std::collections::VecDeque;

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use sim::harness::stall::Stall;
use verilate::clocks::Edge;
use verilate::verilated::{Model, PortId};

use crate::crossings::skew::{Rates, Traffic};

fn holds(stall: Stall, random: &mut SmallRng) -> bool {
    match stall {
        Stall::None => false,
        Stall::Random(probability) => random.random_bool(probability),
    }
}

/// Messages through an `AsyncFifo` of 32 bits: all arrive, once, in order, unchanged; an offer
/// stands until it is taken; `level` is what the block says it is.
pub struct Messages {
    ports: MessagePorts,
    random: SmallRng,
    stalls: [Stall; 2],
    left: usize,
    offered: Option<u64>,
    is_ready: bool,
    is_offered: bool,
    inside: VecDeque<u64>,
    counts: (i64, i64),
    /// Messages written and read, before each of the last edges of `write_clock`.
    history: VecDeque<(i64, i64)>,
    /// When the last one was taken.
    pub end_ps: u64,
}

struct MessagePorts {
    sink: [PortId; 3],
    source: [PortId; 3],
    level: PortId,
}

/// Edges of `write_clock` after which `level` knows of a read: five, one more for a late bit, and
/// the one at which it is looked at.
const READ_KNOWN: usize = 7;

impl Messages {
    pub fn new(model: &Model, count: usize, stalls: [Stall; 2], seed: u64) -> Messages {
        let of = |bundle: &str| {
            ["valid", "ready", "payload"].map(|field| model.port(&format!("{bundle}${field}")))
        };
        Messages {
            ports: MessagePorts {
                sink: of("sink"),
                source: of("source"),
                level: model.port("level"),
            },
            random: SmallRng::seed_from_u64(seed),
            stalls,
            left: count,
            offered: None,
            is_ready: false,
            is_offered: false,
            inside: VecDeque::new(),
            counts: (0, 0),
            history: VecDeque::from([(0, 0); READ_KNOWN]),
            end_ps: 0,
        }
    }

    fn judge_level(&mut self, level: i64) -> Result<(), String> {
        let written = self.history[READ_KNOWN - 1].0;
        // One more may have left the buffer than was read: it is in the register behind it.
        let (least, most) = (written - self.counts.1 - 1, written - self.history[0].1);
        self.history.pop_front();
        self.history.push_back(self.counts);
        match (least..=most).contains(&level) {
            true => Ok(()),
            false => Err(format!("level {level} is not in {least} to {most}")),
        }
    }
}

impl Traffic for Messages {
    fn write(&mut self, model: &mut Model, edge: Edge, _: u64) -> Result<(), String> {
        let [valid, ready, payload] = self.ports.sink;
        if edge == Edge::Before {
            let level = model.get(self.ports.level) as i64;
            let is_taken = model.is_high(ready);
            self.judge_level(level)?;
            if let Some(message) = self.offered.take_if(|_| is_taken) {
                self.inside.push_back(message);
                self.counts.0 += 1;
            }
            return Ok(());
        }
        let is_next = self.offered.is_none() && self.left > 0;
        if is_next && !holds(self.stalls[0], &mut self.random) {
            self.offered = Some(u64::from(self.random.random::<u32>()));
            self.left -= 1;
        }
        model.set(valid, u64::from(self.offered.is_some()));
        model.set(payload, self.offered.unwrap_or(0));
        Ok(())
    }

    fn read(&mut self, model: &mut Model, edge: Edge, time_ps: u64) -> Result<(), String> {
        let [valid, ready, payload] = self.ports.source;
        if edge == Edge::After {
            self.is_ready = !holds(self.stalls[1], &mut self.random);
            model.set(ready, u64::from(self.is_ready));
            return Ok(());
        }
        let is_valid = model.is_high(valid);
        let was_offered = std::mem::replace(&mut self.is_offered, is_valid && !self.is_ready);
        if !is_valid {
            return match was_offered {
                true => Err("an offer was withdrawn".to_owned()),
                false => Ok(()),
            };
        }
        let found = model.get(payload);
        if self.inside.front() != Some(&found) {
            let expected = self.inside.front();
            return Err(format!("{found:#x} came, {expected:x?} is first"));
        }
        if self.is_ready {
            self.inside.pop_front();
            self.counts.1 += 1;
            self.end_ps = time_ps;
        }
        Ok(())
    }

    fn is_done(&self) -> bool {
        self.left == 0 && self.offered.is_none() && self.inside.is_empty()
    }
}

/// Cycles of both clocks after which a level or a value has shown, and shows no more where another
/// one was taken: until it is taken, there, and until the next one is there. Each way takes two
/// cycles in the synchronizer, one in the register behind it, and one more for a late bit.
const SHOWN_CYCLES: u64 = 12;

fn shown_within_ps(rates: Rates) -> u64 {
    SHOWN_CYCLES * (rates.write_ps + rates.read_ps)
}

/// Values through a `ValueCrossing` of 32 bits: what shows is what was taken, each in its turn and
/// soon, bits of two never mixed; the last one stays.
pub struct Values {
    /// `value`, `taken`, `latest`.
    ports: [PortId; 3],
    random: SmallRng,
    stall: Stall,
    within_ps: u64,
    left: usize,
    value: u64,
    latest: u64,
    /// What was taken and does not show yet, and when.
    taken: VecDeque<(u64, u64)>,
    quiet: usize,
}

impl Values {
    pub fn new(model: &Model, count: usize, stall: Stall, rates: Rates, seed: u64) -> Values {
        Values {
            ports: ["value", "taken", "latest"].map(|port| model.port(port)),
            random: SmallRng::seed_from_u64(seed),
            stall,
            within_ps: shown_within_ps(rates),
            left: count,
            value: 0,
            latest: 0,
            taken: VecDeque::new(),
            quiet: 0,
        }
    }
}

impl Traffic for Values {
    fn write(&mut self, model: &mut Model, edge: Edge, time_ps: u64) -> Result<(), String> {
        if edge == Edge::Before {
            if model.is_high(self.ports[1]) {
                self.taken.push_back((self.value, time_ps));
            }
            return Ok(());
        }
        if self.left == 0 {
            self.quiet += 1;
        } else if !holds(self.stall, &mut self.random) {
            self.value = u64::from(self.random.random::<u32>());
            self.left -= 1;
        }
        model.set(self.ports[0], self.value);
        Ok(())
    }

    fn read(&mut self, model: &mut Model, edge: Edge, time_ps: u64) -> Result<(), String> {
        if edge == Edge::After {
            return Ok(());
        }
        let found = model.get(self.ports[2]);
        if found != self.latest {
            // In between, only the value that showed already may have crossed once more.
            while self.taken.front().is_some_and(|next| next.0 == self.latest) {
                self.taken.pop_front();
            }
            match self.taken.pop_front() {
                Some((value, _)) if value == found => self.latest = found,
                next => return Err(format!("{found:#x} shows, {next:x?} was taken")),
            }
        }
        let is_late = |next: &(u64, u64)| next.1 + self.within_ps < time_ps;
        let mut others = self.taken.iter().filter(|next| next.0 != self.latest);
        match others.find(|next| is_late(next)) {
            Some((value, _)) => Err(format!("{value:#x} does not show")),
            None => {
                self.taken.retain(|next| next.1 + self.within_ps >= time_ps);
                Ok(())
            }
        }
    }

    /// The last value shows, however long one waits.
    fn is_done(&self) -> bool {
        self.left == 0 && self.quiet > 400 && self.latest == self.value
    }
}

/// Levels through a `PeakCrossing`: none is missed, and what shows was one a short time ago.
pub struct Levels {
    /// `level`, `peak`.
    ports: [PortId; 2],
    random: SmallRng,
    stall: Stall,
    within_ps: u64,
    left: usize,
    level: u64,
    /// Levels, each with its time.
    given: VecDeque<(u64, u64)>,
    /// The highest peak that has shown since each of them.
    shown: VecDeque<u64>,
    peak: u64,
    quiet: usize,
}

impl Levels {
    pub fn new(model: &Model, count: usize, stall: Stall, rates: Rates, seed: u64) -> Levels {
        Levels {
            ports: ["level", "peak"].map(|port| model.port(port)),
            random: SmallRng::seed_from_u64(seed),
            stall,
            within_ps: shown_within_ps(rates),
            left: count,
            level: 0,
            given: VecDeque::from([(0, 0)]),
            shown: VecDeque::from([0]),
            peak: 0,
            quiet: 0,
        }
    }
}

impl Traffic for Levels {
    fn write(&mut self, model: &mut Model, edge: Edge, time_ps: u64) -> Result<(), String> {
        if edge == Edge::Before {
            self.given.push_back((self.level, time_ps));
            self.shown.push_back(0);
            return Ok(());
        }
        // Between the spikes, of a single cycle each, it is low.
        self.level = self.random.random_range(0..8);
        if self.left == 0 {
            (self.level, self.quiet) = (3, self.quiet + 1);
        } else if !holds(self.stall, &mut self.random) {
            self.level = u64::from(self.random.random::<u16>());
            self.left -= 1;
        }
        model.set(self.ports[0], self.level);
        Ok(())
    }

    fn read(&mut self, model: &mut Model, edge: Edge, time_ps: u64) -> Result<(), String> {
        if edge == Edge::After {
            return Ok(());
        }
        self.peak = model.get(self.ports[1]);
        for shown in &mut self.shown {
            *shown = self.peak.max(*shown);
        }
        if !self.given.iter().any(|given| given.0 == self.peak) {
            return Err(format!("no level was {}", self.peak));
        }
        while self.given.front().is_some_and(|given| given.1 + self.within_ps < time_ps) {
            let (given, shown) = (self.given.pop_front(), self.shown.pop_front());
            let (level, shown) = (given.map_or(0, |given| given.0), shown.unwrap_or(0));
            if shown < level {
                return Err(format!("a level of {level} was missed, the peak was {shown}"));
            }
        }
        Ok(())
    }

    fn is_done(&self) -> bool {
        self.left == 0 && self.quiet > 400 && self.peak == self.level
    }
}
