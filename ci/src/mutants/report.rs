//! What is said of the mutants: a line for each, the score, a file of JSON.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{json, Value};

use super::mutant::Mutant;
use super::verdict::{How, Verdict};

/// The verdicts so far.
#[derive(Debug, Default)]
pub struct Report {
    /// Mutants with their verdicts, in the order in which they were judged.
    pub judged: Vec<(Mutant, Verdict, How)>,
    /// Mutants drawn, for which no time was left.
    pub left: usize,
}

fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Killed { .. } => "killed",
        Verdict::Survived => "survived",
        Verdict::Equivalent => "equivalent",
        Verdict::DoesNotBuild => "does not build",
        Verdict::OutOfTime => "not judged",
    }
}

/// One mutant's line, and what it was if nothing killed it.
pub fn line(mutant: &Mutant, verdict: &Verdict, how: How) -> String {
    let place = format!(
        "{}:{}:{}",
        mutant.file.display(),
        mutant.line,
        mutant.column
    );
    let how = how.words();
    match verdict {
        Verdict::Killed { suite, test } => format!("killed      {place}  {how}: {suite}: {test}"),
        Verdict::Equivalent => format!("equivalent  {place}"),
        Verdict::DoesNotBuild => format!("no build    {place}  {}", mutant.after),
        Verdict::OutOfTime => format!("not judged  {place}"),
        Verdict::Survived => format!("SURVIVED    {how}: {mutant}"),
    }
}

/// How far a run is: done of all, and the time left, as words.
pub fn progress(done: usize, all: usize, took: Duration) -> String {
    let left = took.as_secs_f64() / done.max(1) as f64 * (all - done) as f64;
    format!("{done}/{all}, about {:.0} min left", (left / 60.0).ceil())
}

impl Report {
    fn count(&self, wanted: &str) -> usize {
        self.judged
            .iter()
            .filter(|(_, verdict, _)| word(verdict) == wanted)
            .count()
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
        let mut folders = BTreeMap::<String, (usize, usize)>::new();
        for (mutant, verdict, _) in &self.judged {
            let name = mutant.file.display().to_string();
            let folder = name.split("/src/").next().unwrap_or(&name).to_owned();
            let counts = folders.entry(folder).or_default();
            counts.0 += usize::from(word(verdict) == "killed");
            counts.1 += usize::from(matches!(
                verdict,
                Verdict::Killed { .. } | Verdict::Survived
            ));
        }
        let mut text = String::new();
        for (folder, (killed, judged)) in folders {
            text += &format!("   {folder}: {killed} of {judged} killed\n");
        }
        let left = match self.left + self.count("not judged") {
            0 => String::new(),
            left => format!(", {left} not judged for want of time"),
        };
        text + &format!(
            "== {} mutants: {} killed, {} survived, {} equivalent, {} do not build{left}: \
             {:.1} % killed\n",
            self.judged.len() + self.left,
            self.count("killed"),
            self.count("survived"),
            self.count("equivalent"),
            self.count("does not build"),
            self.score()
        )
    }

    /// Everything, for other programs.
    pub fn json(&self, seed: u64) -> Value {
        let mutant = |(mutant, verdict, how): &(Mutant, Verdict, How)| {
            let mut value = json!({
                "file": mutant.file,
                "line": mutant.line,
                "column": mutant.column,
                "before": mutant.before,
                "after": mutant.after,
                "verdict": word(verdict),
                "judged": how.words(),
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
            "not_judged": self.left + self.count("not judged"),
            "killed_percent": self.score(),
            "mutants": self.judged.iter().map(mutant).collect::<Vec<_>>(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> Report {
        let mutant = |file: &str| Mutant::new(file.into(), "a < b", 2..3, "<=".into());
        let killed = Verdict::Killed {
            suite: "host --lib".into(),
            test: "t".into(),
        };
        let verdicts = [
            ("host/src/a.rs", killed.clone()),
            ("host/src/b.rs", Verdict::Survived),
            ("hdl/ip/src/c.rs", killed),
            ("hdl/ip/src/d.rs", Verdict::Equivalent),
            ("hdl/ip/src/e.rs", Verdict::DoesNotBuild),
        ];
        let judged = verdicts.into_iter().map(|(file, verdict)| {
            let mutant = mutant(file).expect("one line");
            (mutant, verdict, How::Switch)
        });
        Report {
            judged: judged.collect(),
            left: 1,
        }
    }

    #[test]
    fn the_score_counts_what_tests_could_judge() {
        let text = report().summary();
        assert!(text.contains("host: 1 of 2 killed\n"), "{text}");
        assert!(text.contains("hdl/ip: 1 of 1 killed\n"), "{text}");
        let last = "== 6 mutants: 2 killed, 1 survived, 1 equivalent, 1 do not build, \
                    1 not judged for want of time: 66.7 % killed\n";
        assert!(text.ends_with(last), "{text}");
        assert_eq!(Report::default().score(), 100.0);
    }

    #[test]
    fn the_file_has_every_mutant() {
        let json = report().json(7);
        assert_eq!(json["seed"], 7);
        assert_eq!(json["mutants"].as_array().map(Vec::len), Some(5));
        assert_eq!(json["mutants"][0]["test"], "t");
        assert_eq!(json["mutants"][1]["verdict"], "survived");
        assert_eq!(json["not_judged"], 1);
    }

    #[test]
    fn the_time_left_follows_from_the_mean() {
        assert_eq!(
            progress(2, 6, Duration::from_secs(60)),
            "2/6, about 2 min left"
        );
        assert_eq!(progress(0, 3, Duration::ZERO), "0/3, about 0 min left");
    }
}
