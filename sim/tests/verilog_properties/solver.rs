//! Verilog with assertions to an answer: Yosys makes a transition system of it, Z3 searches it.
//!
//! ```text
//!   text ── read_verilog -formal, prep, write_smt2 ──► step relation ─┬─► induction: for all time
//!                                                                     └─► search from power-up
//! ```
//! The module `top` asserts and assumes; its output `reached` is high where what is asserted is put
//! to the test. Registers without an initial value and memories begin with anything.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use verilate::toolchain::{z3_program, Yosys};

/// Seconds of one question to the solver, where the answer may fail to come.
const SECONDS_TRIED: u32 = 3;
/// Seconds of one question whose answer is known from before.
const SECONDS_KNOWN: u32 = 120;
/// Longest induction that is tried, cycles.
const INDUCTION_MAX: u32 = 2;
/// Longest search that is tried, cycles.
const DEPTH_MAX: u32 = 24;

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
        let script = "read_verilog -formal all.v\nhierarchy -check -top top\nproc\nflatten\n\
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
        assert!(
            !is_gone("implicitly declared") && !is_gone("is used but has no driver"),
            "{said}"
        );
        let relation = fs::read_to_string(folder.join("all.smt2")).expect("a file");
        System { relation }
    }

    /// How far the property holds. With what was known of an equal text only that is checked again.
    pub fn judge(&self, known: Option<Verdict>) -> Verdict {
        match known {
            Some(Verdict::Always(cycles)) => self.always(cycles, SECONDS_KNOWN),
            Some(Verdict::Bounded(depth)) => Some(self.search(depth, SECONDS_KNOWN)),
            _ => None,
        }
        .unwrap_or_else(|| self.found())
    }

    fn found(&self) -> Verdict {
        let always = (1..=INDUCTION_MAX).find_map(|cycles| self.always(cycles, SECONDS_TRIED));
        always.unwrap_or_else(|| self.search(DEPTH_MAX, SECONDS_TRIED))
    }

    /// Induction over so many cycles, and the first cycles from power-up.
    fn always(&self, cycles: u32, seconds: u32) -> Option<Verdict> {
        let mut text = states(cycles + 1, false);
        (0..cycles).for_each(|at| text += &format!("(assert (|top_a| s{at}))\n"));
        text += &format!("(assert (not (|top_a| s{cycles})))\n(check-sat)\n");
        if self.ask(&text, seconds) != [Answer::Impossible] {
            return None;
        }
        match self.search(cycles, seconds) {
            Verdict::Bounded(_) | Verdict::NotReached(_) => Some(Verdict::Always(cycles)),
            _ => None,
        }
    }

    /// A search from power-up, a cycle more in each step, up to `depth` cycles.
    pub fn search(&self, depth: u32, seconds: u32) -> Verdict {
        let mut text = states(1, true);
        let mut asks = String::new();
        for at in 0..depth {
            if at > 0 {
                text += &step(at);
            }
            for question in [
                format!("(not (|top_a| s{at}))"),
                format!("(|top_n reached| s{at})"),
            ] {
                text += &format!("(push)\n(assert {question})\n(check-sat)\n(pop)\n");
            }
            text += &format!("(assert (|top_a| s{at}))\n");
        }
        asks += &text;
        let answers = self.ask(&asks, seconds);
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
    pub fn reaches(&self, depth: u32, seconds: u32) -> bool {
        self.happens(depth, seconds, |at| format!("(|top_n reached| s{at})"))
    }

    /// Whether what is asserted fails in the first `depth` cycles from power-up.
    pub fn fails(&self, depth: u32, seconds: u32) -> bool {
        self.happens(depth, seconds, |at| format!("(not (|top_a| s{at}))"))
    }

    fn happens(&self, depth: u32, seconds: u32, what: impl Fn(u32) -> String) -> bool {
        let cycles: Vec<String> = (0..depth).map(what).collect();
        let question = format!("(assert (or false {}))\n(check-sat)\n", cycles.join(" "));
        self.ask(&(states(depth, true) + &question), seconds) == [Answer::Possible]
    }

    /// Asks the solver. After a question that takes too long nothing more is asked.
    fn ask(&self, questions: &str, seconds: u32) -> Vec<Answer> {
        let program: PathBuf = z3_program().expect("Z3");
        let mut solver = Command::new(program)
            .args(["-in", &format!("-T:{}", 4 * seconds)])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("Z3 starts");
        let mut input = solver.stdin.take().expect("a pipe");
        let text = format!(
            "(set-option :timeout {})\n{}\n{questions}",
            1000 * seconds,
            self.relation
        );
        // A solver that has given up reads no more.
        let _ = input.write_all(text.as_bytes());
        drop(input);
        let output = solver.wait_with_output().expect("Z3 ends");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let answers = said.lines().map(|line| match line.trim() {
            "sat" => Answer::Possible,
            "unsat" => Answer::Impossible,
            "unknown" | "timeout" => Answer::Unknown,
            other => panic!("Z3 says {other}"),
        });
        answers.collect()
    }
}

/// Declares so many states in a row; the first is that of power-up or any.
fn states(count: u32, from_power_up: bool) -> String {
    let first = match from_power_up {
        true => "(assert (|top_is| s0))\n(assert (|top_i| s0))\n",
        false => "(assert (not (|top_is| s0)))\n",
    };
    let mut text = format!("{}{first}", state(0));
    (1..count).for_each(|at| text += &step(at));
    text
}

fn state(at: u32) -> String {
    format!("(declare-fun s{at} () |top_s|)\n(assert (|top_u| s{at}))\n(assert (|top_h| s{at}))\n")
}

fn step(at: u32) -> String {
    let before = at - 1;
    let state = state(at);
    format!("{state}(assert (|top_t| s{before} s{at}))\n(assert (not (|top_is| s{at})))\n")
}
