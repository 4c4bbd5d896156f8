//! Which packets a run sums up: the rules of `docs/specification.md`, "Receive, Runs".

use abi::command as c;
use abi::config::{METADATA_BYTES, RUN_PACKETS_MAX, SLOT_HEADER_BYTES};
use abi::header_entry as h;
use abi::reason::Disposition;

use crate::packet::{Kind, Packet};
use crate::rx::Delivery;

const FLAG_PSH: u8 = 0x08;
const FLAG_ACK: u8 = 0x10;
/// NOP, NOP, timestamps of 10 bytes: as senders lay them out (RFC 7323, appendix A).
const TIMESTAMPS: [u8; 4] = [1, 1, 8, 10];

/// What of a header decides whether its packet joins a run, and what a run tells of its last one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Link addresses, VLAN tags and EtherType.
    pub link: Vec<u8>,
    /// IPv4: version, traffic class and DF. IPv6: version, traffic class and flow label.
    pub traffic: [u8; 4],
    /// TSval and TSecr.
    pub timestamps: Option<(u32, u32)>,
    /// Acknowledgement number.
    pub ack: u32,
    /// Window, not scaled.
    pub window: u16,
    /// PSH is set.
    pub push: bool,
}

/// The facts of a delivered packet; none where it may not be of a run, whatever its owner says.
pub fn facts(frame: &[u8], delivery: &Delivery) -> Option<Facts> {
    let packet = &delivery.packet;
    let Kind::Tcp(tcp) = packet.kind else { return None };
    let placed = delivery.disposition == Disposition::PlacedInOrder && delivery.trimmed_bytes == 0;
    if !placed || packet.header_bytes > SLOT_HEADER_BYTES {
        return None;
    }
    let l4 = &frame[packet.l4_offset..packet.header_bytes];
    let plain = l4[12] & 0x0f == 0 && l4[18..20] == [0, 0];
    if tcp.flags & !FLAG_PSH != FLAG_ACK || !plain {
        return None;
    }
    let (l3_offset, traffic) = traffic(frame, packet)?;
    Some(Facts {
        link: frame[..l3_offset].to_vec(),
        traffic,
        timestamps: timestamps(&l4[20..])?,
        ack: tcp.acknowledgement,
        window: u16::from_be_bytes([l4[14], l4[15]]),
        push: tcp.flags & FLAG_PSH != 0,
    })
}

/// Where the IP header begins, and what of it must be equal.
fn traffic(frame: &[u8], packet: &Packet) -> Option<(usize, [u8; 4])> {
    let l3_v4 = packet.l4_offset.checked_sub(20)?;
    if frame[l3_v4 - 2..l3_v4] == [0x08, 0x00] && frame[l3_v4] == 0x45 {
        let ip = &frame[l3_v4..];
        // Only DF may be set.
        return (ip[6] & 0xbf == 0 && ip[7] == 0).then_some((l3_v4, [ip[0], ip[1], 0, ip[6]]));
    }
    let l3_v6 = packet.l4_offset.checked_sub(40)?;
    let ip = &frame[l3_v6..];
    (ip[0] >> 4 == 6).then(|| (l3_v6, [ip[0], ip[1], ip[2], ip[3]]))
}

/// No options, or timestamps alone; `None` for anything else.
fn timestamps(options: &[u8]) -> Option<Option<(u32, u32)>> {
    let word = |at: usize| {
        u32::from_be_bytes([options[at], options[at + 1], options[at + 2], options[at + 3]])
    };
    match options.len() {
        0 => Some(None),
        12 if options[..4] == TIMESTAMPS => Some(Some((word(4), word(8)))),
        _ => None,
    }
}

/// The memory that a payload lies in, if it is one.
fn memory(delivery: &Delivery) -> Option<u8> {
    let first = delivery.pieces.first()?.memory;
    delivery.pieces.iter().all(|piece| piece.memory == first).then_some(first)
}

/// What a run begins with: facts, flow and memory of a packet that may be the first of one.
fn first_of(frame: &[u8], delivery: &Delivery) -> Option<(Facts, u16, u8)> {
    let facts = facts(frame, delivery).filter(|facts| !facts.push)?;
    Some((facts, delivery.flow?, memory(delivery)?))
}

/// An open run.
#[derive(Clone, Debug)]
pub struct Run {
    /// The first packet.
    pub first: Delivery,
    /// Its header.
    pub header: Vec<u8>,
    /// Metadata of its own entry.
    pub metadata: [u8; METADATA_BYTES],
    /// When it was admitted, in cycles.
    pub opened: u64,
    /// Its flow.
    pub flow: u16,
    /// Packets so far.
    pub packets: usize,
    first_facts: Facts,
    last: Facts,
    memory: u8,
    cursor: u32,
}

impl Run {
    /// Whether a packet may be the first of a run.
    pub fn opens(frame: &[u8], delivery: &Delivery) -> bool {
        first_of(frame, delivery).is_some()
    }

    /// A run of one packet; none where the packet must have an entry of its own.
    pub fn open(
        frame: &[u8],
        delivery: &Delivery,
        metadata: [u8; METADATA_BYTES],
        now: u64,
    ) -> Option<Self> {
        let (facts, flow, memory) = first_of(frame, delivery)?;
        Some(Self {
            first: delivery.clone(),
            header: frame[..delivery.packet.header_bytes].to_vec(),
            metadata,
            opened: now,
            flow,
            packets: 1,
            last: facts.clone(),
            first_facts: facts,
            memory,
            cursor: delivery.cursor,
        })
    }

    /// The facts of a packet of its flow that may join; `None` where it may not.
    pub fn facts_to_join(&self, frame: &[u8], delivery: &Delivery) -> Option<Facts> {
        let facts = facts(frame, delivery)?;
        let (first, packet) = (&self.first, &delivery.packet);
        let same = delivery.flow == Some(self.flow)
            && delivery.owner == first.owner
            && delivery.generation == first.generation
            && packet.position == self.cursor
            && packet.header_bytes == first.packet.header_bytes
            && memory(delivery) == Some(self.memory)
            && facts.link == self.first_facts.link
            && facts.traffic == self.first_facts.traffic
            && facts.timestamps.is_some() == self.first_facts.timestamps.is_some()
            && packet.payload_bytes <= first.packet.payload_bytes;
        let not_before = |new: u32, last: u32| new.wrapping_sub(last) as i32 >= 0;
        let value = |facts: &Facts| facts.timestamps.map_or(0, |(value, _)| value);
        let ascends =
            not_before(facts.ack, self.last.ack) && not_before(value(&facts), value(&self.last));
        (same && ascends).then_some(facts)
    }

    /// Takes a packet in that may join. Whether the run ends with it.
    pub fn join(&mut self, facts: Facts, delivery: &Delivery) -> bool {
        self.packets += 1;
        self.cursor = delivery.cursor;
        let ends = facts.push
            || delivery.packet.payload_bytes < self.first.packet.payload_bytes
            || self.packets == RUN_PACKETS_MAX;
        self.last = facts;
        ends
    }

    /// Metadata of the run's entry: of a run of one packet those of that packet.
    pub fn entry(&self) -> [u8; METADATA_BYTES] {
        let mut metadata = self.metadata;
        if self.packets == 1 {
            return metadata;
        }
        let (value, echo) = self.last.timestamps.unwrap_or_default();
        for (field, value) in [
            (h::KIND, h::KIND_RUN.into()),
            (h::RUN_PUSH, self.last.push.into()),
            (h::RUN_WINDOW, self.last.window.into()),
            (h::RUN_TIMESTAMP, value.into()),
            (h::RUN_TIMESTAMP_ECHO, echo.into()),
            (h::CURSOR, self.cursor.into()),
            (h::RUN_PACKETS, self.packets as u64),
            (h::RUN_ACK, self.last.ack.into()),
        ] {
            field.set(&mut metadata, value);
        }
        metadata
    }
}

/// Which open runs end before a command's confirmation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// None.
    Nothing,
    /// That of one flow.
    Flow(u16),
    /// All of the owner that gave the command; of owner 0 all.
    Owner,
}

/// What a command ends, whether it is accepted or refused.
pub fn ends(entry: &[u8]) -> Ends {
    match c::OPCODE.get(entry) as u8 {
        c::FLOW_INSTALL | c::FLOW_REMOVE | c::FLOW_ADVANCE | c::SEGMENT_TRUNCATE | c::LIST_MOVE => {
            Ends::Flow(c::FLOW.get(entry) as u16)
        }
        c::NOP | c::KEY_SET | c::KEY_CLEAR | c::REGION_INSTALL | c::REGION_REMOVE | c::PAGE_SET => {
            Ends::Owner
        }
        _ => Ends::Nothing,
    }
}
