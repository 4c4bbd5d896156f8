//! One frame, read by the parser of the card (the golden model's) and by that of the host. What the
//! card hands over as verified TCP, the host must read as the same packet: a disagreement costs at
//! least the packet.

use golden::packet::{parse, Kind, Profile};
use host::headers::layout::{is_ipv6_fragment, tcp_checksum, TcpLayout, TCP_CHECKSUM_OFFSET};
use host::headers::packet::{flow_key, parse_tcp};

/// Runs the target.
///
/// # Panics
/// If the two parsers disagree.
pub fn run(bytes: &[u8]) {
    let mut frame = bytes.to_vec();
    frame.resize(frame.len().clamp(60, 9_216), 0);
    correct(&mut frame);
    let _ = is_ipv6_fragment(&frame);
    let Ok(packet) = parse(&frame, &[Profile::default(); 4]) else { return };
    let Kind::Tcp(tcp) = packet.kind else { return };
    let header = &frame[..packet.header_bytes];
    let layout = TcpLayout::check(header, packet.payload_bytes);
    let layout = layout.unwrap_or_else(|error| panic!("the transport refuses: {error}"));
    assert_eq!((layout.segment, layout.payload), (packet.l4_offset, packet.header_bytes));
    let parsed = parse_tcp(header).expect("the host reads no TCP");
    assert_eq!(parsed.l4_offset, packet.l4_offset);
    assert_eq!(parsed.acknowledgement, tcp.acknowledgement);
    assert_eq!(parsed.flags, tcp.flags);
    // Of two timestamp options the card reads the first, TCP the last.
    assert_eq!(parsed.timestamp.is_some(), tcp.timestamp.is_some());
    assert_eq!(flow_key(parsed.source, parsed.destination), packet.key);
    let syn = u32::from(parsed.flags & 2 != 0);
    assert_eq!(parsed.sequence.wrapping_add(syn), packet.position.wrapping_add(syn));
}

/// Puts the right checksums into a frame that looks like TCP, so that the card lets it through.
fn correct(frame: &mut [u8]) {
    let Ok(layout) = TcpLayout::parse(frame) else { return };
    if layout.payload + layout.payload_bytes > frame.len() {
        return;
    }
    if !layout.ipv6 {
        let field = layout.network + 10;
        frame[field..field + 2].fill(0);
        let sum = !host::headers::layout::ones_sum(&frame[layout.network..layout.segment], 0);
        frame[field..field + 2].copy_from_slice(&sum.to_be_bytes());
    }
    let field = layout.segment + TCP_CHECKSUM_OFFSET;
    frame[field..field + 2].fill(0);
    let sum = tcp_checksum(frame, &layout);
    frame[field..field + 2].copy_from_slice(&sum.to_be_bytes());
}
