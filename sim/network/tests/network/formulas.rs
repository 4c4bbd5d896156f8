//! Parts against formulas: links, bursts, statistics, go-back-N, lengths of headers.

use network::link::{Burst, Link, LinkParameters, Loss};
use network::measure::loss::go_back_n;
use network::measure::statistics::{fairness, least, median, quantile};
use network::packet::Packet;
use network::schedule::Schedule;
use network::switch::{Switch, SwitchParameters};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use tcp::segment::{Codepoint, Flags, SackBlock, Segment, Timestamps};
use tcp::wire::{emit, HEADER_BYTES_MAX};

/// Within so many standard deviations of a share of independent draws.
fn is_near(count: u64, of: u64, share: f64, deviations: f64) -> bool {
    let (mean, variance) = (of as f64 * share, of as f64 * share * (1.0 - share));
    (count as f64 - mean).abs() <= deviations * variance.sqrt()
}

#[test]
fn independent_faults_have_their_shares() {
    let parameters = LinkParameters {
        loss: Loss::Independent(0.04),
        late: 0.2,
        late_ps_max: 1_000_000,
        doubled: 0.1,
        ..LinkParameters::clean(1_000)
    };
    let mut link = Link::new(parameters, seed::seed());
    let (mut lost, mut late, mut doubled) = (0, 0, 0);
    for _ in 0..200_000 {
        let passage = link.pass(0, 1_538);
        let arrivals = passage.arrivals_ps.len();
        lost += u64::from(arrivals == 0);
        late += u64::from(passage.is_late);
        doubled += u64::from(arrivals == 2);
    }
    assert!(is_near(lost, 200_000, 0.04, 6.0), "{lost}");
    assert!(is_near(late, 200_000 - lost, 0.2, 6.0), "{late}");
    assert!(is_near(doubled, 200_000 - lost, 0.1, 6.0), "{doubled}");
}

/// Gilbert-Elliott: the share lost, and the mean length of a burst, 1 / r.
#[test]
fn bursts_have_share_and_length() {
    let burst = Burst::of(0.02, 16.0);
    assert!((burst.loss() - 0.02).abs() < 1e-12);
    let mixed = Burst { begin: 0.01, end: 0.04, loss_outside: 0.1, loss_inside: 0.6 };
    assert!((mixed.loss() - (0.2 * 0.6 + 0.8 * 0.1)).abs() < 1e-12);
    let parameters = LinkParameters { loss: Loss::Bursty(burst), ..LinkParameters::clean(0) };
    let mut link = Link::new(parameters, seed::seed());
    let (mut lost, mut bursts, mut was_lost) = (0_u64, 0_u64, false);
    for _ in 0..2_000_000 {
        let is_lost = link.pass(0, 1_538).arrivals_ps.is_empty();
        lost += u64::from(is_lost);
        bursts += u64::from(is_lost && !was_lost);
        was_lost = is_lost;
    }
    // A burst of geometric length varies as its mean: the share has sqrt(2 * 16) times the
    // deviation of independent losses.
    assert!(is_near(lost, 2_000_000, 0.02, 6.0 * 32_f64.sqrt()), "{lost}");
    let mean = lost as f64 / bursts as f64;
    assert!((15.0..17.0).contains(&mean), "{mean}");
}

#[test]
fn link_takes_rate_and_delay() {
    let mut link = Link::new(LinkParameters::clean(5_000_000), 1);
    let first = link.pass(1_000, 1_538);
    assert_eq!(first.departed_ps, 1_000 + 1_538 * 80);
    assert_eq!(first.arrivals_ps.as_slice(), [1_000 + 1_538 * 80 + 5_000_000]);
    // The second waits for the first, the third comes to an idle link.
    assert_eq!(link.pass(2_000, 84).departed_ps, 1_000 + 1_622 * 80);
    assert_eq!(link.pass(1_000_000, 84).departed_ps, 1_000_000 + 84 * 80);
}

#[test]
fn switch_marks_by_port_queue() {
    let mut switch = Switch::new(SwitchParameters { buffer_bytes: 10_000, mark_packets: 2 }, 2);
    let mut admit = |now_ps, port, codepoint| {
        let mut segment = Segment { codepoint, ..Segment::default() };
        let is_marked = switch.admit(now_ps, port, &mut segment, 2_000);
        if is_marked.is_some() {
            switch.hold(port, 2_000, 100 + now_ps);
        }
        assert_eq!(is_marked == Some(true), segment.codepoint != codepoint);
        is_marked
    };
    let capable = Codepoint::Capable0;
    assert_eq!(admit(0, 0, capable), Some(false));
    assert_eq!(admit(1, 0, capable), Some(false));
    assert_eq!(admit(2, 0, capable), Some(true), "two wait");
    assert_eq!(admit(3, 1, capable), Some(false), "the other port is empty");
    assert_eq!(admit(4, 0, Codepoint::NotCapable), Some(false));
    assert_eq!(admit(5, 1, capable), None, "the buffer is full");
    assert_eq!(admit(101, 0, capable), Some(true), "two have left, two still wait");
    assert_eq!(admit(1_000, 0, capable), Some(false), "all have left");
    assert_eq!(switch.take_peak(0).packets, 4);
    assert_eq!(switch.take_peak(0).packets, 1);
}

#[test]
fn go_back_n_by_hand() {
    assert_eq!(go_back_n(0.0, 50), 1.0);
    // 625,000 bytes hold 406.4 packets of 1,538 bytes: of 1 % loss 1 / (0.99 + 4.064) is left.
    assert!((go_back_n(0.01, 50) - 0.1979).abs() < 1e-4, "{}", go_back_n(0.01, 50));
    assert!((go_back_n(0.1, 50) - 0.02407).abs() < 1e-5, "{}", go_back_n(0.1, 50));
}

#[test]
fn statistics_by_hand() {
    assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
    assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
    assert_eq!(median(&[]), 0.0);
    assert_eq!(least(&[3.0, 1.0, 2.0]), 1.0);
    let hundred: Vec<f64> = (0..=100).map(f64::from).collect();
    assert_eq!(quantile(&hundred, 0.99), 99.0);
    assert_eq!(fairness(&[5.0, 5.0, 5.0]), 1.0);
    assert_eq!(fairness(&[7.0, 0.0, 0.0, 0.0]), 0.25);
    assert!((fairness(&[1.0, 2.0]) - 0.9).abs() < 1e-12);
}

/// Lengths are those of the header that the engine writes.
#[test]
fn headers_are_as_long_as_written() {
    let mut random = StdRng::seed_from_u64(seed::seed());
    for _ in 0..1_000 {
        let mut segment = Segment { flags: Flags::ACK, ..Segment::default() };
        if random.random_bool(0.3) {
            segment.flags = Flags::SYN;
            segment.options.mss_bytes = random.random_bool(0.5).then_some(1_460);
            segment.options.window_scale = random.random_bool(0.5).then_some(8);
            segment.options.is_sack_permitted = random.random_bool(0.5);
        } else {
            let blocks = random.random_range(0..4);
            segment.options.sack = (0..blocks).map(|start| SackBlock { start, end: 9 }).collect();
        }
        let timestamps = Timestamps { value: 1, echo: 2 };
        segment.options.timestamps = random.random_bool(0.5).then_some(timestamps);
        segment.payload_bytes = random.random_range(100..1_000);
        let header_bytes = emit(&segment, [1, 2], &mut [0; HEADER_BYTES_MAX]) as u64;
        let payload_bytes = u64::from(segment.payload_bytes);
        let packet = Packet { flow: 0, is_to_server: true, segment, offset: 0 };
        assert_eq!(packet.wire_bytes(), 14 + 20 + header_bytes + payload_bytes + 24, "{packet:?}");
        assert_eq!(packet.size_bytes(), header_bytes - 20 + payload_bytes);
    }
    let segment = Segment::default();
    let packet = Packet { flow: 0, is_to_server: true, segment, offset: 0 };
    assert_eq!(packet.wire_bytes(), 84, "a shortest frame");
}

#[test]
fn events_follow_time_then_plan() {
    let mut random = StdRng::seed_from_u64(seed::seed());
    let mut schedule = Schedule::default();
    let mut expected = Vec::new();
    for number in 0..1_000 {
        let at_ps = random.random_range(0..100);
        schedule.plan(at_ps, number);
        expected.push((at_ps, number));
    }
    expected.sort_unstable();
    assert_eq!(schedule.events().count(), 1_000);
    let early: Vec<(u64, u64)> = std::iter::from_fn(|| schedule.next(49)).collect();
    let late: Vec<(u64, u64)> = std::iter::from_fn(|| schedule.next(u64::MAX)).collect();
    assert!(early.iter().all(|it| it.0 <= 49) && late.iter().all(|it| it.0 > 49));
    assert_eq!([early, late].concat(), expected);
    assert!(schedule.is_empty());
}
