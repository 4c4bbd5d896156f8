//! Drives the clock ports of a model; agents sample before and drive after each rising edge.
//!
//! ```text
//!              Before          After
//!                 │              │
//!   clock  ───────┘▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔└──────────────
//!             values as the      inputs for
//!             registers see them the next cycle
//! ```
//!
//! Invariants
//! 1. All clocks are low and the design is settled before the first edge.
//! 2. At `Edge::Before` every signal is settled with the inputs of this cycle; inputs set at
//!    `Edge::After` take effect in the next one, in every clock domain alike.
//! 3. Edges come in order of time; clocks that rise at the same instant rise together.
//! 4. Nothing happens at a falling edge, so the design is not evaluated there: it sees the clock
//!    low when it is settled before the next rising edge of any clock.

use crate::verilated::{Model, PortId};

/// Which side of a rising edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edge {
    /// Just before it: sample, and set nothing.
    Before,
    /// Just after it: drive.
    After,
}

/// Names a clock of a [`Clocks`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ClockId(usize);

/// A rising edge of one clock, from one side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tick {
    /// The clock that rises.
    pub clock: ClockId,
    /// Before or after.
    pub edge: Edge,
    /// When.
    pub time_ps: u64,
}

struct Domain {
    port: PortId,
    period_ps: u64,
    level: bool,
    next_ps: u64,
    cycles: u64,
}

/// The clocks of one model.
#[derive(Default)]
pub struct Clocks {
    domains: Vec<Domain>,
    now_ps: u64,
    unsettled: bool,
    rising: Vec<usize>,
}

impl Clocks {
    /// No clocks yet.
    pub fn new() -> Clocks {
        Clocks::default()
    }

    /// One clock of 250 MHz on the port `clock`, rising first at half a period.
    pub fn single(model: &mut Model) -> Clocks {
        let mut clocks = Clocks::new();
        clocks.add(model, "clock", 4000, 2000);
        clocks
    }

    /// Adds a clock that rises at `phase_ps` and every `period_ps` after that.
    ///
    /// # Panics
    /// If the period is below 2 ps or time has already advanced beyond the phase.
    pub fn add(&mut self, model: &mut Model, name: &str, period_ps: u64, phase_ps: u64) -> ClockId {
        assert!(period_ps >= 2, "period of {period_ps} ps");
        assert!(phase_ps >= self.now_ps, "phase {phase_ps} ps is past");
        let port = model.port(name);
        model.set(port, 0);
        self.unsettled = true;
        self.domains.push(Domain { port, period_ps, level: false, next_ps: phase_ps, cycles: 0 });
        ClockId(self.domains.len() - 1)
    }

    /// Time of the last edge.
    #[inline]
    pub fn now_ps(&self) -> u64 {
        self.now_ps
    }

    /// How often a clock has risen.
    #[inline]
    pub fn cycles(&self, clock: ClockId) -> u64 {
        self.domains[clock.0].cycles
    }

    /// Stops a clock, low, or lets it run again: its next edge is then a period from now.
    ///
    /// # Panics
    /// In [`Clocks::step`], if no clock is left that runs.
    pub fn set_running(&mut self, model: &mut Model, clock: ClockId, runs: bool) {
        let domain = &mut self.domains[clock.0];
        let is_stopped = domain.next_ps == u64::MAX;
        if runs && is_stopped {
            domain.next_ps = self.now_ps + domain.period_ps;
        } else if !runs && !is_stopped {
            model.set(domain.port, 0);
            domain.level = false;
            domain.next_ps = u64::MAX;
            self.unsettled = true;
        }
    }

    /// Advances to the next instant at which a clock rises, calling `at` before and after the
    /// edge for each clock that does.
    ///
    /// # Panics
    /// If there is no clock.
    pub fn step(&mut self, model: &mut Model, at: &mut dyn FnMut(&mut Model, Tick)) {
        while !self.advance(model, at) {}
    }

    /// Steps until `clock` has risen `cycles` times more.
    pub fn run(
        &mut self,
        model: &mut Model,
        clock: ClockId,
        cycles: u64,
        at: &mut dyn FnMut(&mut Model, Tick),
    ) {
        let end = self.cycles(clock) + cycles;
        while self.cycles(clock) < end {
            self.step(model, at);
        }
    }

    /// Handles the next instant with an edge; true if a clock rose.
    fn advance(&mut self, model: &mut Model, at: &mut dyn FnMut(&mut Model, Tick)) -> bool {
        let next = self.domains.iter().map(|domain| domain.next_ps).min();
        self.now_ps = next.expect("a model is stepped by at least one clock");
        self.rising.clear();
        for (index, domain) in self.domains.iter().enumerate() {
            if domain.next_ps == self.now_ps && !domain.level {
                self.rising.push(index);
            }
        }
        if self.unsettled && !self.rising.is_empty() {
            model.eval();
            self.unsettled = false;
        }
        for index in &self.rising {
            at(model, Tick { clock: ClockId(*index), edge: Edge::Before, time_ps: self.now_ps });
        }
        self.toggle(model);
        if self.rising.is_empty() {
            self.unsettled = true;
        } else {
            model.eval();
            self.unsettled = false;
        }
        for index in &self.rising {
            at(model, Tick { clock: ClockId(*index), edge: Edge::After, time_ps: self.now_ps });
            self.unsettled = true;
        }
        if model.has_wave() {
            // Inputs show at the edge that they follow, not at the next evaluation.
            model.eval();
            self.unsettled = false;
            model.dump_wave(self.now_ps);
        }
        !self.rising.is_empty()
    }

    fn toggle(&mut self, model: &mut Model) {
        for domain in &mut self.domains {
            if domain.next_ps != self.now_ps {
                continue;
            }
            domain.level = !domain.level;
            model.set(domain.port, u64::from(domain.level));
            let high_ps = domain.period_ps / 2;
            if domain.level {
                domain.cycles += 1;
                domain.next_ps += high_ps;
            } else {
                domain.next_ps += domain.period_ps - high_ps;
            }
        }
    }
}
