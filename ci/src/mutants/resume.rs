//! Verdicts of an earlier run, so that a long sample can be interrupted.
//!
//! ```text
//!   file of JSON ──► this commit's ───────────────────────────────► taken over
//!                └─► an earlier one's ─ killed, the code unchanged ─► taken over, if wanted
//! ```
//! A verdict holds for one commit: any change may let a test fail, or pass. Kills usually survive
//! later commits, because tests are rarely removed: they are taken over while the file is the
//! same. Mutants that survived are judged again.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::Deserialize;
use sources::Source;

use super::draw::git;
use super::mutant::Mutant;
use super::verdict::{How, Judged, Verdict};

/// What a report's file holds of one mutant.
#[derive(Clone, Debug, Deserialize)]
struct Row {
    file: PathBuf,
    line: usize,
    column: usize,
    before: String,
    after: String,
    verdict: String,
    judged: String,
    commit: Option<String>,
    #[serde(default)]
    suite: String,
    #[serde(default)]
    test: String,
}

#[derive(Debug, Deserialize)]
struct Rows {
    mutants: Vec<Row>,
}

/// The verdicts of a file. See the head of this file.
#[derive(Default)]
pub struct Known {
    root: PathBuf,
    /// What the tree is; `None` if it differs from every commit: nothing is known of it.
    commit: Option<String>,
    has_earlier_kills: bool,
    rows: Vec<Row>,
    taken: usize,
    /// Whether a file's code is that of a commit.
    unchanged: BTreeMap<(String, PathBuf), bool>,
}

impl Known {
    /// Those of `file`, for the tree at `root`, which is `commit`. None where there is no file.
    pub fn read(
        root: &Path,
        file: &Path,
        has_earlier_kills: bool,
        commit: Option<&str>,
    ) -> anyhow::Result<Self> {
        let rows = match file.exists() {
            true => fs::read_to_string(file)
                .map_err(anyhow::Error::from)
                .and_then(|text| parse(&text))
                .with_context(|| format!("reading {}", file.display()))?,
            false => Vec::new(),
        };
        if commit.is_none() {
            println!("== the tree differs from its commit: none of its verdicts is taken over");
        }
        Ok(Self {
            root: root.to_owned(),
            commit: commit.map(str::to_owned),
            has_earlier_kills,
            rows,
            taken: 0,
            unchanged: BTreeMap::new(),
        })
    }

    /// How many verdicts were taken over.
    pub fn taken_count(&self) -> usize {
        self.taken
    }

    /// The verdict on a mutant, if there is one that holds.
    pub fn take(&mut self, mutant: &Mutant) -> anyhow::Result<Option<Judged>> {
        let Some(row) = self.rows.iter().find(|row| row.is_of(mutant)).cloned() else {
            return Ok(None);
        };
        let Some(judged) = row.judge_row(mutant) else { return Ok(None) };
        let (Some(then), Some(now)) = (&judged.commit, &self.commit) else { return Ok(None) };
        let is_kill = matches!(judged.verdict, Verdict::Killed { .. });
        let holds = then == now
            || self.has_earlier_kills && is_kill && self.is_unchanged(then, &mutant.file)?;
        self.taken += usize::from(holds);
        Ok(holds.then_some(judged))
    }

    /// Whether a mutant survived, at whatever commit.
    pub fn has_survived(&self, mutant: &Mutant) -> bool {
        let mut rows = self.rows.iter();
        rows.any(|row| row.verdict == Verdict::Survived.words() && row.is_of(mutant))
    }

    /// Whether the code of a file is what it was at a commit. A commit that is gone has none.
    fn is_unchanged(&mut self, commit: &str, file: &Path) -> anyhow::Result<bool> {
        let key = (commit.to_owned(), file.to_owned());
        if let Some(known) = self.unchanged.get(&key) {
            return Ok(*known);
        }
        let now = fs::read_to_string(self.root.join(file))?;
        let name = format!("{commit}:{}", file.display());
        let is_unchanged =
            git(&self.root, &["show", &name]).is_ok_and(|then| code(&then) == code(&now));
        self.unchanged.insert(key, is_unchanged);
        Ok(is_unchanged)
    }
}

fn parse(text: &str) -> anyhow::Result<Vec<Row>> {
    Ok(serde_json::from_str::<Rows>(text)?.mutants)
}

/// The lines of a text outside its tests; all lines of what is no Rust.
fn code(text: &str) -> Vec<String> {
    let Ok(source) = Source::new(text) else { return text.lines().map(str::to_owned).collect() };
    let lines = source.text.iter().zip(source.test_lines());
    let code = lines.filter(|(_, is_test)| !is_test);
    code.map(|(line, _)| line.clone()).collect()
}

impl Row {
    fn is_of(&self, mutant: &Mutant) -> bool {
        self.file == mutant.file
            && (self.line, self.column) == (mutant.line, mutant.column)
            && self.before == mutant.before
            && self.after == mutant.after
    }

    /// The verdict of tests or of the compiler, if it is one.
    fn judge_row(&self, mutant: &Mutant) -> Option<Judged> {
        let killed = Verdict::Killed { suite: self.suite.clone(), test: self.test.clone() };
        let all = [killed, Verdict::Survived, Verdict::DoesNotBuild];
        Some(Judged {
            mutant: mutant.clone(),
            verdict: all.into_iter().find(|it| it.words() == self.verdict)?,
            how: How::from_words(&self.judged)?,
            commit: self.commit.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::report::MutantReport;
    use super::*;

    fn mutant(file: &str, text: &str) -> Mutant {
        let at = text.find('<').expect("it is there");
        Mutant::new(file.into(), text, at..at + 1, "<=".into()).expect("one line")
    }

    fn killed() -> Verdict {
        Verdict::Killed { suite: "host --lib".into(), test: "a::b".into() }
    }

    fn judged(mutant: Mutant, verdict: Verdict, commit: Option<&str>) -> Judged {
        Judged { mutant, verdict, how: How::Switch, commit: commit.map(str::to_owned) }
    }

    /// What is known at `commit` of verdicts that a report wrote.
    fn known_verdicts(judged: &[Judged], commit: Option<&str>, has_earlier_kills: bool) -> Known {
        let report = MutantReport { judged: judged.to_vec(), drawn: judged.len() };
        Known {
            root: crate::walk::workspace().into(),
            commit: commit.map(str::to_owned),
            has_earlier_kills,
            rows: parse(&report.json(1).to_string()).expect("a report"),
            taken: 0,
            unchanged: BTreeMap::new(),
        }
    }

    #[test]
    fn verdict_of_same_commit_is_reused() {
        for verdict in [killed(), Verdict::Survived, Verdict::DoesNotBuild] {
            let one = judged(mutant("a.rs", "a < b"), verdict, Some("c1"));
            let mut known = known_verdicts(std::slice::from_ref(&one), Some("c1"), false);
            let taken = known.take(&one.mutant).expect("readable");
            assert_eq!((taken, known.taken_count()), (Some(one), 1));
        }
    }

    #[test]
    fn mutants_unjudged_by_tests_are_judged() {
        for verdict in [Verdict::OutOfTime, Verdict::Equivalent] {
            let one = judged(mutant("a.rs", "a < b"), verdict, Some("c1"));
            let mut known = known_verdicts(std::slice::from_ref(&one), Some("c1"), false);
            assert_eq!(known.take(&one.mutant).expect("readable"), None);
        }
    }

    #[test]
    fn another_mutant_is_judged() {
        let one = judged(mutant("a.rs", "a < b"), killed(), Some("c1"));
        let mut known = known_verdicts(&[one], Some("c1"), false);
        for other in [
            mutant("b.rs", "a < b"),
            mutant("a.rs", "a < c"),
            mutant("a.rs", "\na < b"),
            mutant("a.rs", " a < b"),
        ] {
            assert_eq!(known.take(&other).expect("readable"), None, "{other}");
        }
    }

    #[test]
    fn tree_without_commit_knows_nothing() {
        let one = judged(mutant("a.rs", "a < b"), killed(), Some("c1"));
        let taken = known_verdicts(std::slice::from_ref(&one), None, true).take(&one.mutant);
        assert_eq!(taken.expect("readable"), None);
        let one = judged(one.mutant, killed(), None);
        let taken = known_verdicts(std::slice::from_ref(&one), Some("c1"), true).take(&one.mutant);
        assert_eq!(taken.expect("readable"), None);
    }

    #[test]
    fn earlier_commit_gives_only_kills_on_request() {
        let file = "ci/src/main.rs";
        for (verdict, is_asked, is_unchanged, is_taken) in [
            (killed(), true, true, true),
            (killed(), true, false, false),
            (killed(), false, true, false),
            (Verdict::Survived, true, true, false),
        ] {
            let one = judged(mutant(file, "a < b"), verdict, Some("c1"));
            let mut known = known_verdicts(std::slice::from_ref(&one), Some("c2"), is_asked);
            let key = ("c1".to_owned(), PathBuf::from(file));
            known.unchanged.insert(key, is_unchanged);
            let taken = known.take(&one.mutant).expect("readable");
            let survived = one.verdict == Verdict::Survived;
            assert_eq!(known.has_survived(&one.mutant), survived);
            assert_eq!(taken, is_taken.then_some(one));
        }
    }

    #[test]
    fn file_is_compared_without_its_tests() {
        let text = "fn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}\n";
        assert_eq!(code(text), code("fn a() {}\n"));
        assert_ne!(code(text), code("fn b() {}\n"));
        let mut known = known_verdicts(&[], Some("c2"), true);
        let file = Path::new("ci/src/main.rs");
        let is_unchanged = known.is_unchanged("no-such-commit", file);
        assert!(!is_unchanged.expect("the file is readable"));
    }
}
