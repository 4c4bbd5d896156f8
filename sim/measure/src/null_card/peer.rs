//! The far end of one connection: what it has sent, was offered and acknowledged.

use abi::flow_key::{self, KEY_BYTES};
use host::headers::layout::{ACK, SYN};

use crate::null_protocol::header::{
    addresses, set_numbers, set_payload, syn, tcp_header, HEADER_BYTES, WINDOW_SCALE,
};

/// Bytes of a unit of the window: it may be off by less.
pub(super) const WINDOW_UNIT: u32 = 1 << WINDOW_SCALE;

/// First sequence number of a peer: positions wrap after 64 KiB.
const SEQUENCE: u32 = 0xffff_0000;
const IP: usize = 14;
const TCP: usize = 34;

/// Addresses and ports of a header, from its sender to its receiver.
pub(super) type Tuple = [u8; 12];

/// The addresses of a header.
pub(super) fn tuple(header: &[u8]) -> Tuple {
    let mut tuple = [0; 12];
    tuple.copy_from_slice(&header[IP + 12..TCP + 4]);
    tuple
}

/// A header back to the sender of one, all numbers 0.
pub(super) fn answer(header: &[u8]) -> [u8; HEADER_BYTES] {
    let (from, to) = addresses(header);
    let mut links = [0; 12];
    links[..6].copy_from_slice(&header[6..12]);
    links[6..].copy_from_slice(&header[..6]);
    tcp_header(links, to, from)
}

/// A peer. See the head of this file.
pub(super) struct Peer {
    header: [u8; HEADER_BYTES],
    /// Key of its packets.
    pub key: [u8; KEY_BYTES],
    /// Its flow on the card.
    pub flow: Option<u16>,
    /// The next byte that it makes ready, and the next one that it sends.
    pub next: u32,
    pub published: u32,
    /// What the host has acknowledged.
    pub acknowledged: u32,
    /// Right edge of the window that the host has offered.
    pub edge: u32,
    /// The next byte that the host sends.
    pub expected: u32,
    /// Payload bytes that it has sent.
    pub offered: u64,
}

impl Peer {
    /// The peer that a SYN is for.
    pub fn new(header: &[u8], sequence: u32) -> Self {
        let (host, peer) = addresses(header);
        let mut key = [0; KEY_BYTES];
        for (range, address) in [(flow_key::REMOTE_ADDRESS, peer), (flow_key::LOCAL_ADDRESS, host)]
        {
            key[range.start..range.start + 4].copy_from_slice(&address.ip().octets());
        }
        key[flow_key::REMOTE_PORT].copy_from_slice(&peer.port().to_be_bytes());
        key[flow_key::LOCAL_PORT].copy_from_slice(&host.port().to_be_bytes());
        key[flow_key::PROTOCOL] = 6;
        key[flow_key::FAMILY_PROFILE] = 4;
        let next = SEQUENCE.wrapping_add(1);
        Self {
            header: answer(header),
            key,
            flow: None,
            next,
            published: next,
            acknowledged: next,
            edge: next,
            expected: sequence.wrapping_add(1),
            offered: 0,
        }
    }

    /// Its answer to the SYN.
    pub fn syn_ack(&self) -> Vec<u8> {
        let mut bytes = syn(&self.header, SYN | ACK);
        set_numbers(&mut bytes, SEQUENCE, self.expected);
        bytes.to_vec()
    }

    /// The header of its next packet, which acknowledges all that the host has sent.
    pub fn packet(&mut self, payload_bytes: u32) -> &[u8; HEADER_BYTES] {
        set_numbers(&mut self.header, self.next, self.expected);
        set_payload(&mut self.header, payload_bytes);
        self.next = self.next.wrapping_add(payload_bytes);
        self.offered += u64::from(payload_bytes);
        &self.header
    }
}
