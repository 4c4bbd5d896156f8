//! What can go wrong in a transport, with the number that tells it.

use std::io;

use thiserror::Error;

use super::stream::{ListenerId, StreamId};

/// The result of a transport call.
pub type Result<T> = std::result::Result<T, TransportError>;

/// An error of a [`Transport`](super::Transport) or of a
/// [`WirePeer`](super::peer::WirePeer).
#[derive(Debug, Error)]
pub enum TransportError {
    /// The kernel refuses a network namespace to this process, as root or in a user namespace.
    #[error("network namespace refused at {step}: {source}")]
    NamespaceRefused {
        /// The call that was refused.
        step: &'static str,
        /// The error number of the call.
        source: io::Error,
    },
    /// The TAP driver is missing or closed to this process.
    #[error("no TAP device at {step}: {source}")]
    TapRefused {
        /// The call that was refused.
        step: &'static str,
        /// The error number of the call.
        source: io::Error,
    },
    /// The interface of the namespace could not be configured.
    #[error("interface set-up failed at {step}: {source}")]
    Interface {
        /// The setting that was refused.
        step: &'static str,
        /// The error number of the call.
        source: io::Error,
    },
    /// A system call on a socket or device failed.
    #[error("{call}: {source}")]
    System {
        /// The name of the call.
        call: &'static str,
        /// The error number of the call.
        source: io::Error,
    },
    /// The connection failed: refused, reset, timed out or unreachable.
    #[error("stream {stream:?} failed: {source}")]
    Stream {
        /// The stream that failed; it stays known until it is closed.
        stream: StreamId,
        /// The error as the transport reports it.
        source: io::Error,
    },
    /// A transport took more bytes than it was asked for.
    #[error("{call} of {asked} bytes took {taken}")]
    TookTooMuch {
        /// The call.
        call: &'static str,
        /// Bytes it was asked for.
        asked: u64,
        /// Bytes it says it took.
        taken: u64,
    },
    /// The stream is not, or no longer, known.
    #[error("unknown stream {0:?}")]
    UnknownStream(StreamId),
    /// The listener is not, or no longer, known.
    #[error("unknown listener {0:?}")]
    UnknownListener(ListenerId),
    /// A header handed in ends before its fields do.
    #[error("header of {bytes} bytes ends inside its {layer} header")]
    HeaderTruncated {
        /// Bytes handed in.
        bytes: usize,
        /// The layer that is cut.
        layer: &'static str,
    },
    /// A header handed in is not TCP over IPv4 or IPv6.
    #[error("not a TCP header: {field} is {value:#x}")]
    NotTcp {
        /// The field that says so.
        field: &'static str,
        /// Its value.
        value: u32,
    },
    /// The IP length field and the bytes handed in disagree.
    #[error("IP length announces {announced} payload bytes, {given} were given")]
    PayloadLength {
        /// Payload bytes that follow from the IP header.
        announced: usize,
        /// Payload bytes of the call.
        given: usize,
    },
    /// A frame is longer than the device takes.
    #[error("frame of {bytes} bytes exceeds {limit}")]
    FrameTooLong {
        /// Length of the frame.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// smoltcp holds a fixed number of addresses and routes.
    #[error("no room for one more address or router: {0}")]
    TooManyAddresses(std::net::IpAddr),
    /// All local ports of the transport are in use.
    #[error("all {ports} local ports are in use")]
    PortsExhausted {
        /// How many ports the transport has.
        ports: usize,
    },
    /// No configured address fits the remote one.
    #[error("no local address can reach {0}")]
    Unreachable(std::net::IpAddr),
}

impl TransportError {
    /// Whether this machine forbids the kernel transport, so that the caller should fall back to
    /// [`SmoltcpTransport`](super::SmoltcpTransport).
    pub fn is_refusal(&self) -> bool {
        match self {
            Self::NamespaceRefused { .. } | Self::TapRefused { .. } => true,
            Self::Interface { source, .. } => source.kind() == io::ErrorKind::PermissionDenied,
            _ => false,
        }
    }
}
