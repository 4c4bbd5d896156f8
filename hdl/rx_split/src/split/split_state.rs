//! The steps of a plan.

use stream::prelude::*;

/// What `split` waits for.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum SplitState {
    /// A plan.
    Idle,
    /// The copy engine takes the pieces.
    Pieces,
    /// It takes the slow buffer's job.
    Slow,
    /// It takes the second slot.
    Second,
    /// It takes the first slot.
    First,
    /// It takes the release of dropped packets.
    Discard,
    /// It takes the confirmation.
    Confirm,
}
