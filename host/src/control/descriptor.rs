//! Packs send descriptors in the layout of [`abi::send_descriptor`].

use abi::config::{METADATA_BYTES, SLOT_BYTES, SLOT_HEADER_BYTES};
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

/// A descriptor of a kind with its inline bytes. Each field is set by name, so that the compiler
/// knows its place.
#[inline]
fn pack(inline: &[u8], kind: u8) -> Descriptor {
    assert!(
        inline.len() <= INLINE_BYTES_MAX,
        "{} inline bytes",
        inline.len()
    );
    let two_slots = inline.len() > SLOT_HEADER_BYTES;
    let mut descriptor = Descriptor::from([0; 2 * SLOT_BYTES]);
    if !two_slots {
        descriptor.truncate(SLOT_BYTES);
    }
    field::KIND.set(&mut descriptor, kind.into());
    field::TWO_SLOTS.set(&mut descriptor, two_slots.into());
    field::HEADER_BYTES.set(&mut descriptor, inline.len() as u64);
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

#[inline]
fn set_layers(descriptor: &mut Descriptor, layers: Layers) {
    field::IP_CHECKSUM.set(descriptor, u64::from(!layers.ipv6));
    field::L4_CHECKSUM.set(descriptor, 1);
    field::IPV6.set(descriptor, layers.ipv6.into());
    field::UDP.set(descriptor, layers.udp.into());
    field::L3_OFFSET.set(descriptor, layers.l3_offset as u64);
    field::L4_OFFSET.set(descriptor, layers.l4_offset as u64);
}

/// A frame that is sent unchanged.
pub fn raw(frame: &[u8]) -> Descriptor {
    pack(frame, field::KIND_RAW)
}

/// A packet without payload; the card inserts its checksums.
fn header(packet: &[u8], layers: Layers) -> Descriptor {
    let mut descriptor = pack(packet, field::KIND_RAW);
    set_layers(&mut descriptor, layers);
    descriptor
}

/// A packet whose payload the card fetches.
fn send(packet: &[u8], layers: Layers, payload: &Payload) -> Descriptor {
    let mut descriptor = pack(packet, field::KIND_SEND);
    set_layers(&mut descriptor, layers);
    field::FLOW.set(&mut descriptor, payload.name.flow.into());
    field::GENERATION.set(&mut descriptor, payload.name.generation.into());
    field::PAYLOAD_BYTES.set(&mut descriptor, payload.bytes.into());
    field::MSS_BYTES.set(&mut descriptor, payload.mss_bytes.into());
    field::POSITION.set(&mut descriptor, payload.position.into());
    field::SEGMENT_INDEX.set(&mut descriptor, payload.segment_index.into());
    descriptor
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
