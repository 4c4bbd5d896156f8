//! rust-hdl's own emitter, the reference.

use rust_hdl_core::prelude::*;

/// What stands for `$` in its names: Yosys and Verilator's C++ take the rest as it is.
pub const JOINT: &str = "_S_";

/// The name of a port in its text.
#[allow(dead_code)] // Not every test names ports.
pub fn port_name(field: &str) -> String {
    field.replace('$', JOINT)
}

/// Its text for a connected block.
pub fn emit(block: &dyn Block, top_name: &str) -> String {
    let mut modules = ModuleDefines::default();
    block.accept(top_name, &mut modules);
    let text = modules.defines().replace("$signed", "\u{1}signed");
    let text = text.replace("$unsigned", "\u{1}unsigned");
    let text = text.replace('$', JOINT).replace('\u{1}', "$");
    let modules: Vec<String> = text.split("\nmodule ").map(with_known_nets).collect();
    modules.join("\nmodule ")
}

/// A module that reads none but declared nets. Where a child's port is joined to a port of the
/// block, the text calls the net as the block does, declares nothing more, and yet reads it by the
/// child's name.
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

/// The text with one name for another; a pin's name, behind a point, is a child's own.
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
