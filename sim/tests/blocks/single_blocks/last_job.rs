//! Whether the last job of a client has left, against a queue of writes that says it by counting.
//!
//! ```text
//!   jobs of all clients ──► accepted ──► issued, request by request ──► numbers come back
//!   the client's last one ─────────────────────── `under_way` ─────────────────┘
//! ```

use std::collections::VecDeque;

use dma::last_job::LastJob;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use seed::{enough, seed};
use sim::harness::bench::Bench;
use verilate::width::lint_width_warnings;

/// Cycles from the return of a number to the end of `under_way`.
const LAG_CYCLES: u64 = 3;
/// Cycles from the handshake of a job to its first request, at least: the engine takes longer.
const ENGINE_CYCLES: u64 = 4;
/// Most writes in flight.
const IN_FLIGHT_MAX: usize = 32;

/// The write engine, its port, and the hard block behind it.
#[derive(Default)]
struct Engine {
    /// Jobs that were accepted and not issued: requests left, whether the job is the client's, and
    /// when it was accepted.
    jobs: VecDeque<(u32, bool, u64)>,
    /// Requests whose number has not come back: whether one ends a job of the client.
    in_flight: VecDeque<bool>,
    accepted: u16,
    issued: u16,
    /// Jobs of the client that have not left.
    open: u32,
    /// Since when none has been open.
    rests_since: u64,
}

impl Engine {
    fn forget(&mut self) {
        self.open -= self.jobs.drain(..).filter(|(_, is_own, _)| *is_own).count() as u32;
        (self.accepted, self.issued) = (0, 0);
    }
}

#[test]
fn last_job_runs_until_number_returns() {
    let mut random = SmallRng::seed_from_u64(seed());
    let mut bench = Bench::of(&mut LastJob::default(), "last_job").expect("builds");
    lint_width_warnings(bench.model.design().warnings()).expect("only masked casts");
    let mut engine = Engine::default();
    let (mut flushing, mut taken_jobs, mut flushed) = (0u32, 0u64, 0u64);
    let (mut stands, mut returns) = (false, 1u32);
    for cycle in 0..60_000u64 {
        if random.random_ratio(1, 300) {
            (stands, returns) = (random.random(), random.random_range(0..3));
        }
        // A reset lasts until what had begun has left.
        if flushing == 0 && random.random_ratio(1, 700) {
            flushing = random.random_range(2..20);
            flushed += u64::from(engine.open > 0);
            engine.forget();
        }
        let is_flushed = flushing > 0;
        let accepts = !is_flushed && engine.jobs.len() < 20 && random.random_ratio(1, 4);
        let is_own = accepts && random.random_ratio(1, 6);
        let back = (returns.min(random.random_range(0..3)) as usize).min(engine.in_flight.len());
        for (port, value) in [
            ("link_reset", 0),
            ("flush", u64::from(is_flushed)),
            ("taken", u64::from(is_own)),
            ("jobs_accepted", engine.accepted.into()),
            ("jobs_issued", engine.issued.into()),
            ("in_flight", engine.in_flight.len() as u64),
            ("writes_returned", back as u64),
        ] {
            bench.set(port, value);
        }
        let is_under_way = bench.get("under_way") == 1;
        assert!(engine.open == 0 || is_under_way, "cycle {cycle}: it has not left");
        let lag = cycle - engine.rests_since;
        let has_left = engine.open == 0 && lag > LAG_CYCLES;
        assert!(!has_left || is_flushed || !is_under_way, "cycle {cycle}: it has long left");
        bench.cycle(&mut []);

        for ends_own in engine.in_flight.drain(..back) {
            engine.open -= u32::from(ends_own);
        }
        if accepts {
            engine.accepted = engine.accepted.wrapping_add(1);
            engine.jobs.push_back((random.random_range(1..4), is_own, cycle));
            engine.open += u32::from(is_own);
            taken_jobs += u64::from(is_own);
        }
        let issues = !is_flushed && !stands && engine.in_flight.len() < IN_FLIGHT_MAX;
        let is_ready = |job: &&mut (u32, bool, u64)| issues && job.2 + ENGINE_CYCLES <= cycle;
        if let Some((left, is_own, _)) = engine.jobs.front_mut().filter(is_ready) {
            *left -= 1;
            let (ends, is_own) = (*left == 0, *is_own);
            engine.in_flight.push_back(ends && is_own);
            if ends {
                engine.jobs.pop_front();
                engine.issued = engine.issued.wrapping_add(1);
            }
        }
        if engine.open > 0 || is_flushed {
            engine.rests_since = cycle + 1;
        }
        if flushing > 1 || engine.in_flight.is_empty() {
            flushing = flushing.saturating_sub(1);
        }
    }
    enough("jobs of the client", taken_jobs, 500);
    enough("resets with a job under way", flushed, 3);
}
