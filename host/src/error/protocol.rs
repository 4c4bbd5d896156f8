//! What a protocol cannot do, or has done wrong.

use thiserror::Error;

use crate::limits::UNCLAIMED_MAX;

/// Limit of established handshakes that wait to be accepted.
const HANDSHAKES: usize = UNCLAIMED_MAX[1];

/// A protocol cannot go on with a flow, or does not have a call.
#[derive(Debug, Error)]
pub enum ProtocolError {
    /// A protocol has no connection of this flow.
    #[error("the protocol has no connection of flow {0}")]
    UnknownFlow(u16),
    /// A call that the protocol does not have.
    #[error("the protocol offers no `{0}`")]
    NotOffered(&'static str),
    /// The options of both SYNs are not known: the handshake was evicted by later ones before the
    /// connection was accepted, or its SYNs never passed this host.
    #[error("flow {0}: handshake not known; at most {HANDSHAKES} unaccepted handshakes are kept")]
    HandshakeForgotten(u16),
    /// A message with this number is already in progress.
    #[error("message {0} is already in progress")]
    MessageKnown(u64),
    /// A number that no message can have: the top bit marks what is not one.
    #[error("message number {0:#x} has its top bit set; numbers are below 2^63")]
    MessageNumber(u64),
    /// Bytes that the transport accepted are neither in place nor deferred: a packet that it did
    /// not accept has overwritten them, or the card broke its contract.
    #[error("flow {flow}: {bytes} accepted bytes at stream offset {offset} are missing")]
    BytesMissing {
        /// Flow id.
        flow: u16,
        /// Stream offset.
        offset: u64,
        /// Number of missing bytes.
        bytes: u64,
    },
}
