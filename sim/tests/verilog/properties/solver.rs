//! Verilog with assertions to an answer: Yosys makes a transition system of it, Z3 searches it.
//!
//! ```text
//!   text ── read_verilog -formal, prep, write_smt2 ──► step relation ─┬─► induction: for all time
//!                                                                     └─► search from power-up
//! ```
//! The module `top` asserts and assumes; its output `reached` is high where what is asserted is put
//! to the test. Registers without an initial value and memories begin with anything.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use verilate::toolchain::{z3_program, Yosys};

use crate::properties::seen;
use crate::properties::wrapper::{IN_RESET, OF_WHOLE, REACHED};

/// Steps of the solver for one question about induction, and for one cycle of a search. Steps, not
/// seconds: the answer is the same on each machine.
const STEPS_INDUCTION: u64 = 100_000_000;
const STEPS_SEARCH: u64 = 20_000_000;
/// Steps in which a planted fault of a stream is found.
pub const STEPS_PLANTED: u64 = 50_000_000;
/// Steps for what is known to have an answer.
pub const STEPS_KNOWN: u64 = 1_000_000_000;
/// Longest induction that is tried, cycles.
pub const INDUCTION_MAX: u32 = 5;
/// Longest search that is tried, cycles.
pub const DEPTH_MAX: u32 = 24;

/// How far a property holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// For all inputs and all time: by induction over so many cycles.
    Always(u32),
    /// For all inputs in so many cycles from power-up; by then it was put to the test.
    Bounded(u32),
    /// The same, but it was never put to the test.
    NotReached(u32),
    /// It fails in so many cycles from power-up.
    Fails(u32),
    /// No answer came in time.
    Undecided,
    /// Nothing is claimed: no offer of the block is held, as its rule says.
    NotHeld,
}

/// The transition system of a text.
pub struct System {
    relation: String,
    /// Functions of a state that are true where something is put to the test.
    reached: Vec<String>,
    /// Terms that are equal in each state: a part is told of the reset of the whole, a lemma of
    /// what is inside of a child.
    equals: Vec<(String, String)>,
    /// The text, by line.
    text: Vec<String>,
}

/// One claim of a system.
struct Claim<'a> {
    number: u32,
    part: String,
    text: &'a str,
}

/// An answer of the solver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Possible,
    Impossible,
    Unknown,
}

impl System {
    /// The system of a text, made in a folder of its own.
    pub fn of(text: &str, folder: &str) -> System {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(folder);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("creates");
        // What drives a net that looks into a child, `hierconn`, is known when all is flat.
        let script = "read_verilog -formal all.v\nhierarchy -check -top top\n\
                      setattr -mod -unset keep_hierarchy\nproc\nflatten\n\
                      prep -top top\nmemory_nordff\nasync2sync\ndffunmap\nopt_clean\n\
                      write_smt2 -wires all.smt2\n";
        fs::write(folder.join("all.v"), text).expect("writes");
        fs::write(folder.join("script.ys"), script).expect("writes");
        let output = Command::new(Yosys::locate().expect("Yosys").program)
            .current_dir(&folder)
            .args(["-q", "-s", "script.ys"])
            .output()
            .expect("Yosys starts");
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(output.status.success(), "{}: {said}", folder.display());
        // A name that is gone would be a new net, which is anything.
        let is_gone = |text| said.contains(text);
        assert!(!is_gone("implicitly declared") && !is_gone("is used but has no driver"), "{said}");
        let relation = fs::read_to_string(folder.join("all.smt2")).expect("a file");
        let names: Vec<&str> = signals(&relation).collect();
        let named = |signal: &'static str| {
            let is_it = move |name: &&&str| name.rsplit('.').next() == Some(signal);
            names.iter().filter(is_it).copied()
        };
        let resets = named(OF_WHOLE).map(|reset| (seen::value(reset), seen::value(IN_RESET)));
        let equals = resets.chain(seen::pairs(&relation, &names)).collect();
        System {
            text: text.lines().map(str::to_owned).collect(),
            reached: named(REACHED).map(seen::value).collect(),
            equals,
            relation,
        }
    }

    /// How far the property holds. With what was known of an equal text only that is checked again.
    pub fn judge(&self, known: Option<Verdict>) -> Verdict {
        match known {
            Some(Verdict::Always(cycles)) => self.always(cycles, STEPS_KNOWN),
            Some(Verdict::Bounded(depth)) => Some(self.search(depth, STEPS_KNOWN)),
            _ => None,
        }
        .unwrap_or_else(|| self.find_verdict())
    }

    fn find_verdict(&self) -> Verdict {
        let always = self.for_all_time();
        always.unwrap_or_else(|| self.search(DEPTH_MAX, STEPS_SEARCH))
    }

    /// The shortest induction that proves it.
    pub fn for_all_time(&self) -> Option<Verdict> {
        (1..=INDUCTION_MAX).find_map(|cycles| self.always(cycles, STEPS_INDUCTION))
    }

    /// Induction over so many cycles, and the first cycles from power-up.
    fn always(&self, cycles: u32, steps: u64) -> Option<Verdict> {
        let mut text = self.states(cycles + 1, false);
        (0..cycles).for_each(|at| text += &format!("(assert (|top_a| s{at}))\n"));
        text += &format!("(assert {})\n(check-sat)\n", Self::wrong(cycles));
        if self.ask(&text, steps) != [Answer::Impossible] {
            return None;
        }
        let begins = self.ask_reachable(cycles, steps, Self::wrong);
        (begins == [Answer::Impossible]).then_some(Verdict::Always(cycles))
    }

    /// A search from power-up, a cycle more in each step, up to `depth` cycles.
    pub fn search(&self, depth: u32, steps: u64) -> Verdict {
        let mut text = self.states(1, true);
        let mut asks = String::new();
        for at in 0..depth {
            if at > 0 {
                text += &self.step(at);
            }
            for question in [Self::wrong(at), self.is_reached(at)] {
                text += &format!("(push)\n(assert {question})\n(check-sat)\n(pop)\n");
            }
            text += &format!("(assert (|top_a| s{at}))\n");
        }
        asks += &text;
        let answers = self.ask(&asks, steps);
        let mut reached = false;
        let mut safe = 0;
        for (at, pair) in (0..).zip(answers.chunks(2)) {
            match pair[0] {
                Answer::Possible => return Verdict::Fails(at + 1),
                Answer::Impossible => safe = at + 1,
                Answer::Unknown => break,
            }
            reached |= pair.get(1) == Some(&Answer::Possible);
        }
        match (safe, reached) {
            (0, _) => Verdict::Undecided,
            (safe, true) => Verdict::Bounded(safe),
            (safe, false) => Verdict::NotReached(safe),
        }
    }

    /// Whether what is asserted is put to the test in the first `depth` cycles from power-up.
    pub fn reaches(&self, depth: u32, steps: u64) -> bool {
        self.ask_reachable(depth, steps, |at| self.is_reached(at)) == [Answer::Possible]
    }

    /// An example of what fails in the last of `depth` cycles, from power-up or from any state:
    /// each claim with the part that it is about, then the values of the signals around it, cycle
    /// by cycle.
    pub fn explain_failure(&self, depth: u32, from_power_up: bool, steps: u64) -> String {
        let last = depth - 1;
        let mut question = self.states(depth, from_power_up);
        (0..last).for_each(|at| question += &format!("(assert (|top_a| s{at}))\n"));
        let _ = writeln!(question, "(assert {})\n(check-sat)", Self::wrong(last));
        let claims = self.relation.lines();
        let claims: Vec<Claim> = claims.filter_map(|line| self.claim(line)).collect();
        for claim in &claims {
            let number = claim.number;
            let _ = writeln!(question, "(eval (|top_a {number}| s{last}) :completion true)");
        }
        let names = signals(&self.relation);
        // Only the parts themselves, not what is inside of them.
        let names: Vec<&str> = names.filter(|name| name.matches('.').count() <= 2).collect();
        for name in &names {
            for at in 0..depth {
                let _ = writeln!(question, "(eval (|top_n {name}| s{at}) :completion true)");
            }
        }
        let said = self.run_solver(&question, steps);
        let mut values = said.lines().skip(1);
        let mut out = String::new();
        for (claim, value) in claims.iter().zip(values.by_ref()) {
            if value != "true" {
                let _ = writeln!(out, "  {}: {}", claim.part, claim.text);
            }
        }
        for name in names {
            let row: Vec<&str> = values.by_ref().take(depth as usize).map(short).collect();
            let _ = writeln!(out, "    {name} = {}", row.join(" "));
        }
        out
    }

    /// The claim that a line of the system names.
    fn claim(&self, line: &str) -> Option<Claim<'_>> {
        let words: Vec<&str> = line.strip_prefix("; yosys-smt2-assert ")?.split(' ').collect();
        let (name, place) = (words.get(1)?, words.get(2)?);
        let line: usize = place.split([':', '.']).nth(2)?.parse().ok()?;
        Some(Claim {
            number: words[0].parse().ok()?,
            part: name.split("$assert").next()?.replace("$flatten/", ""),
            text: self.text.get(line - 1)?.trim(),
        })
    }

    /// Something is put to the test in a state.
    fn is_reached(&self, at: u32) -> String {
        let any = format!("(or false {})", self.reached.join(" "));
        any.replace(seen::STATE, &format!("s{at}"))
    }

    /// Whether what is asserted fails in the first `depth` cycles from power-up.
    pub fn fails(&self, depth: u32, steps: u64) -> bool {
        self.ask_reachable(depth, steps, Self::wrong) == [Answer::Possible]
    }

    /// What is asserted fails in a state.
    fn wrong(at: u32) -> String {
        format!("(not (|top_a| s{at}))")
    }

    /// Whether something happens in one of the first `depth` cycles from power-up.
    fn ask_reachable(&self, depth: u32, steps: u64, what: impl Fn(u32) -> String) -> Vec<Answer> {
        let cycles: Vec<String> = (0..depth).map(what).collect();
        let question = format!("(assert (or false {}))\n(check-sat)\n", cycles.join(" "));
        self.ask(&(self.states(depth, true) + &question), steps)
    }

    /// Declares so many states in a row; the first is that of power-up or any.
    fn states(&self, count: u32, from_power_up: bool) -> String {
        let first = match from_power_up {
            true => "(assert (|top_is| s0))\n(assert (|top_i| s0))\n",
            false => "(assert (not (|top_is| s0)))\n",
        };
        let mut text = format!("{}{first}", self.state(0));
        (1..count).for_each(|at| text += &self.step(at));
        text
    }

    fn state(&self, at: u32) -> String {
        let mut text = format!(
            "(declare-fun s{at} () |top_s|)\n(assert (|top_u| s{at}))\n(assert (|top_h| s{at}))\n"
        );
        for (one, other) in &self.equals {
            let equal = format!("(assert (= {one} {other}))\n");
            text += &equal.replace(seen::STATE, &format!("s{at}"));
        }
        text
    }

    fn step(&self, at: u32) -> String {
        let before = at - 1;
        let state = self.state(at);
        format!("{state}(assert (|top_t| s{before} s{at}))\n(assert (not (|top_is| s{at})))\n")
    }

    /// Asks the solver. After a question that takes too long nothing more is asked.
    fn ask(&self, questions: &str, steps: u64) -> Vec<Answer> {
        let said = self.run_solver(questions, steps);
        let answers = said.lines().map(|line| match line.trim() {
            "sat" => Answer::Possible,
            "unsat" => Answer::Impossible,
            "unknown" => Answer::Unknown,
            other => panic!("Z3 says {other}"),
        });
        answers.collect()
    }

    /// What the solver says.
    fn run_solver(&self, questions: &str, steps: u64) -> String {
        let program: PathBuf = z3_program().expect("Z3");
        let mut solver = Command::new(program)
            .arg("-in")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("Z3 starts");
        let mut input = solver.stdin.take().expect("a pipe");
        let text = format!("(set-option :rlimit {steps})\n{}\n{questions}", self.relation);
        // A solver that has given up reads no more.
        let _ = input.write_all(text.as_bytes());
        drop(input);
        let output = solver.stdout.take().expect("a pipe");
        let mut said = String::new();
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            said += &line;
            said.push('\n');
            if line == "unknown" {
                break;
            }
        }
        // It may have ended by itself.
        let _ = solver.kill();
        solver.wait().expect("Z3 ends");
        said
    }
}

/// A value without its many zeros in front.
fn short(value: &str) -> &str {
    match value {
        "true" => "1",
        "false" => "0",
        _ => {
            let digits = value.trim_start_matches(['#', 'x', 'b']).trim_start_matches('0');
            if digits.is_empty() {
                "0"
            } else {
                digits
            }
        }
    }
}

/// Names of the signals of a system.
fn signals(relation: &str) -> impl Iterator<Item = &str> {
    let functions = relation.split("(define-fun |top_n ").skip(1);
    functions.filter_map(|text| text.split('|').next())
}
