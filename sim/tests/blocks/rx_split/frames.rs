//! Frames as a sender would build them, right to the last checksum, and ways to spoil them.

use golden::checksum::{fold, pseudo_header, sum};
use rand::rngs::SmallRng;
use rand::Rng;

/// What a frame is to carry.
#[derive(Clone, Debug)]
pub struct Frame {
    /// VLAN tags, 0 to 3; three are one too many.
    pub tags: usize,
    /// Types of the tags, outermost first: a bit for each, 0x8100 where it is set, else 0x88a8.
    pub tag_types: u8,
    /// IPv6 instead of IPv4.
    pub ipv6: bool,
    /// 32-bit words of IPv4 options.
    pub ip_options: usize,
    /// Number that tells addresses and source port of one connection from another.
    pub connection: u16,
    /// IP protocol.
    pub protocol: u8,
    /// Destination port.
    pub port: u16,
    /// TCP sequence number.
    pub sequence: u32,
    /// TCP acknowledgement number.
    pub acknowledgement: u32,
    /// TCP flags.
    pub flags: u8,
    /// TCP options, a multiple of four bytes.
    pub options: Vec<u8>,
    /// Bytes behind the transport header.
    pub payload: Vec<u8>,
    /// Leave the UDP checksum out.
    pub no_checksum: bool,
    /// Ethernet padding beyond the shortest frame.
    pub padding: usize,
    /// IPv4 fragment field, or any nonzero value for an IPv6 fragment header.
    pub fragment: u16,
    /// Traffic class, with the ECN bits.
    pub class: u8,
    /// IPv6 flow label, 16 bits of it.
    pub label: u16,
    /// IPv4 identification.
    pub identification: u16,
    /// TTL or hop limit.
    pub hops: u8,
    /// TCP window.
    pub window: u16,
    /// Reserved bits of TCP.
    pub reserved: u8,
    /// TCP urgent pointer.
    pub urgent: u16,
    /// Last byte of the sender's link address.
    pub link: u8,
}

impl Default for Frame {
    fn default() -> Frame {
        Frame {
            tags: 0,
            tag_types: 0b10,
            ipv6: false,
            ip_options: 0,
            connection: 0,
            protocol: 6,
            port: 5001,
            sequence: 0,
            acknowledgement: 0,
            flags: 0x10,
            options: Vec::new(),
            payload: Vec::new(),
            no_checksum: false,
            padding: 0,
            fragment: 0,
            class: 0,
            label: 0,
            identification: 0x1234,
            hops: 64,
            window: 0x2000,
            reserved: 0,
            urgent: 0,
            link: 2,
        }
    }
}

impl Frame {
    fn transport(&self) -> Vec<u8> {
        let mut l4 = Vec::new();
        l4.extend((40_000 + self.connection).to_be_bytes());
        l4.extend(self.port.to_be_bytes());
        if self.protocol == 6 {
            l4.extend(self.sequence.to_be_bytes());
            l4.extend(self.acknowledgement.to_be_bytes());
            l4.push(((5 + self.options.len() / 4) << 4) as u8 | self.reserved);
            l4.push(self.flags);
            l4.extend(self.window.to_be_bytes());
            l4.extend([0, 0]);
            l4.extend(self.urgent.to_be_bytes());
            l4.extend(&self.options);
        } else {
            l4.extend(((8 + self.payload.len()) as u16).to_be_bytes());
            l4.extend([0, 0]);
        }
        l4.extend(&self.payload);
        l4
    }

    fn addresses(&self) -> Vec<u8> {
        let half = if self.ipv6 { 16 } else { 4 };
        let mut addresses = vec![0xfd; 2 * half];
        addresses[half - 2..half].copy_from_slice(&self.connection.to_be_bytes());
        addresses[half - 3] = 10;
        addresses[2 * half - 1] = 1;
        addresses
    }

    /// The frame's bytes, without FCS.
    pub fn build(&self) -> Vec<u8> {
        let mut l4 = self.transport();
        let addresses = self.addresses();
        let total = pseudo_header(&addresses, self.protocol, l4.len()) + sum(&l4);
        let checksum = !fold(total);
        if self.protocol == 6 {
            l4[16..18].copy_from_slice(&checksum.to_be_bytes());
        } else if self.protocol == 17 && !self.no_checksum {
            let checksum = if checksum == 0 { 0xffff } else { checksum };
            l4[6..8].copy_from_slice(&checksum.to_be_bytes());
        }
        let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, self.link];
        for tag in 0..self.tags {
            let is_customer = self.tag_types >> tag & 1 == 1;
            frame.extend([[0x88, 0xa8], [0x81, 0]][usize::from(is_customer)]);
            frame.extend([0x20, tag as u8]);
        }
        if self.ipv6 {
            self.ipv6_header(&mut frame, &addresses, &l4);
        } else {
            self.ipv4_header(&mut frame, &addresses, &l4);
        }
        frame.extend(l4);
        frame.resize(frame.len() + self.padding, 0xa5);
        frame.resize(frame.len().max(60), 0x5a);
        frame
    }

    fn ipv4_header(&self, frame: &mut Vec<u8>, addresses: &[u8], l4: &[u8]) {
        frame.extend([8, 0]);
        let words = 5 + self.ip_options;
        let mut ip = vec![0x40 | words as u8, self.class];
        ip.extend(((4 * words + l4.len()) as u16).to_be_bytes());
        ip.extend(self.identification.to_be_bytes());
        ip.extend(self.fragment.to_be_bytes());
        ip.extend([self.hops, self.protocol, 0, 0]);
        ip.extend(addresses);
        ip.resize(4 * words, 1);
        let checksum = !fold(sum(&ip));
        ip[10..12].copy_from_slice(&checksum.to_be_bytes());
        frame.extend(ip);
    }

    fn ipv6_header(&self, frame: &mut Vec<u8>, addresses: &[u8], l4: &[u8]) {
        frame.extend([0x86, 0xdd, 0x60 | self.class >> 4, self.class << 4]);
        frame.extend(self.label.to_be_bytes());
        let extra = if self.fragment == 0 { 0 } else { 8 };
        frame.extend(((l4.len() + extra) as u16).to_be_bytes());
        frame.extend([if extra == 0 { self.protocol } else { 44 }, self.hops]);
        frame.extend(addresses);
        if extra != 0 {
            frame.extend([self.protocol, 0, 0, 1, 0, 0, 0, 7]);
        }
    }
}

/// Payload of some length with random bytes.
pub fn payload(random: &mut SmallRng, bytes: usize) -> Vec<u8> {
    let mut payload = vec![0; bytes];
    random.fill(&mut payload[..]);
    payload
}

/// TCP options: none, the usual timestamp, a hidden one, broken ones.
pub fn options(random: &mut SmallRng, timestamp: u32) -> Vec<u8> {
    let mut stamp = vec![8, 10];
    stamp.extend(timestamp.to_be_bytes());
    stamp.extend([0; 4]);
    let mut options = match random.random_range(0..10) {
        0 | 1 => Vec::new(),
        2..=4 => [vec![1, 1], stamp].concat(),
        5 => [vec![5, 10, 1, 2, 3, 4, 5, 6, 7, 8, 3, 3, 7, 1], stamp].concat(),
        6 => [vec![2, 4, 5, 0xb4, 0], stamp].concat(),
        // A length that does not parse, just before the stamp or some bytes before it.
        7 => [vec![5, random.random_range(0..3)], stamp].concat(),
        8 => [vec![1, 5, random.random_range(0..6), 1], stamp].concat(),
        _ => vec![1, 9, 40, 8],
    };
    options.resize(options.len().next_multiple_of(4), 0);
    options
}
