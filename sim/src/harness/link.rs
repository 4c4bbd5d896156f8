//! Ethernet frames from what captures of other links hold.
//!
//! ```text
//!   Ethernet            ──────────────────────────────► the frame as it is
//!   raw IP              ─┐
//!   null, loopback      ─┼─ IP packet or EtherType ──► | addresses 0 | EtherType | packet |
//!   Linux SLL, SLL2     ─┘
//! ```
//! The Ethernet addresses of a header that is made are 0: who is who is not known here.
//!
//! Source: <https://www.tcpdump.org/linktypes.html>.

const NULL: u32 = 0;
const ETHERNET: u32 = 1;
/// Raw IP: as BSD and OpenBSD number it, and as files should.
const RAW: [u32; 3] = [12, 14, 101];
const LOOP: u32 = 108;
const SLL: u32 = 113;
const IPV4: u32 = 228;
const IPV6: u32 = 229;
const SLL2: u32 = 276;

const ETHERTYPE_IPV4: u16 = 0x0800;
const ETHERTYPE_IPV6: u16 = 0x86dd;
/// Lower values of an EtherType field are lengths, or Linux's own numbers.
const ETHERTYPE_MIN: u16 = 0x0600;
/// Address family of IPv4 everywhere.
const FAMILY_IPV4: u32 = 2;
/// Address families of IPv6: Linux, Windows, NetBSD and OpenBSD, FreeBSD, macOS.
const FAMILIES_IPV6: [u32; 5] = [10, 23, 24, 28, 30];
/// Packet types of SLL: to the capturing host, and sent by it.
const SLL_TO_US: u16 = 0;
const SLL_FROM_US: u16 = 4;

/// An Ethernet frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EthernetFrame {
    /// Its bytes, without FCS.
    pub bytes: Vec<u8>,
    /// Its header was made.
    pub is_made: bool,
    /// The capturing host sent it (true) or received it, if the link's header says.
    pub is_sent: Option<bool>,
}

/// The Ethernet frame in a packet of a link type. `Err` is the reason why there is none.
pub(super) fn ethernet(link: u32, packet: &[u8]) -> Result<EthernetFrame, String> {
    let bytes = packet.len();
    match link {
        ETHERNET if bytes < 14 => Err(format!("{bytes} bytes are shorter than an Ethernet header")),
        ETHERNET => Ok(EthernetFrame { bytes: packet.to_vec(), is_made: false, is_sent: None }),
        IPV4 => Ok(make_ethernet(ETHERTYPE_IPV4, packet)),
        IPV6 => Ok(make_ethernet(ETHERTYPE_IPV6, packet)),
        SLL | SLL2 => parse_cooked(link, packet),
        NULL | LOOP => {
            let (family, packet) = take(packet)?;
            Ok(make_ethernet(family_type(link, family)?, packet))
        }
        _ if RAW.contains(&link) => Ok(make_ethernet(version_type(packet)?, packet)),
        _ => Err(format!("link type {link} is neither Ethernet nor IP")),
    }
}

fn make_ethernet(kind: u16, packet: &[u8]) -> EthernetFrame {
    let bytes = [&[0; 12], &kind.to_be_bytes()[..], packet].concat();
    EthernetFrame { bytes, is_made: true, is_sent: None }
}

/// The first bytes of a packet, and what follows them.
fn take<const BYTES: usize>(packet: &[u8]) -> Result<([u8; BYTES], &[u8]), String> {
    let split = packet.split_first_chunk::<BYTES>();
    let (head, rest) = split.ok_or_else(|| {
        let have = packet.len();
        format!("{have} bytes are shorter than the link's header of {BYTES}")
    })?;
    Ok((*head, rest))
}

/// The EtherType of an IP packet.
fn version_type(packet: &[u8]) -> Result<u16, String> {
    match packet.first() {
        Some(first) if first >> 4 == 4 => Ok(ETHERTYPE_IPV4),
        Some(first) if first >> 4 == 6 => Ok(ETHERTYPE_IPV6),
        Some(first) => Err(format!("IP version {} is neither 4 nor 6", first >> 4)),
        None => Err("the packet has no bytes".to_owned()),
    }
}

/// The EtherType of an address family. Loopback has it in network byte order; null in that of the
/// capturing host, which shows as no family reaches 2^16.
fn family_type(link: u32, family: [u8; 4]) -> Result<u16, String> {
    let (big, little) = (u32::from_be_bytes(family), u32::from_le_bytes(family));
    let family = match link {
        NULL => big.min(little),
        _ => big,
    };
    match family {
        FAMILY_IPV4 => Ok(ETHERTYPE_IPV4),
        _ if FAMILIES_IPV6.contains(&family) => Ok(ETHERTYPE_IPV6),
        _ => Err(format!("address family {family} is neither IPv4 nor IPv6")),
    }
}

/// A packet behind the header of a Linux "any" capture.
fn parse_cooked(link: u32, packet: &[u8]) -> Result<EthernetFrame, String> {
    let (kind, packet_type, packet) = if link == SLL {
        let (head, packet) = take::<16>(packet)?;
        let word = |at: usize| u16::from_be_bytes([head[at], head[at + 1]]);
        (word(14), word(0), packet)
    } else {
        let (head, packet) = take::<20>(packet)?;
        let kind = u16::from_be_bytes([head[0], head[1]]);
        (kind, u16::from(head[10]), packet)
    };
    if kind < ETHERTYPE_MIN {
        return Err(format!("protocol {kind:#06x} of the link's header is no EtherType"));
    }
    Ok(EthernetFrame {
        is_sent: match packet_type {
            SLL_TO_US => Some(false),
            SLL_FROM_US => Some(true),
            _ => None,
        },
        ..make_ethernet(kind, packet)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const V4: [u8; 3] = [0x45, 1, 2];
    const V6: [u8; 3] = [0x60, 1, 2];

    fn find_frame(link: u32, packet: &[u8]) -> (u16, usize) {
        let frame = ethernet(link, packet).expect("a frame");
        assert!(frame.is_made && frame.bytes[..12] == [0; 12]);
        let kind = u16::from_be_bytes([frame.bytes[12], frame.bytes[13]]);
        (kind, frame.bytes.len() - 14)
    }

    #[test]
    fn ethernet_stays_as_it_is() {
        let frame = ethernet(ETHERNET, &[7; 14]).expect("a frame");
        assert_eq!((frame.bytes, frame.is_made), (vec![7; 14], false));
        let short = ethernet(ETHERNET, &[7; 13]).unwrap_err();
        assert!(short.contains("13 bytes"), "{short}");
    }

    #[test]
    fn raw_ip_has_its_version() {
        for link in [12, 14, 101] {
            assert_eq!(find_frame(link, &V4), (0x0800, 3));
            assert_eq!(find_frame(link, &V6), (0x86dd, 3));
            assert!(ethernet(link, &[0x50]).is_err_and(|why| why.contains("version 5")));
            assert!(ethernet(link, &[]).is_err());
        }
        assert_eq!(find_frame(228, &V4), (0x0800, 3));
        assert_eq!(find_frame(229, &V6), (0x86dd, 3));
    }

    #[test]
    fn null_link_has_either_byte_order() {
        let packet = |family: [u8; 4]| [&family[..], &V4].concat();
        for family in [10, 23, 24, 28, 30] {
            for bytes in [u32::to_be_bytes(family), u32::to_le_bytes(family)] {
                assert_eq!(find_frame(NULL, &packet(bytes)), (0x86dd, 3));
            }
        }
        assert_eq!(find_frame(NULL, &packet([2, 0, 0, 0])), (0x0800, 3));
        assert_eq!(find_frame(NULL, &packet([0, 0, 0, 2])), (0x0800, 3));
        assert_eq!(find_frame(LOOP, &packet([0, 0, 0, 2])), (0x0800, 3));
        // Loopback has one byte order.
        assert!(ethernet(LOOP, &packet([2, 0, 0, 0])).is_err());
        assert!(ethernet(NULL, &packet([0, 0, 0, 7])).is_err_and(|why| why.contains("family 7")));
        assert!(ethernet(NULL, &[0, 0, 0]).is_err());
    }

    #[test]
    fn cooked_packets_say_who_sent_them() {
        for (link, header, kind_at, type_at) in [(SLL, 16, 14, 1), (SLL2, 20, 0, 10)] {
            for (packet_type, is_sent) in [(0, Some(false)), (3, None), (4, Some(true))] {
                let mut packet = vec![0; header];
                packet[kind_at..kind_at + 2].copy_from_slice(&[0x86, 0xdd]);
                packet[type_at] = packet_type;
                packet.extend(V6);
                assert_eq!(find_frame(link, &packet), (0x86dd, 3));
                let frame = ethernet(link, &packet).expect("a frame");
                assert_eq!(frame.is_sent, is_sent);
                packet[kind_at..kind_at + 2].copy_from_slice(&[0, 4]);
                assert!(ethernet(link, &packet).is_err_and(|why| why.contains("0x0004")));
                assert!(ethernet(link, &packet[..header - 1]).is_err());
            }
        }
        assert!(ethernet(127, &V4).is_err_and(|why| why.contains("link type 127")));
    }
}
