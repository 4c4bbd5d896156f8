//! Which mutants are judged.
//!
//! ```text
//!   files of the tree ──► those wanted ──► all their mutants ──► a sample, by seed
//! ```
//! One seed and one tree give one sample.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{bail, Context};
use rand::rngs::StdRng;
use rand::seq::index;
use rand::SeedableRng;

use super::by_hand;
use super::generate;
use super::mutant::Mutant;
use super::suites;

/// All mutants of `files`, in the order of the files.
pub fn all(root: &Path, files: &[PathBuf]) -> anyhow::Result<Vec<Mutant>> {
    let mut mutants = Vec::new();
    for file in files {
        let text = fs::read_to_string(root.join(file))
            .with_context(|| format!("cannot read {}", file.display()))?;
        mutants.extend(generate::mutants(file, &text, suites::has_contract(file))?);
        mutants.extend(by_hand::mutants(file, &text));
    }
    Ok(mutants)
}

/// The files that tests can judge.
pub fn judged_files(root: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = sources::files(root, ".rs")?;
    files.retain(|file| suites::of(file).is_some());
    Ok(files)
}

/// Of `files`, those that lie in the folder of the package `name`.
pub fn of_package(root: &Path, files: Vec<PathBuf>, name: &str) -> anyhow::Result<Vec<PathBuf>> {
    let is_of = |file: &PathBuf| package_of(root, file).as_deref() == Some(name);
    let files: Vec<PathBuf> = files.into_iter().filter(is_of).collect();
    match files.is_empty() {
        true => bail!("no file of a package `{name}` that tests can judge"),
        false => Ok(files),
    }
}

/// The name of the package that a file belongs to.
fn package_of(root: &Path, file: &Path) -> Option<String> {
    let manifest = |folder: &Path| fs::read_to_string(root.join(folder).join("Cargo.toml")).ok();
    let text = file.ancestors().skip(1).find_map(manifest)?;
    let name = text.lines().find_map(|line| line.strip_prefix("name = \""))?;
    name.strip_suffix('"').map(str::to_owned)
}

/// Of `mutants`, those in the `wanted` places: the end of a file's path, with `:LINE` for one line.
/// Each place must have some.
pub fn of_places(mutants: Vec<Mutant>, wanted: &[String]) -> anyhow::Result<Vec<Mutant>> {
    let is_in = |mutant: &Mutant, place: &String| {
        let (name, line) = match place.rsplit_once(':') {
            Some((name, line)) => (name, line.parse().ok()),
            None => (place.as_str(), None),
        };
        mutant.file.ends_with(name) && line.is_none_or(|line: usize| line == mutant.line)
    };
    for place in wanted {
        if !mutants.iter().any(|mutant| is_in(mutant, place)) {
            bail!("no mutant in `{place}` that tests can judge");
        }
    }
    let is_wanted = |mutant: &Mutant| wanted.iter().any(|place| is_in(mutant, place));
    Ok(mutants.into_iter().filter(is_wanted).collect())
}

/// Of `files`, those that differ from a revision.
pub fn changed_since(
    root: &Path,
    files: Vec<PathBuf>,
    revision: &str,
) -> anyhow::Result<Vec<PathBuf>> {
    let base = git(root, &["merge-base", revision, "HEAD"])?;
    let mut changed = git(root, &["diff", "--name-only", base.trim()])?;
    changed += &git(root, &["ls-files", "--others", "--exclude-standard"])?;
    let changed: Vec<&Path> = changed.lines().map(Path::new).collect();
    Ok(files.into_iter().filter(|file| changed.contains(&file.as_path())).collect())
}

/// The commit that the tree is equal to, if it is to one.
pub fn commit(root: &Path) -> anyhow::Result<Option<String>> {
    let changes = git(root, &["status", "--porcelain"])?;
    let head = git(root, &["rev-parse", "HEAD"])?;
    Ok(changes.is_empty().then(|| head.trim().to_owned()))
}

/// What git answers.
pub fn git(root: &Path, arguments: &[&str]) -> anyhow::Result<String> {
    let mut command = Command::new("git");
    let output = command.args(arguments).current_dir(root).output().context("cannot run git")?;
    if !output.status.success() {
        let error = String::from_utf8_lossy(&output.stderr);
        bail!("git {}: {}", arguments.join(" "), error.trim());
    }
    String::from_utf8(output.stdout).context("git answers in another encoding")
}

/// `count` of the mutants, or all of them, in their order.
pub fn sample(mutants: Vec<Mutant>, count: Option<usize>, seed: u64) -> Vec<Mutant> {
    let Some(count) = count.filter(|count| *count < mutants.len()) else { return mutants };
    let mut random = StdRng::seed_from_u64(seed);
    let mut chosen = index::sample(&mut random, mutants.len(), count).into_vec();
    chosen.sort_unstable();
    chosen.into_iter().map(|at| mutants[at].clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutants::equivalents;

    fn mutants(count: usize) -> Vec<Mutant> {
        let text = "1 ".repeat(count);
        let mutant = |at| {
            let bytes = 2 * at..2 * at + 1;
            Mutant::new("a.rs".into(), &text, bytes, "2".into()).expect("one line")
        };
        (0..count).map(mutant).collect()
    }

    #[test]
    fn a_seed_gives_one_sample() {
        let sampled = |seed| sample(mutants(100), Some(10), seed);
        assert_eq!(sampled(1), sampled(1));
        assert_ne!(sampled(1), sampled(2));
        let columns: Vec<usize> = sampled(1).iter().map(|mutant| mutant.column).collect();
        assert!(columns.is_sorted() && columns.len() == 10, "{columns:?}");
        assert_eq!(sample(mutants(3), Some(10), 1), mutants(3));
    }

    #[test]
    fn files_are_found_by_package() {
        let root = crate::walk::workspace();
        let files = judged_files(root).expect("the workspace is readable");
        let golden = of_package(root, files.clone(), "zeronic-golden").expect("there are some");
        assert!(golden.iter().all(|file| file.starts_with("sim/golden/src")));
        assert!(golden.len() > 3, "{golden:?}");
        assert!(of_package(root, files, "none").is_err());
    }

    #[test]
    fn mutants_are_found_by_line() {
        let found = |wanted: &str| {
            let found = of_places(mutants(3), &[wanted.to_owned()]);
            found.map(|found| found.len()).ok()
        };
        assert_eq!(found("a.rs"), Some(3));
        assert_eq!(found("a.rs:1"), Some(3));
        assert_eq!(found("a.rs:2"), None);
        assert_eq!(found("b.rs"), None);
    }

    /// Every file of the workspace has mutants that can be made, and every listed one exists.
    #[test]
    fn listed_equivalents_are_workspace_mutants() {
        let root = crate::walk::workspace();
        let files = judged_files(root).expect("the workspace is readable");
        let mutants = all(root, &files).expect("all files are Rust");
        assert!(mutants.len() > 10_000, "{} mutants", mutants.len());
        let document = fs::read_to_string(root.join(equivalents::FILE)).expect("it is readable");
        let entries = equivalents::parse(&document).expect("a list");
        assert_eq!(equivalents::stale(&entries, &mutants), Vec::<String>::new());
    }
}
