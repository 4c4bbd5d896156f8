//! Two endpoints on a simulated wire: exactness under faults, goodput over loss.

mod network;

use network::{Link, Network, Options, MS_PS};
use tcp::config::{Config, Law};
use tcp::connection::End;

#[test]
fn a_clean_wire_carries_both_streams_and_closes() {
    let mut options = Options::new(1, Config::private_wire(), Link::fast());
    options.total_bytes = [1_000_003, 500_001];
    let mut network = Network::new(options);
    network.run(1_000 * MS_PS);
    for (host, other) in [(0, 1), (1, 0)] {
        let it = &network.hosts[host];
        assert_eq!(it.memory.accepted, [500_001, 1_000_003][host], "{:?}", it.memory);
        assert_eq!(it.acknowledged, [1_000_003, 500_001][host]);
        assert!(it.has_end_of_stream);
        assert_eq!(it.end, Some(End::Closed), "{host} {other}");
    }
}

/// Faults of every kind, both ways, two streams; polled at most every so often.
fn run_with_faults(seed: u64, poll_ps: u64, law: Law) -> Network {
    let link = Link {
        loss: 0.03,
        reorder: 0.05,
        duplicate: 0.02,
        late_ps: 40_000_000,
        queue_bytes_max: 200_000,
        ..Link::fast()
    };
    let config = Config { law, ..Config::private_wire() };
    let mut options = Options::new(seed, config, link);
    options.total_bytes = [3_000_003, 1_500_001];
    options.window_bytes = 1 << 20;
    options.poll_ps = poll_ps;
    let mut network = Network::new(options);
    network.run(60_000 * MS_PS);
    network
}

#[test]
fn every_byte_comes_once_and_in_its_place_whatever_the_wire_does() {
    let seed = seed::seed();
    let (mut lost, mut late, mut doubled, mut repeated) = (0, 0, 0, 0);
    for run in 0..12 {
        let poll_ps = [0, 1_000_000, 10_000_000][run as usize % 3];
        let law = [Law::Model, Law::Cubic][run as usize % 2];
        let network = run_with_faults(seed.wrapping_add(run), poll_ps, law);
        for (at, host) in network.hosts.iter().enumerate() {
            let expected = [1_500_001, 3_000_003];
            assert_eq!(host.memory.accepted, expected[at], "run {run}: {:?}", host.end);
            assert_eq!(host.acknowledged, expected[1 - at], "run {run}");
            assert!(host.has_end_of_stream, "run {run}");
            assert_eq!(host.end, Some(End::Closed), "run {run}");
        }
        lost += network.faults.lost;
        late += network.faults.late;
        doubled += network.faults.doubled;
        let sender = &network.hosts[0];
        let connection = sender.id.and_then(|id| sender.endpoint.connection(id));
        repeated += connection.map_or(0, |it| it.counters().repeated_bytes);
    }
    seed::enough("packets lost", lost, 300);
    seed::enough("packets late", late, 500);
    seed::enough("packets doubled", doubled, 200);
    seed::enough("bytes repeated", repeated, 500_000);
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let look = |network: Network| format!("{:?} {}", network.faults, network.now_ps);
    let seed = seed::seed();
    let first = look(run_with_faults(seed, 0, Law::Model));
    assert_eq!(first, look(run_with_faults(seed, 0, Law::Model)));
    assert_ne!(first, look(run_with_faults(seed + 1, 0, Law::Model)));
}
