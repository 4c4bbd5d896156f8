//! Errors of transports and of test peers.

use std::io;

use thiserror::Error;

use super::stream::{ListenerId, StreamId};
use crate::headers::error::HeaderError;

/// The result of a transport call.
pub type Result<T> = std::result::Result<T, TransportError>;

/// An error of a [`Transport`](super::Transport) or of a
/// [`WirePeer`](super::peer::WirePeer).
#[derive(Debug, Error)]
pub enum TransportError {
    /// The kernel refuses a network namespace to this process.
    #[error("network namespace refused: {step}: {source}")]
    NamespaceRefused {
        /// The call that was refused.
        step: &'static str,
        /// The error number of the call.
        source: io::Error,
    },
    /// The TAP driver is missing, or this process may not use it.
    #[error("no TAP device: {step}: {source}")]
    TapRefused {
        /// The call that was refused.
        step: &'static str,
        /// The error number of the call.
        source: io::Error,
    },
    /// The network interface could not be configured.
    #[error("network interface not configured: {step}: {source}")]
    Interface {
        /// Step that failed.
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
        /// The stream that failed; it stays valid until it is closed.
        stream: StreamId,
        /// The error as the transport reports it.
        source: io::Error,
    },
    /// A transport took more bytes than requested.
    #[error("{call} of {asked} bytes returned {taken}")]
    TookTooMuch {
        /// The call.
        call: &'static str,
        /// Bytes requested.
        asked: u64,
        /// Bytes that it reported.
        taken: u64,
    },
    /// The stream does not exist, or no longer.
    #[error("unknown stream {0:?}")]
    UnknownStream(StreamId),
    /// The listener does not exist, or no longer.
    #[error("unknown listener {0:?}")]
    UnknownListener(ListenerId),
    /// A delivered header is not one that the transport can take.
    #[error(transparent)]
    Header(#[from] HeaderError),
    /// A frame is longer than the device supports.
    #[error("frame of {bytes} bytes exceeds the limit of {limit}")]
    FrameTooLong {
        /// Length of the frame.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// smoltcp supports a fixed number of addresses and routes.
    #[error("too many addresses or gateways: {0}")]
    TooManyAddresses(std::net::IpAddr),
    /// All local ports of the transport are in use.
    #[error("all {ports} local ports are in use")]
    PortsExhausted {
        /// Number of ports of the transport.
        ports: usize,
    },
    /// A connection was to begin at an address that the transport does not have.
    #[error("no address of this transport: {0}")]
    NotLocal(std::net::IpAddr),
    /// A connection was to begin at a port that another socket uses.
    #[error("the local address {0} is in use")]
    AddressInUse(std::net::SocketAddr),
    /// No configured address can reach the remote one.
    #[error("no local address can reach {0}")]
    Unreachable(std::net::IpAddr),
}

impl TransportError {
    /// Whether it is the packet that the transport refuses: no other packet suffers.
    pub fn is_of_packet(&self) -> bool {
        matches!(self, Self::Header(_) | Self::FrameTooLong { .. })
    }

    /// The error number of Linux that tells most of it.
    pub fn errno(&self) -> i32 {
        match self {
            Self::NamespaceRefused { source, .. }
            | Self::TapRefused { source, .. }
            | Self::Interface { source, .. }
            | Self::System { source, .. }
            | Self::Stream { source, .. } => source.raw_os_error().unwrap_or(libc::EIO),
            Self::TooManyAddresses(_) | Self::PortsExhausted { .. } | Self::NotLocal(_) => {
                libc::EADDRNOTAVAIL
            }
            Self::AddressInUse(_) => libc::EADDRINUSE,
            Self::Unreachable(_) => libc::ENETUNREACH,
            Self::TookTooMuch { .. }
            | Self::UnknownStream(_)
            | Self::UnknownListener(_)
            | Self::Header(_)
            | Self::FrameTooLong { .. } => libc::EPROTO,
        }
    }

    /// Whether this machine does not allow the kernel transport, so that the caller should use
    /// another one: our own ([`crate::tcp`]), or [`SmoltcpTransport`](super::SmoltcpTransport).
    pub fn is_refusal(&self) -> bool {
        match self {
            Self::NamespaceRefused { .. } | Self::TapRefused { .. } => true,
            Self::Interface { source, .. } => source.kind() == io::ErrorKind::PermissionDenied,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_forbidding_machine_is_a_refusal() {
        let error = |kind: io::ErrorKind| io::Error::from(kind);
        let (denied, step) = (io::ErrorKind::PermissionDenied, "a step");
        let refused = |error: TransportError| error.is_refusal();
        let source = error(io::ErrorKind::NotFound);
        assert!(refused(TransportError::NamespaceRefused { step, source }));
        let source = error(io::ErrorKind::NotFound);
        assert!(refused(TransportError::TapRefused { step, source }));
        for (kind, is_refusal) in [(denied, true), (io::ErrorKind::AlreadyExists, false)] {
            let source = error(kind);
            assert_eq!(refused(TransportError::Interface { step, source }), is_refusal);
            let (call, source) = (step, error(kind));
            assert!(!refused(TransportError::System { call, source }));
        }
    }
}
