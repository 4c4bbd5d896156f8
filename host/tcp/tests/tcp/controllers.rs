//! The formulas of the standards, computed apart from the code that is judged.

// Long: one test for each formula, in the order of the standards; the laws share the helpers.

use tcp::config::{Config, Ecn, Law, MS_NS, S_NS};
use tcp::control::cubic::{cube_root, Cubic};
use tcp::control::dctcp::Dctcp;
use tcp::control::hystart::{self, Growth, HyStart};
use tcp::control::model::{Model, Phase};
use tcp::control::{initial_window_bytes, Controller, Rate, Sample, Signal};
use tcp::pace::Pace;
use tcp::rack::Rack;
use tcp::rate_reduction::{Progress, RateReduction};
use tcp::rtt::Rtt;

const MSS: u64 = 1_000;

/// The worked numbers of RFC 6298, 2.2 and 2.3: R = 100 ms, then R' = 200 ms.
#[test]
fn timeouts_are_those_of_rfc_6298() {
    let config = Config { rto_min_ns: 0, ..Config::default() };
    let mut rtt = Rtt::new(&config);
    assert_eq!(rtt.rto_ns(), S_NS);
    rtt.measure(100 * MS_NS);
    assert_eq!(rtt.smoothed_ns(), Some(100 * MS_NS));
    assert_eq!(rtt.rto_ns(), (100 + 4 * 50) * MS_NS);
    rtt.measure(200 * MS_NS);
    // RTTVAR = 3/4 * 50 + 1/4 * |100 - 200|; SRTT = 7/8 * 100 + 1/8 * 200.
    assert_eq!(rtt.smoothed_ns(), Some(112_500_000));
    assert_eq!(rtt.rto_ns(), 112_500_000 + 4 * 62_500_000);
    for doublings in 1..4 {
        rtt.back_off();
        assert_eq!(rtt.rto_ns(), 362_500_000 << doublings);
    }
    (0..30).for_each(|_| rtt.back_off());
    assert_eq!(rtt.rto_ns(), 60 * S_NS);
    let rtt = Rtt::new(&Config { rto_initial_ns: 1, ..Config::default() });
    assert_eq!(rtt.rto_ns(), 1);
}

#[test]
fn initial_windows_follow_rfc_6928() {
    // min(10 MSS, max(2 MSS, 14,600))
    let expected = [(536, 5_360), (1_460, 14_600), (1_500, 14_600), (8_960, 17_920)];
    for (mss_bytes, window_bytes) in expected {
        assert_eq!(initial_window_bytes(mss_bytes), window_bytes);
    }
}

#[test]
fn cube_roots_are_roots() {
    for value in [1e-6, 0.3, 1.0, 8.0, 27.0, 1_000.0, 123_456.0, 1e12] {
        let root = cube_root(value);
        assert!((root * root * root / value - 1.0).abs() < 1e-9, "{value}: {root}");
    }
    assert_eq!(cube_root(-1.0), 0.0);
}

/// A controller that has everything it wants to send in flight, fed with whole windows.
struct Feeder<C: Controller> {
    control: C,
    now_ns: u64,
    una: u64,
    delivered: u64,
    rtt_ns: u64,
}

impl<C: Controller> Feeder<C> {
    fn new(control: C, rtt_ns: u64) -> Self {
        Self { control, now_ns: S_NS, una: 0, delivered: 0, rtt_ns }
    }

    fn segments(&self) -> f64 {
        self.control.window_bytes() as f64 / MSS as f64
    }

    /// A round trip in which every segment of the window is acknowledged, `marked` of 100 marked.
    fn round(&mut self, marked: u64) {
        let count = self.control.window_bytes() / MSS;
        for at in 0..count {
            self.now_ns += self.rtt_ns / count;
            self.una += MSS;
            self.delivered += MSS;
            let window_bytes = self.control.window_bytes();
            let is_marked = (at + 1) * marked / 100 > at * marked / 100;
            self.control.acknowledge(&Sample {
                now_ns: self.now_ns,
                acknowledged_bytes: MSS,
                delivered_bytes: MSS,
                marked_bytes: if is_marked { MSS } else { 0 },
                total_delivered_bytes: self.delivered,
                in_flight_bytes: [window_bytes, window_bytes - MSS],
                rtt_ns: Some(self.rtt_ns),
                smoothed_ns: self.rtt_ns,
                una: self.una,
                next: self.una + window_bytes,
                ..Sample::default()
            });
        }
    }

    fn lose(&mut self) {
        let window_bytes = self.control.window_bytes();
        self.control.signal(self.now_ns, Signal::Loss, window_bytes);
    }
}

/// RFC 9438, 4.2: W(t) = C (t - K)^3 + W_max, K = cbrt((W_max - cwnd) / C), cwnd = 0.7 W_max.
#[test]
fn cubic_window_follows_rfc_9438() {
    let mut feeder = Feeder::new(Cubic::new(MSS), 100 * MS_NS);
    while feeder.segments() < 1_000.0 {
        feeder.round(0);
    }
    let maximum = feeder.segments();
    feeder.lose();
    assert!((feeder.segments() - 0.7 * maximum).abs() < 1.0);
    let k_s = ((maximum - 0.7 * maximum) / 0.4_f64).powf(1.0 / 3.0);
    let begin_ns = feeder.now_ns;
    let mut checked = 0;
    while feeder.now_ns < begin_ns + (1.5 * k_s * 1e9) as u64 {
        feeder.round(0);
        // What is sent at the end of a round trip aims at W(t + RTT), and has just got there.
        let t_s = (feeder.now_ns - begin_ns) as f64 / 1e9;
        let expected = 0.4 * (t_s - k_s).powi(3) + maximum;
        let error = (feeder.segments() - expected).abs() / expected;
        assert!(error < 0.02, "at {t_s} of {k_s}: {} for {expected}", feeder.segments());
        checked += 1;
    }
    assert!(checked > 100);
}

/// RFC 9438, 4.3: where the cubic is slow, the window grows as Reno's that loses 0.3: by
/// 3 (1 - 0.7) / (1 + 0.7) segments in a round trip.
#[test]
fn cubic_is_never_slower_than_reno() {
    let mut feeder = Feeder::new(Cubic::new(MSS), MS_NS);
    while feeder.segments() < 200.0 {
        feeder.round(0);
    }
    feeder.lose();
    let begin = feeder.segments();
    (0..50).for_each(|_| feeder.round(0));
    let growth = (feeder.segments() - begin) / 50.0;
    assert!((growth - 0.9 / 1.7).abs() < 0.03, "{growth}");
}

/// RFC 9438, 4.7: a second loss below the first maximum lets go of it: W_max = cwnd (1 + 0.7) / 2.
#[test]
fn cubic_converges_fast() {
    let mut feeder = Feeder::new(Cubic::new(MSS), 100 * MS_NS);
    while feeder.segments() < 1_000.0 {
        feeder.round(0);
    }
    feeder.lose();
    let second = feeder.segments();
    feeder.lose();
    let maximum = second * 0.85;
    let k_s = ((maximum - 0.7 * second) / 0.4_f64).powf(1.0 / 3.0);
    let begin_ns = feeder.now_ns;
    while feeder.now_ns < begin_ns + (k_s * 1e9) as u64 {
        feeder.round(0);
    }
    assert!((feeder.segments() - maximum).abs() / maximum < 0.02, "{}", feeder.segments());
}

/// The constants of RFC 9406, 4.3, and its passage from slow start to avoidance.
#[test]
fn slow_start_ends_on_growing_rtt() {
    assert_eq!(hystart::RTT_THRESHOLD_MIN_NS, 4 * MS_NS);
    assert_eq!(hystart::RTT_THRESHOLD_MAX_NS, 16 * MS_NS);
    assert_eq!((hystart::RTT_DIVISOR, hystart::RTT_SAMPLES), (8, 8));
    assert_eq!((hystart::CONSERVATIVE_DIVISOR, hystart::CONSERVATIVE_ROUNDS), (4, 5));
    let round = |hystart: &mut HyStart, number: u64, rtt_ns: u64| {
        let samples = (0..10).map(|at| {
            hystart.acknowledge(&Sample {
                rtt_ns: Some(rtt_ns),
                una: number * 100 + at,
                next: (number + 1) * 100,
                ..Sample::default()
            })
        });
        samples.last()
    };
    // An eighth of 80 ms is 10: 89 ms is noise, 90 is a queue, and 89 again shows that it was not.
    let mut hystart = HyStart::default();
    assert_eq!(round(&mut hystart, 1, 80 * MS_NS), Some(Growth::Full));
    assert_eq!(round(&mut hystart, 2, 89 * MS_NS), Some(Growth::Full));
    assert_eq!(round(&mut hystart, 3, 80 * MS_NS), Some(Growth::Full));
    assert_eq!(round(&mut hystart, 4, 90 * MS_NS), Some(Growth::Conservative));
    assert_eq!(round(&mut hystart, 5, 89 * MS_NS), Some(Growth::Full));
    // A queue that stays: five rounds, and slow start is over.
    assert_eq!(round(&mut hystart, 6, 200 * MS_NS), Some(Growth::Conservative));
    for number in 7..=11 {
        assert_eq!(round(&mut hystart, number, 200 * MS_NS), Some(Growth::Conservative));
    }
    let last = hystart.acknowledge(&Sample { una: 1_200, next: 1_300, ..Sample::default() });
    assert_eq!(last, Growth::Done);
}

/// RFC 8257, 3.3: alpha <- (1 - 1/16) alpha + share / 16, from 1. Without marks it falls by 1/16
/// for each window of data; with a share that stays it becomes that.
#[test]
fn alpha_is_that_of_rfc_8257() {
    let mut feeder = Feeder::new(Dctcp::new(MSS), MS_NS);
    let mut alpha = feeder.control.alpha();
    assert_eq!(alpha, 1 << 20);
    let mut windows = 0;
    for _ in 0..6 {
        feeder.round(0);
        let next = feeder.control.alpha();
        while alpha > next {
            alpha -= alpha / 16;
            windows += 1;
        }
        assert_eq!(alpha, next, "after {windows} windows");
    }
    assert!((4..=8).contains(&windows), "{windows}");
    feeder.lose();
    for share in [25, 50] {
        (0..300).for_each(|_| feeder.round(share));
        let alpha = feeder.control.alpha() as f64 / f64::from(1 << 20);
        let expected = share as f64 / 100.0;
        assert!((alpha - expected).abs() < 0.25 * expected, "{alpha} for {expected}");
    }
}

/// RFC 8257, 3.3 step 9: the window shrinks by alpha / 2, once for each window of data.
#[test]
fn marks_shrink_by_half_of_alpha() {
    let mut feeder = Feeder::new(Dctcp::new(MSS), MS_NS);
    (0..4).for_each(|_| feeder.round(0));
    let (alpha, before) = (feeder.control.alpha(), feeder.control.window_bytes());
    feeder.round(100);
    let alpha = alpha as f64 / f64::from(1 << 20);
    let expected = before as f64 * (1.0 - alpha / 2.0);
    let window = feeder.control.window_bytes() as f64;
    assert!((window - expected).abs() < before as f64 * 0.05, "{window} for {expected}");
}

/// RFC 3168, 6.1.2, as RFC 8257, 3.3 keeps it: what was sent before a reduction calls for no second
/// one, although a window of data ends meanwhile.
#[test]
fn flight_of_marks_reduces_once() {
    let mut control = Dctcp::new(MSS);
    let before = control.window_bytes();
    let mut acknowledge = |una: u64, next: u64, marked_bytes: u64| {
        control.acknowledge(&Sample {
            acknowledged_bytes: MSS,
            delivered_bytes: MSS,
            marked_bytes,
            // The application has little to send: the window does not grow.
            in_flight_bytes: [MSS, MSS],
            una,
            next,
            ..Sample::default()
        });
        control.window_bytes()
    };
    // A window of data begins with una at 1,000 and ends at 11,000; the marks begin in its middle,
    // when all before 15,000 is sent. Alpha is 1 and has lost a sixteenth.
    assert_eq!(acknowledge(1_000, 11_000, 0), before);
    let after = before - before * 15 / 32;
    assert!(acknowledge(5_000, 15_000, MSS).abs_diff(after) <= 1);
    for una in 6..=15 {
        let window = acknowledge(una * 1_000, 15_000, MSS);
        assert!(window.abs_diff(after) <= 1, "at {una},000: {window}");
    }
    assert!(acknowledge(16_000, 20_000, MSS) < after * 3 / 4, "sent after the reduction");
}

/// RFC 9937, 6: twenty segments, the first lost, ssthresh half: the reduction sends one for every
/// two that are delivered, and ends with ssthresh in flight.
#[test]
fn the_reduction_is_proportional() {
    let (flight, threshold) = (20, 10);
    let mut reduction = RateReduction::new(flight * MSS, flight * MSS);
    let mut in_flight = flight - 1;
    let mut sent = Vec::new();
    for ack in 1..flight {
        in_flight -= 1;
        reduction.acknowledge(&Progress {
            delivered_bytes: MSS,
            in_flight_bytes: in_flight * MSS,
            threshold_bytes: threshold * MSS,
            is_safe: false,
            mss_bytes: MSS,
        });
        let more = (reduction.window_bytes() / MSS).saturating_sub(in_flight);
        for _ in 0..more {
            reduction.send(MSS);
            in_flight += 1;
            sent.push(ack);
        }
    }
    assert_eq!(sent[0], 1, "the first repetition goes at once");
    assert!((9..=10).contains(&sent.len()), "{sent:?}");
    assert!(sent.windows(2).all(|pair| pair[1] - pair[0] <= 3 && pair[1] > pair[0]), "{sent:?}");
    assert!((threshold - 1..=threshold).contains(&in_flight), "{in_flight}");
}

/// RFC 9937, 6: below ssthresh at most one segment more than delivered is sent, and only when the
/// ACK is safe.
#[test]
fn reduction_regrows_by_slow_start() {
    let progress = |is_safe| Progress {
        delivered_bytes: MSS,
        in_flight_bytes: 2 * MSS,
        threshold_bytes: 10 * MSS,
        is_safe,
        mss_bytes: MSS,
    };
    let mut reduction = RateReduction::new(20 * MSS, 20 * MSS);
    reduction.acknowledge(&progress(false));
    assert_eq!(reduction.window_bytes(), 3 * MSS);
    reduction.send(MSS);
    reduction.acknowledge(&progress(true));
    assert_eq!(reduction.window_bytes(), 4 * MSS);
}

/// RFC 8985, 6.2 step 4: no window for reordering before any was seen; a quarter of the shortest
/// round trip for each round with a D-SACK, at most SRTT; back after 16 repairs.
#[test]
fn the_window_for_reordering_adapts() {
    let mut rtt = Rtt::new(&Config::default());
    rtt.measure(100 * MS_NS);
    rtt.measure_min(0, 80 * MS_NS);
    let mut rack = Rack::default();
    assert_eq!(rack.window_ns(&rtt, false, 2), 20 * MS_NS);
    assert_eq!(rack.window_ns(&rtt, false, 3), 0);
    assert_eq!(rack.window_ns(&rtt, true, 0), 0);
    rack.note_reordering();
    assert_eq!(rack.window_ns(&rtt, true, 3), 20 * MS_NS);
    rack.note_duplicate(1_000);
    rack.note_duplicate(2_000);
    assert_eq!(rack.window_ns(&rtt, true, 3), 40 * MS_NS, "one for a round");
    rack.acknowledge(1_000);
    rack.note_duplicate(3_000);
    assert_eq!(rack.window_ns(&rtt, true, 3), 60 * MS_NS);
    for next in 4..20 {
        rack.acknowledge(next * 1_000);
        rack.note_duplicate(next * 1_000 + 1_000);
    }
    assert_eq!(rack.window_ns(&rtt, true, 3), 100 * MS_NS);
    (0..16).for_each(|_| rack.recover());
    assert_eq!(rack.window_ns(&rtt, true, 3), 20 * MS_NS);
}

/// At 100 Gb/s a segment lasts 115.84 ns: the pace keeps the fractions.
#[test]
fn pace_keeps_nanosecond_fractions() {
    let mut pace = Pace::default();
    let rate = 12_500_000_000;
    for _ in 0..1_000_000 {
        pace.send(pace.next_ns(), 1_448, rate);
    }
    assert_eq!(pace.next_ns(), 115_840_000);
}

/// A path of 1 Gb/s and 10 ms under the model: what it lets fly comes, at most at that rate.
struct ModelPath {
    model: Model,
    now_ns: u64,
    delivered: u64,
    in_flight: u64,
    /// Of a hundred bytes that come so many are marked.
    marked: u64,
    phases: Vec<Phase>,
}

/// What the path holds, bytes; and its rate in a second.
const PATH_BYTES: u64 = 1_250_000;
const PATH_RATE: u64 = 125_000_000;

impl ModelPath {
    fn new() -> Self {
        let model = Model::new(MSS);
        let phases = vec![Phase::Startup];
        Self { model, now_ns: S_NS, delivered: 0, in_flight: 0, marked: 0, phases }
    }

    /// A round trip of 10 ms in eight acknowledgements; of 100 bytes that come so many were lost,
    /// and the round trip is measured as `rtt_ns`.
    fn round(&mut self, lost: u64, rtt_ns: u64) {
        let prior = self.delivered;
        let flight = self.model.window_bytes().min(PATH_BYTES * 5 / 4 + 1);
        let bytes = (flight.min(PATH_BYTES) / 8).max(1);
        for _ in 0..8 {
            self.now_ns += 10 * MS_NS / 8;
            self.delivered += bytes;
            let before = self.in_flight;
            let is_draining = matches!(self.model.phase(), Phase::Drain | Phase::Down);
            self.in_flight = if is_draining { flight / 2 } else { flight };
            self.model.acknowledge(&Sample {
                now_ns: self.now_ns,
                acknowledged_bytes: bytes,
                delivered_bytes: bytes,
                marked_bytes: bytes * self.marked / 100,
                lost_bytes: bytes * lost / 100,
                total_delivered_bytes: self.delivered,
                in_flight_bytes: [before, self.in_flight],
                rtt_ns: Some(rtt_ns),
                smoothed_ns: rtt_ns,
                rate: Some(Rate {
                    delivered_bytes: 8 * bytes,
                    interval_ns: 10 * MS_NS,
                    prior_delivered_bytes: prior,
                    in_flight_bytes: before,
                    ..Rate::default()
                }),
                ..Sample::default()
            });
            if self.phases.last() != Some(&self.model.phase()) {
                self.phases.push(self.model.phase());
            }
        }
    }

    /// The pace in Cruise after many rounds, as a share of the rate of the path.
    fn cruise(lost: u64, rtt_ns: u64) -> f64 {
        let mut path = Self::new();
        (0..100).for_each(|_| path.round(lost, 10 * MS_NS));
        // Long enough to be seen in whole rounds, too short for the next probe of the round trip.
        (0..100).for_each(|_| path.round(lost, rtt_ns));
        for _ in 0..200 {
            if path.model.phase() != Phase::Cruise {
                path.round(lost, rtt_ns);
            }
        }
        (0..2).for_each(|_| path.round(lost, rtt_ns));
        assert_eq!(path.model.phase(), Phase::Cruise);
        path.model.rate_bytes_per_s(Some(rtt_ns)).expect("it was measured") as f64
            / PATH_RATE as f64
    }
}

/// The states of draft-ietf-ccwg-bbr, 5.3, on a path that never queues.
#[test]
fn the_model_goes_through_its_states() {
    let mut path = ModelPath::new();
    (0..2_000).for_each(|_| path.round(0, 10 * MS_NS));
    let cycle = [Phase::Down, Phase::Cruise, Phase::Refill, Phase::Up];
    assert_eq!(path.phases[..2], [Phase::Startup, Phase::Drain]);
    for (at, phase) in path.phases[2..].iter().enumerate() {
        assert_eq!(*phase, cycle[at % 4], "{:?}", path.phases);
    }
    assert!(path.phases.len() > 12, "{:?}", path.phases);
    let window_bytes = path.model.window_bytes();
    assert!((2 * PATH_BYTES..3 * PATH_BYTES).contains(&window_bytes), "{window_bytes}");
}

/// The policy of the head of `model.rs`: nine tenths of light loss are made up for, not where a
/// queue shows, which slows the pace to 95 %, and not beyond 15 %.
#[test]
fn pace_model_knows_loss_and_queues() {
    let near = |share: f64, expected: f64| (share - expected).abs() < 0.01;
    // No queue ever shows: 16 segments are added to what the path holds, not more.
    let clean = ModelPath::cruise(0, 10 * MS_NS);
    let more = 16.0 * MSS as f64 / PATH_BYTES as f64;
    assert!((clean - 1.0 - more).abs() < 0.002, "{clean}");
    // Ten of a hundred and ten bytes sent.
    let lossy = ModelPath::cruise(10, 10 * MS_NS);
    assert!(near(lossy, 1.0 / (1.0 - 0.9 * 10.0 / 110.0)), "{lossy}");
    let queued = ModelPath::cruise(10, 13 * MS_NS);
    assert!(near(queued, 0.95), "{queued}");
    let heavy = ModelPath::cruise(25, 10 * MS_NS);
    assert!(heavy <= 1.01, "{heavy}");
}

/// Runs to the first rounds of a Cruise.
fn cruising() -> ModelPath {
    let mut path = ModelPath::new();
    (0..100).for_each(|_| path.round(0, 10 * MS_NS));
    while path.model.phase() == Phase::Cruise {
        path.round(0, 10 * MS_NS);
    }
    while path.model.phase() != Phase::Cruise {
        path.round(0, 10 * MS_NS);
    }
    path.round(0, 10 * MS_NS);
    path
}

/// What a round acknowledges was sent before it began: of two rounds of marks in a row one is
/// answered (RFC 3168, 6.1.2).
#[test]
fn model_answers_marks_once_per_flight() {
    let mut path = cruising();
    path.marked = 40;
    let mut windows_bytes = vec![path.model.window_bytes()];
    for _ in 0..6 {
        path.round(0, 10 * MS_NS);
        windows_bytes.push(path.model.window_bytes());
    }
    let cuts = windows_bytes.windows(2).filter(|it| it[1] < it[0]).count();
    assert_eq!(cuts, 3, "{windows_bytes:?}");
}

/// A flow leaves two segments in a queue: at twice the shortest round trip half of what it has in
/// flight, and two segments (FAST TCP).
#[test]
fn model_leaves_two_segments_queued() {
    let mut path = cruising();
    let before = path.model.window_bytes();
    assert!(before > 3 * PATH_BYTES / 2, "{before}");
    path.marked = 40;
    path.round(0, 20 * MS_NS);
    path.marked = 0;
    (0..2).for_each(|_| path.round(0, 20 * MS_NS));
    // The path delivers what it holds, or somewhat less once less is in flight.
    let window = path.model.window_bytes();
    let half = PATH_BYTES / 2 + 2 * MSS;
    assert!((half * 9 / 10..=half).contains(&window), "{window} for {half}");
    // The queue is gone: what is added grows twofold a round, from two segments.
    let mut added = Vec::new();
    let mut last = window;
    for _ in 0..5 {
        path.round(0, 10 * MS_NS);
        added.push((path.model.window_bytes() - last) / MSS);
        last = path.model.window_bytes();
    }
    assert!(added.windows(2).all(|it| it[1] >= it[0]) && added[4] >= 16, "{added:?}");
}

/// The defaults are those of the standards, the private wire changes what it says.
#[test]
fn the_defaults_are_careful() {
    let config = Config::default();
    assert_eq!((config.law, config.ecn), (Law::Cubic, Ecn::Off));
    assert_eq!(config.rto_min_ns, 200 * MS_NS);
    assert!(config.ack_delay_ns < 500 * MS_NS);
    assert_eq!(Config::private_wire().law, Law::Model);
    assert_eq!(Config::private_wire().rto_min_ns, MS_NS);
}
