//! Packs commands in the layout of [`abi::command`].

use abi::command as field;
use abi::config::{COMMAND_BYTES, SEGMENTS_COMMITTED_BITS};
use abi::flow_key::KEY_BYTES;

/// One command, packed.
pub type Entry = [u8; COMMAND_BYTES];

/// A command with its opcode alone. Each field is set by name, so that the compiler knows its
/// place.
#[inline]
fn pack(opcode: u8) -> Entry {
    let mut entry = [0; COMMAND_BYTES];
    field::OPCODE.set(&mut entry, opcode.into());
    entry
}

/// A command of a flow.
#[inline]
fn pack_named(opcode: u8, name: FlowName) -> Entry {
    let mut entry = pack(opcode);
    field::FLOW.set(&mut entry, name.flow.into());
    field::GENERATION.set(&mut entry, name.generation.into());
    entry
}

/// Names a flow on the card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowName {
    /// Flow id.
    pub flow: u16,
    /// Generation of the flow id.
    pub generation: u8,
}

/// Direction of a segment list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Receive list.
    Receive,
    /// Send list.
    Send,
}

/// Limits within which the card places packets of the peer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Acceptance {
    /// Receive floor.
    pub floor: u32,
    /// Lowest ACK number.
    pub ack_low: u32,
    /// Highest ACK number.
    pub ack_high: u32,
    /// Oldest timestamp accepted from the peer, if timestamps are checked. Whether they are is
    /// fixed for the life of a flow.
    pub timestamp_floor: Option<u32>,
}

/// A segment list of a flow: first entry and log2 of its length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct List {
    /// First entry.
    pub base: u32,
    /// Entries, log2.
    pub bits: u8,
}

impl List {
    /// The committed list of a flow.
    pub fn committed(flow: u16) -> Self {
        Self {
            base: u32::from(flow) << SEGMENTS_COMMITTED_BITS,
            bits: SEGMENTS_COMMITTED_BITS as u8,
        }
    }

    /// Number of entries.
    pub fn capacity(self) -> u16 {
        1 << self.bits
    }
}

/// Fields of flow_install.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowInstall {
    /// Name of the flow.
    pub name: FlowName,
    /// Owner whose header queue receives the flow's packets.
    pub owner: u8,
    /// Protection domain.
    pub domain: u16,
    /// Limits of the receive side.
    pub acceptance: Acceptance,
    /// Send floor.
    pub send_floor: u32,
    /// First entry and log2 length of the receive list and of the send list.
    pub lists: [(u32, u8); 2],
}

/// A key slot of the flow table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KeySlot {
    /// Bank of the flow table.
    pub bank: u8,
    /// Bucket of the bank.
    pub bucket: u16,
    /// Way in the bucket.
    pub way: u8,
}

/// A posted segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// List index.
    pub index: u16,
    /// Stream position of its first byte.
    pub position: u32,
    /// Length.
    pub bytes: u32,
    /// Region index.
    pub region: u16,
    /// Region key.
    pub region_key: u16,
    /// Byte offset in the region.
    pub offset: u64,
}

/// Fields of region_install.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegionInstall {
    /// Region index.
    pub region: u16,
    /// Region key.
    pub key: u16,
    /// Protection domain.
    pub domain: u16,
    /// Memory number.
    pub memory: u8,
    /// Bytes of a page, log2.
    pub page_bits: u8,
    /// First page entry.
    pub first_page: u16,
    /// Length.
    pub bytes: u64,
}

/// Packs flow_install.
pub fn flow_install(install: &FlowInstall) -> Entry {
    let mut entry = pack_named(field::FLOW_INSTALL, install.name);
    let acceptance = &install.acceptance;
    let timestamp_floor = acceptance.timestamp_floor;
    field::OWNER.set(&mut entry, install.owner.into());
    field::DOMAIN.set(&mut entry, install.domain.into());
    field::INSTALL_FLOOR.set(&mut entry, acceptance.floor.into());
    field::INSTALL_ACK_LOW.set(&mut entry, acceptance.ack_low.into());
    field::INSTALL_ACK_HIGH.set(&mut entry, acceptance.ack_high.into());
    field::TIMESTAMP_CHECK.set(&mut entry, timestamp_floor.is_some().into());
    field::INSTALL_TIMESTAMP_FLOOR.set(&mut entry, timestamp_floor.unwrap_or(0).into());
    field::INSTALL_SEND_FLOOR.set(&mut entry, install.send_floor.into());
    field::RX_LIST_BASE.set(&mut entry, install.lists[0].0.into());
    field::RX_LIST_BITS.set(&mut entry, install.lists[0].1.into());
    field::TX_LIST_BASE.set(&mut entry, install.lists[1].0.into());
    field::TX_LIST_BITS.set(&mut entry, install.lists[1].1.into());
    entry
}

/// Packs flow_remove.
pub fn flow_remove(name: FlowName) -> Entry {
    pack_named(field::FLOW_REMOVE, name)
}

/// A command of a key slot.
fn pack_slot(opcode: u8, slot: KeySlot, flow: u16) -> Entry {
    let mut entry = pack(opcode);
    field::FLOW.set(&mut entry, flow.into());
    field::KEY_BANK.set(&mut entry, slot.bank.into());
    field::KEY_BUCKET.set(&mut entry, slot.bucket.into());
    field::KEY_WAY.set(&mut entry, slot.way.into());
    entry
}

/// Packs key_set.
pub fn key_set(slot: KeySlot, flow: u16, key: &[u8; KEY_BYTES]) -> Entry {
    let mut entry = pack_slot(field::KEY_SET, slot, flow);
    entry[field::KEY_AT_BYTES..].copy_from_slice(key);
    entry
}

/// Packs key_clear.
pub fn key_clear(slot: KeySlot) -> Entry {
    pack_slot(field::KEY_CLEAR, slot, 0)
}

/// Packs floor_set.
pub fn floor_set(name: FlowName, acceptance: Acceptance, head: u16) -> Entry {
    let mut entry = pack_named(field::FLOOR_SET, name);
    let timestamp_floor = acceptance.timestamp_floor.unwrap_or(0);
    field::FLOOR.set(&mut entry, acceptance.floor.into());
    field::ACK_LOW.set(&mut entry, acceptance.ack_low.into());
    field::ACK_HIGH.set(&mut entry, acceptance.ack_high.into());
    field::TIMESTAMP_FLOOR.set(&mut entry, timestamp_floor.into());
    field::HEAD.set(&mut entry, head.into());
    entry
}

/// Packs send_floor_set.
pub fn send_floor_set(name: FlowName, floor: u32, head: u16) -> Entry {
    let mut entry = pack_named(field::SEND_FLOOR_SET, name);
    field::FLOOR.set(&mut entry, floor.into());
    field::HEAD.set(&mut entry, head.into());
    entry
}

/// What flow_advance moves, beside the segment that it may append.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Advance {
    /// Receive floor, and limits of the receive side.
    pub acceptance: Acceptance,
    /// First index of the receive list still needed.
    pub head: u16,
    /// Send floor.
    pub send_floor: u32,
    /// First index of the send list still needed.
    pub send_head: u16,
}

/// Packs flow_advance, with the segment that it appends.
pub fn flow_advance(
    name: FlowName,
    advance: &Advance,
    append: Option<(Direction, Segment)>,
) -> Entry {
    let mut entry = pack_named(field::FLOW_ADVANCE, name);
    let acceptance = &advance.acceptance;
    field::FLOOR.set(&mut entry, acceptance.floor.into());
    field::ACK_LOW.set(&mut entry, acceptance.ack_low.into());
    field::ACK_HIGH.set(&mut entry, acceptance.ack_high.into());
    field::TIMESTAMP_FLOOR.set(&mut entry, acceptance.timestamp_floor.unwrap_or(0).into());
    field::HEAD.set(&mut entry, advance.head.into());
    field::SEND_FLOOR.set(&mut entry, advance.send_floor.into());
    field::SEND_HEAD.set(&mut entry, advance.send_head.into());
    if let Some((direction, segment)) = append {
        let is_send = direction == Direction::Send;
        field::APPENDS.set(&mut entry, 1);
        field::APPEND_DIRECTION.set(&mut entry, is_send.into());
        field::APPEND_INDEX.set(&mut entry, segment.index.into());
        field::APPEND_POSITION.set(&mut entry, segment.position.into());
        field::APPEND_BYTES.set(&mut entry, segment.bytes.into());
        field::APPEND_REGION.set(&mut entry, segment.region.into());
        field::APPEND_REGION_KEY.set(&mut entry, segment.region_key.into());
        field::APPEND_OFFSET.set(&mut entry, segment.offset);
    }
    entry
}

/// Packs segment_post.
pub fn segment_post(name: FlowName, direction: Direction, segment: &Segment) -> Entry {
    let mut entry = pack_named(field::SEGMENT_POST, name);
    let is_send = direction == Direction::Send;
    field::DIRECTION.set(&mut entry, is_send.into());
    field::SEGMENT_INDEX.set(&mut entry, segment.index.into());
    field::SEGMENT_POSITION.set(&mut entry, segment.position.into());
    field::SEGMENT_BYTES.set(&mut entry, segment.bytes.into());
    field::SEGMENT_REGION.set(&mut entry, segment.region.into());
    field::SEGMENT_REGION_KEY.set(&mut entry, segment.region_key.into());
    field::SEGMENT_OFFSET.set(&mut entry, segment.offset);
    entry
}

/// Packs segment_truncate for a receive segment.
pub fn segment_truncate(name: FlowName, index: u16, bytes: u32) -> Entry {
    let mut entry = pack_named(field::SEGMENT_TRUNCATE, name);
    field::SEGMENT_INDEX.set(&mut entry, index.into());
    field::SEGMENT_BYTES.set(&mut entry, bytes.into());
    entry
}

/// Packs list_move, which moves a list and its entries to another place.
pub fn list_move(name: FlowName, direction: Direction, list: List) -> Entry {
    let mut entry = pack_named(field::LIST_MOVE, name);
    let is_send = direction == Direction::Send;
    field::DIRECTION.set(&mut entry, is_send.into());
    field::LIST_BASE.set(&mut entry, list.base.into());
    field::LIST_BITS.set(&mut entry, list.bits.into());
    entry
}

/// Packs region_install with read and write rights.
pub fn region_install(region: &RegionInstall) -> Entry {
    let mut entry = pack(field::REGION_INSTALL);
    field::REGION.set(&mut entry, region.region.into());
    field::REGION_KEY.set(&mut entry, region.key.into());
    field::REGION_DOMAIN.set(&mut entry, region.domain.into());
    field::REGION_WRITE.set(&mut entry, 1);
    field::REGION_READ.set(&mut entry, 1);
    field::REGION_MEMORY.set(&mut entry, region.memory.into());
    field::REGION_PAGE_BITS.set(&mut entry, region.page_bits.into());
    field::REGION_FIRST_PAGE.set(&mut entry, region.first_page.into());
    field::REGION_BYTES.set(&mut entry, region.bytes);
    entry
}

/// Packs region_remove.
pub fn region_remove(region: u16, key: u16) -> Entry {
    let mut entry = pack(field::REGION_REMOVE);
    field::REGION.set(&mut entry, region.into());
    field::REGION_KEY.set(&mut entry, key.into());
    entry
}

/// Packs page_set.
pub fn page_set(page: u16, address: u64) -> Entry {
    let mut entry = pack(field::PAGE_SET);
    field::PAGE.set(&mut entry, page.into());
    field::PAGE_ADDRESS.set(&mut entry, address);
    entry
}
