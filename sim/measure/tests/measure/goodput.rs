//! Our own TCP from a card to a peer, over a wire with delay and loss.

use measure::loss::goodput::{Goodput, Measured};
use pcie_sim::PcieConfig;
use sim::card::SimulatedCard;
use tcp::config::Law;
use tcp::Config;
use verilate::options::Options;

/// A millisecond, after one that is not counted, with a round trip of 50 us.
fn measure(loss: f64, seed: u64) -> Measured {
    let goodput = Goodput {
        config: Config { law: Law::Model, ..Config::private_wire() },
        mtu_bytes: 1_500,
        window_bytes: 2 << 20,
        round_trip_ps: 50_000_000,
        loss,
        warm_ms: 1,
        measured_ms: 1,
        seed,
    };
    let pcie = PcieConfig { seed, ..PcieConfig::default() };
    let card = SimulatedCard::new("small", pcie.clone(), Options::default()).expect("a card");
    goodput.measure(card, &pcie).expect("a figure")
}

#[test]
fn goodput_keeps_the_line_full_over_loss() {
    let seed = seed::seed();
    let clean = measure(0.0, seed);
    assert_eq!((clean.lost_frames, clean.violations), (0, 0));
    // 94.15 Gb/s is the line's payload at MTU 1500.
    assert!((85.0..94.2).contains(&clean.gbps()), "{:.1} Gb/s, seed {seed}", clean.gbps());
    let lossy = measure(0.01, seed);
    assert!(lossy.lost_frames > 0 && lossy.violations == 0, "{lossy:?}, seed {seed}");
    assert!(lossy.gbps() > 0.7 * clean.gbps(), "{:.1} Gb/s, seed {seed}", lossy.gbps());
}
