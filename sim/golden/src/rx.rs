//! What becomes of a received frame: the numbered rules of `docs/specification.md`,
//! "Receive, Placement".

use abi::config::{FLOW_REACH_BYTES, PIECES_MAX};
use abi::reason::{Disposition, DropReason};

use crate::packet::{parse, Kind, Packet, Tcp};
use crate::tables::{Flow, Tables};

const FLAGS_PLACED: u8 = 0x01 | 0x08 | 0x10 | 0x40 | 0x80;
const FLAG_ACK: u8 = 0x10;

/// A piece of payload and where it goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Bus address.
    pub address: u64,
    /// Bytes of the piece.
    pub bytes: Vec<u8>,
    /// Memory of the region.
    pub memory: u8,
}

/// A frame whose header is delivered to the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// What became of the payload.
    pub disposition: Disposition,
    /// Flow id, if there is one.
    pub flow: Option<u16>,
    /// Owner whose queue takes the entry.
    pub owner: u8,
    /// Generation of the flow.
    pub generation: u8,
    /// The parsed packet.
    pub packet: Packet,
    /// Payload bytes cut off below the floor.
    pub trimmed_bytes: usize,
    /// Cursor after the packet.
    pub cursor: u32,
    /// List index of the first segment written.
    pub segment_index: u16,
    /// Payload writes, in stream order.
    pub pieces: Vec<Piece>,
    /// Payload that goes to a slow buffer.
    pub deferred: Option<Vec<u8>>,
}

/// Judges one frame and moves the flow's cursor. The caller checks the free space of the queue and
/// of the slow buffers: on a drop for want of it, the caller restores the cursor with [`undo`].
pub fn receive(tables: &mut Tables, frame: &[u8]) -> Result<Delivery, DropReason> {
    let packet = parse(frame, &tables.profiles)?;
    let payload = &frame[packet.header_bytes..packet.header_bytes + packet.payload_bytes];
    let mut delivery = Delivery {
        disposition: Disposition::NotTransport,
        flow: None,
        owner: 0,
        generation: 0,
        packet,
        trimmed_bytes: 0,
        cursor: 0,
        segment_index: 0,
        pieces: Vec::new(),
        deferred: None,
    };
    decide(tables, payload, &mut delivery);
    let deferred = !matches!(
        delivery.disposition,
        Disposition::PlacedInOrder
            | Disposition::PlacedAhead
            | Disposition::NoPayload
            | Disposition::Old
    );
    if deferred {
        delivery.pieces.clear();
        delivery.trimmed_bytes = 0;
        delivery.deferred = (!payload.is_empty()).then(|| payload.to_vec());
    }
    Ok(delivery)
}

/// Restores the cursor that [`receive`] moved, when the packet was dropped for want of free space.
pub fn undo(tables: &mut Tables, delivery: &Delivery) {
    if delivery.disposition != Disposition::PlacedInOrder {
        return;
    }
    if let Some(flow) = delivery.flow.and_then(|flow| tables.flow_mut(flow)) {
        let bytes = delivery.packet.payload_bytes - delivery.trimmed_bytes;
        flow.cursor = flow.cursor.wrapping_sub(bytes as u32);
    }
}

fn decide(tables: &mut Tables, payload: &[u8], delivery: &mut Delivery) {
    let packet = delivery.packet.clone();
    let tcp = match packet.kind {
        Kind::NotTransport => return,
        Kind::Unverified => {
            delivery.disposition = Disposition::Unverified;
            return;
        }
        Kind::Tcp(tcp) => Some(tcp),
        Kind::Udp => None,
    };
    let found = tables.lookup(&packet.key);
    let Some((id, flow)) = found.and_then(|id| Some((id, tables.flow(id)?))) else {
        delivery.disposition = Disposition::NoFlow;
        return;
    };
    delivery.flow = Some(id);
    delivery.owner = flow.owner;
    delivery.generation = flow.generation;
    delivery.cursor = flow.cursor;
    if let Some(disposition) = refuse(&packet, tcp, flow) {
        delivery.disposition = disposition;
        return;
    }
    let trim = (flow.floor.wrapping_sub(packet.position) as i32).max(0) as usize;
    let start = packet.position.wrapping_add(trim as u32);
    let bytes = payload.len() - trim;
    let reach = u64::from(start.wrapping_sub(flow.floor)) + bytes as u64;
    if reach >= u64::from(FLOW_REACH_BYTES) {
        delivery.disposition = Disposition::AheadOfWindow;
        return;
    }
    if (start.wrapping_sub(flow.cursor) as i32) < 0 {
        delivery.disposition = Disposition::Duplicate;
        return;
    }
    delivery.trimmed_bytes = trim;
    delivery.disposition = match walk(tables, flow, start, &payload[trim..], delivery) {
        Err(disposition) => disposition,
        Ok(()) if start == flow.cursor => {
            let cursor = start.wrapping_add(bytes as u32);
            if let Some(flow) = tables.flow_mut(id) {
                flow.cursor = cursor;
            }
            delivery.cursor = cursor;
            Disposition::PlacedInOrder
        }
        Ok(()) => Disposition::PlacedAhead,
    };
}

/// Rules 2 to 7.
fn refuse(packet: &Packet, tcp: Option<Tcp>, flow: &Flow) -> Option<Disposition> {
    if flow.profile != packet.profile {
        return Some(Disposition::Profile);
    }
    if packet.payload_bytes == 0 {
        return Some(Disposition::NoPayload);
    }
    if let Some(tcp) = tcp {
        if tcp.flags & !FLAGS_PLACED != 0 || tcp.flags & FLAG_ACK == 0 {
            return Some(Disposition::Flags);
        }
        let range = flow.ack_high.wrapping_sub(flow.ack_low);
        if tcp.acknowledgement.wrapping_sub(flow.ack_low) > range {
            return Some(Disposition::AckOutOfRange);
        }
        let newer = |value: u32| value.wrapping_sub(flow.timestamp_floor) as i32 >= 0;
        if flow.timestamp_check && !tcp.timestamp.is_some_and(newer) {
            return Some(Disposition::TimestampOld);
        }
    }
    let end = packet.position.wrapping_add(packet.payload_bytes as u32);
    if (end.wrapping_sub(flow.floor) as i32) <= 0 {
        return Some(Disposition::Old);
    }
    None
}

/// Rule 11.
fn walk(
    tables: &Tables,
    flow: &Flow,
    start: u32,
    payload: &[u8],
    delivery: &mut Delivery,
) -> Result<(), Disposition> {
    let missing = |beyond: bool| match beyond {
        true => Disposition::AheadOfWindow,
        false => Disposition::NoSegment,
    };
    let list = &flow.lists[0];
    let mut index = list.find(start).map_err(missing)?;
    delivery.segment_index = index;
    let mut at = 0;
    while at < payload.len() {
        let position = start.wrapping_add(at as u32);
        let segment = list.at(index).ok_or(Disposition::AheadOfWindow)?;
        let within = position.wrapping_sub(segment.position);
        if within >= segment.bytes {
            index = index.wrapping_add(1);
            let next = list.at(index).ok_or(Disposition::AheadOfWindow)?;
            if next.position != position {
                return Err(Disposition::NoSegment);
            }
            continue;
        }
        let wanted = (payload.len() - at).min((segment.bytes - within) as usize);
        let grant = tables.translate(&segment, within.into(), wanted as u64, flow.domain, true);
        let (address, contiguous, memory) = grant.ok_or(Disposition::RegionRefused)?;
        if delivery.pieces.len() == PIECES_MAX {
            return Err(Disposition::TooManyPieces);
        }
        let take = contiguous as usize;
        let bytes = payload[at..at + take].to_vec();
        delivery.pieces.push(Piece { address, bytes, memory });
        at += take;
    }
    Ok(())
}
