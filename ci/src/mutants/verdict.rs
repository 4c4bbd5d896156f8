//! What became of a mutant, and how that was found.

use super::mutant::Mutant;

/// What became of a mutant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// A test failed, or hung: its suite, and its name where one is known.
    Killed {
        /// The suite.
        suite: String,
        /// The test, or what else happened.
        test: String,
    },
    /// All tests passed.
    Survived,
    /// It is listed as equivalent.
    Equivalent,
    /// The compiler, or a build script, refuses it.
    DoesNotBuild,
    /// The time of the whole run was over before its tests had ended.
    OutOfTime,
}

/// How a mutant was judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// In programs that hold many, behind a switch.
    Switch,
    /// So as well, but no test uses its code.
    Unused,
    /// Built alone.
    Alone,
    /// Not by tests: it is listed.
    List,
}

impl Verdict {
    /// In a word or three, for a report.
    pub fn words(&self) -> &'static str {
        match self {
            Verdict::Killed { .. } => "killed",
            Verdict::Survived => "survived",
            Verdict::Equivalent => "equivalent",
            Verdict::DoesNotBuild => "does not build",
            Verdict::OutOfTime => "not judged",
        }
    }
}

impl How {
    const ALL: [How; 4] = [How::Switch, How::Unused, How::Alone, How::List];

    /// The one with these words.
    pub fn from_words(words: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|how| how.words() == words)
    }

    /// In words, for a report.
    pub fn words(self) -> &'static str {
        match self {
            How::Switch => "by a switch",
            How::Unused => "by a switch, no test uses its code",
            How::Alone => "built alone",
            How::List => "listed",
        }
    }
}

/// A mutant with its verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    /// The mutant.
    pub mutant: Mutant,
    /// What became of it.
    pub verdict: Verdict,
    /// How that was found.
    pub how: How,
    /// The commit at which it was judged; `None` if the tree differed from each.
    pub commit: Option<String>,
}
