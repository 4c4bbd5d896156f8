//! Finds the Rust struct of a block by its fields, and the documentation of that struct.
//!
//! A probe shows a block's fields but not its type. The fields in order identify the struct; where
//! several structs have the same fields, so does the text of the kernel.

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
    /// Its module's borders stay as they are: `#[keep_hierarchy]`.
    pub(crate) keeps_hierarchy: bool,
    /// Registers that are neither merged nor taken away: `#[keep]`.
    pub(crate) kept: &'static [&'static str],
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

/// How much of the block's code is found in the source's kernel; for a block that is Verilog text,
/// all or nothing.
fn score(block: &BlockSource, node: &Node) -> i64 {
    match &node.code {
        Verilog::Combinatorial(code) if block.body.contains("#[hdl_gen]") => {
            let mut targets = Vec::new();
            collect_targets(code, &mut targets);
            let found = targets.iter().filter(|t| block.body.contains(t.as_str()));
            found.count() as i64
        }
        Verilog::Custom(text) => {
            let squeeze =
                |line: &str| -> String { line.chars().filter(|c| !c.is_whitespace()).collect() };
            let lines: Vec<String> = text.lines().map(squeeze).filter(|l| !l.is_empty()).collect();
            i64::from(templates(block.body).any(|template| is_text_of(&lines, &template)))
        }
        _ => 0,
    }
}

/// The lines of each text that a block's `hdl` may write, as far as its source holds them.
fn templates(body: &str) -> impl Iterator<Item = Vec<&str>> {
    body.split("Verilog::Custom").skip(1).map(|code| {
        let lines = code.lines().skip(1).filter(|line| !line.is_empty());
        let text = lines.skip_while(|line| line.starts_with('"'));
        text.take_while(|line| !line.starts_with('"')).collect()
    })
}

/// True if `lines` are those of `template`, in order and no others; a line that is only `{name}`
/// matches one line or more.
fn is_text_of(lines: &[String], template: &[&str]) -> bool {
    let (Some((line, others)), Some((wanted, rest))) =
        (lines.split_first(), template.split_first())
    else {
        return lines.is_empty() && template.is_empty();
    };
    let is_hole = wanted.starts_with('{') && wanted.find('}') == Some(wanted.len() - 1);
    if is_hole {
        return is_text_of(others, rest) || is_text_of(others, template);
    }
    is_made_of(line, wanted) && is_text_of(others, rest)
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
    /// One paragraph that describes the block.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_identified_by_all_lines() {
        let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
        let plain = lines("reg[7:0]memory[3:0];\nread=memory[at];");
        let zeroed =
            lines("reg[7:0]memory[3:0];\nintegerentry;\nmemory[0]=8'd0;\nread=memory[at];");
        let without = ["reg[{top}:0]memory[{last}:0];", "read=memory[at];"];
        let with = ["reg[{top}:0]memory[{last}:0];", "{zeros}", "read=memory[at];"];
        assert!(is_text_of(&plain, &without) && !is_text_of(&plain, &with));
        assert!(is_text_of(&zeroed, &with) && !is_text_of(&zeroed, &without));
    }

    #[test]
    fn the_templates_end_with_their_texts() {
        let body =
            "Verilog::Custom(format!(\n\"\\\nreg[{top}:0]memory;\n\nend\n\",\ntop=T::BITS-1,\n))";
        let both = format!("if{{return{body};}}{body}");
        let lines = ["reg[{top}:0]memory;", "end"];
        assert_eq!(Vec::from_iter(templates(&both)), [lines, lines]);
    }
}
