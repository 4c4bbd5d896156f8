//! Two networks joined by a virtual cable (veth): kernel TCP with nothing of ours in its path, for
//! what is measured against it.
//!
//! ```text
//!   first network ── TCP ── veth ════ veth ── TCP ── second network
//!        a socket                                    a socket
//! ```
//! A packet passes as the kernel has made it: segmentation is left to the device (GSO), so up to
//! 64 KiB go through in one piece, and receive offload (GRO) is switched on. There is no driver,
//! no DMA and no interrupt in it.

use std::ffi::CStr;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use super::namespace::Namespace;
use super::netlink::{RouteMetrics, RouteSocket};
use super::{call_error, sys};
use crate::transport::patience::Patience;
use crate::transport::{Result, TransportError};

/// Name of the interface at either end.
const INTERFACE: &CStr = c"zeronic0";
const PORT: u16 = 5001;
const PREFIX_BITS: u8 = 24;
const QUEUE_PACKETS: u32 = 1000;
/// As the kernel has them.
const METRICS: RouteMetrics =
    RouteMetrics { retransmission_timeout_min_ms: 200, initial_window_packets: 0 };

/// The two networks; they exist as long as this.
#[derive(Debug)]
pub struct VethPair {
    namespace: Namespace,
    listener: OwnedFd,
    has_receive_offload: bool,
}

/// Address of the first or second network.
fn address(number: u8) -> Ipv4Addr {
    Ipv4Addr::new(10, 78, 0, number)
}

impl VethPair {
    /// Makes the networks and the cable, for IP packets of so many bytes. If this machine does not
    /// allow them, [`TransportError::is_refusal`] is true for the error.
    pub fn open(mtu_bytes: u16) -> Result<Self> {
        let step = |step| move |source| TransportError::Interface { step, source };
        let namespace = Namespace::create()?;
        let mut first = End::open(&namespace)?;
        let listener = namespace.socket(libc::AF_INET, libc::SOCK_STREAM, libc::IPPROTO_TCP);
        let listener = listener.map_err(call_error("socket"))?;
        let network = namespace.enter_another();
        let network = network.map_err(step("second network"))?;
        let mut second = End::open(&namespace)?;
        second.route.add_veth(INTERFACE, network.as_fd()).map_err(step("veth"))?;
        let mut has_receive_offload = true;
        for (number, end) in [(1, &mut first), (2, &mut second)] {
            has_receive_offload &= end.configure(number, mtu_bytes)?;
        }
        sys::bind(listener.as_fd(), (address(1), PORT).into()).map_err(call_error("bind"))?;
        sys::listen(listener.as_fd(), 1).map_err(call_error("listen"))?;
        Ok(Self { namespace, listener, has_receive_offload })
    }

    /// Whether the kernel has switched receive offload on.
    pub fn has_receive_offload(&self) -> bool {
        self.has_receive_offload
    }

    /// Whether the kernel lets a connection have this congestion control.
    pub fn has_congestion_control(&self, name: &str) -> Result<bool> {
        let probe = self.namespace.socket(libc::AF_INET, libc::SOCK_STREAM, 0);
        let probe = probe.map_err(call_error("socket"))?;
        Ok(set_congestion_control(&probe, name).is_ok())
    }

    /// A connection with a congestion control: its end in the first network and that in the second
    /// one, both blocking.
    pub fn connect(&self, congestion_control: &str) -> Result<(TcpStream, TcpStream)> {
        let family = libc::AF_INET;
        let second = self.namespace.socket(family, libc::SOCK_STREAM, 0);
        let second = second.map_err(call_error("socket"))?;
        let set = |socket: &OwnedFd| set_congestion_control(socket, congestion_control);
        set(&second).map_err(call_error("TCP_CONGESTION"))?;
        let remote = SocketAddr::from((address(1), PORT));
        sys::connect(second.as_fd(), remote).map_err(call_error("connect"))?;
        let mut patience = Patience::new(());
        let first = loop {
            match sys::accept(self.listener.as_fd()) {
                Ok(socket) => break socket,
                Err(error) if sys::would_block(&error) && !patience.is_over(()) => {
                    std::thread::sleep(Duration::from_millis(1));
                }
                Err(source) => return Err(call_error("accept4")(source)),
            }
        };
        set(&first).map_err(call_error("TCP_CONGESTION"))?;
        let blocking = |socket: OwnedFd| -> Result<TcpStream> {
            let stream = TcpStream::from(socket);
            stream.set_nonblocking(false).map_err(call_error("fcntl"))?;
            Ok(stream)
        };
        Ok((blocking(first)?, blocking(second)?))
    }
}

fn set_congestion_control(socket: &OwnedFd, name: &str) -> std::io::Result<()> {
    Ok(rustix::net::sockopt::set_tcp_congestion(socket, name)?)
}

/// What configures one network.
struct End {
    route: RouteSocket,
    /// Any socket of the network.
    probe: OwnedFd,
}

impl End {
    /// The network that the namespace's broker is in.
    fn open(namespace: &Namespace) -> Result<Self> {
        let route = RouteSocket::open(namespace).map_err(call_error("route socket"))?;
        let probe = namespace.socket(libc::AF_INET, libc::SOCK_DGRAM, 0);
        Ok(Self { route, probe: probe.map_err(call_error("socket"))? })
    }

    /// Sets its interface up. Returns whether receive offload is on.
    fn configure(&mut self, number: u8, mtu_bytes: u16) -> Result<bool> {
        let step = |step| move |source| TransportError::Interface { step, source };
        let index = sys::interface_index(self.probe.as_fd(), INTERFACE).map_err(step("index"))?;
        let offload = sys::set_receive_offload(self.probe.as_fd(), INTERFACE, true);
        let mac = [2, 0, 0, 0, 1, number];
        let (route, mtu) = (&mut self.route, u32::from(mtu_bytes));
        route
            .configure(index, mac, mtu, QUEUE_PACKETS)
            .map_err(step("address, MTU and queue length"))?;
        route.bring_up(index).map_err(step("up"))?;
        let own = IpAddr::V4(address(number));
        route.add_address(index, own, PREFIX_BITS).map_err(step("IP address"))?;
        let subnet = IpAddr::V4(address(0));
        route.add_route(index, subnet, PREFIX_BITS, None, METRICS).map_err(step("subnet"))?;
        Ok(offload.is_ok())
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use super::*;
    use crate::transport::zero_copy::{self, ZeroCopies};
    use skip::skip_if_refused;

    #[test]
    fn sent_reference_arrives_kernel_reports_copy() {
        static BYTES: [u8; 4096] = [7; 4096];
        let Some(pair) = skip_if_refused(VethPair::open(9000), TransportError::is_refusal) else {
            return;
        };
        assert!(!pair.has_congestion_control("nobody's").unwrap());
        let (from, mut to) = pair.connect("cubic").unwrap();
        zero_copy::allow(&from).unwrap();
        for _ in 0..8 {
            assert_eq!(zero_copy::send(&from, &BYTES).unwrap(), BYTES.len());
        }
        let mut bytes = [0; 8 * 4096];
        to.read_exact(&mut bytes).unwrap();
        assert!(bytes.iter().all(|byte| *byte == 7));
        let mut all = ZeroCopies::default();
        let mut patience = Patience::new(());
        while all.done < 8 && !patience.is_over(()) {
            zero_copy::take_notices(&from, &mut all).unwrap();
            std::thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(all.done, 8);
        assert!(all.copied <= all.done);
    }

    #[test]
    fn bytes_cross_networks_at_any_mtu() {
        for mtu_bytes in [1500, 9000] {
            let Some(pair) = skip_if_refused(VethPair::open(mtu_bytes), TransportError::is_refusal)
            else {
                return;
            };
            let (mut first, mut second) = pair.connect("cubic").unwrap();
            for (from, to) in [(&mut first, 1), (&mut second, 0)] {
                from.write_all(&[to; 1000]).unwrap();
            }
            for (at, expected) in [(&mut first, 0), (&mut second, 1)] {
                let mut bytes = [9; 1000];
                at.read_exact(&mut bytes).unwrap();
                assert_eq!(bytes, [expected; 1000]);
            }
            let addresses = [first, second].map(|end| end.local_addr().unwrap().ip());
            assert_eq!(addresses, [IpAddr::V4(address(1)), IpAddr::V4(address(2))]);
        }
    }
}
