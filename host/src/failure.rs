//! Why a connection failed.
//!
//! ```text
//!   its protocol ends it ─────────┐
//!   its packets or headers ───────┼─► Failure ── number, text ──► application
//!   card, rings, memory ──────────┘
//! ```
//! What can be acted on is a variant of its own, with the numbers that were wrong. The error number
//! is that of Linux which tells most of it.

use std::borrow::Cow;

use abi::reason::SendError;
use thiserror::Error;

use crate::driver::error::DriverError;
use crate::error::protocol::ProtocolError;
use crate::error::region::RegionError;
use crate::error::HostError;

/// Why a connection failed. `Display` is the reason in words.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Failure {
    /// Its protocol has ended it, or has refused a call.
    #[error("{reason}")]
    Protocol {
        /// Error number of the protocol: for Linux TCP that of its socket.
        errno: i32,
        /// What the protocol says.
        reason: Cow<'static, str>,
    },
    /// Its application has given it up ([`crate::provider::Provider::abort`]).
    #[error("given up by its application")]
    Aborted,
    /// The host refused a write of the card to one of the connection's regions.
    #[error("DMA write refused at {address:#x}")]
    WriteRefused {
        /// Bus address.
        address: u64,
    },
    /// The card refused a command of the connection's flow, or of the flow that sends for it.
    #[error("command {opcode} refused: {status}")]
    CommandRefused {
        /// Opcode.
        opcode: u8,
        /// Name of the status.
        status: &'static str,
    },
    /// A ring of the connection's shard has stopped.
    #[error("the {ring} ring of owner {owner} has stopped")]
    RingStopped {
        /// Owner of the ring.
        owner: u8,
        /// Name of the ring.
        ring: &'static str,
    },
    /// The card could not send a header of the connection.
    #[error("send failed: {}", send_error_name(*.error))]
    SendFailed {
        /// The reason; `None` for a code that this library does not know.
        error: Option<SendError>,
    },
    /// The payload of a packet may not be visible: the read that flushes its memory has failed.
    #[error("flow {flow}: no flush read of its memory completed")]
    Unflushed {
        /// Flow id.
        flow: u16,
    },
    /// The protocol sends payload that the application has not offered.
    #[error("the protocol sends {bytes} bytes at {position}: not offered")]
    NotOffered {
        /// Position of the first byte.
        position: u32,
        /// Number of bytes.
        bytes: u32,
    },
    /// The protocol sends more at once than a descriptor or a frame takes.
    #[error(
        "the protocol sends {bytes} bytes in frames of {mss_bytes}; the limits are {bytes_max} and \
         {mss_bytes_max}"
    )]
    DescriptorLimit {
        /// Payload of the header.
        bytes: u32,
        /// Largest payload of a frame.
        mss_bytes: u32,
        /// Most payload of a header.
        bytes_max: u32,
        /// Most payload of a frame.
        mss_bytes_max: u32,
    },
    /// There is no memory for what connections beyond the flow table send.
    #[error("no bounce region of {bytes} bytes for owner {owner}: {why}")]
    NoBounce {
        /// The owner.
        owner: u8,
        /// Length of the region.
        bytes: usize,
        /// Why there is none.
        why: String,
    },
    /// The handshake of an accepted connection is not known any more.
    #[error("{}", ProtocolError::HandshakeForgotten(*.flow))]
    HandshakeForgotten {
        /// Flow id.
        flow: u16,
    },
    /// A buffer lies in a region that is gone.
    #[error("no region {region}")]
    UnknownRegion {
        /// Region index.
        region: u16,
    },
    /// The memory of a region cannot be reached.
    #[error("region {region} cannot be mapped: {why}")]
    Mapping {
        /// Region index.
        region: u16,
        /// Why not.
        why: String,
    },
    /// Bytes that the protocol has accepted are neither in place nor deferred.
    #[error("flow {flow}: {bytes} accepted bytes at stream offset {offset} are missing")]
    BytesMissing {
        /// Flow id.
        flow: u16,
        /// Stream offset.
        offset: u64,
        /// Number of missing bytes.
        bytes: u64,
    },
    /// Another error of the host, in its words.
    #[error("{text}")]
    Host {
        /// The error.
        text: String,
    },
}

impl Failure {
    /// A protocol ends a connection with an error number of Linux, and says why.
    pub fn protocol(errno: i32, reason: impl Into<Cow<'static, str>>) -> Self {
        Self::Protocol { errno, reason: reason.into() }
    }

    /// The failure of a connection that an error ends.
    pub fn of(error: &HostError) -> Self {
        match error {
            HostError::Transport(error) => Self::protocol(error.errno(), error.to_string()),
            &HostError::Driver(DriverError::RingStopped { owner, ring }) => {
                Self::RingStopped { owner, ring }
            }
            &HostError::Region(RegionError::UnknownRegion(region)) => {
                Self::UnknownRegion { region }
            }
            HostError::Region(RegionError::Mapping { region, source }) => {
                Self::Mapping { region: *region, why: source.to_string() }
            }
            HostError::Region(RegionError::NoBounce { owner, bytes, why }) => {
                Self::NoBounce { owner: *owner, bytes: *bytes, why: why.clone() }
            }
            &HostError::Protocol(ProtocolError::HandshakeForgotten(flow)) => {
                Self::HandshakeForgotten { flow }
            }
            &HostError::Protocol(ProtocolError::BytesMissing { flow, offset, bytes }) => {
                Self::BytesMissing { flow, offset, bytes }
            }
            other => Self::Host { text: other.to_string() },
        }
    }

    /// Whether what was placed before is what the peer has sent: not where a write of the card was
    /// refused, or may not be visible.
    pub(crate) fn spares_payload(&self) -> bool {
        !matches!(self, Self::WriteRefused { .. } | Self::Unflushed { .. })
    }

    /// What kind of failure it is, as an error number of Linux: that of its TCP (`ECONNRESET`,
    /// `ETIMEDOUT`, ...), `EFAULT` when card or host could not reach a region, `EIO` when the card
    /// failed, `ECANCELED` when it was given up, `ENETDOWN` when the wire was down, `ENOBUFS` when
    /// there was no room for its flow, `EPROTO` and `EMSGSIZE` when the protocol broke its
    /// contract.
    pub fn errno(&self) -> i32 {
        match self {
            Self::Protocol { errno, .. } => *errno,
            Self::WriteRefused { .. } | Self::UnknownRegion { .. } | Self::Mapping { .. } => {
                libc::EFAULT
            }
            Self::SendFailed { error: Some(SendError::SendRegionRefused) } => libc::EFAULT,
            Self::SendFailed { error: Some(SendError::LinkDown) } => libc::ENETDOWN,
            Self::Aborted => libc::ECANCELED,
            Self::NotOffered { .. } => libc::EPROTO,
            Self::DescriptorLimit { .. } => libc::EMSGSIZE,
            Self::NoBounce { .. } | Self::HandshakeForgotten { .. } => libc::ENOBUFS,
            Self::CommandRefused { .. }
            | Self::RingStopped { .. }
            | Self::SendFailed { .. }
            | Self::Unflushed { .. }
            | Self::BytesMissing { .. }
            | Self::Host { .. } => libc::EIO,
        }
    }
}

fn send_error_name(error: Option<SendError>) -> &'static str {
    error.map_or("unknown", SendError::name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::MemoryError;
    use crate::transport::{StreamId, TransportError};
    use std::io;

    #[test]
    fn failure_has_its_causes_number() {
        let of = |error: HostError| Failure::of(&error).errno();
        let stream = |number| TransportError::Stream {
            stream: StreamId(1),
            source: io::Error::from_raw_os_error(number),
        };
        for number in [libc::ECONNRESET, libc::ETIMEDOUT, libc::ECONNREFUSED] {
            assert_eq!(of(stream(number).into()), number);
        }
        let (call, asked, taken) = ("feed", 1, 2);
        let broken = TransportError::TookTooMuch { call, asked, taken };
        assert_eq!(of(broken.into()), libc::EPROTO);
        assert_eq!(of(HostError::Region(RegionError::UnknownRegion(3))), libc::EFAULT);
        let owner = 1;
        let (bytes, why) = (1 << 21, String::new());
        assert_eq!(
            of(HostError::Region(RegionError::NoBounce { owner, bytes, why })),
            libc::ENOBUFS
        );
        let ring = "send";
        assert_eq!(of(HostError::Driver(DriverError::RingStopped { owner, ring })), libc::EIO);
        let of_send = |error| Failure::SendFailed { error }.errno();
        assert_eq!(of_send(Some(SendError::SendRegionRefused)), libc::EFAULT);
        assert_eq!(of_send(Some(SendError::LinkDown)), libc::ENETDOWN);
        assert_eq!(of_send(Some(SendError::SendBadFlow)), libc::EIO);
        assert_eq!(of_send(None), libc::EIO);
    }

    /// What an application is told is what the error says.
    #[test]
    fn failure_reads_as_its_error() {
        let (flow, offset, bytes) = (3, 1 << 40, 7);
        let source = io::Error::from_raw_os_error(libc::ENOMEM);
        let source = MemoryError::System { call: "mprotect", source };
        for error in [
            HostError::Region(RegionError::UnknownRegion(3)),
            HostError::Region(RegionError::Mapping { region: 4, source }),
            HostError::Protocol(ProtocolError::HandshakeForgotten(9)),
            HostError::Protocol(ProtocolError::BytesMissing { flow, offset, bytes }),
            HostError::Region(RegionError::NoBounce {
                owner: 2,
                bytes: 1 << 21,
                why: "none left".to_owned(),
            }),
            HostError::Driver(DriverError::RingStopped { owner: 2, ring: "send" }),
            HostError::Protocol(ProtocolError::UnknownFlow(17)),
            TransportError::PortsExhausted { ports: 9 }.into(),
        ] {
            assert_eq!(Failure::of(&error).to_string(), error.to_string());
        }
    }
}
