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

/// An exchange both ways; what the wire did stands in the outcome.
fn exchange(law: Law, card: Rc<RefCell<GoldenCard>>, seed: u64, disturbance: Disturbance) {
    let clock = ManualClock::default();
    let by = || Clock::Manual(clock.clone());
    let link = |number| LinkConfig::lab(number, 1500, Tuning::SIMULATION);
    let mut peer = SmoltcpPeer::open(&link(2), by()).expect("a peer");
    let config = Config { law, ..Config::private_wire() };
    let protocol = TcpProtocol::new(&link(1), config, Secret([seed as u8; 32]));
    let bus = GoldenBus::new(card.clone());
    let mut provider = Provider::open(bus, protocol, DeviceConfig::seeded(1)).expect("a card");
    provider.set_clock(by());
    let mut card = card;
    let mut lab = Lab {
        provider: &mut provider,
        card: &mut card,
        peer: &mut peer,
        clock: Some(clock.clone()),
    };
    let bytes = 300_000;
    let plan = Exchange { bytes, seed, disturbance, memory: MemoryKind::Application };
    for remote in [REMOTE, "[fd77::2]:5001"] {
        let remote = remote.parse().expect("an address");
        let outcome = lab.run(remote, &plan, &mut Blind);
        let outcome = outcome.unwrap_or_else(|error| panic!("{law:?}, seed {seed}: {error}"));
        assert_eq!(outcome.received, (bytes, outcome.received_expected), "{law:?}, seed {seed}");
        assert_eq!(outcome.sent, (bytes, outcome.sent_expected), "{law:?}, seed {seed}");
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
