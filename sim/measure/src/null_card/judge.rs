//! Judges send descriptors: layout, header, sequence, range, acknowledgement and window.
//!
//! ```text
//!   descriptor ─► layout ─► header ─► peer ─┬─ sequence, range: inside what is posted
//!                                           └─ ACK number, window: within what was sent, posted
//! ```
//! Sources: `abi::send_descriptor`; ARCHITECTURE, invariant 9.

use abi::config::{FLOW_REACH_BYTES, FRAME_PAYLOAD_BYTES_MAX, METADATA_BYTES, SLOT_HEADER_BYTES};
use abi::send_descriptor as d;
use golden::tables::{Flow, List, Tables};
use host::headers::layout::{TcpLayout, ACK, SYN};

use super::peer::{Peer, WINDOW_UNIT};
use super::wrong::{equal, within, Wrong};

/// Longest payload of a descriptor, bytes.
const PAYLOAD_BYTES_MAX: u32 = 1 << 16;

/// A descriptor whose layout is right.
pub(super) struct Descriptor<'a> {
    /// All of it.
    pub record: &'a [u8],
    /// From the Ethernet header to the end of the TCP header.
    pub header: &'a [u8],
    tcp: &'a [u8],
    /// Payload that it names, bytes.
    pub payload_bytes: u32,
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

impl<'a> Descriptor<'a> {
    /// Reads a descriptor, and checks what does not depend on its peer.
    pub fn read(record: &'a [u8]) -> Result<Self, Wrong> {
        let header_bytes = d::HEADER_BYTES.get(record) as usize;
        let wrong = Wrong::Header { bytes: header_bytes };
        let end = METADATA_BYTES + header_bytes;
        let header = record.get(METADATA_BYTES..end).ok_or(wrong)?;
        let layout = TcpLayout::parse(header).map_err(|_| wrong)?;
        let is_send = d::KIND.get(record) == u64::from(d::KIND_SEND);
        let payload_bytes = match is_send {
            true => d::PAYLOAD_BYTES.get(record) as u32,
            false => 0,
        };
        if layout.ipv6 || layout.segment != 34 || layout.payload != header_bytes {
            return Err(wrong);
        }
        let kind = if is_send { d::KIND_SEND } else { d::KIND_RAW };
        let two_slots = header_bytes > SLOT_HEADER_BYTES;
        for (field, expected) in [
            (d::KIND, kind.into()),
            (d::TWO_SLOTS, two_slots.into()),
            (d::IP_CHECKSUM, 1),
            (d::L4_CHECKSUM, 1),
            (d::IPV6, 0),
            (d::UDP, 0),
            (d::L3_OFFSET, layout.network as u64),
            (d::L4_OFFSET, layout.segment as u64),
        ] {
            equal(field.name, field.get(record), expected)?;
        }
        let tcp = &header[layout.segment..];
        equal("ip length", layout.payload_bytes as u64, payload_bytes)?;
        equal("checksums", word(header, 24) >> 16 | word(tcp, 16) >> 16, 0u32)?;
        Ok(Self { record, header, tcp, payload_bytes })
    }

    /// Whether it opens a connection, and its sequence number.
    pub fn syn(&self) -> Option<u32> {
        (self.tcp[13] & (SYN | ACK) == SYN).then(|| word(self.tcp, 4))
    }

    /// Its sequence number.
    pub fn sequence(&self) -> u32 {
        word(self.tcp, 4)
    }

    /// The byte of its peer that it expects next.
    pub fn acknowledges(&self) -> u32 {
        word(self.tcp, 8)
    }

    /// Checks it against its peer and that peer's flow, and has the peer take it.
    pub fn judge(&self, peer: &mut Peer, tables: &Tables, owner: u8) -> Result<(), Wrong> {
        let flow = peer.flow.and_then(|flow| tables.flow(flow));
        equal("flags", self.tcp[13] & !8, ACK)?;
        equal("sequence", self.sequence(), peer.expected)?;
        if self.payload_bytes > 0 {
            let flow = flow.ok_or(Wrong::Header { bytes: self.header.len() })?;
            self.judge_payload(peer, flow, tables, owner)?;
        }
        let number = self.acknowledges();
        within("ACK number", number, peer.acknowledged, peer.published)?;
        let field = word(self.tcp, 14) >> 16;
        let edge = number.wrapping_add(field * WINDOW_UNIT);
        let posted = flow.map_or(peer.published, |flow| posted_end(&flow.lists[0], peer.published));
        let least = peer.edge.wrapping_sub(WINDOW_UNIT - 1);
        within("window", edge, least, posted.wrapping_add(WINDOW_UNIT - 1))?;
        peer.acknowledged = number;
        if edge.wrapping_sub(peer.edge) as i32 > 0 {
            peer.edge = edge;
        }
        peer.expected = peer.expected.wrapping_add(self.payload_bytes);
        Ok(())
    }

    fn judge_payload(
        &self,
        peer: &Peer,
        flow: &Flow,
        tables: &Tables,
        owner: u8,
    ) -> Result<(), Wrong> {
        let get = |field: abi::field::Field| field.get(self.record);
        equal("flow", get(d::FLOW), peer.flow.unwrap_or(0))?;
        equal("generation", get(d::GENERATION), flow.generation)?;
        equal("owner", owner, flow.owner)?;
        equal("position", get(d::POSITION), peer.expected)?;
        let reach = peer.expected.wrapping_sub(FLOW_REACH_BYTES);
        within("send floor", flow.send_floor, reach, peer.expected)?;
        let mss = get(d::MSS_BYTES) as u32;
        within("mss_bytes", mss, 1, FRAME_PAYLOAD_BYTES_MAX as u32)?;
        within("payload_bytes", self.payload_bytes, 1, PAYLOAD_BYTES_MAX)?;
        let index = get(d::SEGMENT_INDEX) as u16;
        let range = Wrong::Range { position: peer.expected, bytes: self.payload_bytes, index };
        let covers = covers(&flow.lists[1], index, peer.expected, self.payload_bytes);
        let segment = flow.lists[1].at(index).filter(|_| covers).ok_or(range)?;
        let offset = u64::from(peer.expected.wrapping_sub(segment.position));
        let grant = tables.translate(&segment, offset, 1, flow.domain, false);
        grant.map(|_| ()).ok_or(range)
    }
}

/// The position after everything that is posted, or `least` if that is further.
fn posted_end(list: &List, least: u32) -> u32 {
    let last = list.at(list.tail.wrapping_sub(1));
    let end = last.map_or(least, |last| last.position.wrapping_add(last.bytes));
    match end.wrapping_sub(least) as i32 > 0 {
        true => end,
        false => least,
    }
}

/// Whether the entries from `index` on hold all of a range, its first byte in the first of them.
pub(super) fn covers(list: &List, mut index: u16, position: u32, bytes: u32) -> bool {
    let (mut at, mut rest) = (position, bytes);
    loop {
        let Some(segment) = list.at(index) else {
            return false;
        };
        let from = at.wrapping_sub(segment.position);
        if from >= segment.bytes {
            return false;
        }
        let part = rest.min(segment.bytes - from);
        (at, rest) = (at.wrapping_add(part), rest - part);
        if rest == 0 {
            return true;
        }
        index = index.wrapping_add(1);
    }
}
