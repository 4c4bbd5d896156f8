//! Signals of children in the lemmas of the block around them.
//!
//! ```text
//!   lemma: SEE(CHILD.SIGNAL, BITS) ─► net seen__CHILD__SIGNAL, anything ─► in each state: equal to
//!                                                                         CHILD.SIGNAL
//! ```
//! Yosys knows no names that look into another module; the solver knows all of them. Of a memory it
//! is the place that a signal of the looking module names: `SEE(CHILD.MEMORY[SIGNAL], BITS)`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

/// How a net that looks into a child is named in front.
const PREFIX: &str = "seen__";
/// The name of a state in a term.
pub const STATE: &str = "STATE";
/// What stands between a memory and its index in the name of a net.
const AT: &str = "__AT__";
/// How a lemma names what it looks at: then the path, the width and a bracket.
const MARK: &str = "`SEE(";

/// A text after the nets that it looks through.
pub fn with_nets(text: &str) -> String {
    let mut nets = BTreeMap::new();
    let mut parts = text.split(MARK);
    let mut said = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (words, behind) = part.split_once(')').expect("a bracket");
        let (path, bits) = words.split_once(", ").expect("a path and a width");
        let bits: usize = bits.parse().expect("a width");
        let path = path.replace('[', AT).replace(']', "");
        let net = format!("{PREFIX}{}", path.replace('.', "__"));
        said += &net;
        said += behind;
        nets.insert(net, bits);
    }
    let mut declared = String::new();
    for (net, bits) in nets {
        let _ = writeln!(declared, "  (* keep, anyseq *) wire [{}:0] {net};", bits - 1);
    }
    declared + &said
}

/// Terms of the solver about a state, whose name is [`STATE`], that are equal in each: a net that
/// looks into a child, and what it looks at.
pub fn pairs(relation: &str, names: &[&str]) -> Vec<(String, String)> {
    let pair = |name: &&str| {
        let from = name.rfind('.').map_or(0, |dot| dot + 1);
        let target = name[from..].strip_prefix(PREFIX)?.replace("__", ".");
        let (path, net) = (&name[..from], value(name));
        let Some((memory, index)) = target.split_once(&AT.replace("__", ".")) else {
            let target = format!("{path}{target}");
            assert!(names.contains(&target.as_str()), "{name}: no {target}");
            return Some((net, value(&target)));
        };
        let (memory, index) = (format!("|top_m {path}{memory}|"), format!("{path}{index}"));
        assert!(relation.contains(&memory), "{name}: no {memory}");
        assert!(names.contains(&index.as_str()), "{name}: no {index}");
        // A net of one bit is no vector.
        let is_bit =
            relation.contains(&format!("(define-fun |top_n {name}| ((state |top_s|)) Bool"));
        let net = if is_bit { format!("(ite {net} #b1 #b0)") } else { net };
        Some((net, format!("(select ({memory} {STATE}) {})", value(&index))))
    };
    names.iter().filter_map(pair).collect()
}

/// The value of a signal.
pub fn value(name: &str) -> String {
    format!("(|top_n {name}| {STATE})")
}
