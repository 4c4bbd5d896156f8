//! Header entries of a card that lies: of packets that never came, placed where nothing is, of
//! flows that do not exist, with lengths that fit nowhere.
//!
//! Only [`DriverError::BadEntry`] and [`DriverError::BadRun`] may end the provider: a number that
//! the rings do not allow. Entries of runs come to an owner that has asked for them.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use abi::config::{METADATA_BYTES, RUN_PACKETS_MAX, SLOT_BYTES, SLOT_HEADER_BYTES};
use abi::header_entry as h;
use abi::reason::Disposition;
use host::driver::error::DriverError;
use host::error::HostError;
use host::provider::{Completion, ReceiveOptions};

use crate::input::Input;
use crate::lying_bus::Lies;
use crate::rig::{coalesces, Rig};

/// Entries of one input, at most.
const ENTRIES_MAX: usize = 64;
/// Where TCP begins in a header of the connection.
const L4_AT: u8 = 34;
const ACK: u8 = 0x10;

/// Runs the target. Returns the runs of packets that the provider has taken.
///
/// # Panics
/// If an entry ends more than it may.
pub fn run(bytes: &[u8]) -> u64 {
    let slots = Rc::new(RefCell::new(VecDeque::new()));
    let mut rig = Rig::new(coalesces(bytes), |bus| Lies::on(bus, slots.clone()));
    for number in 0..2 {
        let offset = number * 16_384;
        let received = rig.machine.host.recv_with(
            rig.connection,
            rig.region.span(offset, 16_384),
            number,
            ReceiveOptions { partial: number == 1 },
        );
        received.expect("a request");
        let sent = rig.machine.host.send(
            rig.connection,
            rig.region.span(32_768 + offset, 16_384),
            10 + number,
        );
        sent.expect("a request");
    }
    for _ in 0..20 {
        rig.step(true).expect("it polls");
    }
    let mut input = Input::new(bytes);
    let mut runs = 0;
    for _ in 0..ENTRIES_MAX {
        if input.is_over() {
            break;
        }
        let slot = entry(&mut input, &rig.sent, coalesces(bytes));
        let is_run = h::KIND.get(&slot) == u64::from(h::KIND_RUN);
        slots.borrow_mut().push_back(slot);
        if refuses(rig.step(false)) {
            return runs;
        }
        runs += u64::from(is_run);
    }
    for _ in 0..4 {
        if refuses(rig.step(false)) {
            break;
        }
    }
    runs
}

/// Whether an entry has ended the provider, as it may.
fn refuses(step: Result<Vec<Completion>, HostError>) -> bool {
    use DriverError::{BadEntry, BadRun};
    match step {
        Ok(_) => false,
        Err(HostError::Driver(BadEntry { .. } | BadRun { .. })) => true,
        Err(error) => panic!("an entry ended the provider: {error}"),
    }
}

/// The next entry: any bytes, or one of a packet of the connection with some fields changed, or of
/// a run of packets where the card sums up. `sent` is a frame of our side.
fn entry(input: &mut Input<'_>, sent: &[u8], with_runs: bool) -> [u8; SLOT_BYTES] {
    let mut slot = [0; SLOT_BYTES];
    if input.number(1).is_multiple_of(4) {
        let bytes = input.bytes(SLOT_BYTES);
        slot[..bytes.len()].copy_from_slice(bytes);
        return slot;
    }
    let header = answer(input, sent);
    let payload_bytes = input.below(9_000);
    for (field, value) in [
        (h::KIND, u64::from(h::KIND_PACKET)),
        (h::DISPOSITION, input.below(16)),
        (h::GENERATION, if input.below(8) == 0 { input.number(1) } else { 1 }),
        (h::FLOW, if input.below(8) == 0 { input.number(2) } else { 0 }),
        (h::HEADER_BYTES, header.len() as u64),
        (h::PAYLOAD_BYTES, payload_bytes),
        (h::FRAME_BYTES, header.len() as u64 + payload_bytes),
        (h::TRIMMED_BYTES, if input.below(4) == 0 { input.below(100) } else { 0 }),
        (
            h::SLOW_BUFFER,
            match input.below(4) {
                0 => input.number(2),
                1 => input.below(64),
                _ => h::SLOW_BUFFER_NONE.into(),
            },
        ),
    ] {
        field.set(&mut slot, value);
    }
    slot[METADATA_BYTES..METADATA_BYTES + header.len()].copy_from_slice(&header);
    if with_runs && input.below(4) > 0 {
        make_run(input, &mut slot);
    }
    slot
}

/// Makes the entry one of a run that the contract allows, with some fields changed.
fn make_run(input: &mut Input<'_>, slot: &mut [u8; SLOT_BYTES]) {
    let tcp = METADATA_BYTES + usize::from(L4_AT);
    let sequence = word(slot, tcp + 4);
    let acknowledgement = word(slot, tcp + 8);
    slot[tcp + 13] = ACK;
    let packets = 2 + input.below(RUN_PACKETS_MAX as u64 - 1);
    let segment_bytes = 1 + input.below(9_000);
    let last_bytes = 1 + input.below(segment_bytes);
    let bytes = (packets - 1) * segment_bytes + last_bytes;
    for (field, value) in [
        (h::KIND, h::KIND_RUN.into()),
        (h::DISPOSITION, Disposition::PlacedInOrder as u64),
        (h::VERIFIED, 1),
        (h::L4_OFFSET, L4_AT.into()),
        (h::PAYLOAD_BYTES, segment_bytes),
        (h::TRIMMED_BYTES, 0),
        (h::CURSOR, sequence.wrapping_add(bytes as u32).into()),
        (h::RUN_PACKETS, packets),
        (h::RUN_PUSH, input.below(2)),
        (h::RUN_ACK, acknowledgement.wrapping_add(input.below(2_000) as u32).into()),
        (h::RUN_WINDOW, input.number(2)),
        (h::RUN_TIMESTAMP, 0),
        (h::RUN_TIMESTAMP_ECHO, 0),
    ] {
        field.set(slot, value);
    }
    let changed = [h::RUN_PACKETS, h::CURSOR, h::RUN_ACK, h::PAYLOAD_BYTES, h::L4_OFFSET];
    if let Some(field) = changed.get(input.below(32) as usize) {
        field.set(slot, input.number(1));
    }
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// A header from the peer, as an answer to a frame of ours, with an offset in each number.
fn answer(input: &mut Input<'_>, sent: &[u8]) -> Vec<u8> {
    let mut header = sent[..54.min(sent.len())].to_vec();
    header.resize(54, 0);
    let l4 = usize::from(L4_AT);
    let (sequence, acknowledgement) = (word(&header, l4 + 4), word(&header, l4 + 8));
    header[..12].rotate_left(6);
    header[26..34].rotate_left(4);
    header[l4..l4 + 4].rotate_left(2);
    let near = |input: &mut Input<'_>| input.number(2) as u16 as i16 as i32 as u32;
    let theirs = acknowledgement.wrapping_add(near(input));
    let ours = sequence.wrapping_add(near(input));
    header[l4 + 4..l4 + 8].copy_from_slice(&theirs.to_be_bytes());
    header[l4 + 8..l4 + 12].copy_from_slice(&ours.to_be_bytes());
    header[l4 + 12] = 0x50;
    header[l4 + 13] = if input.below(4) == 0 { input.number(1) as u8 } else { ACK };
    header.truncate(SLOT_HEADER_BYTES);
    header
}
