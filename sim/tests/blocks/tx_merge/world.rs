//! Tables as a test describes them, built by commands in the golden model.
//!
//! ```text
//!   Flow, Segment, Region (plain) ── build ──> golden::tables::Tables
//! ```

use abi::command as c;
use abi::config::{COMMAND_BYTES, DEFAULT};
use abi::field::Field;
use abi::reason::CommandStatus;

/// One posted segment.
#[derive(Clone, Debug)]
pub struct Segment {
    pub position: u32,
    pub bytes: u32,
    pub region: u16,
    pub region_key: u16,
    pub offset: u64,
}

/// One flow: its state and its send list, whose first entry has index `head`.
#[derive(Clone, Debug)]
pub struct Flow {
    pub generation: u8,
    pub owner: u8,
    pub domain: u16,
    pub floor: u32,
    pub head: u16,
    pub segments: Vec<Segment>,
}

/// One region: contiguous offsets, scattered pages.
#[derive(Clone, Debug)]
pub struct Region {
    pub key: u16,
    pub domain: u16,
    pub read: bool,
    pub bytes: u64,
    pub page_bits: u32,
    pub pages: Vec<u64>,
}

impl Region {
    /// Bus address of an offset.
    pub fn address(&self, offset: u64) -> u64 {
        let page_bytes = 1 << self.page_bits;
        self.pages[(offset / page_bytes) as usize] + offset % page_bytes
    }
}

/// Everything that a descriptor is checked against.
#[derive(Clone, Debug, Default)]
pub struct Tables {
    pub flows: Vec<Option<Flow>>,
    pub regions: Vec<Region>,
}

impl Tables {
    /// Tables of the golden model with the same content.
    pub fn build(&self) -> golden::tables::Tables {
        let mut tables = golden::tables::Tables::new(DEFAULT);
        let mut page = 0;
        for (number, region) in self.regions.iter().enumerate() {
            install_region(&mut tables, number as u64, page, region);
            page += region.pages.len() as u64;
        }
        for (id, flow) in self.flows.iter().enumerate() {
            if let Some(flow) = flow {
                install_flow(&mut tables, id as u16, flow);
            }
        }
        tables
    }
}

fn apply(tables: &mut golden::tables::Tables, opcode: u8, fields: &[(Field, u64)]) {
    let mut entry = [0; COMMAND_BYTES];
    c::OPCODE.set(&mut entry, opcode.into());
    for (field, value) in fields {
        field.set(&mut entry, *value);
    }
    let status = tables.apply(0, &entry);
    assert_eq!(status, CommandStatus::Ok, "opcode {opcode} with {fields:?}");
}

fn install_region(
    tables: &mut golden::tables::Tables,
    number: u64,
    first_page: u64,
    region: &Region,
) {
    for (index, address) in (first_page..).zip(&region.pages) {
        let fields = [(c::PAGE, index), (c::PAGE_ADDRESS, *address)];
        apply(tables, c::PAGE_SET, &fields);
    }
    let fields = [
        (c::REGION, number),
        (c::REGION_KEY, region.key.into()),
        (c::REGION_DOMAIN, region.domain.into()),
        (c::REGION_READ, region.read.into()),
        (c::REGION_PAGE_BITS, region.page_bits.into()),
        (c::REGION_FIRST_PAGE, first_page),
        (c::REGION_BYTES, region.bytes),
    ];
    apply(tables, c::REGION_INSTALL, &fields);
}

fn install_flow(tables: &mut golden::tables::Tables, id: u16, flow: &Flow) {
    let name = [(c::FLOW, id.into()), (c::GENERATION, flow.generation.into())];
    let mut fields = name.to_vec();
    fields.extend([
        (c::OWNER, flow.owner.into()),
        (c::DOMAIN, flow.domain.into()),
        (c::INSTALL_SEND_FLOOR, flow.floor.into()),
        (c::TX_LIST_BITS, 12),
    ]);
    apply(tables, c::FLOW_INSTALL, &fields);
    let list = &mut tables.flow_mut(id).expect("just installed").lists[1];
    (list.head, list.tail) = (flow.head, flow.head);
    for (number, segment) in flow.segments.iter().enumerate() {
        let index = flow.head.wrapping_add(number as u16);
        let mut fields = name.to_vec();
        fields.extend([
            (c::DIRECTION, 1),
            (c::SEGMENT_INDEX, index.into()),
            (c::SEGMENT_POSITION, segment.position.into()),
            (c::SEGMENT_BYTES, segment.bytes.max(1).into()),
            (c::SEGMENT_REGION, segment.region.into()),
            (c::SEGMENT_REGION_KEY, segment.region_key.into()),
            (c::SEGMENT_OFFSET, segment.offset),
        ]);
        apply(tables, c::SEGMENT_POST, &fields);
        if segment.bytes == 0 {
            let fields = [name[0], name[1], (c::DIRECTION, 1), (c::SEGMENT_INDEX, index.into())];
            apply(tables, c::SEGMENT_TRUNCATE, &fields);
        }
    }
}
