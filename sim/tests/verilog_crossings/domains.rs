//! Which clock each signal of a design belongs to, found in the emitted text.
//!
//! ```text
//!   modules ─┬─ with two clocks ──> their statements, pin by pin ──┐
//!            └─ with one, or none ─> boxes: ports of that clock ───┴─> signals ──> who reads whom
//! ```
//! Only modules that have two clocks are looked into: there are few, and in all others nothing can
//! cross. A box with a clock reads all its inputs and drives all its outputs with it; one without
//! hands on what comes in. A block of statements counts as a whole: all that it writes depends on
//! all that it reads. So more is suspected than can be, never less.
//!
//! The leaves of a crossing are known by name; see [`Leaf`].

use std::collections::{BTreeMap, BTreeSet};

/// A clock, by its place among those of the top.
pub type ClockId = usize;

/// The blocks in which clocks may meet, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leaf {
    /// Two flip-flops: `d` may be of any clock.
    Synchronizer,
    /// Read without a clock, and only what word has crossed of: the entry belongs to its reader.
    CrossingRam,
    /// Written with one clock and read with another, and only what word has crossed of.
    PairRam,
}

fn leaf(module: &str) -> Option<Leaf> {
    let stem = |stem: &str| module.strip_prefix(stem).is_some_and(is_sizes);
    match () {
        () if stem("synchronizer") => Some(Leaf::Synchronizer),
        () if stem("crossing_ram") => Some(Leaf::CrossingRam),
        () if stem("pair_ram") => Some(Leaf::PairRam),
        () => None,
    }
}

/// What stands behind a block's name where it comes in several sizes.
fn is_sizes(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with('_')
}

/// Blocks that cross, as `docs/hardware.md` calls them.
const CROSSINGS: [(&str, &str); 4] = [
    ("async_fifo", "AsyncFifo"),
    ("peak_crossing", "PeakCrossing"),
    ("value_crossing", "ValueCrossing"),
    ("pair_ram", "PairRam"),
];

/// The register that stands still while it is read with the other clock.
const HELD: (&str, &str) = ("value_crossing", "held");

/// Stands before a register that tools leave as it is.
const KEPT: &str = "(* keep = \"true\" *) ";

/// An instance with its pins.
struct Instance {
    module: String,
    name: String,
    pins: Vec<(String, BTreeSet<String>)>,
}

/// What is written, from what, with which clock.
struct Statement {
    clock: Option<String>,
    writes: BTreeSet<String>,
    reads: BTreeSet<String>,
}

/// A module as far as it is looked into.
struct Module {
    inputs: Vec<String>,
    outputs: Vec<String>,
    clocks: Vec<String>,
    instances: Vec<Instance>,
    /// Of those with several clocks.
    statements: Vec<Statement>,
}

/// The ports of the top, by clock.
pub struct Domain<'a> {
    /// Its port.
    pub clock: &'a str,
    /// How the names of its other ports begin.
    pub prefixes: &'a [&'a str],
}

/// A crossing in its place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Crossing {
    /// Below the top.
    pub path: String,
    /// Its block.
    pub block: String,
    /// From which clock to which.
    pub clocks: (ClockId, ClockId),
}

/// Something that reads with a clock.
struct Reader {
    place: String,
    clock: ClockId,
    reads: BTreeSet<String>,
}

/// The design. See the module's head.
#[derive(Default)]
pub struct Domains {
    /// Crossings by path.
    pub crossings: BTreeSet<Crossing>,
    /// Blocks with a single clock, by path, that stand in one with two.
    pub blocks: BTreeMap<String, ClockId>,
    readers: Vec<Reader>,
    links: Vec<(BTreeSet<String>, BTreeSet<String>)>,
    /// Of each signal the clocks of what it depends on, a bit each.
    found: BTreeMap<String, u32>,
}

impl Domains {
    /// Follows every signal of the blocks with several clocks; `modules` are names and texts, the
    /// ones below before the ones above.
    ///
    /// # Panics
    /// If a text is written in a way not known here.
    pub fn of(modules: &[(String, String)], domains: &[Domain<'_>]) -> Domains {
        let mut known: BTreeMap<&str, Module> = BTreeMap::new();
        for (name, text) in modules {
            let module = Module::of(name, text, &known);
            known.insert(name, module);
        }
        let (top, _) = modules.last().expect("a top module");
        let clocks = domains.iter().enumerate();
        let clocks = clocks.map(|(id, domain)| (domain.clock.to_owned(), id));
        let mut all = Domains::default();
        all.ports(&known[top.as_str()], domains);
        all.expand(&known, top, "", &clocks.collect());
        all.settle();
        all
    }

    /// How many blocks of registers, and of single clocks, read with a clock.
    pub fn readers_of(&self, clock: ClockId) -> usize {
        self.readers.iter().filter(|it| it.clock == clock).count()
    }

    /// Who reads a signal that hangs on another clock than its own.
    pub fn violations(&self) -> Vec<String> {
        let mut violations = Vec::new();
        for reader in &self.readers {
            for signal in &reader.reads {
                let clocks = self.found.get(signal).copied().unwrap_or(0);
                if clocks & !(1 << reader.clock) != 0 {
                    violations.push(format!("{} reads {signal}", reader.place));
                }
            }
        }
        violations
    }

    fn ports(&mut self, top: &Module, domains: &[Domain<'_>]) {
        for (id, domain) in domains.iter().enumerate() {
            let is_its = |port: &&String| domain.prefixes.iter().any(|p| port.starts_with(p));
            for port in top.inputs.iter().filter(is_its) {
                *self.found.entry(format!("/{port}")).or_default() |= 1 << id;
            }
            for port in top.outputs.iter().filter(is_its) {
                self.reads(format!("port {port}"), id, [format!("/{port}")].into());
            }
        }
    }

    fn reads(&mut self, place: String, clock: ClockId, reads: BTreeSet<String>) {
        self.readers.push(Reader {
            place,
            clock,
            reads,
        });
    }

    fn drives(&mut self, signals: &BTreeSet<String>, clock: ClockId) {
        for signal in signals {
            *self.found.entry(signal.clone()).or_default() |= 1 << clock;
        }
    }

    fn expand(
        &mut self,
        known: &BTreeMap<&str, Module>,
        name: &str,
        path: &str,
        clocks: &BTreeMap<String, ClockId>,
    ) {
        let module = &known[name];
        let here = |names: &BTreeSet<String>| -> BTreeSet<String> {
            names.iter().map(|name| format!("{path}/{name}")).collect()
        };
        for statement in &module.statements {
            let (mut reads, writes) = (statement.reads.clone(), here(&statement.writes));
            let Some(clock) = &statement.clock else {
                self.links.push((here(&reads), writes));
                continue;
            };
            if name.strip_prefix(HELD.0).is_some_and(is_sizes) {
                reads.remove(HELD.1);
            }
            let names = Vec::from_iter(statement.writes.iter().map(String::as_str));
            let place = format!("{path}/{}", names.join(","));
            self.drives(&writes, clocks[clock]);
            self.reads(place, clocks[clock], here(&reads));
        }
        for instance in &module.instances {
            let child = &known[instance.module.as_str()];
            let pins = instance.pins.iter();
            let pins: Vec<(&str, BTreeSet<String>)> =
                pins.map(|(pin, nets)| (pin.as_str(), here(nets))).collect();
            let of_pin = |(pin, nets): &(String, BTreeSet<String>)| {
                let net = nets.first().filter(|_| child.clocks.contains(pin))?;
                Some((pin.clone(), clocks[net]))
            };
            let below: BTreeMap<String, ClockId> =
                instance.pins.iter().filter_map(of_pin).collect();
            let path = format!("{path}/{}", instance.name);
            self.note(&instance.module, &path, &below);
            match (leaf(&instance.module), below.len()) {
                (Some(leaf), _) => self.leaf(leaf, &path, &pins, &below),
                (None, 0 | 1) => self.a_box(child, &path, &pins, below.values().next().copied()),
                (None, _) => {
                    self.join(child, &path, &pins);
                    self.expand(known, &instance.module, &path, &below);
                }
            }
        }
    }

    /// Keeps what the documents tell of an instance.
    fn note(&mut self, module: &str, path: &str, clocks: &BTreeMap<String, ClockId>) {
        let path = path.trim_start_matches('/').to_owned();
        let is_it = |(stem, _): &&(&str, &str)| module.strip_prefix(stem).is_some_and(is_sizes);
        let inside = |crossing: &Crossing| {
            let rest = path.strip_prefix(&crossing.path);
            rest.is_some_and(|rest| rest.starts_with('/'))
        };
        if self.crossings.iter().any(inside) {
            return;
        }
        match (CROSSINGS.iter().find(is_it), clocks.len()) {
            (Some((_, block)), _) => {
                self.crossings.insert(Crossing {
                    path,
                    block: (*block).to_owned(),
                    clocks: (clocks["write_clock"], clocks["read_clock"]),
                });
            }
            (None, 1) => {
                self.blocks
                    .extend(clocks.values().map(|clock| (path.clone(), *clock)));
            }
            (None, _) => {}
        }
    }

    /// Ports of a module that is looked into and nets of the one above are the same.
    fn join(&mut self, child: &Module, path: &str, pins: &[(&str, BTreeSet<String>)]) {
        for (pin, nets) in pins {
            let port = BTreeSet::from([format!("{path}/{pin}")]);
            if child.outputs.iter().any(|output| output == pin) {
                self.links.push((port, nets.clone()));
            } else if !child.clocks.iter().any(|clock| clock == pin) {
                self.links.push((nets.clone(), port));
            }
        }
    }

    fn a_box(
        &mut self,
        child: &Module,
        path: &str,
        pins: &[(&str, BTreeSet<String>)],
        clock: Option<ClockId>,
    ) {
        let is_output = |pin: &str| child.outputs.iter().any(|output| output == pin);
        let is_clock = |pin: &str| child.clocks.iter().any(|clock| clock == pin);
        let (outputs, inputs): (Vec<_>, Vec<_>) = pins.iter().partition(|pin| is_output(pin.0));
        let inputs = inputs.into_iter().filter(|pin| !is_clock(pin.0));
        match clock {
            Some(clock) => {
                for (pin, nets) in inputs {
                    self.reads(format!("{path}.{pin}"), clock, nets.clone());
                }
                outputs
                    .iter()
                    .for_each(|(_, nets)| self.drives(nets, clock));
            }
            None => {
                let from: BTreeSet<String> = inputs.flat_map(|(_, nets)| nets.clone()).collect();
                for (_, nets) in outputs {
                    self.links.push((from.clone(), nets.clone()));
                }
            }
        }
    }

    fn leaf(
        &mut self,
        leaf: Leaf,
        path: &str,
        pins: &[(&str, BTreeSet<String>)],
        clocks: &BTreeMap<String, ClockId>,
    ) {
        let pin = |name: &str| -> BTreeSet<String> {
            let found = pins.iter().find(|(pin, _)| *pin == name);
            found.map(|(_, nets)| nets.clone()).unwrap_or_default()
        };
        let read = |names: &[&str]| names.iter().flat_map(|name| pin(name)).collect();
        let written = read(&["write_address", "write_data", "write_enable"]);
        match leaf {
            Leaf::Synchronizer => self.drives(&pin("q"), clocks["clock"]),
            Leaf::CrossingRam => {
                self.reads(format!("{path}.write"), clocks["clock"], written);
                self.links.push((pin("read_address"), pin("read_data")));
            }
            Leaf::PairRam => {
                self.reads(format!("{path}.write"), clocks["write_clock"], written);
                let clock = clocks["read_clock"];
                let asked = read(&["read_address", "read_enable"]);
                self.reads(format!("{path}.read"), clock, asked);
                self.drives(&read(&["read_even", "read_odd", "odd_first"]), clock);
            }
        }
    }

    /// Hands clocks on along the links until nothing changes.
    fn settle(&mut self) {
        let mut changed = true;
        while changed {
            changed = false;
            for (from, to) in &self.links {
                let of = |signal: &String| self.found.get(signal).copied().unwrap_or(0);
                let clocks = from.iter().map(of).fold(0, |all, one| all | one);
                for signal in to {
                    let known = self.found.entry(signal.clone()).or_default();
                    changed |= *known | clocks != *known;
                    *known |= clocks;
                }
            }
        }
    }
}

impl Module {
    fn of(name: &str, text: &str, known: &BTreeMap<&str, Module>) -> Module {
        let lines: Vec<&str> = text
            .lines()
            .map(|line| line.split("//").next().unwrap_or_default().trim_end())
            .collect();
        let ports = |direction: &str| -> Vec<String> {
            let lines = lines.iter().filter_map(|line| {
                let rest = line.trim_start().strip_prefix(direction)?;
                rest.split_whitespace().last()
            });
            lines
                .map(|name| name.trim_end_matches(',').to_owned())
                .collect()
        };
        let (inputs, outputs) = (ports("input "), ports("output "));
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
        let statements = match clocks.len() > 1 && leaf(name).is_none() {
            true => statements(name, &lines),
            false => Vec::new(),
        };
        Module {
            inputs: inputs
                .into_iter()
                .filter(|it| !clocks.contains(it))
                .collect(),
            outputs,
            clocks,
            instances,
            statements,
        }
    }
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
            let pin = line
                .trim()
                .strip_prefix('.')
                .and_then(|pin| pin.split_once('('));
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
    let body = lines
        .iter()
        .position(|line| line.trim() == ");")
        .unwrap_or(0);
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
            assert!(
                is_known || text.starts_with("localparam "),
                "{name}: {text}"
            );
        }
    }
    statements
}

/// An `always` as one statement: it depends on its conditions as on what it assigns.
fn block<'a>(clock: Option<String>, lines: impl Iterator<Item = &'a str>) -> Statement {
    let mut statement = Statement {
        clock,
        writes: BTreeSet::new(),
        reads: BTreeSet::new(),
    };
    for line in lines.map(str::trim) {
        let sign = if statement.clock.is_some() {
            " <= "
        } else {
            " = "
        };
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
