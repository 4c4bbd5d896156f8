//! How far from a failure the counts of [`seed::enough`] stay over many seeds.
//!
//! ```text
//!   met COUNT, more than FLOOR: WHAT ─► mean, variance ─► how many runs fail
//! ```
//! A test that needs more than 20 of what it meets 36 times on average, give or take six, fails
//! with one seed in some hundreds: its margin is too small, and that shows long before it fails.

use std::collections::BTreeMap;

use seed::MET;

/// A count may be too low in one of so many runs: a gate has some hundred of them.
const RUNS_LEAST: f64 = 1e6;
/// Counts from which a variance is known well enough.
const KNOWN_FROM: usize = 20;

/// Counts of what the tests of a program have met, by name and floor.
#[derive(Debug, Default)]
pub struct Margins(BTreeMap<(String, u64), Vec<u64>>);

/// Name, floor and count of a line, if it is one of those.
fn parse_margin(line: &str) -> Option<(&str, u64, u64)> {
    // The harness may have begun the line.
    let (_, rest) = line.split_once(MET)?;
    let (count, rest) = rest.split_once(", more than ")?;
    let (floor, what) = rest.split_once(": ")?;
    Some((what, floor.parse().ok()?, count.parse().ok()?))
}

/// Mean and variance of a sample of two or more.
fn spread(counts: &[u64]) -> (f64, f64) {
    let size = counts.len() as f64;
    let mean = counts.iter().map(|count| *count as f64).sum::<f64>() / size;
    let squares = counts.iter().map(|count| (*count as f64 - mean).powi(2));
    (mean, squares.sum::<f64>() / (size - 1.0))
}

/// One of so many runs, or fewer, counts no more than `floor`: Chernoff's bound for rare events
/// that come in groups of `variance / mean`. What does not vary has no luck.
fn runs_for_a_failure(mean: f64, variance: f64, floor: f64) -> f64 {
    if variance == 0.0 {
        return f64::INFINITY;
    }
    if mean <= floor {
        return 1.0;
    }
    let group = variance / mean;
    let (mean, floor) = (mean / group, floor / group);
    let lost = if floor > 0.0 { floor * (floor / mean).ln() } else { 0.0 };
    (mean - floor + lost).exp()
}

impl Margins {
    /// Takes the counts from what a run has printed.
    pub fn take(&mut self, output: &str) {
        for (what, floor, count) in output.lines().filter_map(parse_margin) {
            let of = (what.to_owned(), floor);
            self.0.entry(of).or_default().push(count);
        }
    }

    /// A sentence for each count of `program` that comes too near to its floor.
    pub fn thin(&self, program: &str) -> Vec<String> {
        let known = self.0.iter().filter(|(_, counts)| counts.len() >= KNOWN_FROM);
        let thin = known.filter_map(|((what, floor), counts)| {
            let (mean, variance) = spread(counts);
            let runs = runs_for_a_failure(mean, variance, *floor as f64);
            let deviation = variance.sqrt();
            (runs < RUNS_LEAST).then(|| {
                format!(
                    "TOO NEAR: {program}, {what}: must be more than {floor}, and is {mean:.1} +- \
                     {deviation:.1}: one run in some {runs:.0} fails"
                )
            })
        });
        thin.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_behind_harness_are_read() {
        let line = "test it ... met 7, more than 3: late lines, None: each";
        assert_eq!(parse_margin(line), Some(("late lines, None: each", 3, 7)));
        assert_eq!(parse_margin("met 7, more than many: x"), None);
        assert_eq!(parse_margin("test it ... ok"), None);
    }

    #[test]
    fn once_in_million_runs_is_too_near() {
        let mut margins = Margins::default();
        for at in 0..30 {
            // As the lines of a test whose floor was broken by a seed in some hundred.
            let count = 30 + 12 * (at % 2);
            margins.take(&format!("met {count}, more than 20: near\nmet 5, more than 4: even"));
            margins.take(&format!("met {count}, more than 0: far"));
        }
        // Too few to tell.
        (0..10).for_each(|at| margins.take(&format!("met {at}, more than 0: rare")));
        let expected = "TOO NEAR: a, near: must be more than 20, and is 36.0 +- 6.1: one run in \
                        some 61 fails";
        assert_eq!(margins.thin("a"), [expected]);
    }

    #[test]
    fn runs_until_failure_follow_rare_events() {
        // None of events that are met 11 times on average: e to the 11th.
        assert_eq!(runs_for_a_failure(11.0, 11.0, 0.0).round(), 59_874.0);
        assert_eq!(runs_for_a_failure(22.0, 44.0, 0.0).round(), 59_874.0);
        assert_eq!(runs_for_a_failure(3.0, 1.0, 3.0), 1.0);
        assert_eq!(runs_for_a_failure(3.0, 0.0, 3.0), f64::INFINITY);
    }
}
