//! The table beside published measurements.

use std::collections::BTreeSet;

use zeronic_model::fit::{fit, squares};
use zeronic_model::published::points;
use zeronic_model::table::{Basis, Cell, Pays, Table};
use zeronic_model::validate::{
    compare, error, errors, Compared, MEDIAN_MAX, POINTS_LEAST, WORST_MAX,
};

fn compared() -> Vec<Compared> {
    compare(&Table::read().unwrap(), &points().unwrap()).unwrap()
}

#[test]
fn held_points_are_within_limits() {
    let all = compared();
    assert!(all.len() >= POINTS_LEAST);
    let held: Vec<&Compared> = all.iter().filter(|point| point.half == "held").collect();
    let others: Vec<&Compared> =
        held.iter().copied().filter(|point| point.source != "bench").collect();
    for points in [&held, &others] {
        let errors = errors(points).unwrap();
        println!("{errors:?}");
        assert!(errors.median <= MEDIAN_MAX && errors.worst <= WORST_MAX, "{errors:?}");
    }
}

/// What the table calls fitted is what the seen half asks for, and nothing else.
#[test]
fn table_holds_what_fit_finds() {
    let (mut table, points) = (Table::read().unwrap(), points().unwrap());
    let before = squares(&table, &points).unwrap();
    let found = fit(&table, &points).unwrap();
    for (cell, found) in table.fitted().into_iter().zip(&found) {
        cell.value = found.value;
    }
    table.resolve().unwrap();
    let after = squares(&table, &points).unwrap();
    assert!(after > before * 0.98, "the fit finds {after} where the table has {before}: fit anew");
}

/// The fit walks to the nearest minimum, so two coefficients are spoilt, not all.
#[test]
fn fit_moves_spoilt_coefficients_back() {
    let (mut table, points) = (Table::read().unwrap(), points().unwrap());
    let right = squares(&table, &points).unwrap();
    let spoilt =
        |cell: &&mut Cell| matches!((cell.pays, cell.per), (Pays::Wait, _) | (Pays::Scale, _));
    for cell in table.fitted().into_iter().filter(spoilt) {
        cell.value *= 1.3;
    }
    table.resolve().unwrap();
    assert!(squares(&table, &points).unwrap() > 3.0 * right);
    let found = fit(&table, &points).unwrap();
    for (cell, found) in table.fitted().into_iter().zip(&found) {
        cell.value = found.value;
    }
    table.resolve().unwrap();
    let again = squares(&table, &points).unwrap();
    assert!(again < right * 1.1, "{again} after {right}");
}

#[test]
fn small_goodputs_count_absolutely() {
    use zeronic_model::published::Metric;
    assert!((error(Some(Metric::Goodput), 0.1, 0.2) - 0.1).abs() < 1e-12);
    assert!((error(Some(Metric::Goodput), 10.0, 11.0) - 0.1).abs() < 1e-12);
    assert!((error(Some(Metric::Cpu), 0.1, 0.2) - 1.0).abs() < 1e-12);
}

#[test]
fn median_and_worst_by_hand() {
    let with = |error: f64| Compared { error, ..compared()[0].clone() };
    let points = [with(-0.3), with(0.1), with(0.0), with(0.2)];
    let found = errors(&points.iter().collect::<Vec<_>>()).unwrap();
    assert!((found.median - 0.15).abs() < 1e-12 && (found.worst - 0.3).abs() < 1e-12);
    assert_eq!(errors(&[]), None);
}

/// A source that nobody names, or a point whose source is not listed, is a slip.
#[test]
fn every_source_is_named_and_used() {
    let table = Table::read().unwrap();
    let mut used: BTreeSet<String> = points().unwrap().into_iter().map(|p| p.source).collect();
    assert!(used.iter().all(|key| table.sources.contains_key(key)), "{used:?}");
    used.extend(table.rows().flat_map(|row| row.cells.iter().map(|cell| cell.source.clone())));
    let known: BTreeSet<String> = table.sources.keys().cloned().collect();
    assert_eq!(used, known);
}

#[test]
fn guesses_name_their_spread() {
    let table = Table::read().unwrap();
    for row in table.rows() {
        for cell in row.cells.iter().filter(|cell| cell.basis == Basis::Guessed) {
            assert!(cell.spread > 0.0, "{} {:?} {:?}", row.id, cell.pays, cell.per);
        }
    }
}
