//! Frames as they are on the wire, of a packet that a host captures before a card cuts it or after
//! one has merged it.
//!
//! ```text
//!   packet ─ largest payload of a frame ─► | header | payload | header | payload | ...
//! ```
//! The rules are those of `docs/specification.md`, Segmentation, written a second time: the card is
//! compared with these frames.

use abi::config::{FRAME_BYTES_MAX, FRAME_BYTES_MIN, FRAME_PAYLOAD_BYTES_MAX};
use host::headers::layout::{ones_sum, tcp_checksum, TcpLayout, TCP_CHECKSUM_OFFSET};

use super::packet::Packet;

/// TCP flags that only the last frame of a packet has.
pub const FIN_PSH: u8 = 0x09;
/// The TCP flag that only its first frame has.
pub const CWR: u8 = 0x80;
/// Offset of the flags in a TCP header.
pub const FLAGS_OFFSET: usize = 13;
/// TCP header without options, bytes.
const TCP_BYTES: usize = 20;
/// Largest TCP payload without options in an IP packet of 1,500 bytes, by version of IP.
const MSS_USUAL: [u16; 2] = [1_460, 1_440];

/// The frames of a packet from a byte of its payload on, with at most `mss` bytes of payload each.
pub fn cut(frame: &[u8], packet: &Packet, from: usize, mss: usize) -> Vec<Vec<u8>> {
    let header = &frame[..packet.header_bytes];
    let payload = &frame[packet.payload.clone()][from..];
    let count = payload.len().div_ceil(mss);
    let flags = packet.header.l4_offset + FLAGS_OFFSET;
    let chunks = payload.chunks(mss).enumerate();
    let frames = chunks.map(|(number, chunk)| {
        let mut bytes = [header, chunk].concat();
        adjust(&mut bytes, packet, number, (from + number * mss) as u32);
        if number + 1 < count {
            bytes[flags] &= !FIN_PSH;
        }
        if number > 0 {
            bytes[flags] &= !CWR;
        }
        complete_checksums(&mut bytes);
        bytes.resize(bytes.len().max(FRAME_BYTES_MIN), 0);
        bytes
    });
    frames.collect()
}

/// Gives a frame its own lengths, identification and sequence number. `at` is the place of its
/// first byte in the payload.
fn adjust(frame: &mut [u8], packet: &Packet, number: usize, at: u32) {
    let header = &packet.header;
    let (l3, l4, bytes) = (header.l3_offset, header.l4_offset, frame.len());
    let id = u16::from_be_bytes([frame[l3 + 4], frame[l3 + 5]]);
    let mut put = |at: usize, value: usize| {
        frame[at..at + 2].copy_from_slice(&(value as u16).to_be_bytes());
    };
    if header.ipv6 {
        put(l3 + 4, bytes - l3 - 40);
    } else {
        put(l3 + 2, bytes - l3);
        put(l3 + 4, usize::from(id.wrapping_add(number as u16)));
    }
    let sequence = header.sequence.wrapping_add(at);
    frame[l4 + 4..l4 + 8].copy_from_slice(&sequence.to_be_bytes());
}

/// Most payload of a frame of a packet: what is `wanted`, else what the receiver's SYN allows, else
/// all of it where it fits a frame, else what fits an IP packet of 1,500 bytes.
pub fn mss(packet: &Packet, wanted: Option<u16>, syn_mss: Option<u16>) -> usize {
    let options = packet.header_bytes - packet.header.l4_offset - TCP_BYTES;
    let room = FRAME_BYTES_MAX.saturating_sub(packet.header_bytes);
    let room = room.clamp(1, FRAME_PAYLOAD_BYTES_MAX);
    // The option of a SYN counts no options (RFC 6691).
    let without_options = |mss: u16| usize::from(mss).saturating_sub(options);
    let wanted = wanted.map(usize::from);
    let wanted = wanted.or_else(|| syn_mss.map(without_options));
    let payload = packet.payload.len();
    let wanted = wanted.unwrap_or_else(|| match payload <= room {
        true => payload,
        false => without_options(MSS_USUAL[usize::from(packet.header.ipv6)]),
    });
    wanted.clamp(1, room)
}

/// Corrects the checksums of a TCP packet; true if one was wrong.
pub fn complete_checksums(frame: &mut [u8]) -> bool {
    let Some(layout) = whole(frame) else { return false };
    let before = frame.to_vec();
    if !layout.ipv6 {
        frame[layout.network + 10..layout.network + 12].fill(0);
        let checksum = !ones_sum(&frame[layout.network..layout.segment], 0);
        frame[layout.network + 10..layout.network + 12].copy_from_slice(&checksum.to_be_bytes());
    }
    let at = layout.segment + TCP_CHECKSUM_OFFSET;
    frame[at..at + 2].fill(0);
    let checksum = tcp_checksum(frame, &layout);
    frame[at..at + 2].copy_from_slice(&checksum.to_be_bytes());
    before != *frame
}

/// The layers of a TCP packet that ends inside its frame.
fn whole(frame: &[u8]) -> Option<TcpLayout> {
    let layout = TcpLayout::parse(frame).ok()?;
    let end = layout.payload + layout.payload_bytes;
    (end <= frame.len()).then_some(layout)
}
