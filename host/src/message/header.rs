//! Header of a message packet, and the layers around it.
//!
//! ```text
//!   | Ethernet 14 | IPv4 20 or IPv6 40 | UDP 8 | message 8 | position 4 | bytes 4 | kind 1 | 0 3 |
//! ```
//! All numbers are big-endian. [`profile`] describes the header to the card: 20 bytes after UDP,
//! the offset of the position, and the message number as part of the flow key.
//!
//! All that is not data has the top bit of the message set, so that no flow of the card matches:
//! its payload never lands in a buffer. A control packet has the sender's incarnation in the place
//! of the message, its sequence number in that of the position, and in that of the bytes what it
//! acknowledges.

use std::net::SocketAddr;

use abi::flow_key;

use crate::headers::builder::Route;
use crate::headers::layers::Layers;
use crate::headers::layout::{network_layer, ETHERTYPE_IPV6};
use crate::headers::packet::{self, addresses};
use crate::records::profile::Profile;

/// Bytes of the header after UDP.
pub const HEADER_BYTES: usize = 20;
/// Number of the header profile that the protocol uses.
pub const PROFILE: u8 = 1;
const PROTOCOL_UDP: u8 = 17;
const UDP_BYTES: usize = 8;
const KIND_DATA: u8 = 0;
const KIND_ACKNOWLEDGE: u8 = 1;
const KIND_CONTROL: u8 = 2;
const KIND_HEARD: u8 = 3;
const KIND_PROBE: u8 = 4;
/// Numbers of messages are below this; the bit marks what is not data.
pub const MESSAGES_END: u64 = 1 << 63;

/// The header profile of the protocol on a port.
pub fn profile(port: u16) -> Profile {
    Profile { port, header_bytes: HEADER_BYTES as u8, position: (8, 4), message_key: (0, 8) }
}

/// Addresses of one end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Station {
    /// Ethernet address.
    pub mac: [u8; 6],
    /// IP address and UDP port.
    pub address: SocketAddr,
}

/// Kind of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// Payload of the message from this position on.
    Data(u32),
    /// Everything before this position has arrived.
    Acknowledge(u32),
    /// A control message with this sequence number.
    Control(u32),
    /// Acknowledges control messages, and is not answered.
    Heard,
    /// Asks for [`Meaning::Heard`]: whether the other end is still there.
    Probe,
}

/// The header of one packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Number of the message, chosen by the sender.
    pub message: u64,
    /// Bytes of the whole message.
    pub bytes: u32,
    /// Kind of the packet.
    pub meaning: Meaning,
}

impl Header {
    /// The headers of a packet with `payload_bytes` bytes of payload, and their layers. The card
    /// inserts the checksums.
    pub fn packet(&self, from: &Station, to: &Station, payload_bytes: usize) -> (Vec<u8>, Layers) {
        self.packet_with(from, to, &[], payload_bytes)
    }

    /// The same, of a packet whose first payload bytes are `content`, behind the header.
    pub fn packet_with(
        &self,
        from: &Station,
        to: &Station,
        content: &[u8],
        payload_bytes: usize,
    ) -> (Vec<u8>, Layers) {
        let is_data = matches!(self.meaning, Meaning::Data(_));
        let message = if is_data { self.message } else { self.message | MESSAGES_END };
        let (position, kind) = match self.meaning {
            Meaning::Data(position) => (position, KIND_DATA),
            Meaning::Acknowledge(position) => (position, KIND_ACKNOWLEDGE),
            Meaning::Control(sequence) => (sequence, KIND_CONTROL),
            Meaning::Heard => (0, KIND_HEARD),
            Meaning::Probe => (0, KIND_PROBE),
        };
        let mut header = vec![0; HEADER_BYTES];
        header[..8].copy_from_slice(&message.to_be_bytes());
        header[8..12].copy_from_slice(&position.to_be_bytes());
        header[12..16].copy_from_slice(&self.bytes.to_be_bytes());
        header[16] = kind;
        header.extend_from_slice(content);
        let route = Route { macs: [from.mac, to.mac], from: from.address, to: to.address };
        route.udp(&header, payload_bytes)
    }

    /// Reads a packet whose UDP header begins at `l4_offset`. Also returns the address of the
    /// sender.
    pub fn read(packet: &[u8], l4_offset: usize) -> Option<(SocketAddr, Self)> {
        let (l3_offset, ethertype) = network_layer(packet).ok()?;
        let ip = packet.get(l3_offset..)?;
        let (source, _) = addresses(ip, ethertype == ETHERTYPE_IPV6)?;
        let udp = packet.get(l4_offset..)?;
        let port = u16::from_be_bytes(*udp.first_chunk()?);
        let header: &[u8; HEADER_BYTES] = udp.get(UDP_BYTES..)?.first_chunk()?;
        let word = |at: usize| {
            let bytes = [header[at], header[at + 1], header[at + 2], header[at + 3]];
            u32::from_be_bytes(bytes)
        };
        let meaning = match header[16] {
            KIND_DATA => Meaning::Data(word(8)),
            KIND_ACKNOWLEDGE => Meaning::Acknowledge(word(8)),
            KIND_CONTROL => Meaning::Control(word(8)),
            KIND_HEARD => Meaning::Heard,
            KIND_PROBE => Meaning::Probe,
            _ => return None,
        };
        let message = u64::from(word(0)) << 32 | u64::from(word(4));
        let has_flow = message < MESSAGES_END;
        if has_flow != matches!(meaning, Meaning::Data(_)) {
            return None;
        }
        let header = Self { message: message & !MESSAGES_END, bytes: word(12), meaning };
        Some((SocketAddr::new(source, port), header))
    }
}

/// The flow-table key of a message from `remote` to `local`.
pub fn key(remote: SocketAddr, local: SocketAddr, message: u64) -> [u8; flow_key::KEY_BYTES] {
    let mut key = packet::flow_key(remote, local);
    key[flow_key::PROTOCOL] = PROTOCOL_UDP;
    key[flow_key::FAMILY_PROFILE] |= PROFILE << 4;
    key[flow_key::MESSAGE_KEY].copy_from_slice(&message.to_be_bytes());
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packet_reads_back_as_written() {
        for addresses in [["10.0.0.1:7700", "10.0.0.2:7701"], ["[fd00::1]:7700", "[fd00::2]:1"]] {
            let [from, to] = addresses
                .map(|text| Station { mac: [2, 0, 0, 0, 0, 1], address: text.parse().unwrap() });
            for meaning in
                [Meaning::Data(0x1234_5678), Meaning::Acknowledge(9), Meaning::Control(7)]
            {
                let header = Header { message: 0x0102_0304_0506_0708, bytes: 70_000, meaning };
                let (packet, layers) = header.packet(&from, &to, 1000);
                let read = Header::read(&packet, layers.l4_offset);
                assert_eq!(read, Some((from.address, header)));
                assert_eq!(Header::read(&packet[..packet.len() - 1], layers.l4_offset), None);
                let length_at = if layers.ipv6 { 18 } else { 16 };
                let length = u16::from_be_bytes([packet[length_at], packet[length_at + 1]]);
                let counted = if layers.ipv6 { layers.l4_offset } else { 14 };
                assert_eq!(usize::from(length), packet.len() + 1000 - counted);
            }
        }
    }
}
