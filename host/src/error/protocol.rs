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
    /// A flow's key and its install name different header profiles.
    #[error("flow {flow}: its key has header profile {key}, its install {install}")]
    ProfilesDiffer {
        /// Flow id.
        flow: u16,
        /// Header profile in the key.
        key: u8,
        /// Header profile of the install.
        install: u8,
    },
    /// A flow's header profile is not among [`crate::protocol::Protocol::profiles`].
    #[error("flow {flow}: the protocol has set no header profile {profile}")]
    UnknownProfile {
        /// Flow id.
        flow: u16,
        /// Number of the profile.
        profile: u8,
    },
    /// The IP protocol in a flow's key is not that of its header profile.
    #[error(
        "flow {flow}: IP protocol {found} in its key, header profile {profile} has {expected}"
    )]
    WrongIpProtocol {
        /// Flow id.
        flow: u16,
        /// IP protocol number in the key.
        found: u8,
        /// Number of the profile.
        profile: u8,
        /// IP protocol number of the profile.
        expected: u8,
    },
    /// The local port in a flow's key is not the one by which the card knows the header profile.
    #[error("flow {flow}: local port {port} in its key, header profile {profile} has {expected}")]
    WrongPort {
        /// Flow id.
        flow: u16,
        /// Local port in the key.
        port: u16,
        /// Number of the profile.
        profile: u8,
        /// Port of the profile.
        expected: u16,
    },
    /// A flow's message key is longer than that of its header profile.
    #[error("flow {flow}: a message key of {bytes} bytes, header profile {profile} has {allowed}")]
    LongMessageKey {
        /// Flow id.
        flow: u16,
        /// Bytes up to the last that is not 0.
        bytes: u8,
        /// Number of the profile.
        profile: u8,
        /// Bytes of the profile's message key.
        allowed: u8,
    },
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
