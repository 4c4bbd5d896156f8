//! The send path.

use super::{Rule, NONE};

/// All of them.
pub const RULES: &[Rule] = &[
    Rule {
        block: "tx_merge::gather::grant_cut::GrantCut",
        because: "what is ready for `requested` stays so until something comes: it is a queue",
        says: "\
  reg had_space = 1'b0;
  always @(posedge `CLOCK) had_space <= requested_ready & ~requested_valid & ~in_reset;
  always @* if (had_space & ~in_reset) assume(requested_ready);
",
        ..NONE
    },
    Rule {
        block: "tx_merge::fence::Fence",
        because: "a confirmation is taken before 2^15 more descriptors have finished",
        trusts: "  always @* if (passed) assume(!ahead[15]);\n",
        ..NONE
    },
    Rule {
        block: "tx_merge::event_merge::EventMerge",
        because: "a link event may change until it is taken, as in `LinkControl`",
        changes: &["link_event", "send_event"],
        ..NONE
    },
    Rule {
        block: "tx_merge::TxMerge",
        because: "a link event may change until it is taken, as in `LinkControl`",
        changes: &["link_event", "send_event"],
        ..NONE
    },
];
