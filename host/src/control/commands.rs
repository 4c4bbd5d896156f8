//! Packs commands in the layout of [`abi::command`].

use abi::command as field;
use abi::config::{COMMAND_BYTES, SEGMENTS_COMMITTED_BITS};
use abi::field::Field;
use abi::flow_key::KEY_BYTES;

/// One command, packed.
pub type Entry = [u8; COMMAND_BYTES];

fn pack(opcode: u8, fields: &[(Field, u64)]) -> Entry {
    let mut entry = [0; COMMAND_BYTES];
    field::OPCODE.set(&mut entry, opcode.into());
    for (field, value) in fields {
        field.set(&mut entry, *value);
    }
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

fn named(name: FlowName) -> [(Field, u64); 2] {
    [
        (field::FLOW, name.flow.into()),
        (field::GENERATION, name.generation.into()),
    ]
}

/// Packs flow_install.
pub fn flow_install(install: &FlowInstall) -> Entry {
    let mut fields = named(install.name).to_vec();
    fields.extend([
        (field::OWNER, install.owner.into()),
        (field::DOMAIN, install.domain.into()),
        (field::INSTALL_FLOOR, install.acceptance.floor.into()),
        (field::INSTALL_ACK_LOW, install.acceptance.ack_low.into()),
        (field::INSTALL_ACK_HIGH, install.acceptance.ack_high.into()),
        (
            field::TIMESTAMP_CHECK,
            install.acceptance.timestamp_floor.is_some().into(),
        ),
        (
            field::INSTALL_TIMESTAMP_FLOOR,
            install.acceptance.timestamp_floor.unwrap_or(0).into(),
        ),
        (field::INSTALL_SEND_FLOOR, install.send_floor.into()),
        (field::RX_LIST_BASE, install.lists[0].0.into()),
        (field::RX_LIST_BITS, install.lists[0].1.into()),
        (field::TX_LIST_BASE, install.lists[1].0.into()),
        (field::TX_LIST_BITS, install.lists[1].1.into()),
    ]);
    pack(field::FLOW_INSTALL, &fields)
}

/// Packs flow_remove.
pub fn flow_remove(name: FlowName) -> Entry {
    pack(field::FLOW_REMOVE, &named(name))
}

fn slot_fields(slot: KeySlot, flow: u16) -> [(Field, u64); 4] {
    [
        (field::FLOW, flow.into()),
        (field::KEY_BANK, slot.bank.into()),
        (field::KEY_BUCKET, slot.bucket.into()),
        (field::KEY_WAY, slot.way.into()),
    ]
}

/// Packs key_set.
pub fn key_set(slot: KeySlot, flow: u16, key: &[u8; KEY_BYTES]) -> Entry {
    let mut entry = pack(field::KEY_SET, &slot_fields(slot, flow));
    entry[field::KEY_AT_BYTES..].copy_from_slice(key);
    entry
}

/// Packs key_clear.
pub fn key_clear(slot: KeySlot) -> Entry {
    pack(field::KEY_CLEAR, &slot_fields(slot, 0))
}

/// Packs floor_set.
pub fn floor_set(name: FlowName, acceptance: Acceptance, head: u16) -> Entry {
    let mut fields = named(name).to_vec();
    fields.extend([
        (field::FLOOR, acceptance.floor.into()),
        (field::ACK_LOW, acceptance.ack_low.into()),
        (field::ACK_HIGH, acceptance.ack_high.into()),
        (
            field::TIMESTAMP_FLOOR,
            acceptance.timestamp_floor.unwrap_or(0).into(),
        ),
        (field::HEAD, head.into()),
    ]);
    pack(field::FLOOR_SET, &fields)
}

/// Packs send_floor_set.
pub fn send_floor_set(name: FlowName, floor: u32, head: u16) -> Entry {
    let mut fields = named(name).to_vec();
    fields.extend([(field::FLOOR, floor.into()), (field::HEAD, head.into())]);
    pack(field::SEND_FLOOR_SET, &fields)
}

/// Packs segment_post.
pub fn segment_post(name: FlowName, direction: Direction, segment: &Segment) -> Entry {
    let mut fields = named(name).to_vec();
    fields.extend([
        (field::DIRECTION, u64::from(direction == Direction::Send)),
        (field::SEGMENT_INDEX, segment.index.into()),
        (field::SEGMENT_POSITION, segment.position.into()),
        (field::SEGMENT_BYTES, segment.bytes.into()),
        (field::SEGMENT_REGION, segment.region.into()),
        (field::SEGMENT_REGION_KEY, segment.region_key.into()),
        (field::SEGMENT_OFFSET, segment.offset),
    ]);
    pack(field::SEGMENT_POST, &fields)
}

/// Packs segment_truncate for a receive segment.
pub fn segment_truncate(name: FlowName, index: u16, bytes: u32) -> Entry {
    let mut fields = named(name).to_vec();
    fields.extend([
        (field::SEGMENT_INDEX, index.into()),
        (field::SEGMENT_BYTES, bytes.into()),
    ]);
    pack(field::SEGMENT_TRUNCATE, &fields)
}

/// Packs list_move, which moves a list and its entries to another place.
pub fn list_move(name: FlowName, direction: Direction, list: List) -> Entry {
    let mut fields = named(name).to_vec();
    fields.extend([
        (field::DIRECTION, u64::from(direction == Direction::Send)),
        (field::LIST_BASE, list.base.into()),
        (field::LIST_BITS, list.bits.into()),
    ]);
    pack(field::LIST_MOVE, &fields)
}

/// Packs region_install with read and write rights.
pub fn region_install(region: &RegionInstall) -> Entry {
    pack(
        field::REGION_INSTALL,
        &[
            (field::REGION, region.region.into()),
            (field::REGION_KEY, region.key.into()),
            (field::REGION_DOMAIN, region.domain.into()),
            (field::REGION_WRITE, 1),
            (field::REGION_READ, 1),
            (field::REGION_MEMORY, region.memory.into()),
            (field::REGION_PAGE_BITS, region.page_bits.into()),
            (field::REGION_FIRST_PAGE, region.first_page.into()),
            (field::REGION_BYTES, region.bytes),
        ],
    )
}

/// Packs region_remove.
pub fn region_remove(region: u16, key: u16) -> Entry {
    pack(
        field::REGION_REMOVE,
        &[
            (field::REGION, region.into()),
            (field::REGION_KEY, key.into()),
        ],
    )
}

/// Packs page_set.
pub fn page_set(page: u16, address: u64) -> Entry {
    pack(
        field::PAGE_SET,
        &[(field::PAGE, page.into()), (field::PAGE_ADDRESS, address)],
    )
}
