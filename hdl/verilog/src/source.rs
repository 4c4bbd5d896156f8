//! Finds the Rust struct that a block is, by its fields, and what its documentation says.
//!
//! A probe shows a block's fields but not its type. Fields in order, and the text of the kernel
//! where several structs have the same fields, tell which struct it is.

use rust_hdl_core::ast::{VerilogBlock, VerilogExpression, VerilogStatement};
use rust_hdl_core::prelude::Verilog;

use crate::tree::Node;

/// A block or bundle in the sources.
#[derive(Debug)]
pub(crate) struct BlockSource {
    pub(crate) name: &'static str,
    pub(crate) file: &'static str,
    pub(crate) line: usize,
    /// First paragraph of the file's head.
    pub(crate) head: &'static str,
    /// First paragraph above the struct.
    pub(crate) doc: &'static str,
    /// Name, type and documentation of each field.
    pub(crate) fields: &'static [(&'static str, &'static str, &'static str)],
    /// `impl Logic` without spaces.
    pub(crate) body: &'static str,
}

include!(concat!(env!("OUT_DIR"), "/blocks.rs"));

/// The struct of a block, if the sources hold one that fits.
pub(crate) fn find(node: &Node) -> Option<&'static BlockSource> {
    let fits = |block: &&BlockSource| {
        let names = block.fields.iter().map(|field| field.0);
        names.eq(node.fields.iter().map(String::as_str))
    };
    let fitting: Vec<&BlockSource> = BLOCKS.iter().filter(fits).collect();
    let best = fitting.iter().map(|block| score(block, node)).max()?;
    let mut best = fitting.iter().filter(|block| score(block, node) == best);
    match (best.next(), best.next()) {
        (Some(block), None) => Some(block),
        _ => None,
    }
}

/// How much of the block's code stands in the source, and how little of the source is missing.
fn score(block: &BlockSource, node: &Node) -> i64 {
    match &node.code {
        Verilog::Combinatorial(code) => {
            let mut targets = Vec::new();
            collect_targets(code, &mut targets);
            let found = targets.iter().filter(|t| block.body.contains(t.as_str()));
            found.count() as i64
        }
        Verilog::Custom(text) => {
            let squeeze =
                |line: &str| -> String { line.chars().filter(|c| !c.is_whitespace()).collect() };
            let lines: Vec<String> = text.lines().map(squeeze).collect();
            let templates = block.body.split("Verilog::Custom").nth(1).unwrap_or("");
            templates
                .lines()
                .filter(|line| line.ends_with(';') || line.ends_with("begin"))
                .map(|line| {
                    if lines.iter().any(|l| is_made_of(l, line)) {
                        1
                    } else {
                        -1
                    }
                })
                .sum()
        }
        _ => 0,
    }
}

/// True if `line` is `template` with something in place of each `{...}`.
fn is_made_of(line: &str, template: &str) -> bool {
    let mut rest = line;
    let mut pieces = template.split('{');
    let first = pieces.next().unwrap_or("");
    let Some(after) = rest.strip_prefix(first) else {
        return false;
    };
    rest = after;
    for piece in pieces {
        let piece = piece.split_once('}').map_or(piece, |(_, literal)| literal);
        match rest.find(piece) {
            Some(at) => rest = &rest[at + piece.len()..],
            None => return false,
        }
    }
    rest.is_empty() || template.ends_with('}')
}

fn collect_targets(code: &VerilogBlock, out: &mut Vec<String>) {
    for statement in code {
        if let VerilogStatement::Assignment(VerilogExpression::Signal(name), _) = statement {
            if let Some(name) = name.strip_suffix("$next") {
                out.push(format!("self.{}.next", name.replace('$', ".")));
            }
        }
    }
}

impl BlockSource {
    /// One paragraph on what the block is.
    pub(crate) fn sentence(&self) -> &'static str {
        if self.doc.is_empty() || self.doc.contains("See the module's head") {
            self.head
        } else {
            self.doc
        }
    }

    /// What a port is for: the documentation of its field, or of the field of its bundle.
    pub(crate) fn meaning(&self, field: &str) -> &'static str {
        let (first, rest) = field.split_once('$').unwrap_or((field, ""));
        let Some((_, kind, doc)) = self.fields.iter().find(|f| f.0 == first) else {
            return "";
        };
        let bundle = || {
            let kind = kind.trim_start_matches('[');
            let end = kind.find(|c: char| !c.is_alphanumeric() && c != '_');
            let name = &kind[..end.unwrap_or(kind.len())];
            BLOCKS.iter().find(|block| block.name == name)
        };
        match (rest, bundle()) {
            ("", _) | (_, None) => doc,
            (rest, Some(bundle)) => match bundle.meaning(rest) {
                "" => doc,
                meaning => meaning,
            },
        }
    }
}
