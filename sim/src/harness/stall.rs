//! When a driver holds back.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};

/// How often an agent stalls in a cycle in which it could advance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stall {
    /// Never.
    None,
    /// In each cycle with this probability, below 1.
    Random(f64),
}

impl Stall {
    /// The stalls that every block is tested with, at each of its ends.
    pub const ALL: [Stall; 3] = [Stall::None, Stall::Random(0.2), Stall::Random(0.8)];

    /// What `test` returns for every pair (at the source, at the sink), each with a seed of its
    /// own that follows from `seed`. Pairs run side by side, one on each core.
    ///
    /// # Panics
    /// As `test` does, once the other pairs are through; prints the pairs where it did.
    pub fn matrix<T: Send>(seed: u64, test: impl Fn(Stall, Stall, u64) -> T + Sync) -> Vec<T> {
        let pairs = Stall::ALL.into_iter().flat_map(|source| {
            let sinks = Stall::ALL.into_iter();
            sinks.map(move |sink| (source, sink))
        });
        let pairs = Vec::from_iter(pairs);
        let next = AtomicUsize::new(0);
        let work = || {
            let mut answers = Vec::new();
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(&(source, sink)) = pairs.get(at) else { return answers };
                let here = Place { source, sink };
                answers.push((at, test(source, sink, seed.wrapping_add(at as u64))));
                drop(here);
            }
        };
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let mut answers = std::thread::scope(|scope| {
            let workers = Vec::from_iter((0..cores.min(pairs.len())).map(|_| scope.spawn(work)));
            let joined = workers.into_iter().map(|worker| worker.join());
            let answers =
                joined.map(|answers| answers.unwrap_or_else(|panic| resume_unwind(panic)));
            answers.flatten().collect::<Vec<_>>()
        });
        answers.sort_by_key(|(at, _)| *at);
        answers.into_iter().map(|(_, answer)| answer).collect()
    }
}

/// Where a test is; printed if the test panics.
struct Place {
    source: Stall,
    sink: Stall,
}

impl Drop for Place {
    fn drop(&mut self) {
        let Place { source, sink } = self;
        if std::thread::panicking() {
            println!("with stalls at the source {source:?}, at the sink {sink:?}");
        }
    }
}

/// The decisions of one agent.
pub(crate) struct Staller {
    stall: Stall,
    random: SmallRng,
}

impl Staller {
    pub fn new(stall: Stall, seed: u64) -> Staller {
        Staller { stall, random: SmallRng::seed_from_u64(seed) }
    }

    pub fn stalls(&mut self) -> bool {
        match self.stall {
            Stall::None => false,
            Stall::Random(probability) => self.random.random_bool(probability),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matrix_covers_pairs_with_distinct_seeds() {
        let seen = Stall::matrix(7, |source, sink, seed| (source, sink, seed));
        assert_eq!(seen.len(), 9);
        assert_eq!(seen[0], (Stall::None, Stall::None, 7));
        assert_eq!(seen[1], (Stall::None, Stall::Random(0.2), 8));
        assert_eq!(seen[8].2, 15);
    }

    #[test]
    #[should_panic(expected = "only here")]
    fn matrix_panics_as_its_test_does() {
        Stall::matrix(7, |_, _, seed| assert_ne!(seed, 11, "only here"));
    }

    #[test]
    fn same_seed_same_stalls() {
        let draw = |seed| {
            let mut staller = Staller::new(Stall::Random(0.5), seed);
            (0..64).map(|_| staller.stalls()).collect::<Vec<_>>()
        };
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
    }
}
