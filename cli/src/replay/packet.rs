//! What a frame of a capture says: its addresses, its TCP payload.
//!
//! ```text
//!   | Ethernet, tags | IP | TCP | payload | padding, trailer |
//!                    └ length 0: captured in front of a card that cuts the packet
//! ```

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::ops::Range;

use host::headers::layout::{TcpLayout, SYN};
use host::headers::packet::{parse_tcp, TcpHeader};

const VLAN: [u16; 2] = [0x8100, 0x88a8];
/// EtherType of IPv4.
pub const IPV4: u16 = 0x0800;
/// EtherType of IPv6.
pub const IPV6: u16 = 0x86dd;
/// Header of IPv6, bytes, which its length does not count.
pub const IPV6_BYTES: usize = 40;
/// Longest IP length.
pub const LENGTH_MAX: usize = 65_535;

/// A TCP packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Its header.
    pub header: TcpHeader,
    /// Bytes of all headers.
    pub header_bytes: usize,
    /// Its payload in the frame; it may end beyond one that is broken.
    pub payload: Range<usize>,
}

impl Packet {
    /// The packet in a frame; `None` for anything that is not plain TCP.
    pub fn read(frame: &[u8]) -> Option<Packet> {
        let header = parse_tcp(frame)?;
        let layout = TcpLayout::parse(frame).ok()?;
        let mut end = layout.payload + layout.payload_bytes;
        let uncounted = if layout.ipv6 { IPV6_BYTES } else { 0 };
        if end == layout.network + uncounted + LENGTH_MAX {
            // May be longer than any IP length: see `wire::restore_length`.
            end = end.max(frame.len());
        }
        Some(Packet { header, header_bytes: layout.payload, payload: layout.payload..end })
    }

    /// The largest segment that a SYN allows its receiver to send, payload bytes without options.
    pub fn mss(&self, frame: &[u8]) -> Option<u16> {
        let options = frame.get(self.header.l4_offset + 20..self.header_bytes)?;
        let mut rest = options;
        loop {
            match rest {
                [] | [0, ..] => return None,
                [1, after @ ..] => rest = after,
                [2, 4, high, low, ..] => return Some(u16::from_be_bytes([*high, *low])),
                [_, bytes, ..] if *bytes >= 2 => rest = rest.get(usize::from(*bytes)..)?,
                _ => return None,
            }
        }
    }

    /// Sequence number of the first payload byte: a SYN takes a number of its own.
    pub fn sequence(&self) -> u32 {
        let syn = u32::from(self.header.flags & SYN != 0);
        self.header.sequence.wrapping_add(syn)
    }
}

/// Two bytes of a frame as a number.
pub fn word(frame: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes([*frame.get(at)?, *frame.get(at + 1)?]))
}

/// Offset and EtherType of the network layer, after up to two tags.
pub fn network(frame: &[u8]) -> Option<(usize, u16)> {
    let mut at = 12;
    while at < 20 && VLAN.contains(&word(frame, at)?) {
        at += 4;
    }
    Some((at + 2, word(frame, at)?))
}

/// Source and destination address of an IP packet.
pub fn ip_addresses(frame: &[u8]) -> Option<(IpAddr, IpAddr)> {
    let (at, kind) = network(frame)?;
    match kind {
        IPV4 => {
            let address = |at: usize| {
                let bytes: [u8; 4] = frame.get(at..at + 4)?.try_into().ok()?;
                Some(IpAddr::from(Ipv4Addr::from(bytes)))
            };
            Some((address(at + 12)?, address(at + 16)?))
        }
        IPV6 => {
            let address = |at: usize| {
                let bytes: [u8; 16] = frame.get(at..at + 16)?.try_into().ok()?;
                Some(IpAddr::from(Ipv6Addr::from(bytes)))
            };
            Some((address(at + 8)?, address(at + 24)?))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim::harness::traffic::{Addresses, Layer4, PacketSpec};

    fn packet(is_ipv6: bool, tags: Vec<u16>, flags: u8, bytes: usize) -> Vec<u8> {
        let spec = PacketSpec {
            tags,
            addresses: match is_ipv6 {
                true => Addresses::V6([1; 16], [2; 16]),
                false => Addresses::V4([1; 4], [2; 4]),
            },
            ip_options: Vec::new(),
            ports: (1, 2),
            layer4: Layer4::Tcp {
                sequence: u32::MAX,
                acknowledgement: 0,
                flags,
                options: Vec::new(),
            },
            payload: vec![7; bytes],
        };
        spec.frame(0)
    }

    #[test]
    fn syn_payload_begins_one_later() {
        let position =
            |flags| Packet::read(&packet(false, vec![], flags, 5)).map(|it| it.sequence());
        assert_eq!((position(0x10), position(0x02)), (Some(u32::MAX), Some(0)));
    }

    #[test]
    fn the_largest_segment_is_an_option() {
        let mss = |options: &[u8]| {
            let mut frame = packet(false, vec![], 0x02, options.len());
            let tcp = 14 + 20;
            frame[tcp + 12] = ((20 + options.len()) * 4) as u8;
            frame[tcp + 20..tcp + 20 + options.len()].copy_from_slice(options);
            Packet::read(&frame).and_then(|packet| packet.mss(&frame))
        };
        assert_eq!(mss(&[2, 4, 5, 0xb4]), Some(1460));
        assert_eq!(mss(&[1, 1, 4, 2, 2, 4, 5, 0xb4]), Some(1460));
        for none in [[3, 3, 7, 0], [0, 2, 4, 5], [2, 3, 1, 1], [5, 0, 1, 1], [8, 10, 1, 1]] {
            assert_eq!(mss(&none), None);
        }
    }

    #[test]
    fn addresses_come_from_ip_header() {
        let four = ip_addresses(&packet(false, vec![3], 0, 0)).expect("addresses");
        assert_eq!(four.0.to_string(), "1.1.1.1");
        let six = ip_addresses(&packet(true, vec![3, 4], 0, 0)).expect("addresses");
        assert_eq!(six.1.to_string(), "202:202:202:202:202:202:202:202");
        assert_eq!(ip_addresses(&[0; 60]), None);
        assert_eq!(ip_addresses(&packet(false, vec![], 0, 0)[..20]), None);
    }
}
