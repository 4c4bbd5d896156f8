//! Messages inside the crate: what the command processor asks of the tables, and what they hold.

use abi::config::assert_index_bits;
use stream::prelude::*;

/// What a flow's entry says since its install.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct FlowInstalled {
    /// Generation of the entry.
    pub generation: Bits<8>,
    /// Owner of the flow.
    pub owner: Bits<8>,
    /// Header profile.
    pub profile: Bits<2>,
    /// A timestamp is demanded.
    pub timestamp_check: Bit,
    /// Protection domain.
    pub domain: Bits<16>,
}

/// What software accepts: moved by `floor_set`.
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

/// Write one key slot.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct KeyUpdate {
    /// Bucket.
    pub bucket: Bits<16>,
    /// Slot in both banks: way in bits 1:0, bank in bit 2.
    pub slot: Bits<3>,
    /// Epoch to store; 0 clears the slot.
    pub epoch: Bits<16>,
    /// Flow id.
    pub flow: Bits<16>,
    /// The key.
    pub key: Bits<384>,
}

/// Write parts of one flow's state, all in one cycle.
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
    /// Set the cursor to the floor. Without `write_installed`: unless it moved since the query.
    pub write_cursor: Bit,
    /// Epoch to store; 0 removes the flow.
    pub epoch: Bits<16>,
    /// Installed part.
    pub installed: FlowInstalled,
    /// Floor part.
    pub floor: FlowFloor,
    /// Send floor.
    pub send_floor: Bits<32>,
}

/// A flow's state as commands need it.
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
    /// First entry.
    pub base: Bits<24>,
    /// Entries - 1.
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
    /// Length in bytes.
    pub bytes: Bits<32>,
    /// Region index.
    pub region: Bits<16>,
    /// Region key.
    pub region_key: Bits<16>,
    /// Byte offset in the region.
    pub offset: Bits<48>,
}

/// A posted segment as it lies in memory: with its end in place of its length, since a search asks
/// at once whether a position lies before it.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct StoredSegment {
    /// Stream position of the first byte.
    pub position: Bits<32>,
    /// Stream position behind the last byte.
    pub end: Bits<32>,
    /// Region index.
    pub region: Bits<16>,
    /// Region key.
    pub region_key: Bits<16>,
    /// Byte offset in the region.
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
    /// Copy the entries to `base` and go on there.
    Move,
}

/// Change one flow's list.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct ListUpdate {
    /// What to do.
    pub operation: ListOperation,
    /// Flow id.
    pub flow: Bits<16>,
    /// List index.
    pub index: Bits<16>,
    /// First entry of the new place.
    pub base: Bits<24>,
    /// Entries of the new place - 1.
    pub mask: Bits<16>,
    /// Segment.
    pub entry: SegmentEntry,
}

/// One region.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct RegionEntry {
    /// Key.
    pub key: Bits<16>,
    /// Protection domain.
    pub domain: Bits<16>,
    /// The card may write.
    pub write: Bit,
    /// The card may read.
    pub read: Bit,
    /// Memory.
    pub memory: Bits<2>,
    /// log2 bytes of a page.
    pub page_bits: Bits<5>,
    /// First page entry.
    pub first_page: Bits<16>,
    /// Length in bytes.
    pub bytes: Bits<48>,
}

/// Write one region.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct RegionUpdate {
    /// Region index.
    pub region: Bits<16>,
    /// Epoch to store; 0 removes the region.
    pub epoch: Bits<16>,
    /// Only when the region has the entry's key.
    pub by_key: Bit,
    /// The region.
    pub entry: RegionEntry,
}

/// Write one page entry.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct PageUpdate {
    /// Page entry.
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
    /// Ring entry.
    pub data: Bits<512>,
}

/// A search for a segment on its way.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct SearchToken {
    /// Where the answer goes.
    pub slot: Bits<3>,
    /// The entry is fetched for an update: no slot.
    pub fetch: Bit,
    /// The entry is asked for by its index: no search.
    pub by_index: Bit,
    /// First entry of the list.
    pub base: Bits<24>,
    /// Entries of the list - 1.
    pub mask: Bits<16>,
    /// Candidates; 0: the answer is `beyond`.
    pub count: Bits<16>,
    /// The one to read: (count - 1) / 2 lie before it, count / 2 behind it.
    pub index: Bits<16>,
    /// End of the list.
    pub tail: Bits<16>,
    /// Position to find.
    pub position: Bits<32>,
}

/// The answer of a search.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct SearchResult {
    /// Reply slot.
    pub slot: Bits<3>,
    /// The entry exists.
    pub found: Bit,
    /// The position or the index lies at or beyond the end.
    pub beyond: Bit,
    /// List index.
    pub index: Bits<16>,
    /// The segment.
    pub entry: SegmentEntry,
}

/// Write one segment entry.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct EntryWrite {
    /// Place among all entries.
    pub address: Bits<24>,
    /// The segment.
    pub entry: SegmentEntry,
}

/// Write one list's state.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct ListWrite {
    /// Flow id.
    pub flow: Bits<16>,
    /// The state.
    pub state: ListState,
}

/// An access to a region with the port that asks.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct RegionAsk {
    /// 0: rx, 1: tx.
    pub port: Bit,
    /// The access.
    pub request: RegionRequest,
}

/// An access after key, domain and right were compared.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct RegionChecked {
    /// All fine so far.
    pub granted: Bit,
    /// First byte behind the access.
    pub end: Bits<49>,
    /// Length of the region.
    pub length: Bits<48>,
    /// Page of the region.
    pub page_number: Bits<16>,
    /// First page entry of the region.
    pub first_page: Bits<16>,
    /// Bytes of a page.
    pub page_bytes: Bits<31>,
    /// Offset in the page.
    pub page_offset: Bits<31>,
    /// Bytes wanted.
    pub bytes: Bits<32>,
    /// Memory of the region.
    pub memory: Bits<2>,
}

/// An access whose page entry is known.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct RegionLocated {
    /// All fine so far.
    pub granted: Bit,
    /// Page entry.
    pub page: Bits<16>,
    /// Offset in the page.
    pub page_offset: Bits<31>,
    /// Bytes, at most to the end of the page.
    pub bytes: Bits<32>,
    /// Memory of the region.
    pub memory: Bits<2>,
}

/// The bits of a 16-bit index that are beyond a table of 2^`BITS` entries. The build stops where
/// such an index cannot name them all.
pub const fn beyond_mask<const BITS: usize>() -> u64 {
    const { assert_index_bits(BITS) };
    0xffff & !((1 << BITS) - 1)
}
