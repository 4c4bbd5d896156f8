//! The card's test on what synthesis has made of it: a netlist in the card's place, under the
//! simulated PCIe and wire, carries bytes both ways.
//!
//! ```text
//!   card_netlist.v ─┬─ its modules ───────────────┐
//!   unisims/*.v ────┴─ the primitives they use ───┼─► Verilator ─► exchange, every byte compared
//!   the card's ports ──► a module around them ────┘
//! ```
//! Vivado's netlists are of primitives, whose models come with Vivado. A netlist of Yosys has been
//! tried, which has none; Verilator has never seen the models of Vivado.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{bail, Context, Result};
use hdl::emit::EmittedCard;
use hdl::ports::{Port, PortDirection};
use host::driver::bus::MemoryKind;
use lab::exchange::Exchange;
use lab::wire::Disturbance;
use sim::moved::moves_bytes;
use verilate::design::Design;
use verilate::options::Options;

/// Module around the netlist.
const TOP: &str = "zeronic_netlist";
/// Module that Vivado's models reach by its name.
const GLOBAL: &str = "glbl";
/// Payload of an exchange each way, bytes.
const BYTES: u64 = 256 << 10;
/// Share of the frames of the second exchange that each disturbance hits.
const DISTURBED: f64 = 0.01;

/// Runs the test. Outer error: it could not run. Inner error: the first difference of the netlist.
/// `models` is the folder of the primitives' models.
pub fn check(netlist: &Path, card: &EmittedCard, models: &Path) -> Result<Result<(), String>> {
    let text = std::fs::read_to_string(netlist);
    let text = text.with_context(|| format!("file {}", netlist.display()))?;
    let modules = modules(&text);
    let Some(top) = modules.get(card.top) else {
        bail!("{}: no module {}", netlist.display(), card.top);
    };
    let known = ports_of(top);
    if let Some(port) = card.ports.iter().find(|port| !known.contains(port.name.as_str())) {
        bail!("{}: module {} has no port {}", netlist.display(), card.top, port.name);
    }
    let more = primitives(&modules, models)?;
    let around = around(card, modules.contains_key(GLOBAL));
    let verilog = [text.as_str(), &more, &around].concat();
    // Compiled without optimisation: that of a netlist takes longer than its run.
    let design = Design::build(TOP, &verilog, &card.ports, Options::QUICK);
    let design = design.context("the netlist does not build")?;
    let disturbed = Disturbance {
        loss: DISTURBED,
        reorder: DISTURBED,
        duplicate: DISTURBED,
        corrupt: DISTURBED,
        corrupt_unseen: DISTURBED,
        ..Disturbance::default()
    };
    let first = moves_bytes(&design, &plan(Disturbance::default()), 0);
    Ok(first.and_then(|()| moves_bytes(&design, &plan(disturbed), 1)))
}

/// The modules of a netlist, by name.
fn modules(text: &str) -> BTreeMap<&str, &str> {
    let mut modules = BTreeMap::new();
    let mut rest = text;
    while let Some(at) = rest.find("\nmodule ") {
        let module = &rest[at + "\nmodule ".len()..];
        let end = module.find("\nendmodule").unwrap_or(module.len());
        let name = module.split(|c: char| !is_word(c)).next().unwrap_or("");
        modules.insert(name, &module[..end]);
        rest = &module[end..];
    }
    modules
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '$'
}

/// The names in a module's head: its ports.
fn ports_of(module: &str) -> BTreeSet<&str> {
    let head = module.split(");").next().unwrap_or(module);
    head.split(|c: char| !is_word(c)).collect()
}

/// Models of what the modules use and the netlist does not have, and of what those use.
fn primitives(modules: &BTreeMap<&str, &str>, models: &Path) -> Result<String> {
    let mut text = String::new();
    let mut seen: BTreeSet<String> = modules.keys().map(|name| (*name).to_owned()).collect();
    let mut open: Vec<String> =
        modules.values().flat_map(|module| used_primitives(module)).collect();
    while let Some(name) = open.pop() {
        if !seen.insert(name.clone()) {
            continue;
        }
        let model = models.join(format!("{name}.v"));
        let Ok(model) = std::fs::read_to_string(&model) else {
            bail!("no model of {name}: {} is not there", model.display());
        };
        open.extend(used_primitives(&model));
        text += &model;
    }
    Ok(text)
}

/// The primitives that a module has instances of: `LUT6 #(` or `FDRE name (` at the start of a
/// line. Their names are of capital letters and digits.
fn used_primitives(module: &str) -> Vec<String> {
    let lines = module.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        let (name, next) = (words.next()?, words.next()?);
        let is_capital = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
        let is_name =
            name.starts_with(|c: char| c.is_ascii_uppercase()) && name.chars().all(is_capital);
        let follows = next.starts_with("#(") || next.starts_with('\\') || next.starts_with(is_word);
        (is_name && follows).then(|| name.to_owned())
    });
    lines.collect()
}

/// The module around the netlist, with the card's ports.
fn around(card: &EmittedCard, has_global: bool) -> String {
    let ports = card.ports.iter().map(|port| {
        let direction = match port.direction {
            PortDirection::Input => "input",
            _ => "output",
        };
        let range = match port.bits {
            1 => String::new(),
            bits => format!("[{}:0] ", bits - 1),
        };
        format!("    {direction} wire {range}{}", port.name)
    });
    let ports: Vec<String> = ports.collect();
    let name = |port: &Port| format!("        .{0}({0})", port.name);
    let pins: Vec<String> = card.ports.iter().map(name).collect();
    let global = if has_global { format!("    {GLOBAL} {GLOBAL}();\n") } else { String::new() };
    format!(
        "\nmodule {TOP} (\n{}\n);\n{global}    {} card (\n{}\n    );\nendmodule\n",
        ports.join(",\n"),
        card.top,
        pins.join(",\n")
    )
}

/// What is moved over a wire.
fn plan(disturbance: Disturbance) -> Exchange {
    Exchange { bytes: BYTES, seed: 1, disturbance, memory: MemoryKind::Application }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "// netlist\n\nmodule top (clock, \\q[0] , d);\n  input clock;\n\
        \x20 LUT6 #(\n    .INIT(64'h1))\n    x (.I0(d));\n  FDRE \\q_reg[0] \n  (.C(clock));\n\
        \x20 inner card (.a(d));\nendmodule\n\nmodule inner (a);\nendmodule\n";

    #[test]
    fn modules_ports_and_primitives_are_found() {
        let modules = modules(TEXT);
        assert_eq!(modules.keys().copied().collect::<Vec<_>>(), ["inner", "top"]);
        assert!(ports_of(modules["top"]).contains("d"));
        assert!(!ports_of(modules["top"]).contains("input"));
        assert_eq!(used_primitives(modules["top"]), ["LUT6", "FDRE"]);
        let error = primitives(&modules, Path::new("/nowhere")).expect_err("no models");
        assert!(error.to_string().contains("no model of FDRE: /nowhere/FDRE.v"), "{error}");
    }
}
