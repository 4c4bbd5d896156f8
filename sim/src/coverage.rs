//! What a generator has drawn, counted in bins and compared with the list of what it must draw.
//!
//! ```text
//!   generator ── count("tags 2") ──► bins ──► printed
//!                                     └─ equal to the expected list? ─ no: the bins that differ
//! ```
//! A generator that never draws a value proves nothing of it, and goes on passing. A bin is named
//! by the rule, the field or the boundary that it stands for. Bins that nobody expects are an error
//! as well: the list is the description of the generator.

use std::collections::BTreeMap;
use std::fmt;

/// The bins of a generator. See the head of this file.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    counts: BTreeMap<String, u64>,
}

impl Coverage {
    /// Counts a draw.
    pub fn count(&mut self, bin: impl Into<String>) {
        *self.counts.entry(bin.into()).or_default() += 1;
    }

    /// Counts a draw in the bin `field value`, so that the bins of a field stand together.
    pub fn count_of(&mut self, field: &str, value: impl fmt::Display) {
        self.count(format!("{field} {value}"));
    }

    /// How often a bin was counted.
    pub fn of(&self, bin: &str) -> u64 {
        self.counts.get(bin).copied().unwrap_or(0)
    }

    /// Adds what another part of the generator has drawn.
    pub fn add(&mut self, other: &Coverage) {
        for (bin, count) in &other.counts {
            *self.counts.entry(bin.clone()).or_default() += count;
        }
    }

    /// The bins of `expected` that are empty, and those that it does not list.
    fn differences(&self, expected: &[&str]) -> Vec<String> {
        let empty = expected.iter().filter(|bin| self.of(bin) == 0);
        let empty = empty.map(|bin| format!("never drawn: {bin}"));
        let unlisted = self.counts.keys();
        let unlisted = unlisted.filter(|bin| !expected.contains(&bin.as_str()));
        empty.chain(unlisted.map(|bin| format!("not listed: {bin}"))).collect()
    }

    /// Prints the bins and compares them with those of `expected`. `cargo xtask seeds` tells how
    /// near to none a bin comes with other seeds.
    ///
    /// # Panics
    /// If a bin is empty, or not in the list.
    pub fn check(&self, generator: &str, expected: &[&str]) {
        println!("coverage of {generator}\n{self}");
        let differences = self.differences(expected);
        assert!(differences.is_empty(), "coverage of {generator}:\n{}", differences.join("\n"));
        for bin in expected {
            seed::enough(&format!("{generator}: {bin}"), self.of(bin), 0);
        }
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines = self.counts.iter();
        lines.try_for_each(|(bin, count)| writeln!(f, "{count:>8}  {bin}"))
    }
}

/// The class of a length, by its distance from the beats of 64 bytes.
pub fn length_class(bytes: usize) -> &'static str {
    match (bytes, bytes % 64) {
        (0, _) => "none",
        (1..=63, _) => "below a beat",
        (_, 0) => "whole beats",
        (_, 1) => "a byte beyond",
        (_, 63) => "a byte short",
        _ => "between",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw_cases() -> Coverage {
        let mut coverage = Coverage::default();
        coverage.count("odd");
        coverage.count_of("tags", 2);
        coverage.count_of("tags", 2);
        coverage
    }

    #[test]
    fn complete_draw_passes_and_is_printed() {
        draw_cases().check("test", &["odd", "tags 2"]);
        assert_eq!(draw_cases().to_string(), "       1  odd\n       2  tags 2\n");
        let mut twice = draw_cases();
        twice.add(&draw_cases());
        assert_eq!(twice.of("tags 2"), 4);
    }

    #[test]
    #[should_panic(expected = "never drawn: tags 1")]
    fn never_drawn_bin_is_named() {
        draw_cases().check("test", &["odd", "tags 1", "tags 2"]);
    }

    #[test]
    #[should_panic(expected = "not listed: tags 2")]
    fn unlisted_bin_is_named() {
        draw_cases().check("test", &["odd"]);
    }

    #[test]
    fn lengths_are_classed_by_their_beats() {
        let classes = [0, 1, 63, 64, 65, 127, 128, 100].map(length_class);
        let expected = [
            "none",
            "below a beat",
            "below a beat",
            "whole beats",
            "a byte beyond",
            "a byte short",
            "whole beats",
            "between",
        ];
        assert_eq!(classes, expected);
    }
}
