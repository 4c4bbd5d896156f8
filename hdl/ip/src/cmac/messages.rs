//! What crosses between the MAC's side and the card's, and what software has set.

use stream::prelude::*;

/// What the card asks of the MAC's side.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct MacRequest {
    /// Empty the send side.
    pub flush: Bit,
    /// Begin no frame.
    pub hold: Bit,
    /// Ask the other end to pause.
    pub pause: Bit,
}

/// What the MAC's side reports.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct MacReport {
    /// The receiver is aligned to the lanes of the wire.
    pub aligned: Bit,
    /// The receiver sees no signal that it can decode.
    pub local_fault: Bit,
    /// The other end reports that it receives nothing.
    pub remote_fault: Bit,
    /// The other end asks for a pause.
    pub paused: Bit,
    /// The send side is empty: the answer to `flush`.
    pub flushed: Bit,
    /// Another value with each report: the clock runs.
    pub flips: Bit,
}

/// What software has set for the wire.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct WireSettings {
    /// Sends fail while the wire is down.
    pub sends_fail: Bit,
    /// The other end is asked to pause.
    pub asks_pause: Bit,
    /// Pauses of the other end are obeyed.
    pub obeys_pause: Bit,
    /// Longest pause that is obeyed, in cycles.
    pub limit_cycles: Bits<32>,
    /// Beats in the packet buffer from which on a pause is asked for.
    pub pause_beats: Bits<16>,
}
