//! A fault is planted, and the checker that is there for it has to speak.
//!
//! ```text
//!   scenario ── panics ──► message has the checker's words?  ──► caught
//!           │                        └ no: it was another one, or a limit of time
//!           └── returns: the fault went unnoticed
//! ```

use std::panic::{catch_unwind, AssertUnwindSafe};

/// Runs a scenario whose design has the fault `fault`: it must end in a panic of the checker that
/// says `checker`.
///
/// # Panics
/// If it ends otherwise: not at all, in another panic, or in a limit that was reached.
pub fn caught_by(checker: &str, fault: &str, scenario: impl FnOnce()) {
    let Err(panic) = catch_unwind(AssertUnwindSafe(scenario)) else {
        panic!("the fault `{fault}` went unnoticed");
    };
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let said = text.or_else(|| panic.downcast_ref::<String>().cloned());
    let said = said.unwrap_or_default();
    assert!(
        said.contains(checker),
        "the fault `{fault}` is not caught by '{checker}', but: {said}"
    );
    println!("caught by '{checker}': {said}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_checker_may_speak() {
        caught_by("byte 3 differs", "x", || panic!("byte {} differs", 3));
        caught_by("never came", "x", || panic!("never came"));
    }

    #[test]
    #[should_panic(expected = "is not caught by 'differs', but: it does not end")]
    fn another_panic_does_not_count() {
        caught_by("differs", "x", || panic!("it does not end"));
    }

    #[test]
    #[should_panic(expected = "the fault `x` went unnoticed")]
    fn silence_does_not_count() {
        caught_by("", "x", || {});
    }
}
