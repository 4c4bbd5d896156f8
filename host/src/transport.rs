//! The transport: a box with headers in and headers out, behind which any TCP may run.
//!
//! ```text
//!   application (control stack)                     card
//!        | feed(n)      drain(n) |                    ^ |
//!        v                       |                    | v
//!   +---------------------------------+  poll_header  | |
//!   |  shadow sockets                 |---------------+ |
//!   |  protocol stack on filler bytes |  deliver        |
//!   |                                 |<----------------+
//!   +---------------------------------+  deliver_frame
//! ```
//!
//! No payload byte ever passes: the stack works on filler of the right length, and the card puts
//! the real bytes in (by sequence number) or keeps them out. What the application wants to send is
//! announced by [`Transport::feed`]; what the stack has accepted in order is fetched as a byte
//! count by [`Transport::drain`]. Sequence numbers and acknowledgements are not reported here: the
//! headers that pass carry them.
//!
//! Invariants
//! 1. No call blocks. A call that can do nothing now says so in its result.
//! 2. [`TransmitHeader::bytes`] ends with the transport header; payload bytes never follow it. A
//!    frame that is not TCP is whole and has `payload_bytes` 0.
//! 3. [`Transport::drain`] takes at most what was asked, so the receive window that the stack
//!    offers closes when the application has no buffers.
//! 4. Ids are never reused while the transport lives.
//!
//! A new TCP is a type that implements [`Transport`]; [`crate::provider::Provider::open`] takes it.
//! A protocol that is not TCP does without this trait: it gives the card a header profile
//! ([`crate::control::profile`]) and drives a [`crate::device::Device`] itself, as
//! [`crate::message`] does; the smallest one is `sim/examples/own_transport.rs`.
//!
//! | transport | where it runs | used when |
//! |---|---|---|
//! | `LinuxTransport` | kernel TCP behind a TAP device | network namespaces are allowed |
//! | `SmoltcpTransport` | smoltcp in this process | everywhere else |

use std::net::SocketAddr;
use std::os::fd::BorrowedFd;

mod boxed;
mod error;
pub mod header;
mod link;
mod linux;
mod open;
pub mod peer;
mod smol;
mod stream;

pub use self::error::{Result, TransportError};
pub use self::link::{InterfaceAddress, LinkConfig, Tuning, IPV6_MTU_BYTES_MIN};
pub use self::linux::LinuxTransport;
pub use self::open::open;
pub use self::smol::stack::{Clock, ManualClock};
pub use self::smol::SmoltcpTransport;
pub use self::stream::{Drained, ListenerId, StreamId, StreamInfo, StreamState, StreamStatus};

/// What kind of frame a header opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameKind {
    /// TCP: `bytes` end with the TCP header, payload is to be merged.
    Tcp,
    /// Anything else (ARP, neighbour discovery): `bytes` are the whole frame.
    Whole,
}

/// Where a checksum goes that the sender of the frame still has to compute.
///
/// The field at `start + offset` holds the folded pseudo-header sum; the checksum covers `start`
/// to the end of the frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChecksumRequest {
    /// First byte covered, from the start of the frame.
    pub start: u16,
    /// The checksum field, from `start`.
    pub offset: u16,
}

/// One packet that the transport wants on the wire, payload left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransmitHeader {
    /// From the Ethernet header to the end of the TCP header; or a whole frame.
    pub bytes: Vec<u8>,
    /// Whether payload is to be merged.
    pub kind: FrameKind,
    /// Payload bytes that follow the header, up to 64 KiB.
    pub payload_bytes: u32,
    /// Payload bytes for each packet on the wire (TSO), or 0 when the packet goes as it is.
    pub segment_bytes: u16,
    /// The checksum to complete; `None` when all checksums are final.
    pub checksum: Option<ChecksumRequest>,
}

/// Something happened that may let a waiting user go on. Spurious events are allowed, and one
/// event may stand for several: look at the stream until it has nothing more to give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A listener may have a connection to accept.
    Incoming(ListenerId),
    /// A stream may have connected, may have bytes, may take more, or may have ended.
    Stream(StreamId),
}

/// Headers and bytes that passed, for the claim that payload does not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TransportCounters {
    /// Headers handed out by [`Transport::poll_header`].
    pub transmit_headers: u64,
    /// Payload bytes that those headers announced.
    pub transmit_payload_bytes: u64,
    /// Bytes read from the stack in order to get those headers.
    pub transmit_read_bytes: u64,
    /// Headers and frames handed in.
    pub receive_headers: u64,
    /// Payload bytes those headers announced, all of them filler.
    pub receive_payload_bytes: u64,
    /// Outgoing frames that are not TCP and too long to be taken whole: dropped.
    pub oversize_frames: u64,
    /// Headers handed in while the stack could not take them: dropped, as on a full ring.
    pub receive_overruns: u64,
}

/// A protocol stack that sees headers and lengths, never payload.
pub trait Transport: Send {
    /// The next header that wants to go out, if there is one.
    fn poll_header(&mut self) -> Result<Option<TransmitHeader>>;

    /// Hands in the header of a verified TCP packet (Ethernet to end of TCP, as on the wire) whose
    /// `payload_bytes` lie, or do not lie, elsewhere. The transport receives filler in their place
    /// and does not check the TCP checksum. The IP length must fit `payload_bytes`.
    fn deliver(&mut self, header: &[u8], payload_bytes: usize) -> Result<()>;

    /// Hands in a whole frame that is not TCP, without frame check sequence, checksums final.
    fn deliver_frame(&mut self, frame: &[u8]) -> Result<()>;

    /// Starts a connection. Its local address is known at once, its SYN comes out as a header.
    fn connect(&mut self, remote: SocketAddr) -> Result<StreamId>;

    /// Opens a port; port 0 lets the transport choose.
    fn listen(&mut self, local: SocketAddr) -> Result<ListenerId>;

    /// The address a listener is bound to.
    fn listener_address(&self, listener: ListenerId) -> Result<SocketAddr>;

    /// The next established connection of a listener, if there is one.
    fn accept(&mut self, listener: ListenerId) -> Result<Option<StreamId>>;

    /// Closes a port; accepted streams live on.
    fn close_listener(&mut self, listener: ListenerId) -> Result<()>;

    /// The application has `bytes` more to send. Returns how many the stack takes now, possibly 0.
    fn feed(&mut self, stream: StreamId, bytes: u64) -> Result<u64>;

    /// Takes up to `bytes_max` bytes that the stack has accepted in order.
    fn drain(&mut self, stream: StreamId, bytes_max: u64) -> Result<Drained>;

    /// Ends the sending half after what was fed; the receiving half stays open.
    fn finish(&mut self, stream: StreamId) -> Result<()>;

    /// Forgets the stream. The stack ends the connection in its own time, by RST when received
    /// bytes were not drained.
    fn close(&mut self, stream: StreamId) -> Result<()>;

    /// Forgets the stream and resets the connection.
    fn abort(&mut self, stream: StreamId) -> Result<()>;

    /// What the stream can do now.
    fn status(&mut self, stream: StreamId) -> Result<StreamStatus>;

    /// Measurements of the stream.
    fn info(&mut self, stream: StreamId) -> Result<StreamInfo>;

    /// The local and the remote address of a stream.
    fn addresses(&self, stream: StreamId) -> Result<(SocketAddr, SocketAddr)>;

    /// The next event of a listener or stream, if there is one.
    fn poll_event(&mut self) -> Result<Option<Event>>;

    /// A descriptor that turns readable when a header or an event waits; `None` when only polling
    /// helps.
    fn readiness(&self) -> Option<BorrowedFd<'_>>;

    /// Whether payload with an ACK number below what is acknowledged is taken, within the peer's
    /// window and what it has acknowledged (RFC 5961, 5.2); otherwise none is. What a TCP refuses
    /// must not stand in the application's memory, so the answer must not be too generous.
    fn takes_old_acks(&self) -> bool {
        false
    }

    /// What passed so far.
    fn counters(&self) -> TransportCounters;
}
