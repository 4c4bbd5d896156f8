//! How far from a failure the counts of [`seed::enough`] stay over many seeds.
//!
//! ```text
//!   met COUNT, more than FLOOR: WHAT ─► mean, standard deviation ─► (mean - FLOOR) / deviation
//! ```
//! A test that needs more than 20 of what it meets 36 times on average, give or take six, fails
//! with one seed in some hundreds: its margin is too small, and that shows long before it fails.

use std::collections::BTreeMap;

use seed::MET;

/// With fewer deviations between mean and floor a test fails too often to be met by chance alone:
/// with 5, once in three million runs.
const LEAST: f64 = 5.0;
/// Counts from which a deviation is known well enough.
const KNOWN_FROM: usize = 20;

/// Counts of what tests have met, by name and floor.
#[derive(Debug, Default)]
pub struct Margins(BTreeMap<(String, u64), Vec<u64>>);

/// Name, floor and count of a line, if it is one of those.
fn met(line: &str) -> Option<(&str, u64, u64)> {
    // The harness may have begun the line.
    let (_, rest) = line.split_once(MET)?;
    let (count, rest) = rest.split_once(", more than ")?;
    let (floor, what) = rest.split_once(": ")?;
    Some((what, floor.parse().ok()?, count.parse().ok()?))
}

/// Mean and standard deviation of a sample of two or more.
fn spread(counts: &[u64]) -> (f64, f64) {
    let size = counts.len() as f64;
    let mean = counts.iter().map(|count| *count as f64).sum::<f64>() / size;
    let squares = counts.iter().map(|count| (*count as f64 - mean).powi(2));
    (mean, (squares.sum::<f64>() / (size - 1.0)).sqrt())
}

impl Margins {
    /// Takes the counts from what a run of `program` has printed.
    pub fn take(&mut self, program: &str, output: &str) {
        for (what, floor, count) in output.lines().filter_map(met) {
            let of = format!("{program}, {what}");
            self.0.entry((of, floor)).or_default().push(count);
        }
    }

    /// A sentence for each count that comes too near to its floor.
    pub fn thin(&self) -> Vec<String> {
        let known = self
            .0
            .iter()
            .filter(|(_, counts)| counts.len() >= KNOWN_FROM);
        let thin = known.filter_map(|((of, floor), counts)| {
            let (mean, deviation) = spread(counts);
            let is_thin = mean - *floor as f64 <= LEAST * deviation;
            // What does not depend on the seed has no deviation, and no luck.
            (is_thin && deviation > 0.0).then(|| {
                format!(
                    "TOO NEAR: {of}: {mean:.1} +- {deviation:.1} in {} runs, and must be more than \
                     {floor}",
                    counts.len()
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
    fn lines_are_read_also_behind_the_harness() {
        let line = "test it ... met 7, more than 3: late lines, None: each";
        assert_eq!(met(line), Some(("late lines, None: each", 3, 7)));
        assert_eq!(met("met 7, more than many: x"), None);
        assert_eq!(met("test it ... ok"), None);
    }

    #[test]
    fn a_floor_within_five_deviations_is_too_near() {
        let mut margins = Margins::default();
        for at in 0..30 {
            // 36 and 37 deviate by half of one: 34 is near, 30 is not; 5 never changes.
            let count = 36 + at % 2;
            margins.take(
                "a",
                &format!("met {count}, more than 34: near\nmet 5, more than 4: even"),
            );
            margins.take("b", &format!("met {count}, more than 30: far"));
        }
        // Too few to tell.
        (0..10).for_each(|at| margins.take("c", &format!("met {at}, more than 0: rare")));
        let expected = "TOO NEAR: a, near: 36.5 +- 0.5 in 30 runs, and must be more than 34";
        assert_eq!(margins.thin(), [expected]);
    }
}
