//! Streams and listeners of the smoltcp transport: state in addition to their sockets.

use std::io;
use std::net::SocketAddr;

use smoltcp::iface::SocketHandle;
use smoltcp::socket::tcp::{self, State};
use smoltcp::wire::IpListenEndpoint;

use super::stack::Stack;
use crate::transport::{
    Drained, Result, StreamId, StreamInfo, StreamState, StreamStatus, TransportError,
};

/// Limit of connections of a listener that are not accepted yet; more are refused.
const BACKLOG: usize = 1024;
// Linux error numbers that correspond to states of smoltcp.
const CONNECTION_RESET: i32 = 104;
const CONNECTION_REFUSED: i32 = 111;
const BROKEN_PIPE: i32 = 32;

/// A stream, and what its socket does not record.
pub(super) struct Stream {
    pub(super) handle: SocketHandle,
    pub(super) local: SocketAddr,
    pub(super) remote: SocketAddr,
    pub(super) established: bool,
    pub(super) peer_finished: bool,
    pub(super) finish: Finish,
    pub(super) fed_bytes: u64,
    pub(super) drained_bytes: u64,
    /// State, readable bytes and unsent bytes at the last event.
    pub(super) seen: (State, usize, usize),
    /// An event waits to be fetched.
    pub(super) announced: bool,
}

/// The sending half of a stream.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Finish {
    Open,
    /// Ends when the handshake is complete.
    Wanted,
    Done,
}

/// A listener and its sockets, listening or in handshake.
pub(super) struct Listener {
    pub(super) local: SocketAddr,
    /// Sockets in the order in which they began to listen.
    pub(super) waiting: Vec<SocketHandle>,
    /// An event waits to be fetched.
    pub(super) announced: bool,
}

impl Listener {
    /// Keeps one socket listening for the next SYN; one is enough, because frames are delivered one
    /// by one. Sockets that were reset are removed. When the backlog is full, the oldest half-open
    /// one is removed, so a SYN flood cannot block a listener.
    pub(super) fn keep_listening(&mut self, stack: &mut Stack) {
        self.waiting.retain(|&handle| !stack.remove_if_done(handle));
        let find = |stack: &Stack, wanted: State| {
            let state = |&handle: &SocketHandle| stack.sockets.get::<tcp::Socket>(handle).state();
            self.waiting.iter().position(|handle| state(handle) == wanted)
        };
        if find(stack, State::Listen).is_some() {
            return;
        }
        let silent = find(stack, State::SynReceived).filter(|_| self.waiting.len() >= BACKLOG);
        if let Some(at) = silent {
            stack.sockets.remove(self.waiting.remove(at));
        }
        if self.waiting.len() < BACKLOG {
            // The address was valid when the listener was created.
            self.waiting.extend(listening_socket(stack, self.local));
        }
    }
}

impl Stream {
    pub(super) fn new(handle: SocketHandle, local: SocketAddr, remote: SocketAddr) -> Self {
        Self {
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
        }
    }

    /// Records what a state implies about earlier states.
    pub(super) fn note(&mut self, state: State) {
        self.established |=
            !matches!(state, State::Closed | State::Listen | State::SynSent | State::SynReceived);
        self.peer_finished |=
            matches!(state, State::CloseWait | State::LastAck | State::Closing | State::TimeWait);
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

    /// Adds up to `bytes` bytes of filler to the send buffer; the content of the buffer is left as
    /// it is.
    pub(super) fn feed(
        &mut self,
        socket: &mut tcp::Socket,
        bytes: u64,
    ) -> std::result::Result<u64, i32> {
        if self.finish != Finish::Open {
            return Err(BROKEN_PIPE);
        }
        if let Some(error) = self.error(socket.state()) {
            return Err(error);
        }
        let mut fed = 0;
        while fed < bytes {
            // Before the handshake is complete, smoltcp accepts nothing.
            match socket.send(|room| take(room.len(), bytes - fed)) {
                Ok(taken @ 1..) => fed += taken as u64,
                Ok(0) | Err(_) => break,
            }
        }
        self.fed_bytes += fed;
        Ok(fed)
    }

    /// Takes up to `bytes_max` bytes out of the receive buffer.
    pub(super) fn drain(
        &mut self,
        socket: &mut tcp::Socket,
        bytes_max: u64,
    ) -> std::result::Result<Drained, i32> {
        let mut drained = Drained { bytes: 0, end_of_stream: false };
        while drained.bytes < bytes_max {
            match socket.recv(|bytes| take(bytes.len(), bytes_max - drained.bytes)) {
                Ok(0) => break,
                Ok(taken) => drained.bytes += taken as u64,
                Err(_) => {
                    drained.end_of_stream = self.peer_finished;
                    break;
                }
            }
        }
        self.drained_bytes += drained.bytes;
        match self.error(socket.state()) {
            Some(error) if drained.bytes == 0 && !drained.end_of_stream && bytes_max > 0 => {
                Err(error)
            }
            _ => Ok(drained),
        }
    }

    pub(super) fn status(&self, socket: &tcp::Socket) -> StreamStatus {
        let state = socket.state();
        let readable_bytes = socket.recv_queue() as u64;
        StreamStatus {
            state: match state {
                State::SynSent | State::SynReceived | State::Listen => StreamState::Connecting,
                State::Closed | State::TimeWait => StreamState::Closed,
                _ => StreamState::Open,
            },
            readable_bytes,
            unacknowledged_bytes: socket.send_queue() as u64,
            end_of_stream: self.peer_finished && readable_bytes == 0 && self.error(state).is_none(),
            error: self.error(state),
        }
    }

    pub(super) fn info(&self, socket: &tcp::Socket) -> StreamInfo {
        StreamInfo {
            acknowledged_bytes: self.fed_bytes - socket.send_queue() as u64,
            received_bytes: self.drained_bytes + socket.recv_queue() as u64,
            ..StreamInfo::default()
        }
    }
}

/// Result of a smoltcp buffer closure that takes up to `wanted` of `len` bytes: bytes to advance
/// by, and return value.
fn take(len: usize, wanted: u64) -> (usize, usize) {
    let taken = len.min(usize::try_from(wanted).unwrap_or(usize::MAX));
    (taken, taken)
}

/// A socket that listens on `local`.
pub(crate) fn listening_socket(stack: &mut Stack, local: SocketAddr) -> Result<SocketHandle> {
    let handle = stack.add_socket();
    let any = local.ip().is_unspecified();
    let addr = (!any).then(|| local.ip().into());
    match stack.socket(handle).listen(IpListenEndpoint { addr, port: local.port() }) {
        Ok(()) => Ok(handle),
        Err(_) => {
            stack.sockets.remove(handle);
            Err(TransportError::Unreachable(local.ip()))
        }
    }
}

/// Whether the handshake of a listening socket is complete.
pub(super) fn is_established(socket: &tcp::Socket) -> bool {
    !matches!(socket.state(), State::Listen | State::SynReceived | State::Closed)
}

pub(super) fn stream_error(stream: StreamId, error: i32) -> TransportError {
    TransportError::Stream { stream, source: io::Error::from_raw_os_error(error) }
}
