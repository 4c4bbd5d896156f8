//! The interface of a transport or of a peer: addresses, MTU, timers and buffers.

use std::net::IpAddr;
use std::time::Duration;

/// One address of an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InterfaceAddress {
    /// The address.
    pub address: IpAddr,
    /// Bits of the subnet on the link.
    pub prefix_bits: u8,
}

/// The interface of a transport or of a peer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkConfig {
    /// Ethernet address.
    pub mac: [u8; 6],
    /// IP addresses, each with its subnet on the link.
    pub addresses: Vec<InterfaceAddress>,
    /// Routers to everywhere else, at most one of each IP version.
    pub gateways: Vec<IpAddr>,
    /// Largest IP packet, bytes: 1500, or up to 9000 for jumbo frames.
    pub mtu_bytes: u16,
    /// How the stack paces itself.
    pub tuning: Tuning,
}

/// Smallest MTU of a link with IPv6, bytes (RFC 8200, section 5).
pub const IPV6_MTU_BYTES_MIN: u16 = 1280;

impl LinkConfig {
    /// The machine `number` of a network on its own, for labs, demos and tests: 10.77.0.`number`
    /// in a /24 and, where the MTU allows it, fd77::`number` in a /64, without a gateway.
    pub fn lab(number: u8, mtu_bytes: u16, tuning: Tuning) -> Self {
        let mut addresses = vec![InterfaceAddress {
            address: [10, 77, 0, number].into(),
            prefix_bits: 24,
        }];
        if mtu_bytes >= IPV6_MTU_BYTES_MIN {
            addresses.push(InterfaceAddress {
                address: [0xfd77, 0, 0, 0, 0, 0, 0, u16::from(number)].into(),
                prefix_bits: 64,
            });
        }
        Self {
            mac: [0x02, 0, 0, 0, 0, number],
            addresses,
            gateways: Vec::new(),
            mtu_bytes,
            tuning,
        }
    }
}

/// Protocol timers and windows. A simulated wire may be a thousand times slower than a real one
/// while the kernel's timers run by the wall clock; these keep them from firing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuning {
    /// Lower bound of the retransmission timeout.
    pub retransmission_timeout_min: Duration,
    /// Whether a probe may repeat the tail after two round trips, before the timeout.
    pub tail_loss_probe: bool,
    /// Congestion window at the start, packets; 0 leaves the stack's own.
    pub initial_window_packets: u32,
    /// Receive buffer of each stream, in bytes of the stack's own accounting; bounds the window
    /// that the peer is offered, and so what it has in flight.
    pub receive_buffer_bytes: u32,
    /// Send buffer of each stream, in bytes of the stack's own accounting; bounds what is in
    /// flight to the peer.
    pub send_buffer_bytes: u32,
}

impl Tuning {
    /// For a card on a real wire: the stack's defaults with room for 100 Gb/s.
    pub const REAL_TIME: Self = Self {
        retransmission_timeout_min: Duration::from_millis(200),
        tail_loss_probe: true,
        initial_window_packets: 0,
        receive_buffer_bytes: 8 << 20,
        send_buffer_bytes: 8 << 20,
    };

    /// For a simulated card, whose wire is slower than its clock says by a factor of 1,000. The
    /// congestion window begins at more than such a wire holds: CUBIC leaves slow start, and grows
    /// after it, by the wall clock, which says nothing of the wire. A connection whose handshake
    /// takes longer than a second by the wall clock repeats its SYN all the same: the kernel has no
    /// setting for that timer.
    pub const SIMULATION: Self = Self {
        retransmission_timeout_min: Duration::from_secs(3),
        tail_loss_probe: false,
        initial_window_packets: 128,
        receive_buffer_bytes: 1 << 20,
        send_buffer_bytes: 1 << 20,
    };
}
