//! How a protocol ended a connection.

use crate::failure::Failure;

/// How a protocol ended a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The reason.
    pub reason: Failure,
    /// Stream offset up to which bytes may still be accepted.
    pub accepted_to: u64,
}
