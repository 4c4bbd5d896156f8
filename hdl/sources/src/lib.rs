//! Rust sources as tokens and items, for tools that list, judge or document them.
//!
//! ```text
//!   text ─┬─> Source   lines without comments and literals, functions, tests     tokens
//!         └─> items    structs and enums: derives, documentation, fields         syntax tree
//!   folder ──> files   the Rust files below it
//! ```
//! Tokens also see what stands in a macro's braces; a syntax tree does not. Columns and lines are
//! those of the text.

pub mod item;
mod source;

use std::io;
use std::path::{Path, PathBuf};

pub use source::{Function, Source};

/// All files below `root` whose name ends so, relative to it, sorted; build results and hidden
/// folders apart.
///
/// # Errors
/// A folder that cannot be listed.
pub fn files(root: &Path, ending: &str) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder)? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() {
                if name != "target" && !name.starts_with('.') {
                    folders.push(path);
                }
            } else if name.ends_with(ending) {
                files.push(path.strip_prefix(root).unwrap_or(&path).to_path_buf());
            }
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_this_file_no_build_result() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let files = files(&root, ".rs").expect("the workspace is readable");
        assert!(files.contains(&PathBuf::from("hdl/sources/src/lib.rs")));
        assert!(files.iter().all(|path| !path.starts_with("target")));
    }
}
