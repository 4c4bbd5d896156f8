//! What the tables must answer, taken from the golden model, in the words of the lookup ports.

pub mod bench;
pub mod traffic;

use abi::flow_key::KEY_BYTES;
pub use golden::tables::List;
pub use golden::tables::{Segment, Tables as Model};

/// One command as the ring holds it.
pub type Command = [u8; 64];

/// A flow's state as a packet's lookup answers it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flow {
    pub generation: u8,
    pub owner: u8,
    pub profile: u8,
    pub timestamp_check: bool,
    pub domain: u16,
    pub floor: u32,
    pub cursor: u32,
    pub ack_low: u32,
    pub ack_high: u32,
    pub timestamp_floor: u32,
}

/// The answer to a segment request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SegmentAnswer {
    Found(u16, Segment),
    Beyond,
    Missing,
}

/// An access to a region.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    pub region: u16,
    pub key: u16,
    pub domain: u16,
    pub write: bool,
    pub offset: u64,
    pub bytes: u32,
}

/// The flow of a key.
pub fn lookup(model: &Model, key: &[u8; KEY_BYTES]) -> Option<(u16, Flow)> {
    let id = model.lookup(key)?;
    let flow = model.flow(id)?;
    let state = Flow {
        generation: flow.generation,
        owner: flow.owner,
        profile: flow.profile,
        timestamp_check: flow.timestamp_check,
        domain: flow.domain,
        floor: flow.floor,
        cursor: flow.cursor,
        ack_low: flow.ack_low,
        ack_high: flow.ack_high,
        timestamp_floor: flow.timestamp_floor,
    };
    Some((id, state))
}

/// A flow's list; an empty one of a flow that is not installed.
pub fn list_of(model: &Model, tx: bool, flow: u16) -> List {
    let flow = model.flow(flow);
    flow.map_or_else(List::default, |flow| flow.lists[usize::from(tx)].clone())
}

/// A flow's floor of one direction, 0 without the flow.
pub fn floor_of(model: &Model, tx: bool, flow: u16) -> u32 {
    let flow = model.flow(flow);
    flow.map_or(0, |flow| if tx { flow.send_floor } else { flow.floor })
}

/// The resident segments, the first with the list's head as its index.
pub fn segments_of(list: &List) -> Vec<Segment> {
    (0..list.resident_count()).filter_map(|at| list.at(list.head.wrapping_add(at))).collect()
}

/// The answer to a request by position.
pub fn segment_at(list: &List, position: u32) -> SegmentAnswer {
    match list.find(position) {
        Ok(index) => SegmentAnswer::Found(index, list.at(index).expect("found")),
        Err(true) => SegmentAnswer::Beyond,
        Err(false) => SegmentAnswer::Missing,
    }
}

/// The answer to a request by index.
pub fn segment_by_index(list: &List, index: u16) -> SegmentAnswer {
    let index = list.clamp(index);
    match list.at(index) {
        Some(segment) => SegmentAnswer::Found(index, segment),
        None => SegmentAnswer::Beyond,
    }
}

/// Bus address, contiguous bytes and memory of a granted access.
pub fn translate(model: &Model, access: &Access) -> Option<(u64, u32, u8)> {
    let place = Segment { region: access.region, region_key: access.key, ..Segment::default() };
    let bytes = u64::from(access.bytes);
    let (address, bytes, memory) =
        model.translate(&place, access.offset, bytes, access.domain, access.write)?;
    Some((address, bytes as u32, memory))
}
