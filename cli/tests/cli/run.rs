//! Runs the program and looks at what comes out.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The workspace.
pub const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// An example that ships with the program.
pub fn example(name: &str) -> String {
    format!("{ROOT}/examples/{name}")
}

/// An empty folder for one test.
pub fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if path.exists() {
        std::fs::remove_dir_all(&path).expect("an old folder goes");
    }
    std::fs::create_dir_all(&path).expect("a new folder");
    path
}

/// The bytes of every buffer that a replay wrote, by name.
pub fn buffers(out: &Path) -> std::io::Result<BTreeMap<String, Vec<u8>>> {
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(out.join("buffers"))? {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        files.insert(name, std::fs::read(path).expect("a file"));
    }
    Ok(files)
}

/// The program, to be run at the root.
pub fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zeronic"));
    command.args(arguments).current_dir(ROOT);
    command
}

/// Runs the program.
pub fn zeronic(arguments: &[&str]) -> Output {
    command(arguments).output().expect("the program starts")
}

/// The program must refuse: exit status 2, nothing on standard output, one line that says all of
/// `parts`.
pub fn expect_refusal(arguments: &[&str], parts: &[&str]) {
    let output = zeronic(arguments);
    let line = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {line}");
    assert_eq!(line.trim_end().lines().count(), 1, "{arguments:?}: {line}");
    assert!(line.starts_with("zeronic: "), "{arguments:?}: {line}");
    for part in parts {
        assert!(line.contains(part), "{arguments:?}: '{part}' is not in: {line}");
    }
    assert!(output.stdout.is_empty(), "{arguments:?} printed to standard output");
}

/// The program must succeed; its standard output comes back.
pub fn expect_success(arguments: &[&str]) -> String {
    let output = zeronic(arguments);
    let (out, error) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {out}\n{error}");
    out.into_owned()
}
