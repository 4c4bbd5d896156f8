//! What the send path must do with one descriptor, as a pure function: no clock, no buffers.
//!
//! ```text
//!   descriptor, tables, memory ── send ──> frames, error
//! ```
//! Source: `docs/decisions/0001-contract.md`, "Send, exactly". Imports nothing but `abi`.

use abi::config::{FRAME_BYTES_MAX, FRAME_BYTES_MIN, METADATA_BYTES, SLOT_HEADER_BYTES};
use abi::reason::SendError;
use abi::send_descriptor as at;

/// Most pieces one descriptor may need.
pub const PIECES_MAX: usize = 128;
/// Longest read; reads end at its multiples.
pub const READ_BYTES_MAX: u64 = 4096;

/// One posted segment.
#[derive(Clone, Debug)]
pub struct Segment {
    pub position: u32,
    pub bytes: u32,
    pub region: u16,
    pub region_key: u16,
    pub offset: u64,
}

/// One flow: its state and its list, whose first entry has index `head`.
#[derive(Clone, Debug)]
pub struct Flow {
    pub generation: u8,
    pub owner: u8,
    pub domain: u16,
    pub floor: u32,
    pub head: u16,
    pub segments: Vec<Segment>,
}

impl Flow {
    /// The index, or the head's where that is later.
    pub fn clamped(&self, index: u16) -> u16 {
        if index.wrapping_sub(self.head) >= 0x8000 {
            self.head
        } else {
            index
        }
    }

    /// The entry at a list index, unless it lies beyond the tail.
    pub fn entry(&self, index: u16) -> Option<&Segment> {
        self.segments
            .get(usize::from(index.wrapping_sub(self.head)))
    }

    /// Index of the entry that holds a position.
    pub fn holding(&self, position: u32) -> Option<u16> {
        let holds = |s: &Segment| position.wrapping_sub(s.position) < s.bytes;
        let at = self.segments.iter().position(holds)?;
        Some(self.head.wrapping_add(at as u16))
    }
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
    /// Bus address of an offset and the bytes to the end of its page.
    pub fn translate(&self, offset: u64) -> (u64, u64) {
        let page_bytes = 1 << self.page_bits;
        let inside = offset % page_bytes;
        (
            self.pages[(offset / page_bytes) as usize] + inside,
            page_bytes - inside,
        )
    }
}

/// Everything that a descriptor is checked against.
#[derive(Clone, Debug, Default)]
pub struct Tables {
    pub flows: Vec<Option<Flow>>,
    pub regions: Vec<Region>,
}

impl Tables {
    /// Grants an access: address and bytes to the end of the page, at most those wanted.
    pub fn grant(
        &self,
        region: u16,
        key: u16,
        domain: u16,
        offset: u64,
        bytes: u64,
    ) -> Option<(u64, u64)> {
        let region = self.regions.get(usize::from(region))?;
        let fine = region.key == key
            && region.domain == domain
            && region.read
            && offset + bytes <= region.bytes;
        if !fine {
            return None;
        }
        let (address, page_rest) = region.translate(offset);
        Some((address, page_rest.min(bytes)))
    }
}

/// Host memory as the card sees it.
pub trait Memory {
    /// The byte at a bus address.
    fn byte(&self, address: u64) -> u8;
    /// A read of this range fails.
    fn fails(&self, address: u64, bytes: u64) -> bool;
}

/// What becomes of a descriptor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Frames, in order.
    pub frames: Vec<Vec<u8>>,
    /// The one error that is counted and reported.
    pub error: Option<SendError>,
}

struct Descriptor<'a> {
    record: &'a [u8],
    header: Vec<u8>,
}

impl Descriptor<'_> {
    fn get(&self, field: abi::field::Field) -> usize {
        field.get(self.record) as usize
    }

    fn flag(&self, field: abi::field::Field) -> bool {
        field.get(self.record) != 0
    }

    fn l3_end(&self) -> usize {
        self.get(at::L3_OFFSET) + if self.flag(at::IPV6) { 40 } else { 20 }
    }

    fn l4_end(&self) -> usize {
        self.get(at::L4_OFFSET) + if self.flag(at::UDP) { 8 } else { 20 }
    }

    fn l3_fits(&self) -> bool {
        let (l3, l4) = (self.get(at::L3_OFFSET), self.get(at::L4_OFFSET));
        self.l3_end() <= l4 && l4 < self.header.len() && l3 % 2 == l4 % 2
    }

    fn l4_fits(&self) -> bool {
        self.l3_fits() && self.l4_end() <= self.header.len()
    }
}

/// Sends one descriptor of one or two slots.
pub fn send(record: &[u8], owner: u8, tables: &Tables, memory: &dyn Memory) -> Outcome {
    match frames_of(record, owner, tables, memory) {
        Ok((frames, true)) => Outcome {
            frames,
            error: Some(SendError::ReadFailed),
        },
        Ok((frames, false)) => Outcome {
            frames,
            error: None,
        },
        Err(error) => Outcome {
            frames: Vec::new(),
            error: Some(error),
        },
    }
}

fn frames_of(
    record: &[u8],
    owner: u8,
    tables: &Tables,
    memory: &dyn Memory,
) -> Result<(Vec<Vec<u8>>, bool), SendError> {
    let descriptor = open(record)?;
    if descriptor.get(at::KIND) == usize::from(at::KIND_RAW) {
        let insert_ip = descriptor.flag(at::IP_CHECKSUM);
        let insert_l4 = descriptor.flag(at::L4_CHECKSUM);
        let frame = descriptor.header.clone();
        return Ok((
            vec![finish(&descriptor, frame, insert_ip, insert_l4)],
            false,
        ));
    }
    let flow = tables
        .flows
        .get(descriptor.get(at::FLOW))
        .and_then(Option::as_ref)
        .filter(|f| usize::from(f.generation) == descriptor.get(at::GENERATION))
        .filter(|f| f.owner == owner)
        .ok_or(SendError::SendBadFlow)?;
    let wanted = descriptor.get(at::PAYLOAD_BYTES) as u32;
    let position = descriptor.get(at::POSITION) as u32;
    let below = flow.floor.wrapping_sub(position) as i32;
    let trim = if wanted > 0 && below > 0 {
        below as u32
    } else {
        0
    };
    if wanted > 0 && trim >= wanted {
        return Err(SendError::StaleSend);
    }
    if trim > 0 && !descriptor.l4_fits() {
        return Err(SendError::SendMalformed);
    }
    let start = position.wrapping_add(trim);
    let index = descriptor.get(at::SEGMENT_INDEX) as u16;
    let pieces = resolve(tables, flow, index, start, wanted - trim)?;
    let payload = read(&pieces, memory);
    Ok(cut(&descriptor, &payload, trim))
}

/// Checks what a descriptor says about itself.
fn open(record: &[u8]) -> Result<Descriptor<'_>, SendError> {
    let malformed = Err(SendError::SendMalformed);
    let kind = at::KIND.get(record) as u8;
    let header_bytes = at::HEADER_BYTES.get(record) as usize;
    let room = if at::TWO_SLOTS.get(record) == 1 {
        224
    } else {
        SLOT_HEADER_BYTES
    };
    if ![at::KIND_SEND, at::KIND_RAW].contains(&kind) || !(14..=room).contains(&header_bytes) {
        return malformed;
    }
    let header = record[METADATA_BYTES..METADATA_BYTES + header_bytes].to_vec();
    let descriptor = Descriptor { record, header };
    let mut several = false;
    if kind == at::KIND_SEND {
        let payload = descriptor.get(at::PAYLOAD_BYTES);
        let mss = descriptor.get(at::MSS_BYTES);
        several = payload > mss;
        let offsets_inside = descriptor.get(at::L3_OFFSET) < header_bytes
            && descriptor.get(at::L4_OFFSET) < header_bytes;
        let lengths_fine = payload == 0
            || ((1..=9162).contains(&mss) && header_bytes + payload.min(mss) <= FRAME_BYTES_MAX);
        if !offsets_inside || !lengths_fine {
            return malformed;
        }
    }
    let needs_l3 = descriptor.flag(at::IP_CHECKSUM) && !descriptor.flag(at::IPV6);
    let needs_l4 = descriptor.flag(at::L4_CHECKSUM) || several;
    if (needs_l3 && !descriptor.l3_fits()) || (needs_l4 && !descriptor.l4_fits()) {
        return malformed;
    }
    Ok(descriptor)
}

/// Finds and grants a range: pieces of bus memory.
fn resolve(
    tables: &Tables,
    flow: &Flow,
    mut index: u16,
    mut position: u32,
    mut rest: u32,
) -> Result<Vec<(u64, u64)>, SendError> {
    let mut pieces = Vec::new();
    index = flow.clamped(index);
    while rest > 0 {
        let segment = flow.entry(index).ok_or(SendError::SendNoSegment)?;
        let skip = position.wrapping_sub(segment.position);
        index = index.wrapping_add(1);
        if skip as i32 >= 0 && skip >= segment.bytes {
            continue;
        }
        if skip as i32 >= 0 {
            let part = rest.min(segment.bytes - skip);
            let offset = segment.offset + u64::from(skip);
            grant_part(tables, flow, segment, offset, u64::from(part), &mut pieces)?;
            position = position.wrapping_add(part);
            rest -= part;
        } else {
            return Err(SendError::SendNoSegment);
        }
    }
    Ok(pieces)
}

fn grant_part(
    tables: &Tables,
    flow: &Flow,
    segment: &Segment,
    mut offset: u64,
    mut bytes: u64,
    pieces: &mut Vec<(u64, u64)>,
) -> Result<(), SendError> {
    while bytes > 0 {
        let (address, granted) = tables
            .grant(
                segment.region,
                segment.region_key,
                flow.domain,
                offset,
                bytes,
            )
            .ok_or(SendError::SendRegionRefused)?;
        if pieces.len() == PIECES_MAX {
            return Err(SendError::SendMalformed);
        }
        pieces.push((address, granted));
        offset += granted;
        bytes -= granted;
    }
    Ok(())
}

/// Payload bytes; `None` where the read failed.
fn read(pieces: &[(u64, u64)], memory: &dyn Memory) -> Vec<Option<u8>> {
    let mut payload = Vec::new();
    for &(mut address, mut bytes) in pieces {
        while bytes > 0 {
            let job = bytes.min(READ_BYTES_MAX - address % READ_BYTES_MAX);
            let failed = memory.fails(address, job);
            let bytes_of_job = address..address + job;
            payload.extend(bytes_of_job.map(|a| (!failed).then(|| memory.byte(a))));
            address += job;
            bytes -= job;
        }
    }
    payload
}

/// The frames of a range and whether any is missing.
fn cut(descriptor: &Descriptor<'_>, payload: &[Option<u8>], trim: u32) -> (Vec<Vec<u8>>, bool) {
    let mss = descriptor.get(at::MSS_BYTES);
    let mut chunks: Vec<&[Option<u8>]> = payload.chunks(mss.max(1)).collect();
    if chunks.is_empty() {
        chunks.push(&[]);
    }
    let several = chunks.len() > 1;
    let insert_ip = descriptor.flag(at::IP_CHECKSUM) || several;
    let insert_l4 = descriptor.flag(at::L4_CHECKSUM) || several;
    let mut frames = Vec::new();
    let mut failed = false;
    for (number, chunk) in chunks.iter().enumerate() {
        let Some(bytes) = chunk.iter().copied().collect::<Option<Vec<u8>>>() else {
            failed = true;
            continue;
        };
        let mut frame = descriptor.header.clone();
        if several || trim > 0 {
            let offset = trim.wrapping_add((number * mss) as u32);
            let place = (number == 0, number + 1 == chunks.len());
            rewrite(
                descriptor,
                &mut frame,
                offset,
                number as u16,
                bytes.len(),
                place,
            );
        }
        frame.extend(bytes);
        frames.push(finish(descriptor, frame, insert_ip, insert_l4));
    }
    (frames, failed)
}

fn rewrite(
    descriptor: &Descriptor<'_>,
    header: &mut [u8],
    offset: u32,
    number: u16,
    payload_bytes: usize,
    (first, last): (bool, bool),
) {
    let (l3, l4) = (descriptor.get(at::L3_OFFSET), descriptor.get(at::L4_OFFSET));
    let frame_bytes = header.len() + payload_bytes;
    if descriptor.flag(at::IPV6) {
        put_16(header, l3 + 4, (frame_bytes - l3 - 40) as u16);
    } else {
        put_16(header, l3 + 2, (frame_bytes - l3) as u16);
        let id = get_16(header, l3 + 4).wrapping_add(number);
        put_16(header, l3 + 4, id);
    }
    if descriptor.flag(at::UDP) {
        put_16(header, l4 + 4, (frame_bytes - l4) as u16);
        return;
    }
    let sequence = u32::from_be_bytes(header[l4 + 4..l4 + 8].try_into().expect("four bytes"));
    let sequence = sequence.wrapping_add(offset);
    header[l4 + 4..l4 + 8].copy_from_slice(&sequence.to_be_bytes());
    if !first {
        header[l4 + 13] &= !0x80;
    }
    if !last {
        header[l4 + 13] &= !0x09;
    }
}

/// Inserts checksums and pads.
fn finish(
    descriptor: &Descriptor<'_>,
    mut frame: Vec<u8>,
    insert_ip: bool,
    insert_l4: bool,
) -> Vec<u8> {
    let (l3, l4) = (descriptor.get(at::L3_OFFSET), descriptor.get(at::L4_OFFSET));
    let ipv6 = descriptor.flag(at::IPV6);
    let udp = descriptor.flag(at::UDP);
    if insert_ip && !ipv6 {
        put_16(&mut frame, l3 + 10, 0);
        let sum = checksum(&[&frame[l3..l4]]);
        put_16(&mut frame, l3 + 10, sum);
    }
    if insert_l4 {
        let field = l4 + if udp { 6 } else { 16 };
        put_16(&mut frame, field, 0);
        let addresses = if ipv6 {
            l3 + 8..l3 + 40
        } else {
            l3 + 12..l3 + 20
        };
        let length = (frame.len() - l4) as u16;
        let pseudo = [0, if udp { 17 } else { 6 }];
        let sum = checksum(&[
            &frame[addresses],
            &pseudo,
            &length.to_be_bytes(),
            &frame[l4..],
        ]);
        let sum = if udp && sum == 0 { 0xffff } else { sum };
        put_16(&mut frame, field, sum);
    }
    if frame.len() < FRAME_BYTES_MIN {
        frame.resize(FRAME_BYTES_MIN, 0);
    }
    frame
}

/// One's complement checksum of parts, all but the last of even length.
fn checksum(parts: &[&[u8]]) -> u16 {
    let mut sum = 0u64;
    for part in parts {
        for pair in part.chunks(2) {
            sum += u64::from(pair[0]) << 8 | u64::from(pair.get(1).copied().unwrap_or(0));
        }
    }
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

fn get_16(bytes: &[u8], offset: usize) -> u16 {
    u16::from_be_bytes([bytes[offset], bytes[offset + 1]])
}

fn put_16(bytes: &mut [u8], offset: usize, value: u16) {
    bytes[offset..offset + 2].copy_from_slice(&value.to_be_bytes());
}

#[cfg(test)]
mod tests {
    #[test]
    fn checksum_of_a_known_header() {
        let header = [
            0x45, 0, 0, 0x73, 0, 0, 0x40, 0, 0x40, 0x11, 0, 0, 0xc0, 0xa8, 0, 1, 0xc0, 0xa8, 0,
            0xc7,
        ];
        assert_eq!(super::checksum(&[&header]), 0xb861);
    }
}
