//! The real NCCL over golden cards, where it was fetched: `ci/nccl.sh --quick`.

use std::path::Path;
use std::process::Command;

/// The script's status where it cannot be run.
const CANNOT: i32 = 2;

#[test]
fn collectives_of_nccl_are_exact() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let programs = Path::new(env!("CARGO_BIN_EXE_nccl-cpu")).with_file_name("");
    let mut script = Command::new("bash");
    script.arg(root.join("ci/nccl.sh")).args(["--quick", "--cached", "--built"]).arg(programs);
    let output = script.output().expect("bash runs it");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.code() == Some(CANNOT) {
        skip::skip(skip::Need::Nccl, errors.lines().last().unwrap_or_default());
        return;
    }
    println!("{text}");
    assert!(output.status.success(), "{text}{errors}");
    assert_eq!(text.lines().last(), Some("wrong 0, copied 0"), "{text}");
}
