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
    /// Default gateways, at most one of each IP version.
    pub gateways: Vec<IpAddr>,
    /// Largest IP packet, bytes: 1500, or up to 9000 for jumbo frames.
    pub mtu_bytes: u16,
    /// Timers and buffers of the stack.
    pub tuning: Tuning,
}

/// Smallest MTU of a link with IPv6, bytes (RFC 8200, section 5).
pub const IPV6_MTU_BYTES_MIN: u16 = 1280;

impl LinkConfig {
    /// Machine `number` of an isolated network for labs, demos and tests: 10.77.0.`number` in a /24
    /// and, if the MTU allows IPv6, fd77::`number` in a /64, without a gateway.
    pub fn lab(number: u8, mtu_bytes: u16, tuning: Tuning) -> Self {
        let mut addresses =
            vec![InterfaceAddress { address: [10, 77, 0, number].into(), prefix_bits: 24 }];
        if mtu_bytes >= IPV6_MTU_BYTES_MIN {
            addresses.push(InterfaceAddress {
                address: [0xfd77, 0, 0, 0, 0, 0, 0, u16::from(number)].into(),
                prefix_bits: 64,
            });
        }
        Self { mac: [0x02, 0, 0, 0, 0, number], addresses, gateways: Vec::new(), mtu_bytes, tuning }
    }
}

/// Protocol timers and windows. A simulated wire may be a thousand times slower than a real one,
/// while the kernel's timers run on wall-clock time; these settings keep them from firing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuning {
    /// Lower bound of the retransmission timeout.
    pub retransmission_timeout_min: Duration,
    /// Upper bound of the retransmission timeout, which doubles with each loss in a row: from 1 s
    /// to 120 s. Linux before 6.15 keeps 120 s; smoltcp has its own, 60 s.
    pub retransmission_timeout_max: Duration,
    /// Whether a tail loss probe may be sent after two round trips, before the timeout.
    pub tail_loss_probe: bool,
    /// Initial congestion window, packets; 0 keeps that of the stack.
    pub initial_window_packets: u32,
    /// How long smoltcp may wait for a second segment before it acknowledges the first one; zero
    /// acknowledges each segment at once. The kernel chooses for itself.
    pub acknowledgement_delay: Duration,
    /// Receive buffer of each stream, in bytes of the stack's own accounting. It bounds the offered
    /// window, and so the bytes in flight from the peer.
    pub receive_buffer_bytes: u32,
    /// Send buffer of each stream, in bytes of the stack's own accounting. It bounds the bytes in
    /// flight to the peer.
    pub send_buffer_bytes: u32,
}

impl Tuning {
    /// For a card on a real wire: defaults of the stack, with buffers for 100 Gb/s.
    pub const REAL_TIME: Self = Self {
        retransmission_timeout_min: Duration::from_millis(200),
        retransmission_timeout_max: Duration::from_secs(120),
        tail_loss_probe: true,
        initial_window_packets: 0,
        acknowledgement_delay: Duration::from_millis(10),
        receive_buffer_bytes: 8 << 20,
        send_buffer_bytes: 8 << 20,
    };

    /// For a simulated card, whose wire is a thousand times slower than wall-clock time. The
    /// initial congestion window exceeds what such a wire holds, because CUBIC leaves slow start,
    /// and grows after it, by wall-clock time. A handshake that takes longer than a second of
    /// wall-clock time still repeats its SYN: the kernel has no setting for that timer.
    ///
    /// The kernel adds the least timeout to the round trip that it has measured (RFC 6298, 2.3), so
    /// it covers what the round trip grows by, some 50 ms. It is as short as that allows, because
    /// nothing can skip it: a transfer that loses a fifth of its frames each way waits for some
    /// hundred timeouts, six losses in a row among them. smoltcp has the card's time, in which its
    /// delay of an acknowledgement, 10 ms, is longer than all the rest of a transfer.
    pub const SIMULATION: Self = Self {
        retransmission_timeout_min: Duration::from_millis(500),
        retransmission_timeout_max: Duration::from_secs(2),
        tail_loss_probe: false,
        initial_window_packets: 128,
        acknowledgement_delay: Duration::ZERO,
        receive_buffer_bytes: 1 << 20,
        send_buffer_bytes: 1 << 20,
    };

    /// For a simulated card that records waveforms, which is fifty times slower still.
    pub const TRACED_SIMULATION: Self = Self {
        retransmission_timeout_min: Duration::from_secs(3),
        retransmission_timeout_max: Duration::from_secs(12),
        ..Self::SIMULATION
    };
}
