//! A configured TAP device in a private network namespace.

use std::ffi::CStr;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::net::sockopt;

use super::namespace::Namespace;
use super::netlink::{RouteMetrics, RouteSocket};
use super::sys;
use crate::transport::patience::{Patience, PATIENCE};
use crate::transport::{LinkConfig, Result, TransportError, Tuning};

/// Name of the interface, as C string for the driver and as path component.
const INTERFACE: &CStr = c"zeronic0";
const INTERFACE_NAME: &str = "zeronic0";
/// The driver uncharges a packet from its socket as soon as it is queued, so TCP does not notice a
/// long queue, and a full one drops. It must hold all windows of all connections.
const QUEUE_PACKETS: u32 = 100_000;
const LOOPBACK_INDEX: u32 = 1;

/// Format of frames on the descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TapMode {
    /// With a virtio-net header; the reader does checksums and segmentation.
    Offloaded,
    /// As on the wire.
    Plain,
}

/// A TAP device, its namespace, and the settings that were refused.
#[derive(Debug)]
pub struct Tap {
    namespace: Namespace,
    device: OwnedFd,
    refused: Vec<(String, io::Error)>,
}

impl Tap {
    /// Creates and configures the namespace and the device.
    pub fn open(link: &LinkConfig, mode: TapMode) -> Result<Self> {
        Self::open_with_route(link, mode).map(|(tap, _)| tap)
    }

    fn open_with_route(link: &LinkConfig, mode: TapMode) -> Result<(Self, RouteSocket)> {
        let namespace = Namespace::create()?;
        let device = open_device(&namespace, mode)?;
        let mut tap = Self { namespace, device, refused: Vec::new() };
        for (name, value) in settings(&link.tuning) {
            if let Err(error) = tap.namespace.set(&name, &value) {
                tap.refused.push((name, error));
            }
        }
        let route = tap.configure(link)?;
        Ok((tap, route))
    }

    /// Descriptor on which frames are read and written.
    pub fn device(&self) -> BorrowedFd<'_> {
        self.device.as_fd()
    }

    /// Settings of the namespace that this machine refused; all else works without them.
    pub fn refused_settings(&self) -> &[(String, io::Error)] {
        &self.refused
    }

    /// Writes a setting of the namespace below `/proc/sys/net`.
    pub fn set(&self, name: &str, value: &str) -> std::io::Result<()> {
        self.namespace.set(name, value)
    }

    /// Opens a TCP socket in the namespace.
    pub fn tcp_socket(&self, ipv6: bool) -> io::Result<OwnedFd> {
        let family = if ipv6 { libc::AF_INET6 } else { libc::AF_INET };
        let socket = self.namespace.socket(family, libc::SOCK_STREAM, libc::IPPROTO_TCP)?;
        let fd = socket.as_fd();
        sockopt::set_tcp_nodelay(fd, true)?;
        // Urgent bytes are part of the stream; out of line they would not be counted.
        sockopt::set_socket_oobinline(fd, true)?;
        // BBR measures the wire by wall-clock time, which does not suit a simulated wire. A kernel
        // without CUBIC keeps its default, which works too.
        let _ = sockopt::set_tcp_congestion(fd, "cubic");
        if ipv6 {
            sockopt::set_ipv6_v6only(fd, true)?;
        }
        Ok(socket)
    }

    fn configure(&mut self, link: &LinkConfig) -> Result<RouteSocket> {
        let failed = |step| move |source| TransportError::Interface { step, source };
        let mut route = RouteSocket::open(&self.namespace).map_err(failed("route socket"))?;
        let probe = self.namespace.socket(libc::AF_INET, libc::SOCK_DGRAM, 0);
        let probe = probe.map_err(failed("socket"))?;
        let index = sys::interface_index(probe.as_fd(), INTERFACE).map_err(failed("index"))?;
        route.bring_up(LOOPBACK_INDEX).map_err(failed("loopback"))?;
        route
            .configure(index, link.mac, u32::from(link.mtu_bytes), QUEUE_PACKETS)
            .map_err(failed("address, MTU and queue length"))?;
        route.bring_up(index).map_err(failed("up"))?;
        let metrics = metrics(&link.tuning);
        for entry in &link.addresses {
            let (address, prefix) = (entry.address, entry.prefix_bits);
            route.add_address(index, address, prefix).map_err(failed("IP address"))?;
            let subnet = subnet(address, prefix);
            route.add_route(index, subnet, prefix, None, metrics).map_err(failed("subnet"))?;
        }
        for &gateway in &link.gateways {
            let any = match gateway {
                IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
                IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
            };
            route.add_route(index, any, 0, Some(gateway), metrics).map_err(failed("gateway"))?;
        }
        for entry in &link.addresses {
            await_address(&mut route, entry.address).map_err(failed("address in use"))?;
        }
        Ok(route)
    }
}

/// Waits until the kernel takes packets to `address` for its own: a worker of the kernel sees to
/// that, in its own time, and what comes earlier is dropped.
fn await_address(route: &mut RouteSocket, address: IpAddr) -> io::Result<()> {
    let mut patience = Patience::new(());
    while !route.is_local(address)? {
        if patience.is_over(()) {
            return Err(io::ErrorKind::TimedOut.into());
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}

fn open_device(namespace: &Namespace, mode: TapMode) -> Result<OwnedFd> {
    let refused = |step| move |source| TransportError::TapRefused { step, source };
    let device = namespace.open_tap().map_err(refused("open /dev/net/tun"))?;
    let plain = libc::IFF_TAP | libc::IFF_NO_PI;
    let (flags, offloads) = match mode {
        TapMode::Offloaded => (
            plain | libc::IFF_VNET_HDR,
            libc::TUN_F_CSUM | libc::TUN_F_TSO4 | libc::TUN_F_TSO6 | libc::TUN_F_TSO_ECN,
        ),
        TapMode::Plain => (plain, 0),
    };
    sys::tun_set_interface(device.as_fd(), INTERFACE, flags).map_err(refused("TUNSETIFF"))?;
    sys::tun_set_offload(device.as_fd(), offloads).map_err(refused("TUNSETOFFLOAD"))?;
    Ok(device)
}

fn metrics(tuning: &Tuning) -> RouteMetrics {
    let timeout = tuning.retransmission_timeout_min.as_millis();
    RouteMetrics {
        retransmission_timeout_min_ms: u32::try_from(timeout).unwrap_or(u32::MAX),
        initial_window_packets: tuning.initial_window_packets,
    }
}

/// How many timeouts in a row end a connection, of Linux: those of a SYN, of its answer, of data,
/// and of data whose application has closed. The last must be set: without, such a connection ends
/// with the first timeout of the longest length, and nobody learns what was left.
const RETRIES: [(&str, u128); 4] = [
    ("ipv4/tcp_syn_retries", 6),
    ("ipv4/tcp_synack_retries", 5),
    ("ipv4/tcp_retries2", 15),
    ("ipv4/tcp_orphan_retries", 8),
];
/// The most that Linux takes for a SYN.
const RETRIES_MAX: u128 = 127;

/// Shorter timeouts get more retries: a connection ends no earlier than the patience of whoever
/// waits for it.
fn retries_of(retries: u128, tuning: &Tuning) -> u128 {
    let longest_ms = tuning.retransmission_timeout_max.as_millis().max(1);
    (PATIENCE.as_millis() / longest_ms).clamp(retries, RETRIES_MAX)
}

/// Settings of a namespace, below `/proc/sys/net`; older kernels lack some of them.
fn settings(tuning: &Tuning) -> Vec<(String, String)> {
    let probe = if tuning.tail_loss_probe { "3" } else { "0" };
    let buffer = |bytes: u32| format!("4096 {bytes} {bytes}");
    let mut settings: Vec<(String, String)> = Vec::new();
    let mut put = |name: &str, value: &str| settings.push((name.into(), value.into()));
    let timeout_max = tuning.retransmission_timeout_max.as_millis();
    put("ipv4/tcp_early_retrans", probe);
    put("ipv4/tcp_rto_max_ms", &timeout_max.to_string());
    for (name, retries) in RETRIES {
        put(name, &retries_of(retries, tuning).to_string());
    }
    put("ipv4/tcp_no_metrics_save", "1");
    put("ipv4/tcp_slow_start_after_idle", "0");
    // Buffers of all sockets. SO_RCVBUFFORCE would need root outside the namespace.
    put("ipv4/tcp_rmem", &buffer(tuning.receive_buffer_bytes));
    put("ipv4/tcp_wmem", &buffer(tuning.send_buffer_bytes));
    // A slow wire may reply late, and there are no other hosts whose addresses could conflict.
    for family in ["ipv4", "ipv6"] {
        put(&format!("{family}/neigh/{INTERFACE_NAME}/mcast_solicit"), "30");
        put(&format!("{family}/neigh/{INTERFACE_NAME}/base_reachable_time_ms"), "3600000");
    }
    put(&format!("ipv6/conf/{INTERFACE_NAME}/disable_ipv6"), "0");
    // Only configured addresses, and no unsolicited frames.
    put(&format!("ipv6/conf/{INTERFACE_NAME}/addr_gen_mode"), "1");
    put(&format!("ipv6/conf/{INTERFACE_NAME}/accept_dad"), "0");
    put(&format!("ipv6/conf/{INTERFACE_NAME}/accept_ra"), "0");
    put(&format!("ipv6/conf/{INTERFACE_NAME}/router_solicitations"), "0");
    settings
}

/// The first address of a subnet.
fn subnet(address: IpAddr, prefix: u8) -> IpAddr {
    match address {
        IpAddr::V4(v4) => {
            let mask = u32::MAX.checked_shl(32 - u32::from(prefix.min(32))).unwrap_or(0);
            IpAddr::V4(Ipv4Addr::from_bits(v4.to_bits() & mask))
        }
        IpAddr::V6(v6) => {
            let mask = u128::MAX.checked_shl(128 - u32::from(prefix.min(128))).unwrap_or(0);
            IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() & mask))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skip::skip_if_refused;

    /// Frames that come right after the device was opened are not dropped.
    #[test]
    fn addresses_are_usable_once_device_opens() {
        let link = LinkConfig::lab(1, 1500, Tuning::REAL_TIME);
        for _ in 0..20 {
            let opened = Tap::open_with_route(&link, TapMode::Plain);
            let Some((_tap, mut route)) = skip_if_refused(opened, TransportError::is_refusal)
            else {
                return;
            };
            for entry in &link.addresses {
                assert!(route.is_local(entry.address).unwrap(), "{entry:?}");
            }
        }
    }

    #[test]
    fn a_subnet_keeps_the_prefix_alone() {
        let subnet = |address: &str, prefix| subnet(address.parse().unwrap(), prefix).to_string();
        assert_eq!(subnet("10.1.2.255", 24), "10.1.2.0");
        assert_eq!(subnet("10.1.2.255", 0), "0.0.0.0");
        assert_eq!(subnet("10.1.2.255", 32), "10.1.2.255");
        assert_eq!(subnet("fd00:1::ff", 64), "fd00:1::");
        assert_eq!(subnet("fd00:1::ff", 127), "fd00:1::fe");
    }
}
