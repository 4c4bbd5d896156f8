//! Mutants that no test can kill, with the reason, as `docs/mutants.md` lists them.
//!
//! ````text
//! ```toml
//! [[equivalent]]
//! file = "host/src/a.rs"
//! before = "if a <= b {"
//! after = "if a < b {"
//! reason = "..."
//! ```
//! ````
//! An entry names its line by text, so that it stays right when the line moves. One that fits no
//! mutant is an error: its line has changed, and with it perhaps the reason.

use std::path::PathBuf;

use anyhow::{bail, Context};
use serde::Deserialize;

use super::mutant::Mutant;

/// Where they are listed, relative to the workspace.
pub const FILE: &str = "docs/mutants.md";

/// One entry.
#[derive(Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Equivalent {
    /// The file, relative to the workspace.
    pub file: PathBuf,
    /// The line as it is, without the blanks around it.
    pub before: String,
    /// The line with the fault.
    pub after: String,
    /// Why no behaviour changes.
    pub reason: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    #[serde(default)]
    equivalent: Vec<Equivalent>,
}

/// The entries in the blocks of TOML of a document.
pub fn parse(document: &str) -> anyhow::Result<Vec<Equivalent>> {
    let mut text = String::new();
    let mut is_inside = false;
    for line in document.lines() {
        match (is_inside, line) {
            (false, "```toml") => is_inside = true,
            (true, "```") => is_inside = false,
            (true, _) => text += &format!("{line}\n"),
            _ => {}
        }
    }
    let list: List = toml::from_str(&text).with_context(|| format!("{FILE} is no list"))?;
    if let Some(entry) = list.equivalent.iter().find(|it| it.reason.trim().is_empty()) {
        bail!("{FILE}: `{}` has no reason", entry.before);
    }
    Ok(list.equivalent)
}

impl Equivalent {
    /// Whether this entry is of a mutant.
    pub fn is_of(&self, mutant: &Mutant) -> bool {
        (&self.file, &self.before, &self.after) == (&mutant.file, &mutant.before, &mutant.after)
    }
}

/// The entries that fit none of `mutants`, as lines of an error.
pub fn stale(entries: &[Equivalent], mutants: &[Mutant]) -> Vec<String> {
    let fits = |entry: &&Equivalent| !mutants.iter().any(|mutant| entry.is_of(mutant));
    let line = |entry: &Equivalent| {
        let file = entry.file.display();
        format!("{file} has no mutant `{}` of `{}`", entry.after, entry.before)
    };
    entries.iter().filter(fits).map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str = "# Head\n```toml\n[[equivalent]]\nfile = \"a.rs\"\nbefore = \"a < b\"\n\
                            after = \"a <= b\"\nreason = \"never equal\"\n```\nmore\n";

    fn mutant(text: &str) -> Mutant {
        let at = text.find('<').expect("it is there");
        Mutant::new("a.rs".into(), text, at..at + 1, "<=".into()).expect("one line")
    }

    #[test]
    fn an_entry_follows_its_line() {
        let entries = parse(DOCUMENT).expect("a list");
        assert_eq!(entries.len(), 1);
        for text in ["a < b", "\n\n   a < b\n"] {
            assert_eq!(stale(&entries, &[mutant(text)]), Vec::<String>::new());
        }
    }

    #[test]
    fn entry_with_changed_line_is_stale() {
        let entries = parse(DOCUMENT).expect("a list");
        let stale = stale(&entries, &[mutant("a < c")]);
        assert_eq!(stale, ["a.rs has no mutant `a <= b` of `a < b`"]);
    }

    #[test]
    fn entry_without_reason_is_refused() {
        let document = DOCUMENT.replace("never equal", " ");
        assert!(parse(&document).expect_err("no reason").to_string().contains("no reason"));
    }
}
