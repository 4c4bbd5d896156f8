//! A copy of the tree in which mutants are applied, with build results of its own.
//!
//! ```text
//!   the tree ── what git would add ──► target/mutants/tree      one mutant at a time
//!   target/debug, .cache ── once ────► target/mutants/{build,cache}
//! ```
//! Packages from the registry are the same in both trees, and are copied as built. The workspace's
//! own are built anew: they have the path of their tree inside.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::draw::git;
use super::mutant::Mutant;

/// The copy. See the head of this file.
pub struct Tree {
    /// The folder of the copy.
    pub root: PathBuf,
    /// Its build results.
    pub build: PathBuf,
    /// Its compiled designs.
    pub cache: PathBuf,
}

impl Tree {
    /// Makes the copy equal to the tree at `original`, and keeps what was built there.
    pub fn of(original: &Path) -> anyhow::Result<Self> {
        let home = original.join("target/mutants");
        let tree = Self {
            root: home.join("tree"),
            build: home.join("build"),
            cache: home.join("cache"),
        };
        fs::create_dir_all(&tree.root).context("cannot make the copy")?;
        tree.follow(original)?;
        tree.seed(original)?;
        Ok(tree)
    }

    /// Brings every file up to date; one that has not changed is not touched, so that nothing is
    /// built again for it.
    fn follow(&self, original: &Path) -> anyhow::Result<()> {
        let list = git(
            original,
            &["ls-files", "-z", "-c", "-o", "--exclude-standard"],
        )?;
        let mut files: BTreeSet<&str> = list.split('\0').filter(|name| !name.is_empty()).collect();
        files.retain(|name| original.join(name).is_file());
        let known = self.root.with_file_name("files");
        let before = fs::read_to_string(&known).unwrap_or_default();
        for gone in before.lines().filter(|name| !files.contains(name)) {
            // It may have gone already.
            let _ = fs::remove_file(self.root.join(gone));
        }
        for name in &files {
            let bytes = fs::read(original.join(name)).with_context(|| format!("reading {name}"))?;
            let copy = self.root.join(name);
            if fs::read(&copy).ok().as_ref() != Some(&bytes) {
                copy.parent().map_or(Ok(()), fs::create_dir_all)?;
                fs::write(&copy, bytes).with_context(|| format!("copying {name}"))?;
            }
        }
        let names: Vec<&str> = files.into_iter().collect();
        fs::write(known, names.join("\n")).context("cannot note the files of the copy")
    }

    /// Takes over what was built for the tree: packages from the registry, compiled designs.
    fn seed(&self, original: &Path) -> anyhow::Result<()> {
        if !self.build.exists() {
            let debug = self.build.join("debug");
            let own = own_packages(&self.root)?;
            let is_others = |name: &str| {
                let name = name.strip_prefix("lib").unwrap_or(name);
                let stem = name.rsplit_once('-').map_or(name, |(stem, _)| stem);
                !own.contains(&stem.replace('-', "_"))
            };
            for folder in ["deps", "build", ".fingerprint"] {
                let from = original.join("target/debug").join(folder);
                copy_folder(&from, &debug.join(folder), &is_others).context("copying builds")?;
            }
        }
        let cache = std::env::var_os("ZERONIC_CACHE").map(PathBuf::from);
        let cache = cache.unwrap_or_else(|| original.join(".cache"));
        copy_folder(&cache, &self.cache, &|_| true).context("copying compiled designs")
    }

    /// Applies a mutant. Returns the content of its file without it, for [`Tree::restore`].
    pub fn apply(&self, mutant: &Mutant) -> anyhow::Result<String> {
        let path = self.root.join(&mutant.file);
        let text = fs::read_to_string(&path).context("cannot read the copy")?;
        fs::write(&path, mutant.applied(&text)).context("cannot change the copy")?;
        Ok(text)
    }

    /// Takes a mutant away again.
    pub fn restore(&self, mutant: &Mutant, text: &str) -> anyhow::Result<()> {
        fs::write(self.root.join(&mutant.file), text).context("cannot restore the copy")
    }
}

/// Names, as crates, of what the workspace builds: packages and targets of their tests.
fn own_packages(root: &Path) -> anyhow::Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    for file in crate::walk::rust_files(root)? {
        let in_tests = file
            .parent()
            .is_some_and(|folder| folder.ends_with("tests"));
        let is_main = file.ends_with("main.rs");
        let of_target = match (in_tests, is_main) {
            (true, _) => file.file_stem(),
            (_, true) => file.parent().and_then(Path::file_name),
            _ => None,
        };
        names.extend(of_target.map(|name| name.to_string_lossy().replace('-', "_")));
    }
    for manifest in git(root, &["ls-files", "-c", "-o", "--", "*Cargo.toml"])?.lines() {
        let text = fs::read_to_string(root.join(manifest)).unwrap_or_default();
        let name = text.lines().find_map(|line| line.strip_prefix("name = \""));
        names.extend(name.map(|name| name.trim_end_matches('"').replace('-', "_")));
    }
    Ok(names)
}

/// Copies files that are not there yet, those of the first level if `is_wanted` says so, with
/// their times: cargo compares them.
fn copy_folder(from: &Path, to: &Path, is_wanted: &dyn Fn(&str) -> bool) -> io::Result<()> {
    if !from.is_dir() {
        return Ok(());
    }
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (path, copy) = (entry.path(), to.join(entry.file_name()));
        if !is_wanted(&entry.file_name().to_string_lossy()) {
            continue;
        }
        if entry.file_type()?.is_dir() {
            copy_folder(&path, &copy, &|_| true)?;
        } else if !copy.exists() {
            let time = entry.metadata()?.modified()?;
            fs::copy(&path, &copy)?;
            fs::File::options()
                .append(true)
                .open(&copy)?
                .set_modified(time)?;
        }
    }
    Ok(())
}
