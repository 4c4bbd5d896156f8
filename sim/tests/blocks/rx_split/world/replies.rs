//! What the tables answer to the receive path.

use golden::tables::{Segment, Tables};
use sim::harness::payload::field;
use stream::messages::*;

pub fn flow_reply(tables: &Tables, request: &[u8]) -> FlowReply {
    let key = request.try_into().expect("a key is 48 bytes");
    let Some(id) = tables.lookup(key) else {
        return FlowReply::default();
    };
    let flow = tables.flow(id).expect("a hit leads to a flow");
    FlowReply {
        hit: true,
        flow: u64::from(id).into(),
        generation: u64::from(flow.generation).into(),
        owner: u64::from(flow.owner).into(),
        profile: u64::from(flow.profile).into(),
        timestamp_check: flow.timestamp_check,
        domain: u64::from(flow.domain).into(),
        floor: u64::from(flow.floor).into(),
        ack_low: u64::from(flow.ack_low).into(),
        ack_high: u64::from(flow.ack_high).into(),
        timestamp_floor: u64::from(flow.timestamp_floor).into(),
    }
}

pub fn segment_reply(tables: &Tables, request: &[u8]) -> SegmentReply {
    let value = |name| field::<SegmentRequest>(request, name);
    let flow = tables.flow(value("flow") as u16).expect("a flow that hit");
    let list = &flow.lists[0];
    let found = if value("by_index") == 1 {
        let index = value("index") as u16;
        list.at(index).map(|_| index).ok_or(true)
    } else {
        list.find(value("position") as u32)
    };
    let mut reply = SegmentReply::default();
    match found {
        Err(beyond) => reply.beyond = beyond,
        Ok(index) => {
            let segment = list.at(index).expect("it was found");
            reply.found = true;
            reply.index = u64::from(index).into();
            reply.position = u64::from(segment.position).into();
            reply.bytes = u64::from(segment.bytes).into();
            reply.region = u64::from(segment.region).into();
            reply.region_key = u64::from(segment.region_key).into();
            reply.offset = segment.offset.into();
        }
    }
    reply
}

pub fn region_reply(tables: &Tables, request: &[u8]) -> RegionReply {
    let value = |name| field::<RegionRequest>(request, name);
    let segment = Segment {
        region: value("region") as u16,
        region_key: value("region_key") as u16,
        offset: value("offset"),
        ..Segment::default()
    };
    assert!(value("bytes") > 0);
    let domain = value("domain") as u16;
    let grant = tables.translate(&segment, 0, value("bytes"), domain, value("write") == 1);
    let mut reply = RegionReply::default();
    if let Some((address, bytes, memory)) = grant {
        reply.granted = true;
        reply.address = address.into();
        reply.bytes = bytes.into();
        reply.memory = u64::from(memory).into();
    }
    reply
}
