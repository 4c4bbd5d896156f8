//! Measures the goodput of one flow on the fast wire with loss.

use tcp::config::{Config, Law};

use crate::network::{Link, Network, Options, MS_PS};

/// Shares of lost packets that are measured.
pub const LOSSES: [f64; 6] = [0.0, 0.001, 0.01, 0.02, 0.04, 0.1];

/// Time that is not counted.
const WARM_PS: u64 = 3 * MS_PS;

/// What was measured.
#[derive(Clone, Copy, Debug)]
pub struct Goodput {
    pub gigabits_per_s: f64,
    /// Of the line's payload rate, times what is not lost.
    pub share: f64,
}

/// Runs one flow.
pub fn measure(seed: u64, law: Law, loss: f64, measured_ps: u64) -> Goodput {
    let config = Config { law, ..Config::private_wire() };
    let mut options = Options::new(seed, config, Link::fast());
    options.links[0].loss = loss;
    options.total_bytes = [u64::MAX / 2, 0];
    let mut network = Network::new(options);
    let warm_ps = network.run_open(WARM_PS);
    let before = network.hosts[1].accepted();
    network.run(warm_ps + measured_ps);
    let bytes = network.hosts[1].accepted() - before;
    let gigabits_per_s = bytes as f64 * 8_000.0 / measured_ps as f64;
    let line = 100.0 * 1448.0 / 1538.0 * (1.0 - loss);
    Goodput { gigabits_per_s, share: gigabits_per_s / line }
}
