//! Finds tests that never run: unit tests of a library that has `test = false` in its manifest.

use std::fs;
use std::path::Path;

use sources::Source;

/// Line of the first test in a file of such a library.
pub fn find(root: &Path, file: &Path, source: &Source) -> Option<usize> {
    let line = source.functions().iter().find(|it| it.is_test)?.lines.start + 1;
    let folder = file.ancestors().find(|path| path.ends_with("src"))?;
    let manifest = fs::read_to_string(root.join(folder).with_file_name("Cargo.toml")).ok()?;
    has_no_unit_tests(&manifest).then_some(line)
}

/// Whether a package's manifest says that its library has no unit tests.
pub fn has_no_unit_tests(manifest: &str) -> bool {
    let manifest = toml::from_str::<toml::Table>(manifest).ok();
    let test = manifest.as_ref().and_then(|it| it.get("lib")?.get("test"));
    test.and_then(toml::Value::as_bool) == Some(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_library_section_counts() {
        assert!(has_no_unit_tests("[package]\n\n[lib]\ndoctest = false\ntest = false\n"));
        assert!(!has_no_unit_tests("[lib]\n\n[[bin]]\ntest = false\n"));
        assert!(!has_no_unit_tests("[package]\n"));
    }

    #[test]
    fn tests_are_found_in_such_libraries_only() {
        let root = std::env::temp_dir().join(format!("zeronic-untested-{}", std::process::id()));
        for (package, library) in [("a", "[lib]\ntest = false\n"), ("b", "[lib]\n")] {
            for folder in ["src/deep", "tests"] {
                let folder = root.join(package).join(folder);
                fs::create_dir_all(&folder).expect("a folder");
                fs::write(folder.join("it.rs"), "//! H\n\n#[test]\nfn f() {}\n").expect("a file");
            }
            fs::write(root.join(package).join("Cargo.toml"), library).expect("a file");
        }
        let files = sources::files(&root, ".rs").expect("the folder is readable");
        assert_eq!(files.len(), 4);
        let found: Vec<_> = files
            .iter()
            .filter_map(|file| {
                let text = fs::read_to_string(root.join(file)).expect("the file is readable");
                let source = Source::new(&text).expect("Rust");
                Some((file.as_path(), find(&root, file, &source)?))
            })
            .collect();
        fs::remove_dir_all(&root).expect("a folder");
        assert_eq!(found, [(Path::new("a/src/deep/it.rs"), 4)]);
    }
}
