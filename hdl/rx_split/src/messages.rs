//! What flows between the stages of the receive path.

use stream::prelude::*;

/// One beat on its way from the door to the packet store. No back-pressure: room was checked at the
/// door.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct RxBeat {
    /// Bytes of the beat.
    pub data: Bits<512>,
    /// Bytes used.
    pub byte_count: Bits<7>,
    /// Number of the beat in its frame, from 0.
    pub index: Bits<8>,
    /// First beat of the frame.
    pub first: Bit,
    /// Last beat of the frame.
    pub last: Bit,
    /// With `last`: the frame is dropped, whatever it holds.
    pub refused: Bit,
    /// With `refused`: the DropReason.
    pub reason: DropCode,
}

/// What the door has to know.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct Gate {
    /// Receive runs.
    pub running: Bit,
    /// Epochs that have begun, modulo 16.
    pub epoch_begins: Bits<4>,
}

/// What the first beat tells: Ethernet, VLAN tags and the IP header.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct NetworkInfo {
    /// Byte offset of the first byte behind the Ethernet header and the VLAN tags.
    pub l3_offset: Bits<8>,
    /// IPv4.
    pub ipv4: Bit,
    /// IPv6.
    pub ipv6: Bit,
    /// Version, header length or total length contradict each other.
    pub malformed: Bit,
    /// A fragment.
    pub fragment: Bit,
    /// TCP, not a fragment.
    pub tcp: Bit,
    /// UDP, not a fragment.
    pub udp: Bit,
    /// Byte offset of the L4 header.
    pub l4_offset: Bits<8>,
    /// Bytes of L4 header and payload.
    pub l4_bytes: Bits<16>,
    /// Byte offset of the first byte behind the IP packet.
    pub ip_end: Bits<17>,
    /// Source address; IPv4 in the low 32 bits.
    pub remote: Bits<128>,
    /// Destination address; IPv4 in the low 32 bits.
    pub local: Bits<128>,
}

/// A flow key, byte 0 in bits 7:0; the layout of `abi::flow_key`.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct FlowKey {
    /// Source address.
    pub remote: Bits<128>,
    /// Destination address.
    pub local: Bits<128>,
    /// Source and destination port as on the wire.
    pub ports: Bits<32>,
    /// IP protocol.
    pub protocol: Bits<8>,
    /// 4 or 6.
    pub version: Bits<4>,
    /// Header profile.
    pub profile: Bits<4>,
    /// Message key.
    pub message_key: Bits<64>,
    /// Zero.
    pub padding: Bits<16>,
}

/// Everything that the later stages know about a packet.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct PacketInfo {
    /// Flow key.
    pub key: Bits<384>,
    /// TCP or UDP, not a fragment.
    pub transport: Bit,
    /// TCP.
    pub tcp: Bit,
    /// Fragment, or UDP without checksum.
    pub unverified: Bit,
    /// L4 lengths contradict each other.
    pub malformed: Bit,
    /// Header profile.
    pub profile: Bits<2>,
    /// Bytes before the payload.
    pub header_bytes: Bits<8>,
    /// Frame length without FCS.
    pub frame_bytes: Bits<14>,
    /// Payload length.
    pub payload_bytes: Bits<14>,
    /// Byte offset of the L4 header, 0 without transport.
    pub l4_offset: Bits<8>,
    /// Stream position of the first payload byte.
    pub position: Bits<32>,
    /// TCP acknowledgement number.
    pub ack: Bits<32>,
    /// TCP flags, FIN in bit 0 to CWR in bit 7.
    pub flags: Bits<8>,
    /// TCP options, first byte in bits 7:0.
    pub options: Bits<320>,
    /// Bytes of options, 0 to 40.
    pub option_bytes: Bits<6>,
}

/// What the parser found, and what it leaves to be checked at the frame's end.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct ParsedPacket {
    /// The packet; `frame_bytes` and the payload without transport are still open.
    pub info: PacketInfo,
    /// IPv4 or IPv6.
    pub ip: Bit,
    /// IPv4.
    pub ipv4: Bit,
    /// The IP header contradicts itself.
    pub malformed_ip: Bit,
    /// UDP over IPv6 with checksum 0.
    pub checksum_missing: Bit,
    /// Byte offset of the first byte behind the IP packet.
    pub ip_end: Bits<17>,
}

/// A stored, verified packet.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct StoredPacket {
    /// Pointer of its first beat in the packet store, with wrap bits.
    pub start: Bits<16>,
    /// Pointer behind its last beat.
    pub stop: Bits<16>,
    /// What is known about it.
    pub info: PacketInfo,
}

/// A 16-bit value whose wire order is big endian, as a pair of bytes.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct Word16 {
    /// Second byte on the wire.
    pub low: Bits<8>,
    /// First byte on the wire.
    pub high: Bits<8>,
}

/// A 32-bit value whose wire order is big endian, as bytes in wire order from `byte0`.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct Word32 {
    /// Last byte on the wire.
    pub byte3: Bits<8>,
    /// Third byte on the wire.
    pub byte2: Bits<8>,
    /// Second byte on the wire.
    pub byte1: Bits<8>,
    /// First byte on the wire.
    pub byte0: Bits<8>,
}

/// What goes through the stages after the lookup.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum PlacementKind {
    /// A verified packet.
    Packet,
    /// What dropped packets give back: their place in the packet buffer.
    Release,
    /// A failed send, for its owner's header queue.
    Event,
    /// A confirmation on its way through the fence.
    Confirmation,
}

/// What a job of the copy engine does.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum CopyKind {
    /// Write bytes of the packet, metadata, or both.
    Write,
    /// Write nothing: give back the packet's place in the packet buffer.
    Release,
    /// Pass a confirmation on.
    Confirm,
}

/// What goes through the stages behind the lookup, in one order: packets, confirmations, releases
/// of dropped packets, events.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct Placement {
    /// What it is.
    pub kind: PlacementKind,
    /// Pointer of the first beat in the packet store.
    pub start: Bits<16>,
    /// Pointer behind the last beat.
    pub stop: Bits<16>,
    /// What the packet takes of its owner's share of the packet store, until its release.
    pub charge: Bits<8>,
    /// Bytes before the payload.
    pub header_bytes: Bits<8>,
    /// Frame length without FCS.
    pub frame_bytes: Bits<14>,
    /// Payload length.
    pub payload_bytes: Bits<14>,
    /// Byte offset of the L4 header.
    pub l4_offset: Bits<8>,
    /// Header profile.
    pub profile: Bits<2>,
    /// All checksums were verified.
    pub verified: Bit,
    /// Stream position of the first payload byte; of an event its value, of a confirmation the
    /// index of the command.
    pub position: Bits<32>,
    /// A flow was found.
    pub hit: Bit,
    /// Flow id; 0xffff without a flow.
    pub flow: Bits<16>,
    /// Generation of the flow; of a confirmation the status.
    pub generation: Bits<8>,
    /// Whose header queue.
    pub owner: Bits<8>,
    /// Protection domain of the flow.
    pub domain: Bits<16>,
    /// The payload is to be placed: if the list allows, behind `admit` it is.
    pub walk: Bit,
    /// It has the walk slot `slot`.
    pub slotted: Bit,
    /// Its walk slot.
    pub slot: Bits<4>,
    /// Disposition; of an event the SendError.
    pub disposition: DispositionCode,
    /// First stream position to place.
    pub place_position: Bits<32>,
    /// Bytes to place.
    pub place_bytes: Bits<14>,
    /// Bytes below the floor.
    pub trimmed_bytes: Bits<14>,
    /// The flow's floor, up to `admit`; nothing after it needs the floor.
    pub floor: Bits<32>,
    /// List index of the first segment.
    pub segment_index: Bits<16>,
    /// Pieces.
    pub pieces: Bits<5>,
}

/// What waits for its flow before the rules look at it.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct RuleInput {
    /// The packet as far as it is known, or a confirmation.
    pub packet: Placement,
    /// Its flow was asked for.
    pub asked: Bit,
    /// TCP.
    pub tcp: Bit,
    /// TCP flags.
    pub flags: Bits<8>,
    /// TCP acknowledgement number.
    pub ack: Bits<32>,
    /// TCP options, first byte in bits 7:0.
    pub options: Bits<320>,
    /// Bytes of options.
    pub option_bytes: Bits<6>,
    /// They begin with NOP, NOP, timestamp.
    pub usual: Bit,
}

/// A packet with its flow.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct RuleCase {
    /// The packet, or a confirmation.
    pub packet: Placement,
    /// Its flow was asked for.
    pub asked: Bit,
    /// The answer.
    pub flow: FlowReply,
    /// TCP.
    pub tcp: Bit,
    /// TCP flags.
    pub flags: Bits<8>,
    /// TCP acknowledgement number.
    pub ack: Bits<32>,
    /// It has a timestamp.
    pub timestamp_found: Bit,
    /// The timestamp.
    pub timestamp: Bits<32>,
}

/// What a walk found.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct WalkOutcome {
    /// The payload cannot be placed.
    pub failed: Bit,
    /// Why; a Disposition.
    pub disposition: DispositionCode,
    /// List index of the first segment.
    pub segment_index: Bits<16>,
    /// Pieces.
    pub pieces: Bits<5>,
}

/// The end of a walk.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct WalkEnd {
    /// Its slot.
    pub slot: Bits<4>,
    /// What it found.
    pub outcome: WalkOutcome,
}

/// A walk on its way to the segment list.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct WalkToken {
    /// Its slot.
    pub slot: Bits<4>,
    /// Flow id.
    pub flow: Bits<16>,
    /// Protection domain of the flow.
    pub domain: Bits<16>,
    /// Stream position reached.
    pub position: Bits<32>,
    /// Bytes left to place.
    pub rest: Bits<14>,
    /// Pieces granted.
    pub count: Bits<5>,
    /// Ask for the segment `index`, not for the one that holds `position`.
    pub by_index: Bit,
    /// List index: of the segment to ask for, then of the one at hand.
    pub index: Bits<16>,
    /// List index of the first segment.
    pub first_index: Bits<16>,
}

/// A walk with a segment at hand, on its way to the region table.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct SegmentToken {
    /// The walk.
    pub walk: WalkToken,
    /// Region index.
    pub region: Bits<16>,
    /// Region key.
    pub region_key: Bits<16>,
    /// Byte offset of the position in the region.
    pub offset: Bits<48>,
    /// Bytes of the segment from the position on.
    pub left: Bits<32>,
}

/// A piece and where the walk keeps it.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct PieceWrite {
    /// Slot of the walk.
    pub slot: Bits<4>,
    /// Number of the piece.
    pub number: Bits<4>,
    /// The piece.
    pub piece: Piece,
}

/// The packet store may forget what lies before a pointer.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct Release {
    /// The pointer.
    pub pointer: Bits<16>,
    /// Owner whose packet it was.
    pub owner: Bits<8>,
    /// What it gives back of its owner's share.
    pub charge: Bits<8>,
}

/// Contiguous bus memory for a part of a payload.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct Piece {
    /// Bus address.
    pub address: Bits<64>,
    /// Length.
    pub bytes: Bits<14>,
    /// Memory it lies in.
    pub memory: Bits<2>,
}

/// What the copy engine does next.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct CopyJob {
    /// What it does.
    pub kind: CopyKind,
    /// Pointer of the first beat to read in the packet store.
    pub start: Bits<16>,
    /// The metadata go in front of the packet's first byte.
    pub head: Bit,
    /// Bytes to leave out at the start.
    pub shift: Bits<6>,
    /// Bus address.
    pub address: Bits<64>,
    /// Bytes to write.
    pub bytes: Bits<14>,
    /// Metadata of the header entry.
    pub metadata: Bits<256>,
    /// The packet store may forget what lies before `release_pointer`.
    pub release: Bit,
    /// Pointer behind the packet.
    pub release_pointer: Bits<16>,
    /// What the release gives back of the owner's share.
    pub charge: Bits<8>,
    /// This write publishes a header entry.
    pub publish: Bit,
    /// Owner of the entry, or of the command confirmed.
    pub owner: Bits<8>,
    /// Producer index behind the entry, or index of the command confirmed.
    pub index: Bits<32>,
    /// Status of the command confirmed.
    pub status: StatusCode,
    /// Of a slot: the memories but 0 that its packet's payload lies in, a bit each.
    pub memories: Bits<4>,
    /// The slot is held: it goes to the hold memory, not to the bus.
    pub held: Bit,
    /// It goes to the bus: a write that is not held.
    pub writes: Bit,
    /// Of the last bytes of a payload: the metadata behind them lie in the second half of their
    /// last beat, where the slot, the next job, begins.
    pub shares: Bit,
    /// One beat holds its bytes; known once it is announced.
    pub fits_beat: Bit,
    /// With `held`: its place there.
    pub held_at: Bits<8>,
}

/// A slot or a confirmation that waits for flush reads, or behind one that does.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct HeldItem {
    /// A confirmation; otherwise a slot.
    pub confirms: Bit,
    /// Owner of the entry, or of the command confirmed.
    pub owner: Bits<8>,
    /// Producer index behind the entry, or index of the command confirmed.
    pub index: Bits<32>,
    /// Status of the command confirmed.
    pub status: StatusCode,
    /// Bus address of the slot.
    pub address: Bits<64>,
    /// Bytes that are written of it, 1 to 128.
    pub bytes: Bits<8>,
    /// The slot publishes its entry.
    pub publish: Bit,
    /// Memories to be flushed before, a bit each.
    pub memories: Bits<4>,
}

/// The oldest item of a queue.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct HeldHead {
    /// The item.
    pub item: HeldItem,
    /// Its place in the hold memory.
    pub at: Bits<8>,
    /// It waits no longer.
    pub ready: Bit,
    /// A flush read that it waited for failed.
    pub unflushed: Bit,
}

/// A confirmation that waits for everything held before it.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct HeldFence {
    /// Owner of the command.
    pub owner: Bits<8>,
    /// Its index.
    pub index: Bits<32>,
    /// Its status.
    pub status: StatusCode,
    /// Items that queue 1 had been given before.
    pub behind_1: Bits<32>,
    /// Items that queue 2 had been given before.
    pub behind_2: Bits<32>,
    /// Items that queue 3 had been given before.
    pub behind_3: Bits<32>,
}

/// A packet, an event or a confirmation, with everything reserved for it.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct Plan {
    /// The packet.
    pub packet: Placement,
    /// The entry takes two slots.
    pub two_slots: Bit,
    /// The payload goes to the slow buffer.
    pub needs_slow: Bit,
    /// The flow's cursor after the packet.
    pub cursor: Bits<32>,
    /// What is reserved.
    pub place: Reservation,
}

/// Where in its owner's rings a packet goes.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct Reservation {
    /// First slot.
    pub slot_address: Bits<64>,
    /// Second slot.
    pub second_address: Bits<64>,
    /// Slow buffer.
    pub slow_address: Bits<64>,
    /// Its index.
    pub slow_index: Bits<16>,
    /// Phase of the entry.
    pub phase: Bit,
    /// Slots produced behind the entry.
    pub header_producer: Bits<32>,
}
