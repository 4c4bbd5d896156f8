//! What is said of the mutants: a line for each, the score, a file of JSON.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{json, Value};

use super::verdict::{Judged, Verdict};

/// The verdicts so far.
#[derive(Debug, Default)]
pub struct MutantReport {
    /// Mutants with their verdicts, in the order in which they were judged.
    pub judged: Vec<Judged>,
    /// How many were drawn, with those for which no time was left.
    pub drawn: usize,
}

/// One mutant's line, and what it was if nothing killed it.
pub fn line(judged: &Judged) -> String {
    let Judged { mutant, verdict, how, .. } = judged;
    let place = format!("{}:{}:{}", mutant.file.display(), mutant.line, mutant.column);
    let how = how.words();
    match verdict {
        Verdict::Killed { suite, test } => format!("killed      {place}  {how}: {suite}: {test}"),
        Verdict::Equivalent => format!("equivalent  {place}"),
        Verdict::DoesNotBuild => format!("no build    {place}  {}", mutant.after),
        Verdict::OutOfTime => format!("not judged  {place}"),
        Verdict::Survived => format!("SURVIVED    {how}: {mutant}"),
    }
}

/// How far a run is: judged of drawn, and the time left, as words. `done` of them took `took`.
pub fn progress(report: &MutantReport, done: usize, took: Duration) -> String {
    let (judged, drawn) = (report.judged.len(), report.drawn);
    let left = took.as_secs_f64() / done.max(1) as f64 * (drawn - judged) as f64;
    format!("{judged}/{drawn}, about {:.0} min left", (left / 60.0).ceil())
}

impl MutantReport {
    /// How many have no verdict.
    fn unjudged_count(&self) -> usize {
        self.drawn - self.judged.len() + self.count("not judged")
    }

    fn count(&self, wanted: &str) -> usize {
        self.judged.iter().filter(|one| one.verdict.words() == wanted).count()
    }

    /// Percent killed of those that tests could judge; 100 where there were none.
    pub fn score(&self) -> f64 {
        let (killed, survived) = (self.count("killed"), self.count("survived"));
        match killed + survived {
            0 => 100.0,
            judged => 100.0 * killed as f64 / judged as f64,
        }
    }

    /// The score, one line for each package folder and one for all.
    pub fn summary(&self) -> String {
        let mut folders = BTreeMap::<String, [usize; 4]>::new();
        for Judged { mutant, verdict, .. } in &self.judged {
            let name = mutant.file.display().to_string();
            let folder = name.split("/src/").next().unwrap_or(&name).to_owned();
            let [drawn, killed, survived, equivalent] = folders.entry(folder).or_default();
            *drawn += 1;
            *killed += usize::from(matches!(verdict, Verdict::Killed { .. }));
            *survived += usize::from(*verdict == Verdict::Survived);
            *equivalent += usize::from(*verdict == Verdict::Equivalent);
        }
        let mut text = String::new();
        for (folder, [drawn, killed, survived, equivalent]) in folders {
            text += &format!(
                "   {folder}: {killed} of {} killed; {equivalent} of {drawn} equivalent\n",
                killed + survived
            );
        }
        let left = match self.unjudged_count() {
            0 => String::new(),
            left => format!(", {left} not judged for want of time"),
        };
        text + &format!(
            "== {} mutants: {} killed, {} survived, {} equivalent, {} do not build{left}: \
             {:.1} % killed\n",
            self.drawn,
            self.count("killed"),
            self.count("survived"),
            self.count("equivalent"),
            self.count("does not build"),
            self.score()
        )
    }

    /// Everything, for other programs.
    pub fn json(&self, seed: u64) -> Value {
        let mutant = |one: &Judged| {
            let Judged { mutant, verdict, .. } = one;
            let mut value = json!({
                "file": mutant.file,
                "line": mutant.line,
                "column": mutant.column,
                "before": mutant.before,
                "after": mutant.after,
                "verdict": verdict.words(),
                "judged": one.how.words(),
                "commit": one.commit,
            });
            if let Verdict::Killed { suite, test } = verdict {
                value["suite"] = json!(suite);
                value["test"] = json!(test);
            }
            value
        };
        json!({
            "seed": seed,
            "killed": self.count("killed"),
            "survived": self.count("survived"),
            "equivalent": self.count("equivalent"),
            "does_not_build": self.count("does not build"),
            "not_judged": self.unjudged_count(),
            "killed_percent": self.score(),
            "mutants": self.judged.iter().map(mutant).collect::<Vec<_>>(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::mutant::Mutant;
    use super::super::verdict::How;
    use super::*;

    fn report() -> MutantReport {
        let mutant = |file: &str| Mutant::new(file.into(), "a < b", 2..3, "<=".into());
        let killed = Verdict::Killed { suite: "host --lib".into(), test: "t".into() };
        let verdicts = [
            ("host/src/a.rs", killed.clone()),
            ("host/src/b.rs", Verdict::Survived),
            ("hdl/ip/src/c.rs", killed),
            ("hdl/ip/src/d.rs", Verdict::Equivalent),
            ("hdl/ip/src/e.rs", Verdict::DoesNotBuild),
        ];
        let judged = verdicts.into_iter().map(|(file, verdict)| {
            let mutant = mutant(file).expect("one line");
            let (how, commit) = (How::Switch, Some("c0ffee".into()));
            Judged { mutant, verdict, how, commit }
        });
        MutantReport { judged: judged.collect(), drawn: 6 }
    }

    #[test]
    fn score_counts_judged_mutants_only() {
        let text = report().summary();
        assert!(text.contains("host: 1 of 2 killed; 0 of 2 equivalent\n"), "{text}");
        assert!(text.contains("hdl/ip: 1 of 1 killed; 1 of 3 equivalent\n"), "{text}");
        let last = "== 6 mutants: 2 killed, 1 survived, 1 equivalent, 1 do not build, \
                    1 not judged for want of time: 66.7 % killed\n";
        assert!(text.ends_with(last), "{text}");
        assert_eq!(MutantReport::default().score(), 100.0);
    }

    #[test]
    fn the_file_has_every_mutant() {
        let json = report().json(7);
        assert_eq!(json["seed"], 7);
        assert_eq!(json["mutants"].as_array().map(Vec::len), Some(5));
        assert_eq!(json["mutants"][0]["test"], "t");
        assert_eq!(json["mutants"][1]["verdict"], "survived");
        assert_eq!(json["mutants"][0]["commit"], "c0ffee");
        assert_eq!(json["not_judged"], 1);
    }

    #[test]
    fn time_left_follows_the_mean() {
        let said =
            |done, minutes: u64| progress(&report(), done, Duration::from_secs(60 * minutes));
        assert_eq!(said(5, 10), "5/6, about 2 min left");
        assert_eq!(said(1, 10), "5/6, about 10 min left");
        assert_eq!(said(0, 0), "5/6, about 0 min left");
    }
}
