//! Frames as they were on the wire, where a host captures what its card has still to do.
//!
//! ```text
//!   IP length 0 ──────────────────► that of the frame
//!   IPv6 jumbo option (BIG TCP) ──► taken off, as the kernel does before it cuts the packet
//!   checksum left to the card ────► completed
//! ```
//! A host writes one of three values where it leaves a checksum to its card: 0, the sum of the
//! pseudo-header (Linux, macOS), the same without the length (Windows, for packets to cut).
//!
//! Sources: RFC 2675 (jumbo option); RFC 1071, 768, 8200 (checksums).

use abi::config::FRAME_BYTES_MAX;
use host::headers::layout::ones_sum;

use super::packet::{network, word, Packet, IPV4, IPV6, IPV6_BYTES, LENGTH_MAX};

const HOP_BY_HOP: u8 = 0;
const TCP: u8 = 6;
const UDP: u8 = 17;
/// A hop-by-hop header with the jumbo option alone, bytes.
const JUMBO_BYTES: usize = 8;
/// Its second to fourth byte: no more than 8 bytes, the option's type, its length.
const JUMBO: [u8; 3] = [0, 0xc2, 4];
/// An IPv4 header without options, bytes.
const IPV4_BYTES: usize = 20;

/// What was changed in a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Restored {
    /// Nothing.
    #[default]
    Nothing,
    /// Its IP length was 0.
    Length,
    /// It had a jumbo option.
    Jumbo,
}

/// Gives a packet the IP length that it has, or the longest one; one with a jumbo option loses the
/// option. `Err` says why it is not to be had.
pub fn restore_length(frame: &mut Vec<u8>) -> Result<Restored, String> {
    let Some((at, kind)) = network(frame) else { return Ok(Restored::Nothing) };
    let (field, protocol, uncounted) = match kind {
        IPV4 => (at + 2, at + 9, 0),
        IPV6 => (at + 4, at + 6, IPV6_BYTES),
        _ => return Ok(Restored::Nothing),
    };
    if word(frame, field) != Some(0) || frame.len() < at + IPV4_BYTES.max(uncounted) {
        return Ok(Restored::Nothing);
    }
    let restored = match frame[protocol] {
        TCP | UDP => Restored::Length,
        HOP_BY_HOP if kind == IPV6 => match take_jumbo_off(frame, at)? {
            true => Restored::Jumbo,
            false => return Ok(Restored::Nothing),
        },
        _ => return Ok(Restored::Nothing),
    };
    let bytes = (frame.len() - at - uncounted).min(LENGTH_MAX) as u16;
    frame[field..field + 2].copy_from_slice(&bytes.to_be_bytes());
    if kind == IPV4 && frame[protocol] == UDP {
        // That of TCP is completed with its own checksum.
        complete_header(frame, at);
    }
    Ok(restored)
}

/// Takes the jumbo option off a TCP packet of IPv6; false if there is none.
fn take_jumbo_off(frame: &mut Vec<u8>, at: usize) -> Result<bool, String> {
    let header = at + IPV6_BYTES;
    let Some([next, rest @ ..]) = frame.get(header..header + JUMBO_BYTES) else { return Ok(false) };
    let (next, length) = (*next, rest[3..].iter().fold(0, |sum, byte| sum << 8 | *byte as usize));
    if rest[..3] != JUMBO || length <= LENGTH_MAX {
        return Ok(false);
    }
    let held = frame.len() - header;
    if length > held {
        // A damaged frame may be on the wire; a packet that no frame takes was there in parts.
        let is_frame = frame.len() <= FRAME_BYTES_MAX;
        let beyond = length - held;
        let reason = format!("its jumbo length of {length} is {beyond} bytes beyond its end");
        return if is_frame { Ok(false) } else { Err(reason) };
    }
    if next != TCP {
        return Err(format!(
            "a packet of {length} bytes with protocol {next}: only TCP packets can be cut again"
        ));
    }
    frame.truncate(header + length);
    frame.drain(header..header + JUMBO_BYTES);
    frame[at + 6] = next;
    Ok(true)
}

/// What the checksum of a packet is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checksum {
    /// Right.
    Right,
    /// Left to the card.
    Left,
    /// Wrong.
    Wrong,
}

/// Judges the field at a byte of a transport header that ends with its packet.
fn judge(frame: &[u8], (header, end): (usize, usize), field: usize, protocol: u8) -> Checksum {
    let Some(sums) = pseudo_sums(frame, end - header, protocol) else { return Checksum::Wrong };
    let held = word(frame, header + field).unwrap_or(0);
    match ones_sum(&frame[header..end], sums[0]) {
        0xffff => Checksum::Right,
        _ if held == 0 && protocol == TCP => Checksum::Left,
        _ if sums.contains(&held) => Checksum::Left,
        _ => Checksum::Wrong,
    }
}

/// The sum of the pseudo-header with the length of the transport packet, and without it.
fn pseudo_sums(frame: &[u8], bytes: usize, protocol: u8) -> Option<[u16; 2]> {
    let (at, kind) = network(frame)?;
    let addresses = match kind {
        IPV4 => frame.get(at + 12..at + 20)?,
        IPV6 => frame.get(at + 8..at + 40)?,
        _ => return None,
    };
    let addresses = ones_sum(addresses, u16::from(protocol));
    Some([ones_sum(&(bytes as u32).to_be_bytes(), addresses), addresses])
}

/// The checksum of a TCP packet that ends inside its frame, at most as long as any.
pub fn tcp_checksum_of(frame: &[u8], packet: &Packet) -> Checksum {
    judge(frame, (packet.header.l4_offset, packet.payload.end), 16, TCP)
}

/// Whether an IPv4 header has a checksum, and a wrong one.
pub fn has_wrong_header(frame: &[u8]) -> bool {
    ipv4_header(frame).is_some_and(|(at, end)| {
        word(frame, at + 10) != Some(0) && ones_sum(&frame[at..end], 0) != 0xffff
    })
}

/// Completes the checksum of an IPv4 header that was left at 0, and that of a UDP packet; true if
/// one was.
pub fn complete_left(frame: &mut [u8]) -> bool {
    let mut completed = false;
    if let Some((at, end)) = ipv4_header(frame) {
        if word(frame, at + 10) == Some(0) && ones_sum(&frame[at..end], 0) != 0xffff {
            complete_header(frame, at);
            completed = true;
        }
    }
    if let Some((header, end)) = udp(frame) {
        let field = header + 6;
        // 0 says that there is none.
        let is_there = word(frame, field) != Some(0);
        if is_there && judge(frame, (header, end), 6, UDP) == Checksum::Left {
            frame[field..field + 2].fill(0);
            let start = pseudo_sums(frame, end - header, UDP).map_or(0, |sums| sums[0]);
            let sum = !ones_sum(&frame[header..end], start);
            let sum = if sum == 0 { 0xffff } else { sum };
            frame[field..field + 2].copy_from_slice(&sum.to_be_bytes());
            completed = true;
        }
    }
    completed
}

/// The header of an IPv4 packet: where it begins and ends.
fn ipv4_header(frame: &[u8]) -> Option<(usize, usize)> {
    let (at, kind) = network(frame)?;
    let first = frame.get(at)?;
    let end = at + usize::from(first & 0xf) * 4;
    let is_whole = first >> 4 == 4 && end >= at + IPV4_BYTES && end <= frame.len();
    (kind == IPV4 && is_whole).then_some((at, end))
}

fn complete_header(frame: &mut [u8], at: usize) {
    let Some((_, end)) = ipv4_header(frame) else { return };
    frame[at + 10..at + 12].fill(0);
    let sum = !ones_sum(&frame[at..end], 0);
    frame[at + 10..at + 12].copy_from_slice(&sum.to_be_bytes());
}

/// A whole UDP packet behind an IP header without extensions: where it begins and ends.
fn udp(frame: &[u8]) -> Option<(usize, usize)> {
    let (at, kind) = network(frame)?;
    let header = match kind {
        IPV4 => {
            let (_, end) = ipv4_header(frame)?;
            let is_fragment = word(frame, at + 6)? & 0x3fff != 0;
            (frame[at + 9] == UDP && !is_fragment).then_some(end)?
        }
        IPV6 => (frame.get(at + 6) == Some(&UDP)).then_some(at + IPV6_BYTES)?,
        _ => return None,
    };
    let bytes = usize::from(word(frame, header + 4)?);
    (bytes >= 8 && header + bytes <= frame.len()).then_some((header, header + bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim::harness::traffic::{Addresses, Layer4, PacketSpec};

    fn packet(is_ipv6: bool, tags: Vec<u16>, layer4: Layer4, bytes: usize) -> Vec<u8> {
        let spec = PacketSpec {
            tags,
            addresses: match is_ipv6 {
                true => Addresses::V6([1; 16], [2; 16]),
                false => Addresses::V4([1; 4], [2; 4]),
            },
            ip_options: Vec::new(),
            ports: (1, 2),
            layer4,
            payload: (0..bytes).map(|at| (at * 7 + at / 256) as u8).collect(),
        };
        spec.frame(0)
    }

    fn tcp() -> Layer4 {
        Layer4::Tcp { sequence: 5, acknowledgement: 0, flags: 0x10, options: Vec::new() }
    }

    #[test]
    fn length_0_means_length_of_frame() {
        for is_ipv6 in [false, true] {
            for tags in [vec![], vec![1], vec![1, 2]] {
                for bytes in [100, 60_000] {
                    let whole = packet(is_ipv6, tags.clone(), tcp(), bytes);
                    let field = 14 + 4 * tags.len() + if is_ipv6 { 4 } else { 2 };
                    let mut zero = whole.clone();
                    assert_eq!(restore_length(&mut zero), Ok(Restored::Nothing));
                    zero[field..field + 2].fill(0);
                    assert_eq!(Packet::read(&zero), None);
                    assert_eq!(restore_length(&mut zero), Ok(Restored::Length));
                    assert_eq!(zero, whole);
                }
            }
        }
    }

    /// At and around the longest IP length, which IPv6 counts from the end of its header.
    #[test]
    fn overlong_packet_ends_with_its_frame() {
        for is_ipv6 in [false, true] {
            let header = if is_ipv6 { 54 } else { 14 };
            for bytes in (65_534..=65_576).map(|bytes| header + bytes).chain([150_000]) {
                let mut frame = packet(is_ipv6, vec![], tcp(), 100);
                frame.resize(bytes, 7);
                let field = 14 + if is_ipv6 { 4 } else { 2 };
                frame[field..field + 2].fill(0);
                assert_eq!(restore_length(&mut frame), Ok(Restored::Length));
                let read = Packet::read(&frame).expect("a packet");
                assert_eq!(read.payload, read.header_bytes..bytes, "IPv6 {is_ipv6}");
            }
        }
    }

    /// A TCP packet with a jumbo option, which says that so many bytes follow the IPv6 header.
    fn jumbo(payload: usize, length: u32, tags: Vec<u16>) -> Vec<u8> {
        let at = 14 + 4 * tags.len();
        let mut frame = packet(true, tags, tcp(), 100);
        frame.truncate(at + 60);
        frame.extend((0..payload).map(|byte| byte as u8));
        let [a, b, c, d] = length.to_be_bytes();
        frame.splice(at + 40..at + 40, [6, 0, 0xc2, 4, a, b, c, d]);
        (frame[at + 4], frame[at + 5], frame[at + 6]) = (0, 0, 0);
        frame
    }

    #[test]
    fn a_jumbo_option_is_taken_off() {
        for tags in [vec![], vec![3]] {
            let at = 14 + 4 * tags.len();
            for payload in [65_508, 65_516, 200_000] {
                let mut frame = jumbo(payload, payload as u32 + 28, tags.clone());
                // What follows is a trailer.
                frame.extend([9; 5]);
                assert_eq!(restore_length(&mut frame), Ok(Restored::Jumbo));
                assert_eq!(frame[at + 6], 6);
                let read = Packet::read(&frame).expect("a packet");
                assert_eq!(read.payload, at + 60..at + 60 + payload);
                assert_eq!(frame.len(), at + 60 + payload);
            }
        }
    }

    #[test]
    fn contradicting_jumbo_option_has_its_reason() {
        let mut beyond = jumbo(66_000, 66_029, vec![]);
        let why = restore_length(&mut beyond).unwrap_err();
        assert_eq!(why, "its jumbo length of 66029 is 1 bytes beyond its end");
        let mut udp = jumbo(66_000, 66_028, vec![]);
        udp[54] = 17;
        assert!(restore_length(&mut udp).unwrap_err().contains("protocol 17"));
        let mut damaged = jumbo(100, 70_000, vec![]);
        assert_eq!(restore_length(&mut damaged), Ok(Restored::Nothing));
        // Such a length is against RFC 2675: it goes to the card as it is.
        let mut short = jumbo(65_000, 65_028, vec![]);
        let before = short.clone();
        assert_eq!(restore_length(&mut short), Ok(Restored::Nothing));
        assert_eq!(short, before);
    }

    #[test]
    fn ipv4_checksum_0_is_completed() {
        for tags in [vec![], vec![7, 8]] {
            for layer4 in [tcp(), Layer4::Udp { no_checksum: false }] {
                let at = 14 + 4 * tags.len();
                let whole = packet(false, tags.clone(), layer4, 99);
                let mut frame = whole.clone();
                assert!(!complete_left(&mut frame) && !has_wrong_header(&frame));
                frame[at + 10..at + 12].fill(0);
                assert!(!has_wrong_header(&frame));
                assert!(complete_left(&mut frame));
                assert_eq!(frame, whole);
                // A wrong one stays as it is.
                frame[at + 10] ^= 1;
                let before = frame.clone();
                assert!(has_wrong_header(&frame) && !complete_left(&mut frame));
                assert_eq!(frame, before);
            }
        }
    }

    /// The three values that hosts leave, for TCP and UDP, and one that nobody leaves.
    #[test]
    fn offloaded_checksum_differs_from_wrong_one() {
        for is_ipv6 in [false, true] {
            let l4 = if is_ipv6 { 54 } else { 34 };
            let frame = packet(is_ipv6, vec![], tcp(), 101);
            let read = Packet::read(&frame).expect("a packet");
            let judged = |value: u16| {
                let mut frame = frame.clone();
                frame[l4 + 16..l4 + 18].copy_from_slice(&value.to_be_bytes());
                tcp_checksum_of(&frame, &read)
            };
            assert_eq!(tcp_checksum_of(&frame, &read), Checksum::Right);
            let sums = pseudo_sums(&frame, 121, TCP).expect("addresses");
            assert_eq!(sums.map(judged), [Checksum::Left; 2]);
            assert_eq!(judged(0), Checksum::Left);
            assert_eq!(judged(sums[0] ^ 1), Checksum::Wrong);
            let whole = packet(is_ipv6, vec![], Layer4::Udp { no_checksum: false }, 101);
            let sums = pseudo_sums(&whole, 109, UDP).expect("addresses");
            for (value, completed) in [(sums[0], true), (sums[1], true), (sums[0] ^ 1, false)] {
                let mut frame = whole.clone();
                frame[l4 + 6..l4 + 8].copy_from_slice(&value.to_be_bytes());
                assert_eq!(complete_left(&mut frame), completed);
                assert_eq!(frame == whole, completed);
            }
            // No checksum is one of UDP's.
            let mut none = whole.clone();
            none[l4 + 6..l4 + 8].fill(0);
            assert!(!complete_left(&mut none));
        }
    }
}
