//! What became of a mutant, and how that was found.

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

impl How {
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
