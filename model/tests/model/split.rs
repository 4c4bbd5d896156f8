//! The split of the published points: written down before anything was fitted.

use std::collections::BTreeSet;

use zeronic_model::published::{hash, points, Half};

/// Digest of all names with their halves; a point that changes sides changes it.
const DIGEST: u64 = 0xb1c3_3ab6_e259_e443;

#[test]
fn split_is_the_one_committed() {
    let points = points().unwrap();
    let lines: Vec<String> =
        points.iter().map(|point| format!("{} {:?}", point.name, point.half)).collect();
    let digest = hash(&lines.join("\n"));
    assert_eq!(digest, DIGEST, "a point was added or renamed: fit anew, then write {digest:#x}");
}

#[test]
fn halves_are_near_each_other() {
    let points = points().unwrap();
    let count = |half| points.iter().filter(|point| point.half == half).count();
    let (fit, held) = (count(Half::Fit), count(Half::Held));
    println!("{fit} fitted, {held} held back, {} outside", count(Half::Outside));
    assert!(fit + held >= 40, "{fit} and {held}");
    assert!(fit.abs_diff(held) * 4 <= fit + held, "{fit} and {held}");
}

#[test]
fn names_are_all_different() {
    let points = points().unwrap();
    let names: BTreeSet<&str> = points.iter().map(|point| point.name.as_str()).collect();
    assert_eq!(names.len(), points.len());
}
