//! Packs send descriptors in the layout of [`abi::send_descriptor`].

use abi::config::{METADATA_BYTES, SLOT_BYTES, SLOT_HEADER_BYTES};
use abi::field::Field;
use abi::send_descriptor as field;

use arrayvec::ArrayVec;

use super::commands::FlowName;
use super::packet::TcpHeader;

/// Longest header or raw frame that a descriptor carries, bytes.
pub const INLINE_BYTES_MAX: usize = 2 * SLOT_BYTES - METADATA_BYTES;

/// A send descriptor of one or two slots.
pub type Descriptor = ArrayVec<u8, { 2 * SLOT_BYTES }>;

/// Payload of a zero-copy send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Payload {
    /// The flow whose list holds it.
    pub name: FlowName,
    /// Sequence number of its first byte.
    pub position: u32,
    /// Length.
    pub bytes: u32,
    /// Largest payload of a frame.
    pub mss_bytes: u16,
    /// List index of the segment that holds the first byte.
    pub segment_index: u16,
}

fn pack(inline: &[u8], layers: &[(Field, u64)], fields: &[(Field, u64)]) -> Descriptor {
    assert!(
        inline.len() <= INLINE_BYTES_MAX,
        "{} inline bytes",
        inline.len()
    );
    let two_slots = inline.len() > SLOT_HEADER_BYTES;
    let bytes = if two_slots {
        2 * SLOT_BYTES
    } else {
        SLOT_BYTES
    };
    let mut descriptor = Descriptor::from([0; 2 * SLOT_BYTES]);
    descriptor.truncate(bytes);
    field::TWO_SLOTS.set(&mut descriptor, two_slots.into());
    field::HEADER_BYTES.set(&mut descriptor, inline.len() as u64);
    for (field, value) in layers.iter().chain(fields) {
        field.set(&mut descriptor, *value);
    }
    descriptor[METADATA_BYTES..METADATA_BYTES + inline.len()].copy_from_slice(inline);
    descriptor
}

/// Offsets and protocols of the layers of a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layers {
    /// Offset of the IP header.
    pub l3_offset: usize,
    /// Offset of the transport header.
    pub l4_offset: usize,
    /// True for IPv6, false for IPv4.
    pub ipv6: bool,
    /// True for UDP, false for TCP.
    pub udp: bool,
}

impl From<&TcpHeader> for Layers {
    fn from(header: &TcpHeader) -> Self {
        Self {
            l3_offset: header.l3_offset,
            l4_offset: header.l4_offset,
            ipv6: header.ipv6,
            udp: false,
        }
    }
}

fn checksum_fields(layers: Layers) -> [(Field, u64); 6] {
    [
        (field::IP_CHECKSUM, u64::from(!layers.ipv6)),
        (field::L4_CHECKSUM, 1),
        (field::IPV6, layers.ipv6.into()),
        (field::UDP, layers.udp.into()),
        (field::L3_OFFSET, layers.l3_offset as u64),
        (field::L4_OFFSET, layers.l4_offset as u64),
    ]
}

/// A frame that is sent unchanged.
pub fn raw(frame: &[u8]) -> Descriptor {
    pack(frame, &[], &[(field::KIND, field::KIND_RAW.into())])
}

/// A packet without payload; the card inserts its checksums.
fn header(packet: &[u8], layers: Layers) -> Descriptor {
    let kind = [(field::KIND, field::KIND_RAW.into())];
    pack(packet, &checksum_fields(layers), &kind)
}

/// A packet whose payload the card fetches.
fn send(packet: &[u8], layers: Layers, payload: &Payload) -> Descriptor {
    let fields = [
        (field::KIND, field::KIND_SEND.into()),
        (field::FLOW, payload.name.flow.into()),
        (field::GENERATION, payload.name.generation.into()),
        (field::PAYLOAD_BYTES, payload.bytes.into()),
        (field::MSS_BYTES, payload.mss_bytes.into()),
        (field::POSITION, payload.position.into()),
        (field::SEGMENT_INDEX, payload.segment_index.into()),
    ];
    pack(packet, &checksum_fields(layers), &fields)
}

/// A TCP packet without payload; the card inserts its checksums.
pub fn tcp_header(packet: &[u8], parsed: &TcpHeader) -> Descriptor {
    header(packet, parsed.into())
}

/// A TCP packet whose payload the card fetches.
pub fn tcp_send(packet: &[u8], parsed: &TcpHeader, payload: &Payload) -> Descriptor {
    send(packet, parsed.into(), payload)
}

/// A UDP packet without payload of the flow's stream; the card inserts its checksums.
pub fn udp_header(packet: &[u8], layers: Layers) -> Descriptor {
    header(
        packet,
        Layers {
            udp: true,
            ..layers
        },
    )
}

/// A UDP packet whose payload the card fetches.
pub fn udp_send(packet: &[u8], layers: Layers, payload: &Payload) -> Descriptor {
    send(
        packet,
        Layers {
            udp: true,
            ..layers
        },
        payload,
    )
}
