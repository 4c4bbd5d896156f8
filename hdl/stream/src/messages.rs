//! The messages that cross crates. Every pair of stages in different crates uses one of these.

use abi::reason::{CommandStatus, Disposition, DropReason, SendError};
use rust_hdl_core::prelude::*;
use rust_hdl_macros::LogicStruct;

/// Number of a [`DropReason`].
pub type DropCode = Bits<{ DropReason::CODE_BITS }>;
/// Number of a [`Disposition`].
pub type DispositionCode = Bits<{ Disposition::CODE_BITS }>;
/// Number of a [`SendError`].
pub type SendErrorCode = Bits<{ SendError::CODE_BITS }>;
/// Number of a [`CommandStatus`].
pub type StatusCode = Bits<{ CommandStatus::CODE_BITS }>;

/// One beat of a packet stream, for storing it.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct PacketBeat {
    /// Bytes of the beat.
    pub data: Bits<512>,
    /// Bytes used, 1 to 64.
    pub byte_count: Bits<7>,
    /// The beat is the last of its packet.
    pub last: Bit,
    /// With `last`: the packet is invalid.
    pub abort: Bit,
}

/// Look up a packet's flow (rx_split to tables).
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct FlowLookup {
    /// The 48-byte key of `abi::flow_key`, byte 0 in bits 7:0.
    pub key: Bits<384>,
}

/// State of the flow found (tables to rx_split), in request order.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct FlowReply {
    /// A valid entry of this epoch matched; otherwise all other fields are undefined.
    pub hit: Bit,
    /// Flow id.
    pub flow: Bits<16>,
    /// Generation of the entry.
    pub generation: Bits<8>,
    /// Owner of the flow.
    pub owner: Bits<8>,
    /// Header profile that the entry selects.
    pub profile: Bits<2>,
    /// A packet must have a timestamp that is not below its floor.
    pub timestamp_check: Bit,
    /// Protection domain.
    pub domain: Bits<16>,
    /// Receive floor.
    pub floor: Bits<32>,
    /// Lowest ACK number to accept.
    pub ack_low: Bits<32>,
    /// Highest ACK number to accept.
    pub ack_high: Bits<32>,
    /// Timestamp floor.
    pub timestamp_floor: Bits<32>,
}

/// The cursor moved (rx_split to tables).
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct CursorWrite {
    /// Flow id.
    pub flow: Bits<16>,
    /// New cursor.
    pub cursor: Bits<32>,
}

/// State of a flow for sending (tables to tx_merge), requested by flow id.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct SendFlowReply {
    /// The entry is valid in this epoch; otherwise all other fields are undefined.
    pub hit: Bit,
    /// Generation of the entry.
    pub generation: Bits<8>,
    /// Owner of the flow.
    pub owner: Bits<8>,
    /// Protection domain.
    pub domain: Bits<16>,
    /// Send floor.
    pub floor: Bits<32>,
}

/// Request for a segment of a flow's list, by position or by index.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct SegmentRequest {
    /// Flow id.
    pub flow: Bits<16>,
    /// 1: the entry at `index`; 0: the entry that holds `position`.
    pub by_index: Bit,
    /// List index, modulo 2^16.
    pub index: Bits<16>,
    /// Stream position.
    pub position: Bits<32>,
}

/// A segment, in request order.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct SegmentReply {
    /// The entry exists; otherwise only `beyond` has a meaning.
    pub found: Bit,
    /// The position, or the index, lies at or beyond the end of the resident list.
    pub beyond: Bit,
    /// List index.
    pub index: Bits<16>,
    /// Stream position of the segment's first byte.
    pub position: Bits<32>,
    /// Length in bytes.
    pub bytes: Bits<32>,
    /// Region index.
    pub region: Bits<16>,
    /// Region key.
    pub region_key: Bits<16>,
    /// Byte offset of the segment in the region.
    pub offset: Bits<48>,
}

/// Check and translate an access to a region.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct RegionRequest {
    /// Region index.
    pub region: Bits<16>,
    /// Region key.
    pub region_key: Bits<16>,
    /// Protection domain of the flow.
    pub domain: Bits<16>,
    /// 1: the card writes; 0: it reads.
    pub write: Bit,
    /// Byte offset in the region.
    pub offset: Bits<48>,
    /// Bytes wanted, 1 to 2^30.
    pub bytes: Bits<32>,
}

/// Where the access goes, in request order.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct RegionReply {
    /// Key, epoch, domain, right and bounds of all `bytes` wanted are good.
    pub granted: Bit,
    /// Bus address of the first byte.
    pub address: Bits<64>,
    /// Bytes from there to the end of the page, at most the bytes wanted.
    pub bytes: Bits<32>,
    /// Memory of the region; 0 is host DRAM.
    pub memory: Bits<2>,
}

/// Write `bytes` bytes of the packet that follows to `address` (any block to dma).
///
/// The packet of the same client follows the message: exactly `bytes` bytes, from byte 0 of its
/// first beat.
///
/// Two jobs in a row can share a beat, and then a packet: the first [`SHARED_AT_BYTE`] bytes of the
/// beat in which the first job ends belong to it, the second job begins in the rest. So metadata
/// need no beat of their own after a short tail of payload.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct WriteJob {
    /// Bus address of the first byte.
    pub address: Bits<64>,
    /// Length, 1 to 16,384.
    pub bytes: Bits<16>,
    /// Relaxed ordering is allowed: set for payload, clear for every write that publishes.
    pub relaxed: Bit,
    /// The client's next job begins in the last beat of this one, at [`SHARED_AT_BYTE`], and
    /// follows without waiting for anything. This job ends within [`SHARED_TAIL_BYTES_MAX`] bytes
    /// of that beat. The next one is longer than its part of the beat, shares no further beat and
    /// begins at a multiple of 4.
    pub shares: Bit,
}

/// Byte of a shared beat at which the second write job begins: the middle, where a PCIe request
/// may start as well.
pub const SHARED_AT_BYTE: usize = 32;
/// Most bytes of a shared beat that belong to the first job: shifted by 3 to lie in their dwords
/// they still end before the second.
pub const SHARED_TAIL_BYTES_MAX: usize = SHARED_AT_BYTE - 3;

/// Read `bytes` bytes from `address` (any block to dma). The read data are one packet, from byte 0
/// of its first beat, aborted when any part of the read failed.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct ReadJob {
    /// Bus address of the first byte.
    pub address: Bits<64>,
    /// Length, 1 to 16,384.
    pub bytes: Bits<16>,
}

/// Most commands whose confirmation has not left the last fence. The tables take no more, and
/// `tx_merge` has a place for each: none delays a packet until descriptors are sent.
pub const CONFIRMATIONS_MAX: usize = 512;

/// The end of a command on its way through the fences (tables to rx_split to tx_merge to dma).
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct Confirmation {
    /// Owner whose command it was.
    pub owner: Bits<8>,
    /// Index of the command.
    pub index: Bits<32>,
    /// CommandStatus.
    pub status: StatusCode,
}

/// A command as its confirmation begins the way through the fences (tables to rx_split): with the
/// open runs that end before it.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct CommandEnd {
    /// The confirmation.
    pub confirmation: Confirmation,
    /// The run of `flow` ends.
    pub ends_flow: Bit,
    /// All runs of the command's owner end, or of owner 0 all runs.
    pub ends_owner: Bit,
    /// Flow id in the command.
    pub flow: Bits<16>,
}

/// A send that failed, for its owner's header queue (tx_merge to rx_split).
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct SendEvent {
    /// Owner that posted the descriptor.
    pub owner: Bits<8>,
    /// Flow id.
    pub flow: Bits<16>,
    /// Generation in the descriptor.
    pub generation: Bits<8>,
    /// SendError.
    pub error: SendErrorCode,
    /// Stream position in the descriptor.
    pub position: Bits<32>,
}

/// Owner and index of ring entries that follow (host_interface to tables and tx_merge), one message
/// for each packet fetched from a ring.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct RingFetch {
    /// Owner of the ring.
    pub owner: Bits<8>,
    /// Free-running index of the first entry fetched.
    pub index: Bits<32>,
}

/// A 32-bit register was written (completer to every block that keeps settings).
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct RegisterWrite {
    /// Byte offset in BAR 0, a multiple of 4.
    pub address: Bits<24>,
    /// Value.
    pub data: Bits<32>,
}

/// Half of a send slot was written to an owner's push window (completer to the send ring).
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct PushedLine {
    /// Owner of the window; there may be no such owner.
    pub owner: Bits<8>,
    /// The line is the slot's second half.
    pub second: Bit,
    /// Bytes of the line, byte 0 in bits 7:0.
    pub data: Bits<512>,
}
