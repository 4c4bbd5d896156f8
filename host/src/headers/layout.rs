//! Offsets of the layers of a frame, its payload length and its checksums.
//!
//! ```text
//!   | Ethernet 14 | VLAN 0, 4, 8 | IPv4 20-60 or IPv6 40 + extensions | TCP 20-60 | payload
//!   0                            network                              segment     payload
//! ```

use super::error::{HeaderError, Result};

/// Longest header from Ethernet to the end of TCP, bytes: with two VLAN tags, full IPv4 and TCP
/// options, or a few IPv6 extension headers.
pub const HEADER_BYTES_MAX: usize = 192;

const ETHERTYPE_VLAN: [u16; 2] = [0x8100, 0x88a8];
pub(crate) const ETHERTYPE_IPV4: u16 = 0x0800;
pub(crate) const ETHERTYPE_IPV6: u16 = 0x86dd;
const PROTOCOL_TCP: u8 = 6;
/// Extension headers that TCP may follow: hop-by-hop, routing, destination options.
const IPV6_EXTENSIONS: [u8; 3] = [0, 43, 60];
const IPV6_FRAGMENT: u8 = 44;
/// The offset of the checksum in a TCP header.
pub const TCP_CHECKSUM_OFFSET: usize = 16;

/// TCP flag FIN.
pub const FIN: u8 = 0x01;
/// TCP flag SYN.
pub const SYN: u8 = 0x02;
/// TCP flag RST.
pub const RST: u8 = 0x04;
/// TCP flag ACK.
pub const ACK: u8 = 0x10;

/// Whether a sequence number is after another, by less than 2^31.
pub(crate) fn is_after(number: u32, other: u32) -> bool {
    (number.wrapping_sub(other) as i32) > 0
}

/// The layers of a TCP frame, as offsets from its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpLayout {
    /// Offset of the IP header.
    pub network: usize,
    /// Offset of the TCP header.
    pub segment: usize,
    /// Offset of the payload, or end of the frame.
    pub payload: usize,
    /// Payload bytes according to the IP length.
    pub payload_bytes: usize,
    /// Whether the network layer is IPv6.
    pub ipv6: bool,
}

impl TcpLayout {
    /// Reads the layers of a header without payload, and checks `payload_bytes` against its IP
    /// length.
    pub fn check(header: &[u8], payload_bytes: usize) -> Result<Self> {
        let layout = Self::parse(header)?;
        let given = payload_bytes + header.len() - layout.payload;
        if header.len() != layout.payload || given != layout.payload_bytes {
            return Err(HeaderError::PayloadLength { announced: layout.payload_bytes, given });
        }
        Ok(layout)
    }

    /// Reads the layers of a frame that contains at least all headers.
    pub fn parse(frame: &[u8]) -> Result<Self> {
        let (network, ethertype) = network_layer(frame)?;
        let (segment, end, ipv6) = match ethertype {
            ETHERTYPE_IPV4 => {
                let (segment, end) = ipv4_layer(frame, network)?;
                (segment, end, false)
            }
            ETHERTYPE_IPV6 => {
                let (segment, end) = ipv6_layer(frame, network)?;
                (segment, end, true)
            }
            other => return Err(not_tcp("EtherType", u32::from(other))),
        };
        let data_offset = usize::from(byte(frame, segment + 12, "TCP")? >> 4) * 4;
        let payload = segment + data_offset;
        if data_offset < 20 || payload > frame.len() {
            return Err(truncation_error(frame, "TCP"));
        }
        if end < payload {
            return Err(truncation_error(frame, "IP"));
        }
        Ok(Self { network, segment, payload, payload_bytes: end - payload, ipv6 })
    }
}

/// The folded sum of the pseudo-header of a TCP frame, not inverted: the start value for a checksum
/// that is still to be completed.
pub fn pseudo_header_sum(frame: &[u8], layout: &TcpLayout) -> u16 {
    let addresses = match layout.ipv6 {
        true => &frame[layout.network + 8..layout.network + 40],
        false => &frame[layout.network + 12..layout.network + 20],
    };
    let tcp_bytes = layout.payload - layout.segment + layout.payload_bytes;
    ones_sum(addresses, fold(u64::from(PROTOCOL_TCP) + tcp_bytes as u64))
}

/// The TCP checksum of a whole frame: the value to insert if the field is 0, or 0 if the frame is
/// right.
pub fn tcp_checksum(frame: &[u8], layout: &TcpLayout) -> u16 {
    let end = layout.payload + layout.payload_bytes;
    !ones_sum(&frame[layout.segment..end], pseudo_header_sum(frame, layout))
}

/// The folded ones' complement sum of 16-bit words, not inverted; an odd byte is padded with 0.
pub fn ones_sum(bytes: &[u8], start: u16) -> u16 {
    let words = bytes.chunks(2).map(|pair| match *pair {
        [high, low] => u64::from(high) << 8 | u64::from(low),
        [high] => u64::from(high) << 8,
        _ => 0,
    });
    fold(u64::from(start) + words.sum::<u64>())
}

/// Folds a sum of 16-bit words into one word.
fn fold(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

/// Offset and EtherType of the network layer, after up to two VLAN tags.
pub(crate) fn network_layer(frame: &[u8]) -> Result<(usize, u16)> {
    let mut network = 14;
    for _ in 0..2 {
        if !ETHERTYPE_VLAN.contains(&word(frame, network - 2, "Ethernet")?) {
            break;
        }
        network += 4;
    }
    Ok((network, word(frame, network - 2, "Ethernet")?))
}

/// Offset of the TCP header and end of the packet.
fn ipv4_layer(frame: &[u8], network: usize) -> Result<(usize, usize)> {
    let first = byte(frame, network, "IPv4")?;
    // The EtherType promises a version: what has another is none of its packets.
    if first >> 4 != 4 {
        return Err(not_tcp("IP version", u32::from(first >> 4)));
    }
    let header_bytes = usize::from(first & 0xf) * 4;
    if header_bytes < 20 {
        return Err(not_tcp("IPv4 header length", header_bytes as u32));
    }
    let fragment = word(frame, network + 6, "IPv4")? & 0x3fff;
    if fragment != 0 {
        return Err(not_tcp("fragment", u32::from(fragment)));
    }
    let protocol = byte(frame, network + 9, "IPv4")?;
    if protocol != PROTOCOL_TCP {
        return Err(not_tcp("protocol", u32::from(protocol)));
    }
    Ok((network + header_bytes, network + usize::from(word(frame, network + 2, "IPv4")?)))
}

/// Offset of the TCP header after the extension headers, and end of the packet.
fn ipv6_layer(frame: &[u8], network: usize) -> Result<(usize, usize)> {
    let version = byte(frame, network, "IPv6")? >> 4;
    if version != 6 {
        return Err(not_tcp("IP version", u32::from(version)));
    }
    let end = network + 40 + usize::from(word(frame, network + 4, "IPv6")?);
    let (next, at) = after_extensions(frame, network)?;
    if next != PROTOCOL_TCP {
        return Err(not_tcp("next header", u32::from(next)));
    }
    Ok((at, end))
}

/// The protocol after the extension headers of IPv6, and its offset.
fn after_extensions(frame: &[u8], network: usize) -> Result<(u8, usize)> {
    let mut next = byte(frame, network + 6, "IPv6")?;
    let mut at = network + 40;
    while IPV6_EXTENSIONS.contains(&next) {
        next = byte(frame, at, "IPv6")?;
        at += 8 + usize::from(byte(frame, at + 1, "IPv6")?) * 8;
    }
    Ok((next, at))
}

/// Whether a frame is a fragment of an IPv6 packet, with or without other extension headers.
pub fn is_ipv6_fragment(frame: &[u8]) -> bool {
    let next_header = || -> Result<(u8, usize)> {
        let (network, ethertype) = network_layer(frame)?;
        if ethertype != ETHERTYPE_IPV6 {
            return Err(not_tcp("EtherType", ethertype.into()));
        }
        after_extensions(frame, network)
    };
    matches!(next_header(), Ok((IPV6_FRAGMENT, _)))
}

fn byte(frame: &[u8], at: usize, layer: &'static str) -> Result<u8> {
    frame.get(at).copied().ok_or(HeaderError::Truncated { bytes: frame.len(), layer })
}

fn word(frame: &[u8], at: usize, layer: &'static str) -> Result<u16> {
    Ok(u16::from_be_bytes([byte(frame, at, layer)?, byte(frame, at + 1, layer)?]))
}

fn truncation_error(frame: &[u8], layer: &'static str) -> HeaderError {
    HeaderError::Truncated { bytes: frame.len(), layer }
}

fn not_tcp(field: &'static str, value: u32) -> HeaderError {
    HeaderError::NotTcp { field, value }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tcp4(tags: usize, options: usize, payload: usize) -> Vec<u8> {
        let mut frame = vec![0; 12];
        for _ in 0..tags {
            frame.extend([0x81, 0x00, 0x00, 0x05]);
        }
        frame.extend([0x08, 0x00]);
        let total = (20 + 20 + options + payload) as u16;
        frame.extend([0x45, 0, (total >> 8) as u8, total as u8, 0, 0, 0x40, 0, 64, 6, 0, 0]);
        frame.extend([10, 0, 0, 1, 10, 0, 0, 2]);
        let mut tcp = vec![0; 20 + options];
        tcp[12] = (((20 + options) / 4) as u8) << 4;
        frame.extend(tcp);
        frame
    }

    /// RFC 1071: an odd byte is the upper one, and what is carried out is added again, also when
    /// that carries once more.
    #[test]
    fn sum_includes_every_byte_and_carry() {
        for (bytes, start, sum) in [
            (&[0x12, 0x34, 0x56][..], 0, 0x6834),
            (&[0xab], 0x0100, 0xac00),
            (&[0xff, 0xff, 0x00, 0x01], 0, 0x0001),
            (&[0xff, 0xff, 0xff, 0xff], 0xffff, 0xffff),
            (&[0xff; 65_536], 0xffff, 0xffff),
            (&[], 0, 0),
        ] {
            assert_eq!(ones_sum(bytes, start), sum, "{} bytes", bytes.len());
        }
    }

    #[test]
    fn payload_follows_ip_length_behind_tags() {
        for tags in 0..=2 {
            for options in (0..=40).step_by(4) {
                for payload in [0, 1, 1448, 60_000] {
                    let layout = TcpLayout::parse(&tcp4(tags, options, payload)).unwrap();
                    assert_eq!(layout.network, 14 + 4 * tags);
                    assert_eq!(layout.segment, 34 + 4 * tags);
                    assert_eq!(layout.payload, 54 + 4 * tags + options);
                    assert_eq!(layout.payload_bytes, payload);
                }
            }
        }
    }

    #[test]
    fn a_header_cut_anywhere_is_refused() {
        let frame = tcp4(1, 12, 100);
        for bytes in 0..frame.len() {
            assert!(matches!(
                TcpLayout::parse(&frame[..bytes]),
                Err(HeaderError::Truncated { .. })
            ));
        }
    }

    #[test]
    fn ipv6_extension_header_is_skipped() {
        let mut frame = vec![0; 12];
        frame.extend([0x86, 0xdd, 0x60, 0, 0, 0, 0, 16 + 20 + 7, 60, 64]);
        frame.extend([0; 32]);
        frame.extend([6, 1]);
        frame.extend([0; 14]);
        let mut tcp = vec![0; 20];
        tcp[12] = 0x50;
        frame.extend(tcp);
        let layout = TcpLayout::parse(&frame).unwrap();
        assert_eq!((layout.segment, layout.payload, layout.payload_bytes), (70, 90, 7));
        assert!(layout.ipv6);
    }

    #[test]
    fn fragment_or_short_header_is_not_tcp() {
        let mut fragment = tcp4(0, 0, 8);
        fragment[20] = 0x20;
        assert!(matches!(
            TcpLayout::parse(&fragment),
            Err(HeaderError::NotTcp { field: "fragment", value: 0x2000 })
        ));
        let mut short = tcp4(0, 0, 8);
        short[14] = 0x44;
        assert!(matches!(
            TcpLayout::parse(&short),
            Err(HeaderError::NotTcp { field: "IPv4 header length", value: 16 })
        ));
        let mut udp = tcp4(0, 0, 8);
        udp[23] = 17;
        assert!(matches!(
            TcpLayout::parse(&udp),
            Err(HeaderError::NotTcp { field: "protocol", value: 17 })
        ));
    }

    #[test]
    fn version_other_than_ethertype_is_not_tcp() {
        let mut frame = tcp4(0, 0, 8);
        for version in (0..16).filter(|version| *version != 4) {
            frame[14] = version << 4 | 5;
            let layout = TcpLayout::parse(&frame);
            let value = u32::from(version);
            let said = match &layout {
                Err(HeaderError::NotTcp { field, value }) => Some((*field, *value)),
                _ => None,
            };
            assert_eq!(said, Some(("IP version", value)), "{layout:?}");
        }
        let mut frame = vec![0; 12];
        frame.extend([0x86, 0xdd, 0x40, 0, 0, 0, 0, 20, 6, 64]);
        frame.extend([0; 32]);
        frame.extend([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x50, 0, 0, 0, 0, 0, 0, 0]);
        assert!(matches!(
            TcpLayout::parse(&frame),
            Err(HeaderError::NotTcp { field: "IP version", value: 4 })
        ));
        frame[14] = 0x60;
        assert!(TcpLayout::parse(&frame).is_ok());
    }
}
