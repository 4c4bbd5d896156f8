//! Errors of the driver, the control stack and the provider.

use std::time::Duration;

use thiserror::Error;

use super::bus::BusError;
use crate::memory::MemoryError;
use crate::observed::limits::UNCLAIMED_MAX;
use crate::records::state::PostedState;
use crate::transport::TransportError;

/// Limit of established handshakes that wait to be accepted.
const HANDSHAKES: usize = UNCLAIMED_MAX[1];

/// Result of a call of the host crate.
pub type Result<T> = std::result::Result<T, HostError>;

/// An error of the driver, the control stack or the provider.
#[derive(Debug, Error)]
pub enum HostError {
    /// The bus failed.
    #[error(transparent)]
    Bus(#[from] BusError),
    /// Memory that cannot be registered.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The transport failed.
    #[error(transparent)]
    Transport(#[from] TransportError),
    /// No register is answered any more: the card lost its power or its link, or was taken out.
    #[error(
        "the card is gone: all registers read 0xffffffff; see to its power and its link, then \
         open it again"
    )]
    Gone,
    /// BAR 0 does not begin with the card's id.
    #[error("no Zeronic card: register 0 reads {0:#010x}")]
    NotACard(u32),
    /// The board runs its golden image: that of the card was not loaded, or not yet.
    #[error(
        "the board runs its golden image, not the card's: write an image with `zeronic flash`, or \
         load the one that is there"
    )]
    GoldenImage,
    /// The card has another version of the contract.
    #[error("the card has contract version {card:#010x}, this library {host:#010x}")]
    Version {
        /// Version that the card reports.
        card: u32,
        /// Version that this library was built with.
        host: u32,
    },
    /// The card was still in reset, or still clearing its tables, after this time.
    #[error("the card did not finish its reset within {0:?}")]
    ResetTimeout(Duration),
    /// Memory requests of an earlier epoch have not ended: the link takes no writes, or not even
    /// the card's limit of 50 ms has ended its reads.
    #[error("memory requests from before the reset have not ended within {0:?}")]
    RequestsPending(Duration),
    /// A configured size that the card does not support.
    #[error("{name} is {value}, allowed are {min} to {max}")]
    BadSize {
        /// Name of the setting.
        name: &'static str,
        /// Value of the setting.
        value: u64,
        /// Smallest allowed value.
        min: u64,
        /// Largest allowed value.
        max: u64,
    },
    /// No such owner.
    #[error("no owner {owner}; {open} are open")]
    UnknownOwner {
        /// Number of the owner in the call.
        owner: u8,
        /// Owners that are open, from 0 on.
        open: usize,
    },
    /// No such application.
    #[error("no application {application}; {open} are open")]
    UnknownApplication {
        /// Number of the application in the call.
        application: u16,
        /// Applications that are open.
        open: usize,
    },
    /// An application was to be closed that still has something.
    #[error(
        "application {application} still has {listeners} listeners, {connections} connections, \
         {regions} regions"
    )]
    ApplicationBusy {
        /// Number of the application.
        application: u16,
        /// Its listeners.
        listeners: usize,
        /// Its connections, those that are being removed among them.
        connections: usize,
        /// Its regions, those that are being removed among them.
        regions: usize,
    },
    /// A shard was to be closed or restarted that still has something.
    #[error("shard {shard} still has {applications} applications, {connections} connections")]
    ShardBusy {
        /// Number of the shard.
        shard: u8,
        /// Its applications.
        applications: usize,
        /// Its connections, those that are being removed among them.
        connections: usize,
    },
    /// A connection was given a buffer in a region of another application.
    #[error(
        "region {region} belongs to application {application}, connection {connection} to {user}"
    )]
    ForeignRegion {
        /// Region index.
        region: u16,
        /// The application that registered it.
        application: u16,
        /// Connection of the request.
        connection: u32,
        /// The application of that connection.
        user: u16,
    },
    /// A table of the card is full.
    #[error("all {limit} {what} are in use")]
    TableFull {
        /// Kind of table entry.
        what: &'static str,
        /// Number of entries.
        limit: usize,
    },
    /// No memory for what connections beyond the flow table send.
    #[error("no bounce region of {bytes} bytes for owner {owner}: {why}")]
    NoBounce {
        /// The owner.
        owner: u8,
        /// Length of the region.
        bytes: usize,
        /// Why there is none.
        why: String,
    },
    /// No run of free page entries is long enough for a region.
    #[error(
        "region {region} of {bytes} bytes needs {needed} page entries in a row, for pages of \
         {page_bytes} bytes; {free} of {limit} are free in a row: {}",
        page_remedy(*.page_bytes, *.align_bytes)
    )]
    PagesFull {
        /// Region index.
        region: u16,
        /// Length of the region.
        bytes: u64,
        /// Page entries that it needs, in a row.
        needed: usize,
        /// Page entries that are free in a row.
        free: usize,
        /// Page entries of the card.
        limit: usize,
        /// Bytes of a page, as the region's address is aligned.
        page_bytes: u64,
        /// Alignment of its address that takes the fewest page entries.
        align_bytes: u64,
    },
    /// Cuckoo insertion found no free slot for a key: too many keys share its buckets.
    #[error("no free slot for the connection's key in the flow table of {slots} slots")]
    NoKeySlot {
        /// Slots of the flow table.
        slots: usize,
    },
    /// Hash secrets were to be changed while others are.
    #[error("hash secrets are being changed; one change at a time")]
    Rekeying,
    /// The options of both SYNs are not known: the handshake was evicted by later ones before the
    /// connection was accepted, or its SYNs never passed this host.
    #[error("flow {0}: handshake not known; at most {HANDSHAKES} unaccepted handshakes are kept")]
    HandshakeForgotten(u16),
    /// A protocol has no connection of this flow.
    #[error("the protocol has no connection of flow {0}")]
    UnknownFlow(u16),
    /// A call that the protocol does not have.
    #[error("the protocol offers no `{0}`")]
    NotOffered(&'static str),
    /// The card was reset from outside: nothing set up before is valid.
    #[error("the card was reset: epoch is {now}, was {before}; open the card again")]
    EpochLost {
        /// Epoch in which the card was opened.
        before: u32,
        /// Epoch of the card now.
        now: u32,
    },
    /// A ring has stopped: the card could not read it, or read a wrong index.
    #[error("the {ring} ring of owner {owner} has stopped")]
    RingStopped {
        /// Owner of the ring.
        owner: u8,
        /// Name of the ring.
        ring: &'static str,
    },
    /// The host refused a write of the card to memory of the control stack.
    #[error(
        "the IOMMU refused a card write to control memory at {address:#x}; open the card again"
    )]
    WriteRefused {
        /// Bus address.
        address: u64,
    },
    /// The card wrote a header entry that its rings do not allow: it is broken.
    #[error("header entry of owner {owner}: {what} is {value}, must be below {limit}")]
    BadEntry {
        /// Owner of the queue.
        owner: u8,
        /// The field.
        what: &'static str,
        /// Value of the field.
        value: u64,
        /// First value that is not allowed.
        limit: u64,
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
    /// No such request.
    #[error("connection {connection} has no open request {request}")]
    UnknownRequest {
        /// The connection.
        connection: u32,
        /// The application's name for the request.
        request: u64,
    },
    /// The card refused a command.
    #[error("the card refused command {opcode} of flow {flow}: {status}")]
    CommandRefused {
        /// Opcode.
        opcode: u8,
        /// Flow id in the command.
        flow: u16,
        /// Name of the status.
        status: &'static str,
    },
    /// A message with this number is already in progress.
    #[error("message {0} is already in progress")]
    MessageKnown(u64),
    /// A buffer outside its region.
    #[error("{bytes} bytes at offset {offset} exceed the region of {region_bytes} bytes")]
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
    /// A request on a connection that was closed, or a send after its sending half was finished.
    #[error("connection {0} was finished or closed")]
    Finished(u32),
    /// No such region.
    #[error("no region {0}")]
    UnknownRegion(u16),
    /// The memory of a region cannot be mapped.
    #[error("region {region} cannot be mapped: {source}")]
    Mapping {
        /// Region index.
        region: u16,
        /// Why not.
        source: MemoryError,
    },
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

/// What to do about a region that needs too many page entries.
fn page_remedy(page_bytes: u64, align_bytes: u64) -> String {
    let fewer = "register fewer or smaller regions";
    match page_bytes < align_bytes {
        true => format!("align its memory to {align_bytes} bytes, or {fewer}"),
        false => fewer.to_owned(),
    }
}
