//! The card, its cores and the window of the board.

use super::{Rule, NONE};

/// All of them.
pub const RULES: &[Rule] = &[
    Rule {
        block: "ip::cmac::send_guard::SendGuard",
        because:
            "invariants 1 and 2: a beat that waits is withdrawn when the link or an epoch ends",
        falls: &["beats"],
        ..NONE
    },
    Rule {
        block: "ip::cmac::receive::MacReceive",
        because: "invariant 1: a beat is offered for one cycle, and taken in it",
        falls: &["frames"],
        ..NONE
    },
    Rule {
        block: "ip::cmac::link_control::LinkControl",
        because: "invariant 2: the event tells the state of the moment in which it is taken",
        changes: &["link_event"],
        ..NONE
    },
    Rule {
        block: "hdl::card::Card",
        because: "a reset of the MAC says nothing of the rest",
        resets: &["user_reset"],
        ..NONE
    },
    Rule {
        block: "ip::cmac::send::MacSend",
        because: "a reset of the MAC says nothing of the card's side",
        resets: &["reset"],
        ..NONE
    },
    Rule {
        block: "ip::cmac::link::MacLink",
        because: "as `LinkControl` in it",
        changes: &["link_event"],
        ..NONE
    },
    Rule {
        block: "board::window::core_access::CoreAccess",
        because: "the sink of `reply` is ready: one access is outstanding",
        falls: &["reply"],
        ..NONE
    },
    Rule {
        block: "board::window::port_program::PortProgram",
        because: "the sink of `reply` has room: one request at a time",
        falls: &["reply"],
        ..NONE
    },
    Rule {
        block: "hdl::datapath::Datapath",
        because: "a frame's beat is offered in one cycle and taken or dropped in it",
        changes: &["link_event", "send_event", "flush_job"],
        falls: &["rx_frames"],
        ..NONE
    },
];
