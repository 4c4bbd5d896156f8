//! Blocks that are Verilog text already: memories, synchronizers, vendor wrappers.

use std::collections::BTreeMap;

use rust_hdl_core::prelude::Verilog;

use crate::error::{Found, Reason};
use crate::module::{vector, Body, PortLine};
use crate::names::port_name;
use crate::tree::{Node, Role};

/// The body: the text unchanged, with the ports under our names.
pub(crate) fn body(node: &Node) -> Found<Body> {
    let (text, is_reg) = match &node.code {
        Verilog::Custom(text) => (text.as_str(), true),
        Verilog::Wrapper(wrapper) => (wrapper.code.as_str(), false),
        _ => ("", false),
    };
    if !node.children.is_empty() {
        return Err((node.children[0].name.clone(), Reason::ChildOfText));
    }
    let mut names = BTreeMap::new();
    let mut ports = Vec::new();
    let mut lines = Vec::new();
    for atom in &node.atoms {
        let name = port_name(&atom.field);
        let direction = match atom.role {
            Role::Input => "input",
            Role::Output => "output",
            Role::Pad => "inout",
            Role::Local => {
                lines.push(format!("reg  {}{name};", vector(atom.width)));
                names.insert(atom.field.clone(), name);
                continue;
            }
            Role::Constant => {
                let value = atom.value.verilog(atom.width);
                lines.push(format!("localparam {}{name} = {value};", vector(atom.width)));
                names.insert(atom.field.clone(), name);
                continue;
            }
        };
        ports.push(PortLine {
            direction,
            is_reg: is_reg && direction == "output",
            name: name.clone(),
            field: atom.field.clone(),
            width: atom.width,
        });
        names.insert(atom.field.clone(), name);
    }
    lines.extend(renamed(text.trim_end(), &names).lines().map(str::to_owned));
    let mut fields: BTreeMap<String, String> =
        names.iter().map(|(field, name)| (name.clone(), field.replace('$', "."))).collect();
    for name in declared(text) {
        fields.entry(name.clone()).or_insert(name);
    }
    Ok(Body { ports, lines, fields, scopes: labels(text), instances: Vec::new() })
}

/// The registers and memories that the text declares: `reg [7:0] memory[15:0];`.
fn declared(text: &str) -> Vec<String> {
    let declarations = text.lines().filter_map(|line| {
        let (before, rest) = line.split_once("reg ")?;
        let is_declaration = before.trim().is_empty() || before.trim().ends_with("*)");
        let name = rest.trim_start().trim_start_matches(|c: char| c != ']');
        let name = match name.strip_prefix(']') {
            Some(behind_range) if rest.trim_start().starts_with('[') => behind_range,
            _ => rest,
        };
        let end = |c: char| !c.is_ascii_alphanumeric() && c != '_';
        let name = name.trim_start().split(end).next()?;
        (is_declaration && !name.is_empty()).then(|| name.to_owned())
    });
    declarations.collect()
}

/// The labels of its `generate` loops, each at the end of a line: `... begin : label`.
fn labels(text: &str) -> Vec<String> {
    let labels = text.lines().filter_map(|line| line.split_once("begin : "));
    labels.map(|(_, label)| label.trim().to_owned()).collect()
}

/// The text with whole identifiers replaced.
fn renamed(text: &str, names: &BTreeMap<String, String>) -> String {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(is_word) {
        out.push_str(&rest[..start]);
        let word = &rest[start..];
        let end = word.find(|c| !is_word(c)).unwrap_or(word.len());
        let (word, after) = word.split_at(end);
        out.push_str(names.get(word).map_or(word, String::as_str));
        rest = after;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_are_found() {
        let text = "(* ram_style = \"block\" *) reg [7:0] memory[15:0];\nreg first;\n\
                    if (reg_enable) first <= 1;";
        assert_eq!(declared(text), ["memory", "first"]);
    }

    #[test]
    fn whole_identifiers_are_renamed() {
        let names = BTreeMap::from([("in$data".to_owned(), "in_data".to_owned())]);
        assert_eq!(renamed("q <= in$data[3];", &names), "q <= in_data[3];");
        assert_eq!(renamed("in$data2 = x;", &names), "in$data2 = x;");
    }
}
