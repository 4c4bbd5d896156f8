//! Frames of a flow, made fast: a header template, the fields that change, the content.
//!
//! ```text
//!   Template ── header(fields, payload bytes) ──> Ethernet, IPv4 or IPv6, TCP (checksums zero)
//!            └─ frame(fields, content, offset, bytes) ──> the whole frame, checksums right
//! ```
//! They follow the RFCs, not the card: Ethernet II, RFC 791, RFC 8200, RFC 9293, RFC 7323.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use abi::config::FRAME_BYTES_MIN;

use crate::packets::content::{checksum, sum_words, Content};

/// Ethernet header.
pub const ETHERNET_BYTES: usize = 14;
const TCP_BYTES: usize = 20;
/// Timestamp option with its padding.
const TIMESTAMP_BYTES: usize = 12;
const PROTOCOL_TCP: u8 = 6;
/// TCP flag ACK.
pub const ACK: u8 = 0x10;
/// TCP flag PSH.
pub const PSH: u8 = 0x08;

const LOCAL_PORT: u16 = 5001;
const REMOTE_PORT: u16 = 40_000;

/// Header fields that differ from packet to packet of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fields {
    /// TCP sequence number.
    pub sequence: u32,
    /// TCP acknowledgement number.
    pub acknowledgement: u32,
    /// TCP flags.
    pub flags: u8,
    /// IPv4 identification, or the low bits of the IPv6 flow label.
    pub id: u16,
}

/// The headers of one direction of a flow.
#[derive(Clone, Debug)]
pub struct Template {
    header: Vec<u8>,
    layer4: usize,
    is_ipv6: bool,
    /// Sum of the pseudo header without the length.
    pseudo: u64,
}

/// Remote and local end of a flow.
pub fn ends(flow: u16, is_ipv6: bool) -> (SocketAddr, SocketAddr) {
    let [high, low] = flow.to_be_bytes();
    let (remote, local): (IpAddr, IpAddr) = if is_ipv6 {
        let at = |interface, host| Ipv6Addr::new(0xfd77, 0, 0, 0, 0, 0, interface, host);
        (at(1, flow).into(), at(0, 1).into())
    } else {
        let local = Ipv4Addr::new(10, 1, 0, 1);
        (Ipv4Addr::new(10, 2, high, low).into(), local.into())
    };
    ((remote, REMOTE_PORT).into(), (local, LOCAL_PORT).into())
}

/// Bytes of the headers of a packet.
pub const fn header_bytes(is_ipv6: bool, timestamps: bool) -> usize {
    let ip = if is_ipv6 { 40 } else { 20 };
    ETHERNET_BYTES + ip + TCP_BYTES + if timestamps { TIMESTAMP_BYTES } else { 0 }
}

impl Template {
    /// Headers of packets between two ends.
    pub fn new(source: SocketAddr, destination: SocketAddr, timestamps: bool) -> Self {
        let is_ipv6 = source.is_ipv6();
        let mut header = vec![0x02, 0, 0, 0, 0, 1, 0x02, 0, 0, 0, 0, 2];
        let addresses = match (source.ip(), destination.ip()) {
            (IpAddr::V4(from), IpAddr::V4(to)) => [from.octets(), to.octets()].concat(),
            (IpAddr::V6(from), IpAddr::V6(to)) => [from.octets(), to.octets()].concat(),
            _ => panic!("both ends of a flow are of one family"),
        };
        if is_ipv6 {
            header.extend([0x86, 0xdd, 0x60, 0, 0, 0, 0, 0, PROTOCOL_TCP, 64]);
        } else {
            header.extend([0x08, 0, 0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, PROTOCOL_TCP, 0, 0]);
        }
        header.extend(&addresses);
        let layer4 = header.len();
        header.extend(source.port().to_be_bytes());
        header.extend(destination.port().to_be_bytes());
        let tcp_bytes = TCP_BYTES + if timestamps { TIMESTAMP_BYTES } else { 0 };
        header.extend([0; 8]);
        header.extend([(tcp_bytes / 4 * 16) as u8, 0, 0xff, 0xff, 0, 0, 0, 0]);
        if timestamps {
            header.extend([1, 1, 8, 10, 0, 0, 0x10, 0, 0, 0, 0x20, 0]);
        }
        Self { pseudo: sum_words(&addresses) + u64::from(PROTOCOL_TCP), header, layer4, is_ipv6 }
    }

    /// Bytes of the headers.
    pub fn bytes(&self) -> usize {
        self.header.len()
    }

    /// Offset of the TCP header.
    pub fn layer4(&self) -> usize {
        self.layer4
    }

    /// The headers of a packet with `payload_bytes`; both checksums are zero.
    pub fn header(&self, fields: &Fields, payload_bytes: usize) -> Vec<u8> {
        let mut header = self.header.clone();
        self.patch(&mut header, fields, payload_bytes);
        header
    }

    fn patch(&self, header: &mut [u8], fields: &Fields, payload_bytes: usize) {
        let mut put16 = |at: usize, value: u16| {
            header[at..at + 2].copy_from_slice(&value.to_be_bytes());
        };
        let layer4_bytes = (self.header.len() - self.layer4 + payload_bytes) as u16;
        if self.is_ipv6 {
            put16(ETHERNET_BYTES + 2, fields.id);
            put16(ETHERNET_BYTES + 4, layer4_bytes);
        } else {
            put16(ETHERNET_BYTES + 2, layer4_bytes + 20);
            put16(ETHERNET_BYTES + 4, fields.id);
        }
        let tcp = &mut header[self.layer4..];
        tcp[4..8].copy_from_slice(&fields.sequence.to_be_bytes());
        tcp[8..12].copy_from_slice(&fields.acknowledgement.to_be_bytes());
        tcp[13] = fields.flags;
    }

    /// The whole frame without FCS, padded to the shortest length.
    pub fn frame(&self, fields: &Fields, content: Content, offset: u64, bytes: usize) -> Vec<u8> {
        let header_bytes = self.header.len();
        let end = header_bytes + bytes;
        let mut frame = vec![0; end.max(FRAME_BYTES_MIN)];
        frame[..header_bytes].copy_from_slice(&self.header);
        self.patch(&mut frame, fields, bytes);
        content.fill(offset, &mut frame[header_bytes..end]);
        if !self.is_ipv6 {
            let value = checksum(sum_words(&frame[ETHERNET_BYTES..ETHERNET_BYTES + 20]));
            frame[ETHERNET_BYTES + 10..ETHERNET_BYTES + 12].copy_from_slice(&value.to_be_bytes());
        }
        let layer4 = &frame[self.layer4..end];
        let value = checksum(self.pseudo + layer4.len() as u64 + sum_words(layer4));
        frame[self.layer4 + 16..self.layer4 + 18].copy_from_slice(&value.to_be_bytes());
        frame
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim::harness::traffic::{timestamp_option, Addresses, Layer4, PacketSpec};

    /// The general frame maker of the other tests says the same.
    #[test]
    fn frames_equal_the_other_makers() {
        for (is_ipv6, bytes) in [(false, 0), (false, 1), (true, 0), (true, 1428), (false, 1447)] {
            let (remote, local) = ends(0x1234, is_ipv6);
            let template = Template::new(remote, local, true);
            let fields =
                Fields { sequence: 0xfedc_ba98, acknowledgement: 77, flags: ACK | PSH, id: 0x1234 };
            let content = Content::new(5, 6);
            let made = template.frame(&fields, content, 3, bytes);
            let mut payload = vec![0; bytes];
            content.fill(3, &mut payload);
            let addresses = match (remote.ip(), local.ip()) {
                (IpAddr::V4(a), IpAddr::V4(b)) => Addresses::V4(a.octets(), b.octets()),
                (IpAddr::V6(a), IpAddr::V6(b)) => Addresses::V6(a.octets(), b.octets()),
                _ => unreachable!("one family"),
            };
            let spec = PacketSpec {
                tags: Vec::new(),
                addresses,
                ip_options: Vec::new(),
                ports: (remote.port(), local.port()),
                layer4: Layer4::Tcp {
                    sequence: fields.sequence,
                    acknowledgement: fields.acknowledgement,
                    flags: fields.flags,
                    options: timestamp_option(0x1000, 0x2000),
                },
                payload,
            };
            let mut other = spec.frame(0);
            // The other maker has a fixed window and no flow label.
            let layer4 = made.len().min(header_bytes(is_ipv6, true)) - 32;
            let fix = |frame: &mut Vec<u8>| {
                frame[layer4 + 14..layer4 + 18].fill(0);
                frame[16..18].fill(0);
            };
            let mut made = made;
            if is_ipv6 {
                fix(&mut made);
                fix(&mut other);
            } else {
                made[layer4 + 14..layer4 + 18].fill(0);
                other[layer4 + 14..layer4 + 18].fill(0);
            }
            assert_eq!(made, other, "{is_ipv6} {bytes}");
        }
    }

    #[test]
    fn checksums_verify() {
        for is_ipv6 in [false, true] {
            let (remote, local) = ends(9, is_ipv6);
            let template = Template::new(local, remote, false);
            let frame = template.frame(&Fields::default(), Content::new(0, 0), 0, 101);
            let layer4 = &frame[template.layer4..];
            let total = template.pseudo + layer4.len() as u64 + sum_words(layer4);
            assert_eq!(checksum(total), 0);
        }
    }
}
