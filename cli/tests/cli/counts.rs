//! Instructions and allocations of the host are those of docs/host_counts.toml, within 5 %.
//!
//! `ZERONIC_BLESS=1` writes the file, for the profile of this test. Where Valgrind is not
//! installed, or for another compiler than the file's, instructions are not compared; the step
//! `test` of the gate says so.

use skip::{skip, Need};

use crate::run::{command, expect_refusal, expect_success, folder, ROOT};

const COUNTS: &str = "docs/host_counts.toml";

#[test]
fn host_counts_match_committed_ones() {
    let check = ["bench", "host", "--counts", COUNTS];
    if seed::blesses() {
        expect_success(&[&check[..], &["--bless"]].concat());
        return;
    }
    let said = expect_success(&check);
    assert!(said.contains("counts are within 5 %"), "{said}");
    let skipped = "skipped: instructions: ";
    if let Some(why) = said.lines().find_map(|line| line.strip_prefix(skipped)) {
        skip(Need::Instructions, why);
    }
}

/// A file with other counts, and one without any.
#[test]
fn counts_that_differ_are_a_failure() {
    let path = folder("counts").join("other.toml");
    let file = path.to_str().expect("a path");
    let own = std::fs::read_to_string(format!("{ROOT}/{COUNTS}")).expect("counts");
    let other = own.replace("allocations = ", "allocations = 9");
    std::fs::write(&path, other).expect("a file");
    // Without a path there is no Valgrind: only allocations are compared.
    let mut command = command(&["bench", "host", "--counts", file]);
    let output = command.env("PATH", "").output().expect("the program");
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{said}");
    for part in ["DIFFERS", "NOT within", "skipped: instructions: no valgrind"] {
        assert!(said.contains(part), "{said}");
    }
    expect_refusal(&["bench", "host", "--bless"], &["--counts"]);
    expect_refusal(&["bench", "host", "--counts", "none.toml"], &["none.toml"]);
}
