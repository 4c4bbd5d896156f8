//! A peer that is our own TCP in this process, with real payload.
//!
//! ```text
//!   frame ─► checksums ─► TcpProtocol ─► verdict ─► bytes by offset ─► application
//!   frame ◄─ cut, checksums ◄─ header ◄── TcpProtocol ◄── bytes until they are acknowledged ◄─┘
//! ```
//! What a card does for the protocol is done here in software (`tcp/frames.rs`, `tcp/streams.rs`),
//! and shares no code with a card or its model.
//!
//! Invariants
//! 1. What the protocol refuses is written nowhere, nor is anything beyond what was granted.
//! 2. The engine is polled when a frame is asked for, not when one comes: so the acknowledgements
//!    of what came at once are made at once, as by a host that polls.

mod frames;
mod streams;

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::time::Instant;

use self::frames::{cut, Parts};
use self::streams::{Received, Sending};
use super::application::{Application, Behavior};
use super::{Conversation, Progress, Script, WirePeer};
use crate::clock::Clock;
use crate::error::{HostError, Result as HostResult};
use crate::failure::Failure;
use crate::protocol::{
    ConnectOptions, FlowIndex, HeaderSink, OutgoingHeader, Packet, PacketPayload, Protocol,
    ProtocolEvent, Verdict,
};
use crate::tcp::TcpProtocol;
use crate::transport::{LinkConfig, ListenerId, NextTimer, Result, TransportError};

/// Frames that wait for the wire, beyond which no header is made.
const FRAMES_MAX: usize = 64;

/// Our own TCP as a [`WirePeer`]. See the head of this file.
pub struct TcpPeer {
    protocol: TcpProtocol,
    clock: Clock,
    started: Instant,
    buffers: [usize; 2],
    listeners: Vec<(ListenerId, Behavior)>,
    /// By flow index.
    connections: Vec<Connection>,
    outgoing: VecDeque<Vec<u8>>,
}

struct Connection {
    remote: SocketAddr,
    application: Application,
    received: Received,
    sending: Sending,
    is_open: bool,
    is_finished: bool,
    /// The protocol has it no more.
    is_closed: bool,
    /// It was told, and is forgotten but for its number.
    is_taken: bool,
}

/// An error of the protocol as one of a peer.
fn of_peer(error: HostError) -> TransportError {
    match error {
        HostError::Transport(error) => error,
        error => TransportError::System {
            call: "our own TCP",
            source: io::Error::other(error.to_string()),
        },
    }
}

impl TcpPeer {
    /// The protocol on an interface, with timers on `clock`. The buffers are those of the link.
    pub fn new(protocol: TcpProtocol, link: &LinkConfig, clock: Clock) -> Self {
        let tuning = link.tuning;
        let buffers = [tuning.receive_buffer_bytes, tuning.send_buffer_bytes];
        Self {
            protocol,
            clock,
            started: Instant::now(),
            buffers: buffers.map(|bytes| bytes as usize),
            listeners: Vec::new(),
            connections: Vec::new(),
            outgoing: VecDeque::new(),
        }
    }

    fn now_ns(&self) -> u64 {
        self.clock.now_ns(self.started)
    }

    fn listen_for(&mut self, local: SocketAddr, behavior: Behavior) -> Result<()> {
        let listener = self.protocol.listen(local).map_err(of_peer)?;
        self.listeners.push((listener, behavior));
        Ok(())
    }

    /// The name of the next connection.
    fn next_flow(&self) -> Result<FlowIndex> {
        let count = self.connections.len();
        let index = u16::try_from(count);
        index.map(FlowIndex).map_err(|_| TransportError::PortsExhausted { ports: count })
    }

    /// Lets protocol and application make all progress possible now.
    fn run(&mut self) -> HostResult<()> {
        let now_ns = self.now_ns();
        self.accept(now_ns)?;
        self.protocol.advance(now_ns)?;
        self.take_events(now_ns)?;
        for index in 0..self.connections.len() {
            self.converse(now_ns, FlowIndex(index as u16))?;
        }
        let mut cutter = Cutter { connections: &self.connections, outgoing: &mut self.outgoing };
        self.protocol.transmit(now_ns, &mut cutter)
    }

    fn accept(&mut self, now_ns: u64) -> HostResult<()> {
        for at in 0..self.listeners.len() {
            let (listener, behavior) = self.listeners[at];
            loop {
                let flow = self.next_flow()?;
                if !self.protocol.accept(now_ns, listener, flow)? {
                    break;
                }
                let (_, remote) = self.protocol.addresses(flow)?;
                self.connections.push(Connection::new(remote, behavior, self.buffers));
            }
        }
        Ok(())
    }

    fn connection(&mut self, flow: FlowIndex) -> &mut Connection {
        &mut self.connections[usize::from(flow.0)]
    }

    fn take_events(&mut self, now_ns: u64) -> HostResult<()> {
        while let Some(event) = self.protocol.event() {
            match event {
                ProtocolEvent::Opened(flow) => self.open(now_ns, flow)?,
                ProtocolEvent::Accepted { flow, to } => self.connection(flow).received.accept(to),
                ProtocolEvent::Acknowledged { flow, to } => {
                    self.connection(flow).sending.acknowledge(to);
                }
                ProtocolEvent::EndOfStream(flow) => self.connection(flow).received.end(),
                ProtocolEvent::Ended { flow, reason, .. } => {
                    let errno = match reason {
                        Failure::Protocol { errno, .. } => errno,
                        _ => libc::EIO,
                    };
                    let connection = self.connection(flow);
                    connection.application.fail(errno);
                    connection.is_closed = true;
                    self.protocol.abort(now_ns, flow)?;
                }
            }
        }
        Ok(())
    }

    /// The handshake is over: there are positions, and memory for what comes.
    fn open(&mut self, now_ns: u64, flow: FlowIndex) -> HostResult<()> {
        let install = self.protocol.install(flow)?;
        let connection = self.connection(flow);
        connection.received.begin(install.receive_first);
        connection.sending.begin(install.send_first);
        connection.is_open = true;
        let granted = connection.received.granted_end();
        self.protocol.extend_receive(now_ns, flow, granted);
        Ok(())
    }

    /// Lets the application of a connection read and write.
    fn converse(&mut self, now_ns: u64, flow: FlowIndex) -> HostResult<()> {
        let connection = &mut self.connections[usize::from(flow.0)];
        if !connection.is_open || connection.is_closed {
            return Ok(());
        }
        if connection.read() {
            let granted = connection.received.granted_end();
            self.protocol.extend_receive(now_ns, flow, granted);
        }
        if let Some(offered) = connection.write() {
            self.protocol.extend_send(now_ns, flow, offered);
        }
        if connection.application.all_sent() && !connection.is_finished {
            connection.is_finished = true;
            self.protocol.finish(now_ns, flow)?;
        }
        let is_over = connection.application.progress() == Progress::Finished;
        if is_over && connection.sending.is_empty() {
            connection.is_closed = true;
            self.protocol.close(now_ns, flow)?;
        }
        Ok(())
    }

    /// A packet whose checksums are right.
    fn arrive(&mut self, parts: &Parts<'_>) -> HostResult<()> {
        let now_ns = self.now_ns();
        let packet = Packet {
            header: parts.header,
            l4_offset: parts.l4_offset,
            position: parts.position,
            payload_bytes: parts.payload.len() as u32,
            payload: PacketPayload::Deferred(parts.payload),
            arrived_ns: now_ns,
            run: None,
            has_room: true,
        };
        let flow = self.protocol.flow_of(&packet);
        let Some(flow) = flow.filter(|flow| self.connection(*flow).is_open) else {
            return self.protocol.arrive_without_flow(now_ns, &packet);
        };
        let arrival = self.protocol.arrive(now_ns, flow, &packet)?;
        if let Verdict::Taken { .. } = arrival.verdict {
            self.connection(flow).received.write(parts.position, parts.payload);
        }
        self.take_events(now_ns)
    }
}

impl Connection {
    fn new(remote: SocketAddr, behavior: Behavior, [receive, send]: [usize; 2]) -> Self {
        Self {
            remote,
            application: Application::new(behavior),
            received: Received::new(receive),
            sending: Sending::new(send),
            is_open: false,
            is_finished: false,
            is_closed: false,
            is_taken: false,
        }
    }

    /// What became of it; its bytes are given up.
    fn take(&mut self) -> Conversation {
        self.is_taken = true;
        (self.received, self.sending) = (Received::new(0), Sending::new(0));
        self.application.conversation(self.remote)
    }

    /// Reads what the application wants. Returns whether it has read anything.
    fn read(&mut self) -> bool {
        let mut has_read = false;
        loop {
            let wanted = self.application.wanted_bytes();
            let bytes = self.received.read(wanted);
            if bytes.is_empty() {
                break;
            }
            self.application.receive(&bytes);
            has_read = true;
        }
        if self.received.is_ended() {
            self.application.ended_by_remote();
        }
        has_read
    }

    /// Hands over what there is room for. Returns the offset behind it, if there was any.
    fn write(&mut self) -> Option<u64> {
        let before = self.sending.end();
        while !self.application.all_sent() {
            let bytes = self.sending.push(self.application.outgoing());
            if bytes == 0 {
                break;
            }
            self.application.note_sent(bytes);
        }
        (self.sending.end() > before).then(|| self.sending.end())
    }
}

/// Makes frames of headers.
struct Cutter<'a> {
    connections: &'a [Connection],
    outgoing: &'a mut VecDeque<Vec<u8>>,
}

impl HeaderSink for Cutter<'_> {
    fn has_room(&self) -> bool {
        self.outgoing.len() < FRAMES_MAX
    }

    fn send(&mut self, header: &OutgoingHeader<'_>) -> HostResult<()> {
        if header.layers.is_none() {
            self.outgoing.push_back(header.bytes.to_vec());
            return Ok(());
        }
        let sent = header.flow.zip(header.payload);
        let (bytes, mss_bytes) = sent.map_or((Vec::new(), 1), |(flow, payload)| {
            let sending = &self.connections[usize::from(flow.0)].sending;
            (sending.copy(payload.position, payload.bytes), payload.mss_bytes)
        });
        let frames = cut(header.bytes, &bytes, mss_bytes).map_err(TransportError::from)?;
        self.outgoing.extend(frames);
        Ok(())
    }
}

impl WirePeer for TcpPeer {
    fn poll_frame(&mut self, buffer: &mut [u8]) -> Result<Option<usize>> {
        if self.outgoing.is_empty() {
            self.run().map_err(of_peer)?;
        }
        let Some(frame) = self.outgoing.pop_front() else { return Ok(None) };
        let limit = buffer.len();
        let room = buffer.get_mut(..frame.len());
        let room = room.ok_or(TransportError::FrameTooLong { bytes: frame.len(), limit })?;
        room.copy_from_slice(&frame);
        Ok(Some(frame.len()))
    }

    fn inject_frame(&mut self, frame: &[u8]) -> Result<()> {
        let now_ns = self.now_ns();
        let taken = match Parts::read(frame) {
            Some(parts) => self.arrive(&parts),
            None => self.protocol.arrive_frame(now_ns, frame),
        };
        taken.map_err(of_peer)
    }

    fn connect(&mut self, remote: SocketAddr, script: Script) -> Result<()> {
        let (now_ns, flow) = (self.now_ns(), self.next_flow()?);
        let options = ConnectOptions::default();
        self.protocol.connect(now_ns, flow, remote, &options).map_err(of_peer)?;
        self.connections.push(Connection::new(remote, Behavior::Script(script), self.buffers));
        Ok(())
    }

    fn listen(&mut self, local: SocketAddr, script: Script) -> Result<()> {
        self.listen_for(local, Behavior::Script(script))
    }

    fn listen_and_echo(&mut self, local: SocketAddr) -> Result<()> {
        self.listen_for(local, Behavior::Echo)
    }

    fn take_ended(&mut self) -> Vec<Conversation> {
        let is_new = |one: &&mut Connection| one.is_closed && !one.is_taken;
        self.connections.iter_mut().filter(is_new).map(Connection::take).collect()
    }

    fn next_timer(&mut self) -> NextTimer {
        match self.clock {
            Clock::Wall { .. } => NextTimer::WallClock,
            Clock::Manual(_) => self.protocol.deadline(),
        }
    }

    fn conversations(&self) -> Vec<Conversation> {
        let kept = self.connections.iter().filter(|one| !one.is_taken);
        kept.map(|one| one.application.conversation(one.remote)).collect()
    }
}
