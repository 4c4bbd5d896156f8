//! Rust-HDL's own emitter: the reference that ours is compared with.

use rust_hdl_core::prelude::*;

/// Replacement of `$` in its names; Yosys and Verilator accept all other characters.
pub const JOINT: &str = "_S_";

/// The name of a port in the emitted text.
pub fn port_name(field: &str) -> String {
    field.replace('$', JOINT)
}

/// Levels of [`emit_top`]: the block and its children.
const TOP_LEVELS: usize = 2;

/// The Verilog of a connected block.
pub fn emit(block: &dyn Block, top_name: &str) -> String {
    let mut modules = ModuleDefines::default();
    block.accept(top_name, &mut modules);
    text_of(&modules)
}

/// The same without what its children contain: their modules have ports and code, but no
/// instances. The emitter takes most of its time there.
pub fn emit_top(block: &dyn Block, top_name: &str) -> String {
    let mut top = Top::default();
    block.accept(top_name, &mut top);
    text_of(&top.modules)
}

/// Shows the emitter what is above [`TOP_LEVELS`].
#[derive(Default)]
struct Top {
    modules: ModuleDefines,
    levels: usize,
}

impl Top {
    fn is_shown(&self) -> bool {
        self.levels <= TOP_LEVELS
    }
}

impl Probe for Top {
    fn visit_start_scope(&mut self, name: &str, node: &dyn Block) {
        self.levels += 1;
        if self.is_shown() {
            self.modules.visit_start_scope(name, node);
        }
    }

    fn visit_start_namespace(&mut self, name: &str, node: &dyn Block) {
        if self.is_shown() {
            self.modules.visit_start_namespace(name, node);
        }
    }

    fn visit_atom(&mut self, name: &str, signal: &dyn Atom) {
        if self.is_shown() {
            self.modules.visit_atom(name, signal);
        }
    }

    fn visit_end_namespace(&mut self, name: &str, node: &dyn Block) {
        if self.is_shown() {
            self.modules.visit_end_namespace(name, node);
        }
    }

    fn visit_end_scope(&mut self, name: &str, node: &dyn Block) {
        if self.is_shown() {
            self.modules.visit_end_scope(name, node);
        }
        self.levels -= 1;
    }
}

fn text_of(modules: &ModuleDefines) -> String {
    let text = modules.defines().replace("$signed", "\u{1}signed");
    let text = text.replace("$unsigned", "\u{1}unsigned");
    let text = text.replace('$', JOINT).replace('\u{1}', "$");
    let modules: Vec<String> = text.split("\nmodule ").map(with_known_nets).collect();
    modules.join("\nmodule ")
}

/// A module that reads only declared nets. Where a child's port is connected to a port of the
/// block, the emitter declares the net under the block's name only, and yet reads it by the child's
/// name.
fn with_known_nets(module: &str) -> String {
    let mut known = module.to_owned();
    let mut child = "";
    for line in module.lines().map(str::trim) {
        let Some((port, net)) = line.strip_prefix('.').and_then(|pin| pin.split_once('(')) else {
            let opened = line.strip_suffix('(').and_then(|line| line.split_once(' '));
            child = opened.map_or(child, |(_, name)| name);
            continue;
        };
        let net = net.trim_end_matches([',', ')']);
        let name = format!("{child}{JOINT}{port}");
        let declared = format!(" {name};");
        let is_declared = || known.lines().any(|line| line.ends_with(&declared));
        if net != name && known.contains(&name) && !is_declared() {
            known = whole_words(&known, &name, net);
        }
    }
    known
}

/// The text with one name replaced by another, except as the name of a pin (after a point).
pub fn whole_words(text: &str, from: &str, to: &str) -> String {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(from) {
        let (before, after) = (&rest[..at], &rest[at + from.len()..]);
        let is_pin = before.ends_with('.');
        let alone = !is_pin && !before.ends_with(is_word) && !after.starts_with(is_word);
        out.push_str(before);
        out.push_str(if alone { to } else { from });
        rest = after;
    }
    out + rest
}
