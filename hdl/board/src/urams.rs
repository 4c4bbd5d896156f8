//! How many URAM a card takes, from its emitted Verilog.
//!
//! ```text
//!   memories marked "ultra" of each module x its instances ──► URAM
//! ```
//! A URAM holds 4,096 entries of 72 bits (UG573).

use std::collections::BTreeMap;

use verilog::Design;

/// Bits and entries of a URAM.
const URAM: (usize, usize) = (72, 4_096);

/// URAM of a design.
pub fn of_design(design: &Design) -> usize {
    of_module(&design.top_name(), &texts(design), &mut BTreeMap::new())
}

/// The modules of a design, by their names.
fn texts(design: &Design) -> BTreeMap<&str, &str> {
    let modules = design.modules.iter();
    modules.map(|module| (module.name.as_str(), module.text.as_str())).collect()
}

/// URAM of an instance below the top, by its path: `datapath/tables/rx_list`.
pub fn of_instance(design: &Design, path: &str) -> usize {
    let texts = texts(design);
    let mut module = design.top_name();
    for name in path.split('/') {
        let text = texts.get(module.as_str()).copied().unwrap_or("");
        let suffix = format!(" {name} (");
        let line = text.lines().find_map(|line| line.trim().strip_suffix(&suffix));
        let Some(found) = line else {
            return 0;
        };
        module = found.to_owned();
    }
    of_module(&module, &texts, &mut BTreeMap::new())
}

fn of_module<'a>(
    name: &str,
    texts: &BTreeMap<&'a str, &'a str>,
    known: &mut BTreeMap<&'a str, usize>,
) -> usize {
    let Some((name, text)) = texts.get_key_value(name) else {
        return 0;
    };
    if let Some(count) = known.get(name) {
        return *count;
    }
    let mut count = of_text(text);
    for line in text.lines().map(str::trim) {
        // An instance opens with the names of its module and of itself.
        if let Some((module, _)) = line.strip_suffix(" (").and_then(|line| line.split_once(' ')) {
            count += of_module(module, texts, known);
        }
    }
    known.insert(name, count);
    count
}

/// URAM that a module's own memories take, each in as many banks as its `generate` loop makes.
fn of_text(text: &str) -> usize {
    let mut banks = 1;
    let mut count = 0;
    for line in text.lines() {
        if let Some((_, rest)) = line.split_once("bank < ") {
            banks = number(rest);
        }
        let Some((_, memory)) = line.split_once("(* ram_style = \"ultra\" *) reg [") else {
            continue;
        };
        let entries = memory.split_once("memory[").map_or(0, |(_, rest)| number(rest) + 1);
        let bits = number(memory) + 1;
        count += banks * bits.div_ceil(URAM.0) * entries.div_ceil(URAM.1);
    }
    count
}

/// The number that a text begins with.
fn number(text: &str) -> usize {
    let end = text.find(|c: char| !c.is_ascii_digit());
    text[..end.unwrap_or(text.len())].parse().unwrap_or(0)
}
