//! Headers of the null protocol and of its peers: IPv4, TCP with timestamps.

use std::net::{Ipv4Addr, SocketAddrV4};

use host::headers::builder::{Route, Tcp};
use host::headers::layout::ACK;
use host::transport::TransmitBytes;

/// Bytes from the Ethernet header to the end of a TCP header with timestamps.
pub const HEADER_BYTES: usize = 14 + 20 + 32;
/// Window scale of both sides.
pub const WINDOW_SCALE: u8 = 7;
/// Offset of the TCP header.
pub(super) const TCP: usize = 34;

fn put32(bytes: &mut [u8], at: usize, value: u32) {
    bytes[at..at + 4].copy_from_slice(&value.to_be_bytes());
}

/// A word of a header.
pub(crate) fn get32(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// Half a word of a header.
pub(crate) fn get16(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

/// A header from `source` to `destination` with timestamps, all numbers 0.
pub fn tcp_header(
    links: [u8; 12],
    source: SocketAddrV4,
    destination: SocketAddrV4,
) -> [u8; HEADER_BYTES] {
    let (to, from) = links.split_at(6);
    let mut macs = [[0; 6]; 2];
    macs[0].copy_from_slice(from);
    macs[1].copy_from_slice(to);
    let route = Route { macs, from: source.into(), to: destination.into() };
    let mut options = [1, 1, 8, 10, 0, 0, 0, 0, 0, 0, 0, 0];
    put32(&mut options, 4, 1);
    let tcp = Tcp { flags: ACK, window: u16::MAX, options: &options, ..Tcp::default() };
    let mut header = [0; HEADER_BYTES];
    header.copy_from_slice(&route.tcp(&tcp, 0).0);
    header
}

/// Sender and receiver of a header as [`tcp_header`] makes them.
pub(crate) fn addresses(header: &[u8]) -> (SocketAddrV4, SocketAddrV4) {
    let address = |at: usize, port: usize| {
        let ip = Ipv4Addr::from_bits(get32(header, at));
        SocketAddrV4::new(ip, get16(header, port))
    };
    (address(26, TCP), address(30, TCP + 2))
}

/// Sets the IP length for so many bytes of payload.
pub fn set_payload(header: &mut [u8], payload_bytes: u32) {
    let bytes = (header.len() - 14) as u32 + payload_bytes;
    header[16..18].copy_from_slice(&(bytes as u16).to_be_bytes());
}

/// Sets sequence and ACK number.
pub fn set_numbers(header: &mut [u8], sequence: u32, acknowledgement: u32) {
    put32(header, TCP + 4, sequence);
    put32(header, TCP + 8, acknowledgement);
}

/// A SYN, or the answer to one, from a header of the same addresses.
pub fn syn(header: &[u8; HEADER_BYTES], flags: u8) -> TransmitBytes {
    let mut bytes: TransmitBytes = header.iter().copied().collect();
    bytes.extend([2, 4, 0x05, 0xb4, 1, 3, 3, WINDOW_SCALE]);
    bytes[TCP + 12..TCP + 14].copy_from_slice(&[0xa0, flags]);
    set_payload(&mut bytes, 0);
    bytes
}
