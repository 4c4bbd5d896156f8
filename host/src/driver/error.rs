//! What the driver and the control stack answer when they cannot.

use thiserror::Error;

use super::bus::BusError;
use crate::control::connection::handshake::UNCLAIMED_MAX;
use crate::transport::TransportError;

/// Handshakes of peers that have answered and wait to be accepted.
const HANDSHAKES: usize = UNCLAIMED_MAX[1];

/// What a call of the host crate may answer.
pub type Result<T> = std::result::Result<T, HostError>;

/// An error of the driver, the control stack or the provider.
#[derive(Debug, Error)]
pub enum HostError {
    /// The bus failed.
    #[error(transparent)]
    Bus(#[from] BusError),
    /// The transport failed.
    #[error(transparent)]
    Transport(#[from] TransportError),
    /// BAR 0 does not begin with the card's mark.
    #[error("no Zeronic card: register 0 reads {0:#010x}")]
    NotACard(u32),
    /// The card speaks another version of the contract.
    #[error("contract version {card:#010x} of the card, {host:#010x} of this library")]
    Version {
        /// Version that the card reports.
        card: u32,
        /// Version that this library was built with.
        host: u32,
    },
    /// A register did not take a value in time.
    #[error("the card did not finish its reset after {0} polls")]
    ResetTimeout(u32),
    /// A size in the configuration that the card cannot take.
    #[error("{name} of {value} is outside {min} to {max}")]
    BadSize {
        /// What was configured.
        name: &'static str,
        /// Its value.
        value: u64,
        /// Least value.
        min: u64,
        /// Largest value.
        max: u64,
    },
    /// No such owner.
    #[error("no owner {owner}: {open} are open")]
    UnknownOwner {
        /// Owner asked for.
        owner: u8,
        /// Owners that are open, from 0 on.
        open: usize,
    },
    /// No such application.
    #[error("no application {application}: {open} are open")]
    UnknownApplication {
        /// Application asked for.
        application: u8,
        /// Applications that are open, from 0 on.
        open: usize,
    },
    /// A buffer in a region of another application.
    #[error("region {region} belongs to application {owner}, connection {connection} to {user}")]
    ForeignRegion {
        /// Region index.
        region: u16,
        /// The application that registered it.
        owner: u8,
        /// Connection that was to use it.
        connection: u32,
        /// The application of that connection.
        user: u8,
    },
    /// A table of the card is full.
    #[error("all {limit} {what} are in use")]
    TableFull {
        /// What ran out.
        what: &'static str,
        /// How many there are.
        limit: usize,
    },
    /// No path in the flow table leads to a free slot for a key: too many keys share its buckets.
    #[error("no free slot for this connection's key among the {slots} of the flow table")]
    NoKeySlot {
        /// Slots of the flow table.
        slots: usize,
    },
    /// What the SYNs of a connection said is not known: it was forgotten, when too many others came
    /// before the connection was accepted, or never passed.
    #[error("connection {0}: its handshake is not known, {HANDSHAKES} are remembered")]
    HandshakeForgotten(u32),
    /// The card began another epoch by itself: nothing that was set up is valid any more.
    #[error("the card was reset: epoch {now}, not {before}; open it again")]
    EpochLost {
        /// Epoch in which it was opened.
        before: u32,
        /// Epoch it is in.
        now: u32,
    },
    /// A ring has stopped: the card could not read it, or found a wrong index in it.
    #[error("the {ring} ring of owner {owner} has stopped")]
    RingStopped {
        /// Its owner.
        owner: u8,
        /// Which ring.
        ring: &'static str,
    },
    /// The host refused a write of the card to memory of the control stack.
    #[error("a write of the card to control memory at {address:#x} was refused; open it again")]
    WriteRefused {
        /// Bus address.
        address: u64,
    },
    /// The card refused a command.
    #[error("command {opcode} of flow {flow} refused: {status}")]
    CommandRefused {
        /// Opcode.
        opcode: u8,
        /// Flow id in the command.
        flow: u16,
        /// Name of the status.
        status: &'static str,
    },
    /// A message of that number is on its way already.
    #[error("message {0} is on its way already")]
    MessageKnown(u64),
    /// A buffer that does not lie inside its region.
    #[error("{bytes} bytes at offset {offset} do not fit a region of {region_bytes} bytes")]
    BadBuffer {
        /// Offset in the region.
        offset: u64,
        /// Length.
        bytes: u64,
        /// Length of the region.
        region_bytes: u64,
    },
    /// No such connection.
    #[error("no connection {0}")]
    UnknownConnection(u32),
    /// A request of a connection whose sending half, or the whole of it, was ended before.
    #[error("connection {0} was finished")]
    Finished(u32),
    /// No such region.
    #[error("no region {0}")]
    UnknownRegion(u16),
    /// The memory of a region cannot be mapped.
    #[error("region {region} cannot be mapped: {source}")]
    Mapping {
        /// Region index.
        region: u16,
        /// The error number of the call.
        source: std::io::Error,
    },
    /// Bytes that the transport accepted are neither in place nor deferred: a packet that it did
    /// not accept fell upon them, or the card broke its contract.
    #[error("flow {flow}: {bytes} accepted bytes at stream offset {offset} are nowhere")]
    BytesMissing {
        /// Flow id.
        flow: u16,
        /// Stream offset.
        offset: u64,
        /// How many.
        bytes: u64,
    },
}
