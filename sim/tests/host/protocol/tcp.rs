//! Our own TCP on the golden card, with smoltcp as its peer: every byte is right both ways.
//!
//! ```text
//!   application ─ Provider ─ TcpProtocol ─ tcp::Endpoint
//!                    └────── golden card ── wire that loses, reorders, repeats ── smoltcp
//! ```

use ::tcp::config::Law;
use ::tcp::{Config, Secret};
use host::tcp::TcpProtocol;

use super::*;

/// An exchange both ways over IPv4, and one over IPv6.
fn exchange(law: Law, card: Rc<RefCell<GoldenCard>>, seed: u64, disturbance: Disturbance) {
    println!("{law:?}, seed {seed}");
    let link = LinkConfig::lab(1, 1500, Tuning::SIMULATION);
    let config = Config { law, ..Config::private_wire() };
    let mut world = World::over(TcpProtocol::new(&link, config, Secret([seed as u8; 32])), card);
    for remote in [REMOTE, "[fd77::2]:5001"] {
        let remote = remote.parse().expect("an address");
        world.exchange_with(remote, 300_000, seed, disturbance);
    }
}

#[test]
fn our_own_tcp_is_exact_on_a_good_wire() {
    for law in [Law::Cubic, Law::Dctcp, Law::Model] {
        exchange(law, GoldenCard::new(SMALL), 1, Disturbance::default());
    }
}

#[test]
fn our_own_tcp_is_exact_on_bad_wires_and_late_cards() {
    let first = seed::seed();
    for seed in first..first + 6 {
        let share = |shift: u32| f64::from(((seed >> shift) as u8) % 10) / 100.0;
        let disturbance = Disturbance {
            loss: share(0),
            reorder: share(3),
            duplicate: share(5),
            corrupt: share(7),
            ..Disturbance::default()
        };
        let law = [Law::Cubic, Law::Model][seed as usize % 2];
        exchange(law, GoldenCard::late(SMALL, seed), seed, disturbance);
    }
}
