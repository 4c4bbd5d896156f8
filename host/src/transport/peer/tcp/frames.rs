//! Frames of our own TCP: a header is cut into frames, and a frame is read with its checksums.
//!
//! ```text
//!   header, 4000 bytes, MSS 1448 ──► | header 0 | 1448 | header 1448 | 1448 | header 2896 | 1104 |
//!                                      FIN and PSH with the last, CWR with the first
//! ```
//! Sources: RFC 9293, 3.1 (header, checksum); RFC 791, 3.1; RFC 8200, 8.1; RFC 3168, 6.1.2 (CWR).

use crate::headers::error::Result;
use crate::headers::layout::{ones_sum, tcp_checksum, TcpLayout, FIN, SYN, TCP_CHECKSUM_OFFSET};

const PSH: u8 = 0x08;
const CWR: u8 = 0x80;
/// Shortest frame, without frame check sequence.
const FRAME_BYTES_MIN: usize = 60;
// Fields, from the start of their header.
const IPV4_LENGTH: usize = 2;
const IPV4_CHECKSUM: usize = 10;
const IPV6_LENGTH: usize = 4;
const IPV6_BYTES: usize = 40;
const TCP_SEQUENCE: usize = 4;
const TCP_FLAGS: usize = 13;

/// A TCP frame in parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Parts<'a> {
    /// From Ethernet to the end of TCP.
    pub header: &'a [u8],
    /// Offset of the TCP header.
    pub l4_offset: usize,
    /// Position of the first byte of payload.
    pub position: u32,
    /// The payload, without what pads the frame.
    pub payload: &'a [u8],
}

impl<'a> Parts<'a> {
    /// Reads a frame; `None` for one that is not TCP, or whose checksums are wrong.
    pub fn read(frame: &'a [u8]) -> Option<Self> {
        let layout = TcpLayout::parse(frame).ok()?;
        let end = layout.payload + layout.payload_bytes;
        let payload = frame.get(layout.payload..end)?;
        let ip = &frame[layout.network..layout.segment];
        let is_ip_right = layout.ipv6 || ones_sum(ip, 0) == 0xffff;
        if !is_ip_right || tcp_checksum(frame, &layout) != 0 {
            return None;
        }
        let tcp = &frame[layout.segment..layout.payload];
        let sequence = tcp[TCP_SEQUENCE..].first_chunk().copied().map(u32::from_be_bytes)?;
        // A SYN takes a number of its own (RFC 9293, 3.4).
        let syn = u32::from(tcp[TCP_FLAGS] & SYN != 0);
        Some(Self {
            header: &frame[..layout.payload],
            l4_offset: layout.segment,
            position: sequence.wrapping_add(syn),
            payload,
        })
    }
}

/// Cuts a header and its payload into frames of `mss_bytes` of payload at most, with all lengths
/// and checksums.
pub(super) fn cut(header: &[u8], payload: &[u8], mss_bytes: u32) -> Result<Vec<Vec<u8>>> {
    let mss_bytes = mss_bytes.max(1) as usize;
    let count = payload.len().div_ceil(mss_bytes).max(1);
    let part = |at: usize| {
        let start = at * mss_bytes;
        let end = (start + mss_bytes).min(payload.len());
        frame(header, start, &payload[start..end], [at > 0, at + 1 < count])
    };
    (0..count).map(part).collect()
}

/// One frame, `start` bytes behind the first; `beside` says whether others come before and after.
fn frame(header: &[u8], start: usize, payload: &[u8], beside: [bool; 2]) -> Result<Vec<u8>> {
    let layout = TcpLayout::parse(header)?;
    let mut bytes = [header, payload].concat();
    let tcp = &mut bytes[layout.segment..];
    let sequence: [u8; 4] = std::array::from_fn(|at| tcp[TCP_SEQUENCE + at]);
    let sequence = u32::from_be_bytes(sequence).wrapping_add(start as u32);
    tcp[TCP_SEQUENCE..TCP_SEQUENCE + 4].copy_from_slice(&sequence.to_be_bytes());
    let [has_before, has_after] = beside;
    if has_after {
        tcp[TCP_FLAGS] &= !(FIN | PSH);
    }
    if has_before {
        tcp[TCP_FLAGS] &= !CWR;
    }
    let ip = &mut bytes[layout.network..];
    let ip_bytes = ip.len();
    let mut put = |at: usize, value: u16| ip[at..at + 2].copy_from_slice(&value.to_be_bytes());
    match layout.ipv6 {
        true => put(IPV6_LENGTH, (ip_bytes - IPV6_BYTES) as u16),
        false => {
            put(IPV4_LENGTH, ip_bytes as u16);
            put(IPV4_CHECKSUM, 0);
            let sum = ones_sum(&bytes[layout.network..layout.segment], 0);
            let at = layout.network + IPV4_CHECKSUM;
            bytes[at..at + 2].copy_from_slice(&(!sum).to_be_bytes());
        }
    }
    let layout = TcpLayout::parse(&bytes)?;
    let sum = tcp_checksum(&bytes, &layout).to_be_bytes();
    let at = layout.segment + TCP_CHECKSUM_OFFSET;
    bytes[at..at + 2].copy_from_slice(&sum);
    bytes.resize(bytes.len().max(FRAME_BYTES_MIN), 0);
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use smoltcp::wire::{Ipv4Packet, Ipv6Packet, TcpPacket};

    use super::*;
    use crate::headers::builder::{Route, Tcp};
    use crate::headers::layout::ACK;

    const FLAGS: u8 = ACK | PSH | FIN | CWR;

    fn header(ipv6: bool, payload_bytes: usize) -> Vec<u8> {
        let [from, to] = match ipv6 {
            false => ["10.0.0.1:4000", "10.0.0.2:80"],
            true => ["[fd00::1]:4000", "[fd00::2]:80"],
        };
        let address = |text: &str| text.parse().expect("an address");
        let macs = [[2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2]];
        let route = Route { macs, from: address(from), to: address(to) };
        let options = [1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2];
        let sequence = 0xffff_fc00;
        let tcp = Tcp { sequence, flags: FLAGS, options: &options, ..Tcp::default() };
        route.tcp(&tcp, payload_bytes).0
    }

    /// The checksums, by smoltcp's own.
    fn is_right(frame: &[u8], ipv6: bool) -> bool {
        if ipv6 {
            let ip = Ipv6Packet::new_checked(&frame[14..]).expect("IPv6");
            let tcp = TcpPacket::new_checked(ip.payload()).expect("TCP");
            return tcp.verify_checksum(&ip.src_addr().into(), &ip.dst_addr().into());
        }
        let ip = Ipv4Packet::new_checked(&frame[14..]).expect("IPv4");
        let tcp = TcpPacket::new_checked(ip.payload()).expect("TCP");
        let addresses = [ip.src_addr(), ip.dst_addr()].map(Into::into);
        ip.verify_checksum() && tcp.verify_checksum(&addresses[0], &addresses[1])
    }

    #[test]
    fn header_is_cut_into_accepted_frames() {
        let payload: Vec<u8> = (0..4001).map(|at| (at % 251) as u8).collect();
        for ipv6 in [false, true] {
            let frames = cut(&header(ipv6, payload.len()), &payload, 1448).expect("frames");
            assert_eq!(frames.len(), 3);
            let mut joined: Vec<u8> = Vec::new();
            for (at, frame) in frames.iter().enumerate() {
                assert!(is_right(frame, ipv6), "frame {at}");
                let parts = Parts::read(frame).expect("a frame");
                let position = 0xffff_fc00_u32.wrapping_add(1448 * at as u32);
                assert_eq!(parts.position, position, "frame {at}");
                let flags = [ACK | CWR, ACK, ACK | PSH | FIN][at];
                assert_eq!(parts.header[parts.l4_offset + TCP_FLAGS], flags, "frame {at}");
                joined.extend(parts.payload);
            }
            assert!(joined == payload);
        }
    }

    #[test]
    fn header_alone_is_one_padded_frame() {
        let frames = cut(&header(false, 0), &[], 1).expect("frames");
        assert_eq!((frames.len(), frames[0].len()), (1, 66));
        let mut short = header(false, 0);
        short.truncate(54);
        short[46] = 0x50;
        let frames = cut(&short, &[], 1).expect("frames");
        assert_eq!(frames[0].len(), FRAME_BYTES_MIN);
        assert!(is_right(&frames[0], false));
        assert_eq!(Parts::read(&frames[0]).expect("a frame").payload, &[]);
    }

    /// Whatever bit flips, but for those that no checksum covers, nothing is read.
    #[test]
    fn frame_with_wrong_bit_is_refused() {
        for ipv6 in [false, true] {
            let whole = &cut(&header(ipv6, 7), b"payload", 1448).expect("frames")[0];
            let first = if ipv6 { 22 } else { 14 };
            for bit in 8 * first..8 * whole.len() {
                let mut frame = whole.clone();
                frame[bit / 8] ^= 1 << (bit % 8);
                assert_eq!(Parts::read(&frame), None, "bit {bit}");
            }
            assert!(Parts::read(whole).is_some());
        }
    }

    #[test]
    fn frame_cut_off_is_refused() {
        let whole = &cut(&header(false, 7), b"payload", 1448).expect("frames")[0];
        assert!((0..whole.len()).all(|bytes| Parts::read(&whole[..bytes]).is_none()));
    }
}
