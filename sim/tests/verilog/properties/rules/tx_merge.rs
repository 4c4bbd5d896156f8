//! The send path.

use super::{Rule, NONE};

/// All of them.
pub const RULES: &[Rule] = &[
    Rule {
        block: "tx_merge::descriptor::Descriptor",
        because: "what leaves goes to queues: it is not held while the numbers have no space",
        falls: &["fields", "header"],
        ..NONE
    },
    Rule {
        block: "tx_merge::resolve::Resolve",
        because: "fields go to a queue, which takes what is offered when it is ready",
        falls: &["fields"],
        ..NONE
    },
    Rule {
        block: "tx_merge::assemble::Assemble",
        because: "header beats go to a memory, which takes what is offered when it is ready",
        falls: &["template"],
        ..NONE
    },
    Rule {
        block: "tx_merge::segment::Segment",
        because: "header beats go to a memory, which takes what is offered when it is ready",
        falls: &["template"],
        ..NONE
    },
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
