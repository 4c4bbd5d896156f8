//! Reads and verifies one frame, as `docs/specification.md` orders the checks.

use abi::config::{FRAME_BYTES_MAX, FRAME_BYTES_MIN};
use abi::flow_key::{self, KEY_BYTES};
use abi::reason::DropReason;

use crate::checksum::{fold, pseudo_header, sum};

/// TCP fields that placement looks at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tcp {
    /// Acknowledgement number.
    pub acknowledgement: u32,
    /// Flags, FIN in bit 0 to CWR in bit 7.
    pub flags: u8,
    /// TSval of the timestamp option.
    pub timestamp: Option<u32>,
}

/// What the payload is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// No transport that the parser knows.
    NotTransport,
    /// Cannot be verified.
    Unverified,
    /// TCP, verified.
    Tcp(Tcp),
    /// A profile over UDP, or plain UDP (profile 0), verified.
    Udp,
}

/// A frame that passed its checks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Kind of the payload.
    pub kind: Kind,
    /// Header profile.
    pub profile: u8,
    /// Bytes before the payload.
    pub header_bytes: usize,
    /// Payload length.
    pub payload_bytes: usize,
    /// Offset of the L4 header, 0 without one.
    pub l4_offset: usize,
    /// Stream position of the first payload byte.
    pub position: u32,
    /// Flow-table key.
    pub key: [u8; KEY_BYTES],
}

/// One enabled header profile over UDP; field meanings in [`abi::profile`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// The profile is in use.
    pub enabled: bool,
    /// UDP destination port.
    pub port: u16,
    /// Transport header length.
    pub header_bytes: usize,
    /// Offset of the position field in the transport header.
    pub position_offset: usize,
    /// Bytes of the position field.
    pub position_bytes: usize,
    /// Offset of the message key.
    pub message_key_offset: usize,
    /// Bytes of the message key.
    pub message_key_bytes: usize,
}

fn word16(bytes: &[u8], at: usize) -> usize {
    usize::from(bytes[at]) << 8 | usize::from(bytes[at + 1])
}

fn word32(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// The IP layer of a frame.
struct Ip<'a> {
    addresses: &'a [u8],
    protocol: u8,
    l4_offset: usize,
    end: usize,
    fragment: bool,
    version: u8,
}

/// Refuses a frame whose length Ethernet does not allow; its FCS is not checked.
pub fn check_length(frame: &[u8]) -> Result<(), DropReason> {
    if frame.len() > FRAME_BYTES_MAX {
        return Err(DropReason::Giant);
    }
    if frame.len() < FRAME_BYTES_MIN {
        return Err(DropReason::Runt);
    }
    Ok(())
}

/// Parses a frame without FCS whose FCS was good.
pub fn parse(frame: &[u8], profiles: &[Profile; 4]) -> Result<Packet, DropReason> {
    check_length(frame)?;
    let mut l3_offset = 14;
    let mut ether_type = word16(frame, 12);
    for _ in 0..2 {
        if matches!(ether_type, 0x8100 | 0x88a8) {
            ether_type = word16(frame, l3_offset + 2);
            l3_offset += 4;
        }
    }
    let ip = match ether_type {
        0x0800 => parse_ipv4(frame, l3_offset)?,
        0x86dd => parse_ipv6(frame, l3_offset)?,
        _ => return Ok(no_transport(Kind::NotTransport, l3_offset, frame.len())),
    };
    if ip.fragment {
        return Ok(no_transport(Kind::Unverified, l3_offset, frame.len()));
    }
    match ip.protocol {
        6 => parse_tcp(frame, &ip),
        17 => parse_udp(frame, &ip, profiles),
        _ => Ok(no_transport(Kind::NotTransport, l3_offset, frame.len())),
    }
}

fn no_transport(kind: Kind, header_bytes: usize, end: usize) -> Packet {
    Packet {
        kind,
        profile: 0,
        header_bytes,
        payload_bytes: end - header_bytes,
        l4_offset: 0,
        position: 0,
        key: [0; KEY_BYTES],
    }
}

fn parse_ipv4(frame: &[u8], l3: usize) -> Result<Ip<'_>, DropReason> {
    if frame.len() < l3 + 20 {
        return Err(DropReason::MalformedIp);
    }
    let header_bytes = usize::from(frame[l3] & 0x0f) * 4;
    let total = word16(frame, l3 + 2);
    let version = frame[l3] >> 4;
    let fits = header_bytes >= 20 && total >= header_bytes && l3 + total <= frame.len();
    if version != 4 || !fits {
        return Err(DropReason::MalformedIp);
    }
    if fold(sum(&frame[l3..l3 + header_bytes])) != 0xffff {
        return Err(DropReason::IpChecksum);
    }
    Ok(Ip {
        addresses: &frame[l3 + 12..l3 + 20],
        protocol: frame[l3 + 9],
        l4_offset: l3 + header_bytes,
        end: l3 + total,
        fragment: word16(frame, l3 + 6) & 0x3fff != 0,
        version: 4,
    })
}

fn parse_ipv6(frame: &[u8], l3: usize) -> Result<Ip<'_>, DropReason> {
    if frame.len() < l3 + 40 || frame[l3] >> 4 != 6 {
        return Err(DropReason::MalformedIp);
    }
    let end = l3 + 40 + word16(frame, l3 + 4);
    if end > frame.len() {
        return Err(DropReason::MalformedIp);
    }
    Ok(Ip {
        addresses: &frame[l3 + 8..l3 + 40],
        protocol: frame[l3 + 6],
        l4_offset: l3 + 40,
        end,
        fragment: frame[l3 + 6] == 44,
        version: 6,
    })
}

fn key_of(frame: &[u8], ip: &Ip<'_>, profile: u8) -> [u8; KEY_BYTES] {
    let mut key = [0; KEY_BYTES];
    let half = ip.addresses.len() / 2;
    key[..half].copy_from_slice(&ip.addresses[..half]);
    key[16..16 + half].copy_from_slice(&ip.addresses[half..]);
    key[flow_key::REMOTE_PORT].copy_from_slice(&frame[ip.l4_offset..ip.l4_offset + 2]);
    key[flow_key::LOCAL_PORT].copy_from_slice(&frame[ip.l4_offset + 2..ip.l4_offset + 4]);
    key[flow_key::PROTOCOL] = ip.protocol;
    key[flow_key::FAMILY_PROFILE] = ip.version | profile << 4;
    key
}

fn checksum_is_good(frame: &[u8], ip: &Ip<'_>) -> bool {
    let l4 = &frame[ip.l4_offset..ip.end];
    fold(pseudo_header(ip.addresses, ip.protocol, l4.len()) + sum(l4)) == 0xffff
}

fn parse_tcp(frame: &[u8], ip: &Ip<'_>) -> Result<Packet, DropReason> {
    let l4 = &frame[ip.l4_offset..ip.end];
    if l4.len() < 20 {
        return Err(DropReason::MalformedL4);
    }
    let tcp_bytes = usize::from(l4[12] >> 4) * 4;
    if tcp_bytes < 20 || tcp_bytes > l4.len() {
        return Err(DropReason::MalformedL4);
    }
    if !checksum_is_good(frame, ip) {
        return Err(DropReason::L4Checksum);
    }
    let tcp = Tcp {
        acknowledgement: word32(l4, 8),
        flags: l4[13],
        timestamp: timestamp_option(&l4[20..tcp_bytes]),
    };
    Ok(Packet {
        kind: Kind::Tcp(tcp),
        profile: 0,
        header_bytes: ip.l4_offset + tcp_bytes,
        payload_bytes: l4.len() - tcp_bytes,
        l4_offset: ip.l4_offset,
        position: word32(l4, 4),
        key: key_of(frame, ip, 0),
    })
}

/// TSval of the first timestamp option (RFC 7323); options that do not parse end the search.
fn timestamp_option(options: &[u8]) -> Option<u32> {
    let mut at = 0;
    while at < options.len() {
        match options[at] {
            0 => return None,
            1 => at += 1,
            kind => {
                let length = usize::from(*options.get(at + 1)?);
                if length < 2 || at + length > options.len() {
                    return None;
                }
                if kind == 8 && length == 10 {
                    return Some(word32(options, at + 2));
                }
                at += length;
            }
        }
    }
    None
}

fn parse_udp(frame: &[u8], ip: &Ip<'_>, profiles: &[Profile; 4]) -> Result<Packet, DropReason> {
    let l4 = &frame[ip.l4_offset..ip.end];
    if l4.len() < 8 || word16(l4, 4) != l4.len() {
        return Err(DropReason::MalformedL4);
    }
    if word16(l4, 6) == 0 {
        if ip.version == 6 {
            return Err(DropReason::L4Checksum);
        }
        return Ok(no_transport(Kind::Unverified, ip.l4_offset + 8, ip.end));
    }
    if !checksum_is_good(frame, ip) {
        return Err(DropReason::L4Checksum);
    }
    let port = word16(l4, 2) as u16;
    let chosen = (1..4).find(|&index| profiles[index].enabled && profiles[index].port == port);
    let fitting = chosen.filter(|&index| 8 + profiles[index].header_bytes <= l4.len());
    let number = fitting.unwrap_or(0);
    let profile = profiles[number];
    let transport_bytes = if number == 0 { 0 } else { profile.header_bytes };
    let mut key = key_of(frame, ip, number as u8);
    let mut position = 0;
    if number != 0 {
        let header = &l4[8..8 + transport_bytes];
        for index in 0..profile.position_bytes {
            let byte = header.get(profile.position_offset + index).copied().unwrap_or(0);
            position = position << 8 | u32::from(byte);
        }
        for index in 0..profile.message_key_bytes {
            let byte = header.get(profile.message_key_offset + index).copied().unwrap_or(0);
            key[flow_key::MESSAGE_KEY.start + index] = byte;
        }
    }
    Ok(Packet {
        kind: Kind::Udp,
        profile: number as u8,
        header_bytes: ip.l4_offset + 8 + transport_bytes,
        payload_bytes: l4.len() - 8 - transport_bytes,
        l4_offset: ip.l4_offset,
        position,
        key,
    })
}

#[cfg(test)]
mod tests {
    use super::timestamp_option;

    const STAMP: [u8; 10] = [8, 10, 0, 0, 4, 0, 0, 0, 0, 0];

    fn find_timestamp(options: &[u8]) -> Option<u32> {
        timestamp_option(&[options, &STAMP].concat())
    }

    /// RFC 9293, 3.1: the length counts kind and length. Less than 2 does not parse.
    #[test]
    fn option_of_length_0_ends_search() {
        for kind in [2, 3, 5, 8, 255] {
            assert_eq!(find_timestamp(&[kind, 0]), None, "kind {kind}");
            assert_eq!(find_timestamp(&[kind, 1]), None, "kind {kind}");
            assert_eq!(find_timestamp(&[1, 1, kind, 1]), None, "kind {kind}");
            assert_eq!(find_timestamp(&[kind, 2]), Some(0x400), "kind {kind}");
            assert_eq!(find_timestamp(&[kind, 3, 8]), Some(0x400), "kind {kind}");
        }
    }

    #[test]
    fn overlong_option_or_list_end_ends_search() {
        assert_eq!(find_timestamp(&[]), Some(0x400));
        assert_eq!(find_timestamp(&[1, 1]), Some(0x400));
        assert_eq!(find_timestamp(&[0]), None);
        assert_eq!(find_timestamp(&[5, 12]), None, "it ends with the options");
        assert_eq!(find_timestamp(&[5, 13]), None, "it ends beyond them");
        assert_eq!(timestamp_option(&[1, 1, 8]), None);
        assert_eq!(timestamp_option(&STAMP[..9]), None);
    }
}
