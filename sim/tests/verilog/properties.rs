//! Properties of the emitted Verilog, proven for all inputs, children and memories included, at the
//! sizes of the registry. `docs/properties.md` keeps what is proven.
//!
//! ```text
//!   registry ─► block ─► its text, in a module that states ─► Yosys ─► Z3 ─► line of the table
//!                          what its streams promise
//! ```
//! A line bears a digest of its text: where that holds, so does its verdict; where a text has
//! changed, it is proven again. `ZERONIC_LONG=1` proves all again; `ZERONIC_BLESS=1` looks for
//! proofs and writes the table. `ZERONIC_BLOCK=Walks` shows what the proof of that block lacks.

mod flash;
mod grants;
mod parts;
mod rules;
mod seen;
mod solver;
mod stated;
mod table;
mod wrapper;
mod writes;

use std::sync::Mutex;

use hdl::emit::on_large_stack;
use hdl::ports::{ports_of, Port, PortDirection};
use skip::{skip, Need};

use verilate::toolchain::{digest_of, hex};

use parts::Parts;
use solver::{System, Verdict, DEPTH_MAX, INDUCTION_MAX, STEPS_KNOWN, STEPS_PLANTED};
use stated::Stated;
use table::{Line, StatedLine, Table};

/// A block with what is stated of its streams.
struct Subject {
    /// Streams that leave it.
    sources: usize,
    /// Its parts.
    parts: usize,
    /// Its ports that tell that an offer is taken; where none has to stand, the inputs that are
    /// named by what its rule states. Read inverted, each is a fault.
    readies: Vec<String>,
    text: String,
}

/// The text of a block that offers something, has a rule or has parts; around it what its streams
/// promise.
fn state_properties(entry: &blocks::Entry) -> Option<Subject> {
    let mut block = (entry.make)();
    block.connect_all();
    let ports = ports_of(&*block);
    let streams = wrapper::streams_of(&ports);
    let sources = streams.iter().filter(|stream| stream.is_source).count();
    let rule = rules::rule_of(entry.name);
    let design = verilog::emit(&*block, "dut").expect("emits");
    let parts = Parts::of(&*block, &design);
    let inside = rule.map_or(String::new(), |rule| {
        let said = rule.trusts.to_owned() + rule.lemma;
        seen::with_nets(&stated::with_ranges(rule.layouts, &said))
    });
    let top = wrapper::with_streams(&ports, rule);
    let text = modules(&design, &inside, &parts) + &top;
    (sources > 0 || text.contains(ASSERTS)).then(|| Subject {
        sources,
        parts: parts.count,
        readies: find_inverted(&ports, rule),
        text,
    })
}

/// The inputs of which the block reads one inverted, so that it fails.
fn find_inverted(ports: &[Port], rule: Option<&rules::Rule>) -> Vec<String> {
    let readies = wrapper::readies(ports, rule);
    let says = rule.map_or("", |rule| rule.says);
    if !readies.is_empty() || says.is_empty() {
        return readies;
    }
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let words: Vec<&str> = says.split(|letter| !is_word(letter)).collect();
    let inputs = ports.iter().filter(|port| port.direction == PortDirection::Input);
    let names = inputs.map(Port::verilog_name);
    names.filter(|name| words.contains(&name.as_str())).collect()
}

/// The modules of a block that it needs, without their heads, whose line numbers say nothing;
/// `inside` stands at the end of its own. Parts are reduced.
fn modules(design: &verilog::Design, inside: &str, parts: &Parts) -> String {
    let mut text = String::new();
    for module in &design.modules {
        if let Some(part) = parts.texts.get(&module.name) {
            text += part;
            continue;
        }
        let lines = module.text.lines();
        for line in lines.filter(|line| !line.starts_with("//")) {
            if line == "endmodule" && module.name == "dut" {
                text += inside;
            }
            text += line;
            text.push('\n');
        }
    }
    text
}

fn is_set(variable: &str) -> bool {
    std::env::var_os(variable).is_some()
}

/// Cycles in which a planted fault is looked for first: few are a small question.
const SHOWN_SOON: u32 = 4;
/// Cycles in which what holds for all time is put to the test, and a fault planted in it is found.
const SHOWN_MAX: u32 = 10;

/// What a text that states something has.
const ASSERTS: &str = " assert(";

/// Held by each test: both write the table.
static TABLE: Mutex<()> = Mutex::new(());

/// How far it holds, and whether the block then fails that reads inverted whether one of its offers
/// is taken. What fails is shown.
fn judge_block(subject: &Subject, known: Option<Verdict>) -> (Verdict, bool) {
    let system = System::of(&subject.text, "stands");
    let verdict = system.judge(known);
    match verdict {
        Verdict::Fails(depth) => println!("{}", system.explain_failure(depth, true, STEPS_KNOWN)),
        Verdict::Always(_) | Verdict::Bounded(_) => {
            let wrong = subject.readies.iter().map(|ready| {
                let text = wrapper::with_inverted(&subject.text, ready);
                System::of(&text, "planted")
            });
            let wrong: Vec<System> = wrong.collect();
            let depths = [SHOWN_SOON, SHOWN_MAX, DEPTH_MAX].into_iter();
            let mut tries = depths.flat_map(|depth| wrong.iter().map(move |it| (depth, it)));
            let is_caught = tries.any(|(depth, system)| system.fails(depth, STEPS_PLANTED));
            return (verdict, is_caught);
        }
        _ => (),
    }
    (verdict, false)
}

/// What was offered stands until it is taken, unless a reset comes; of every block.
#[test]
fn offers_stand_until_taken() {
    let _alone = TABLE.lock();
    let kept = Table::read();
    let mut lines = Vec::new();
    for entry in blocks::BLOCKS {
        let Some(subject) = on_large_stack(|| state_properties(entry)) else {
            continue;
        };
        let name = entry.title();
        let known = kept.lines.iter().find(|line| line.name == name);
        let digest = hex(&digest_of([&subject.text])[..4]);
        let unchanged = known.filter(|line| line.digest == digest);
        let (verdict, is_caught) = match unchanged {
            _ if !subject.text.contains(ASSERTS) => (Verdict::NotHeld, false),
            Some(line) if !is_set("ZERONIC_LONG") => (line.verdict, line.is_caught),
            _ => {
                let verdict = known.map(|line| line.verdict);
                // What is not for all time may have a proof by now.
                let is_sure = |it: &Verdict| matches!(it, Verdict::Always(_));
                let answer =
                    judge_block(&subject, verdict.filter(|it| is_sure(it) || !seed::blesses()));
                println!("{name}: {answer:?}");
                answer
            }
        };
        lines.push(Line {
            name,
            sources: subject.sources,
            parts: subject.parts,
            verdict,
            is_caught,
            digest,
        });
        // It may be interrupted: what is found is kept.
        if seed::blesses() && unchanged.is_none() {
            Table::read().with(&lines).write();
        }
    }
    let table = Table { lines, ..Table::read() };
    if seed::blesses() {
        table.write();
    }
    let uncaught = table.uncaught();
    assert!(uncaught.is_empty(), "no planted fault is found: {uncaught:#?}");
    let differences = table.differences(&kept);
    assert!(
        seed::blesses() || differences.is_empty(),
        "docs/properties.md says otherwise (ZERONIC_BLESS=1 writes it anew): {differences:#?}"
    );
}

/// What a proof of one block lacks: an example of cycles in a row, the last of which fails.
#[test]
fn what_a_proof_lacks_is_shown() {
    let Some(wanted) = std::env::var_os("ZERONIC_BLOCK") else {
        skip(Need::ChosenBlock, "ZERONIC_BLOCK is the last word of a block's name");
        return;
    };
    let is_wanted =
        |entry: &&blocks::Entry| wanted == *entry.name.rsplit("::").next().unwrap_or("");
    let entries: Vec<_> = blocks::BLOCKS.iter().filter(is_wanted).collect();
    assert!(!entries.is_empty(), "no block {}", wanted.display());
    for entry in entries {
        let Some(subject) = on_large_stack(|| state_properties(entry)) else {
            continue;
        };
        let system = System::of(&subject.text, "lacks");
        let verdict = system.for_all_time();
        println!("{}: {verdict:?}", entry.title());
        if verdict.is_none() {
            println!("{}", system.explain_failure(INDUCTION_MAX + 1, false, STEPS_KNOWN));
        }
    }
}

/// A rule of a block that has another name would be lost.
#[test]
fn each_rule_is_of_a_block() {
    for rule in rules::all() {
        let is_here = blocks::BLOCKS.iter().any(|entry| entry.name == rule.block);
        assert!(is_here, "no block {}", rule.block);
    }
}

/// The text of a block with a property around it or in it.
fn text_of(stated: &Stated) -> String {
    let entry = blocks::BLOCKS.iter().find(|entry| entry.name == stated.block);
    let entry = entry.unwrap_or_else(|| panic!("no block {}", stated.block));
    let mut block = (entry.make)();
    block.connect_all();
    let ports = ports_of(&*block);
    let text = seen::with_nets(&stated::with_ranges(stated.layouts, stated.text));
    let (around, inside) = match stated.inside {
        true => ("", text.as_str()),
        false => (text.as_str(), ""),
    };
    let reached = stated::with_ranges(stated.layouts, stated.reached);
    let top = wrapper::around(&ports, around, &reached);
    let design = verilog::emit(&*block, "dut").expect("emits");
    modules(&design, inside, &Parts::default()) + &top
}

/// How far it holds, and that it is put to the test; the planted fault is found, in no more cycles.
fn prove(stated: &Stated, text: &str) -> Verdict {
    let system = System::of(text, "stated");
    let found = system.judge(Some(stated.holds));
    let words = (stated.block, stated.words);
    let depths = match found {
        Verdict::Bounded(depth) => vec![depth],
        _ => vec![SHOWN_SOON, SHOWN_MAX],
    };
    let shown = |is_shown: &dyn Fn(u32) -> bool| depths.iter().any(|depth| is_shown(*depth));
    let reaches = |depth| system.reaches(depth, STEPS_KNOWN);
    assert!(shown(&reaches), "{words:?}: not reached");
    let (from, to) = stated.planted;
    let wrong = System::of(&text.replacen(from, to, 1), "planted");
    let fails = |depth| wrong.fails(depth, STEPS_KNOWN);
    assert!(shown(&fails), "{words:?}: holds with {to}");
    found
}

/// Each holds, and fails on its planted fault.
#[test]
fn stated_properties_hold_planted_fault_fails() {
    let _alone = TABLE.lock();
    let kept = Table::read();
    let mut lines = Vec::new();
    for stated in
        [stated::STATED, flash::STATED, grants::STATED, writes::STATED].into_iter().flatten()
    {
        let text = on_large_stack(|| text_of(stated));
        let (from, to) = stated.planted;
        assert!(text.contains(from), "the text to replace is not found: {from}\n{text}");
        let digest = hex(&digest_of([text.as_str(), from, to])[..4]);
        let mut line = StatedLine {
            words: stated.words.to_owned(),
            block: stated.block.to_owned(),
            verdict: stated.holds,
            digest,
        };
        if is_set("ZERONIC_LONG") || !kept.stated.contains(&line) {
            line.verdict = prove(stated, &text);
            println!("{}: {}: {:?}", line.block, line.words, line.verdict);
            assert_eq!(line.verdict, stated.holds, "{}: {}", line.block, line.words);
        }
        lines.push(line);
        if seed::blesses() {
            Table::read().with_stated(&lines).write();
        }
    }
    let is_kept = |line: &&StatedLine| !kept.stated.contains(line);
    let differences: Vec<_> = lines.iter().filter(is_kept).collect();
    assert!(
        seed::blesses() || differences.is_empty() && lines.len() == kept.stated.len(),
        "docs/properties.md says otherwise (ZERONIC_BLESS=1 writes it anew): {differences:#?}"
    );
}
