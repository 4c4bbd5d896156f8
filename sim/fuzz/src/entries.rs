//! Header entries of a card that lies: of packets that never came, placed where nothing is, of
//! flows that do not exist, with lengths that fit nowhere.
//!
//! Only [`DriverError::BadEntry`] may end the provider: a number that the rings do not allow.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use abi::config::{METADATA_BYTES, SLOT_BYTES, SLOT_HEADER_BYTES};
use abi::header_entry as h;
use host::driver::error::DriverError;
use host::error::HostError;
use host::provider::ReceiveOptions;

use crate::input::Input;
use crate::lying_bus::Lies;
use crate::rig::Rig;

/// Entries of one run, at most.
const ENTRIES_MAX: usize = 64;

/// Runs the target.
///
/// # Panics
/// If an entry ends more than it may.
pub fn run(bytes: &[u8]) {
    let slots = Rc::new(RefCell::new(VecDeque::new()));
    let mut rig = Rig::new(|bus| Lies::on(bus, slots.clone()));
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
    for _ in 0..ENTRIES_MAX {
        if input.is_over() {
            break;
        }
        let slot = entry(&mut input, &rig.sent);
        slots.borrow_mut().push_back(slot);
        match rig.step(false) {
            Ok(_) => {}
            Err(HostError::Driver(DriverError::BadEntry { .. })) => return,
            Err(error) => panic!("an entry ended the provider: {error}"),
        }
    }
    for _ in 0..4 {
        if let Err(error) = rig.step(false) {
            assert!(matches!(error, HostError::Driver(DriverError::BadEntry { .. })), "{error}");
            return;
        }
    }
}

/// The next entry: any bytes, or one of a packet of the connection with some fields changed. `sent`
/// is a frame of our side.
fn entry(input: &mut Input<'_>, sent: &[u8]) -> [u8; SLOT_BYTES] {
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
    slot
}

/// A header from the peer, as an answer to a frame of ours, with an offset in each number.
fn answer(input: &mut Input<'_>, sent: &[u8]) -> Vec<u8> {
    let mut header = sent[..54.min(sent.len())].to_vec();
    header.resize(54, 0);
    let l4 = 34;
    let read = |header: &[u8], at: usize| {
        u32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]])
    };
    let (sequence, acknowledgement) = (read(&header, l4 + 4), read(&header, l4 + 8));
    header[..12].rotate_left(6);
    header[26..34].rotate_left(4);
    header[l4..l4 + 4].rotate_left(2);
    let near = |input: &mut Input<'_>| input.number(2) as u16 as i16 as i32 as u32;
    let theirs = acknowledgement.wrapping_add(near(input));
    let ours = sequence.wrapping_add(near(input));
    header[l4 + 4..l4 + 8].copy_from_slice(&theirs.to_be_bytes());
    header[l4 + 8..l4 + 12].copy_from_slice(&ours.to_be_bytes());
    header[l4 + 12] = 0x50;
    header[l4 + 13] = if input.below(4) == 0 { input.number(1) as u8 } else { 0x10 };
    header.truncate(SLOT_HEADER_BYTES);
    header
}
