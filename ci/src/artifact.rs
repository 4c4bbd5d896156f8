//! What a message of cargo says of a program that it has built.

use std::path::{Path, PathBuf};

use serde_json::Value;

/// Path of a test program, and the folder of its package.
pub fn test_program(message: &Value) -> Option<(PathBuf, PathBuf)> {
    let is_test = message["profile"]["test"] == true;
    let path = message["executable"].as_str().filter(|_| is_test)?;
    let folder = Path::new(message["manifest_path"].as_str()?).parent()?;
    Some((path.into(), folder.into()))
}
