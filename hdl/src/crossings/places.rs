//! Between which placed parts of a design nets run, without a register on the way: found in the
//! emitted text.
//!
//! ```text
//!   modules, placed instances ──► nets of what is around them ──► (from part, to part) ──► a net
//! ```
//! A placed instance counts as a whole: it reads all its inputs and drives all its outputs. Around
//! them, in blocks with two clocks, registers end what comes and start anew, and may be wherever a
//! tool puts them; a block without a clock hands on what comes in. So more is suspected than can
//! be, never less. A block with one clock that is in no part is named.

use std::collections::{BTreeMap, BTreeSet};

use crate::crossings::domains::Domain;
use crate::crossings::module_text::{self, Module};

/// A part that is placed as a whole, by a name: instances, or the ports of a hard block.
pub type Part = String;

/// Nets between parts. See the module's head.
#[derive(Default)]
pub struct Places {
    /// From part, to part: a net that leads there without a register on the way.
    pub links: BTreeMap<(Part, Part), String>,
    /// Instances with a clock that are in no part.
    pub unplaced: BTreeSet<String>,
    nets: Vec<(BTreeSet<String>, BTreeSet<String>)>,
    found: BTreeMap<String, BTreeSet<Part>>,
    read: Vec<(String, Part)>,
}

impl Places {
    /// Follows all nets; `modules` are names and texts, the ones below before the ones above, named
    /// with `prefix`, `cells` the placed instances below the top and their parts, `ports` those of
    /// each part.
    ///
    /// # Panics
    /// If a text is written in a way not known here.
    pub fn of(
        modules: &[(String, String)],
        prefix: &str,
        cells: &BTreeMap<&str, &str>,
        ports: &[Domain<'_>],
    ) -> Places {
        let known = module_text::all(modules, prefix);
        let (top, _) = modules.last().expect("a top module");
        let mut places = Places::default();
        for domain in ports {
            let is_its = |port: &&String| domain.prefixes.iter().any(|p| port.starts_with(p));
            let part = domain.clock.to_owned();
            for port in known[top.as_str()].inputs.iter().filter(is_its) {
                places.drives(format!("/{port}"), &part);
            }
            for port in known[top.as_str()].outputs.iter().filter(is_its) {
                places.read.push((format!("/{port}"), part.clone()));
            }
        }
        places.expand(&known, top, "", cells);
        places.settle();
        places
    }

    fn drives(&mut self, net: String, part: &Part) {
        self.found.entry(net).or_default().insert(part.clone());
    }

    fn expand(
        &mut self,
        known: &BTreeMap<&str, Module>,
        name: &str,
        path: &str,
        cells: &BTreeMap<&str, &str>,
    ) {
        let module = &known[name];
        let here = |names: &BTreeSet<String>| -> BTreeSet<String> {
            names.iter().map(|name| format!("{path}/{name}")).collect()
        };
        let plain = module.statements.iter().filter(|it| it.clock.is_none());
        self.nets.extend(plain.map(|it| (here(&it.reads), here(&it.writes))));
        for instance in &module.instances {
            let child = &known[instance.module.as_str()];
            let below = format!("{path}/{}", instance.name);
            let part = cells.get(below.trim_start_matches('/'));
            let has_parts =
                cells.keys().any(|cell| format!("/{cell}").starts_with(&format!("{below}/")));
            let is_output = |pin: &String| child.outputs.contains(pin);
            let pins = instance.pins.iter();
            let pins = pins.filter(|(pin, _)| !child.clocks.contains(pin));
            match part {
                Some(part) => {
                    let part = (*part).to_owned();
                    for (pin, nets) in pins {
                        let nets = here(nets).into_iter();
                        match is_output(pin) {
                            true => nets.for_each(|net| self.drives(net, &part)),
                            false => self.read.extend(nets.map(|net| (net, part.clone()))),
                        }
                    }
                }
                None if has_parts => {
                    for (pin, nets) in pins {
                        let port = BTreeSet::from([format!("{below}/{pin}")]);
                        self.nets.push(match is_output(pin) {
                            true => (port, here(nets)),
                            false => (here(nets), port),
                        });
                    }
                    self.expand(known, &instance.module, &below, cells);
                }
                None if child.clocks.is_empty() => {
                    let (outputs, inputs): (Vec<_>, Vec<_>) =
                        pins.partition(|(pin, _)| is_output(pin));
                    let all = |pins: Vec<&(String, BTreeSet<String>)>| {
                        pins.into_iter().flat_map(|(_, nets)| here(nets)).collect()
                    };
                    self.nets.push((all(inputs), all(outputs)));
                }
                None => {
                    self.unplaced.insert(below.trim_start_matches('/').to_owned());
                }
            }
        }
    }

    /// Hands parts on along the nets until nothing changes, then notes who reads whom.
    fn settle(&mut self) {
        let mut changed = true;
        while changed {
            changed = false;
            for (from, to) in &self.nets {
                let parts: BTreeSet<Part> =
                    from.iter().filter_map(|net| self.found.get(net)).flatten().cloned().collect();
                for net in to {
                    let found = self.found.entry(net.clone()).or_default();
                    let before = found.len();
                    found.extend(parts.iter().cloned());
                    changed |= found.len() != before;
                }
            }
        }
        for (net, to) in std::mem::take(&mut self.read) {
            for from in self.found.get(&net).into_iter().flatten() {
                let link = (from.clone(), to.clone());
                self.links.entry(link).or_insert_with(|| net.clone());
            }
        }
    }
}
