//! The messages between the stages of this crate.

use stream::prelude::*;

/// Where the layers of a frame lie and which checksums are to be inserted.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct HeaderLayout {
    /// Bytes of the header template, or of the whole raw frame.
    pub header_bytes: Bits<8>,
    /// Byte offset of the IP header.
    pub l3_offset: Bits<8>,
    /// Byte offset of the TCP or UDP header.
    pub l4_offset: Bits<8>,
    /// Insert the IPv4 header checksum.
    pub ip_checksum: Bit,
    /// Insert the TCP or UDP checksum.
    pub l4_checksum: Bit,
    /// IPv6, else IPv4.
    pub ipv6: Bit,
    /// UDP, else TCP.
    pub udp: Bit,
}

/// A descriptor taken apart and checked (descriptor to flow).
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct SendFields {
    /// Owner of the send ring.
    pub owner: Bits<8>,
    /// The descriptor is a raw frame: nothing is looked up.
    pub raw: Bit,
    /// The descriptor could not be read.
    pub unread: Bit,
    /// The descriptor contradicts itself or a limit, or `link_down` is set.
    pub malformed: Bit,
    /// The descriptor is well formed, but the wire is down and sends are to fail.
    pub link_down: Bit,
    /// Layers and insertions.
    pub layout: HeaderLayout,
    /// Flow id.
    pub flow: Bits<16>,
    /// Generation of the flow.
    pub generation: Bits<8>,
    /// Beats of the header in the header buffer, 1 to 4.
    pub template_beats: Bits<3>,
    /// Payload bytes wanted; 0 for a raw frame, and for a descriptor that is unread or malformed.
    pub payload_bytes: Bits<18>,
    /// Largest payload of one frame.
    pub mss_bytes: Bits<14>,
    /// Stream position of the first payload byte.
    pub position: Bits<32>,
    /// List index to start at.
    pub segment_index: Bits<16>,
}

/// What a header template holds in the fields that segmentation counts up (descriptor to segment),
/// one message for each descriptor.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct HeaderNumbers {
    /// TCP flags.
    pub flags: Bits<8>,
    /// TCP sequence number.
    pub sequence: Bits<32>,
    /// IPv4 identification.
    pub identification: Bits<16>,
}

/// What becomes of a descriptor (planner to segment), in ring order.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct SendPlan {
    /// Nothing is sent; only `template_beats` of the other fields has a meaning.
    pub refused: Bit,
    /// Beats of the header in the header buffer, 1 to 4.
    pub template_beats: Bits<3>,
    /// Layers and insertions.
    pub layout: HeaderLayout,
    /// The payload takes more than one frame.
    pub cut: Bit,
    /// Sequence number and lengths are set in each header, since there is payload.
    pub rewrite: Bit,
    /// Payload bytes after the trim.
    pub payload_bytes: Bits<18>,
    /// Bytes cut off below the send floor.
    pub trim_bytes: Bits<18>,
    /// Largest payload of one frame.
    pub mss_bytes: Bits<14>,
}

/// What the look-up decided on a descriptor, kept until it is finished (planner to report).
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct SendRecord {
    /// The descriptor is refused: the event below is due.
    pub refused: Bit,
    /// The event; its error is undefined unless the descriptor is refused.
    pub event_message: SendEvent,
}

/// A granted piece of payload in bus memory (gather to jobs).
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct SendPiece {
    /// Bus address of the first byte.
    pub address: Bits<64>,
    /// Bytes of the piece, 1 to 4,096; they do not cross a multiple of 4,096.
    pub bytes: Bits<13>,
}

/// One frame to put together (segment to merge). Its header beats are a stream of their own.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct FrameCut {
    /// The descriptor is refused: there is no frame, and this message is its end.
    pub refused: Bit,
    /// Last frame of its descriptor, or the one message of a refused descriptor.
    pub descriptor_end: Bit,
    /// Payload bytes of this frame.
    pub payload_bytes: Bits<14>,
    /// Layers and insertions.
    pub layout: HeaderLayout,
}

/// Length and verdict of a read whose data are complete (payload to merge).
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct ReadFacts {
    /// Full beats before the last beat of the read data.
    pub beats: Bits<3>,
    /// Bytes of the last beat of the read data, 1 to 64.
    pub last_bytes: Bits<7>,
    /// The read failed.
    pub failed: Bit,
}

/// Which bytes to append to the frame under construction (merge_item to merge).
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct ItemCut {
    /// The bytes are all of a header beat; otherwise they are of the read data's current beat.
    pub in_header: Bit,
    /// First byte of the beat to take.
    pub start: Bits<6>,
    /// Bytes to take, 1 to 64 - start.
    pub byte_count: Bits<7>,
    /// The bytes are the last of the read data's current beat.
    pub read_beat_done: Bit,
    /// The frame ends with these bytes.
    pub last: Bit,
    /// With `last`: some payload of the frame could not be read.
    pub abort: Bit,
}

/// Bytes to append to the frame under construction (merge to align).
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct SendItem {
    /// A beat that holds the bytes.
    pub data: Bits<512>,
    /// First byte of the beat to take.
    pub start: Bits<6>,
    /// Bytes to take, 1 to 64 - start.
    pub byte_count: Bits<7>,
    /// The frame ends with this item.
    pub last: Bit,
    /// With `last`: some payload of the frame could not be read.
    pub abort: Bit,
}

/// The checksums of a frame (checksum_fold to checksum_insert).
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct ChecksumPatch {
    /// Insert `ip_value` at `ip_offset`.
    pub ip_enable: Bit,
    /// Byte offset of the IPv4 header checksum.
    pub ip_offset: Bits<8>,
    /// Bytes of the IPv4 header checksum, first one low.
    pub ip_value: Bits<16>,
    /// Insert `l4_value` at `l4_offset`.
    pub l4_enable: Bit,
    /// Byte offset of the TCP or UDP checksum.
    pub l4_offset: Bits<8>,
    /// Bytes of the TCP or UDP checksum, first one low.
    pub l4_value: Bits<16>,
}

/// What was decided on a descriptor (flow to gather to planner).
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct SendVerdict {
    /// The descriptor.
    pub fields: SendFields,
    /// Nothing is sent.
    pub refused: Bit,
    /// With `refused`: the SendError.
    pub error: SendErrorCode,
    /// Payload bytes after the trim.
    pub payload_bytes: Bits<18>,
    /// Bytes cut off below the send floor.
    pub trim_bytes: Bits<18>,
}

/// The range to send of a descriptor whose flow is known (flow to gather).
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct SendRange {
    /// What is decided so far.
    pub verdict: SendVerdict,
    /// Protection domain of the flow.
    pub domain: Bits<16>,
    /// First stream position to send.
    pub position: Bits<32>,
    /// The range has payload to find.
    pub wanted: Bit,
}

/// What of a range lies in one list entry, or the end of a range that has no such part (gather_part
/// to grant).
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct SendPart {
    /// The part has bytes; otherwise only `last` has a meaning, and it is 1.
    pub wanted: Bit,
    /// The range ends with this part.
    pub last: Bit,
    /// Region index.
    pub region: Bits<16>,
    /// Region key.
    pub region_key: Bits<16>,
    /// Protection domain of the flow.
    pub domain: Bits<16>,
    /// Byte offset in the region.
    pub offset: Bits<48>,
    /// Bytes of the part.
    pub bytes: Bits<18>,
}
