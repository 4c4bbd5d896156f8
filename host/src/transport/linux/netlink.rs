//! Interface configuration by rtnetlink: addresses, routes with metrics, link state, virtual
//! cables.

use std::ffi::CStr;
use std::io;
use std::net::IpAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use super::namespace::Namespace;
use super::sys;

// Attribute types of rtnetlink(7) and the kernel's uapi headers if_link.h and rtnetlink.h.
const IFLA_ADDRESS: u16 = 1;
const IFLA_IFNAME: u16 = 3;
const IFLA_MTU: u16 = 4;
const IFLA_TXQLEN: u16 = 13;
const IFLA_LINKINFO: u16 = 18;
const IFLA_NET_NS_FD: u16 = 28;
const IFLA_INFO_KIND: u16 = 1;
const IFLA_INFO_DATA: u16 = 2;
/// Of if_link.h or, for veth's own data, veth.h.
const VETH_INFO_PEER: u16 = 1;
/// Bytes of an `ifinfomsg`.
const LINK_BYTES: usize = 16;
const IFA_ADDRESS: u16 = 1;
const IFA_LOCAL: u16 = 2;
const IFA_FLAGS: u16 = 8;
const RTA_DST: u16 = 1;
const RTA_OIF: u16 = 4;
const RTA_GATEWAY: u16 = 5;
const RTA_METRICS: u16 = 8;
const RTAX_LOCK: u16 = 1;
const RTAX_INITCWND: u16 = 11;
const RTAX_RTO_MIN: u16 = 13;
/// Place of a route's kind in a route message: after the netlink header, byte 7 of an `rtmsg`.
const ROUTE_KIND_AT: usize = 16 + 7;
/// No duplicate address detection, and no route added by the kernel.
const ADDRESS_FLAGS: u32 = 0x02 | 0x200;

/// Metrics of a route; 0 keeps the kernel's value.
#[derive(Clone, Copy, Debug)]
pub struct RouteMetrics {
    /// Lower bound of the retransmission timeout, milliseconds.
    pub retransmission_timeout_min_ms: u32,
    /// Initial congestion window, packets.
    pub initial_window_packets: u32,
}

/// A route socket of a namespace.
pub struct RouteSocket {
    socket: OwnedFd,
    sequence: u32,
}

impl RouteSocket {
    /// Opens the route socket.
    pub fn open(namespace: &Namespace) -> io::Result<Self> {
        let socket = namespace.socket(libc::AF_NETLINK, libc::SOCK_RAW, libc::NETLINK_ROUTE)?;
        Ok(Self { socket, sequence: 0 })
    }

    /// Sets address, MTU and queue length of an interface.
    pub fn configure(
        &mut self,
        index: u32,
        mac: [u8; 6],
        mtu: u32,
        queue_packets: u32,
    ) -> io::Result<()> {
        let mut request = Request::new(libc::RTM_NEWLINK, 0);
        request.link(index, 0);
        request.attribute(IFLA_ADDRESS, &mac);
        request.attribute(IFLA_MTU, &mtu.to_ne_bytes());
        request.attribute(IFLA_TXQLEN, &queue_packets.to_ne_bytes());
        self.execute(request)
    }

    /// Adds a virtual cable between this network and another: an interface of that name in each.
    pub fn add_veth(&mut self, name: &CStr, other: BorrowedFd) -> io::Result<()> {
        let mut peer = vec![0; LINK_BYTES];
        attribute(&mut peer, IFLA_IFNAME, name.to_bytes_with_nul());
        attribute(&mut peer, IFLA_NET_NS_FD, &other.as_raw_fd().to_ne_bytes());
        let (mut data, mut info) = (Vec::new(), Vec::new());
        attribute(&mut data, VETH_INFO_PEER, &peer);
        attribute(&mut info, IFLA_INFO_KIND, b"veth");
        attribute(&mut info, IFLA_INFO_DATA, &data);
        let mut request = Request::new(libc::RTM_NEWLINK, libc::NLM_F_CREATE | libc::NLM_F_EXCL);
        request.bytes(&[0; LINK_BYTES]);
        request.attribute(IFLA_IFNAME, name.to_bytes_with_nul());
        request.attribute(IFLA_LINKINFO, &info);
        self.execute(request)
    }

    /// Brings an interface up.
    pub fn bring_up(&mut self, index: u32) -> io::Result<()> {
        let mut request = Request::new(libc::RTM_NEWLINK, 0);
        request.link(index, libc::IFF_UP as u32);
        self.execute(request)
    }

    /// Adds an address to an interface, without a route.
    pub fn add_address(&mut self, index: u32, address: IpAddr, prefix: u8) -> io::Result<()> {
        let mut request = Request::new(libc::RTM_NEWADDR, libc::NLM_F_CREATE | libc::NLM_F_EXCL);
        request.bytes(&[family(address), prefix, 0, 0]);
        request.bytes(&index.to_ne_bytes());
        let octets = octets(address);
        request.attribute(IFA_LOCAL, &octets);
        request.attribute(IFA_ADDRESS, &octets);
        request.attribute(IFA_FLAGS, &ADDRESS_FLAGS.to_ne_bytes());
        self.execute(request)
    }

    /// Whether packets to `address` are this machine's. It is so some time after
    /// [`Self::add_address`]: the kernel adds the route of an IPv6 address by a worker of its own.
    pub fn is_local(&mut self, address: IpAddr) -> io::Result<bool> {
        let mut request = Request::new(libc::RTM_GETROUTE, 0);
        let octets = octets(address);
        let bits = 8 * octets.len() as u8;
        // An `rtmsg`: family, length of the destination, and nothing else that is asked for.
        request.bytes(&[family(address), bits, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        request.attribute(RTA_DST, &octets);
        self.sequence += 1;
        sys::send(self.socket.as_fd(), &request.finish(self.sequence))?;
        let mut reply = [0; 1024];
        let bytes = sys::receive(self.socket.as_fd(), &mut reply)?;
        let reply = &reply[..bytes];
        let kind = reply.get(4..6).ok_or(io::ErrorKind::InvalidData)?;
        if u16::from_ne_bytes([kind[0], kind[1]]) != libc::RTM_NEWROUTE {
            return Ok(false);
        }
        // The route is followed by an acknowledgement.
        sys::receive(self.socket.as_fd(), &mut [0; 1024])?;
        // A netlink header of 16 bytes, then the `rtmsg`.
        let kind = reply.get(ROUTE_KIND_AT).ok_or(io::ErrorKind::InvalidData)?;
        Ok(*kind == libc::RTN_LOCAL)
    }

    /// Adds a route to `destination` over an interface, directly or through a gateway.
    pub fn add_route(
        &mut self,
        index: u32,
        destination: IpAddr,
        prefix: u8,
        gateway: Option<IpAddr>,
        metrics: RouteMetrics,
    ) -> io::Result<()> {
        let mut request = Request::new(libc::RTM_NEWROUTE, libc::NLM_F_CREATE | libc::NLM_F_EXCL);
        let scope = match gateway {
            Some(_) => libc::RT_SCOPE_UNIVERSE,
            None => libc::RT_SCOPE_LINK,
        };
        let table = libc::RT_TABLE_MAIN;
        let protocol = libc::RTPROT_STATIC;
        request.bytes(&[family(destination), prefix, 0, 0, table, protocol, scope]);
        request.bytes(&[libc::RTN_UNICAST]);
        request.bytes(&0u32.to_ne_bytes());
        if prefix > 0 {
            request.attribute(RTA_DST, &octets(destination));
        }
        request.attribute(RTA_OIF, &index.to_ne_bytes());
        if let Some(gateway) = gateway {
            request.attribute(RTA_GATEWAY, &octets(gateway));
        }
        request.attribute(RTA_METRICS, &metrics.encode());
        self.execute(request)
    }

    /// Sends a request and reads the kernel's acknowledgement, which a route socket returns at
    /// once.
    fn execute(&mut self, request: Request) -> io::Result<()> {
        self.sequence += 1;
        sys::send(self.socket.as_fd(), &request.finish(self.sequence))?;
        let mut reply = [0; 1024];
        let bytes = sys::receive(self.socket.as_fd(), &mut reply)?;
        // A netlink header of 16 bytes, then the error number, negated.
        let error = reply[..bytes].get(16..20).ok_or(io::ErrorKind::InvalidData)?;
        match i32::from_ne_bytes([error[0], error[1], error[2], error[3]]) {
            0 => Ok(()),
            negated => Err(io::Error::from_raw_os_error(-negated)),
        }
    }
}

impl RouteMetrics {
    fn encode(self) -> Vec<u8> {
        let locked = 1u32 << RTAX_RTO_MIN;
        let mut metrics = Vec::new();
        let mut put = |kind, value: u32| attribute(&mut metrics, kind, &value.to_ne_bytes());
        put(RTAX_RTO_MIN, self.retransmission_timeout_min_ms.max(1));
        if self.initial_window_packets > 0 {
            put(RTAX_INITCWND, self.initial_window_packets);
        }
        put(RTAX_LOCK, locked);
        metrics
    }
}

/// A netlink message under construction.
struct Request {
    message: Vec<u8>,
}

impl Request {
    fn new(kind: u16, flags: libc::c_int) -> Self {
        let flags = (flags | libc::NLM_F_REQUEST | libc::NLM_F_ACK) as u16;
        let mut message = vec![0; 4];
        message.extend(kind.to_ne_bytes());
        message.extend(flags.to_ne_bytes());
        message.extend([0; 8]);
        Self { message }
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.message.extend_from_slice(bytes);
    }

    /// An `ifinfomsg` that changes the given flags to set.
    fn link(&mut self, index: u32, set: u32) {
        self.bytes(&[0; 4]);
        for field in [index, set, set] {
            self.bytes(&field.to_ne_bytes());
        }
    }

    fn attribute(&mut self, kind: u16, value: &[u8]) {
        attribute(&mut self.message, kind, value);
    }

    fn finish(mut self, sequence: u32) -> Vec<u8> {
        let len = self.message.len() as u32;
        self.message[..4].copy_from_slice(&len.to_ne_bytes());
        self.message[8..12].copy_from_slice(&sequence.to_ne_bytes());
        self.message
    }
}

/// Appends an attribute, padded to four bytes.
fn attribute(to: &mut Vec<u8>, kind: u16, value: &[u8]) {
    to.extend((4 + value.len() as u16).to_ne_bytes());
    to.extend(kind.to_ne_bytes());
    to.extend_from_slice(value);
    to.resize(to.len().next_multiple_of(4), 0);
}

fn family(address: IpAddr) -> u8 {
    match address {
        IpAddr::V4(_) => libc::AF_INET as u8,
        IpAddr::V6(_) => libc::AF_INET6 as u8,
    }
}

fn octets(address: IpAddr) -> Vec<u8> {
    match address {
        IpAddr::V4(v4) => v4.octets().to_vec(),
        IpAddr::V6(v6) => v6.octets().to_vec(),
    }
}
