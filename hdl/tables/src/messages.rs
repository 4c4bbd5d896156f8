//! Messages inside the crate: what the command processor requests from the tables, and what they
//! hold.

use abi::config::{assert_index_bits, PROFILE_BITS};
use stream::prelude::*;

/// The part of a flow's entry that is constant since its install.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct FlowInstalled {
    /// Generation of the entry.
    pub generation: Bits<8>,
    /// Owner of the flow.
    pub owner: Bits<8>,
    /// Header profile.
    pub profile: Bits<PROFILE_BITS>,
    /// A timestamp option is required.
    pub timestamp_check: Bit,
    /// Protection domain.
    pub domain: Bits<16>,
}

/// The part of a flow's entry that `floor_set` moves: what software accepts.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct FlowFloor {
    /// Receive floor.
    pub floor: Bits<32>,
    /// Lowest ACK number to accept.
    pub ack_low: Bits<32>,
    /// Highest ACK number to accept.
    pub ack_high: Bits<32>,
    /// Timestamp floor.
    pub timestamp_floor: Bits<32>,
}

/// A write of one key slot.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct KeyUpdate {
    /// Bucket of the slot.
    pub bucket: Bits<16>,
    /// Slot of the bucket in both banks: way in bits 1:0, bank in bit 2.
    pub slot: Bits<3>,
    /// Epoch to store; 0 clears the slot.
    pub epoch: Bits<16>,
    /// Flow id that the key leads to.
    pub flow: Bits<16>,
    /// Key of the slot, byte 0 in bits 7:0.
    pub key: Bits<384>,
}

/// A write of parts of one flow's state, all in one cycle.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct FlowUpdate {
    /// Flow id.
    pub flow: Bits<16>,
    /// Write `epoch` and `installed`.
    pub write_installed: Bit,
    /// Write `floor`.
    pub write_floor: Bit,
    /// Write `send_floor`.
    pub write_send_floor: Bit,
    /// Set the cursor to the floor. Without `write_installed`: unless the cursor moved since the
    /// query.
    pub write_cursor: Bit,
    /// Epoch to store; 0 removes the flow.
    pub epoch: Bits<16>,
    /// New installed part.
    pub installed: FlowInstalled,
    /// New floor part.
    pub floor: FlowFloor,
    /// New send floor.
    pub send_floor: Bits<32>,
}

/// A flow's state as commands and sends need it.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct FlowControl {
    /// The entry is valid in this epoch; without it the rest is undefined.
    pub hit: Bit,
    /// Installed part.
    pub installed: FlowInstalled,
    /// Receive floor.
    pub floor: Bits<32>,
    /// Stored cursor.
    pub cursor: Bits<32>,
    /// Send floor.
    pub send_floor: Bits<32>,
}

/// Place and extent of one flow's list.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct ListState {
    /// First entry of the list among all entries.
    pub base: Bits<24>,
    /// Entries of the list's place, less 1.
    pub mask: Bits<16>,
    /// First list index still needed.
    pub head: Bits<16>,
    /// List index of the next segment.
    pub tail: Bits<16>,
}

/// One posted segment.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct SegmentEntry {
    /// Stream position of the first byte.
    pub position: Bits<32>,
    /// Length of the segment in bytes.
    pub bytes: Bits<32>,
    /// Index of its region.
    pub region: Bits<16>,
    /// Key of its region.
    pub region_key: Bits<16>,
    /// Byte offset of the segment in the region.
    pub offset: Bits<48>,
}

/// A posted segment as it is stored: with its end in place of its length, because a search compares
/// a position with it at once.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct StoredSegment {
    /// Stream position of the first byte.
    pub position: Bits<32>,
    /// Stream position after the last byte.
    pub end: Bits<32>,
    /// Index of its region.
    pub region: Bits<16>,
    /// Key of its region.
    pub region_key: Bits<16>,
    /// Byte offset of the segment in the region.
    pub offset: Bits<48>,
}

/// What to do with a list.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum ListOperation {
    /// Empty the list and give it `base` and `mask`.
    Install,
    /// Append `entry` as `index`.
    Post,
    /// Shorten entry `index` to `entry.bytes`.
    Truncate,
    /// Move the head to `index`.
    SetHead,
    /// Move the head to `head`, and append `entry` as `index`.
    Advance,
    /// Copy the entries to `base` and go on there.
    Move,
}

/// A change of one flow's list.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct ListUpdate {
    /// Kind of the change.
    pub operation: ListOperation,
    /// Flow id.
    pub flow: Bits<16>,
    /// List index that the change is about.
    pub index: Bits<16>,
    /// New head, where a segment is appended as well.
    pub head: Bits<16>,
    /// First entry of the new place.
    pub base: Bits<24>,
    /// Entries of the new place, less 1.
    pub mask: Bits<16>,
    /// Segment to post, or its new length.
    pub entry: SegmentEntry,
}

/// One region.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct RegionEntry {
    /// Key that an access must carry.
    pub key: Bits<16>,
    /// Protection domain of the region.
    pub domain: Bits<16>,
    /// The card may write to the region.
    pub write: Bit,
    /// The card may read from the region.
    pub read: Bit,
    /// Number of the memory that the region lies in.
    pub memory: Bits<2>,
    /// log2 bytes of a page.
    pub page_bits: Bits<5>,
    /// First page entry.
    pub first_page: Bits<16>,
    /// Length of the region in bytes.
    pub bytes: Bits<48>,
}

/// A write of one region.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct RegionUpdate {
    /// Region index.
    pub region: Bits<16>,
    /// Epoch to store; 0 removes the region.
    pub epoch: Bits<16>,
    /// Write only if the region has the entry's key.
    pub by_key: Bit,
    /// New content of the region.
    pub entry: RegionEntry,
}

/// A write of one page entry.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct PageUpdate {
    /// Index of the page entry.
    pub page: Bits<16>,
    /// Epoch to store.
    pub epoch: Bits<16>,
    /// Bus address of the page.
    pub address: Bits<64>,
}

/// One command with its origin.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct CommandBeat {
    /// Owner of the ring.
    pub owner: Bits<8>,
    /// Index of the command.
    pub index: Bits<32>,
    /// Ring entry: the 64 bytes of the command.
    pub data: Bits<512>,
}

/// The state of a search for a segment, as it goes round the search loop.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct SearchToken {
    /// Reply slot of the search.
    pub slot: Bits<3>,
    /// The entry is fetched for an update: there is no reply slot.
    pub fetch: Bit,
    /// The entry is requested by its index: there is no search.
    pub by_index: Bit,
    /// First entry of the list among all entries.
    pub base: Bits<24>,
    /// Entries of the list's place, less 1.
    pub mask: Bits<16>,
    /// Number of candidates. 0: the result is `beyond`.
    pub count: Bits<16>,
    /// Index of the candidate to read: (count - 1) / 2 candidates lie before it, count / 2 after
    /// it.
    pub index: Bits<16>,
    /// List index after the last segment.
    pub tail: Bits<16>,
    /// Position to find.
    pub position: Bits<32>,
}

/// The result of a search.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct SearchResult {
    /// Reply slot of the search.
    pub slot: Bits<3>,
    /// The entry exists.
    pub found: Bit,
    /// The position or the index lies at or after the end of the list.
    pub beyond: Bit,
    /// List index of the entry.
    pub index: Bits<16>,
    /// Segment found.
    pub entry: SegmentEntry,
}

/// A write of one segment entry.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct EntryWrite {
    /// Address of the entry among all entries.
    pub address: Bits<24>,
    /// Segment to write.
    pub entry: SegmentEntry,
}

/// A write of one list's state.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct ListWrite {
    /// Flow id.
    pub flow: Bits<16>,
    /// New state of the list.
    pub state: ListState,
}

/// An access to a region, with the port that requests it.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct RegionAccess {
    /// Port of the request. 0: receive, 1: send.
    pub port: Bit,
    /// The access.
    pub request: RegionRequest,
}

/// An access after key, domain and right were compared.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct RegionChecked {
    /// Nothing refuses the access so far.
    pub granted: Bit,
    /// Offset after the last byte of the access.
    pub end: Bits<49>,
    /// Length of the region in bytes.
    pub length: Bits<48>,
    /// Number of the page in the region, modulo 2^16: see `region_check`.
    pub page_number: Bits<16>,
    /// First page entry of the region.
    pub first_page: Bits<16>,
    /// Bytes of a page.
    pub page_bytes: Bits<31>,
    /// Offset of the access in the page.
    pub page_offset: Bits<31>,
    /// Bytes requested.
    pub bytes: Bits<32>,
    /// Number of the memory that the region lies in.
    pub memory: Bits<2>,
}

/// An access whose page entry is known.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct RegionLocated {
    /// Nothing refuses the access so far.
    pub granted: Bit,
    /// Index of the page entry.
    pub page: Bits<16>,
    /// Offset of the access in the page.
    pub page_offset: Bits<31>,
    /// Bytes granted: those requested, at most up to the end of the page.
    pub bytes: Bits<32>,
    /// Number of the memory that the region lies in.
    pub memory: Bits<2>,
}

/// The bits of a 16-bit index that are beyond a table of 2^`BITS` entries. The build stops where
/// such an index cannot name them all.
pub const fn beyond_mask<const BITS: usize>() -> u64 {
    const { assert_index_bits(BITS) };
    0xffff & !((1 << BITS) - 1)
}
