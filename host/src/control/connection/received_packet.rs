//! A received packet: what the card did with its payload, and how a connection records it.
//!
//! ```text
//!   placed ─┬─ taken ────► placed            deferred ─┬─ taken ────► kept, within the budget
//!           ├─ late ─────► what is there stays          └─ doubtful ─► kept apart
//!           └─ foreign ──► what was there is lost
//! ```

use abi::header_entry;
use abi::reason::Disposition;

use super::Connection;
use crate::control::flow::buffer::Misplaced;
use crate::control::flow::deferred::DEFERRED_BYTES_MAX;
use crate::driver::rings::HeaderEntry;
use crate::protocol::{Doubt, Packet, PacketPayload};
use crate::records::commands::FlowName;

/// A packet, split, and what the card found for it.
pub(crate) struct EntryPacket<'a> {
    /// The packet.
    pub(crate) received: Packet<'a>,
    /// The flow in whose buffers it was placed, or below whose floor it was.
    pub(crate) flow: Option<FlowName>,
    /// The flow that the card found for it.
    pub(crate) hit: Option<FlowName>,
    /// List index of the segment in which its first byte was placed.
    pub(crate) first: u16,
}

impl<'a> EntryPacket<'a> {
    /// The packet of a header entry that was found at `arrived_ns`.
    pub(crate) fn of(
        entry: &'a HeaderEntry,
        disposition: Option<Disposition>,
        arrived_ns: u64,
    ) -> Self {
        let get = |field: abi::field::Field| field.get(&entry.metadata);
        let is_placed = disposition.is_some_and(Disposition::is_placed);
        let name = FlowName {
            flow: get(header_entry::FLOW) as u16,
            generation: get(header_entry::GENERATION) as u8,
        };
        let (position, payload_bytes) = match &entry.run {
            None => (get(header_entry::POSITION) as u32, get(header_entry::PAYLOAD_BYTES) as u32),
            Some(run) => {
                let bytes = run.payload_bytes(0..run.packets);
                ((get(header_entry::CURSOR) as u32).wrapping_sub(bytes), bytes)
            }
        };
        let payload = match &entry.deferred {
            _ if entry.run.is_some() => PacketPayload::Placed { trimmed_bytes: 0 },
            _ if is_placed => {
                PacketPayload::Placed { trimmed_bytes: get(header_entry::TRIMMED_BYTES) as u32 }
            }
            Some(payload) => PacketPayload::Deferred(payload),
            None => PacketPayload::Nowhere,
        };
        Self {
            received: Packet {
                header: &entry.header,
                l4_offset: get(header_entry::L4_OFFSET) as usize,
                position,
                payload_bytes,
                payload,
                arrived_ns,
                run: entry.run,
                has_room: true,
            },
            flow: (is_placed || disposition == Some(Disposition::Old)).then_some(name),
            hit: (name.flow != header_entry::FLOW_NONE).then_some(name),
            first: get(header_entry::SEGMENT_INDEX) as u16,
        }
    }
}

/// What room the payload of a packet takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Room {
    /// None: there is no payload.
    Nothing,
    /// A range that the connection has in any case.
    Range,
    /// Some of the budget of all connections, which is asked.
    Budget,
}

impl Connection {
    /// Whether a packet is not in the buffers, or below the floor, of an old flow with the same
    /// addresses.
    pub(crate) fn owns(&self, packet: &EntryPacket<'_>) -> bool {
        packet.flow.is_none_or(|name| name == self.name)
    }

    /// Whether the payload of a packet was placed by a command that is no longer valid.
    #[inline]
    pub(crate) fn find_misplaced(&self, packet: &EntryPacket<'_>) -> Option<Misplaced> {
        let receive = self.receive.as_ref().filter(|receive| receive.has_truncated())?;
        let PacketPayload::Placed { trimmed_bytes } = packet.received.payload else { return None };
        let first = packet.received.position.wrapping_add(trimmed_bytes);
        let bytes = packet.received.payload_bytes - trimmed_bytes;
        let misplaced = receive.beyond_truncated(packet.first, first, bytes);
        match (misplaced, trimmed_bytes) {
            (Some(Misplaced::Behind(..)), 1..) => Some(Misplaced::Across),
            (misplaced, _) => misplaced,
        }
    }

    /// What room the payload of a packet takes.
    #[inline]
    pub(crate) fn room_of(&self, packet: &Packet<'_>) -> Room {
        if packet.payload_bytes == 0 {
            return Room::Nothing;
        }
        let is_deferred = matches!(packet.payload, PacketPayload::Deferred(_));
        let receive = self.receive.as_ref();
        match !is_deferred && receive.is_some_and(|receive| receive.has_ranges()) {
            true => Room::Range,
            false => Room::Budget,
        }
    }

    /// Whether there is room for the payload of a packet that the protocol may take at once.
    pub(crate) fn has_room(&self, packet: &Packet<'_>) -> bool {
        let Some(receive) = &self.receive else { return false };
        let deferred = match packet.payload {
            PacketPayload::Deferred(payload) => Some(payload),
            _ => None,
        };
        let start = receive.offset(packet.position).unwrap_or(0);
        packet.payload_bytes == 0 || receive.has_room(start, deferred, DEFERRED_BYTES_MAX)
    }

    /// Records where the payload of a packet is. Returns false when it was not kept: the packet
    /// must not be accepted.
    pub(crate) fn keep(&mut self, packet: &Packet<'_>, doubt: Doubt) -> bool {
        let Some(receive) = &mut self.receive else { return false };
        if packet.payload_bytes == 0 {
            return true;
        }
        match packet.payload {
            PacketPayload::Placed { trimmed_bytes } => {
                let first = packet.position.wrapping_add(trimmed_bytes);
                let bytes = u64::from(packet.payload_bytes - trimmed_bytes);
                match (receive.offset(first), doubt) {
                    (None, _) => true,
                    (Some(start), Doubt::None) => receive.note_placed(start, bytes),
                    (Some(start), Doubt::Late) => receive.note_placed_late(start, bytes),
                    (Some(start), Doubt::Foreign) => receive.note_placed_in_doubt(start, bytes),
                }
            }
            PacketPayload::Deferred(payload) => match receive.in_stream(packet.position, payload) {
                None => true,
                Some((start, payload)) if doubt == Doubt::None => {
                    receive.defer(start, payload, DEFERRED_BYTES_MAX)
                }
                Some((start, payload)) => receive.defer_in_doubt(start, payload),
            },
            PacketPayload::Nowhere => true,
        }
    }

    /// Notes a packet that is not accepted: it may have been placed over earlier payload.
    pub(crate) fn note_overwritten(&mut self, packet: &EntryPacket<'_>) {
        let PacketPayload::Placed { trimmed_bytes } = packet.received.payload else { return };
        let Some(receive) = &mut self.receive else { return };
        let first = packet.received.position.wrapping_add(trimmed_bytes);
        let bytes = u64::from(packet.received.payload_bytes - trimmed_bytes);
        if let (Some(start), true) = (receive.offset(first), packet.flow == Some(self.name)) {
            receive.note_overwritten(start, bytes);
        }
    }
}
