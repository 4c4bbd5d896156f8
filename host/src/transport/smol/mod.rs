//! The transport that is smoltcp on filler bytes, for machines that refuse the kernel one.
//!
//! ```text
//!    socket buffers (never read or written by us) <---> smoltcp <---> queue of frames
//!      feed, drain: move the buffer's indices              poll_header: the frame, cut
//!                                                          deliver: header and zeros
//! ```
//!
//! smoltcp keeps payload in byte rings, so filler is copied between ring and frame. It has no
//! selective acknowledgement and gives no round-trip times: its fields of [`StreamInfo`] are 0.

mod stack;

use std::collections::{HashMap, VecDeque};
use std::io;
use std::net::SocketAddr;
use std::os::fd::BorrowedFd;

use smoltcp::iface::SocketHandle;
use smoltcp::socket::tcp::{self, RecvError, State};
use smoltcp::wire::IpListenEndpoint;

pub(crate) use self::stack::{socket_address, Stack, TcpChecksums};
pub use self::stack::{Clock, ManualClock};
use super::header::{pseudo_header_sum, TcpLayout, TCP_CHECKSUM_OFFSET};
use super::{
    ChecksumRequest, Drained, Event, FrameKind, LinkConfig, ListenerId, Result, StreamId,
    StreamInfo, StreamState, StreamStatus, TransmitHeader, Transport, TransportCounters,
    TransportError,
};

/// Connections that a listener carries before they are accepted; more are refused.
const BACKLOG: usize = 1024;
// The error numbers that smoltcp's states stand for, as Linux numbers them.
const CONNECTION_RESET: i32 = 104;
const CONNECTION_REFUSED: i32 = 111;
const BROKEN_PIPE: i32 = 32;

/// smoltcp as a [`Transport`].
pub struct SmoltcpTransport {
    stack: Stack,
    streams: HashMap<StreamId, Stream>,
    listeners: HashMap<ListenerId, Listener>,
    /// Sockets without a user that still owe the wire something.
    closing: Vec<SocketHandle>,
    ids: u32,
    events: VecDeque<Event>,
    counters: TransportCounters,
}

struct Stream {
    handle: SocketHandle,
    local: SocketAddr,
    remote: SocketAddr,
    established: bool,
    peer_finished: bool,
    finish: Finish,
    fed_bytes: u64,
    drained_bytes: u64,
    /// What the last event was about: state, readable bytes, unsent bytes.
    seen: (State, usize, usize),
    /// An event waits to be fetched.
    announced: bool,
}

/// The sending half of a stream.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Finish {
    Open,
    /// Ends when the handshake is done.
    Wanted,
    Done,
}

struct Listener {
    local: SocketAddr,
    waiting: Vec<SocketHandle>,
    /// An event waits to be fetched.
    announced: bool,
}

impl SmoltcpTransport {
    /// Makes the interface that `link` describes, with timers by `clock`.
    pub fn open(link: &LinkConfig, clock: Clock) -> Result<Self> {
        Ok(Self {
            stack: Stack::new(link, clock, TcpChecksums::Offloaded)?,
            streams: HashMap::new(),
            listeners: HashMap::new(),
            closing: Vec::new(),
            ids: 0,
            events: VecDeque::new(),
            counters: TransportCounters::default(),
        })
    }

    fn add_stream(
        &mut self,
        handle: SocketHandle,
        local: SocketAddr,
        remote: SocketAddr,
    ) -> StreamId {
        self.ids += 1;
        let stream = Stream {
            handle,
            local,
            remote,
            established: false,
            peer_finished: false,
            finish: Finish::Open,
            fed_bytes: 0,
            drained_bytes: 0,
            seen: (State::Closed, 0, 0),
            announced: false,
        };
        self.streams.insert(StreamId(self.ids), stream);
        StreamId(self.ids)
    }

    fn stream(&mut self, id: StreamId) -> Result<(&mut Stack, &mut Stream)> {
        let stream = self
            .streams
            .get_mut(&id)
            .ok_or(TransportError::UnknownStream(id))?;
        Ok((&mut self.stack, stream))
    }

    /// Looks at every socket after the stack has worked: notes what passes by, ends halves whose
    /// end was asked for early, and makes events of what changed.
    fn settle(&mut self) {
        let stack = &mut self.stack;
        self.closing.retain(|&handle| !stack.remove_if_done(handle));
        for (&id, stream) in &mut self.streams {
            let socket = stack.socket(stream.handle);
            let state = socket.state();
            stream.note(state);
            if stream.finish == Finish::Wanted && stream.established {
                socket.close();
                stream.finish = Finish::Done;
            }
            let seen = (state, socket.recv_queue(), socket.send_queue());
            if seen != stream.seen {
                stream.seen = seen;
                if !std::mem::replace(&mut stream.announced, true) {
                    self.events.push_back(Event::Stream(id));
                }
            }
        }
        for (&id, listener) in &mut self.listeners {
            let ready = |&handle: &SocketHandle| established(stack.sockets.get(handle));
            let ready = listener.waiting.iter().any(ready);
            if ready && !std::mem::replace(&mut listener.announced, true) {
                self.events.push_back(Event::Incoming(id));
            }
            listener.keep_listening(stack);
        }
    }

    fn push(&mut self, frame: Vec<u8>, payload_bytes: usize) {
        self.counters.receive_headers += 1;
        self.counters.receive_payload_bytes += payload_bytes as u64;
        self.stack.push(frame);
        self.settle();
    }
}

impl Listener {
    /// Sees to it that a socket answers the next SYN. Frames come in one by one, so one is enough.
    fn keep_listening(&mut self, stack: &mut Stack) {
        let listens = |&handle: &SocketHandle| {
            stack.sockets.get::<tcp::Socket>(handle).state() == State::Listen
        };
        if self.waiting.len() < BACKLOG && !self.waiting.iter().any(listens) {
            // The address was fit to listen on when the listener was made.
            self.waiting.extend(listening_socket(stack, self.local));
        }
    }
}

impl Stream {
    /// Keeps what a state tells about the past.
    fn note(&mut self, state: State) {
        self.established |= !matches!(
            state,
            State::Closed | State::Listen | State::SynSent | State::SynReceived
        );
        self.peer_finished |= matches!(
            state,
            State::CloseWait | State::LastAck | State::Closing | State::TimeWait
        );
    }

    /// The error that ended the connection, if one did.
    fn error(&self, state: State) -> Option<i32> {
        match state {
            State::Closed if !self.established => Some(CONNECTION_REFUSED),
            State::Closed if !(self.peer_finished && self.finish == Finish::Done) => {
                Some(CONNECTION_RESET)
            }
            _ => None,
        }
    }

    fn check(&self, stream: StreamId, state: State) -> Result<()> {
        match self.error(state) {
            Some(error) => Err(stream_error(stream, error)),
            None => Ok(()),
        }
    }
}

impl Transport for SmoltcpTransport {
    fn poll_header(&mut self) -> Result<Option<TransmitHeader>> {
        let Some(mut frame) = self.stack.pop() else {
            self.settle();
            return Ok(None);
        };
        self.counters.transmit_headers += 1;
        self.counters.transmit_read_bytes += frame.len() as u64;
        let Ok(layout) = TcpLayout::parse(&frame) else {
            return Ok(Some(TransmitHeader {
                bytes: frame,
                kind: FrameKind::Whole,
                payload_bytes: 0,
                segment_bytes: 0,
                checksum: None,
            }));
        };
        let sum = pseudo_header_sum(&frame, &layout).to_be_bytes();
        let field = layout.segment + TCP_CHECKSUM_OFFSET;
        frame[field..field + 2].copy_from_slice(&sum);
        frame.truncate(layout.payload);
        self.counters.transmit_payload_bytes += layout.payload_bytes as u64;
        Ok(Some(TransmitHeader {
            bytes: frame,
            kind: FrameKind::Tcp,
            payload_bytes: layout.payload_bytes as u32,
            segment_bytes: 0,
            checksum: Some(ChecksumRequest {
                start: layout.segment as u16,
                offset: TCP_CHECKSUM_OFFSET as u16,
            }),
        }))
    }

    fn deliver(&mut self, header: &[u8], payload_bytes: usize) -> Result<()> {
        TcpLayout::check(header, payload_bytes)?;
        let mut frame = header.to_vec();
        frame.resize(header.len() + payload_bytes, 0);
        self.push(frame, payload_bytes);
        Ok(())
    }

    fn deliver_frame(&mut self, frame: &[u8]) -> Result<()> {
        self.push(frame.to_vec(), 0);
        Ok(())
    }

    fn connect(&mut self, remote: SocketAddr) -> Result<StreamId> {
        let (handle, local) = self.stack.connect(remote)?;
        Ok(self.add_stream(handle, local, remote))
    }

    fn listen(&mut self, mut local: SocketAddr) -> Result<ListenerId> {
        if local.port() == 0 {
            local.set_port(self.stack.free_port()?);
        }
        let waiting = vec![listening_socket(&mut self.stack, local)?];
        self.ids += 1;
        let id = ListenerId(self.ids);
        self.listeners.insert(
            id,
            Listener {
                local,
                waiting,
                announced: false,
            },
        );
        Ok(id)
    }

    fn listener_address(&self, listener: ListenerId) -> Result<SocketAddr> {
        let known = self.listeners.get(&listener);
        Ok(known
            .ok_or(TransportError::UnknownListener(listener))?
            .local)
    }

    fn accept(&mut self, listener: ListenerId) -> Result<Option<StreamId>> {
        let known = self
            .listeners
            .get(&listener)
            .ok_or(TransportError::UnknownListener(listener))?;
        let sockets = &self.stack.sockets;
        let ready = known
            .waiting
            .iter()
            .position(|&handle| established(sockets.get(handle)));
        let Some(at) = ready else { return Ok(None) };
        let known = self.listeners.get_mut(&listener).expect("looked up above");
        let handle = known.waiting.swap_remove(at);
        let socket = self.stack.socket(handle);
        let (Some(local), Some(remote)) = (socket.local_endpoint(), socket.remote_endpoint())
        else {
            // Reset between its handshake and now: nobody has seen it, so nobody misses it.
            self.closing.push(handle);
            return Ok(None);
        };
        let id = self.add_stream(handle, socket_address(local), socket_address(remote));
        self.settle();
        Ok(Some(id))
    }

    fn close_listener(&mut self, listener: ListenerId) -> Result<()> {
        let known = self
            .listeners
            .remove(&listener)
            .ok_or(TransportError::UnknownListener(listener))?;
        for handle in known.waiting {
            self.stack.socket(handle).abort();
            self.closing.push(handle);
        }
        Ok(())
    }

    fn feed(&mut self, stream: StreamId, bytes: u64) -> Result<u64> {
        let (stack, known) = self.stream(stream)?;
        let socket = stack.socket(known.handle);
        known.check(stream, socket.state())?;
        if known.finish != Finish::Open {
            return Err(stream_error(stream, BROKEN_PIPE));
        }
        let mut fed = 0;
        while fed < bytes {
            let take = |room: &mut [u8]| {
                let taken = room
                    .len()
                    .min(usize::try_from(bytes - fed).unwrap_or(usize::MAX));
                (taken, taken)
            };
            // The handshake is on its way, or the peer is gone: nothing is taken.
            match socket.send(take) {
                Ok(taken @ 1..) => fed += taken as u64,
                Ok(0) | Err(_) => break,
            }
        }
        known.fed_bytes += fed;
        Ok(fed)
    }

    fn drain(&mut self, stream: StreamId, bytes_max: u64) -> Result<Drained> {
        let (stack, known) = self.stream(stream)?;
        let socket = stack.socket(known.handle);
        let mut drained = Drained {
            bytes: 0,
            end_of_stream: false,
        };
        while drained.bytes < bytes_max {
            let left = usize::try_from(bytes_max - drained.bytes).unwrap_or(usize::MAX);
            let take = |bytes: &mut [u8]| {
                let taken = bytes.len().min(left);
                (taken, taken)
            };
            match socket.recv(take) {
                Ok(0) => break,
                Ok(taken) => drained.bytes += taken as u64,
                Err(RecvError::Finished) => {
                    drained.end_of_stream = true;
                    break;
                }
                Err(RecvError::InvalidState) => {
                    drained.end_of_stream = known.peer_finished;
                    break;
                }
            }
        }
        known.drained_bytes += drained.bytes;
        if drained.bytes == 0 && !drained.end_of_stream && bytes_max > 0 {
            known.check(stream, socket.state())?;
        }
        Ok(drained)
    }

    fn finish(&mut self, stream: StreamId) -> Result<()> {
        let (_, known) = self.stream(stream)?;
        if known.finish == Finish::Open {
            known.finish = Finish::Wanted;
        }
        self.settle();
        Ok(())
    }

    fn close(&mut self, stream: StreamId) -> Result<()> {
        let known = self
            .streams
            .remove(&stream)
            .ok_or(TransportError::UnknownStream(stream))?;
        let socket = self.stack.socket(known.handle);
        match socket.can_recv() {
            true => socket.abort(),
            false => socket.close(),
        }
        self.closing.push(known.handle);
        Ok(())
    }

    fn abort(&mut self, stream: StreamId) -> Result<()> {
        let known = self
            .streams
            .remove(&stream)
            .ok_or(TransportError::UnknownStream(stream))?;
        self.stack.socket(known.handle).abort();
        self.closing.push(known.handle);
        Ok(())
    }

    fn status(&mut self, stream: StreamId) -> Result<StreamStatus> {
        let (stack, known) = self.stream(stream)?;
        let socket = stack.socket(known.handle);
        let state = socket.state();
        let readable_bytes = socket.recv_queue() as u64;
        Ok(StreamStatus {
            state: match state {
                State::SynSent | State::SynReceived | State::Listen => StreamState::Connecting,
                State::Closed | State::TimeWait => StreamState::Closed,
                _ => StreamState::Open,
            },
            readable_bytes,
            unacknowledged_bytes: socket.send_queue() as u64,
            end_of_stream: known.peer_finished && readable_bytes == 0,
            error: known.error(state),
        })
    }

    fn info(&mut self, stream: StreamId) -> Result<StreamInfo> {
        let (stack, known) = self.stream(stream)?;
        let socket = stack.socket(known.handle);
        Ok(StreamInfo {
            acknowledged_bytes: known.fed_bytes - socket.send_queue() as u64,
            received_bytes: known.drained_bytes + socket.recv_queue() as u64,
            ..StreamInfo::default()
        })
    }

    fn addresses(&self, stream: StreamId) -> Result<(SocketAddr, SocketAddr)> {
        let known = self
            .streams
            .get(&stream)
            .ok_or(TransportError::UnknownStream(stream))?;
        Ok((known.local, known.remote))
    }

    fn poll_event(&mut self) -> Result<Option<Event>> {
        let event = self.events.pop_front();
        match event {
            Some(Event::Stream(id)) => {
                self.streams
                    .entry(id)
                    .and_modify(|stream| stream.announced = false);
            }
            Some(Event::Incoming(id)) => {
                self.listeners
                    .entry(id)
                    .and_modify(|listener| listener.announced = false);
            }
            None => {}
        }
        Ok(event)
    }

    fn readiness(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    fn counters(&self) -> TransportCounters {
        self.counters
    }
}

/// A socket that listens on `local`.
pub(crate) fn listening_socket(stack: &mut Stack, local: SocketAddr) -> Result<SocketHandle> {
    let handle = stack.add_socket();
    let any = local.ip().is_unspecified();
    let addr = (!any).then(|| local.ip().into());
    match stack.socket(handle).listen(IpListenEndpoint {
        addr,
        port: local.port(),
    }) {
        Ok(()) => Ok(handle),
        Err(_) => {
            stack.sockets.remove(handle);
            Err(TransportError::Unreachable(local.ip()))
        }
    }
}

/// Whether the handshake of a listening socket is done.
fn established(socket: &tcp::Socket) -> bool {
    !matches!(
        socket.state(),
        State::Listen | State::SynReceived | State::Closed
    )
}

fn stream_error(stream: StreamId, error: i32) -> TransportError {
    TransportError::Stream {
        stream,
        source: io::Error::from_raw_os_error(error),
    }
}
