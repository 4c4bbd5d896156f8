//! Messages between the stages of the receive path. Messages inside one stage are in that stage's
//! own `messages.rs`.

pub use crate::plans::{Decided, Plan, PlanItem, Reservation, RunPart, RunSummary, RxItemKind};
use abi::config::PROFILE_BITS;
use stream::prelude::*;

/// One beat on its way from the ingress gate to the packet buffer. There is no back-pressure: the
/// ingress gate has checked that there is space.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct RxBeat {
    /// Bytes of the beat.
    pub data: Bits<512>,
    /// Bytes used, 1 to 64.
    pub byte_count: Bits<7>,
    /// Number of the beat in its frame, from 0.
    pub index: Bits<8>,
    /// First beat of the frame.
    pub first: Bit,
    /// Last beat of the frame.
    pub last: Bit,
    /// With `last`: the frame is to be dropped, whatever it holds.
    pub refused: Bit,
    /// With `refused`: the DropReason.
    pub reason: DropCode,
}

/// The state of the ingress gate that software and resets determine.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct Gate {
    /// Receive runs.
    pub running: Bit,
    /// Epochs that have begun, modulo 16.
    pub epoch_begins: Bits<4>,
}

/// What the first beat of a frame holds: Ethernet, VLAN tags and the IP header.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct NetworkInfo {
    /// Byte offset of the first byte after the Ethernet header and the VLAN tags.
    pub l3_offset: Bits<8>,
    /// The packet is IPv4.
    pub ipv4: Bit,
    /// The packet is IPv6.
    pub ipv6: Bit,
    /// Version, header length or total length contradict each other.
    pub malformed: Bit,
    /// The packet is a fragment.
    pub fragment: Bit,
    /// The packet is TCP, and not a fragment.
    pub tcp: Bit,
    /// The packet is UDP, and not a fragment.
    pub udp: Bit,
    /// Byte offset of the L4 header.
    pub l4_offset: Bits<8>,
    /// Bytes of L4 header and payload together.
    pub l4_bytes: Bits<16>,
    /// Byte offset of the first byte after the IP packet.
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
    /// IP version, 4 or 6.
    pub version: Bits<4>,
    /// Header profile.
    pub profile: Bits<4>,
    /// Message key.
    pub message_key: Bits<64>,
    /// Always zero.
    pub padding: Bits<16>,
}

/// Everything that the later stages use of a packet's headers.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct PacketInfo {
    /// Flow key.
    pub key: Bits<384>,
    /// The packet is TCP or UDP, and not a fragment.
    pub transport: Bit,
    /// The packet is TCP.
    pub tcp: Bit,
    /// The packet is a fragment, or UDP without checksum: its payload cannot be verified.
    pub unverified: Bit,
    /// L4 lengths contradict each other.
    pub malformed: Bit,
    /// Header profile.
    pub profile: Bits<PROFILE_BITS>,
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
    /// Bytes of TCP options, 0 to 40.
    pub option_bytes: Bits<6>,
    /// TCP window.
    pub window: Bits<16>,
    /// The reserved bits of TCP and its urgent pointer are 0.
    pub tcp_plain: Bit,
}

/// What of the headers before TCP must be equal in all packets of a run.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct LinkFacts {
    /// Link addresses, first byte in bits 7:0.
    pub addresses: Bits<96>,
    /// VLAN tags, first byte in bits 7:0; what a frame lacks is 0.
    pub tags: Bits<64>,
    /// IPv4: version, traffic class and DF; IPv6: version, traffic class and flow label.
    pub traffic: Bits<32>,
    /// IPv4: no options and no flag but DF. IPv6: always.
    pub plain: Bit,
}

/// What the parser found, and what it leaves to be checked at the frame's end.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct ParsedPacket {
    /// What is known of the packet; `frame_bytes`, and the payload length without transport, are
    /// still missing.
    pub info: PacketInfo,
    /// The packet is IPv4 or IPv6.
    pub ip: Bit,
    /// The packet is IPv4.
    pub ipv4: Bit,
    /// The IP header contradicts itself.
    pub malformed_ip: Bit,
    /// UDP over IPv6 with checksum 0.
    pub checksum_missing: Bit,
    /// Byte offset of the first byte after the IP packet.
    pub ip_end: Bits<17>,
}

/// A stored, verified packet.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct StoredPacket {
    /// Pointer of the packet's first beat in the packet buffer, with wrap bits.
    pub start: Bits<16>,
    /// Pointer past the packet's last beat.
    pub stop: Bits<16>,
    /// What is known of the packet's headers.
    pub info: PacketInfo,
    /// What of the headers before TCP must be equal in a run.
    pub link: LinkFacts,
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

/// What a job of the copy engine does.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum CopyKind {
    /// Write bytes of the packet, metadata, or both.
    Write,
    /// Write nothing, and free the packet's beats of the packet buffer.
    Release,
    /// Pass a confirmation on.
    Confirm,
}

/// What goes through the stages after the flow look-up, in one order: packets, confirmations,
/// releases of dropped packets, events.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct RxItem {
    /// What the item is.
    pub kind: RxItemKind,
    /// Pointer of the packet's first beat in the packet buffer.
    pub start: Bits<16>,
    /// Pointer past the packet's last beat.
    pub stop: Bits<16>,
    /// Beats that the packet takes of its owner's share of the packet buffer until its release.
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
    pub profile: Bits<PROFILE_BITS>,
    /// All checksums of the packet were verified.
    pub verified: Bit,
    /// Stream position of the first payload byte. Event: its value. Confirmation: index of the
    /// command.
    pub position: Bits<32>,
    /// A flow was found.
    pub hit: Bit,
    /// Flow id; 0xffff without a flow.
    pub flow: Bits<16>,
    /// Generation of the flow. Confirmation: its status.
    pub generation: Bits<8>,
    /// Owner of the header queue, or of the command.
    pub owner: Bits<8>,
    /// Protection domain of the flow.
    pub domain: Bits<16>,
    /// The payload is to be placed: before `admit`, if the list allows it; after `admit`, for
    /// certain.
    pub walk: Bit,
    /// The packet has the walk slot `slot`.
    pub slotted: Bit,
    /// Walk slot of the packet, with `slotted`.
    pub slot: Bits<4>,
    /// Disposition of the packet. Event: its SendError.
    pub disposition: DispositionCode,
    /// First stream position to place.
    pub place_position: Bits<32>,
    /// Bytes to place.
    pub place_bytes: Bits<14>,
    /// Bytes of the payload below the floor.
    pub trimmed_bytes: Bits<14>,
    /// The flow's floor, up to `admit`; no later stage needs it.
    pub floor: Bits<32>,
    /// List index of the first segment.
    pub segment_index: Bits<16>,
    /// Number of pieces.
    pub pieces: Bits<5>,
    /// Memories that the payload lies in, one bit each.
    pub memories: Bits<4>,
    /// Confirmation: the run of `flow` ends before it.
    pub ends_run: Bit,
    /// Confirmation: all runs of its owner end before it. Run: it ends for that.
    pub sweeps: Bit,
}

/// What a walk found.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct WalkOutcome {
    /// The payload cannot be placed.
    pub failed: Bit,
    /// With `failed`: the Disposition that says why.
    pub disposition: DispositionCode,
    /// List index of the first segment.
    pub segment_index: Bits<16>,
    /// Number of pieces.
    pub pieces: Bits<5>,
    /// Memories that they lie in, one bit each.
    pub memories: Bits<4>,
}

/// A packet was read for the last time: its beats of the packet buffer, and its charge, are free.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct Release {
    /// Pointer past the packet: all beats before it are free.
    pub pointer: Bits<16>,
    /// Owner of the packet.
    pub owner: Bits<8>,
    /// Beats that are given back of the owner's share.
    pub charge: Bits<8>,
}

/// Contiguous bus memory for a part of a payload.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct Piece {
    /// Bus address.
    pub address: Bits<64>,
    /// Length of the piece in bytes.
    pub bytes: Bits<14>,
    /// Memory in which the piece lies; 0 is host DRAM.
    pub memory: Bits<2>,
}

/// One job of the copy engine.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct CopyJob {
    /// What the job does.
    pub kind: CopyKind,
    /// Pointer of the first beat to read in the packet buffer.
    pub start: Bits<16>,
    /// The job is a header slot: the metadata go before the packet's bytes.
    pub head: Bit,
    /// Bytes of the first beat to leave out.
    pub shift: Bits<6>,
    /// Bus address of the first byte to write.
    pub address: Bits<64>,
    /// Bytes to write.
    pub bytes: Bits<14>,
    /// Metadata of the header entry.
    pub metadata: Bits<256>,
    /// The job is the packet's last: beats before `release_pointer` are free after it.
    pub release: Bit,
    /// Pointer past the packet.
    pub release_pointer: Bits<16>,
    /// Beats that the release gives back of the owner's share.
    pub charge: Bits<8>,
    /// The write makes a header entry valid.
    pub publish: Bit,
    /// Owner of the entry, or of the command confirmed.
    pub owner: Bits<8>,
    /// Producer index after the entry, or index of the command confirmed.
    pub index: Bits<32>,
    /// Status of the command confirmed.
    pub status: StatusCode,
    /// Header slots: the memories except 0 that the packet's payload lies in, one bit each.
    pub memories: Bits<4>,
    /// The slot is held: it goes to the hold memory, not to the bus.
    pub held: Bit,
    /// The job writes to the bus: it is a write that is not held.
    pub writes: Bit,
    /// The job is the last of a payload, and the metadata after it lie in the second half of its
    /// last beat, where the next job, the slot, begins.
    pub shares: Bit,
    /// One beat holds the job's bytes; set when the job is announced.
    pub fits_beat: Bit,
    /// With `held`: place of the slot in the hold memory.
    pub held_at: Bits<8>,
    /// With `head`: the slot's header is kept for a run, and nothing is written.
    pub keeps: Bit,
    /// With `head`: the slot's header is one that was kept.
    pub kept: Bit,
    /// With `keeps` or `kept`: place of the run.
    pub place: Bits<5>,
}
