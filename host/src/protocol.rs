//! The protocol of a provider's connections: it sees headers, lengths and positions, never payload.
//!
//! ```text
//!   provider                                                     Protocol
//!   header entry ── arrive(packet, where its payload is) ──►  Arrival: taken, refused, later
//!   memory posted ─ granted(end) ───────────────────────────►  window
//!   bytes posted ── offered(end) ───────────────────────────►  what may be sent
//!   send ring ◄──── sink ◄──────────────────────────────────── transmit
//!   completions ◄── events: opened, accepted to, acknowledged to, end, ended
//! ```
//! The provider drives one protocol: it owns the flows, their buffers and the card; the protocol
//! decides what is sent, accepted and acknowledged. Positions are stream positions as the header
//! profile has them (for TCP: sequence numbers); offsets count bytes from the first of a stream.
//!
//! Invariants
//! 1. No call blocks or does I/O on the card. `now_ns` is the time of the provider's clock and
//!    never goes back; a protocol that waits for a time says so in [`Protocol::deadline`].
//! 2. The provider names a connection by its flow on the card. It uses the name from
//!    [`Protocol::connect`] or [`Protocol::accept`] to [`Protocol::close`] or [`Protocol::abort`];
//!    after these the protocol reports nothing of it, and the name is given again.
//! 3. Nothing is transmitted beyond what was offered: the card finds the payload of every header.
//! 4. What was granted shrinks only when a buffer is withdrawn, and never below what was accepted
//!    and taken into buffers. A window that was sent stays: the provider keeps what arrives within.
//! 5. A packet whose payload is not kept is not shown, or was refused: no protocol acknowledges
//!    bytes that nobody has.
//!
//! What an `Err` means
//!
//! - Of `connect`, `listen`, `accept`, `refuse`, `unlisten`: nothing ends. Who called the provider
//!   gets it, and nothing has begun.
//! - Of `key`, `install`, `finish`, `close`, `arrive`, `take_later`: that connection ends, with
//!   this reason; it is given up by [`Protocol::abort`].
//! - Of `abort`: the connection ends in any case.
//! - Of `arrive_without_flow`, `arrive_frame`, `advance`, `transmit`: nothing ends. It is counted,
//!   the packet or the round is over, and the next poll calls again.
//!
//! No other connection notices, and no error of a protocol ends the provider: only the card's do. A
//! protocol that fails in `advance` or `transmit` on account of one connection ends it by
//! [`ProtocolEvent::Ended`], and goes on with the others.
//!
//! [`crate::observed::Observed`] makes a protocol of a TCP that is a black box; [`crate::message`]
//! is one without TCP. The smallest that repeats what is lost is
//! `sim/tests/host/protocol/plain_tcp.rs`.

use std::net::SocketAddr;
use std::os::fd::BorrowedFd;

use abi::flow_key;

use crate::error::protocol::ProtocolError;
use crate::error::{HostError, Result};
use crate::failure::Failure;
use crate::headers::layers::Layers;
use crate::headers::run::Run;
use crate::records::profile::Profile;
use crate::transport::{ListenerId, NextTimer};

/// Names a connection: the flow id that the card has for it, or a number beyond its flow table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FlowIndex(pub u16);

/// A key of the card's flow table.
pub type FlowKey = [u8; flow_key::KEY_BYTES];

/// A received packet without its payload, or a run of packets.
#[derive(Clone, Copy, Debug)]
pub struct Packet<'a> {
    /// From the Ethernet header to the last byte before the payload; of a run, that of the first.
    pub header: &'a [u8],
    /// Offset of the transport header.
    pub l4_offset: usize,
    /// Stream position of the first payload byte.
    pub position: u32,
    /// Length of the payload; of a run, of all of it.
    pub payload_bytes: u32,
    /// The rest of a run, which is one of TCP and lies in the buffers of its flow, untrimmed.
    pub run: Option<Run>,
    /// Where the payload is.
    pub payload: PacketPayload<'a>,
    /// When it arrived, by the provider's clock. The card does not say so far: it is the time at
    /// which the poll began that has found the packet.
    pub arrived_ns: u64,
    /// Whether the provider can keep the payload. A protocol that answers with
    /// [`Verdict::Taken`] refuses payload for which there is no room.
    pub has_room: bool,
}

/// Where the payload of a packet is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketPayload<'a> {
    /// In the buffers of the flow, but for the bytes below its floor, which were not written.
    Placed {
        /// Bytes below the floor.
        trimmed_bytes: u32,
    },
    /// Beside the buffers.
    Deferred(&'a [u8]),
    /// There is none, or it was below the floor, or in the buffers of an old flow.
    Nowhere,
}

impl Packet<'_> {
    /// Packets that it stands for.
    pub fn packets(&self) -> u32 {
        self.run.map_or(1, |run| run.packets)
    }
}

/// How much speaks against a packet that a black box has not judged yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// Nothing: its payload will be accepted.
    None,
    /// It is late: probably refused, but its bytes are those of the stream.
    Late,
    /// It is probably refused, and its bytes may be anybody's.
    Foreign,
}

/// What becomes of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Its payload is of the stream and stands. Everything before `accepted_to` is accepted in
    /// order. A packet without payload accepts nothing.
    Taken {
        /// Stream offset; of a packet without payload not looked at.
        accepted_to: u64,
    },
    /// It is not of the stream: what it overwrote in the buffers is not valid any more.
    Refused,
    /// It is not taken, but its bytes are those of the stream: what it overwrote stays valid.
    Ignored,
    /// A black box decides, later: [`ProtocolEvent::Accepted`] settles it. The provider keeps the
    /// payload with this doubt and shows the packet again ([`Protocol::take_later`]); one that
    /// cannot be kept is withheld.
    Later(Doubt),
}

/// What a packet comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// What becomes of it.
    pub verdict: Verdict,
    /// By its acknowledgement, the peer has everything before this stream offset, whatever becomes
    /// of its payload; 0 where it says nothing new, or [`ProtocolEvent::Acknowledged`] says it
    /// later.
    pub acknowledged_to: u64,
}

impl From<Verdict> for Arrival {
    /// A packet whose acknowledgement says nothing new.
    fn from(verdict: Verdict) -> Self {
        Self { verdict, acknowledged_to: 0 }
    }
}

/// What a flow needs to be installed on the card.
#[derive(Clone, Debug)]
pub struct Install {
    /// Number of the header profile; 0 for TCP.
    pub profile: u8,
    /// Position of the first byte received.
    pub receive_first: u32,
    /// Position of the first byte sent.
    pub send_first: u32,
    /// Payload that the protocol has accepted before, with its positions.
    pub early: Vec<(u32, Vec<u8>)>,
}

/// Beside the floor, what the card asks of a packet before it places it. All 0 for a protocol
/// without ACK numbers and timestamps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Guards {
    /// Lowest ACK number.
    pub ack_low: u32,
    /// Lowest timestamp, if both ends use them.
    pub timestamp_floor: Option<u32>,
}

/// What happened on a connection. Offsets never fall.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProtocolEvent {
    /// A connection is open: [`Protocol::install`] tells the numbers of its flow.
    Opened(FlowIndex),
    /// Everything before `to` was accepted in order.
    Accepted {
        /// The connection.
        flow: FlowIndex,
        /// Stream offset.
        to: u64,
    },
    /// The peer has everything before `to`, where no packet of the flow said so when it arrived
    /// ([`Arrival::acknowledged_to`]).
    Acknowledged {
        /// The connection.
        flow: FlowIndex,
        /// Stream offset.
        to: u64,
    },
    /// The peer has ended its sending half, and everything before that was accepted.
    EndOfStream(FlowIndex),
    /// The connection has ended: both halves are closed, or it failed. It may come again with
    /// another `accepted_to`.
    Ended {
        /// The connection.
        flow: FlowIndex,
        /// The reason: [`Failure::protocol`].
        reason: Failure,
        /// Stream offset up to which bytes may still be accepted.
        accepted_to: u64,
    },
}

impl ProtocolEvent {
    /// The connection of an event.
    pub fn flow(&self) -> FlowIndex {
        match self {
            Self::Opened(flow)
            | Self::Accepted { flow, .. }
            | Self::Acknowledged { flow, .. }
            | Self::EndOfStream(flow)
            | Self::Ended { flow, .. } => *flow,
        }
    }
}

/// A header to be sent.
#[derive(Clone, Copy, Debug)]
pub struct OutgoingHeader<'a> {
    /// The connection, if its flow is installed.
    pub flow: Option<FlowIndex>,
    /// From the Ethernet header to the last byte before the payload, checksums 0; or a whole frame.
    pub bytes: &'a [u8],
    /// The layers, whose checksums the card inserts; `None` for a frame that is sent unchanged.
    pub layers: Option<Layers>,
    /// Payload that the card fetches.
    pub payload: Option<OutgoingPayload>,
}

/// Payload of an outgoing header, of what was offered on its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutgoingPayload {
    /// Position of its first byte.
    pub position: u32,
    /// Length, up to [`crate::control::flow::send::DESCRIPTOR_BYTES_MAX`].
    pub bytes: u32,
    /// Largest payload of a frame.
    pub mss_bytes: u32,
}

/// Takes headers for the send ring.
pub trait HeaderSink {
    /// Whether there is room for one more, of a flow that is not known yet: for a protocol that
    /// cannot choose whose header is next. A send ring that is full and moves has room in a moment,
    /// so there is none meanwhile. One that has not moved for a while holds up nobody else: what is
    /// sent there nevertheless waits, and is dropped and counted when too much does.
    fn has_room(&self) -> bool;

    /// Whether there is room for one more of this flow. Flows of other rings have their own.
    fn has_room_for(&self, _flow: FlowIndex) -> bool {
        self.has_room()
    }

    /// Sends a header.
    fn send(&mut self, header: &OutgoingHeader<'_>) -> Result<()>;
}

/// What a protocol counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProtocolCounters {
    /// Packets not taken because of their payload: it came before a window was offered, far beyond
    /// it, or for an old flow.
    pub withheld_headers: u64,
    /// Packets not taken because their link address or VLAN was not that of their flow.
    pub withheld_foreign: u64,
    /// Packets that could not be read, or that a black box refused to take.
    pub refused_headers: u64,
    /// Headers dropped because they announced payload of an unknown flow.
    pub orphan_headers: u64,
    /// Windows sent again because more was granted.
    pub window_updates: u64,
}

/// How a connection begins. The default leaves all to the protocol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConnectOptions {
    /// The local address. The protocol chooses what is left open: the port for port 0, the address
    /// for one that is unspecified.
    pub local: Option<SocketAddr>,
}

/// A protocol. See the head of this file.
pub trait Protocol {
    /// Names the far end of a connection.
    type Remote;

    /// Header profiles that the card needs, beside that of TCP, with their numbers.
    fn profiles(&self) -> Vec<(u8, Profile)> {
        Vec::new()
    }

    /// Starts a connection.
    fn connect(
        &mut self,
        now_ns: u64,
        flow: FlowIndex,
        remote: Self::Remote,
        options: &ConnectOptions,
    ) -> Result<()>;

    /// Listens on a port; the protocol chooses one for port 0.
    fn listen(&mut self, _local: SocketAddr) -> Result<ListenerId> {
        Err(HostError::Protocol(ProtocolError::NotOffered("listen")))
    }

    /// The address a listener is bound to.
    fn listener_address(&self, _listener: ListenerId) -> Result<SocketAddr> {
        Err(HostError::Protocol(ProtocolError::NotOffered("listener_address")))
    }

    /// Stops listening. Connections that were accepted stay; those that were not are reset.
    fn unlisten(&mut self, _listener: ListenerId) -> Result<()> {
        Err(HostError::Protocol(ProtocolError::NotOffered("unlisten")))
    }

    /// Accepts the next connection of a listener and names it. Returns whether there was one.
    fn accept(&mut self, _now_ns: u64, _listener: ListenerId, _flow: FlowIndex) -> Result<bool> {
        Err(HostError::Protocol(ProtocolError::NotOffered("accept")))
    }

    /// Resets the next connection of a listener, because there is no flow for it. Returns whether
    /// there was one.
    fn refuse(&mut self, _now_ns: u64, _listener: ListenerId) -> Result<bool> {
        Err(HostError::Protocol(ProtocolError::NotOffered("refuse")))
    }

    /// Local and remote address of a connection.
    fn addresses(&self, flow: FlowIndex) -> Result<(SocketAddr, SocketAddr)>;

    /// The key of a connection in the flow table; `None` for one that only sends.
    fn key(&self, flow: FlowIndex) -> Result<Option<FlowKey>>;

    /// The flow of an open connection is being installed: from here on its packets come by
    /// [`Protocol::arrive`].
    fn install(&mut self, flow: FlowIndex) -> Result<Install>;

    /// What the card is to ask of a packet, when sending has been acknowledged up to position
    /// `send_floor`.
    fn guards(&self, _flow: FlowIndex, _send_floor: u32) -> Guards {
        Guards::default()
    }

    /// Ends the sending half after everything offered; the receiving half stays open.
    fn finish(&mut self, now_ns: u64, flow: FlowIndex) -> Result<()>;

    /// Gives a connection up whose bytes are all acknowledged. It is closed in the background.
    fn close(&mut self, now_ns: u64, flow: FlowIndex) -> Result<()>;

    /// Gives a connection up and resets it.
    fn abort(&mut self, now_ns: u64, flow: FlowIndex) -> Result<()>;

    /// A packet of an installed flow.
    fn arrive(&mut self, now_ns: u64, flow: FlowIndex, packet: &Packet<'_>) -> Result<Arrival>;

    /// The packet of the last [`Verdict::Later`] is kept: it may be accepted.
    fn take_later(&mut self, _now_ns: u64, _flow: FlowIndex, _packet: &Packet<'_>) -> Result<()> {
        Err(HostError::Protocol(ProtocolError::NotOffered("take_later")))
    }

    /// The connection of a packet for which the card found no flow.
    fn flow_of(&self, packet: &Packet<'_>) -> Option<FlowIndex>;

    /// A packet without an installed flow. The protocol keeps its payload, or does not accept it.
    fn arrive_without_flow(&mut self, now_ns: u64, packet: &Packet<'_>) -> Result<()>;

    /// A whole frame that is no packet of a connection, without frame check sequence.
    fn arrive_frame(&mut self, _now_ns: u64, _frame: &[u8]) -> Result<()> {
        Ok(())
    }

    /// Memory is posted for everything before stream offset `end`.
    fn extend_receive(&mut self, now_ns: u64, flow: FlowIndex, end: u64);

    /// The application has offered everything before stream offset `end` to be sent.
    fn extend_send(&mut self, now_ns: u64, flow: FlowIndex, end: u64);

    /// Acts on what came and on the time. Called once in each poll, after what arrived and before
    /// [`Protocol::event`].
    fn advance(&mut self, now_ns: u64) -> Result<()>;

    /// The next event.
    fn event(&mut self) -> Option<ProtocolEvent>;

    /// Sends the headers that are due, as long as the sink has room.
    fn transmit(&mut self, now_ns: u64, sink: &mut dyn HeaderSink) -> Result<()>;

    /// When it acts next, if nothing comes before.
    fn deadline(&mut self) -> NextTimer {
        NextTimer::Never
    }

    /// A descriptor that becomes readable when the protocol has something to do; `None` if its
    /// [`Protocol::deadline`] says all.
    fn readiness(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    /// Counters so far.
    fn counters(&self) -> ProtocolCounters {
        ProtocolCounters::default()
    }
}
