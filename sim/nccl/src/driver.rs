//! The adversary: random legal orders of NCCL's calls, and a judge of every byte.
//!
//! ```text
//!   seed ─► pairs ─┬─ service thread: registers and deregisters meanwhile
//!                  └─ progress: isend, irecv, test, iflush in random order ─► judged
//! ```
//! What NCCL does rarely is done often: connects that are polled before anybody accepts, requests
//! whose pointer is stale or 1, maxima that are far too large, groups, empty and odd lengths, a
//! receiver that is late, three ranges of one allocation, a buffer that is overwritten the moment
//! its send is done, closes with requests in flight. Behind every buffer lies a canary.

mod buffers;
pub mod cost;
pub mod lone;
mod pair;
mod plan;
pub mod plant;
mod report;

use std::time::{Duration, Instant};

use anyhow::{bail, ensure, Result};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use self::pair::Pair;
pub use self::plan::Plan;
use self::report::check;
pub use self::report::Report;
use crate::net::{Net, Properties};

/// What a schedule is to do.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// It ends with requests in flight.
    pub aborts: bool,
    /// Registrations come and go meanwhile.
    pub registers: bool,
    /// How long it may take before it is stuck, seconds.
    pub limit_s: u64,
    /// What a simulated card can do in that time.
    pub narrow: Option<Narrow>,
}

/// One pair with few short messages in memory of a GPU: what a card in RTL does in seconds.
#[derive(Clone, Copy, Debug)]
pub struct Narrow {
    /// Devices of the one who sends and the one who receives.
    pub devices: [i32; 2],
}

/// Runs the schedule of a seed.
pub fn run(net: &dyn Net, seed: u64, settings: Settings) -> Result<Report> {
    let (code, devices) = net.devices();
    check(code, "devices")?;
    ensure!(devices > 0, "there is no device");
    let (code, properties) = net.properties(0);
    check(code, "getProperties")?;
    let mut random = StdRng::seed_from_u64(seed);
    let count = random.random_range(1..=3);
    let mut plans: Vec<Plan> =
        (0..count).map(|_| Plan::draw(&mut random, devices, &properties)).collect();
    if let Some(narrow) = settings.narrow {
        plans.truncate(1);
        plans.iter_mut().for_each(|plan| plan.narrow(narrow.devices));
    }
    let mut report = Report::default();
    std::thread::scope(|scope| {
        let pairs: Vec<_> = plans
            .iter()
            .map(|plan| scope.spawn(|| run_pair(net, plan, settings, &properties)))
            .collect();
        let mut failed = None;
        for pair in pairs {
            match pair.join() {
                Ok(Ok(of_pair)) => report.add(&of_pair),
                Ok(Err(error)) => failed = failed.or(Some(error)),
                Err(_) => failed = failed.or(Some(anyhow::anyhow!("the driver has panicked"))),
            }
        }
        failed.map_or(Ok(report), Err)
    })
}

fn run_pair(
    net: &dyn Net,
    plan: &Plan,
    settings: Settings,
    properties: &Properties,
) -> Result<Report> {
    let limit = Duration::from_secs(settings.limit_s);
    let mut random = StdRng::seed_from_u64(plan.seed);
    let mut pair = Pair::open(net, plan, &mut random, limit)?;
    let stop_at = match settings.aborts {
        true => Some(random.random_range(0..=plan.steps)),
        false => None,
    };
    let both_ways = settings.registers && properties.registers_globally == 1;
    let driven = drive(&mut pair, &mut random, stop_at, limit, both_ways);
    if driven.is_err() {
        // The plugin may still use its memory.
        std::mem::forget(pair);
        return driven.map(|()| Report::default());
    }
    pair.close(stop_at.is_some())
}

/// Makes calls until everything was received, or so much.
fn drive(
    pair: &mut Pair<'_>,
    random: &mut StdRng,
    stop_at: Option<usize>,
    limit: Duration,
    registers: bool,
) -> Result<()> {
    let started = Instant::now();
    let mut turns = 0u64;
    while !pair.is_over() && stop_at.is_none_or(|at| pair.received() < at) {
        let moved = pair.step(random)?;
        turns += 1;
        if registers && turns.is_multiple_of(512) {
            pair.register_meanwhile()?;
        }
        if !moved {
            std::thread::yield_now();
        }
        if started.elapsed() > limit {
            bail!("stuck for {limit:?}: {}", pair.state());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plan_follows_from_its_seed() {
        let properties = Properties { pointer_support: 7, receives_max: 8, registers_globally: 1 };
        let draw = |seed| {
            let mut random = StdRng::seed_from_u64(seed);
            format!("{:?}", Plan::draw(&mut random, 2, &properties))
        };
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
    }
}
