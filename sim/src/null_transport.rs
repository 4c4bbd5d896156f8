//! The least TCP that a provider can run on: it sees headers, works in order, and costs almost
//! nothing, so that what is measured around it is the control stack.
//!
//! ```text
//!   deliver ── SYN-ACK, payload in order, ACK numbers ──► Stream ──► drain, status
//!   poll_header ◄── ACKs that are due ◄── ACKs of the poll ◄── data, in turn ◄── feed
//! ```
//! For measurements and tests alone: no loss, no reordering, no timers, no end of a stream. What
//! does not follow in order is an error.
//!
//! - A stream acknowledges once in a poll, and at most [`ACK_BYTES_MAX`] at once, as a TCP behind
//!   receive offload does; or every second segment.
//! - The local port is the number of the stream, so a header finds its stream without a hash.

use std::collections::VecDeque;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::os::fd::BorrowedFd;

use host::transport::header::{ACK, SYN};
use host::transport::{
    Drained, Event, FrameKind, ListenerId, Result, StreamId, StreamInfo, StreamState, StreamStatus,
    TransmitBytes, TransmitHeader, Transport, TransportCounters, TransportError,
};

/// Most bytes that one ACK acknowledges.
pub const ACK_BYTES_MAX: u32 = 64 << 10;
/// Bytes from the Ethernet header to the end of a TCP header with timestamps.
pub const HEADER_BYTES: usize = 14 + 20 + 32;
/// The same of a SYN, which has more options.
pub const SYN_BYTES: usize = 14 + 20 + 40;
/// Window scale of both sides.
pub const WINDOW_SCALE: u8 = 7;
/// Local port of the first stream.
const PORT_FIRST: u16 = 1024;
/// Streams that have ports.
const STREAMS_MAX: usize = 60_000;
/// First byte of every stream, less one.
const SEQUENCE: u32 = 0x1000_0000;
const LINK_ADDRESSES: [u8; 12] = [2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1];
const TCP: usize = 34;

/// How a [`NullTransport`] sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NullConfig {
    /// Address of this side.
    pub local: Ipv4Addr,
    /// Payload of a header, bytes.
    pub send_bytes: u32,
    /// Payload of a frame, bytes.
    pub mss_bytes: u16,
    /// An ACK for every second segment instead of one for each poll.
    pub ack_every_second: bool,
}

#[derive(Debug)]
struct Stream {
    local: SocketAddrV4,
    remote: SocketAddrV4,
    is_open: bool,
    header: [u8; HEADER_BYTES],
    /// Next byte to send, bytes fed up to, acknowledged up to, window of the peer up to.
    sequence: u32,
    fed: u32,
    acknowledged: u32,
    edge: u32,
    /// Next byte expected, and how it was acknowledged.
    expected: u32,
    unacknowledged_bytes: u32,
    unacknowledged_segments: u32,
    readable: u64,
    is_acking: bool,
    is_sending: bool,
    is_announced: bool,
}

/// The transport. See the head of this file.
#[derive(Debug)]
pub struct NullTransport {
    config: NullConfig,
    streams: Vec<Stream>,
    syns: VecDeque<usize>,
    /// Streams and ACK numbers that are due.
    due: VecDeque<(usize, u32)>,
    /// Streams that acknowledge at the end of the poll.
    acking: VecDeque<usize>,
    sending: VecDeque<usize>,
    events: VecDeque<usize>,
    counters: TransportCounters,
}

fn put32(bytes: &mut [u8], at: usize, value: u32) {
    bytes[at..at + 4].copy_from_slice(&value.to_be_bytes());
}

fn get32(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn get16(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

/// A header from `source` to `destination` with timestamps, all numbers 0.
pub fn tcp_header(
    links: [u8; 12],
    source: SocketAddrV4,
    destination: SocketAddrV4,
) -> [u8; HEADER_BYTES] {
    let mut header = [0; HEADER_BYTES];
    header[..12].copy_from_slice(&links);
    header[12..16].copy_from_slice(&[8, 0, 0x45, 0]);
    header[20..24].copy_from_slice(&[0x40, 0, 64, 6]);
    header[26..30].copy_from_slice(&source.ip().octets());
    header[30..34].copy_from_slice(&destination.ip().octets());
    header[TCP..TCP + 2].copy_from_slice(&source.port().to_be_bytes());
    header[TCP + 2..TCP + 4].copy_from_slice(&destination.port().to_be_bytes());
    header[TCP + 12..TCP + 16].copy_from_slice(&[0x80, ACK, 0xff, 0xff]);
    header[TCP + 20..TCP + 24].copy_from_slice(&[1, 1, 8, 10]);
    put32(&mut header, TCP + 24, 1);
    set_payload(&mut header, 0);
    header
}

/// Sets the IP length for so many bytes of payload.
pub fn set_payload(header: &mut [u8], payload_bytes: u32) {
    let bytes = (header.len() - 14) as u32 + payload_bytes;
    header[16..18].copy_from_slice(&(bytes as u16).to_be_bytes());
}

/// Sets sequence and ACK number.
pub fn set_numbers(header: &mut [u8], sequence: u32, acknowledgement: u32) {
    put32(header, TCP + 4, sequence);
    put32(header, TCP + 8, acknowledgement);
}

/// A SYN, or the answer to one, from a header of the same addresses.
pub fn syn(header: &[u8; HEADER_BYTES], flags: u8) -> TransmitBytes {
    let mut bytes: TransmitBytes = header.iter().copied().collect();
    bytes.extend([2, 4, 0x05, 0xb4, 1, 3, 3, WINDOW_SCALE]);
    bytes[TCP + 12..TCP + 14].copy_from_slice(&[0xa0, flags]);
    set_payload(&mut bytes, 0);
    bytes
}

impl NullTransport {
    /// A transport without streams.
    pub fn new(config: NullConfig) -> Self {
        Self {
            config,
            streams: Vec::new(),
            syns: VecDeque::new(),
            due: VecDeque::new(),
            acking: VecDeque::new(),
            sending: VecDeque::new(),
            events: VecDeque::new(),
            counters: TransportCounters::default(),
        }
    }

    /// Makes `acks` ACKs due on a stream that has nothing new to acknowledge.
    pub fn acknowledge(&mut self, stream: StreamId, acks: usize) -> Result<()> {
        let number = self.stream(stream)?.expected;
        let due = std::iter::repeat_n((stream.0 as usize, number), acks);
        self.due.extend(due);
        Ok(())
    }

    fn stream(&mut self, id: StreamId) -> Result<&mut Stream> {
        let stream = self.streams.get_mut(id.0 as usize);
        stream.ok_or(TransportError::UnknownStream(id))
    }

    fn announce(&mut self, at: usize) {
        if !std::mem::replace(&mut self.streams[at].is_announced, true) {
            self.events.push_back(at);
        }
    }

    fn may_send(&mut self, at: usize) {
        let stream = &mut self.streams[at];
        let has_work = stream.sequence != stream.fed && stream.sequence != stream.edge;
        if has_work && !std::mem::replace(&mut stream.is_sending, true) {
            self.sending.push_back(at);
        }
    }

    /// Takes payload in order.
    fn take_payload(&mut self, at: usize, sequence: u32, payload_bytes: u32) -> Result<()> {
        let stream = &mut self.streams[at];
        if sequence != stream.expected {
            let text = format!("byte {sequence} came, {} was expected", stream.expected);
            return Err(TransportError::Stream {
                stream: StreamId(at as u32),
                source: io::Error::other(text),
            });
        }
        stream.expected = sequence.wrapping_add(payload_bytes);
        stream.readable += u64::from(payload_bytes);
        stream.unacknowledged_bytes += payload_bytes;
        stream.unacknowledged_segments += 1;
        let is_due = match self.config.ack_every_second {
            true => stream.unacknowledged_segments == 2,
            false => stream.unacknowledged_bytes + u32::from(self.config.mss_bytes) > ACK_BYTES_MAX,
        };
        if is_due {
            (stream.unacknowledged_bytes, stream.unacknowledged_segments) = (0, 0);
            self.due.push_back((at, stream.expected));
        } else if !self.config.ack_every_second && !std::mem::replace(&mut stream.is_acking, true) {
            self.acking.push_back(at);
        }
        Ok(())
    }

    fn transmit(&mut self, bytes: TransmitBytes, payload_bytes: u32) -> TransmitHeader {
        self.counters.transmit_headers += 1;
        self.counters.transmit_payload_bytes += u64::from(payload_bytes);
        TransmitHeader {
            bytes,
            kind: FrameKind::Tcp,
            payload_bytes,
            mss_bytes: self.config.mss_bytes,
            checksum: None,
        }
    }

    /// The next ACK that is due.
    fn next_ack(&mut self) -> Option<TransmitHeader> {
        let (at, number) = match self.due.pop_front() {
            Some(due) => due,
            None => loop {
                let at = self.acking.pop_front()?;
                let stream = &mut self.streams[at];
                stream.is_acking = false;
                if std::mem::take(&mut stream.unacknowledged_bytes) > 0 {
                    stream.unacknowledged_segments = 0;
                    break (at, stream.expected);
                }
            },
        };
        let stream = &self.streams[at];
        let mut bytes: TransmitBytes = stream.header.into_iter().collect();
        set_numbers(&mut bytes, stream.sequence, number);
        Some(self.transmit(bytes, 0))
    }

    /// The next header with payload. Streams take turns.
    fn next_data(&mut self) -> Option<TransmitHeader> {
        let at = self.sending.pop_front()?;
        let stream = &mut self.streams[at];
        stream.is_sending = false;
        let fed = stream.fed.wrapping_sub(stream.sequence);
        let window = stream.edge.wrapping_sub(stream.sequence);
        let payload_bytes = self.config.send_bytes.min(fed).min(window);
        let mut bytes: TransmitBytes = stream.header.into_iter().collect();
        set_numbers(&mut bytes, stream.sequence, stream.expected);
        set_payload(&mut bytes, payload_bytes);
        stream.sequence = stream.sequence.wrapping_add(payload_bytes);
        self.may_send(at);
        Some(self.transmit(bytes, payload_bytes))
    }

    fn next_syn(&mut self) -> Option<TransmitHeader> {
        let at = self.syns.pop_front()?;
        let mut bytes = syn(&self.streams[at].header, SYN);
        set_numbers(&mut bytes, SEQUENCE, 0);
        Some(self.transmit(bytes, 0))
    }
}

impl Transport for NullTransport {
    fn poll_header(&mut self) -> Result<Option<TransmitHeader>> {
        let header = self.next_ack().or_else(|| self.next_data());
        Ok(header.or_else(|| self.next_syn()))
    }

    fn deliver(&mut self, header: &[u8], payload_bytes: usize) -> Result<()> {
        if header.len() < HEADER_BYTES {
            let (bytes, layer) = (header.len(), "TCP");
            return Err(TransportError::HeaderTruncated { bytes, layer });
        }
        self.counters.receive_headers += 1;
        self.counters.receive_payload_bytes += payload_bytes as u64;
        let at = usize::from(get16(header, TCP + 2).wrapping_sub(PORT_FIRST));
        let Some(stream) = self.streams.get_mut(at) else {
            return Err(TransportError::UnknownStream(StreamId(at as u32)));
        };
        let (sequence, number) = (get32(header, TCP + 4), get32(header, TCP + 8));
        let window = u32::from(get16(header, TCP + 14)) << WINDOW_SCALE;
        if header[TCP + 13] & SYN != 0 {
            stream.expected = sequence.wrapping_add(1);
            stream.is_open = true;
            self.due.push_back((at, stream.expected));
        }
        stream.acknowledged = number;
        stream.edge = number.wrapping_add(window);
        if payload_bytes > 0 {
            self.take_payload(at, sequence, payload_bytes as u32)?;
        }
        self.may_send(at);
        self.announce(at);
        Ok(())
    }

    fn deliver_frame(&mut self, _frame: &[u8]) -> Result<()> {
        Ok(())
    }

    fn connect(&mut self, remote: SocketAddr) -> Result<StreamId> {
        let SocketAddr::V4(remote) = remote else {
            return Err(TransportError::Unreachable(remote.ip()));
        };
        let at = self.streams.len();
        if at >= STREAMS_MAX {
            return Err(TransportError::PortsExhausted { ports: STREAMS_MAX });
        }
        let local = SocketAddrV4::new(self.config.local, PORT_FIRST + at as u16);
        let first = SEQUENCE.wrapping_add(1);
        self.streams.push(Stream {
            local,
            remote,
            is_open: false,
            header: tcp_header(LINK_ADDRESSES, local, remote),
            sequence: first,
            fed: first,
            acknowledged: first,
            edge: first,
            expected: 0,
            unacknowledged_bytes: 0,
            unacknowledged_segments: 0,
            readable: 0,
            is_acking: false,
            is_sending: false,
            is_announced: false,
        });
        self.syns.push_back(at);
        Ok(StreamId(at as u32))
    }

    /// It only connects.
    fn listen(&mut self, local: SocketAddr) -> Result<ListenerId> {
        Err(TransportError::Unreachable(local.ip()))
    }

    fn listener_address(&self, listener: ListenerId) -> Result<SocketAddr> {
        Err(TransportError::UnknownListener(listener))
    }

    fn accept(&mut self, listener: ListenerId) -> Result<Option<StreamId>> {
        Err(TransportError::UnknownListener(listener))
    }

    fn close_listener(&mut self, listener: ListenerId) -> Result<()> {
        Err(TransportError::UnknownListener(listener))
    }

    fn feed(&mut self, stream: StreamId, bytes: u64) -> Result<u64> {
        let known = self.stream(stream)?;
        known.fed = known.fed.wrapping_add(bytes as u32);
        self.may_send(stream.0 as usize);
        Ok(bytes)
    }

    fn drain(&mut self, stream: StreamId, bytes_max: u64) -> Result<Drained> {
        let known = self.stream(stream)?;
        let bytes = known.readable.min(bytes_max);
        known.readable -= bytes;
        Ok(Drained {
            bytes,
            end_of_stream: false,
        })
    }

    fn finish(&mut self, stream: StreamId) -> Result<()> {
        self.stream(stream).map(|_| ())
    }

    fn close(&mut self, stream: StreamId) -> Result<()> {
        self.stream(stream).map(|known| known.is_open = false)
    }

    fn abort(&mut self, stream: StreamId) -> Result<()> {
        self.close(stream)
    }

    fn status(&mut self, stream: StreamId) -> Result<StreamStatus> {
        let known = self.stream(stream)?;
        Ok(StreamStatus {
            state: match known.is_open {
                true => StreamState::Open,
                false => StreamState::Connecting,
            },
            readable_bytes: known.readable,
            unacknowledged_bytes: known.fed.wrapping_sub(known.acknowledged).into(),
            end_of_stream: false,
            error: None,
        })
    }

    fn info(&mut self, stream: StreamId) -> Result<StreamInfo> {
        self.stream(stream).map(|_| StreamInfo::default())
    }

    fn addresses(&self, stream: StreamId) -> Result<(SocketAddr, SocketAddr)> {
        let known = self.streams.get(stream.0 as usize);
        let known = known.ok_or(TransportError::UnknownStream(stream))?;
        Ok((known.local.into(), known.remote.into()))
    }

    fn poll_event(&mut self) -> Result<Option<Event>> {
        let Some(at) = self.events.pop_front() else {
            return Ok(None);
        };
        self.streams[at].is_announced = false;
        Ok(Some(Event::Stream(StreamId(at as u32))))
    }

    fn readiness(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    fn counters(&self) -> TransportCounters {
        self.counters
    }
}
