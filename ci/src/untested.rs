//! Finds tests that never run: unit tests of a library that has `test = false` in its manifest.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;

/// Files with tests in the source folder of such a library, and the line of the first one.
pub fn find(root: &Path, files: &[PathBuf]) -> anyhow::Result<Vec<(PathBuf, usize)>> {
    let mut found = Vec::new();
    for file in files {
        let text = fs::read_to_string(root.join(file))
            .with_context(|| format!("cannot read {}", file.display()))?;
        let Some(line) = first_test(&text) else {
            continue;
        };
        if manifest_of(root, file).is_some_and(|manifest| has_no_unit_tests(&manifest)) {
            found.push((file.clone(), line));
        }
    }
    Ok(found)
}

/// The manifest of the package in whose `src` a file lies.
fn manifest_of(root: &Path, file: &Path) -> Option<String> {
    let source = file.ancestors().find(|path| path.ends_with("src"))?;
    fs::read_to_string(root.join(source).with_file_name("Cargo.toml")).ok()
}

fn has_no_unit_tests(manifest: &str) -> bool {
    let lines = manifest.lines().skip_while(|line| *line != "[lib]").skip(1);
    let mut section = lines.take_while(|line| !line.starts_with('['));
    section.any(|line| line.replace(' ', "") == "test=false")
}

/// Line of the first test, from 1.
fn first_test(text: &str) -> Option<usize> {
    let line = text.lines().position(|line| line.trim() == "#[test]")?;
    Some(line + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_section_of_the_library_counts() {
        assert!(has_no_unit_tests(
            "[package]\n\n[lib]\ndoctest = false\ntest = false\n"
        ));
        assert!(!has_no_unit_tests("[lib]\n\n[[bin]]\ntest = false\n"));
        assert!(!has_no_unit_tests("[package]\n"));
    }

    #[test]
    fn a_test_is_found_in_such_a_library_and_nowhere_else() {
        let root = std::env::temp_dir().join(format!("zeronic-untested-{}", std::process::id()));
        for (package, library) in [("a", "[lib]\ntest = false\n"), ("b", "[lib]\n")] {
            for folder in ["src/deep", "tests"] {
                let folder = root.join(package).join(folder);
                fs::create_dir_all(&folder).expect("a folder");
                fs::write(folder.join("it.rs"), "//! H\n\n#[test]\nfn f() {}\n").expect("a file");
            }
            fs::write(root.join(package).join("Cargo.toml"), library).expect("a file");
        }
        let files = crate::walk::rust_files(&root).expect("the folder is readable");
        assert_eq!(files.len(), 4);
        let found = find(&root, &files).expect("the files are readable");
        fs::remove_dir_all(&root).expect("a folder");
        assert_eq!(found, [(PathBuf::from("a/src/deep/it.rs"), 3)]);
    }
}
