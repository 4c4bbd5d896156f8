//! Goodput over loss, of the controllers `model` and `cubic`: a table.
//!
//! RTT 50 us, 100 Gb/s, segments of 1448 bytes, a window of 8 MiB, loss of data alone. The share is
//! that of the line's payload rate (1448 of 1538 bytes) times what is not lost.
//! `ZERONIC_SEED` chooses the losses.

#[path = "../tests/simulation/goodput.rs"]
mod goodput;
#[path = "../tests/simulation/network.rs"]
#[allow(dead_code)]
mod network;

use tcp::config::Law;

/// Time that is measured.
const MEASURED_PS: u64 = 12 * network::MS_PS;

fn main() {
    let seed = seed::seed_or(1);
    println!("loss %   model Gb/s   share %   target %   cubic Gb/s   share %");
    let targets = [98, 98, 97, 95, 92, 75];
    for (loss, target) in goodput::LOSSES.into_iter().zip(targets) {
        let model = goodput::measure(seed, Law::Model, loss, MEASURED_PS);
        let cubic = goodput::measure(seed, Law::Cubic, loss, MEASURED_PS);
        println!(
            "{:6}   {:10.2}   {:7.1}   {:8}   {:10.2}   {:7.1}",
            loss * 100.0,
            model.gigabits_per_s,
            model.share * 100.0,
            target,
            cubic.gigabits_per_s,
            cubic.share * 100.0,
        );
    }
}
