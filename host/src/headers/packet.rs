//! Reads and adjusts TCP headers. [`crate::headers::layout`] finds the offsets of the layers.
//!
//! Sources: RFC 9293 (TCP), RFC 7323 (window scale, timestamps), RFC 791, RFC 8200, IEEE 802.1Q.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use abi::flow_key;

use crate::headers::layout::{TcpLayout, ACK, RST, SYN};

const PROTOCOL_TCP: u8 = 6;
// Kinds of TCP options.
const WINDOW_SCALE: u8 = 3;
const TIMESTAMPS: u8 = 8;

/// A TCP header found in a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpHeader {
    /// Offset of the IP header.
    pub l3_offset: usize,
    /// Offset of the TCP header.
    pub l4_offset: usize,
    /// The packet is IPv6.
    pub ipv6: bool,
    /// Sender.
    pub source: SocketAddr,
    /// Receiver.
    pub destination: SocketAddr,
    /// Sequence number.
    pub sequence: u32,
    /// Acknowledgement number.
    pub acknowledgement: u32,
    /// Flags.
    pub flags: u8,
    /// Window field, unscaled.
    pub window: u16,
    /// Window scale option, in a SYN.
    pub window_scale: Option<u8>,
    /// Timestamps option: value and echo.
    pub timestamp: Option<(u32, u32)>,
}

impl TcpHeader {
    /// Whether TCP may accept payload of such a packet: it accepts none of a SYN, a reset or a
    /// packet without ACK.
    pub fn may_carry(&self) -> bool {
        self.flags & (SYN | RST | ACK) == ACK
    }
}

/// An Ethernet address and its VLANs, outermost first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkAddress {
    /// Ethernet address.
    pub mac: [u8; 6],
    /// VLAN identifiers. Priority tags, with identifier 0, are left out.
    pub vlans: Vec<u16>,
}

/// The link address at byte `at` of a packet: 0 for the receiver, 6 for the sender.
pub fn link_address(packet: &[u8], header: &TcpHeader, at: usize) -> LinkAddress {
    let mut mac = [0; 6];
    mac.copy_from_slice(&packet[at..at + 6]);
    let tags = packet[12..header.l3_offset - 2].chunks_exact(4);
    let vlans = tags.map(|tag| u16::from_be_bytes([tag[2], tag[3]]) & 0xfff);
    LinkAddress { mac, vlans: vlans.filter(|&vlan| vlan != 0).collect() }
}

fn word16(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn word32(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

/// Reads the TCP header of a packet; `None` for anything that is not plain TCP.
pub fn parse_tcp(packet: &[u8]) -> Option<TcpHeader> {
    let layout = TcpLayout::parse(packet).ok()?;
    let (source, destination) = addresses(&packet[layout.network..], layout.ipv6)?;
    let tcp = &packet[layout.segment..];
    let flags = *tcp.get(13)?;
    Some(TcpHeader {
        l3_offset: layout.network,
        l4_offset: layout.segment,
        ipv6: layout.ipv6,
        source: SocketAddr::new(source, word16(tcp, 0)?),
        destination: SocketAddr::new(destination, word16(tcp, 2)?),
        sequence: word32(tcp, 4)?,
        acknowledgement: word32(tcp, 8)?,
        flags,
        window: word16(tcp, 14)?,
        window_scale: (flags & SYN != 0)
            .then(|| option::<3>(tcp, WINDOW_SCALE))
            .flatten()
            .map(|scale| scale[2].min(14)),
        timestamp: option::<10>(tcp, TIMESTAMPS)
            .and_then(|stamps| Some((word32(&stamps, 2)?, word32(&stamps, 6)?))),
    })
}

/// Source and destination of an IP header.
pub(crate) fn addresses(ip: &[u8], ipv6: bool) -> Option<(IpAddr, IpAddr)> {
    let at = |v4: usize, v6: usize| -> Option<IpAddr> {
        if ipv6 {
            let bytes: [u8; 16] = ip.get(v6..v6 + 16)?.try_into().ok()?;
            Some(Ipv6Addr::from(bytes).into())
        } else {
            Some(Ipv4Addr::from(word32(ip, v4)?).into())
        }
    };
    Some((at(12, 8)?, at(16, 24)?))
}

/// The last option of this kind that is `BYTES` long, as TCP reads it. An option with an impossible
/// length ends the search.
fn option<const BYTES: usize>(tcp: &[u8], kind: u8) -> Option<[u8; BYTES]> {
    let end = (usize::from(tcp.get(12)? >> 4) * 4).min(tcp.len());
    let mut rest = tcp.get(20..end)?;
    let mut last = None;
    loop {
        let bytes = match rest {
            [] | [0, ..] => break,
            [1, ..] => 1,
            [_, bytes, ..] if *bytes >= 2 => usize::from(*bytes),
            _ => break,
        };
        let Some((option, others)) = rest.split_at_checked(bytes) else { break };
        if option[0] == kind {
            last = option.try_into().ok().or(last);
        }
        rest = others;
    }
    last
}

/// Replaces the options that only a SYN may carry (largest segment, window scale, SACK permitted)
/// by no-operations.
pub fn clear_syn_options(packet: &mut [u8], header: &TcpHeader) {
    let Some(tcp) = packet.get_mut(header.l4_offset..) else { return };
    let end = (usize::from(tcp[12] >> 4) * 4).min(tcp.len());
    let mut at = 20;
    while at + 1 < end && tcp[at] != 0 {
        let bytes = match (tcp[at], tcp[at + 1]) {
            (1, _) => 1,
            (_, 0 | 1) => break,
            (_, bytes) => usize::from(bytes),
        };
        if matches!(tcp[at], 2..=4) && at + bytes <= end {
            tcp[at..at + bytes].fill(1);
        }
        at += bytes;
    }
}

/// Replaces the window field.
pub fn set_window(packet: &mut [u8], header: &TcpHeader, window: u16) {
    let at = header.l4_offset + 14;
    packet[at..at + 2].copy_from_slice(&window.to_be_bytes());
}

/// Sets the window to 0: nothing is posted yet.
pub fn close_window(packet: &mut [u8], header: &TcpHeader) {
    set_window(packet, header, 0);
}

/// Clears the checksum fields, which the card fills.
pub fn clear_checksums(packet: &mut [u8], header: &TcpHeader) {
    if !header.ipv6 {
        packet[header.l3_offset + 10..header.l3_offset + 12].fill(0);
    }
    packet[header.l4_offset + 16..header.l4_offset + 18].fill(0);
}

/// The flow-table key of packets from `remote` to `local`, TCP, profile 0.
pub fn flow_key(remote: SocketAddr, local: SocketAddr) -> [u8; flow_key::KEY_BYTES] {
    let mut key = [0; flow_key::KEY_BYTES];
    let mut put = |range: std::ops::Range<usize>, address: IpAddr| match address {
        IpAddr::V4(v4) => key[range.start..range.start + 4].copy_from_slice(&v4.octets()),
        IpAddr::V6(v6) => key[range].copy_from_slice(&v6.octets()),
    };
    put(flow_key::REMOTE_ADDRESS, remote.ip());
    put(flow_key::LOCAL_ADDRESS, local.ip());
    key[flow_key::REMOTE_PORT].copy_from_slice(&remote.port().to_be_bytes());
    key[flow_key::LOCAL_PORT].copy_from_slice(&local.port().to_be_bytes());
    key[flow_key::PROTOCOL] = PROTOCOL_TCP;
    key[flow_key::FAMILY_PROFILE] = if remote.is_ipv4() { 4 } else { 6 };
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timestamp(options: &[u8]) -> Option<[u8; 10]> {
        let mut tcp = vec![0; 12];
        tcp.push(((20 + options.len()) * 4) as u8);
        tcp.resize(20, 0);
        tcp.extend(options);
        option(&tcp, TIMESTAMPS)
    }

    #[test]
    fn last_whole_option_counts() {
        let [first, second] = [1, 2].map(|value| [8, 10, 0, 0, 0, value, 0, 0, 0, 0]);
        let two = [&first[..], &second, &[0; 4]].concat();
        assert_eq!(timestamp(&two), Some(second));
        let short = [&first[..], &[8, 2], &[1; 4]].concat();
        assert_eq!(timestamp(&short), Some(first));
        let cut = [&first[..], &[8, 10, 0, 0, 0, 2]].concat();
        assert_eq!(timestamp(&cut), Some(first));
        // The card and Linux both stop at a length below 2.
        let mut bad = [&[5, 1, 1, 1][..], &first, &[1, 1]].concat();
        assert_eq!(timestamp(&bad), None);
        bad[1] = 2;
        assert_eq!(timestamp(&bad), Some(first));
        assert_eq!(timestamp(&[1, 1, 1, 8]), None);
    }

    /// Nothing else is touched, and the header of IPv6 has no checksum.
    #[test]
    fn checksums_alone_are_cleared() {
        for (ipv6, l4_offset, fields) in [(false, 34, &[24, 50][..]), (true, 54, &[70][..])] {
            let mut frame = vec![0; 12];
            frame.extend([if ipv6 { 0x86 } else { 8 }, if ipv6 { 0xdd } else { 0 }]);
            frame.resize(l4_offset + 20, 0);
            frame[14] = if ipv6 { 0x60 } else { 0x45 };
            frame[if ipv6 { 20 } else { 23 }] = 6;
            frame[if ipv6 { 19 } else { 17 }] = if ipv6 { 20 } else { 40 };
            frame[l4_offset + 12] = 0x50;
            let header = parse_tcp(&frame).expect("TCP");
            let mut cleared = vec![0xff; frame.len()];
            clear_checksums(&mut cleared, &header);
            let zeros = (0..cleared.len()).filter(|at| cleared[*at] == 0);
            let expected = fields.iter().flat_map(|at| [*at, at + 1]);
            assert!(zeros.eq(expected), "{cleared:x?}");
        }
    }
}
