//! The parts of a block that have lines of their own, each reduced to what its line says.
//!
//! ```text
//!   block ── its own logic ─────────────────────────────► examined as it is
//!        ├── a part: it has streams, or a rule ─────────► outputs are what its line allows, and
//!        │                                                what it assumes is to be proven here
//!        └── another child (memory, comparison, ...) ───► examined as it is
//! ```
//! So a line of a block is proven with the lines of its parts, and what they assume is proven of
//! whoever joins them. In one cycle this is no circle: where an output fails, an input has failed
//! on which it depends in that cycle, and no combinational loop leads back (`hdl::design` refuses
//! one).

use std::collections::BTreeMap;

use hdl::ports::{ports_of, Port};
use rust_hdl_core::prelude::*;
use verilog::Design;

use crate::properties::rules::{rule_of, Rule};
use crate::properties::wrapper::{part, streams_of};

/// The parts of one block.
#[derive(Default)]
pub struct Parts {
    /// Text of each reduced module, by its name.
    pub texts: BTreeMap<String, String>,
    /// How many there are.
    pub count: usize,
}

impl Parts {
    /// The parts of a connected block, whose Verilog is `design`.
    pub fn of(block: &dyn Block, design: &Design) -> Parts {
        let mut probe =
            Children { design, path: Vec::new(), inside_part: None, parts: Parts::default() };
        block.accept("dut", &mut probe);
        probe.parts
    }
}

/// Finds parts.
struct Children<'a> {
    design: &'a Design,
    /// Instances from the block down to where the probe is.
    path: Vec<String>,
    /// How deep the part is in which the probe is.
    inside_part: Option<usize>,
    parts: Parts,
}

impl Children<'_> {
    fn add(&mut self, module: &str, ports: &[Port], rule: Option<&Rule>) {
        let text = part(module, ports, rule);
        self.parts.texts.insert(module.to_owned(), text);
        self.parts.count += 1;
    }
}

impl Probe for Children<'_> {
    fn visit_start_scope(&mut self, name: &str, node: &dyn Block) {
        self.path.push(name.replace('$', "_"));
        if self.path.len() == 1 || self.inside_part.is_some() {
            return;
        }
        let ports = ports_of(node);
        let is_flip_flop = ports.iter().map(|port| port.name.as_str());
        if is_flip_flop.eq(["d", "q", "clock"]) {
            return;
        }
        let Ok(origin) = self.design.explain(&self.path[1..].join("/")) else {
            return;
        };
        let rule = entry_of(origin.file, origin.block).and_then(|entry| rule_of(entry.name));
        if rule.is_some_and(|rule| rule.is_inside) {
            return;
        }
        if offers(node) && !streams_of(&ports).is_empty() || rule.is_some() {
            self.inside_part = Some(self.path.len());
            self.add(&origin.module, &ports, rule);
        }
    }

    fn visit_end_scope(&mut self, _: &str, _: &dyn Block) {
        if self.inside_part == Some(self.path.len()) {
            self.inside_part = None;
        }
        self.path.pop();
    }
}

/// The block of the registry that a module comes from.
fn entry_of(file: Option<&str>, block: Option<&str>) -> Option<&'static blocks::Entry> {
    let (file, block) = (file?, block?);
    let is_it = |entry: &&blocks::Entry| {
        entry.file == file && entry.name.rsplit("::").next() == Some(block)
    };
    blocks::BLOCKS.iter().find(is_it)
}

/// Whether a block or one below it offers something.
pub fn offers(block: &dyn Block) -> bool {
    #[derive(Default)]
    struct Offers(bool);
    impl Probe for Offers {
        fn visit_start_scope(&mut self, _: &str, node: &dyn Block) {
            self.0 |= streams_of(&ports_of(node)).iter().any(|stream| stream.is_source);
        }
    }
    let mut probe = Offers::default();
    block.accept("dut", &mut probe);
    probe.0
}
