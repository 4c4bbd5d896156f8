//! A digest of what decides the figures of a design: its Verilog without comments.
//!
//! ```text
//!   modules ── comments and empty lines out ── digests in names out ──> SHA-256
//! ```
//! Comments name the source line of a block, so they change with its documentation. The emitter
//! tells modules of one name and one shape apart by a digest of their code and of the file of the
//! block, which may move: such a name counts without it, with the module's place in the design.

use std::collections::BTreeMap;

use crate::toolchain::{digest_of, hex};

/// Digits of a digest in a module's name.
const NAME_DIGITS: usize = 6;

/// The fingerprint of the modules of a design, names and texts, in the order of the emitter.
pub fn fingerprint(modules: &[(String, String)]) -> String {
    let places = modules.iter().enumerate().filter_map(|(place, (name, _))| {
        let stem = without_digest(name)?;
        Some((name.as_str(), format!("{stem}#{place}")))
    });
    let names: BTreeMap<&str, String> = places.collect();
    hex(&digest_of(modules.iter().map(|(_, text)| bare(text, &names))))
}

/// The name before its digest; `None` if there is no digest.
fn without_digest(name: &str) -> Option<&str> {
    let (stem, digits) = name.rsplit_once('_')?;
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    (digits.len() == NAME_DIGITS && digits.bytes().all(is_digit)).then_some(stem)
}

/// The text without comments and empty lines, and with those names for modules.
fn bare(text: &str, names: &BTreeMap<&str, String>) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let code = line.split("//").next().unwrap_or_default().trim_end();
        if code.is_empty() {
            continue;
        }
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        for word in code.split_inclusive(|c| !is_word(c)) {
            let (name, end) = word.split_at(word.trim_end_matches(|c| !is_word(c)).len());
            out.push_str(names.get(name).map_or(name, String::as_str));
            out.push_str(end);
        }
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(leaf: &str, top: &str) -> String {
        let part = |name: &str, text: &str| (name.to_owned(), text.to_owned());
        let name = leaf.split(' ').nth(1).expect("a name");
        fingerprint(&[part(name, leaf), part("top", top)])
    }

    #[test]
    fn comments_do_not_change_the_fingerprint() {
        let plain = of(
            "module leaf_00ab12 (input wire a);\nendmodule\n",
            "module top;\n    leaf_00ab12 one (.a(1'd0));\nendmodule\n",
        );
        let documented = of(
            "module leaf_99ff00 (input wire a); // Says more.\n\nendmodule\n",
            "// Top: file.rs:7\nmodule top;\n    leaf_99ff00 one (.a(1'd0));\nendmodule\n",
        );
        assert_eq!(plain, documented);
        assert_eq!(plain.len(), 64);
    }

    #[test]
    fn all_else_counts() {
        let leaf = "module leaf (input wire a);\nendmodule\n";
        let top = "module top;\n    leaf one (.a(b & c));\nendmodule\n";
        let plain = of(leaf, top);
        for (leaf, top) in [
            (leaf.replace(" a", " z"), top.to_owned()),
            (leaf.to_owned(), top.replace('&', "|")),
            (leaf.replace("leaf", "twig"), top.replace("leaf", "twig")),
            (leaf.to_owned(), top.replace("leaf one", "leaf two")),
        ] {
            assert_ne!(of(&leaf, &top), plain, "{leaf}{top}");
        }
    }
}
