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
//! The leaves of a crossing are known by name.

use std::collections::{BTreeMap, BTreeSet};

use crate::crossings::leaves::{is_sizes, leaf, Leaf, CROSSINGS, HELD};
use crate::crossings::module_text::{self, Module};

/// A clock, by its place among those of the top.
pub type ClockId = usize;

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
    /// Bits of a pointer of an `AsyncFifo`, of the value of the others.
    pub bits: usize,
    /// Bits of a message of an `AsyncFifo`, of the value of the others.
    pub message_bits: usize,
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
    prefix: String,
    readers: Vec<Reader>,
    links: Vec<(BTreeSet<String>, BTreeSet<String>)>,
    /// Of each signal the clocks of what it depends on, a bit each.
    found: BTreeMap<String, u32>,
}

impl Domains {
    /// Follows every signal of the blocks with several clocks; `modules` are names and texts, the
    /// ones below before the ones above. The names of all but the last begin with `prefix`.
    ///
    /// # Panics
    /// If a text is written in a way not known here.
    pub fn of(modules: &[(String, String)], prefix: &str, domains: &[Domain<'_>]) -> Domains {
        let known = module_text::all(modules, prefix);
        let (top, _) = modules.last().expect("a top module");
        let clocks = domains.iter().enumerate();
        let clocks = clocks.map(|(id, domain)| (domain.clock.to_owned(), id));
        let mut all = Domains { prefix: prefix.to_owned(), ..Domains::default() };
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
        self.readers.push(Reader { place, clock, reads });
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
        let block = self.block_of(name).to_owned();
        let here = |names: &BTreeSet<String>| -> BTreeSet<String> {
            names.iter().map(|name| format!("{path}/{name}")).collect()
        };
        for statement in &module.statements {
            let (mut reads, writes) = (statement.reads.clone(), here(&statement.writes));
            let Some(clock) = &statement.clock else {
                self.links.push((here(&reads), writes));
                continue;
            };
            if block.strip_prefix(HELD.0).is_some_and(is_sizes) {
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
            self.note(&instance.module, child, &path, &below);
            match (leaf(self.block_of(&instance.module)), below.len()) {
                (Some(leaf), _) => self.leaf(leaf, &path, &pins, &below),
                (None, 0 | 1) => self.a_box(child, &path, &pins, below.values().next().copied()),
                (None, _) => {
                    self.join(child, &path, &pins);
                    self.expand(known, &instance.module, &path, &below);
                }
            }
        }
    }

    /// The name of a module without the prefix.
    fn block_of<'a>(&self, module: &'a str) -> &'a str {
        module.strip_prefix(&self.prefix).unwrap_or(module)
    }

    /// Keeps what the documents tell of an instance.
    fn note(
        &mut self,
        name: &str,
        module: &Module,
        path: &str,
        clocks: &BTreeMap<String, ClockId>,
    ) {
        let path = path.trim_start_matches('/').to_owned();
        let name = self.block_of(name);
        let is_it = |(stem, _): &&(&str, &str)| name.strip_prefix(stem).is_some_and(is_sizes);
        let inside = |crossing: &Crossing| {
            let rest = path.strip_prefix(&crossing.path);
            rest.is_some_and(|rest| rest.starts_with('/'))
        };
        if self.crossings.iter().any(inside) {
            return;
        }
        let width = |ports: &[&str]| {
            let mut found = ports.iter().filter_map(|port| module.widths.get(*port));
            found.next().copied().unwrap_or(1)
        };
        match (CROSSINGS.iter().find(is_it), clocks.len()) {
            (Some((_, block)), _) => {
                // A synchronizer knows its own clock alone: of two clocks, the other is its source.
                let own = clocks.get("clock").or(clocks.get("read_clock"));
                let to = own.copied().unwrap_or(0);
                let from = clocks.get("write_clock").copied().unwrap_or(1 - to);
                self.crossings.insert(Crossing {
                    path,
                    block: (*block).to_owned(),
                    clocks: (from, to),
                    bits: width(&["level", "value", "d"]),
                    message_bits: width(&["sink_payload", "level", "value", "d"]),
                });
            }
            (None, 1) => {
                self.blocks.extend(clocks.values().map(|clock| (path.clone(), *clock)));
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
                outputs.iter().for_each(|(_, nets)| self.drives(nets, clock));
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
