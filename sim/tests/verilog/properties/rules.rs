//! What single blocks may rely on beyond the rule of streams, and where a stream is not held.
//!
//! ```text
//!   rule of the head ─► assumed of the inputs ─┐
//!   streams that are not held ─────────────────┴─► what is stated of the block's other streams
//! ```
//! Each rule cites the block's head, or the description of its port.

mod card;
mod dma;
mod host_interface;
mod rx_split;
mod stream;
mod tables;
mod tx_merge;

use crate::properties::stated::Layout;

/// What is said of one block.
pub struct Rule {
    /// The block's name in the registry.
    pub block: &'static str,
    /// Why, in a sentence.
    pub because: &'static str,
    /// Verilog about the block's ports: `assume` of its inputs, `assert` of its outputs. Of a part
    /// of another block both are exchanged. `BITS(PORT)` is a width.
    pub says: &'static str,
    /// Verilog inside of the block, which helps its own proof: `SEE(CHILD.SIGNAL, BITS)` looks
    /// into a child.
    pub lemma: &'static str,
    /// The same around the block, beside `says`.
    pub joint: &'static str,
    /// Verilog inside of the block with what is assumed there and proven nowhere.
    pub trusts: &'static str,
    /// The block is combinational, and nothing else is said of it.
    pub is_function: bool,
    /// It is examined with the block around it, not as a part of it.
    pub is_inside: bool,
    /// Ports whose fields the text names as `PORT.FIELD`.
    pub layouts: &'static [Layout],
    /// Streams whose content may change until it is taken.
    pub changes: &'static [&'static str],
    /// Streams whose offers may also fall.
    pub falls: &'static [&'static str],
    /// Ports that say that the block forgets; without any, all inputs that end with `reset`.
    pub resets: &'static [&'static str],
    /// Streams that are forgotten with another port instead.
    pub resets_of: &'static [(&'static str, &'static str)],
}

/// No rule: what is not said.
const NONE: Rule = Rule {
    block: "",
    because: "",
    says: "",
    lemma: "",
    joint: "",
    trusts: "",
    is_function: false,
    is_inside: false,
    layouts: &[],
    changes: &[],
    falls: &[],
    resets: &[],
    resets_of: &[],
};

/// The rule of a block, if it has one.
pub fn rule_of(block: &str) -> Option<&'static Rule> {
    all().find(|rule| rule.block == block)
}

/// All of them.
pub fn all() -> impl Iterator<Item = &'static Rule> {
    let of_crates = [
        card::RULES,
        dma::RULES,
        host_interface::RULES,
        rx_split::RULES,
        stream::RULES,
        tables::RULES,
        tx_merge::RULES,
    ];
    of_crates.into_iter().flatten()
}
