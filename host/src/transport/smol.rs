//! Transport of smoltcp on filler bytes, for machines that do not allow the kernel transport.
//!
//! ```text
//!    socket buffers (content never accessed) <---> smoltcp <---> queue of frames
//!      feed, drain: move the buffer's indices         poll_header: the frame, without its payload
//!                                                     deliver: header and zeros
//! ```
//!
//! smoltcp keeps payload in byte rings, so filler is copied between ring and frame. It has no
//! selective acknowledgement and reports no round-trip times: those fields of [`StreamInfo`] are 0.

mod duplicates;
pub(crate) mod sockets;
pub(crate) mod stack;

use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;
use std::os::fd::BorrowedFd;

use smoltcp::iface::SocketHandle;

use self::sockets::{is_established, listening_socket, stream_error, Finish, Listener, Stream};
use self::stack::{socket_address, Stack, TcpChecksums};
use super::transmit_bytes;
use super::{
    ChecksumRequest, Drained, Event, FrameKind, LinkConfig, ListenerId, NextTimer, Result,
    StreamId, StreamInfo, StreamStatus, TransmitHeader, Transport, TransportCounters,
    TransportError,
};
use crate::clock::Clock;
use crate::headers::layout::{pseudo_header_sum, TcpLayout, TCP_CHECKSUM_OFFSET};

/// smoltcp as a [`Transport`].
pub struct SmoltcpTransport {
    stack: Stack,
    streams: HashMap<StreamId, Stream>,
    listeners: HashMap<ListenerId, Listener>,
    /// Sockets without a user that still have something to send.
    closing: Vec<SocketHandle>,
    ids: u32,
    events: VecDeque<Event>,
    counters: TransportCounters,
}

impl SmoltcpTransport {
    /// Creates the interface described by `link`, with timers on `clock`.
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
        let stream = Stream::new(handle, local, remote);
        self.streams.insert(StreamId(self.ids), stream);
        StreamId(self.ids)
    }

    fn stream(&mut self, id: StreamId) -> Result<(&mut Stack, &mut Stream)> {
        let stream = self.streams.get_mut(&id).ok_or(TransportError::UnknownStream(id))?;
        Ok((&mut self.stack, stream))
    }

    /// Checks every socket after the stack has run: records state changes, ends halves whose end
    /// was requested during the handshake, and queues events.
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
            let ready = |&handle: &SocketHandle| is_established(stack.sockets.get(handle));
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

impl Transport for SmoltcpTransport {
    fn poll_header(&mut self) -> Result<Option<TransmitHeader>> {
        while let Some(frame) = self.stack.pop() {
            self.counters.transmit_read_bytes += frame.len() as u64;
            let Some(header) = decode(&frame) else {
                self.counters.oversize_frames += 1;
                continue;
            };
            self.counters.transmit_headers += 1;
            self.counters.transmit_payload_bytes += u64::from(header.payload_bytes);
            return Ok(Some(header));
        }
        self.settle();
        Ok(None)
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

    fn connect(&mut self, remote: SocketAddr, local: Option<SocketAddr>) -> Result<StreamId> {
        let (handle, local) = self.stack.connect(remote, local)?;
        Ok(self.add_stream(handle, local, remote))
    }

    fn listen(&mut self, mut local: SocketAddr) -> Result<ListenerId> {
        if local.port() == 0 {
            local.set_port(self.stack.free_port()?);
        }
        let waiting = vec![listening_socket(&mut self.stack, local)?];
        self.ids += 1;
        let id = ListenerId(self.ids);
        self.listeners.insert(id, Listener { local, waiting, announced: false });
        Ok(id)
    }

    fn listener_address(&self, listener: ListenerId) -> Result<SocketAddr> {
        let known = self.listeners.get(&listener);
        Ok(known.ok_or(TransportError::UnknownListener(listener))?.local)
    }

    fn accept(&mut self, listener: ListenerId) -> Result<Option<StreamId>> {
        let known =
            self.listeners.get(&listener).ok_or(TransportError::UnknownListener(listener))?;
        let sockets = &self.stack.sockets;
        let ready = known.waiting.iter().position(|&handle| is_established(sockets.get(handle)));
        let Some(at) = ready else { return Ok(None) };
        let known = self.listeners.get_mut(&listener).expect("looked up above");
        let handle = known.waiting.remove(at);
        let socket = self.stack.socket(handle);
        let (Some(local), Some(remote)) = (socket.local_endpoint(), socket.remote_endpoint())
        else {
            // Reset since its handshake: the user has not seen the connection.
            self.closing.push(handle);
            return Ok(None);
        };
        let id = self.add_stream(handle, socket_address(local), socket_address(remote));
        self.settle();
        Ok(Some(id))
    }

    fn close_listener(&mut self, listener: ListenerId) -> Result<()> {
        let known =
            self.listeners.remove(&listener).ok_or(TransportError::UnknownListener(listener))?;
        for handle in known.waiting {
            self.stack.socket(handle).abort();
            self.closing.push(handle);
        }
        Ok(())
    }

    fn feed(&mut self, stream: StreamId, bytes: u64) -> Result<u64> {
        let (stack, known) = self.stream(stream)?;
        let result = known.feed(stack.socket(known.handle), bytes);
        result.map_err(|error| stream_error(stream, error))
    }

    fn drain(&mut self, stream: StreamId, bytes_max: u64) -> Result<Drained> {
        let (stack, known) = self.stream(stream)?;
        let result = known.drain(stack.socket(known.handle), bytes_max);
        result.map_err(|error| stream_error(stream, error))
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
        let known = self.streams.remove(&stream).ok_or(TransportError::UnknownStream(stream))?;
        let socket = self.stack.socket(known.handle);
        match socket.can_recv() {
            true => socket.abort(),
            false => socket.close(),
        }
        self.closing.push(known.handle);
        Ok(())
    }

    fn abort(&mut self, stream: StreamId) -> Result<()> {
        let known = self.streams.remove(&stream).ok_or(TransportError::UnknownStream(stream))?;
        self.stack.socket(known.handle).abort();
        self.closing.push(known.handle);
        Ok(())
    }

    fn status(&mut self, stream: StreamId) -> Result<StreamStatus> {
        let (stack, known) = self.stream(stream)?;
        Ok(known.status(stack.socket(known.handle)))
    }

    fn info(&mut self, stream: StreamId) -> Result<StreamInfo> {
        let (stack, known) = self.stream(stream)?;
        Ok(known.info(stack.socket(known.handle)))
    }

    fn addresses(&self, stream: StreamId) -> Result<(SocketAddr, SocketAddr)> {
        let known = self.streams.get(&stream).ok_or(TransportError::UnknownStream(stream))?;
        Ok((known.local, known.remote))
    }

    fn poll_event(&mut self) -> Result<Option<Event>> {
        let event = self.events.pop_front();
        match event {
            Some(Event::Stream(id)) => {
                self.streams.entry(id).and_modify(|stream| stream.announced = false);
            }
            Some(Event::Incoming(id)) => {
                self.listeners.entry(id).and_modify(|listener| listener.announced = false);
            }
            None => {}
        }
        Ok(event)
    }

    fn readiness(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    fn next_timer(&mut self) -> NextTimer {
        self.stack.next_timer()
    }

    fn counters(&self) -> TransportCounters {
        self.counters
    }
}

/// The header of a frame, with the sum of the pseudo header as the card expects it; `None` if it is
/// longer than a send descriptor carries.
fn decode(frame: &[u8]) -> Option<TransmitHeader> {
    let Ok(layout) = TcpLayout::parse(frame) else {
        return Some(TransmitHeader {
            bytes: transmit_bytes(frame)?,
            kind: FrameKind::Whole,
            payload_bytes: 0,
            mss_bytes: 0,
            checksum: None,
        });
    };
    let sum = pseudo_header_sum(frame, &layout).to_be_bytes();
    let mut bytes = transmit_bytes(&frame[..layout.payload])?;
    let field = layout.segment + TCP_CHECKSUM_OFFSET;
    bytes[field..field + 2].copy_from_slice(&sum);
    Some(TransmitHeader {
        bytes,
        kind: FrameKind::Tcp,
        payload_bytes: layout.payload_bytes as u32,
        mss_bytes: 0,
        checksum: Some(ChecksumRequest {
            start: layout.segment as u16,
            offset: TCP_CHECKSUM_OFFSET as u16,
        }),
    })
}
