//! Expands runs to the entries of their packets, as far as a run tells of them: so that a card that
//! sums up can be compared with one that does not.

use abi::config::{METADATA_BYTES, RUN_PACKETS_MAX};
use abi::field::Field;
use abi::header_entry as h;

const L4_AT: usize = METADATA_BYTES;
/// Fields of an entry that a run tells of each of its packets.
const TOLD: [Field; 12] = [
    h::KIND,
    h::DISPOSITION,
    h::GENERATION,
    h::FLOW,
    h::HEADER_BYTES,
    h::PAYLOAD_BYTES,
    h::POSITION,
    h::CURSOR,
    h::L4_OFFSET,
    h::VERIFIED,
    h::UNFLUSHED,
    h::PROFILE,
];

/// A packet of a run, or one that has its own entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Metadata and header; of a run's packet as far as the run tells.
    pub entry: Vec<u8>,
    place: Place,
}

/// Where in a run a packet is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Alone,
    First,
    Between,
    Last,
}

/// The packets of entries, each metadata and header, in order. `Err` tells of a run that is none.
pub fn expand(entries: &[Vec<u8>]) -> Result<Vec<Packet>, String> {
    let mut packets = Vec::new();
    for entry in entries {
        match h::KIND.get(entry) == u64::from(h::KIND_RUN) {
            true => expand_run(entry, &mut packets)?,
            false => packets.push(Packet { entry: entry.clone(), place: Place::Alone }),
        }
    }
    Ok(packets)
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn expand_run(run: &[u8], packets: &mut Vec<Packet>) -> Result<(), String> {
    let count = h::RUN_PACKETS.get(run);
    let segment = h::PAYLOAD_BYTES.get(run) as u32;
    let l4 = L4_AT + h::L4_OFFSET.get(run) as usize;
    let first = word(run, l4 + 4);
    let end = h::CURSOR.get(run) as u32;
    if !(2..=RUN_PACKETS_MAX as u64).contains(&count) || h::TWO_SLOTS.get(run) != 0 {
        return Err(format!("a run of {count} packets"));
    }
    for number in 0..count as u32 {
        let place = match number {
            0 => Place::First,
            _ if u64::from(number) == count - 1 => Place::Last,
            _ => Place::Between,
        };
        let position = first.wrapping_add(number * segment);
        let bytes = if place == Place::Last { end.wrapping_sub(position) } else { segment };
        if !(1..=segment).contains(&bytes) {
            return Err(format!("packet {number} of {count}: {bytes} bytes of {segment}"));
        }
        let mut entry = run.to_vec();
        for (field, value) in [
            (h::KIND, h::KIND_PACKET.into()),
            (h::PAYLOAD_BYTES, bytes.into()),
            (h::POSITION, position.into()),
            (h::CURSOR, position.wrapping_add(bytes).into()),
        ] {
            field.set(&mut entry, value);
        }
        entry[l4 + 4..l4 + 8].copy_from_slice(&position.to_be_bytes());
        if place == Place::Last {
            tell_last(run, l4, &mut entry);
        }
        packets.push(Packet { entry, place });
    }
    Ok(())
}

/// The header fields of the last packet.
fn tell_last(run: &[u8], l4: usize, entry: &mut [u8]) {
    let mut put = |at: usize, field: Field| {
        let value = (field.get(run) as u32) << (32 - field.bits);
        let bytes = field.bits / 8;
        entry[at..at + bytes].copy_from_slice(&value.to_be_bytes()[..bytes]);
    };
    put(l4 + 8, h::RUN_ACK);
    put(l4 + 14, h::RUN_WINDOW);
    if run.len() > l4 + 20 {
        put(l4 + 24, h::RUN_TIMESTAMP);
        put(l4 + 28, h::RUN_TIMESTAMP_ECHO);
    }
    entry[l4 + 13] = 0x10 | (h::RUN_PUSH.get(run) as u8) << 3;
}

impl Packet {
    /// What of an entry that the packet had for itself is not what is told of it here.
    pub fn check(&self, entry: &[u8]) -> Result<(), String> {
        if self.place == Place::Alone {
            let same = self.entry == entry;
            return same.then_some(()).ok_or_else(|| "an entry of its own differs".to_owned());
        }
        for field in TOLD {
            let (ours, theirs) = (field.get(&self.entry), field.get(entry));
            if ours != theirs {
                return Err(format!("{}: {ours:#x}, not {theirs:#x}", field.name));
            }
        }
        let (ours, theirs) = (self.told(&self.entry), self.told(entry));
        match ours == theirs {
            true => Ok(()),
            false => Err(format!("header {ours:02x?}, not {theirs:02x?}")),
        }
    }

    /// The header without what a run does not tell of a packet at this place.
    fn told(&self, entry: &[u8]) -> Vec<u8> {
        let mut header = entry[METADATA_BYTES..].to_vec();
        if self.place == Place::First {
            return header;
        }
        let l4 = h::L4_OFFSET.get(entry) as usize;
        // Two VLAN tags and IPv4 are shorter than IPv6. Lengths and checksums follow from the rest.
        let (ip, unknown): (usize, &[usize]) = match l4 <= 14 + 8 + 20 {
            true => (l4 - 20, &[2, 3, 4, 5, 8, 10, 11]),
            false => (l4 - 40, &[4, 5, 7]),
        };
        unknown.iter().for_each(|at| header[ip + at] = 0);
        header[l4 + 16..l4 + 18].fill(0);
        if self.place == Place::Between {
            header[l4 + 8..l4 + 12].fill(0);
            header[l4 + 14..l4 + 16].fill(0);
            if header.len() > l4 + 20 {
                header[l4 + 24..l4 + 32].fill(0);
            }
        }
        header
    }
}
