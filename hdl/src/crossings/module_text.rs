//! An emitted module taken apart as far as following its clocks needs: ports, instances with their
//! pins and, where it has several clocks, what each statement reads and writes.

use std::collections::{BTreeMap, BTreeSet};

use crate::crossings::leaves::leaf;

/// Stands before a register that tools leave as it is.
const KEPT: &str = "(* keep = \"true\" *) ";

/// An instance with its pins.
pub(crate) struct Instance {
    pub(crate) module: String,
    pub(crate) name: String,
    pub(crate) pins: Vec<(String, BTreeSet<String>)>,
}

/// What is written, from what, with which clock.
pub(crate) struct Statement {
    pub(crate) clock: Option<String>,
    pub(crate) writes: BTreeSet<String>,
    pub(crate) reads: BTreeSet<String>,
}

/// A module as far as it is looked into.
pub(crate) struct Module {
    pub(crate) inputs: Vec<String>,
    pub(crate) outputs: Vec<String>,
    /// Width of each port, bits.
    pub(crate) widths: BTreeMap<String, usize>,
    pub(crate) clocks: Vec<String>,
    pub(crate) instances: Vec<Instance>,
    /// Of those with several clocks.
    pub(crate) statements: Vec<Statement>,
}

/// Takes names and texts of modules apart, the ones below before the ones above, named with
/// `prefix`.
///
/// # Panics
/// If a text is written in a way not known here.
pub(crate) fn all<'a>(modules: &'a [(String, String)], prefix: &str) -> BTreeMap<&'a str, Module> {
    let mut known = BTreeMap::new();
    for (name, text) in modules {
        let module = Module::of(name.strip_prefix(prefix).unwrap_or(name), text, &known);
        known.insert(name.as_str(), module);
    }
    known
}

impl Module {
    /// Takes a text apart; `block` is its name without prefix, `known` holds the modules below it.
    ///
    /// # Panics
    /// If the text is written in a way not known here.
    pub(crate) fn of(block: &str, text: &str, known: &BTreeMap<&str, Module>) -> Module {
        let lines: Vec<&str> = text
            .lines()
            .map(|line| line.split("//").next().unwrap_or_default().trim_end())
            .collect();
        let ports = |direction: &str| -> Vec<(String, usize)> {
            let lines = lines.iter().filter_map(|line| {
                let rest = line.trim_start().strip_prefix(direction)?;
                let name = rest.split_whitespace().last()?.trim_end_matches(',');
                Some((name.to_owned(), bits(rest)))
            });
            lines.collect()
        };
        let (inputs, outputs) = (ports("input "), ports("output "));
        let widths = inputs.iter().chain(&outputs).cloned().collect();
        let name = |(name, _): (String, usize)| name;
        let inputs = Vec::from_iter(inputs.into_iter().map(name));
        let outputs = Vec::from_iter(outputs.into_iter().map(name));
        let instances = instances(&lines, known);
        let is_clock = |port: &&String| {
            let by_itself = text.contains(&format!("posedge {port})"));
            let is_below = |instance: &Instance| {
                let clocks = &known[instance.module.as_str()].clocks;
                let mut pins = instance.pins.iter();
                pins.any(|(pin, nets)| clocks.contains(pin) && nets.contains(*port))
            };
            by_itself || instances.iter().any(is_below)
        };
        let clocks: Vec<String> = inputs.iter().filter(is_clock).cloned().collect();
        let statements = match clocks.len() > 1 && leaf(block).is_none() {
            true => statements(block, &lines),
            false => Vec::new(),
        };
        Module {
            inputs: inputs.into_iter().filter(|it| !clocks.contains(it)).collect(),
            outputs,
            widths,
            clocks,
            instances,
            statements,
        }
    }
}

/// Width that a declaration gives: 8 of `wire [7:0] data`, 1 where there is no range.
fn bits(declaration: &str) -> usize {
    let range = declaration.split_once('[').map(|(_, rest)| rest);
    let range = range.and_then(|rest| rest.split_once(":0]"));
    range.map_or(1, |(last, _)| last.parse().unwrap_or(0) + 1)
}

/// Instances of known modules: `module name (`, pins, `);`.
fn instances(lines: &[&str], known: &BTreeMap<&str, Module>) -> Vec<Instance> {
    let mut instances: Vec<Instance> = Vec::new();
    let mut is_open = false;
    for line in lines {
        if let Some((module, name)) = opened(line).filter(|(module, _)| known.contains_key(module))
        {
            is_open = true;
            instances.push(Instance {
                module: module.to_owned(),
                name: name.to_owned(),
                pins: Vec::new(),
            });
        } else if line.trim() == ");" {
            is_open = false;
        } else if let (true, Some(instance)) = (is_open, instances.last_mut()) {
            let pin = line.trim().strip_prefix('.').and_then(|pin| pin.split_once('('));
            let (pin, net) = pin.unwrap_or_else(|| panic!("a pin not known here: {line}"));
            instance.pins.push((pin.to_owned(), identifiers(net)));
        }
    }
    instances
}

/// Module and name of an instance that the line opens.
fn opened(line: &str) -> Option<(&str, &str)> {
    let (module, rest) = line.trim().split_once(' ')?;
    Some((module, rest.strip_suffix(" (")?))
}

/// The assignments of a module, each `always` one for all that it holds.
fn statements(name: &str, lines: &[&str]) -> Vec<Statement> {
    let body = lines.iter().position(|line| line.trim() == ");").unwrap_or(0);
    let mut lines = lines[body + 1..].iter().map(|line| line.trim_end());
    let mut statements = Vec::new();
    while let Some(line) = lines.next() {
        let text = line.trim();
        let text = text.strip_prefix(KEPT).unwrap_or(text);
        let is_declaration = |word: &&str| text.starts_with(word);
        let clock = text.strip_prefix("always @(posedge ");
        if let Some(assignment) = text.strip_prefix("assign ") {
            let (to, from) = assignment.split_once(" = ").unwrap_or((assignment, ""));
            statements.push(Statement {
                clock: None,
                writes: identifiers(to),
                reads: identifiers(from),
            });
        } else if clock.is_some() || text == "always @* begin" {
            let clock = clock.map(|rest| rest.trim_end_matches(") begin").to_owned());
            let inside = lines.by_ref().take_while(|line| *line != "    end");
            statements.push(block(clock, inside));
        } else if text == "initial begin" {
            lines.by_ref().find(|line| *line == "    end");
        } else if opened(text).is_some() {
            lines.by_ref().find(|line| line.trim() == ");");
        } else if !(text.is_empty() || text == "endmodule" || text.starts_with('`')) {
            let words = ["localparam ", "reg ", "wire "];
            let is_known = words.iter().any(is_declaration) && !text.contains(" = ");
            assert!(is_known || text.starts_with("localparam "), "{name}: {text}");
        }
    }
    statements
}

/// An `always` as one statement: it depends on its conditions as on what it assigns.
fn block<'a>(clock: Option<String>, lines: impl Iterator<Item = &'a str>) -> Statement {
    let mut statement = Statement { clock, writes: BTreeSet::new(), reads: BTreeSet::new() };
    for line in lines.map(str::trim) {
        let sign = if statement.clock.is_some() { " <= " } else { " = " };
        let is_condition = line.starts_with("if ") || line.starts_with("end");
        match line.split_once(sign).filter(|_| !is_condition) {
            Some((to, from)) => {
                statement.writes.extend(identifiers(to));
                statement.reads.extend(identifiers(from));
            }
            None => statement.reads.extend(identifiers(line)),
        }
    }
    statement
}

/// The names in an expression, without words of the language and numbers.
fn identifiers(text: &str) -> BTreeSet<String> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || "_'".contains(c);
    let words = text.split(|c| !is_word(c));
    let words =
        words.filter(|word| word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'));
    let language = ["if", "else", "begin", "end", "case", "endcase", "default"];
    let words = words.filter(|word| !language.contains(word));
    words.map(str::to_owned).collect()
}
