//! Our own TCP on the golden card, with smoltcp, a kernel or itself as its peer: every byte is
//! right both ways.
//!
//! ```text
//!   application ─ Provider ─ TcpProtocol ─ tcp::Endpoint
//!                    └────── golden card ── wire that loses, reorders, repeats ── peer
//! ```

use ::tcp::config::Law;
use ::tcp::{Config, Secret};
use host::tcp::TcpProtocol;
use host::transport::peer::{KernelPeer, TcpPeer};
use host::transport::TransportError;
use skip::skip_if_refused;

use super::*;

const REMOTES: [&str; 2] = [REMOTE, "[fd77::2]:5001"];

/// What the wire does, one kind of fault after the other, and all of them.
fn disturbances(share: f64) -> [Disturbance; 6] {
    let none = Disturbance::default();
    let (loss, reorder, duplicate, corrupt_unseen) = (share, share, share, share);
    [
        none,
        Disturbance { loss, ..none },
        Disturbance { reorder, ..none },
        Disturbance { duplicate, ..none },
        Disturbance { corrupt: share, corrupt_unseen, ..none },
        Disturbance { loss, reorder, duplicate, corrupt: share, corrupt_unseen, ..none },
    ]
}

fn own_tcp(host: u8, mtu_bytes: u16, law: Law, seed: u64) -> TcpProtocol {
    let link = LinkConfig::lab(host, mtu_bytes, Tuning::SIMULATION);
    let config = Config { law, ..Config::private_wire() };
    let mut secret = [host; 32];
    secret[..8].copy_from_slice(&seed.to_le_bytes());
    TcpProtocol::new(&link, config, Secret(secret))
}

/// An exchange both ways over IPv4, and one over IPv6.
fn exchange(law: Law, card: Rc<RefCell<GoldenCard>>, seed: u64, disturbance: Disturbance) {
    println!("{law:?}, seed {seed}");
    let mut world = World::over(own_tcp(1, 1500, law, seed), card);
    for remote in REMOTES {
        let remote = remote.parse().expect("an address");
        world.exchange_with(remote, 300_000, seed, disturbance);
    }
}

#[test]
fn own_tcp_is_exact_on_good_wire() {
    for law in [Law::Cubic, Law::Dctcp, Law::Model] {
        exchange(law, GoldenCard::new(SMALL), 1, Disturbance::default());
    }
}

#[test]
fn own_tcp_is_exact_on_bad_wires() {
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

/// Our own TCP at both ends, the second in software over frames. Returns how long it took in the
/// card's time, and how many frames were lost.
fn at_both_ends(law: Law, mtu_bytes: u16, seed: u64, disturbance: Disturbance) -> (Duration, u64) {
    println!("{law:?}, MTU {mtu_bytes}, seed {seed}, {disturbance:?}");
    let clock = ManualClock::default();
    let link = LinkConfig::lab(2, mtu_bytes, Tuning::SIMULATION);
    let peer = TcpPeer::new(own_tcp(2, mtu_bytes, law, seed), &link, Clock::Manual(clock.clone()));
    let card = match disturbance == Disturbance::default() {
        true => GoldenCard::new(SMALL),
        false => GoldenCard::late(SMALL, seed),
    };
    let mut world = World::with(own_tcp(1, mtu_bytes, law, seed), card, peer, clock);
    let families = if mtu_bytes < 1280 { 1 } else { 2 };
    let mut sum = (Duration::ZERO, 0);
    for remote in &REMOTES[..families] {
        let remote = remote.parse().expect("an address");
        let outcome = world.exchange_with(remote, 300_000, seed, disturbance);
        sum = (sum.0 + outcome.simulated + outcome.skipped, sum.1 + outcome.lost);
    }
    sum
}

#[test]
fn own_tcp_at_both_ends_is_exact() {
    let first = seed::seed();
    let mut lost = 0;
    for (at, disturbance) in disturbances(0.05).into_iter().enumerate() {
        for (law, seed) in [Law::Model, Law::Cubic, Law::Dctcp].into_iter().zip(first..) {
            let mtu_bytes = [576, 1280, 1500, 9000][(at + seed as usize) % 4];
            lost += at_both_ends(law, mtu_bytes, seed, disturbance).1;
        }
    }
    seed::enough("frames lost", lost, 50);
}

/// Once a repetition that the wire had held up, of bytes beyond a hole, was refused for its
/// timestamp: its bytes lay over the same ones that were accepted, which then counted as missing.
#[test]
fn late_repetition_beyond_hole_removes_nothing() {
    at_both_ends(Law::Cubic, 576, 2_740_206_275, disturbances(0.05)[5]);
}

/// With our own TCP at both ends the wall clock has no part in a run. A lost SYN costs a second,
/// then two, then four (RFC 6298, 2.1 and 5.5), any other loss milliseconds: two connections of
/// 300,000 bytes each way are done within what three lost ones of each cost.
#[test]
fn own_tcp_both_ends_repeats_from_seed() {
    let seed = seed::seed();
    let run = |seed| at_both_ends(Law::Model, 1500, seed, disturbances(0.02)[5]);
    let first = run(seed);
    assert_eq!(first, run(seed));
    assert_ne!(first, run(seed + 1));
    assert!(first.0 < Duration::from_secs(15), "{first:?}");
}

/// Linux with each of its controllers, with and without SACK and timestamps, over all sizes.
#[test]
fn our_own_tcp_and_kernels_of_all_settings_are_exact() {
    let seed = seed::seed();
    let mut runs = 0;
    for controller in ["cubic", "reno", "bbr"] {
        for (sack, timestamps) in [("1", "1"), ("1", "0"), ("0", "1"), ("0", "0")] {
            let mtu_bytes = [576, 1500, 4000, 9000][runs % 4];
            let link = LinkConfig::lab(2, mtu_bytes, Tuning::SIMULATION);
            let Some(kernel) = skip_if_refused(KernelPeer::open(&link), TransportError::is_refusal)
            else {
                return;
            };
            if let Err(error) = kernel.set("ipv4/tcp_congestion_control", controller) {
                println!("without {controller}: {error}");
                continue;
            }
            kernel.set("ipv4/tcp_sack", sack).expect("a setting");
            kernel.set("ipv4/tcp_timestamps", timestamps).expect("a setting");
            let law = [Law::Model, Law::Cubic, Law::Dctcp][runs % 3];
            let disturbance = disturbances(0.01)[5];
            println!("{controller}, SACK {sack}, timestamps {timestamps}, {law:?}, seed {seed}");
            let tcp = own_tcp(1, mtu_bytes, law, seed);
            let card = GoldenCard::new(SMALL);
            let mut world = World::with(tcp, card, kernel, ManualClock::default());
            let remote = REMOTES[0].parse().expect("an address");
            world.exchange_with(remote, 100_000, seed, disturbance);
            runs += 1;
        }
    }
    assert!(runs >= 8, "CUBIC and Reno are in every kernel: {runs} runs");
}

/// A kernel at the other end, by the wall clock.
#[test]
fn own_tcp_and_kernel_are_exact() {
    let seed = seed::seed();
    for (at, disturbance) in disturbances(0.01).into_iter().enumerate() {
        let mtu_bytes = [1500, 9000, 1280][at % 3];
        let link = LinkConfig::lab(2, mtu_bytes, Tuning::SIMULATION);
        let Some(kernel) = skip_if_refused(KernelPeer::open(&link), TransportError::is_refusal)
        else {
            return;
        };
        let law = [Law::Model, Law::Cubic][at % 2];
        println!("{law:?}, MTU {mtu_bytes}, seed {seed}, {disturbance:?}");
        let clock = ManualClock::default();
        let tcp = own_tcp(1, mtu_bytes, law, seed);
        let card = GoldenCard::new(SMALL);
        let mut world = World::with(tcp, card, kernel, clock);
        let remote = REMOTES[at % 2].parse().expect("an address");
        world.exchange_with(remote, 200_000, seed, disturbance);
    }
}
