//! Runs every script of `tests/scripts`: packets in, packets out, calls and simulated time; and
//! those of `tests/scripts_of_kernel`, which `host/tests/transport` plays against a kernel as well.
//!
//! The language is described in `language.rs`. A script is a file; its first comment says what it
//! shows and by which clause. A line that does not hold fails with its number.

mod language;
mod player;

use std::fs;
use std::path::Path;

/// There were so many when they were written: a lost folder must not pass.
const SCRIPTS_MIN: usize = 40;

#[test]
fn every_script_holds() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let files = ["scripts", "scripts_of_kernel"].map(|folder| fs::read_dir(tests.join(folder)));
    let files = files.into_iter().flat_map(|files| files.expect("the folder is there"));
    let mut paths: Vec<_> = files.map(|file| file.expect("a file").path()).collect();
    paths.sort();
    let mut failures = Vec::new();
    for path in &paths {
        let text = fs::read_to_string(path).expect("the script is readable");
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if !text.starts_with("# ") {
            failures.push(format!("{name}: no comment that says what it shows"));
        }
        if let Err(failure) = player::play(&text) {
            failures.push(format!("{name}:{failure}"));
        }
    }
    assert!(failures.is_empty(), "{} scripts fail:\n{}", failures.len(), failures.join("\n"));
    assert!(paths.len() >= SCRIPTS_MIN, "{} scripts", paths.len());
}

/// A script that says something wrong fails: the player judges.
#[test]
fn a_wrong_script_fails() {
    let begin = "# x\nconnect\n> S 0:0 ack 0\n< SA 0:0 ack 1 win 1000 mss 1460\n> A 1:1 ack 1\n";
    assert_eq!(player::play(begin), Ok(()));
    for (wrong, expected) in [
        ("> A 1:1 ack 1\n", "6: nothing is sent"),
        ("event end-of-stream\n", "6: event Some(\"opened\")"),
        ("state CLOSED\n", "6: state Established"),
        ("offer 10\n", "6: not looked at: AP 1:11 ack 1"),
        ("offer 10\n> AP 1:12 ack 1\n", "7: AP 1:11 ack 1"),
        ("offer 10\n> AP 1:11 ack 2\n", "7: AP 1:11 ack 1"),
        ("jump\n", "6: no such line"),
    ] {
        let failure = player::play(&format!("{begin}{wrong}")).expect_err(wrong);
        assert!(failure.starts_with(expected), "{wrong:?}: {failure}");
    }
}
