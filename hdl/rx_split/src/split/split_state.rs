//! The steps of a plan.

use stream::prelude::*;

/// The step of a plan that is at hand.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum SplitState {
    /// No plan is at hand.
    Idle,
    /// One job for each piece.
    Pieces,
    /// One job for the whole payload, to the slow buffer.
    Slow,
    /// The job of the entry's second slot.
    Second,
    /// The job of the entry's first slot.
    First,
    /// The job of a release of dropped packets.
    Discard,
    /// The job of a confirmation.
    Confirm,
}
