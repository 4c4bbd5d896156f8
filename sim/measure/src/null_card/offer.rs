//! A packet that a peer offers: what is checked before, and its header entry.
//!
//! ```text
//!   peer, tables ── window, segments, acceptance ──► Offer ── when there is room ──► header queue
//! ```
//! It is made ahead of its time, with all that its entry needs, so that no table is read when it is
//! published. Nothing of it changes until then: the host neither takes back what it has posted
//! within its window, nor moves a floor beyond what was published. That is judged again.

use abi::config::FLOW_REACH_BYTES;
use abi::field::Field;
use abi::header_entry as h;
use abi::reason::Disposition;
use golden::tables::{Flow, Tables};
use host::records::commands::FlowName;

use super::judge::covers;
use super::peer::{Peer, WINDOW_UNIT};
use super::wrong::{within, Wrong};
use crate::null_protocol::header::{get16, get32, HEADER_BYTES};

/// What an entry names that the card found no flow for.
pub(super) const NO_FLOW: FlowName = FlowName { flow: h::FLOW_NONE, generation: 0 };
/// Offset of TCP in the header of a peer.
const L4_OFFSET: u64 = 34;

/// What is judged of a packet once more when it was published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Offered {
    /// Its peer.
    pub peer: usize,
    /// Its payload.
    pub bytes: u32,
    /// What it acknowledges.
    pub number: u32,
}

/// The packet. See the head of this file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Offer {
    pub offered: Offered,
    pub owner: u8,
    /// Its flow.
    pub name: FlowName,
    pub position: u32,
    /// Place of its first byte in the stream.
    pub place: u64,
    /// List index of the segment that holds its first byte.
    pub first: u16,
    pieces: u8,
    pub header: [u8; HEADER_BYTES],
}

impl Offer {
    /// The next packet of a peer, which it has then sent; `None` where the host takes none.
    pub fn make(
        tables: &Tables,
        (at, peer): (usize, &mut Peer),
        bytes: u32,
    ) -> Result<Option<Self>, Wrong> {
        if peer.flow.is_none() {
            peer.flow = tables.lookup(&peer.key);
        }
        let known = peer.flow.and_then(|name| Some((name, tables.flow(name)?)));
        let Some((name, flow)) = known else {
            return Ok(None);
        };
        let position = peer.next;
        let window = peer.edge.wrapping_sub(position);
        if window < bytes || window >= FLOW_REACH_BYTES {
            return Ok(None);
        }
        accepts(flow, peer.expected, position)?;
        let list = &flow.lists[0];
        let first = list.find(position).ok();
        let Some(first) = first.filter(|&at| covers(list, at, position, bytes)) else {
            return match window < bytes + WINDOW_UNIT {
                true => Ok(None),
                false => Err(Wrong::Range { position, bytes, index: list.head }),
            };
        };
        let segment = list.at(first).unwrap_or_default();
        let within_first = segment.bytes - position.wrapping_sub(segment.position);
        Ok(Some(Self {
            offered: Offered { peer: at, bytes, number: peer.expected },
            owner: flow.owner,
            name: FlowName { flow: name, generation: flow.generation },
            position,
            place: peer.offered,
            first,
            pieces: 1 + u8::from(within_first < bytes),
            header: *peer.packet(bytes),
        }))
    }

    /// Whether it is the next packet of the same flow, of the same length.
    pub fn follows(&self, before: &Self) -> bool {
        let end = before.position.wrapping_add(before.offered.bytes);
        (self.owner, self.name, self.position) == (before.owner, before.name, end)
            && self.offered.bytes == before.offered.bytes
    }

    /// Fields of the entry of a run of so many packets whose last it is, beyond those of the first.
    pub fn run_fields(&self, packets: usize) -> [(Field, u64); 9] {
        let tcp = &self.header[L4_OFFSET as usize..];
        let word = |at: usize| get32(tcp, at).into();
        [
            (h::KIND, h::KIND_RUN.into()),
            (h::RUN_PUSH, 0),
            (h::PAYLOAD_BYTES, self.offered.bytes.into()),
            (h::CURSOR, self.position.wrapping_add(self.offered.bytes).into()),
            (h::RUN_PACKETS, packets as u64),
            (h::RUN_ACK, word(8)),
            (h::RUN_WINDOW, get16(tcp, 14).into()),
            (h::RUN_TIMESTAMP, word(24)),
            (h::RUN_TIMESTAMP_ECHO, word(28)),
        ]
    }

    /// Fields of its entry.
    pub fn fields(&self) -> impl Iterator<Item = (Field, u64)> {
        let bytes = self.offered.bytes;
        let entry = [
            (h::DISPOSITION, Disposition::PlacedInOrder as u64),
            (h::GENERATION, self.name.generation.into()),
            (h::FLOW, self.name.flow.into()),
            (h::FRAME_BYTES, self.header.len() as u64 + u64::from(bytes)),
            (h::PAYLOAD_BYTES, bytes.into()),
            (h::POSITION, self.position.into()),
            (h::CURSOR, self.position.wrapping_add(bytes).into()),
            (h::SEGMENT_INDEX, self.first.into()),
            (h::PIECES, self.pieces.into()),
        ];
        common(&self.header).into_iter().chain(entry)
    }
}

/// Fields that every entry of a packet has.
pub(super) fn common(header: &[u8]) -> [(Field, u64); 5] {
    [
        (h::KIND, h::KIND_PACKET.into()),
        (h::VERIFIED, 1),
        (h::HEADER_BYTES, header.len() as u64),
        (h::SLOW_BUFFER, h::SLOW_BUFFER_NONE.into()),
        (h::L4_OFFSET, L4_OFFSET),
    ]
}

/// Whether a flow takes a packet at `next` that acknowledges up to `number`: the floor is not
/// beyond what was sent, and the ACK number is within its limits.
pub(super) fn accepts(flow: &Flow, number: u32, next: u32) -> Result<(), Wrong> {
    let reach = next.wrapping_sub(FLOW_REACH_BYTES);
    within("floor", flow.floor, reach, next)?;
    within("ACK number", number, flow.ack_low, flow.ack_high)
}
