//! What a send descriptor becomes: the rules of `docs/specification.md`, Send.

use std::ops::Range;

use abi::config::{
    FRAME_BYTES_MAX, FRAME_BYTES_MIN, FRAME_PAYLOAD_BYTES_MAX, METADATA_BYTES, SEND_PIECES_MAX,
    SEND_PIECE_BYTES_MAX, SEND_READ_BYTES_MAX,
};
use abi::reason::SendError;
use abi::send_descriptor as d;

use crate::checksum::{fold, pseudo_header, sum};
use crate::tables::{Flow, Tables};

const FIN_PSH: u8 = 0x09;
const CWR: u8 = 0x80;

/// A descriptor's fields, decoded once.
struct Descriptor<'a> {
    record: &'a [u8],
    header: &'a [u8],
    l3: usize,
    l4: usize,
    ipv6: bool,
    udp: bool,
    ip_checksum: bool,
    l4_checksum: bool,
}

impl<'a> Descriptor<'a> {
    fn read(record: &'a [u8]) -> Option<Descriptor<'a>> {
        let header_bytes = d::HEADER_BYTES.get(record) as usize;
        let header = record.get(METADATA_BYTES..METADATA_BYTES + header_bytes)?;
        let flag = |field: abi::field::Field| field.get(record) == 1;
        Some(Descriptor {
            record,
            header,
            l3: d::L3_OFFSET.get(record) as usize,
            l4: d::L4_OFFSET.get(record) as usize,
            ipv6: flag(d::IPV6),
            udp: flag(d::UDP),
            ip_checksum: flag(d::IP_CHECKSUM),
            l4_checksum: flag(d::L4_CHECKSUM),
        })
    }
}

/// What becomes of a descriptor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// Frames, in order.
    pub frames: Vec<Vec<u8>>,
    /// What is counted and reported. With `read_failed` the frames are those that no failed read
    /// feeds; with any other error there are none.
    pub error: Option<SendError>,
}

/// Decides on one descriptor. `read` gives bytes of bus memory, `None` on failure.
pub fn send(
    tables: &Tables,
    owner: u8,
    record: &[u8],
    read: &mut dyn FnMut(u64, usize) -> Option<Vec<u8>>,
) -> Sent {
    let seen = tables.flow(d::FLOW.get(record) as u16);
    send_seen(seen, tables, owner, record, read)
}

/// Decides on one descriptor whose flow was looked up as `seen`, and whose list and regions are
/// looked up now: commands may have come between.
pub fn send_seen(
    seen: Option<&Flow>,
    tables: &Tables,
    owner: u8,
    record: &[u8],
    read: &mut dyn FnMut(u64, usize) -> Option<Vec<u8>>,
) -> Sent {
    match frames_of(seen, tables, owner, record, read) {
        Ok((frames, all)) => Sent { frames, error: (!all).then_some(SendError::ReadFailed) },
        Err(error) => Sent { frames: Vec::new(), error: Some(error) },
    }
}

/// The frames, and whether none is missing.
fn frames_of(
    seen: Option<&Flow>,
    tables: &Tables,
    owner: u8,
    record: &[u8],
    read: &mut dyn FnMut(u64, usize) -> Option<Vec<u8>>,
) -> Result<(Vec<Vec<u8>>, bool), SendError> {
    let descriptor = Descriptor::read(record).ok_or(SendError::SendMalformed)?;
    let header_bytes = descriptor.header.len();
    let kind = d::KIND.get(record) as u8;
    if !(14..=224).contains(&header_bytes) || !matches!(kind, d::KIND_SEND | d::KIND_RAW) {
        return Err(SendError::SendMalformed);
    }
    if !offsets_fit(&descriptor) {
        return Err(SendError::SendMalformed);
    }
    if kind == d::KIND_RAW {
        let frame = finish(&descriptor, descriptor.header.to_vec(), false);
        return Ok((vec![frame], true));
    }
    let payload_bytes = d::PAYLOAD_BYTES.get(record) as usize;
    let mss = d::MSS_BYTES.get(record) as usize;
    let frame_bytes = header_bytes + mss.min(payload_bytes);
    if payload_bytes > 0
        && (mss == 0 || mss > FRAME_PAYLOAD_BYTES_MAX || frame_bytes > FRAME_BYTES_MAX)
    {
        return Err(SendError::SendMalformed);
    }
    let flow = seen
        .filter(|flow| u64::from(flow.generation) == d::GENERATION.get(record))
        .filter(|flow| flow.owner == owner)
        .ok_or(SendError::SendBadFlow)?;
    let position = d::POSITION.get(record) as u32;
    let end = position.wrapping_add(payload_bytes as u32);
    if payload_bytes > 0 && (end.wrapping_sub(flow.send_floor) as i32) <= 0 {
        return Err(SendError::StaleSend);
    }
    let trim = (flow.send_floor.wrapping_sub(position) as i32).max(0) as usize;
    let trim = if payload_bytes == 0 { 0 } else { trim };
    let start = position.wrapping_add(trim as u32);
    let pieces = resolve(tables, flow, record, start, payload_bytes - trim)?;
    let (payload, failed) = fetch(&pieces, read);
    let frames = segment(&descriptor, trim as u32, &payload, mss);
    let mut kept = Vec::with_capacity(frames.len());
    let count = frames.len();
    for (number, frame) in frames.into_iter().enumerate() {
        let bytes = number * mss..(number + 1) * mss;
        let touches = |bad: &Range<usize>| bad.start < bytes.end && bytes.start < bad.end;
        if !failed.iter().any(touches) {
            kept.push(frame);
        }
    }
    let all = kept.len() == count;
    Ok((kept, all))
}

/// Reads pieces, each in reads that end at multiples of the longest one; also returns which bytes
/// of the payload belong to reads that failed.
fn fetch(
    pieces: &[(u64, usize)],
    read: &mut dyn FnMut(u64, usize) -> Option<Vec<u8>>,
) -> (Vec<u8>, Vec<Range<usize>>) {
    let (mut payload, mut failed) = (Vec::new(), Vec::new());
    for &(address, bytes) in pieces {
        let end = address + bytes as u64;
        let mut at = address;
        while at < end {
            let longest = SEND_READ_BYTES_MAX as u64;
            let next = (at / longest + 1) * longest;
            let bytes = (next.min(end) - at) as usize;
            let data = read(at, bytes);
            if data.is_none() {
                failed.push(payload.len()..payload.len() + bytes);
            }
            payload.extend(data.unwrap_or_else(|| vec![0; bytes]));
            at = next;
        }
    }
    (payload, failed)
}

fn offsets_fit(descriptor: &Descriptor<'_>) -> bool {
    let header_bytes = descriptor.header.len();
    let is_send = d::KIND.get(descriptor.record) == u64::from(d::KIND_SEND);
    if is_send && (descriptor.l3 >= header_bytes || descriptor.l4 >= header_bytes) {
        return false;
    }
    let checks = descriptor.ip_checksum || descriptor.l4_checksum;
    let cuts = is_send && d::PAYLOAD_BYTES.get(descriptor.record) > 0;
    if !checks && !cuts {
        return true;
    }
    let l3_bytes = if descriptor.ipv6 { 40 } else { 20 };
    let l4_bytes = if descriptor.udp { 8 } else { 20 };
    descriptor.l3 >= 14
        && descriptor.l3 + l3_bytes <= descriptor.l4
        && descriptor.l4 + l4_bytes <= header_bytes
        && (descriptor.l4 - descriptor.l3).is_multiple_of(2)
}

fn resolve(
    tables: &Tables,
    flow: &Flow,
    record: &[u8],
    start: u32,
    bytes: usize,
) -> Result<Vec<(u64, usize)>, SendError> {
    // A flow that was removed since keeps its list.
    let now = tables.flow(d::FLOW.get(record) as u16);
    let now = now.filter(|now| now.generation == flow.generation);
    let list = &now.unwrap_or(flow).lists[1];
    let mut index = d::SEGMENT_INDEX.get(record) as u16;
    if (index.wrapping_sub(list.head) as i16) < 0 {
        index = list.head;
    }
    let mut pieces = Vec::new();
    let mut at = 0;
    while at < bytes {
        let position = start.wrapping_add(at as u32);
        let segment = list.at(index).ok_or(SendError::SendNoSegment)?;
        let within = position.wrapping_sub(segment.position) as i32;
        if within >= 0 && within as u32 >= segment.bytes {
            index = index.wrapping_add(1);
            continue;
        }
        if within < 0 {
            return Err(SendError::SendNoSegment);
        }
        // A piece is granted at once; no page ends inside it.
        let offset = (segment.offset + within as u64) as usize;
        let to_boundary = SEND_PIECE_BYTES_MAX - offset % SEND_PIECE_BYTES_MAX;
        let rest = (segment.bytes - within as u32) as usize;
        let piece = (bytes - at).min(rest).min(to_boundary);
        let grant = tables.translate(&segment, within as u64, piece as u64, flow.domain, false);
        let (address, ..) = grant.ok_or(SendError::SendRegionRefused)?;
        if pieces.len() == SEND_PIECES_MAX {
            return Err(SendError::SendMalformed);
        }
        pieces.push((address, piece));
        at += piece;
    }
    Ok(pieces)
}

fn put16(bytes: &mut [u8], at: usize, value: u16) {
    bytes[at..at + 2].copy_from_slice(&value.to_be_bytes());
}

fn get16(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

fn segment(descriptor: &Descriptor<'_>, trim: u32, payload: &[u8], mss: usize) -> Vec<Vec<u8>> {
    if payload.is_empty() {
        return vec![finish(descriptor, descriptor.header.to_vec(), false)];
    }
    let (l3, l4) = (descriptor.l3, descriptor.l4);
    let count = payload.len().div_ceil(mss);
    let mut frames = Vec::with_capacity(count);
    for (number, chunk) in payload.chunks(mss).enumerate() {
        let mut frame = descriptor.header.to_vec();
        let l4_bytes = (frame.len() - l4 + chunk.len()) as u16;
        if descriptor.ipv6 {
            put16(&mut frame, l3 + 4, (l4 - l3 - 40) as u16 + l4_bytes);
        } else {
            put16(&mut frame, l3 + 2, (l4 - l3) as u16 + l4_bytes);
            let id = get16(&frame, l3 + 4).wrapping_add(number as u16);
            put16(&mut frame, l3 + 4, id);
        }
        if descriptor.udp {
            put16(&mut frame, l4 + 4, l4_bytes);
        } else {
            let at = l4 + 4;
            let base = u32::from_be_bytes([frame[at], frame[at + 1], frame[at + 2], frame[at + 3]]);
            let sequence = base.wrapping_add(trim).wrapping_add((number * mss) as u32);
            frame[at..at + 4].copy_from_slice(&sequence.to_be_bytes());
            if number + 1 != count {
                frame[l4 + 13] &= !FIN_PSH;
            }
            if number != 0 {
                frame[l4 + 13] &= !CWR;
            }
        }
        frame.extend_from_slice(chunk);
        frames.push(finish(descriptor, frame, count > 1));
    }
    frames
}

/// Inserts checksums and pads to the shortest frame.
fn finish(descriptor: &Descriptor<'_>, mut frame: Vec<u8>, always: bool) -> Vec<u8> {
    let (l3, l4) = (descriptor.l3, descriptor.l4);
    if !descriptor.ipv6 && (descriptor.ip_checksum || always) {
        put16(&mut frame, l3 + 10, 0);
        let checksum = !fold(sum(&frame[l3..l4]));
        put16(&mut frame, l3 + 10, checksum);
    }
    if descriptor.l4_checksum || always {
        let at = l4 + if descriptor.udp { 6 } else { 16 };
        put16(&mut frame, at, 0);
        let (addresses, protocol) = match descriptor.ipv6 {
            true => (&frame[l3 + 8..l3 + 40], if descriptor.udp { 17 } else { 6 }),
            false => (&frame[l3 + 12..l3 + 20], if descriptor.udp { 17 } else { 6 }),
        };
        let total = pseudo_header(addresses, protocol, frame.len() - l4) + sum(&frame[l4..]);
        let checksum = match !fold(total) {
            0 if descriptor.udp => 0xffff,
            checksum => checksum,
        };
        put16(&mut frame, at, checksum);
    }
    if frame.len() < FRAME_BYTES_MIN {
        frame.resize(FRAME_BYTES_MIN, 0);
    }
    frame
}
