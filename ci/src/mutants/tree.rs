//! A copy of the tree in which mutants are applied, with build results of its own.
//!
//! ```text
//!   the tree ── what git would add ──► target/mutants/tree      mutants in it
//!   target/debug, .cache ── once ────► target/mutants/{build,cache}
//! ```
//! The copy begins with what was built for the tree, and with the times of its files: cargo builds
//! what mutants change, and what depends on it. Of the build results, those that a compiler only
//! replaces as a whole are links, which take no space.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::draw::git;
use super::mutant::Mutant;
use super::plant::{self, Planted};

/// The copy. See the head of this file.
pub struct Tree {
    /// The folder of the copy.
    pub root: PathBuf,
    /// Its build results.
    pub build: PathBuf,
    /// Its compiled designs.
    pub cache: PathBuf,
    /// The sources without mutants, as they were when the copy was made.
    sources: BTreeMap<PathBuf, String>,
}

impl Tree {
    /// The copy in the folder `home` below `target`. Makes it equal to the tree at `original`, and
    /// keeps what was built there. Sources are written by [`Tree::fill`].
    pub fn of(original: &Path, home: &str) -> anyhow::Result<Self> {
        let home = original.join("target").join(home);
        let mut tree = Self {
            root: home.join("tree"),
            build: home.join("build"),
            cache: home.join("cache"),
            sources: BTreeMap::new(),
        };
        fs::create_dir_all(&tree.root).context("cannot make the copy")?;
        tree.follow(original)?;
        tree.seed(original)?;
        Ok(tree)
    }

    /// Brings every file up to date; one that has not changed is not touched, so that nothing is
    /// built again for it. A new one has the time of the original: what was built is of that.
    /// Sources that are there already are left to [`Tree::fill`].
    fn follow(&mut self, original: &Path) -> anyhow::Result<()> {
        let list = git(original, &["ls-files", "-z", "-c", "-o", "--exclude-standard"])?;
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
            let is_source = name.ends_with(".rs");
            if !copy.exists() {
                copy.parent().map_or(Ok(()), fs::create_dir_all)?;
                copy_file(&original.join(name), &copy)
            } else if !is_source && fs::read(&copy)? != bytes {
                fs::write(&copy, &bytes)
            } else {
                Ok(())
            }
            .with_context(|| format!("copying {name}"))?;
            if is_source {
                let text = String::from_utf8_lossy(&bytes).into_owned();
                self.sources.insert(name.into(), text);
            }
        }
        let names: Vec<&str> = files.into_iter().collect();
        fs::write(known, names.join("\n")).context("cannot note the files of the copy")
    }

    /// Takes over what was built for the tree: programs and libraries, compiled designs.
    fn seed(&self, original: &Path) -> anyhow::Result<()> {
        if !self.build.exists() {
            let (from, debug) = (original.join("target/debug"), self.build.join("debug"));
            for folder in ["deps", "build", ".fingerprint"] {
                let copy = copy_folder(&from.join(folder), &debug.join(folder), folder == "deps");
                copy.context("copying builds")?;
            }
        }
        let cache = std::env::var_os("ZERONIC_CACHE").map(PathBuf::from);
        let cache = cache.unwrap_or_else(|| original.join(".cache"));
        copy_folder(&cache, &self.cache, true).context("copying compiled designs")
    }

    /// The text of a file without mutants.
    pub fn original(&self, file: &Path) -> anyhow::Result<String> {
        let text = self.sources.get(file).cloned();
        text.with_context(|| format!("{} is not in the copy", file.display()))
    }

    /// The root of the crate that a file belongs to.
    pub fn crate_root(&self, file: &Path) -> anyhow::Result<PathBuf> {
        let root = |folder: &Path| {
            let names = ["src/lib.rs", "src/main.rs"];
            let mut roots = names.iter().map(|name| folder.join(name));
            roots.find(|root| self.sources.contains_key(root))
        };
        let root = file.ancestors().skip(1).find_map(root);
        root.with_context(|| format!("{} has no crate", file.display()))
    }

    /// The mutants of a sample for which a switch can stand, by its number: their place, from 1.
    pub fn switched(&self, sample: &[Mutant]) -> anyhow::Result<BTreeMap<u32, Mutant>> {
        let mut switched = BTreeMap::new();
        for (mutant, switch) in sample.iter().zip(1..) {
            if plant::has_switch(&self.original(&mutant.file)?, mutant) {
                switched.insert(switch, mutant.clone());
            }
        }
        Ok(switched)
    }

    /// Writes those sources that are not as they should be: as `planted`, otherwise as they are in
    /// the tree.
    pub fn fill(&self, planted: &BTreeMap<PathBuf, Planted>) -> anyhow::Result<()> {
        for (file, text) in &self.sources {
            let planted = planted.get(file).map(|planted| &planted.text);
            self.write(file, planted.unwrap_or(text))?;
        }
        Ok(())
    }

    /// Writes a file of the copy, unless that is its text.
    pub fn write(&self, file: &Path, text: &str) -> anyhow::Result<()> {
        let path = self.root.join(file);
        if fs::read_to_string(&path).is_ok_and(|known| known == text) {
            return Ok(());
        }
        fs::write(&path, text).with_context(|| format!("cannot change {}", path.display()))
    }
}

/// Copies a folder without what is there already. With `is_built`, what a compiler only replaces
/// as a whole becomes a link; notes on dependencies, which it rewrites, do not.
fn copy_folder(from: &Path, to: &Path, is_built: bool) -> io::Result<()> {
    if !from.is_dir() {
        return Ok(());
    }
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (path, copy) = (entry.path(), to.join(entry.file_name()));
        if entry.file_type()?.is_dir() {
            copy_folder(&path, &copy, is_built)?;
        } else if !copy.exists() {
            let is_note = path.extension().is_some_and(|end| end == "d");
            let can_link = is_built && !is_note;
            if !can_link || fs::hard_link(&path, &copy).is_err() {
                copy_file(&path, &copy)?;
            }
        }
    }
    Ok(())
}

/// Copies a file with its time: cargo compares them.
fn copy_file(from: &Path, to: &Path) -> io::Result<()> {
    let time = fs::metadata(from)?.modified()?;
    fs::copy(from, to)?;
    fs::File::options().append(true).open(to)?.set_modified(time)
}
