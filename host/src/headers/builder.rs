//! The headers of a packet to be sent, from Ethernet to the end of TCP or UDP.
//!
//! ```text
//!   | Ethernet 14 | IPv4 20 or IPv6 40 | TCP 20 and options, or UDP 8 and more |
//!                 └── l3_offset        └── l4_offset
//! ```
//! For a protocol of one's own: what it sends is a [`Route`], filled in by [`Route::tcp`] or
//! [`Route::udp`]. Checksums stay 0, the card inserts them.

use std::net::{IpAddr, SocketAddr};

use crate::headers::layers::Layers;
use crate::headers::layout::{ETHERTYPE_IPV4, ETHERTYPE_IPV6};

const ETHERNET_BYTES: usize = 14;
const IPV4_BYTES: usize = 20;
const TCP_BYTES: usize = 20;
const UDP_BYTES: usize = 8;
const PROTOCOL_TCP: u8 = 6;
const PROTOCOL_UDP: u8 = 17;
/// Hops that a packet may take.
const HOPS: u8 = 64;

/// The ends of a packet's way. With an address of IPv6 at either end the packet is of IPv6.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// Ethernet addresses: of the sender, of the next machine.
    pub macs: [[u8; 6]; 2],
    /// IP address and port of the sender.
    pub from: SocketAddr,
    /// IP address and port of the receiver.
    pub to: SocketAddr,
}

/// What a TCP header says beside its ports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tcp<'a> {
    /// Sequence number.
    pub sequence: u32,
    /// ACK number.
    pub acknowledgement: u32,
    /// Flags: [`crate::headers::layout::ACK`] and others.
    pub flags: u8,
    /// Window, as it stands in the field.
    pub window: u16,
    /// Options, a multiple of 4 bytes, 40 at most.
    pub options: &'a [u8],
}

impl Route {
    /// Whether the packet is of IPv6.
    pub fn is_ipv6(&self) -> bool {
        !(self.from.is_ipv4() && self.to.is_ipv4())
    }

    /// The headers of a TCP packet with `payload_bytes` bytes of payload, and their layers. Panics
    /// when the options are of no length that TCP has.
    pub fn tcp(&self, tcp: &Tcp<'_>, payload_bytes: usize) -> (Vec<u8>, Layers) {
        let header_bytes = TCP_BYTES + tcp.options.len();
        let fits = tcp.options.len().is_multiple_of(4) && header_bytes <= 60;
        assert!(fits, "{} bytes of TCP options", tcp.options.len());
        let (mut bytes, layers) = self.ip(PROTOCOL_TCP, header_bytes + payload_bytes);
        bytes.extend(tcp.sequence.to_be_bytes());
        bytes.extend(tcp.acknowledgement.to_be_bytes());
        bytes.extend([(header_bytes as u8 / 4) << 4, tcp.flags]);
        bytes.extend(tcp.window.to_be_bytes());
        bytes.extend([0; 4]);
        bytes.extend(tcp.options);
        (bytes, layers)
    }

    /// The headers of a UDP packet that begins with `header` and goes on with `payload_bytes` bytes
    /// of payload, and their layers.
    pub fn udp(&self, header: &[u8], payload_bytes: usize) -> (Vec<u8>, Layers) {
        let udp_bytes = UDP_BYTES + header.len() + payload_bytes;
        let (mut bytes, layers) = self.ip(PROTOCOL_UDP, udp_bytes);
        bytes.extend((udp_bytes as u16).to_be_bytes());
        bytes.extend([0; 2]);
        bytes.extend(header);
        (bytes, layers)
    }

    /// Ethernet, IP and the ports of a packet with so many bytes behind IP. Of more than the length
    /// field holds, which a card cuts into frames, it holds the lower half.
    fn ip(&self, protocol: u8, l4_bytes: usize) -> (Vec<u8>, Layers) {
        let [source, next] = self.macs;
        let mut bytes = Vec::with_capacity(ETHERNET_BYTES + 40 + 60);
        bytes.extend(next);
        bytes.extend(source);
        match (self.from.ip(), self.to.ip()) {
            (IpAddr::V4(from), IpAddr::V4(to)) => {
                bytes.extend(ETHERTYPE_IPV4.to_be_bytes());
                bytes.extend([0x45, 0]);
                bytes.extend(((IPV4_BYTES + l4_bytes) as u16).to_be_bytes());
                bytes.extend([0, 0, 0x40, 0, HOPS, protocol, 0, 0]);
                bytes.extend(from.octets());
                bytes.extend(to.octets());
            }
            (from, to) => {
                bytes.extend(ETHERTYPE_IPV6.to_be_bytes());
                bytes.extend([0x60, 0, 0, 0]);
                bytes.extend((l4_bytes as u16).to_be_bytes());
                bytes.extend([protocol, HOPS]);
                bytes.extend(in_ipv6(from));
                bytes.extend(in_ipv6(to));
            }
        }
        let layers = Layers {
            l3_offset: ETHERNET_BYTES,
            l4_offset: bytes.len(),
            ipv6: self.is_ipv6(),
            udp: protocol == PROTOCOL_UDP,
        };
        bytes.extend(self.from.port().to_be_bytes());
        bytes.extend(self.to.port().to_be_bytes());
        (bytes, layers)
    }
}

/// An address as IPv6 has it.
fn in_ipv6(address: IpAddr) -> [u8; 16] {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped().octets(),
        IpAddr::V6(address) => address.octets(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::headers::layout::{TcpLayout, ACK, SYN};
    use crate::headers::packet::parse_tcp;

    const MACS: [[u8; 6]; 2] = [[2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2]];

    fn routes() -> [Route; 2] {
        [("10.0.0.1:4000", "10.0.0.2:80"), ("[fd00::1]:4000", "[fd00::2]:80")].map(|(from, to)| {
            let address = |text: &str| text.parse().expect("an address");
            Route { macs: MACS, from: address(from), to: address(to) }
        })
    }

    /// What is built is read as it was meant, by the code that reads what others have built.
    #[test]
    fn built_tcp_header_reads_back() {
        for route in routes() {
            for options in [&[][..], &[2, 4, 5, 0xb4], &[1; 40]] {
                let (sequence, acknowledgement, window) = (0xffff_fff0, 0x1234_5678, 501);
                let flags = SYN | ACK;
                let tcp = Tcp { sequence, acknowledgement, flags, window, options };
                let (bytes, layers) = route.tcp(&tcp, 1000);
                let layout = TcpLayout::check(&bytes, 1000).expect("a TCP header");
                assert_eq!((layout.network, layout.segment), (layers.l3_offset, layers.l4_offset));
                assert_eq!((layout.ipv6, layers.udp), (layers.ipv6, false));
                let read = parse_tcp(&bytes).expect("a TCP header");
                assert_eq!((read.sequence, read.acknowledgement), (sequence, acknowledgement));
                assert_eq!((read.flags, read.window), (flags, window));
                assert_eq!((&bytes[..6], &bytes[6..12]), (&MACS[1][..], &MACS[0][..]));
                assert!(bytes.ends_with(options));
            }
        }
    }

    #[test]
    fn built_udp_header_equals_wire_bytes() {
        let [route, ipv6] = routes();
        let (bytes, layers) = route.udp(b"mine", 100);
        let expected = [
            &[2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0][..],
            &[0x45, 0, 0, 132, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2],
            &[0x0f, 0xa0, 0, 80, 0, 112, 0, 0],
            b"mine",
        ];
        assert_eq!(bytes, expected.concat());
        assert_eq!(layers, Layers { l3_offset: 14, l4_offset: 34, ipv6: false, udp: true });
        let (bytes, layers) = ipv6.udp(&[], 0);
        assert_eq!((bytes.len(), layers.l4_offset, layers.ipv6), (62, 54, true));
        assert_eq!(bytes[12..22], [0x86, 0xdd, 0x60, 0, 0, 0, 0, 8, 17, 64]);
        // One end of IPv4 is an address of IPv6.
        let mixed = Route { to: route.to, ..ipv6 };
        let (bytes, _) = mixed.udp(&[], 0);
        assert_eq!(bytes[38..54], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 2]);
    }
}
