//! The measurements: what they are to reach, on few seeds, and that reports hold together.

use network::measure::loss::{Fault, Parameters};
use network::measure::{loss, Common, Controller};

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
fn the_model_reaches_its_goals_over_loss() {
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
fn the_same_case_gives_the_same_bytes() {
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
fn a_row_below_its_goal_is_not_reached() {
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
