//! Which tests were skipped, and for want of what.
//!
//! ```text
//!   test ── "no namespaces TAB program test" ──► file ──► "== 3 tests skipped: no namespaces"
//! ```
//! A test may add its line more than once: it counts once.

use std::collections::{BTreeMap, BTreeSet};

/// Environment: the file to which `host::transport::permitted` adds a line for each skipped test.
pub const FILE: &str = "ZERONIC_SKIPPED";

/// One line for each reason, with the number of tests, and one for each of these.
pub fn summary(lines: &str) -> String {
    let mut tests = BTreeMap::<&str, BTreeSet<&str>>::new();
    for line in lines.lines() {
        let (reason, test) = line.split_once('\t').unwrap_or((line, "unknown"));
        tests.entry(reason).or_default().insert(test);
    }
    let mut text = String::new();
    for (reason, tests) in tests {
        let noun = if tests.len() == 1 { "test" } else { "tests" };
        text += &format!("== {} {noun} skipped: {reason}\n", tests.len());
        for test in tests {
            text += &format!("   {test}\n");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_test_counts_once_under_its_reason() {
        let lines = "no a\tp x\nno b\tp y\nno a\tq x\nno a\tp x\n";
        let expected = "== 2 tests skipped: no a\n   p x\n   q x\n\
                        == 1 test skipped: no b\n   p y\n";
        assert_eq!(summary(lines), expected);
        assert_eq!(summary(""), "");
    }
}
