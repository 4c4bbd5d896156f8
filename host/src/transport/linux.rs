//! Transport of unmodified Linux kernel TCP on filler bytes.
//!
//! ```text
//!    shadow socket <---> kernel TCP <---> TAP, virtio-net headers <---> LinuxTransport
//!      feed:  sendfile from a file of zeros       poll_header: a read of the header alone
//!      drain: recv with MSG_TRUNC                 deliver: header, then one page of filler,
//!                                                          repeated, checksum to be completed
//! ```
//!
//! The namespace, the device and all sockets are closed on drop. The kernel does ARP and neighbour
//! discovery; those frames pass whole in both directions.
//!
//! Why it is built so
//! 1. A read into a short buffer copies only the header of a TSO packet of up to 64 KiB. Its
//!    payload length follows from the IP length.
//! 2. A received header is flagged NEEDS_CSUM, which counts as verified. The filler does not match
//!    the sender's checksum, and the TAP driver ignores DATA_VALID alone.
//! 3. Filler is sent by `sendfile`, which references pages. The kernel copies MSG_ZEROCOPY data
//!    before a TAP.
//! 4. The window is right without further work: `recv` frees filler like real bytes.
//! 5. A run of packets is one packet with segmentation offload: the kernel's TCP takes up to 64 KiB
//!    in one, as behind receive offload. A longer run becomes several.
//! 6. The driver uncharges a packet from its socket as soon as it is queued. The queue of the
//!    device is therefore long, and the buffers of the sockets bound its content.
//!
//! Each stream and listener is a file descriptor: for thousands of them, raise `RLIMIT_NOFILE`.
//!
//! Frames carry no VLAN tag: the namespace has no VLAN device, so the kernel drops a tagged frame.
//! Users of VLANs add and remove the tag outside.

mod namespace;
mod netlink;
pub(crate) mod socket;
pub(crate) mod sys;
pub(crate) mod tap;
mod tap_port;
mod veth;
pub mod zero_copy;

use std::collections::{HashMap, VecDeque};
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::epoll::EventFlags;

use self::socket::ShadowSocket;
use self::tap::{Tap, TapMode};
pub use self::tap_port::TapPort;
pub use self::veth::VethPair;
use super::transmit_bytes;
use super::{
    ChecksumRequest, Drained, Event, FrameKind, LinkConfig, ListenerId, Result, StreamId,
    StreamInfo, StreamStatus, TransmitHeader, Transport, TransportCounters, TransportError,
};
use crate::headers::layout::{TcpLayout, HEADER_BYTES_MAX, TCP_CHECKSUM_OFFSET};
use crate::headers::run::Run;

/// Bytes of the virtio-net header before a frame, little-endian on this machine.
const VIRTIO_HEADER_BYTES: usize = 10;
const NEEDS_CSUM: u8 = 1;
/// Kinds of a packet that stands for several (Virtual I/O Device 1.3, 5.1.6: gso_type).
const GSO_TCP4: u8 = 1;
const GSO_TCP6: u8 = 4;
/// Filler for received payload: one page, so that it stays in the cache.
static FILLER: [u8; 4096] = [0; 4096];
/// Zeros to send: long enough that 64 KiB take one call.
const ZEROS_BYTES: usize = 1 << 20;
const LISTEN_BACKLOG: i32 = 4096;

/// Epoll tokens: kind in the upper half, id in the lower half.
const TOKEN_DEVICE: u64 = 0;
const TOKEN_LISTENER: u64 = 1 << 32;
const TOKEN_STREAM: u64 = 2 << 32;

/// Linux kernel TCP as a [`Transport`].
#[derive(Debug)]
pub struct LinuxTransport {
    tap: Tap,
    zeros: OwnedFd,
    epoll: OwnedFd,
    streams: HashMap<StreamId, ShadowSocket>,
    listeners: HashMap<ListenerId, OwnedFd>,
    ids: u32,
    events: VecDeque<Event>,
    counters: TransportCounters,
}

impl LinuxTransport {
    /// Creates the namespace, the device and the interface described by `link`. If this machine
    /// does not allow them, [`TransportError::is_refusal`] is true for the error.
    pub fn open(link: &LinkConfig) -> Result<Self> {
        let tap = Tap::open(link, TapMode::Offloaded)?;
        let zeros = sys::zero_file(c"zeronic-filler", ZEROS_BYTES).map_err(call_error("memfd"))?;
        let epoll = sys::epoll().map_err(call_error("epoll_create1"))?;
        sys::epoll_add(epoll.as_fd(), tap.device(), EventFlags::IN, TOKEN_DEVICE)
            .map_err(call_error("epoll_ctl"))?;
        Ok(Self {
            tap,
            zeros,
            epoll,
            streams: HashMap::new(),
            listeners: HashMap::new(),
            ids: 0,
            events: VecDeque::new(),
            counters: TransportCounters::default(),
        })
    }

    /// Settings of the namespace that this machine refused, with the reason. TCP works without
    /// them, but its timers may not suit a slow wire.
    pub fn refused_settings(&self) -> &[(String, io::Error)] {
        self.tap.refused_settings()
    }

    /// Allocates the next id and watches `fd` under it.
    fn register(&mut self, fd: BorrowedFd, token: u64) -> Result<u32> {
        self.ids += 1;
        let events = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
        sys::epoll_add(self.epoll.as_fd(), fd, events, token | u64::from(self.ids))
            .map_err(call_error("epoll_ctl"))?;
        Ok(self.ids)
    }

    fn add_stream(&mut self, socket: ShadowSocket) -> Result<StreamId> {
        let id = StreamId(self.register(socket.fd(), TOKEN_STREAM)?);
        self.streams.insert(id, socket);
        Ok(id)
    }

    fn stream(&mut self, id: StreamId) -> Result<&mut ShadowSocket> {
        self.streams.get_mut(&id).ok_or(TransportError::UnknownStream(id))
    }

    fn listener(&self, id: ListenerId) -> Result<BorrowedFd<'_>> {
        let listener = self.listeners.get(&id).ok_or(TransportError::UnknownListener(id))?;
        Ok(listener.as_fd())
    }

    /// Writes one frame: header, then filler instead of the payload.
    fn write(
        &mut self,
        virtio: [u8; VIRTIO_HEADER_BYTES],
        header: &[u8],
        filler: usize,
    ) -> Result<()> {
        let device = self.tap.device();
        match sys::write_filled(device, &virtio, header, &FILLER, filler) {
            Ok(_) => {
                self.counters.receive_headers += 1;
                self.counters.receive_payload_bytes += filler as u64;
                Ok(())
            }
            Err(error) if is_overrun(&error) => {
                self.counters.receive_overruns += 1;
                Ok(())
            }
            Err(source) => Err(call_error("write to TAP")(source)),
        }
    }
}

impl Transport for LinuxTransport {
    fn poll_header(&mut self) -> Result<Option<TransmitHeader>> {
        let mut virtio = [0; VIRTIO_HEADER_BYTES];
        let mut frame = [0; HEADER_BYTES_MAX];
        loop {
            let bytes = match sys::read_vectored(self.tap.device(), &mut virtio, &mut frame) {
                Ok(bytes) => bytes,
                Err(error) if sys::would_block(&error) => return Ok(None),
                Err(source) => return Err(call_error("read from TAP")(source)),
            };
            self.counters.transmit_read_bytes += bytes as u64;
            let frame = &frame[..bytes.saturating_sub(VIRTIO_HEADER_BYTES)];
            let Some(header) = decode(virtio, frame) else {
                self.counters.oversize_frames += 1;
                continue;
            };
            self.counters.transmit_headers += 1;
            self.counters.transmit_payload_bytes += u64::from(header.payload_bytes);
            return Ok(Some(header));
        }
    }

    fn deliver(&mut self, header: &[u8], payload_bytes: usize) -> Result<()> {
        let layout = TcpLayout::check(header, payload_bytes)?;
        self.write(virtio_header(&layout), header, payload_bytes)
    }

    fn deliver_run(&mut self, header: &[u8], run: &Run) -> Result<()> {
        let layout = TcpLayout::parse(header)?;
        let kind = if layout.ipv6 { GSO_TCP6 } else { GSO_TCP4 };
        let most = run.packets_max(&layout);
        for start in (0..run.packets).step_by(most as usize) {
            let packets = start..run.packets.min(start + most);
            let payload_bytes = run.payload_bytes(packets.clone());
            let header = run.header(header, packets)?;
            let mut virtio = virtio_header(&layout);
            if payload_bytes > run.segment_bytes {
                virtio[1] = kind;
                virtio[2..4].copy_from_slice(&(header.len() as u16).to_le_bytes());
                virtio[4..6].copy_from_slice(&(run.segment_bytes as u16).to_le_bytes());
            }
            self.write(virtio, &header, payload_bytes as usize)?;
        }
        Ok(())
    }

    fn deliver_frame(&mut self, frame: &[u8]) -> Result<()> {
        self.write([0; VIRTIO_HEADER_BYTES], frame, 0)
    }

    fn connect(&mut self, remote: SocketAddr, local: Option<SocketAddr>) -> Result<StreamId> {
        let socket = self.tap.tcp_socket(remote.is_ipv6()).map_err(call_error("socket"))?;
        if let Some(local) = local {
            sys::bind(socket.as_fd(), local).map_err(call_error("bind"))?;
        }
        sys::connect(socket.as_fd(), remote).map_err(call_error("connect"))?;
        let local = sys::local_address(socket.as_fd()).map_err(call_error("getsockname"))?;
        self.add_stream(ShadowSocket::new(socket, local, remote))
    }

    fn listen(&mut self, local: SocketAddr) -> Result<ListenerId> {
        let socket = self.tap.tcp_socket(local.is_ipv6()).map_err(call_error("socket"))?;
        let fd = socket.as_fd();
        sys::reuse_address(fd).map_err(call_error("SO_REUSEADDR"))?;
        sys::bind(fd, local).map_err(call_error("bind"))?;
        sys::listen(fd, LISTEN_BACKLOG).map_err(call_error("listen"))?;
        let id = ListenerId(self.register(fd, TOKEN_LISTENER)?);
        self.listeners.insert(id, socket);
        Ok(id)
    }

    fn listener_address(&self, listener: ListenerId) -> Result<SocketAddr> {
        sys::local_address(self.listener(listener)?).map_err(call_error("getsockname"))
    }

    fn accept(&mut self, listener: ListenerId) -> Result<Option<StreamId>> {
        let socket = match sys::accept(self.listener(listener)?) {
            Ok(socket) => socket,
            Err(error) if sys::would_block(&error) => return Ok(None),
            Err(error) if error.raw_os_error() == Some(libc::ECONNABORTED) => return Ok(None),
            Err(source) => return Err(call_error("accept4")(source)),
        };
        let local = sys::local_address(socket.as_fd()).map_err(call_error("getsockname"))?;
        let remote = match sys::remote_address(socket.as_fd()) {
            Ok(remote) => remote,
            // Reset since its handshake: the user has not seen the connection.
            Err(error) if error.raw_os_error() == Some(libc::ENOTCONN) => return Ok(None),
            Err(source) => return Err(call_error("getpeername")(source)),
        };
        self.add_stream(ShadowSocket::new(socket, local, remote)).map(Some)
    }

    fn close_listener(&mut self, listener: ListenerId) -> Result<()> {
        self.listeners.remove(&listener).map(drop).ok_or(TransportError::UnknownListener(listener))
    }

    fn feed(&mut self, stream: StreamId, bytes: u64) -> Result<u64> {
        let socket = self.streams.get_mut(&stream).ok_or(TransportError::UnknownStream(stream))?;
        let result = socket.feed(self.zeros.as_fd(), ZEROS_BYTES, bytes);
        result.map_err(|source| TransportError::Stream { stream, source })
    }

    fn drain(&mut self, stream: StreamId, bytes_max: u64) -> Result<Drained> {
        let result = self.stream(stream)?.drain(bytes_max);
        result.map_err(|source| TransportError::Stream { stream, source })
    }

    fn finish(&mut self, stream: StreamId) -> Result<()> {
        let result = self.stream(stream)?.finish();
        result.map_err(|source| TransportError::Stream { stream, source })
    }

    fn close(&mut self, stream: StreamId) -> Result<()> {
        self.streams.remove(&stream).map(drop).ok_or(TransportError::UnknownStream(stream))
    }

    fn abort(&mut self, stream: StreamId) -> Result<()> {
        sys::set_reset_on_close(self.stream(stream)?.fd()).map_err(call_error("SO_LINGER"))?;
        self.close(stream)
    }

    fn status(&mut self, stream: StreamId) -> Result<StreamStatus> {
        self.stream(stream)?.status().map_err(call_error("TCP_INFO"))
    }

    fn info(&mut self, stream: StreamId) -> Result<StreamInfo> {
        self.stream(stream)?.info().map_err(call_error("TCP_INFO"))
    }

    fn addresses(&self, stream: StreamId) -> Result<(SocketAddr, SocketAddr)> {
        let socket = self.streams.get(&stream).ok_or(TransportError::UnknownStream(stream))?;
        Ok(socket.addresses())
    }

    fn poll_event(&mut self) -> Result<Option<Event>> {
        if self.events.is_empty() {
            let tokens = sys::epoll_poll(self.epoll.as_fd()).map_err(call_error("epoll_wait"))?;
            for event in tokens.into_iter().filter_map(event) {
                if let Event::Stream(stream) = event {
                    let Some(socket) = self.streams.get_mut(&stream) else { continue };
                    socket.settle().map_err(|source| TransportError::Stream { stream, source })?;
                }
                self.events.push_back(event);
            }
        }
        Ok(self.events.pop_front())
    }

    fn readiness(&self) -> Option<BorrowedFd<'_>> {
        Some(self.epoll.as_fd())
    }

    fn takes_old_acks(&self) -> bool {
        true
    }

    fn counters(&self) -> TransportCounters {
        self.counters
    }
}

/// The virtio-net header of one packet whose TCP checksum counts as verified.
fn virtio_header(layout: &TcpLayout) -> [u8; VIRTIO_HEADER_BYTES] {
    let mut virtio = [0; VIRTIO_HEADER_BYTES];
    virtio[0] = NEEDS_CSUM;
    virtio[6..8].copy_from_slice(&(layout.segment as u16).to_le_bytes());
    virtio[8..10].copy_from_slice(&(TCP_CHECKSUM_OFFSET as u16).to_le_bytes());
    virtio
}

/// Decodes a frame of which only the first bytes were read; `None` if it is not TCP and longer than
/// the buffer.
fn decode(virtio: [u8; VIRTIO_HEADER_BYTES], frame: &[u8]) -> Option<TransmitHeader> {
    let field = |at: usize| u16::from_le_bytes([virtio[at], virtio[at + 1]]);
    let checksum = (virtio[0] & NEEDS_CSUM != 0)
        .then(|| ChecksumRequest { start: field(6), offset: field(8) });
    if let Ok(layout) = TcpLayout::parse(frame) {
        return Some(TransmitHeader {
            bytes: transmit_bytes(&frame[..layout.payload])?,
            kind: FrameKind::Tcp,
            payload_bytes: layout.payload_bytes as u32,
            mss_bytes: if virtio[1] == 0 { 0 } else { field(4) },
            checksum,
        });
    }
    (frame.len() < HEADER_BYTES_MAX).then_some(())?;
    Some(TransmitHeader {
        bytes: transmit_bytes(frame)?,
        kind: FrameKind::Whole,
        payload_bytes: 0,
        mss_bytes: 0,
        checksum,
    })
}

fn event(token: u64) -> Option<Event> {
    let id = token as u32;
    match token & !u64::from(u32::MAX) {
        TOKEN_LISTENER => Some(Event::Incoming(ListenerId(id))),
        TOKEN_STREAM => Some(Event::Stream(StreamId(id))),
        _ => None,
    }
}

/// Whether a frame was refused for lack of memory or buffer space, as by a full ring.
pub(crate) fn is_overrun(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::ENOBUFS | libc::ENOMEM))
}

pub(crate) fn call_error(call: &'static str) -> impl Fn(io::Error) -> TransportError {
    move |source| TransportError::System { call, source }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::transport::patience::Patience;
    use crate::transport::{InterfaceAddress, Tuning};
    use skip::skip_if_refused;

    /// A header of virtio says how its packet is cut, and where a checksum belongs, only where its
    /// kind and its flags do.
    #[test]
    fn virtio_fields_count_by_kind_and_flags() {
        let mut frame = vec![0; 12];
        frame.extend([8, 0, 0x45, 0, 0x0f, 0xa0, 0, 0, 0x40, 0, 64, 6, 0, 0]);
        frame.extend([10, 0, 0, 1, 10, 0, 0, 2]);
        frame.extend([0; 12]);
        frame.extend([0x50, 0x10, 0, 0, 0, 0, 0, 0]);
        for (flags, kind, mss_bytes) in [(0, 0, 0), (NEEDS_CSUM, 1, 1448), (NEEDS_CSUM, 0, 0)] {
            let mut virtio = [0; VIRTIO_HEADER_BYTES];
            (virtio[0], virtio[1]) = (flags, kind);
            virtio[4..6].copy_from_slice(&1448u16.to_le_bytes());
            virtio[6..8].copy_from_slice(&34u16.to_le_bytes());
            virtio[8..10].copy_from_slice(&16u16.to_le_bytes());
            let header = decode(virtio, &frame).expect("TCP");
            assert_eq!((header.mss_bytes, header.payload_bytes), (mss_bytes, 3960));
            let checksum = header.checksum.map(|at| (at.start, at.offset));
            assert_eq!(checksum, (flags == NEEDS_CSUM).then_some((34, 16)));
        }
    }

    /// What the kernel refuses comes back with its own error number.
    #[test]
    fn address_given_twice_already_exists() {
        let address = InterfaceAddress { address: "10.77.1.1".parse().unwrap(), prefix_bits: 24 };
        let link = LinkConfig {
            mac: [2, 0, 0, 0, 0, 1],
            addresses: vec![address; 2],
            gateways: Vec::new(),
            mtu_bytes: 1500,
            tuning: Tuning::REAL_TIME,
        };
        match LinuxTransport::open(&link) {
            Err(TransportError::Interface { step, source }) => {
                let found = (step, source.raw_os_error());
                assert_eq!(found, ("IP address", Some(libc::EEXIST)));
            }
            other => {
                assert!(
                    skip_if_refused(other, TransportError::is_refusal).is_none(),
                    "it is taken twice"
                )
            }
        }
    }

    #[test]
    fn waiting_header_makes_transport_ready() {
        let address = InterfaceAddress { address: "10.77.1.1".parse().unwrap(), prefix_bits: 24 };
        let link = LinkConfig {
            mac: [2, 0, 0, 0, 0, 1],
            addresses: vec![address],
            gateways: vec!["10.77.1.254".parse().unwrap()],
            mtu_bytes: 1500,
            tuning: Tuning::REAL_TIME,
        };
        let Some(mut transport) =
            skip_if_refused(LinuxTransport::open(&link), TransportError::is_refusal)
        else {
            return;
        };
        let outer = sys::epoll().unwrap();
        let ready = transport.readiness().unwrap();
        sys::epoll_add(outer.as_fd(), ready, EventFlags::IN, 1).unwrap();
        // What the kernel sends unasked comes in its own time: ready is whenever a header waits.
        while transport.poll_header().unwrap().is_some() {}
        while !sys::epoll_poll(outer.as_fd()).unwrap().is_empty() {
            let header = transport.poll_header().unwrap();
            assert!(header.is_some(), "ready without a header");
        }
        transport.connect("192.0.2.1:80".parse().unwrap(), None).unwrap();
        let mut patience = Patience::new(());
        let ready = loop {
            let ready = sys::epoll_poll(outer.as_fd()).unwrap();
            if !ready.is_empty() {
                break ready;
            }
            assert!(!patience.is_over(()), "the transport is not ready");
            std::thread::sleep(Duration::from_millis(1));
        };
        assert_eq!(ready, [1]);
        let header = transport.poll_header().unwrap().unwrap();
        assert_eq!(header.kind, FrameKind::Whole);
        // An ARP request for the gateway, because the remote address is not on the link.
        assert_eq!(header.bytes[12..14], [0x08, 0x06]);
        assert_eq!(header.bytes[38..42], [10, 77, 1, 254]);
    }
}
