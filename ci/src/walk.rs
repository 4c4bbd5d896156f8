//! Finds the files of the workspace.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;

/// The folder of the workspace.
pub fn workspace() -> &'static Path {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().expect("this package lies in a folder of the workspace")
}

/// All Rust files below `root`, relative to it, sorted; build results and hidden folders apart.
pub fn rust_files(root: &Path) -> anyhow::Result<Vec<PathBuf>> {
    files(root, ".rs")
}

/// All Markdown files, likewise.
pub fn documents(root: &Path) -> anyhow::Result<Vec<PathBuf>> {
    files(root, ".md")
}

fn files(root: &Path, ending: &str) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let entries =
            fs::read_dir(&folder).with_context(|| format!("cannot list {}", folder.display()))?;
        for entry in entries {
            let path = entry.context("cannot list a folder")?.path();
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
    fn finds_this_file_and_no_build_result() {
        let files = rust_files(workspace()).expect("the workspace is readable");
        assert!(files.contains(&PathBuf::from("ci/src/walk.rs")));
        assert!(files.iter().all(|path| !path.starts_with("target")));
    }
}
