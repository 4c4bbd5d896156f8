//! Verdicts: what was looked at, what was found, what to do.

use anyhow::Result;
use serde::Serialize;

use crate::shared::output::{print, ResultFile};
use crate::shared::table::table;

/// How something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// As it should be.
    Good,
    /// It works, and may be better or tell of a fault.
    Look,
    /// It does not work.
    Bad,
    /// It cannot be seen here.
    Unseen,
}

impl Verdict {
    fn name(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Look => "look",
            Self::Bad => "BAD",
            Self::Unseen => "not seen",
        }
    }

    /// Good where it holds, else this one.
    pub fn unless(self, holds: bool) -> Self {
        if holds {
            Self::Good
        } else {
            self
        }
    }
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    /// What.
    pub what: &'static str,
    /// How it is.
    pub verdict: Verdict,
    /// What was found.
    pub found: String,
    /// What to do; empty where it is good.
    pub advice: String,
}

impl Check {
    /// A check; where it is good, the advice is left out.
    pub fn new(
        what: &'static str,
        verdict: Verdict,
        found: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        let advice = if verdict == Verdict::Good { String::new() } else { advice.into() };
        Self { what, verdict, found: found.into(), advice }
    }
}

#[derive(Serialize)]
struct CheckResults<'a> {
    ok: bool,
    checks: &'a [Check],
}

/// Prints checks, and writes them; true where none is bad.
pub fn conclude(checks: &[Check], json: Option<ResultFile>) -> Result<bool> {
    let ok = checks.iter().all(|check| check.verdict != Verdict::Bad);
    if let Some(json) = json {
        json.write_json(&CheckResults { ok, checks })?;
    }
    let mut rows = table(&["check", "verdict", "found", "advice"]);
    for check in checks {
        rows.add_row([check.what, check.verdict.name(), &check.found, &check.advice]);
    }
    let count = |verdict| checks.iter().filter(|check| check.verdict == verdict).count();
    let [good, look, bad, unseen] =
        [Verdict::Good, Verdict::Look, Verdict::Bad, Verdict::Unseen].map(count);
    print(&format!("{rows}\n{good} good, {look} to look at, {bad} bad, {unseen} not seen\n"))?;
    Ok(ok)
}
