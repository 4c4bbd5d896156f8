//! How a protocol ended a connection.

/// How a protocol ended a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Error number, as of Linux.
    pub errno: i32,
    /// The reason.
    pub why: String,
    /// Stream offset up to which bytes may still be accepted.
    pub accepted_to: u64,
}
