//! When a driver holds back, and the seeds that decide it.

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};

/// How often an agent refuses to go on in a cycle in which it could.
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

    /// Calls `test` for every pair (at the source, at the sink), each with a seed of its own
    /// that follows from `seed`; prints the pair, so that a failure shows where it was.
    pub fn matrix(seed: u64, mut test: impl FnMut(Stall, Stall, u64)) {
        for (i, source) in Stall::ALL.into_iter().enumerate() {
            for (j, sink) in Stall::ALL.into_iter().enumerate() {
                println!("stall at the source {source:?}, at the sink {sink:?}");
                test(source, sink, seed.wrapping_add((3 * i + j) as u64));
            }
        }
    }
}

/// The seed of a random test: `ZERONIC_SEED` if set, otherwise a new one; printed either way.
///
/// # Panics
/// If `ZERONIC_SEED` is not a number.
pub fn seed() -> u64 {
    let seed = match std::env::var("ZERONIC_SEED") {
        Ok(text) => text
            .parse()
            .unwrap_or_else(|_| panic!("ZERONIC_SEED={text} is no number")),
        Err(_) => new_seed(),
    };
    println!("replay with ZERONIC_SEED={seed}");
    seed
}

/// From the randomness with which the standard library keys its hash maps.
fn new_seed() -> u64 {
    use std::hash::{BuildHasher, Hasher};
    std::hash::RandomState::new().build_hasher().finish() >> 32
}

/// The decisions of one agent.
pub(crate) struct Staller {
    stall: Stall,
    random: SmallRng,
}

impl Staller {
    pub fn new(stall: Stall, seed: u64) -> Staller {
        Staller {
            stall,
            random: SmallRng::seed_from_u64(seed),
        }
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
    fn matrix_covers_all_pairs_with_distinct_seeds() {
        let mut seen = Vec::new();
        Stall::matrix(7, |source, sink, seed| seen.push((source, sink, seed)));
        assert_eq!(seen.len(), 9);
        assert_eq!(seen[0], (Stall::None, Stall::None, 7));
        assert_eq!(seen[8].2, 15);
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
