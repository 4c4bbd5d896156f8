//! The messages between the stages of this crate.

use stream::prelude::*;

/// Where the layers of a frame lie and what is to be inserted.
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
    /// A raw frame: nothing is looked up.
    pub raw: Bit,
    /// The descriptor could not be read.
    pub unread: Bit,
    /// The descriptor contradicts itself or a limit.
    pub malformed: Bit,
    /// Layers and insertions.
    pub layout: HeaderLayout,
    /// Flow id.
    pub flow: Bits<16>,
    /// Generation of the flow.
    pub generation: Bits<8>,
    /// Beats of the header in the template store, 1 to 4.
    pub template_beats: Bits<3>,
    /// Payload bytes wanted; 0 for a raw frame and for a descriptor that is not fit.
    pub payload_bytes: Bits<18>,
    /// Largest payload of one frame.
    pub mss_bytes: Bits<14>,
    /// Stream position of the first payload byte.
    pub position: Bits<32>,
    /// List index to start at.
    pub segment_index: Bits<16>,
}

/// What a header template holds at the places that segmentation counts on from (descriptor to
/// segment), one for each descriptor.
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
    /// Nothing is sent; of the rest only `template_beats` counts.
    pub refused: Bit,
    /// Beats of the header in the template store, 1 to 4.
    pub template_beats: Bits<3>,
    /// Layers and insertions.
    pub layout: HeaderLayout,
    /// More than one frame.
    pub cut: Bit,
    /// Sequence number and lengths are set: there is payload.
    pub rewrite: Bit,
    /// Payload bytes after the trim.
    pub payload_bytes: Bits<18>,
    /// Bytes cut off below the send floor.
    pub trim_bytes: Bits<18>,
    /// Largest payload of one frame.
    pub mss_bytes: Bits<14>,
}

/// What is known of a descriptor's fate before its payload arrives (planner to report).
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct SendRecord {
    /// Refused: the event below is due.
    pub refused: Bit,
    /// The event; its error counts only when refused.
    pub event_message: SendEvent,
}

/// A granted piece of payload in bus memory (gather to jobs).
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct SendPiece {
    /// Bus address of the first byte.
    pub address: Bits<64>,
    /// Bytes, 1 to 4,096; they do not cross a multiple of 4,096.
    pub bytes: Bits<13>,
}

/// One frame to put together (segment to merge); its header follows on the header stream.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct FrameCut {
    /// No frame at all, only the end of a refused descriptor.
    pub refused: Bit,
    /// Last frame of its descriptor, or instead of any.
    pub descriptor_end: Bit,
    /// Payload bytes of this frame.
    pub payload_bytes: Bits<14>,
    /// Layers and insertions.
    pub layout: HeaderLayout,
}

/// An answer of a read that is there to its end (payload to merge).
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct AnswerFacts {
    /// Full beats before its last beat.
    pub beats: Bits<3>,
    /// Bytes of its last beat, 1 to 64.
    pub last_bytes: Bits<7>,
    /// It could not be read.
    pub failed: Bit,
}

/// Which bytes to append to the frame being put together (merge_item to merge).
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct ItemCut {
    /// Bytes of the header's beat, which they use up; else of the answer's.
    pub in_header: Bit,
    /// First byte to take.
    pub start: Bits<6>,
    /// Bytes to take, 1 to 64 - start.
    pub byte_count: Bits<7>,
    /// They use the answer's beat up.
    pub answer_done: Bit,
    /// The frame ends with them.
    pub last: Bit,
    /// With `last`: some payload of the frame could not be read.
    pub abort: Bit,
}

/// Bytes to append to the frame being put together (merge to align).
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct SendItem {
    /// A beat that holds the bytes.
    pub data: Bits<512>,
    /// First byte to take.
    pub start: Bits<6>,
    /// Bytes to take, 1 to 64 - start.
    pub byte_count: Bits<7>,
    /// The frame ends with this item.
    pub last: Bit,
    /// With `last`: some payload of the frame could not be read.
    pub abort: Bit,
}

/// The checksums of a frame (checksum to insert).
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct ChecksumPatch {
    /// Insert `ip_value` at `ip_offset`.
    pub ip_enable: Bit,
    /// Byte offset of the IPv4 header checksum.
    pub ip_offset: Bits<8>,
    /// Its bytes, first one low.
    pub ip_value: Bits<16>,
    /// Insert `l4_value` at `l4_offset`.
    pub l4_enable: Bit,
    /// Byte offset of the TCP or UDP checksum.
    pub l4_offset: Bits<8>,
    /// Its bytes, first one low.
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

/// A descriptor whose flow is known (flow to gather).
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct SendRange {
    /// What is decided so far.
    pub verdict: SendVerdict,
    /// Protection domain of the flow.
    pub domain: Bits<16>,
    /// First stream position to send.
    pub position: Bits<32>,
    /// There is payload to find.
    pub wanted: Bit,
}

/// A part of a range that lies in one list entry, or the end of a range without one (gather walk to
/// grant).
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct SendPart {
    /// There are bytes; without them only `last` counts, and it is 1.
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
    /// Bytes.
    pub bytes: Bits<18>,
}
