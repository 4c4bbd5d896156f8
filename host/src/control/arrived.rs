//! A TCP packet that arrived: what the card did with its payload, and what a connection makes of
//! it.
//!
//! ```text
//!   placed ─┬─ expected ─► landed            deferred ─┬─ expected ─► kept, within the budget
//!           └─ doubtful ─► landed in doubt             └─ doubtful ─► remembered
//! ```

use abi::header_entry;
use abi::reason::Disposition;

use super::commands::FlowName;
use super::connection::Connection;
use super::packet::TcpHeader;
use crate::rings::HeaderEntry;

/// Deferred payload that one flow may hold, bytes. Beyond it headers are withheld: a counted loss.
pub(crate) const DEFERRED_BYTES_MAX: usize = 4 << 20;
/// How far beyond the window that the peer was offered payload is kept, bytes: what a window is
/// rounded up by, and probes.
const BEYOND_WINDOW_BYTES_MAX: u64 = 64 << 10;

/// A packet, split.
pub(crate) struct Packet {
    /// From the Ethernet header to the end of the TCP header.
    pub(crate) header: Vec<u8>,
    /// Length of its payload.
    pub(crate) payload_bytes: u64,
    /// The payload, where the card did not place it.
    pub(crate) deferred: Option<Vec<u8>>,
    /// The flow in whose buffers the card placed it, and the bytes that lay below its floor.
    pub(crate) placed: Option<(FlowName, u64)>,
}

impl Packet {
    /// The packet of an entry.
    pub(crate) fn placed_by(entry: HeaderEntry, disposition: Option<Disposition>) -> Self {
        let get = |field: abi::field::Field| field.get(&entry.metadata);
        let is_placed = matches!(
            disposition,
            Some(Disposition::PlacedInOrder | Disposition::PlacedAhead)
        );
        let name = FlowName {
            flow: get(header_entry::FLOW) as u16,
            generation: get(header_entry::GENERATION) as u8,
        };
        Self {
            payload_bytes: get(header_entry::PAYLOAD_BYTES),
            placed: is_placed.then(|| (name, get(header_entry::TRIMMED_BYTES))),
            header: entry.header,
            deferred: entry.deferred,
        }
    }
}

impl Connection {
    /// Notes where a packet's payload is. False: it is nowhere, and the header must be withheld.
    pub(crate) fn keep_payload(&mut self, parsed: &TcpHeader, packet: &Packet) -> bool {
        let (Some(receive), Some(send)) = (&mut self.receive, &self.send) else {
            return false;
        };
        let doubtful = self.expected.doubts(parsed, send.floor_position());
        if let Some((name, trimmed)) = packet.placed {
            if name != self.name {
                // In the buffers of a flow with the same addresses that has left since.
                return false;
            }
            let first = parsed.sequence.wrapping_add(trimmed as u32);
            let bytes = packet.payload_bytes - trimmed;
            let stands = match receive.offset(first) {
                Some(start) if doubtful => receive.landed_in_doubt(start, bytes),
                Some(start) => receive.landed(start, bytes),
                None => true,
            };
            if !stands {
                return false;
            }
        } else if let Some(payload) = &packet.deferred {
            let edge = self.window.edge().max(receive.window_end()) + BEYOND_WINDOW_BYTES_MAX;
            let is_kept = match receive.offset(parsed.sequence) {
                Some(start) if start >= edge => false,
                Some(start) if doubtful => receive.defer_in_doubt(start, payload),
                Some(start) => receive.defer(start, payload, DEFERRED_BYTES_MAX),
                None => true,
            };
            if !is_kept {
                return false;
            }
        }
        if !doubtful {
            self.expected
                .note_received(parsed, packet.payload_bytes as u32);
        }
        true
    }

    /// A packet that the transport will never see may have been placed over what had landed.
    pub(crate) fn spoilt(&mut self, parsed: &TcpHeader, packet: &Packet) {
        let (Some(receive), Some((name, trimmed))) = (&mut self.receive, packet.placed) else {
            return;
        };
        let start = receive.offset(parsed.sequence.wrapping_add(trimmed as u32));
        if let (Some(start), true) = (start, name == self.name) {
            receive.spoilt(start, packet.payload_bytes - trimmed);
        }
    }

    /// A header of this connection goes out: its window is lowered to what is posted.
    pub(crate) fn note_sent(&mut self, bytes: &mut [u8], parsed: &TcpHeader, payload_bytes: u32) {
        self.expected.note_sent(bytes, parsed, payload_bytes);
        if let Some(receive) = &self.receive {
            let acknowledged = receive.offset(parsed.acknowledgement).unwrap_or(0);
            let end = receive.window_end();
            self.window
                .lower(bytes, parsed, payload_bytes, acknowledged, end);
        }
    }
}
