//! How far a posted request has come.

use std::fmt;

/// State of a request whose segment was queued for the card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PostedState {
    /// The card has not confirmed the segment.
    Unconfirmed,
    /// The card has confirmed the segment: it may use the buffer.
    Confirmed,
}

impl fmt::Display for PostedState {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Unconfirmed => "not confirmed yet",
            Self::Confirmed => "confirmed",
        })
    }
}
