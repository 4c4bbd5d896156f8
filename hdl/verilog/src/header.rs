//! The head of a module: what the block does, where its source is, its ports.

use crate::module::{vector, Body};
use crate::source::BlockSource;

/// Comment lines above `module`.
pub(crate) fn comment(source: Option<&BlockSource>, body: &Body) -> Vec<String> {
    let mut lines = Vec::new();
    match source {
        Some(source) => {
            lines.push(format!("// {}: {}:{}", source.name, source.file, source.line));
            lines.push("//".to_owned());
            lines.extend(wrapped(source.sentence()));
        }
        None => lines.push("// A block without documentation.".to_owned()),
    }
    lines.push("//".to_owned());
    let widest =
        |f: &dyn Fn(&crate::module::PortLine) -> usize| body.ports.iter().map(f).max().unwrap_or(0);
    let name_width = widest(&|port| port.name.len());
    for port in &body.ports {
        let meaning = source.map_or("", |source| source.meaning(&port.field));
        let line = format!(
            "//   {:name_width$}  {:6}  {:4}  {meaning}",
            port.name, port.direction, port.width
        );
        lines.push(line.trim_end().to_owned());
    }
    lines
}

fn wrapped(text: &str) -> Vec<String> {
    let mut lines = vec!["//".to_owned()];
    for word in text.split_whitespace() {
        let last = lines.len() - 1;
        if lines[last].chars().count() + 1 + word.chars().count() > 100 {
            lines.push("//".to_owned());
        }
        let last = lines.len() - 1;
        lines[last].push(' ');
        lines[last].push_str(word);
    }
    lines
}

/// The whole module, called `name`.
pub(crate) fn module(name: &str, source: Option<&BlockSource>, body: &Body) -> Vec<String> {
    let mut lines = Vec::new();
    if source.is_some_and(|source| source.keeps_hierarchy) {
        lines.push("(* keep_hierarchy = \"yes\" *)".to_owned());
    }
    if body.ports.is_empty() {
        lines.push(format!("module {name};"));
    } else {
        lines.push(format!("module {name} ("));
        let types: Vec<String> = body.ports.iter().map(|port| vector(port.width)).collect();
        let type_width = types.iter().map(String::len).max().unwrap_or(0);
        for (index, (port, vector)) in body.ports.iter().zip(&types).enumerate() {
            let word = if port.is_reg { "reg" } else { "wire" };
            let comma = if index + 1 == body.ports.len() { "" } else { "," };
            lines.push(format!(
                "    {:6} {word:4} {vector:type_width$}{}{comma}",
                port.direction, port.name
            ));
        }
        lines.push(");".to_owned());
    }
    for line in &body.lines {
        if line.is_empty() {
            lines.push(String::new());
        } else {
            lines.push(format!("    {line}"));
        }
    }
    lines.push("endmodule".to_owned());
    lines
}
