//! Errors of protocols, control stack and provider: each room has its own, and this is one of them.
//!
//! ```text
//!   memory, transport, driver ── errors of their own ──┐
//!   table, region, protocol, request, application ─────┴─► HostError
//! ```

pub mod application;
pub mod protocol;
pub mod region;
pub mod request;
pub mod table;

use thiserror::Error;

use self::application::ApplicationError;
use self::protocol::ProtocolError;
use self::region::RegionError;
use self::request::RequestError;
use self::table::TableError;
use crate::driver::bus::BusError;
use crate::driver::error::DriverError;
use crate::memory::MemoryError;
use crate::records::queue::QueueError;
use crate::records::size::SizeError;
use crate::transport::TransportError;

/// Result of a call of a protocol, the control stack or the provider.
pub type Result<T, E = HostError> = std::result::Result<T, E>;

/// An error of a protocol, the control stack or the provider.
#[derive(Debug, Error)]
pub enum HostError {
    /// The driver or the card failed.
    #[error(transparent)]
    Driver(#[from] DriverError),
    /// Memory that cannot be registered.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The transport failed.
    #[error(transparent)]
    Transport(#[from] TransportError),
    /// A size that is not supported.
    #[error(transparent)]
    Size(#[from] SizeError),
    /// A table of the card has no room.
    #[error(transparent)]
    Table(#[from] TableError),
    /// A region or a buffer cannot be used.
    #[error(transparent)]
    Region(#[from] RegionError),
    /// A protocol cannot do what it is asked to.
    #[error(transparent)]
    Protocol(#[from] ProtocolError),
    /// A request cannot be made, or not now.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// An application or a shard cannot be used, or not be closed.
    #[error(transparent)]
    Application(#[from] ApplicationError),
}

impl From<BusError> for HostError {
    fn from(error: BusError) -> Self {
        DriverError::from(error).into()
    }
}

impl From<QueueError> for HostError {
    fn from(error: QueueError) -> Self {
        DriverError::from(error).into()
    }
}
