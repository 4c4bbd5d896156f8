//! A loop of known work: its time says how fast the core is just then.
//!
//! ```text
//!   loop ─ batch ─ loop ─ batch ─ loop      each batch is divided by the faster of its neighbours
//! ```
//! A core's clock changes by a third within a second, and what runs on its other thread takes
//! part of it. Both slow the loop as they slow a batch: it has table look-ups, multiplications and
//! several chains at once, like the code beside it, in a table of 4 KiB that spares the caches.

use std::hint::black_box;
use std::time::Instant;

/// Steps of the loop: some 10 us.
const STEPS: usize = 2048;
const TABLE: usize = 1024;
const CHAINS: usize = 4;

/// The loop. See the head of this file.
#[derive(Debug)]
pub struct Reference {
    table: [u32; TABLE],
    chains: [u32; CHAINS],
}

impl Reference {
    /// The loop with its table.
    pub fn new() -> Self {
        let mut value = 1u32;
        let table = std::array::from_fn(|_| {
            value = value.wrapping_mul(0x9e37_79b1).rotate_left(7) ^ 0x5bd1_e995;
            value
        });
        Self { table, chains: [1, 2, 3, 4] }
    }

    /// Goes through the loop once; the time, ns.
    pub fn time_ns(&mut self) -> f64 {
        let started = Instant::now();
        let mut chains = black_box(self.chains);
        for _ in 0..STEPS {
            for chain in &mut chains {
                let found = self.table[*chain as usize % TABLE];
                *chain = found ^ chain.wrapping_mul(0x85eb_ca6b).rotate_right(5);
            }
        }
        self.chains = black_box(chains);
        started.elapsed().as_nanos() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever the optimiser makes of it, the loop is gone through.
    #[test]
    fn the_loop_takes_its_time() {
        let mut reference = Reference::new();
        let (before, least_ns) = (reference.chains, STEPS as f64 / 10.0);
        assert!(reference.time_ns() > least_ns);
        assert_ne!(reference.chains, before);
    }
}
