//! Sums of products, by hand and at their ends.

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use zeronic_model::cost::{evaluate, kept_share, Cost, LIMITS, LOSS, NO_LIMIT_GBPS, WAIT};
use zeronic_model::pcie::{Slot, WIDTHS};
use zeronic_model::setup::Setup;
use zeronic_model::table::Table;

fn near(a: f64, b: f64, tolerance: f64) {
    assert!((a - b).abs() <= tolerance, "{a} is not {b}");
}

fn cost(path: &str, setup: &Setup) -> Cost {
    evaluate(&Table::read().unwrap(), path, setup).unwrap()
}

/// Payload over payload, headers, Ethernet's 18 bytes, preamble and gap.
#[test]
fn wire_efficiency_is_exact() {
    for (path, mtu, share) in [
        ("kernel-copy", 1500.0, 1448.0 / 1538.0),
        ("zeronic-user", 9000.0, 8948.0 / 9038.0),
        ("roce", 4200.0, 4096.0 / 4178.0),
        ("roce", 9000.0, 4096.0 / 4178.0),
        ("roce", 1500.0, 1024.0 / 1106.0),
    ] {
        let setup = Setup { mtu_bytes: mtu, message_bytes: 65_536.0, ..Setup::default() };
        near(cost(path, &setup).wire_efficiency, share, 1e-12);
    }
}

/// A message of 5,000 bytes is two packets of RoCE, of which the second is short.
#[test]
fn short_last_packet_costs_whole_header() {
    let setup = Setup { message_bytes: 5000.0, ..Setup::default() };
    near(cost("roce", &setup).wire_efficiency, 5000.0 / (5000.0 + 2.0 * 82.0), 1e-12);
}

/// A header entry of 98 bytes, a command of 64 for a message, and payload in writes of 256.
#[test]
fn pcie_bytes_are_those_of_framing() {
    let message = 1_448_000.0;
    let setup = Setup { mtu_bytes: 1500.0, message_bytes: message, ..Setup::default() };
    let up = 1448.0 + 6.0 * 24.0 + 98.0 + 24.0;
    let cost = cost("zeronic-user", &setup);
    let commands = 64.0 / 512.0 * 24.0 / message;
    let each = up / 1448.0 + commands;
    near(cost.pcie_up_gbytes_per_s, cost.goodput_gbps / 8.0 * each, 1e-9);
    let down = 0.18 / 1448.0 * 28.0 + 64.0 * (1.0 + 20.0 / 256.0) / message;
    near(cost.pcie_down_gbytes_per_s, cost.goodput_gbps / 8.0 * down, 1e-9);
}

/// Written, read, and read again to be written: of each byte copied, half of it in the cache.
#[test]
fn copying_takes_four_times_memory() {
    let cost = cost("msg-zerocopy", &Setup::default());
    let rate = cost.goodput_gbps / 8.0;
    near(cost.memory_written_gbytes_per_s, 2.0 * rate, 1e-9);
    near(cost.memory_read_gbytes_per_s + cost.memory_allocated_gbytes_per_s, 2.0 * rate, 1e-9);
    near(cost.memory_gbytes_per_s, 2.0 * rate, 1e-9);
}

#[test]
fn gpu_paths_leave_memory_alone() {
    for path in ["devmem", "roce", "zeronic-user-gpu"] {
        near(cost(path, &Setup::default()).memory_gbytes_per_s, 0.0, 0.0);
    }
}

/// Card, PCIe, polling and TCP once; the message's bytes on the wire, headers and gaps included.
#[test]
fn latency_is_hops_and_wire() {
    let message = 8948.0 * 10.0;
    let setup = Setup { message_bytes: message, ..Setup::default() };
    let wire_ns = 10.0 * 9038.0 * 0.08;
    near(
        cost("zeronic-user", &setup).latency_us,
        (277.0 + 300.0 + 300.0 + 200.0 + wire_ns) / 1e3,
        1e-9,
    );
    let copy_ns = 0.148 * message;
    let kernel_ns = 500.0 + 300.0 + 3000.0 + 1500.0 + 5000.0;
    near(cost("kernel-copy", &setup).latency_us, (kernel_ns + copy_ns + wire_ns) / 1e3, 1e-9);
}

#[test]
fn narrow_slot_binds_first() {
    let setup = Setup { rate_gbps: 400.0, lanes: 4, generation: 3, ..Setup::default() };
    let cost = cost("zeronic-user", &setup);
    assert_eq!(cost.binds, "PCIe to the host");
    assert!(cost.goodput_gbps < 32.0);
}

#[test]
fn faster_core_moves_more() {
    let at = |core_factor| {
        let setup = Setup { rate_gbps: 800.0, core_factor, ..Setup::default() };
        cost("kernel-copy", &setup)
    };
    near(at(2.0).goodput_gbps, 2.0 * at(1.0).goodput_gbps, 1e-9);
    assert_eq!(at(1.0).binds, LIMITS[1]);
}

#[test]
fn loss_binds_and_is_named() {
    let setup = Setup { loss: 0.02, ..Setup::default() };
    assert_eq!(cost("kernel-copy", &setup).binds, LOSS);
    assert_ne!(cost("zeronic-user", &setup).binds, LOSS);
    let setup = Setup { load: "broadcast".to_owned(), message_bytes: 4096.0, ..Setup::default() };
    assert_eq!(cost("zeronic-linux", &setup).binds, WAIT);
}

/// 406.4 packets of 1538 bytes are in flight at 100 Gb/s and 50 us.
#[test]
fn go_back_n_sends_flight_again() {
    let table = Table::read().unwrap();
    let kept = kept_share(table.transport("go-back-n").unwrap(), 0.01, 406.4);
    near(kept, 0.99 / (1.0 - 0.01 + 4.064), 1e-12);
    near(kept_share(table.transport("go-back-n").unwrap(), 0.0, 406.4), 1.0, 0.0);
}

#[test]
fn slot_has_usable_lane_bytes() {
    near(Slot::new(3, 16).unwrap().bytes_per_ns, 15.36, 1e-9);
    near(Slot::new(5, 8).unwrap().bytes_per_ns, 30.72, 1e-9);
    assert!(Slot::new(2, 16).is_err());
    assert!(Slot::new(4, 12).is_err());
}

fn draw(random: &mut SmallRng) -> Setup {
    Setup {
        rate_gbps: random.random_range(25.0..800.0),
        mtu_bytes: f64::from(random.random_range(576..=9216)),
        message_bytes: 2f64.powf(random.random_range(6.0..26.0)).floor(),
        loss: if random.random_bool(0.3) { 0.0 } else { random.random_range(0.0..0.1) },
        generation: random.random_range(3..=6),
        lanes: WIDTHS[random.random_range(0..WIDTHS.len())],
        core_factor: random.random_range(0.2..5.0),
        ..Setup::default()
    }
}

#[test]
fn every_allowed_input_gives_numbers() {
    let mut random = SmallRng::seed_from_u64(seed::seed());
    let table = Table::read().unwrap();
    for _ in 0..3000 {
        let setup = draw(&mut random);
        setup.check().unwrap();
        for path in &table.paths {
            let cost = evaluate(&table, &path.id, &setup).unwrap();
            let is_number = |number: &f64| number.is_finite() && *number >= 0.0;
            assert!(cost.vector().iter().all(is_number), "{} {setup:?} {cost:?}", path.id);
            assert!(cost.goodput_gbps > 0.0 && cost.goodput_gbps <= setup.rate_gbps);
            let binding = cost.limits_gbps.iter().copied().fold(NO_LIMIT_GBPS, f64::min);
            assert!(cost.goodput_gbps <= binding * (1.0 + 1e-9));
        }
    }
}

/// More of what helps never hurts.
#[test]
fn goodput_grows_with_each_resource() {
    let mut random = SmallRng::seed_from_u64(seed::seed());
    let table = Table::read().unwrap();
    for _ in 0..1000 {
        let setup = draw(&mut random);
        let better = [
            Setup { rate_gbps: setup.rate_gbps * 1.1, loss: 0.0, ..setup.clone() },
            Setup { core_factor: setup.core_factor * 1.1, ..setup.clone() },
            Setup { lanes: 16, ..setup.clone() },
            Setup { loss: setup.loss / 2.0, ..setup.clone() },
        ];
        for path in &table.paths {
            let gbps = |setup| evaluate(&table, &path.id, setup).unwrap().goodput_gbps;
            for more in &better {
                assert!(gbps(more) >= gbps(&setup) * (1.0 - 1e-9), "{} {setup:?}", path.id);
            }
        }
    }
}
