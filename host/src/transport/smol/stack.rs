//! smoltcp on queues of frames instead of a device, with a wall clock or a manual clock.

use std::collections::hash_map::RandomState;
use std::collections::{HashSet, VecDeque};
use std::hash::{BuildHasher, Hasher};
use std::net::{IpAddr, SocketAddr};
use std::time::Instant;

use smoltcp::iface::{
    Config, Interface, PollIngressSingleResult, PollResult, SocketHandle, SocketSet,
};
use smoltcp::phy::{Checksum, ChecksumCapabilities, Device, DeviceCapabilities, Medium};
use smoltcp::phy::{RxToken, TxToken};
use smoltcp::socket::{tcp, Socket};
use smoltcp::wire::{EthernetAddress, IpCidr, IpEndpoint};

use super::duplicates::{Connection, Duplicates};
use crate::clock::Clock;
use crate::transport::{LinkConfig, NextTimer, Result, TransportError, Tuning};

const ETHERNET_HEADER_BYTES: usize = 14;
/// Ended connections whose numbers may be kept.
const CONNECTIONS_SLACK: usize = 64;
/// How long a connection of a peer is silent before the other end is asked whether it is there
/// (RFC 9293, 3.8.4). smoltcp needs it: it takes the window of a late segment for the newest one
/// (against 3.10.7.4), and after its timeout it does not probe a window of zero.
const KEEP_ALIVE: smoltcp::time::Duration = smoltcp::time::Duration::from_secs(10);
/// How often each socket may send in a call: `Interface::poll` does not return from one that sends
/// the same without end, as smoltcp does in some of its last states.
const PASSES_MAX: usize = 1024;
const PORT_FIRST: u16 = 49_152;
const PORTS: u16 = u16::MAX - PORT_FIRST + 1;

/// Who computes and checks TCP checksums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TcpChecksums {
    /// The stack, over real payload.
    Stack,
    /// Others; the stack sees filler.
    Offloaded,
}

/// An interface with its sockets, and its queues of incoming and outgoing frames.
pub(crate) struct Stack {
    device: QueueDevice,
    interface: Interface,
    pub(crate) sockets: SocketSet<'static>,
    clock: Clock,
    started: Instant,
    tuning: Tuning,
    ports_used: u16,
    duplicates: Duplicates,
}

impl Stack {
    /// Creates the interface described by `link`.
    pub(crate) fn new(link: &LinkConfig, clock: Clock, checksums: TcpChecksums) -> Result<Self> {
        let mut device = QueueDevice {
            incoming: VecDeque::new(),
            outgoing: VecDeque::new(),
            mtu_bytes: usize::from(link.mtu_bytes),
            checksums,
        };
        let mut config = Config::new(EthernetAddress(link.mac).into());
        // Initial sequence numbers differ between the two ends. With a manual clock they repeat
        // from run to run; with the wall clock they are unpredictable.
        let mac = link.mac.iter();
        config.random_seed = mac.fold(0, |seed, &byte| seed << 8 | u64::from(byte));
        if matches!(clock, Clock::Wall { .. }) {
            config.random_seed ^= RandomState::new().build_hasher().finish();
        }
        let mut interface = Interface::new(config, &mut device, smoltcp::time::Instant::ZERO);
        let mut left_out = None;
        interface.update_ip_addrs(|addresses| {
            for entry in &link.addresses {
                let cidr = IpCidr::new(entry.address.into(), entry.prefix_bits);
                left_out = left_out.or(addresses.push(cidr).err());
            }
        });
        if let Some(cidr) = left_out {
            return Err(TransportError::TooManyAddresses(cidr.address().into()));
        }
        for &gateway in &link.gateways {
            let routes = interface.routes_mut();
            let added = match gateway {
                IpAddr::V4(v4) => routes.add_default_ipv4_route(v4).map(drop),
                IpAddr::V6(v6) => routes.add_default_ipv6_route(v6).map(drop),
            };
            added.map_err(|_| TransportError::TooManyAddresses(gateway))?;
        }
        Ok(Self {
            device,
            interface,
            sockets: SocketSet::new(Vec::new()),
            clock,
            started: Instant::now(),
            tuning: link.tuning,
            ports_used: 0,
            duplicates: Duplicates::new(link.tuning.receive_buffer_bytes),
        })
    }

    /// Lets the stack process incoming frames and queue outgoing ones.
    pub(crate) fn poll(&mut self) {
        let now = self.now();
        let before = self.device.outgoing.len();
        let (device, sockets) = (&mut self.device, &mut self.sockets);
        self.interface.poll_maintenance(now);
        for _ in 0..PASSES_MAX {
            let mut has_come = false;
            while self.interface.poll_ingress_single(now, device, sockets)
                != PollIngressSingleResult::None
            {
                has_come = true;
            }
            let has_sent = self.interface.poll_egress(now, device, sockets) != PollResult::None;
            if !has_come && !has_sent {
                break;
            }
        }
        for frame in self.device.outgoing.range(before..) {
            self.duplicates.note_sent(frame);
        }
    }

    fn now(&self) -> smoltcp::time::Instant {
        let now_ns = self.clock.now_ns(self.started);
        smoltcp::time::Instant::from_micros((now_ns / 1000) as i64)
    }

    /// When the stack acts next by itself. To forget a connection that has ended is no act: a stack
    /// that waits for nothing else has no timer, or whoever skips time would end TIME-WAIT (RFC
    /// 9293, 3.6) before the other end could repeat its FIN.
    pub(crate) fn next_timer(&mut self) -> NextTimer {
        if matches!(self.clock, Clock::Wall { .. }) {
            return NextTimer::WallClock;
        }
        let has_ended = |(_, socket): (SocketHandle, &Socket)| {
            let Socket::Tcp(tcp) = socket;
            matches!(tcp.state(), tcp::State::Closed | tcp::State::Listen | tcp::State::TimeWait)
        };
        let now = self.now();
        match self.interface.poll_at(now, &self.sockets) {
            Some(at) if at > now && self.sockets.iter().all(has_ended) => NextTimer::Never,
            Some(at) => NextTimer::At(1000 * at.total_micros().max(0) as u64),
            None => NextTimer::Never,
        }
    }

    /// The next outgoing frame.
    pub(crate) fn pop(&mut self) -> Option<Vec<u8>> {
        if self.device.outgoing.is_empty() {
            self.poll();
        }
        let frame = self.device.outgoing.pop_front()?;
        if self.duplicates.len() > 2 * self.sockets.iter().count() + CONNECTIONS_SLACK {
            let live: HashSet<_> = self.sockets.iter().filter_map(connection).collect();
            self.duplicates.retain(|connection| live.contains(connection));
        }
        Some(frame)
    }

    /// Delivers a frame and lets the stack process it.
    pub(crate) fn push(&mut self, frame: Vec<u8>) {
        if self.duplicates.repeats_all_but_fin(&frame) {
            return;
        }
        self.device.incoming.extend(self.duplicates.acknowledgement(&frame));
        self.device.incoming.push_back(frame);
        self.poll();
    }

    /// Adds a TCP socket.
    pub(crate) fn add_socket(&mut self) -> SocketHandle {
        let buffer = |bytes: u32| tcp::SocketBuffer::new(vec![0; bytes as usize]);
        let receive = buffer(self.tuning.receive_buffer_bytes);
        let send = buffer(self.tuning.send_buffer_bytes);
        let mut socket = tcp::Socket::new(receive, send);
        socket.set_nagle_enabled(false);
        let delay = self.tuning.acknowledgement_delay.as_micros();
        let delay = smoltcp::time::Duration::from_micros(u64::try_from(delay).unwrap_or(u64::MAX));
        socket.set_ack_delay((delay != smoltcp::time::Duration::ZERO).then_some(delay));
        socket.set_congestion_control(tcp::CongestionControl::Cubic);
        // On headers alone the byte of a question is nowhere.
        if self.device.checksums == TcpChecksums::Stack {
            socket.set_keep_alive(Some(KEEP_ALIVE));
        }
        self.sockets.add(socket)
    }

    /// A TCP socket.
    pub(crate) fn socket(&mut self, handle: SocketHandle) -> &mut tcp::Socket<'static> {
        self.sockets.get_mut(handle)
    }

    /// Adds a socket that connects to `remote` from `local`; see
    /// [`Transport::connect`](crate::transport::Transport::connect). Also returns its local
    /// address.
    pub(crate) fn connect(
        &mut self,
        remote: SocketAddr,
        local: Option<SocketAddr>,
    ) -> Result<(SocketHandle, SocketAddr)> {
        let local = self.local_of(remote, local)?;
        let handle = self.add_socket();
        let socket = self.sockets.get_mut::<tcp::Socket>(handle);
        match socket.connect(self.interface.context(), remote, local) {
            Ok(()) => Ok((handle, local)),
            Err(_) => {
                self.sockets.remove(handle);
                Err(TransportError::Unreachable(remote.ip()))
            }
        }
    }

    /// Where a connection to `remote` begins, of which `asked` may say all or a part.
    fn local_of(&mut self, remote: SocketAddr, asked: Option<SocketAddr>) -> Result<SocketAddr> {
        let ip = match asked.map(|asked| asked.ip()).filter(|ip| !ip.is_unspecified()) {
            Some(ip) if !self.interface.has_ip_addr(ip) => {
                return Err(TransportError::NotLocal(ip))
            }
            Some(ip) if ip.is_ipv4() != remote.is_ipv4() => {
                return Err(TransportError::Unreachable(remote.ip()))
            }
            Some(ip) => ip,
            None => {
                let source = self.interface.get_source_address(&remote.ip().into());
                source.ok_or(TransportError::Unreachable(remote.ip()))?.into()
            }
        };
        let port = match asked.map_or(0, |asked| asked.port()) {
            0 => self.free_port()?,
            port if self.is_used(port) => {
                return Err(TransportError::AddressInUse(SocketAddr::new(ip, port)))
            }
            port => port,
        };
        Ok(SocketAddr::new(ip, port))
    }

    /// A port that no socket uses.
    pub(crate) fn free_port(&mut self) -> Result<u16> {
        for _ in 0..PORTS {
            let port = PORT_FIRST + self.ports_used % PORTS;
            self.ports_used = self.ports_used.wrapping_add(1);
            if !self.is_used(port) {
                return Ok(port);
            }
        }
        Err(TransportError::PortsExhausted { ports: usize::from(PORTS) })
    }

    /// Whether a socket listens on a port or has it.
    fn is_used(&self, port: u16) -> bool {
        self.sockets.iter().any(|(_, socket)| match socket {
            Socket::Tcp(tcp) => {
                tcp.listen_endpoint().port == port
                    || tcp.local_endpoint().is_some_and(|local| local.port == port)
            }
        })
    }

    /// Removes a socket that is closed and has nothing to send. Returns whether it did.
    pub(crate) fn remove_if_done(&mut self, handle: SocketHandle) -> bool {
        let socket = self.socket(handle);
        let done = socket.state() == tcp::State::Closed && socket.remote_endpoint().is_none();
        if done {
            self.sockets.remove(handle);
        }
        done
    }
}

/// The connection of a socket.
fn connection((_, socket): (SocketHandle, &Socket)) -> Option<Connection> {
    let Socket::Tcp(tcp) = socket;
    let (local, remote) = (tcp.local_endpoint()?, tcp.remote_endpoint()?);
    Some((local.port, remote.addr.into(), remote.port))
}

/// Converts to a socket address of the standard library.
pub(crate) fn socket_address(endpoint: IpEndpoint) -> SocketAddr {
    SocketAddr::new(endpoint.addr.into(), endpoint.port)
}

struct QueueDevice {
    incoming: VecDeque<Vec<u8>>,
    outgoing: VecDeque<Vec<u8>>,
    mtu_bytes: usize,
    checksums: TcpChecksums,
}

struct Incoming(Vec<u8>);
struct Outgoing<'a>(&'a mut VecDeque<Vec<u8>>);

impl Device for QueueDevice {
    type RxToken<'a> = Incoming;
    type TxToken<'a> = Outgoing<'a>;

    fn receive(
        &mut self,
        _: smoltcp::time::Instant,
    ) -> Option<(Self::RxToken<'_>, Self::TxToken<'_>)> {
        let frame = self.incoming.pop_front()?;
        Some((Incoming(frame), Outgoing(&mut self.outgoing)))
    }

    /// Never refuses: what smoltcp cannot send at once of a fast retransmission it forgets, timer
    /// included. The windows of its sockets bound the queue.
    fn transmit(&mut self, _: smoltcp::time::Instant) -> Option<Self::TxToken<'_>> {
        Some(Outgoing(&mut self.outgoing))
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut checksum = ChecksumCapabilities::default();
        checksum.tcp = match self.checksums {
            TcpChecksums::Stack => Checksum::Both,
            TcpChecksums::Offloaded => Checksum::None,
        };
        let mut capabilities = DeviceCapabilities::default();
        capabilities.medium = Medium::Ethernet;
        capabilities.max_transmission_unit = ETHERNET_HEADER_BYTES + self.mtu_bytes;
        capabilities.checksum = checksum;
        capabilities
    }
}

impl RxToken for Incoming {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, f: F) -> R {
        f(&self.0)
    }
}

impl TxToken for Outgoing<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, len: usize, f: F) -> R {
        let mut frame = vec![0; len];
        let result = f(&mut frame);
        self.0.push_back(frame);
        result
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::clock::ManualClock;
    use crate::headers::layout::{ones_sum, TcpLayout, ACK, SYN};

    const US: u8 = 1;
    const PEER: u8 = 2;
    const PORT: u16 = 5001;
    /// The peer's first byte, after its SYN.
    const PEER_FIRST: u32 = u32::MAX - 99;

    /// A stack that is connected to a peer that this test plays.
    struct Connected {
        stack: Stack,
        clock: ManualClock,
        handle: SocketHandle,
        port: u16,
        /// Our first byte, after our SYN.
        first: u32,
    }

    impl Connected {
        fn open(acknowledgement_delay: Duration) -> Self {
            let clock = ManualClock::default();
            let tuning = Tuning { acknowledgement_delay, ..Tuning::SIMULATION };
            let link = LinkConfig::lab(US, 1500, tuning);
            let by = Clock::Manual(clock.clone());
            let mut stack = Stack::new(&link, by, TcpChecksums::Offloaded).unwrap();
            stack.push(who_has());
            stack.pop().expect("an answer to who has our address");
            let remote = SocketAddr::new([10, 77, 0, PEER].into(), PORT);
            let (handle, local) = stack.connect(remote, None).unwrap();
            let (first, _) = numbers(&stack.pop().expect("a SYN"));
            let mut connected =
                Self { stack, clock, handle, port: local.port(), first: first.wrapping_add(1) };
            connected.peer_sends(PEER_FIRST.wrapping_sub(1), 0, SYN | ACK, 0);
            connected.stack.pop().expect("the end of the handshake");
            connected
        }

        /// Delivers a segment of the peer, which acknowledges our first bytes.
        fn peer_sends(&mut self, sequence: u32, acknowledged: u32, flags: u8, bytes: u16) {
            let acknowledgement = self.first.wrapping_add(acknowledged);
            let mut frame = vec![2, 0, 0, 0, 0, US, 2, 0, 0, 0, 0, PEER, 8, 0, 0x45, 0];
            frame.extend((40 + bytes).to_be_bytes());
            frame.extend([0, 0, 0x40, 0, 64, 6, 0, 0]);
            frame.extend([10, 77, 0, PEER, 10, 77, 0, US]);
            let sum = !ones_sum(&frame[14..], 0);
            frame[24..26].copy_from_slice(&sum.to_be_bytes());
            frame.extend(PORT.to_be_bytes());
            frame.extend(self.port.to_be_bytes());
            frame.extend(sequence.to_be_bytes());
            frame.extend(acknowledgement.to_be_bytes());
            frame.extend([0x50, flags, 0x40, 0, 0, 0, 0, 0]);
            frame.resize(frame.len() + usize::from(bytes), 0);
            self.stack.push(frame);
        }

        /// Sends filler; returns the number of its first byte, and its length.
        fn send(&mut self, bytes: usize) -> (u32, usize) {
            let socket = self.stack.socket(self.handle);
            socket.send_slice(&vec![0; bytes]).unwrap();
            let sent = numbers(&self.stack.pop().unwrap());
            assert_eq!(sent, (self.first, bytes));
            sent
        }

        fn unacknowledged_bytes(&mut self) -> usize {
            self.stack.socket(self.handle).send_queue()
        }
    }

    /// The peer asks who has our address, and so tells its own.
    fn who_has() -> Vec<u8> {
        let mut frame = vec![0xff; 6];
        frame.extend([2, 0, 0, 0, 0, PEER, 8, 6, 0, 1, 8, 0, 6, 4, 0, 1]);
        frame.extend([2, 0, 0, 0, 0, PEER, 10, 77, 0, PEER]);
        frame.extend([0, 0, 0, 0, 0, 0, 10, 77, 0, US]);
        frame
    }

    /// Sequence number and payload bytes of a frame.
    fn numbers(frame: &[u8]) -> (u32, usize) {
        let layout = TcpLayout::parse(frame).unwrap();
        let sequence = frame[layout.segment + 4..layout.segment + 8].try_into();
        (u32::from_be_bytes(sequence.unwrap()), layout.payload_bytes)
    }

    /// Both ends have timed out and begin again at their oldest byte. The peer's byte fills a gap,
    /// and the peer acknowledges from behind that byte before the stack is asked for its answer.
    #[test]
    fn ack_before_taken_bytes_is_kept() {
        let mut connected = Connected::open(Duration::ZERO);
        connected.send(300);
        connected.peer_sends(PEER_FIRST.wrapping_add(100), 0, ACK, 100);
        connected.peer_sends(PEER_FIRST, 0, ACK, 100);
        connected.peer_sends(PEER_FIRST.wrapping_add(100), 300, ACK, 0);
        assert_eq!(connected.unacknowledged_bytes(), 0);
    }

    /// The same where the stack has not even made its answer, so nothing tells what it expects:
    /// then the acknowledgement is lost once, until both repeat themselves.
    #[test]
    fn lost_delayed_ack_comes_with_repetition() {
        let mut connected = Connected::open(Duration::from_millis(10));
        let sent = connected.send(300);
        connected.peer_sends(PEER_FIRST, 0, ACK, 100);
        connected.peer_sends(PEER_FIRST, 300, ACK, 0);
        assert_eq!(connected.unacknowledged_bytes(), 300, "if not, this proves nothing");
        while connected.unacknowledged_bytes() > 0 {
            assert!(connected.clock.now_ns() < 10_000_000_000, "stuck");
            connected.clock.advance(Duration::from_millis(1));
            let stack = &mut connected.stack;
            if std::iter::from_fn(|| stack.pop()).any(|frame| numbers(&frame) == sent) {
                connected.peer_sends(PEER_FIRST, 300, ACK, 100);
            }
        }
    }
}
