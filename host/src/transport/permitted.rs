//! Tests that need a network namespace, on machines that may refuse one.
//!
//! ```text
//!   Result ──► permitted ──► the value
//!                      └───► refused: a line on stderr, a line in the file ZERONIC_SKIPPED;
//!                            a panic where ZERONIC_REQUIRE names "namespaces"
//! ```
//! The test harness has no way to say that a test was skipped, and it keeps what a passing test
//! prints. The line on standard error goes past it; `cargo xtask ci test` counts those of the file.

use std::fmt::Display;
use std::fs::File;
use std::io::Write;

use super::Result;

/// Environment: what a run of the tests must have, separated by commas.
const REQUIRE: &str = "ZERONIC_REQUIRE";
/// Environment: the file that gets a line for each skipped test.
const SKIPPED: &str = "ZERONIC_SKIPPED";
/// The one thing that can be required.
const NAMESPACES: &str = "namespaces";

/// The value, or `None` where this machine refuses namespaces: the test is skipped, wholly or in
/// the part that needs a kernel.
///
/// # Panics
/// If the error is another one, or `ZERONIC_REQUIRE` demands namespaces.
pub fn permitted<T>(result: Result<T>) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(error) if error.is_refusal() => {
            skip(error);
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// Notes that the running test goes without a namespace.
///
/// # Panics
/// If `ZERONIC_REQUIRE` demands namespaces.
pub fn skip(refusal: impl Display) {
    let required = std::env::var(REQUIRE).unwrap_or_default();
    assert!(
        !requires_namespaces(&required),
        "{REQUIRE}={required}, and this machine has none: {refusal}"
    );
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    // Written to the descriptor itself, which the test harness does not capture. A notice that
    // cannot be written is no reason to fail.
    let notice = format!("skipped: no {NAMESPACES}: {test}: {refusal}\n");
    let _ = std::io::stderr().write_all(notice.as_bytes());
    let Some(path) = std::env::var_os(SKIPPED) else {
        return;
    };
    let line = format!("no {NAMESPACES}\t{} {test}\n", program());
    let file = File::options().append(true).create(true).open(&path);
    if let Err(error) = file.and_then(|mut file| file.write_all(line.as_bytes())) {
        panic!("{SKIPPED}={}: {error}", path.display());
    }
}

/// Whether the list names namespaces.
///
/// # Panics
/// If it names something else: a slip of the pen must not switch the demand off.
fn requires_namespaces(list: &str) -> bool {
    let names = list.split(',').map(str::trim);
    let names = Vec::from_iter(names.filter(|name| !name.is_empty()));
    for name in &names {
        assert_eq!(*name, NAMESPACES, "{REQUIRE}: unknown name");
    }
    !names.is_empty()
}

/// The name of the test program, without Cargo's hash.
fn program() -> String {
    let path = std::env::current_exe().unwrap_or_default();
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let name = stem.rsplit_once('-').map_or(&*stem, |(name, _)| name);
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_names_namespaces_or_nothing() {
        assert!(!requires_namespaces(""));
        assert!(!requires_namespaces(" ,"));
        assert!(requires_namespaces("namespaces"));
        assert!(requires_namespaces(" namespaces, "));
    }

    #[test]
    #[should_panic(expected = "unknown name")]
    fn an_unknown_demand_is_a_failure() {
        requires_namespaces("namespaces,namespace");
    }
}
