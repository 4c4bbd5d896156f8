//! The seed of a random test: taken from `ZERONIC_SEED` where that is set, printed in every case.
//!
//! ```text
//!   ZERONIC_SEED ──> seed ──> standard output: replay with ZERONIC_SEED=n
//!   otherwise: a fresh one, or the test's own
//!
//!   what a test is for ──> enough ──> standard output: met COUNT, more than FLOOR: WHAT
//! ```
//! `cargo xtask seeds` reads both lines: it replays from the first, and tells from the others how
//! far from a failure the counts of many seeds stay.
//!
//! Beside it, whether a test writes a kept file anew instead of comparing it: [`blesses`].

/// The variable that names a seed.
pub const VARIABLE: &str = "ZERONIC_SEED";

/// What is printed before a seed.
pub const REPLAY: &str = "replay with ZERONIC_SEED=";

/// `ZERONIC_SEED` if set, otherwise a fresh seed; printed either way.
///
/// # Panics
/// If `ZERONIC_SEED` is not a number.
pub fn seed() -> u64 {
    print_seed(read_given().unwrap_or_else(fresh))
}

/// `ZERONIC_SEED` if set, otherwise `default`; printed either way.
///
/// # Panics
/// If `ZERONIC_SEED` is not a number.
pub fn seed_or(default: u64) -> u64 {
    print_seed(read_given().unwrap_or(default))
}

/// Whether `ZERONIC_SEED` asks for a replay.
pub fn is_replay() -> bool {
    read_given().is_some()
}

/// What is printed before the count of [`enough`].
pub const MET: &str = "met ";

/// Holds that a random test has met what it is for, `what`, more than `floor` times. Both counts
/// are printed.
///
/// # Panics
/// If it has not: the test has shown too little.
pub fn enough(what: &str, count: u64, floor: u64) {
    println!("{MET}{count}, more than {floor}: {what}");
    assert!(count > floor, "only {count}, not more than {floor}: {what}");
}

/// The variable that has kept files written anew.
pub const BLESS: &str = "ZERONIC_BLESS";

/// Whether kept files are to be written anew: `ZERONIC_BLESS=1`.
///
/// # Panics
/// If `ZERONIC_BLESS` is something else than 1, 0 or nothing: a slip of the pen must not write.
pub fn blesses() -> bool {
    let value = std::env::var_os(BLESS).unwrap_or_default();
    asks(&value.to_string_lossy())
}

fn asks(value: &str) -> bool {
    match value {
        "1" => true,
        "" | "0" => false,
        other => panic!("{BLESS}={other}: 1 writes kept files anew, 0 does not"),
    }
}

fn read_given() -> Option<u64> {
    let text = std::env::var(VARIABLE).ok()?;
    let number = text.parse();
    Some(number.unwrap_or_else(|_| panic!("{VARIABLE}={text} is not a number")))
}

fn print_seed(seed: u64) -> u64 {
    println!("{REPLAY}{seed}");
    seed
}

/// Any seed, not printed: from the randomness with which the standard library keys its hash maps.
pub fn fresh() -> u64 {
    use std::hash::{BuildHasher, Hasher};
    std::hash::RandomState::new().build_hasher().finish() >> 32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_1_has_files_written() {
        assert!(asks("1"));
        assert!(!asks("0") && !asks(""));
    }

    #[test]
    #[should_panic(expected = "ZERONIC_BLESS=yes: 1 writes kept files anew")]
    fn mistyped_command_writes_nothing() {
        asks("yes");
    }
}
