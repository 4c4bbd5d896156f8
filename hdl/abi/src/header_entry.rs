//! A header entry: what the card writes to an owner's header queue, in arrival order.
//!
//! ```text
//! slot 0: | metadata 32 B | header bytes 0..96 |
//! slot 1: | metadata 32 B | header bytes 64..160 |      (only if two_slots)
//! ```
//! - The second slot repeats the metadata, with the phase of its own pass. So what is left of it
//!   never looks like an entry of a later pass.
//! - A two-slot entry is written second slot first: the phase in slot 0 publishes both.
//! - The phase starts at 1 after the queue is enabled and flips at every wrap of the queue.
//! - A slot is one PCIe write of metadata and header alone; an event is 32 bytes. The bytes of the
//!   slot after the header keep their old value.
//! - A machine may show the 64-byte lines of a write one after the other. A driver that finds the
//!   phase makes sure that the second line is there as well, if the header reaches it.
//!
//! A run (kind 3) sums up 2 to 64 packets of a flow that followed each other in the stream, in one
//! slot: the header of the first, and of the last what may differ. Its metadata are those of a
//! packet but for these fields:
//!
//! | a packet's field | in a run |
//! |---|---|
//! | `frame_bytes` | [`RUN_WINDOW`] |
//! | `payload_bytes` | the same of the first packet: the segment size |
//! | `position` | [`RUN_TIMESTAMP`]; the position is the sequence number in the header |
//! | `trimmed_bytes`, `slow_buffer` | [`RUN_TIMESTAMP_ECHO`] |
//! | `cursor` | the flow's cursor after the last packet: the end of the run's bytes |
//! | `segment_index` | the same of the first packet; the run may go on in the next segments |
//! | `pieces` | [`RUN_PACKETS`] |
//! | `event_value` | [`RUN_ACK`] |
//!
//! Source: docs/specification.md, Delivery and Runs.

use crate::field::Field;

/// Kind of entry: 1 packet, 2 event, 3 run of packets.
pub const KIND: Field =
    Field::new("kind", 0, 8, "1: packet; 2: event (send error, fault); 3: run of packets");
/// Disposition, or the reason of an event.
pub const DISPOSITION: Field =
    Field::new("disposition", 8, 8, "Disposition of a packet, SendError of an event");
/// Valid marker of this pass over the queue.
pub const PHASE: Field =
    Field::new("phase", 16, 1, "1 on odd passes over the queue, 0 on even ones");
/// The entry takes two adjacent slots.
pub const TWO_SLOTS: Field =
    Field::new("two_slots", 17, 1, "1: the header goes on in the next slot");
/// Header profile that the parser chose.
pub const PROFILE: Field = Field::new("profile", 18, 2, "header profile");
/// The L4 checksum was verified.
pub const VERIFIED: Field = Field::new("verified", 20, 1, "1: all checksums were verified");
/// Two flush reads of the placed payload's memory failed: the payload may not be visible. A
/// confirmation after this entry does not prove writes to that memory visible either.
pub const UNFLUSHED: Field = Field::new(
    "unflushed",
    21,
    1,
    "1: placed, but two flush reads of its memory failed: it may not be visible",
);
/// The last packet of a run has PSH. The one before it has none.
pub const RUN_PUSH: Field = Field::new("run_push", 22, 1, "run: 1: its last packet has PSH");
/// Generation of the flow entry.
pub const GENERATION: Field = Field::new("generation", 24, 8, "generation of the flow entry");
/// Flow id; 0xffff: none.
pub const FLOW: Field = Field::new("flow", 32, 16, "flow id; 0xffff: none");
/// Header bytes in the entry: all bytes before the payload.
pub const HEADER_BYTES: Field =
    Field::new("header_bytes", 48, 16, "header bytes in the entry, from the Ethernet header on");
/// Frame length without FCS.
pub const FRAME_BYTES: Field = Field::new("frame_bytes", 64, 16, "frame length without FCS");
/// Payload length as received, before any trim.
pub const PAYLOAD_BYTES: Field =
    Field::new("payload_bytes", 80, 16, "payload length as received, without padding");
/// Stream position of the first payload byte, before any trim.
pub const POSITION: Field =
    Field::new("position", 96, 32, "stream position of the first payload byte");
/// Bytes cut off below the floor.
pub const TRIMMED_BYTES: Field =
    Field::new("trimmed_bytes", 128, 16, "payload bytes below the floor, not written");
/// Slow buffer that holds the payload; 0xffff: none.
pub const SLOW_BUFFER: Field =
    Field::new("slow_buffer", 144, 16, "slow buffer that holds the payload; 0xffff: none");
/// Cursor after this packet.
pub const CURSOR: Field = Field::new("cursor", 160, 32, "the flow's cursor after this packet");
/// List index of the segment that holds the first placed byte.
pub const SEGMENT_INDEX: Field = Field::new(
    "segment_index",
    192,
    16,
    "list index of the segment that holds the first byte written",
);
/// Pieces written.
pub const PIECES: Field =
    Field::new("pieces", 208, 8, "number of pieces in which the payload was written");
/// Byte offset of the L4 header.
pub const L4_OFFSET: Field =
    Field::new("l4_offset", 216, 8, "byte offset of the L4 header; 0: none");
/// Event value: the list index or position that an event is about.
pub const EVENT_VALUE: Field = Field::new(
    "event_value",
    224,
    32,
    "event: the descriptor's position; of flow 0xffff: STATUS bits of the wire, from bit 0 on",
);

/// TCP window of a run's last packet, as in its header but little-endian; not scaled.
pub const RUN_WINDOW: Field =
    Field::new("run_window", 64, 16, "run: window of the last packet, not scaled");
/// TSval of a run's last packet; 0 where the header has no timestamps.
pub const RUN_TIMESTAMP: Field =
    Field::new("run_timestamp", 96, 32, "run: TSval of the last packet; 0: no timestamps");
/// TSecr of a run's last packet; 0 where the header has no timestamps.
pub const RUN_TIMESTAMP_ECHO: Field =
    Field::new("run_timestamp_echo", 128, 32, "run: TSecr of the last packet; 0: no timestamps");
/// Packets of a run, 2 to [`crate::config::RUN_PACKETS_MAX`]. All but the last have
/// [`PAYLOAD_BYTES`] of payload; the last has what is left up to [`CURSOR`], 1 byte at least.
pub const RUN_PACKETS: Field = Field::new("run_packets", 208, 8, "run: number of packets, 2 to 64");
/// Acknowledgement number of a run's last packet.
pub const RUN_ACK: Field =
    Field::new("run_ack", 224, 32, "run: acknowledgement number of the last packet");

/// All fields, for the manual.
pub const FIELDS: &[Field] = &[
    KIND,
    DISPOSITION,
    PHASE,
    TWO_SLOTS,
    PROFILE,
    VERIFIED,
    UNFLUSHED,
    RUN_PUSH,
    GENERATION,
    FLOW,
    HEADER_BYTES,
    FRAME_BYTES,
    PAYLOAD_BYTES,
    POSITION,
    TRIMMED_BYTES,
    SLOW_BUFFER,
    CURSOR,
    SEGMENT_INDEX,
    PIECES,
    L4_OFFSET,
    EVENT_VALUE,
    RUN_WINDOW,
    RUN_TIMESTAMP,
    RUN_TIMESTAMP_ECHO,
    RUN_PACKETS,
    RUN_ACK,
];

/// Header byte that follows the metadata of a second slot.
pub const SECOND_SLOT_HEADER_AT: usize = 64;

/// [`KIND`] of a packet.
pub const KIND_PACKET: u8 = 1;
/// [`KIND`] of an event.
pub const KIND_EVENT: u8 = 2;
/// [`KIND`] of a run of packets.
pub const KIND_RUN: u8 = 3;
/// [`FLOW`] of a packet without a flow.
pub const FLOW_NONE: u16 = 0xffff;
/// [`SLOW_BUFFER`] of an entry without one.
pub const SLOW_BUFFER_NONE: u16 = 0xffff;
