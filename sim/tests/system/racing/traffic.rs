//! What peers, strangers and a bad wire put on the cable.
//!
//! Every frame that reaches the card carries its number in the source address, which the card
//! ignores: so its entry is found whatever happened to the frames around it.

use abi::registers as r;
use golden::packet::Profile;
use host::records::commands::Direction;
use lab::frame::Frame;
use rand::rngs::SmallRng;
use rand::Rng;
use sim::harness::traffic::{timestamp_option, Layer4, PacketSpec};

use crate::racing::slots::{content, Slot, Transport};

/// Profiles 1 and 2: header bytes, offset and bytes of the position, then of the message key.
const PROFILES: [[usize; 5]; 2] = [[12, 4, 4, 0, 0], [16, 0, 4, 8, 8]];
/// UDP port of profile 1; that of profile 2 is the next.
const PROFILE_PORT: u16 = 4001;

/// The profiles as the golden model takes them.
pub fn profiles() -> [Profile; 4] {
    let mut all = [Profile::default(); 4];
    for (number, fields) in PROFILES.iter().enumerate() {
        let [header_bytes, position_offset, position_bytes, message_key_offset, message_key_bytes] =
            *fields;
        all[number + 1] = Profile {
            enabled: true,
            port: PROFILE_PORT + number as u16,
            header_bytes,
            position_offset,
            position_bytes,
            message_key_offset,
            message_key_bytes,
        };
    }
    all
}

/// The profiles as register writes.
pub fn profile_registers() -> Vec<(u32, u32)> {
    use abi::profile as p;
    let write = |(number, fields): (usize, &[usize; 5])| {
        let (mut first, mut second) = ([0; 4], [0; 4]);
        p::PORT.set(&mut first, u64::from(PROFILE_PORT) + number as u64);
        p::ENABLE.set(&mut first, 1);
        for (field, value) in [
            p::HEADER_BYTES,
            p::POSITION_OFFSET,
            p::POSITION_BYTES,
            p::MESSAGE_KEY_OFFSET,
            p::MESSAGE_KEY_BYTES,
        ]
        .into_iter()
        .zip(fields)
        {
            field.set(&mut second, *value as u64);
        }
        let at = r::PROFILES + (number as u32 + 1) * r::PROFILE_STRIDE;
        [(at, u32::from_le_bytes(first)), (at + 4, u32::from_le_bytes(second))]
    };
    PROFILES.iter().enumerate().flat_map(write).collect()
}

/// The header of a profile, with a position.
fn profile_header(slot: &Slot, profile: u8, position: u32, random: &mut SmallRng) -> Vec<u8> {
    let [bytes, at, _, key_at, key_bytes] = PROFILES[usize::from(profile) - 1];
    let mut header = vec![0; bytes];
    random.fill(&mut header[..]);
    header[at..at + 4].copy_from_slice(&position.to_be_bytes());
    header[key_at..key_at + key_bytes].copy_from_slice(&slot.message_key[..key_bytes]);
    header
}

/// A packet of a slot with `bytes` bytes of its stream.
pub fn packet(slot: &Slot, from: u32, bytes: u32, random: &mut SmallRng) -> PacketSpec {
    let payload = content(slot.name, Direction::Receive, from, bytes);
    let position = slot.base.wrapping_add(from);
    let tags = (0..random.random_range(0..3)).map(|_| random.random());
    let mut spec = PacketSpec {
        tags: tags.collect(),
        addresses: slot.addresses,
        ip_options: vec![1; 4 * [0, 0, 0, 2, 10][random.random_range(0..5)]],
        ports: slot.ports,
        layer4: Layer4::Udp { no_checksum: false },
        payload,
    };
    match slot.transport {
        Transport::Profile(profile) => {
            let header = profile_header(slot, profile, position, random);
            spec.payload.splice(0..0, header);
        }
        Transport::Tcp => {
            let mut options = Vec::new();
            if random.random_bool(0.5) {
                options = timestamp_option(random.random(), 0);
            }
            options.resize(options.len() + 4 * random.random_range(0..4), 1);
            spec.layer4 = Layer4::Tcp {
                sequence: position,
                acknowledgement: random.random_range(990..2010),
                flags: match random.random_range(0..20) {
                    0 => random.random(),
                    1 => 0x11,
                    2 => 0x18,
                    _ => 0x10,
                },
                options,
            };
        }
    }
    spec
}

/// What the peer of a slot sends next: mostly in order, else anywhere about floor and window.
fn next_packet(slot: &mut Slot, random: &mut SmallRng) -> PacketSpec {
    let bytes = match random.random_range(0..8) {
        0 => 0,
        1 => random.random_range(1..140),
        2 => random.random_range(1449..8900),
        _ => random.random_range(1..1449),
    };
    let (floor, posted) = (slot.receive.floor, slot.receive.posted);
    let from = match random.random_range(0..12) {
        0 => floor.saturating_sub(random.random_range(0..800)),
        1 => posted.saturating_sub(random.random_range(0..2000)),
        2 => posted + random.random_range(0..3000),
        3 => floor,
        4 | 5 => floor + random.random_range(0..(posted.saturating_sub(floor)).max(1)),
        _ => {
            if slot.next < floor || slot.next > posted + 2000 {
                slot.next = floor;
            }
            let from = slot.next;
            slot.next += bytes;
            from
        }
    };
    packet(slot, from, bytes, random)
}

/// A frame of some slot, or of nobody; some are spoiled before they get to the wire.
pub fn frame(slots: &mut [Slot], random: &mut SmallRng) -> Frame {
    let number = random.random_range(0..slots.len());
    let mut spec = next_packet(&mut slots[number], random);
    if random.random_bool(0.01) {
        spec.layer4 = Layer4::Udp { no_checksum: random.random() };
    }
    let mut bytes = spec.frame(random.random());
    match random.random_range(0..80) {
        0 => bytes.truncate(random.random_range(60..=bytes.len())),
        1 => {
            let length = random.random_range(60..600);
            bytes = (0..length).map(|_| random.random()).collect();
        }
        2 => bytes.resize((bytes.len() + 300).min(9216), 0x5a),
        3 => bytes.resize(random.random_range(9217..9400), 0x5a),
        4 => bytes.truncate(random.random_range(15..60)),
        _ => {}
    }
    Frame { bytes, ..Frame::default() }
}

/// Writes a frame's number over its source address.
pub fn tag(frame: &mut [u8], number: u64) {
    frame[6..12].copy_from_slice(&number.to_be_bytes()[2..]);
}

/// The number in a frame, or in a header.
pub fn tag_of(frame: &[u8]) -> u64 {
    let mut number = [0; 8];
    number[2..].copy_from_slice(&frame[6..12]);
    u64::from_be_bytes(number)
}
