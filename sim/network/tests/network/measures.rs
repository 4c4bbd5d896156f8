//! The measurements: what they are to reach, on few seeds, and that reports hold together.

use network::measure::loss::{Fault, Parameters};
use network::measure::{fairness, incast, loss, Common, Controller, Measurement};

/// Few seeds and a short time.
fn short() -> Parameters {
    let common = Common { seeds: 2, measured_ms: 5, ..Common::default() };
    Parameters { common, ..Parameters::default() }
}

fn outcomes(parameters: &Parameters, is_wanted: fn(&loss::Case) -> bool) -> Vec<loss::Outcome> {
    let cases = parameters.cases();
    let wanted = cases.iter().filter(|case| is_wanted(case));
    wanted.map(|case| parameters.measure(case).expect("a network")).collect()
}

#[test]
fn model_reaches_goals_over_loss() {
    let parameters = short();
    let outcomes = outcomes(&parameters, |case| {
        let is_loss = matches!(case.fault, Fault::Loss(_));
        case.controller == Controller::Model && case.window_bytes == 8 << 20 && is_loss
    });
    let report = parameters.report(&outcomes);
    assert_eq!(report.rows.len(), 6);
    for row in &report.rows {
        assert!(row.is_reached(), "{row:?}");
        // More than the line carries cannot come; holes that close let a little come early.
        assert!(row.median < 1.05, "{row:?}");
    }
    assert!(report.ok);
    assert_eq!(report.points.len(), 12);
}

#[test]
fn same_case_gives_same_bytes() {
    let parameters = short();
    let run = || {
        let outcomes = outcomes(&parameters, |case| {
            case.seed == 1 && case.window_bytes == 1 << 20 && case.fault == Fault::Loss(0.04)
        });
        serde_json::to_string(&outcomes).expect("JSON")
    };
    let first = run();
    assert!(first.len() > 100, "{first}");
    assert_eq!(first, run());
}

#[test]
fn row_below_goal_is_not_reached() {
    let parameters = short();
    let case = parameters.cases()[0];
    let mut outcome = parameters.measure(&case).expect("a network");
    assert!(parameters.report(std::slice::from_ref(&outcome)).ok);
    outcome.goodput_fraction = 0.97;
    assert!(!parameters.report(std::slice::from_ref(&outcome)).ok);
    // A worst that is far below the median, although the median is reached.
    let fractions = [1.0, 1.0, 0.94];
    let three: Vec<loss::Outcome> = fractions
        .iter()
        .map(|fraction| loss::Outcome { goodput_fraction: *fraction, ..outcome.clone() })
        .collect();
    assert!(!parameters.report(&three).ok);
}

/// Many flows that begin at once: no timeout, and the link is used to the end.
#[test]
fn simultaneous_senders_fill_the_link() {
    let parameters = incast::Parameters::default();
    for (controller, senders, floor) in [
        (Controller::Model, 64, 0.8),
        (Controller::Model, 256, 0.92),
        (Controller::Dctcp, 64, 0.85),
        (Controller::Dctcp, 256, 0.92),
    ] {
        let outcomes = (1..=3).map(|seed| {
            let case = incast::Case { controller, senders, seed };
            parameters.measure(&case).expect("a network")
        });
        let outcomes: Vec<incast::Outcome> = outcomes.collect();
        assert!(outcomes.iter().all(|it| it.ok && it.timeouts == 0), "{outcomes:?}");
        let row = &parameters.report(&outcomes).rows[0];
        assert!(row.link_fraction > floor, "{row:?}");
    }
}

/// The model obeys marks and delay: long flows leave a short queue, have the same, and what short
/// ones leave.
#[test]
fn long_flows_share_the_remainder() {
    let parameters = fairness::Parameters::default();
    let controller = Controller::Model;
    for (longs, shorts) in [(1, 8), (2, 1), (8, 0), (8, 8)] {
        let case = fairness::Case { controller, longs, shorts, seed: 1 };
        let outcome = parameters.measure(&case).expect("a network");
        let row = &parameters.report(std::slice::from_ref(&outcome)).rows[0];
        assert!(outcome.ok && row.is_reached(), "{row:?}");
        assert_eq!(row.shorts > 0, row.short_flows > 20, "{row:?}");
        // Of more than 2,700 packets that there is room for.
        assert!(row.queue_packets_max < 1_300 && row.lost_in_buffer == 0, "{row:?}");
    }
}
