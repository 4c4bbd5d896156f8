//! Makes frames: whole TCP and UDP packets with right checksums, and ways to spoil them.
//!
//! It follows the RFCs, not the card: Ethernet II, IEEE 802.1Q, RFC 791, RFC 8200, RFC 9293, RFC
//! 768.

use golden::checksum::{fold, pseudo_header, sum};

/// IP addresses of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addresses {
    /// Source and destination.
    V4([u8; 4], [u8; 4]),
    /// Source and destination.
    V6([u8; 16], [u8; 16]),
}

/// The transport header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Layer4 {
    /// TCP.
    Tcp {
        /// Sequence number.
        sequence: u32,
        /// Acknowledgement number.
        acknowledgement: u32,
        /// Flags.
        flags: u8,
        /// Options, a multiple of 4 bytes, up to 40.
        options: Vec<u8>,
    },
    /// UDP.
    Udp {
        /// Leave the checksum zero.
        no_checksum: bool,
    },
}

/// One packet to make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PacketSpec {
    /// VLAN tags, outermost first, up to two.
    pub tags: Vec<u16>,
    /// Addresses.
    pub addresses: Addresses,
    /// IPv4 options, a multiple of 4 bytes, up to 40; ignored for IPv6.
    pub ip_options: Vec<u8>,
    /// Source and destination port.
    pub ports: (u16, u16),
    /// Transport.
    pub layer4: Layer4,
    /// Payload.
    pub payload: Vec<u8>,
}

/// Timestamp option (RFC 7323), after two no-operations as padding.
pub fn timestamp_option(value: u32, echo: u32) -> Vec<u8> {
    let mut option = vec![1, 1, 8, 10];
    option.extend(value.to_be_bytes());
    option.extend(echo.to_be_bytes());
    option
}

/// Types of VLAN tags: customer, service.
pub const TAG_TYPES: [[u8; 2]; 2] = [[0x81, 0x00], [0x88, 0xa8]];

/// Gives the tags of a frame other types than [`PacketSpec::frame`], which follows IEEE 802.1Q:
/// the outermost that of the first of `types`, a number in [`TAG_TYPES`], and so on.
pub fn set_tag_types(frame: &mut [u8], types: &[usize]) {
    for (tag, number) in types.iter().enumerate() {
        let at = 12 + 4 * tag;
        frame[at..at + 2].copy_from_slice(&TAG_TYPES[*number]);
    }
}

impl PacketSpec {
    /// A TCP packet without tags and options: ports of source and destination, sequence and
    /// acknowledgement number.
    pub fn tcp(
        addresses: Addresses,
        ports: (u16, u16),
        (sequence, acknowledgement): (u32, u32),
        flags: u8,
        payload: Vec<u8>,
    ) -> Self {
        Self {
            tags: Vec::new(),
            addresses,
            ip_options: Vec::new(),
            ports,
            layer4: Layer4::Tcp { sequence, acknowledgement, flags, options: Vec::new() },
            payload,
        }
    }

    /// The frame without FCS, padded with `padding` to the shortest length.
    pub fn frame(&self, padding: u8) -> Vec<u8> {
        let mut frame = vec![0x02, 0, 0, 0, 0, 1, 0x02, 0, 0, 0, 0, 2];
        for (number, tag) in self.tags.iter().enumerate() {
            let outer = number == 0 && self.tags.len() == 2;
            frame.extend(if outer { [0x88, 0xa8] } else { [0x81, 0x00] });
            frame.extend(tag.to_be_bytes());
        }
        let layer4 = self.layer4();
        match self.addresses {
            Addresses::V4(source, destination) => {
                frame.extend([0x08, 0x00]);
                frame.extend(self.ipv4_header(source, destination, layer4.len()));
            }
            Addresses::V6(source, destination) => {
                frame.extend([0x86, 0xdd, 0x60, 0, 0, 0]);
                frame.extend((layer4.len() as u16).to_be_bytes());
                frame.extend([self.protocol(), 64]);
                frame.extend(source);
                frame.extend(destination);
            }
        }
        frame.extend(layer4);
        let shortest = frame.len().max(60);
        frame.resize(shortest, padding);
        frame
    }

    fn protocol(&self) -> u8 {
        match self.layer4 {
            Layer4::Tcp { .. } => 6,
            Layer4::Udp { .. } => 17,
        }
    }

    fn ipv4_header(&self, source: [u8; 4], destination: [u8; 4], layer4_bytes: usize) -> Vec<u8> {
        let header_bytes = 20 + self.ip_options.len();
        let total = (header_bytes + layer4_bytes) as u16;
        let mut header = vec![0x40 | (header_bytes / 4) as u8, 0];
        header.extend(total.to_be_bytes());
        header.extend([0x12, 0x34, 0x40, 0, 64, self.protocol(), 0, 0]);
        header.extend(source);
        header.extend(destination);
        header.extend(&self.ip_options);
        let checksum = !fold(sum(&header));
        header[10..12].copy_from_slice(&checksum.to_be_bytes());
        header
    }

    fn layer4(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.extend(self.ports.0.to_be_bytes());
        bytes.extend(self.ports.1.to_be_bytes());
        let checksum_at = match &self.layer4 {
            Layer4::Tcp { sequence, acknowledgement, flags, options } => {
                bytes.extend(sequence.to_be_bytes());
                bytes.extend(acknowledgement.to_be_bytes());
                bytes.extend([((20 + options.len()) / 4 * 16) as u8, *flags]);
                bytes.extend([0x20, 0, 0, 0, 0, 0]);
                bytes.extend(options);
                16
            }
            Layer4::Udp { .. } => {
                bytes.extend(((8 + self.payload.len()) as u16).to_be_bytes());
                bytes.extend([0, 0]);
                6
            }
        };
        bytes.extend(&self.payload);
        if self.layer4 == (Layer4::Udp { no_checksum: true }) {
            return bytes;
        }
        let addresses = match self.addresses {
            Addresses::V4(source, destination) => [&source[..], &destination[..]].concat(),
            Addresses::V6(source, destination) => [&source[..], &destination[..]].concat(),
        };
        let total = pseudo_header(&addresses, self.protocol(), bytes.len()) + sum(&bytes);
        let checksum = match !fold(total) {
            0 if self.protocol() == 17 => 0xffff,
            checksum => checksum,
        };
        bytes[checksum_at..checksum_at + 2].copy_from_slice(&checksum.to_be_bytes());
        bytes
    }
}
