//! A packet is placed: its payload lies in the application's memory, its header in a queue.
//!
//! ```text
//!   commands ─► flow, region, segment          payload ─► DATA
//!   frame ─────────► golden card ──────────────┤
//!                                              header entry ─► HEADERS
//! ```

use abi::config::{COMMAND_BYTES, COMPLETION_BYTES, SMALL};
use abi::field::Field;
use abi::flow_key::{self, KEY_BYTES};
use abi::reason::{CommandStatus, Disposition};
use abi::{command as c, completion, header_entry as h, registers as r};
use golden::checksum::{fold, pseudo_header, sum};
use golden::device::{GoldenDevice, Memory};

/// Where everything lies in the memory of this example, by bus address.
const COMMANDS: u64 = 0x1000;
const COMPLETIONS: u64 = 0x2000;
const HEADERS: u64 = 0x3000;
const DATA: u64 = 0x8000;
/// Position of the next byte of the stream, and the number that an ACK may have.
const POSITION: u32 = 1_000;
const ACK: u32 = 7_000;
const REMOTE: ([u8; 4], u16) = ([10, 0, 0, 2], 5_001);
const LOCAL: ([u8; 4], u16) = ([10, 0, 0, 1], 80);

/// Host memory: whatever lies outside is refused.
struct Ram(Vec<u8>);

impl Memory for Ram {
    fn read(&mut self, address: u64, bytes: usize) -> Option<Vec<u8>> {
        let at = address as usize;
        self.0.get(at..at + bytes).map(<[u8]>::to_vec)
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> bool {
        let at = address as usize;
        let place = self.0.get_mut(at..at + bytes.len());
        place.map(|place| place.copy_from_slice(bytes)).is_some()
    }
}

fn main() -> Result<(), String> {
    let (mut card, mut ram) = (GoldenDevice::new(SMALL), Ram(vec![0; 1 << 16]));
    card.write_register(r::CONTEXTS + r::CONTEXT_COMMAND_BASE, COMMANDS as u32, &mut ram);
    card.write_register(r::CONTEXTS + r::CONTEXT_COMPLETION_BASE, COMPLETIONS as u32, &mut ram);
    card.write_register(r::CONTEXTS + r::CONTEXT_HEADER_BASE, HEADERS as u32, &mut ram);
    // Log2 entries: 16 commands, 4 slots to send from, 16 slots for headers, 4 slow buffers.
    card.write_register(r::CONTEXTS + r::CONTEXT_SIZES, 0x02_04_02_04, &mut ram);
    card.write_register(r::CONTEXTS + r::CONTEXT_ENABLE, 1, &mut ram);
    card.write_register(r::CONTROL, r::CONTROL_RX, &mut ram);
    let commands = flow(&card);
    for (number, command) in (0..).zip(&commands) {
        ram.write(COMMANDS + number * COMMAND_BYTES as u64, command);
    }
    card.write_register(r::DOORBELLS + r::DOORBELL_COMMAND, commands.len() as u32, &mut ram);
    let completions = ram.0[COMPLETIONS as usize..].chunks(COMPLETION_BYTES);
    let is_ok = |record: &[u8]| completion::STATUS.get(record) == CommandStatus::Ok as u64;
    if let Some(number) = completions.take(commands.len()).position(|record| !is_ok(record)) {
        return Err(format!("command {number} was refused"));
    }
    println!("{} commands confirmed", commands.len());

    let payload = b"The payload is placed; the header alone goes to the transport.";
    card.receive(&frame(payload), false, &mut ram);
    let entry = &ram.0[HEADERS as usize..];
    for field in h::FIELDS {
        println!("{:>14} {:#x}", field.name, field.get(entry));
    }
    let placed = &ram.0[DATA as usize..DATA as usize + payload.len()];
    println!("memory at {DATA:#x}: {}", String::from_utf8_lossy(placed));
    if placed != payload || h::DISPOSITION.get(entry) != Disposition::PlacedInOrder as u64 {
        return Err(format!("not placed in order; drops by reason: {:?}", card.drops));
    }
    Ok(())
}

/// The commands that make a flow: a page of memory, the entry, a segment to receive into, the key.
fn flow(card: &GoldenDevice) -> [[u8; COMMAND_BYTES]; 5] {
    let mut key = [0; KEY_BYTES];
    key[flow_key::REMOTE_ADDRESS][..4].copy_from_slice(&REMOTE.0);
    key[flow_key::LOCAL_ADDRESS][..4].copy_from_slice(&LOCAL.0);
    key[flow_key::REMOTE_PORT].copy_from_slice(&REMOTE.1.to_be_bytes());
    key[flow_key::LOCAL_PORT].copy_from_slice(&LOCAL.1.to_be_bytes());
    (key[flow_key::PROTOCOL], key[flow_key::FAMILY_PROFILE]) = (6, 4);
    let position = POSITION.into();
    let region = [(c::REGION_WRITE, 1), (c::REGION_PAGE_BITS, 12), (c::REGION_BYTES, 4096)];
    let install = [
        (c::INSTALL_FLOOR, position),
        (c::INSTALL_ACK_LOW, ACK.into()),
        (c::INSTALL_ACK_HIGH, ACK.into()),
        (c::RX_LIST_BITS, 3),
        (c::TX_LIST_BITS, 3),
    ];
    let mut key_set = command(c::KEY_SET, &[(c::KEY_BUCKET, card.tables.bucket(0, &key))]);
    key_set[c::KEY_AT_BYTES..].copy_from_slice(&key);
    [
        command(c::PAGE_SET, &[(c::PAGE_ADDRESS, DATA)]),
        command(c::REGION_INSTALL, &region),
        command(c::FLOW_INSTALL, &install),
        command(c::SEGMENT_POST, &[(c::SEGMENT_POSITION, position), (c::SEGMENT_BYTES, 4096)]),
        key_set,
    ]
}

fn command(opcode: u8, fields: &[(Field, u64)]) -> [u8; COMMAND_BYTES] {
    let mut entry = [0; COMMAND_BYTES];
    c::OPCODE.set(&mut entry, opcode.into());
    fields.iter().for_each(|(field, value)| field.set(&mut entry, *value));
    entry
}

/// Ethernet, IPv4, TCP with ACK and PSH.
fn frame(payload: &[u8]) -> Vec<u8> {
    let mut tcp = [REMOTE.1.to_be_bytes(), LOCAL.1.to_be_bytes()].concat();
    tcp.extend([POSITION.to_be_bytes(), ACK.to_be_bytes()].concat());
    tcp.extend([0x50, 0x18, 0xff, 0xff, 0, 0, 0, 0]);
    tcp.extend(payload);
    let addresses = [REMOTE.0, LOCAL.0].concat();
    let total = pseudo_header(&addresses, 6, tcp.len()) + sum(&tcp);
    tcp[16..18].copy_from_slice(&(!fold(total)).to_be_bytes());
    let mut ip = vec![0x45, 0];
    ip.extend((20 + tcp.len() as u16).to_be_bytes());
    ip.extend([0, 0, 0x40, 0, 64, 6, 0, 0]);
    ip.extend(addresses);
    let checksum = !fold(sum(&ip));
    ip[10..12].copy_from_slice(&checksum.to_be_bytes());
    [&[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0], &ip[..], &tcp].concat()
}
