//! The transport: a protocol stack with headers in and headers out. Any TCP can be one.
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
//! No payload byte ever passes through the transport. The stack works on filler of the right
//! length; the card inserts the real bytes on send and removes them on receive, by sequence number.
//! [`Transport::feed`] announces the bytes that the application wants to send; [`Transport::drain`]
//! returns how many bytes the stack has accepted in order. Sequence and acknowledgement numbers are
//! read from the headers.
//!
//! Invariants
//! 1. No call blocks. The result of a call shows whether it could do anything.
//! 2. [`TransmitHeader::bytes`] ends with the TCP header, never with payload. A frame that is not
//!    TCP is complete and has `payload_bytes` 0.
//! 3. [`Transport::drain`] takes at most the bytes requested, so the receive window of the stack
//!    closes when the application has no buffers.
//! 4. Ids are never reused during the life of a transport.
//!
//! This is the trait of a TCP that is a black box: [`crate::observed::Observed`] makes a
//! [`crate::protocol::Protocol`] of it for [`crate::provider::Provider::open`]. One that can say at
//! once what becomes of a packet implements that trait itself, as [`crate::message`] does.
//!
//! | transport | where it runs | used when |
//! |---|---|---|
//! | `LinuxTransport` | kernel TCP behind a TAP device | network namespaces are allowed |
//! | `SmoltcpTransport` | smoltcp in this process | otherwise |
//!
//! Our own TCP ([`crate::tcp`]) is a protocol by itself, and needs none of these.

use std::net::SocketAddr;
use std::os::fd::BorrowedFd;

use abi::config::{METADATA_BYTES, SLOT_BYTES};
use arrayvec::ArrayVec;

use crate::headers::run::Run;

mod boxed;
mod error;
mod link;
mod linux;
mod open;
pub mod patience;
pub mod peer;
mod smol;
mod stream;
mod timer;

pub use self::error::{Result, TransportError};
pub use self::link::{InterfaceAddress, LinkConfig, Tuning, IPV6_MTU_BYTES_MIN};
pub use self::linux::{zero_copy, LinuxTransport, VethPair};
pub use self::open::open;
pub use self::smol::SmoltcpTransport;
pub use self::stream::{Drained, ListenerId, StreamId, StreamInfo, StreamState, StreamStatus};
pub use self::timer::NextTimer;

/// Kind of an outgoing frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameKind {
    /// TCP: `bytes` ends with the TCP header; the card appends the payload.
    Tcp,
    /// Anything else (ARP, neighbour discovery): `bytes` is the whole frame.
    Whole,
}

/// A checksum that the sender of the frame has to complete.
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

/// Bytes of an outgoing header: as many as a send descriptor carries.
pub type TransmitBytes = ArrayVec<u8, { 2 * SLOT_BYTES - METADATA_BYTES }>;

/// The bytes of a header, if they are no more than a send descriptor carries.
pub fn transmit_bytes(header: &[u8]) -> Option<TransmitBytes> {
    let mut bytes = TransmitBytes::new();
    bytes.try_extend_from_slice(header).ok()?;
    Some(bytes)
}

/// One packet to be sent, without its payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransmitHeader {
    /// From the Ethernet header to the end of the TCP header; or a whole frame.
    pub bytes: TransmitBytes,
    /// Whether the card appends payload.
    pub kind: FrameKind,
    /// Payload bytes that follow the header, up to 64 KiB.
    pub payload_bytes: u32,
    /// Payload bytes of each packet on the wire (TSO), or 0 when the packet is sent whole.
    pub mss_bytes: u16,
    /// The checksum to complete; `None` when all checksums are final.
    pub checksum: Option<ChecksumRequest>,
}

/// A change that a waiting user may act on. Spurious events are allowed, and one event may stand
/// for several: read the stream until it has nothing more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A listener may have a connection to accept.
    Incoming(ListenerId),
    /// A stream may have connected, have bytes to drain, accept more bytes, or have ended.
    Stream(StreamId),
}

/// Headers and bytes that passed, as evidence that payload does not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TransportCounters {
    /// Headers handed out by [`Transport::poll_header`].
    pub transmit_headers: u64,
    /// Payload bytes that those headers announced.
    pub transmit_payload_bytes: u64,
    /// Bytes read from the stack to get those headers.
    pub transmit_read_bytes: u64,
    /// Headers and frames delivered.
    pub receive_headers: u64,
    /// Payload bytes announced by those headers, all of them filler.
    pub receive_payload_bytes: u64,
    /// Outgoing frames dropped because they are not TCP and too long for a send descriptor.
    pub oversize_frames: u64,
    /// Headers dropped on delivery because the stack could not take them, as on a full ring.
    pub receive_overruns: u64,
}

/// A protocol stack that sees headers and lengths, never payload.
pub trait Transport: Send {
    /// The next header to be sent, if there is one.
    fn poll_header(&mut self) -> Result<Option<TransmitHeader>>;

    /// Delivers the header of a verified TCP packet (Ethernet to end of TCP, as on the wire) with
    /// `payload_bytes` bytes of payload. The transport sees filler instead of the payload and does
    /// not check the TCP checksum. The IP length must match `payload_bytes`.
    fn deliver(&mut self, header: &[u8], payload_bytes: usize) -> Result<()>;

    /// Delivers a run of TCP packets from the header of the first, as [`Transport::deliver`] does
    /// one. A stack that can take several in one is given them so.
    fn deliver_run(&mut self, header: &[u8], run: &Run) -> Result<()> {
        for packet in 0..run.packets {
            let packet = packet..packet + 1;
            let payload_bytes = run.payload_bytes(packet.clone()) as usize;
            self.deliver(&run.header(header, packet)?, payload_bytes)?;
        }
        Ok(())
    }

    /// Delivers a whole frame that is not TCP, without frame check sequence, with final checksums.
    fn deliver_frame(&mut self, frame: &[u8]) -> Result<()>;

    /// Starts a connection from `local`, of which the transport chooses what is left open: all of
    /// it without one, the port for port 0, the address for one that is unspecified. The local
    /// address is known at once; the SYN is sent as a header.
    fn connect(&mut self, remote: SocketAddr, local: Option<SocketAddr>) -> Result<StreamId>;

    /// Listens on a port; the transport chooses one for port 0.
    fn listen(&mut self, local: SocketAddr) -> Result<ListenerId>;

    /// The address a listener is bound to.
    fn listener_address(&self, listener: ListenerId) -> Result<SocketAddr>;

    /// The next established connection of a listener, if there is one.
    fn accept(&mut self, listener: ListenerId) -> Result<Option<StreamId>>;

    /// Stops listening; accepted streams stay open.
    fn close_listener(&mut self, listener: ListenerId) -> Result<()>;

    /// Announces `bytes` more bytes to send. Returns how many the stack takes now, possibly 0.
    fn feed(&mut self, stream: StreamId, bytes: u64) -> Result<u64>;

    /// Takes up to `bytes_max` bytes that the stack has accepted in order.
    fn drain(&mut self, stream: StreamId, bytes_max: u64) -> Result<Drained>;

    /// Ends the sending half after the bytes fed; the receiving half stays open.
    fn finish(&mut self, stream: StreamId) -> Result<()>;

    /// Forgets the stream. The stack closes the connection in the background, by RST if received
    /// bytes were not drained.
    fn close(&mut self, stream: StreamId) -> Result<()>;

    /// Forgets the stream and resets the connection.
    fn abort(&mut self, stream: StreamId) -> Result<()>;

    /// Status of the stream.
    fn status(&mut self, stream: StreamId) -> Result<StreamStatus>;

    /// Measurements of the stream.
    fn info(&mut self, stream: StreamId) -> Result<StreamInfo>;

    /// The local and the remote address of a stream.
    fn addresses(&self, stream: StreamId) -> Result<(SocketAddr, SocketAddr)>;

    /// The next event of a listener or stream, if there is one.
    fn poll_event(&mut self) -> Result<Option<Event>>;

    /// A descriptor that becomes readable when a header or an event is ready; `None` if the
    /// transport has to be polled.
    fn readiness(&self) -> Option<BorrowedFd<'_>>;

    /// Whether the stack accepts payload with an ACK number below the acknowledged one, within the
    /// peer's window and the bytes it has acknowledged (RFC 5961, 5.2). Return false if unsure:
    /// payload that TCP refuses must not stay in the application's memory.
    fn takes_old_acks(&self) -> bool {
        false
    }

    /// When the stack acts next, if no header and no call comes before.
    fn next_timer(&mut self) -> NextTimer {
        NextTimer::WallClock
    }

    /// Counters so far.
    fn counters(&self) -> TransportCounters;
}
