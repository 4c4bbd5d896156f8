//! Two engines on one wire: exactness under faults, goodput over loss, marks, delay and shares.

use network::link::{LinkParameters, Loss};
use network::measure::statistics::fairness;
use network::units::{MS_PS, US_PS};
use network::Network;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use tcp::config::{Config, Ecn, Law, PathMtuLimits};
use tcp::connection::End;

use crate::pair::{accepted, goodput_gbps, run_to_first_byte, Pair, DELAY_PS, LINE_GBPS};

/// Both streams of a flow, and how its sides have ended.
fn check_streams(network: &Network, wanted: [u64; 2], may_be_late: bool, run: u64) -> u64 {
    let mut closed = 0;
    for (side, wanted) in [(0, wanted[1]), (1, wanted[0])] {
        let it = &network.flows()[0].sides[side];
        assert_eq!(it.memory.accepted, wanted, "run {run}: {:?}", it.end);
        assert!(it.has_end_of_stream, "run {run}");
        // The last ACK of all may be lost: then one end gives up what is already complete.
        let is_late = may_be_late && matches!(it.end, Some(End::TimedOut(_) | End::Reset));
        assert!(it.end == Some(End::Closed) || is_late, "run {run}: {:?}", it.end);
        closed += u64::from(it.end == Some(End::Closed));
    }
    closed
}

#[test]
fn clean_wire_carries_streams_and_closes() {
    let bytes = [1_000_003, 500_001];
    let pair = Pair { bytes: bytes.map(Some), ..Pair::new(1, Config::private_wire()) };
    let mut network = pair.network();
    network.run(1_000 * MS_PS);
    check_streams(&network, bytes, false, 1);
    let sides = &network.flows()[0].sides;
    assert_eq!([0, 1].map(|side| sides[side].acknowledged), bytes);
}

/// Faults of every kind, both ways, two streams; polled at most every so often.
fn run_with_faults(seed: u64, poll_interval_ps: u64, law: Law) -> Network {
    let link = LinkParameters {
        loss: Loss::Independent(0.03),
        late: 0.05,
        late_ps_max: 40 * US_PS,
        doubled: 0.02,
        ..LinkParameters::clean(DELAY_PS)
    };
    let config = Config { law, ..Config::private_wire() };
    let pair = Pair {
        links: [link; 2],
        bytes: FAULTY_BYTES.map(Some),
        window_bytes: 1 << 20,
        poll_interval_ps,
        ..Pair::new(seed, config)
    };
    let mut network = pair.behind(200_000, u64::MAX).network();
    network.run(60_000 * MS_PS);
    network
}

const FAULTY_BYTES: [u64; 2] = [3_000_003, 1_500_001];

#[test]
fn bytes_arrive_once_over_any_wire() {
    let seed = seed::seed();
    let (mut lost, mut late, mut doubled, mut repeated) = (0, 0, 0, 0);
    for run in 0..12 {
        let poll_interval_ps = [0, US_PS, 10 * US_PS][run as usize % 3];
        let law = [Law::Model, Law::Cubic][run as usize % 2];
        let network = run_with_faults(seed.wrapping_add(run), poll_interval_ps, law);
        check_streams(&network, FAULTY_BYTES, false, run);
        let sides = &network.flows()[0].sides;
        assert_eq!([0, 1].map(|side| sides[side].acknowledged), FAULTY_BYTES, "run {run}");
        let counts = network.counts();
        lost += counts.lost_on_wire;
        late += counts.late;
        doubled += counts.doubled;
        repeated += network.counters(0, 0).repeated_bytes;
    }
    seed::enough("packets lost", lost, 300);
    seed::enough("packets late", late, 500);
    seed::enough("packets doubled", doubled, 200);
    seed::enough("bytes repeated", repeated, 500_000);
}

/// One run of any settings on any wire, two different ends; both streams.
fn run_anything(seed: u64) -> (Network, [u64; 2]) {
    let mut random = SmallRng::seed_from_u64(seed);
    let mut link = || LinkParameters {
        ps_per_byte: [80, 800, 8_000][random.random_range(0..3)],
        loss: Loss::Independent(random.random_range(0.0..0.1)),
        late: random.random_range(0.0..0.2),
        late_ps_max: random.random_range(0..200 * US_PS),
        doubled: random.random_range(0.0..0.05),
        size_bytes_max: [u64::MAX, 1_000][random.random_range(0..2)],
        ..LinkParameters::clean(DELAY_PS)
    };
    let links = [link(), link()];
    let mut config = || Config {
        law: [Law::Model, Law::Cubic, Law::Dctcp][random.random_range(0..3)],
        ecn: [Ecn::Off, Ecn::Classic, Ecn::Exact][random.random_range(0..3)],
        is_sack_offered: random.random_bool(0.8),
        is_timestamps_offered: random.random_bool(0.7),
        timestamp_tick_ns: [1_000, 1_000_000][random.random_range(0..2)],
        window_scale: random.random_range(0..9),
        mss_bytes: random.random_range(300..1_460),
        path_mtu: Some(PathMtuLimits { base_bytes: 296, most_bytes: 1_460 }),
        syn_timeouts_max: 20,
        ..Config::private_wire()
    };
    let configs = [config(), config()];
    let bytes = [(); 2].map(|()| random.random_range(0..300_000));
    let pair = Pair {
        configs,
        links,
        bytes: bytes.map(Some),
        window_bytes: [900, 20_000, 1 << 20][random.random_range(0..3)],
        poll_interval_ps: [0, US_PS, 50 * US_PS][random.random_range(0..3)],
        ..Pair::new(seed, Config::private_wire())
    };
    let marks = random.random_range(3..65);
    let mut network = pair.behind(random.random_range(20_000..500_000), marks).network();
    network.run(1_000_000 * MS_PS);
    (network, bytes)
}

#[test]
fn any_two_ends_exchange_their_streams() {
    let first = seed::seed();
    let mut closed = 0;
    for seed in first..first + 60 {
        let (network, bytes) = run_anything(seed);
        closed += check_streams(&network, bytes, true, seed);
    }
    seed::enough("ends that closed", closed, 110);
}

#[test]
fn same_seed_repeats_two_engines() {
    let look = |network: Network| format!("{:?} {}", network.counts(), network.events());
    let seed = seed::seed();
    let first = look(run_with_faults(seed, 0, Law::Model));
    assert_eq!(first, look(run_with_faults(seed, 0, Law::Model)));
    assert_ne!(first, look(run_with_faults(seed + 1, 0, Law::Model)));
}

/// Goodput of one stream over loss, Gb/s, and as a share of what can arrive.
fn goodput_over(loss: [f64; 2], pair: Pair, measured_ps: u64) -> (f64, f64) {
    let links = loss.map(|share| match share {
        0.0 => LinkParameters::clean(DELAY_PS),
        share => {
            LinkParameters { loss: Loss::Independent(share), ..LinkParameters::clean(DELAY_PS) }
        }
    });
    let mut network = Pair { links, ..pair }.network();
    run_to_first_byte(&mut network);
    let gbps = goodput_gbps(&mut network, 3 * MS_PS, measured_ps);
    (gbps, gbps / (LINE_GBPS * (1.0 - loss[0])))
}

fn of_law(law: Law) -> Pair {
    Pair::new(seed::seed(), Config { law, ..Config::private_wire() })
}

/// The shares of the line's payload rate, less what is lost, that the model must reach, where the
/// ACKs meet no loss.
#[test]
fn model_ignores_light_loss_as_noise() {
    let floors =
        [(0.0, 0.98), (0.001, 0.98), (0.01, 0.97), (0.02, 0.95), (0.04, 0.92), (0.1, 0.75)];
    for (loss, floor) in floors {
        let (_, share) = goodput_over([loss, 0.0], of_law(Law::Model), 5 * MS_PS);
        println!("{loss}: {share:.3}");
        assert!(share >= floor, "loss {loss}: {share}, wanted {floor}");
        // More than the line carries cannot come; holes that close let a little come early.
        assert!(share < 1.05, "loss {loss}: {share}");
    }
}

/// CUBIC takes loss for congestion: by the law of RFC 5681's Reno (Mathis et al., 1997), which is
/// its lower bound in this region (RFC 9438, 4.3), 1 % leaves a few Gb/s.
#[test]
fn cubic_takes_loss_for_congestion() {
    let (_, clean) = goodput_over([0.0, 0.0], of_law(Law::Cubic), 5 * MS_PS);
    assert!(clean > 0.98, "{clean}");
    let (lossy, _) = goodput_over([0.01, 0.0], of_law(Law::Cubic), 20 * MS_PS);
    // 1448 bytes / 50 us * sqrt(1.5 / 0.01), and what CUBIC gains by a decrease to 0.7.
    let reno = 1448.0 * 8.0 / 50_000.0 * 12.25;
    assert!((0.5 * reno..2.0 * reno).contains(&lossy), "{lossy}, {reno}");
}

/// Lost ACKs cost little: each is repeated by those that follow.
#[test]
fn lost_acknowledgements_cost_little() {
    let (_, share) = goodput_over([0.01, 0.1], of_law(Law::Model), 5 * MS_PS);
    println!("{share:.3}");
    assert!(share > 0.9, "{share}");
}

/// Nearly a third of the packets lost is no noise: the model sends less, as the draft says of 2 %.
#[test]
fn heavy_loss_is_no_noise() {
    let (gbps, _) = goodput_over([0.3, 0.0], of_law(Law::Model), 10 * MS_PS);
    println!("{gbps:.1} Gb/s");
    assert!(gbps > 0.0 && gbps < 0.35 * LINE_GBPS, "{gbps}: half of what it could be at most");
}

/// Hosts that are polled for 16 and for 64 packets at a time: each block beyond a hole has its ACKs
/// nevertheless (RFC 2018, 4), where one ACK for a poll would leave most of them unsaid.
#[test]
fn rare_polls_do_not_starve_sender() {
    for (packets, floor) in [(16, 0.9), (64, 0.8)] {
        let pair = Pair { poll_interval_ps: packets * 123_000, ..of_law(Law::Model) };
        let (_, share) = goodput_over([0.04, 0.0], pair, 5 * MS_PS);
        println!("{packets} packets a poll: {share:.3}");
        assert!(share > floor, "{packets}: {share}");
    }
}

/// Some flows through one queue of a switch; each counts marks exactly.
fn run_marked(law: Law, flows: usize, buffer_bytes: u64, mark_packets: u64) -> Network {
    let config = Config { law, ecn: Ecn::Exact, ..Config::private_wire() };
    let pair = Pair { flows, ..Pair::new(1, config) };
    let mut network = pair.behind(buffer_bytes, mark_packets).network();
    // DCTCP begins with alpha 1: the first mark halves the window (RFC 8257, 3.3).
    network.run(25 * MS_PS);
    network
}

/// The queue that stands, from the smoothed round trip.
fn queue_bytes(network: &Network) -> u64 {
    let connection = network.connection(0, 0).expect("a connection");
    let rtt_ns = connection.smoothed_rtt_ns().expect("it was measured");
    rtt_ns.saturating_sub(2 * DELAY_PS / 1_000) * 1_000 / 80
}

/// Marks beyond 65 packets, 100 KB: the controllers that count them keep the queue about there, of
/// 10 MB that there would be, and the line full (RFC 8257, 3.3; the model's own rule).
#[test]
fn marks_keep_the_queue_short() {
    for law in [Law::Dctcp, Law::Model] {
        let mut network = run_marked(law, 1, 10_000_000, 65);
        let share = goodput_gbps(&mut network, 0, 10 * MS_PS) / LINE_GBPS;
        println!("{law:?}: {share:.3}, queue {}", queue_bytes(&network));
        assert!(network.counts().marked > 0, "{law:?}");
        assert!(share > 0.9, "{law:?}: {share}");
        assert!(queue_bytes(&network) < 250_000, "{law:?}: {}", queue_bytes(&network));
    }
    // Without marks CUBIC fills what there is: the test above is not one that holds for anybody.
    let mut network = run_marked(Law::Cubic, 1, 10_000_000, u64::MAX);
    network.run(35 * MS_PS);
    assert!(queue_bytes(&network) > 1_000_000, "{}", queue_bytes(&network));
}

/// Deep buffers: the model sees the delay and leaves a queue of less than one path's content.
#[test]
fn the_model_obeys_delay() {
    let mut network = run_marked(Law::Model, 1, 10_000_000, u64::MAX);
    let share = goodput_gbps(&mut network, 0, 10 * MS_PS) / LINE_GBPS;
    println!("{share:.3}, queue {}", queue_bytes(&network));
    assert!(share > 0.95, "{share}");
    assert!(queue_bytes(&network) < 625_000, "{}", queue_bytes(&network));
}

/// The path carries less than both ends take, and no router says so (RFC 4821, 7).
#[test]
fn silent_path_is_probed_for_size() {
    let limits = PathMtuLimits { base_bytes: 536, most_bytes: 1_460 };
    let config = Config { path_mtu: Some(limits), ..Config::private_wire() };
    let link = LinkParameters { size_bytes_max: 1_000, ..LinkParameters::clean(DELAY_PS) };
    let bytes = [Some(20_000_000), Some(0)];
    let mut network = Pair { links: [link; 2], bytes, ..Pair::new(1, config) }.network();
    // The size is asked for while the connection has a name.
    while accepted(&network, 0) < 19_000_000 {
        assert!(network.run(network.now_ps() + MS_PS), "it has ended");
    }
    let mss_bytes = network.connection(0, 0).expect("a connection").mss_bytes();
    assert!((984..=1_000).contains(&(mss_bytes + 12)), "{mss_bytes}");
    network.run(20_000 * MS_PS);
    assert_eq!(accepted(&network, 0), 20_000_000);
    let too_big = network.counts().lost_too_big;
    assert!(too_big > 0 && too_big < 100, "{too_big}");
}

/// Bytes of each flow in 25 ms, and the share of the line that they have together.
fn shares(mut network: Network) -> (Vec<f64>, f64) {
    let bytes = |network: &Network| -> Vec<u64> {
        (0..network.flows().len()).map(|flow| accepted(network, flow)).collect()
    };
    let before = bytes(&network);
    let gbps = goodput_gbps(&mut network, 0, 25 * MS_PS);
    let after = bytes(&network);
    let each = after.iter().zip(&before).map(|(after, before)| (after - before) as f64).collect();
    (each, gbps / LINE_GBPS)
}

#[test]
fn flows_share_a_marked_queue() {
    for law in [Law::Dctcp, Law::Model] {
        let (each, sum) = shares(run_marked(law, 8, 1_250_000, 65));
        println!("{law:?}: {sum:.3}, fairness {:.3}", fairness(&each));
        assert!(sum > 0.9, "{law:?}: {sum}");
        assert!(fairness(&each) > 0.8, "{law:?}: {each:?}");
    }
}

/// Without marks, in a queue of two paths' content that drops at its tail: nobody starves.
#[test]
fn no_flow_starves_in_dropping_queue() {
    for law in [Law::Cubic, Law::Model] {
        let (each, sum) = shares(run_marked(law, 8, 1_250_000, u64::MAX));
        println!("{law:?}: {sum:.3}, fairness {:.3}", fairness(&each));
        assert!(sum > 0.9, "{law:?}: {sum}");
        assert!(fairness(&each) > 0.6, "{law:?}: {each:?}");
    }
}
