//! A send descriptor: one or two slots of an owner's send ring.
//!
//! ```text
//! slot 0: | metadata 32 B | header bytes 0..96 |   slot 1 (if two_slots): | header bytes 96.. |
//! ```
//! The header is a template as on the wire. The card cuts payload longer than `mss_bytes` into
//! frames (TSO). It sets sequence number, IPv4 id, lengths, FIN and PSH (last frame only), CWR
//! (first frame only) and checksums of each.
//!
//! Source: docs/specification.md, Descriptors; Segmentation.

use crate::config::FRAME_PAYLOAD_BYTES_MAX;
use crate::field::Field;

/// Kind: 1 zero-copy send, 2 raw frame.
pub const KIND: Field =
    Field::new("kind", 0, 8, "1: send from the flow's list; 2: raw frame, all inline");
/// The descriptor takes two adjacent slots.
pub const TWO_SLOTS: Field =
    Field::new("two_slots", 8, 1, "1: the header goes on in the next slot");
/// Insert the IPv4 header checksum.
pub const IP_CHECKSUM: Field =
    Field::new("ip_checksum", 9, 1, "1: insert the IPv4 header checksum");
/// Insert the TCP or UDP checksum.
pub const L4_CHECKSUM: Field =
    Field::new("l4_checksum", 10, 1, "1: insert the TCP or UDP checksum");
/// The packet is IPv6.
pub const IPV6: Field = Field::new("ipv6", 11, 1, "1: IPv6, 0: IPv4 (with a checksum flag or TSO)");
/// The transport is UDP.
pub const UDP: Field = Field::new("udp", 12, 1, "1: UDP, 0: TCP (with l4_checksum)");
/// Flow id.
pub const FLOW: Field = Field::new("flow", 16, 16, "flow id (kind 1)");
/// Header length.
pub const HEADER_BYTES: Field =
    Field::new("header_bytes", 32, 8, "bytes of the inline header or raw frame, 14 to 224");
/// Offset of the IP header.
pub const L3_OFFSET: Field = Field::new("l3_offset", 40, 8, "byte offset of the IP header");
/// Offset of the L4 header.
pub const L4_OFFSET: Field = Field::new("l4_offset", 48, 8, "byte offset of the L4 header");
/// Flow generation.
pub const GENERATION: Field = Field::new("generation", 56, 8, "generation of the flow (kind 1)");
/// Payload length.
pub const PAYLOAD_BYTES: Field =
    Field::new("payload_bytes", 64, 18, "payload bytes to fetch from the list, 0 to 262143");
/// Largest payload of one frame, at most [`FRAME_PAYLOAD_BYTES_MAX`].
pub const MSS_BYTES: Field = Field::new(
    "mss_bytes",
    82,
    14,
    "largest payload of one frame, 1 to 9,162; needed with payload",
);
/// Stream position of the first payload byte.
pub const POSITION: Field =
    Field::new("position", 96, 32, "stream position of the first payload byte");
/// List index of the segment that holds the first byte.
pub const SEGMENT_INDEX: Field =
    Field::new("segment_index", 128, 16, "list index of the segment that holds the first byte");

/// All fields, for the manual.
pub const FIELDS: &[Field] = &[
    KIND,
    TWO_SLOTS,
    IP_CHECKSUM,
    L4_CHECKSUM,
    IPV6,
    UDP,
    FLOW,
    HEADER_BYTES,
    L3_OFFSET,
    L4_OFFSET,
    GENERATION,
    PAYLOAD_BYTES,
    MSS_BYTES,
    POSITION,
    SEGMENT_INDEX,
];

const _: () = assert!(FRAME_PAYLOAD_BYTES_MAX == 9_162, "the text of `mss_bytes`");

/// [`KIND`] of a zero-copy send.
pub const KIND_SEND: u8 = 1;
/// [`KIND`] of a raw frame.
pub const KIND_RAW: u8 = 2;
