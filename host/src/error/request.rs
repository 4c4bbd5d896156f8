//! What is wrong with a request on a connection.

use thiserror::Error;

use crate::records::state::PostedState;

/// A request cannot be made, or not now.
#[derive(Debug, Error)]
pub enum RequestError {
    /// No such connection.
    #[error("no connection {0}")]
    UnknownConnection(u32),
    /// A request on a connection that was closed, or a send after its sending half was finished.
    #[error("connection {0} was finished or closed")]
    Finished(u32),
    /// No such request.
    #[error("connection {connection} has no open request {request}")]
    UnknownRequest {
        /// The connection.
        connection: u32,
        /// The application's name for the request.
        request: u64,
    },
    /// A connection has too many open requests in one direction: wait for completions.
    #[error("connection {connection} has {limit} open requests, the limit; wait for completions")]
    TooManyRequests {
        /// The connection.
        connection: u32,
        /// The limit.
        limit: usize,
    },
    /// A request was to be cancelled that the card knows.
    #[error(
        "request {request} of connection {connection} is posted, {state}: it cannot be cancelled"
    )]
    RequestPosted {
        /// The connection.
        connection: u32,
        /// The application's name for the request.
        request: u64,
        /// How far it has come.
        state: PostedState,
    },
    /// Hash secrets were to be changed while others are.
    #[error("hash secrets are being changed; one change at a time")]
    Rekeying,
}
