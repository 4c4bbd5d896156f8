//! Rust-HDL's own emitter: the reference that ours is compared with.

use rust_hdl_core::prelude::*;

/// Replacement of `$` in its names; Yosys and Verilator accept all other characters.
pub const JOINT: &str = "_S_";

/// The name of a port in the emitted text.
pub fn port_name(field: &str) -> String {
    field.replace('$', JOINT)
}

/// The Verilog of a connected block.
pub fn emit(block: &dyn Block, top_name: &str) -> String {
    let mut modules = ModuleDefines::default();
    block.accept(top_name, &mut modules);
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
