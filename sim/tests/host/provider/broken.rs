//! A broken card: header entries that its rings do not allow are named and never followed.

use abi::config::SMALL;
use abi::header_entry;
use host::driver::bus::Bus;
use host::driver::device::{Device, DeviceConfig};
use host::driver::error::DriverError;
use host::driver::rings::HeaderEntry;
use lab::golden_card::GoldenCard;
use lab::network_side::NetworkSide;

use crate::provider::open::honest_to;
use crate::provider::owners::frame;

/// Slow buffers of an owner by default.
const SLOW_BUFFERS: u64 = 64;
/// Header bytes that one slot holds, and that two hold.
const HEADER_BYTES: [u64; 2] = [96, 160];

/// What an entry is found to be whose slot was written by `slot`: its header bytes and payload
/// bytes, or field, value and limit of the error.
fn take_entry(slot: fn(&mut [u8])) -> Result<(usize, usize), (&'static str, u64, u64)> {
    let mut card = GoldenCard::new(SMALL);
    let mut bus = honest_to(card.clone());
    bus.hooks.slot = slot;
    let mut device = Device::open(bus, DeviceConfig::with_seed(1)).expect("it opens");
    card.receive(frame(9, 0, b"who?"));
    device.bus().advance().expect("it goes on");
    let mut entry = HeaderEntry::default();
    match device.next_header(&mut entry) {
        Ok(taken) => {
            assert!(taken, "no entry");
            let deferred = entry.deferred.expect("deferred payload");
            Ok((entry.header.len(), deferred.len()))
        }
        Err(DriverError::BadEntry { owner: 0, what, value, limit }) => Err((what, value, limit)),
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn missing_slow_buffer_is_named() {
    assert_eq!(take_entry(|_| {}), Ok((54, 4)));
    let last = take_entry(|slot| header_entry::SLOW_BUFFER.set(slot, SLOW_BUFFERS - 1));
    assert_eq!(last, Ok((54, 4)));
    let beyond = take_entry(|slot| header_entry::SLOW_BUFFER.set(slot, SLOW_BUFFERS));
    assert_eq!(beyond, Err(("slow buffer", SLOW_BUFFERS, SLOW_BUFFERS)));
}

#[test]
fn payload_beyond_slow_buffer_is_named() {
    let beyond = take_entry(|slot| {
        header_entry::FRAME_BYTES.set(slot, 65_535);
        header_entry::PAYLOAD_BYTES.set(slot, 16_385);
    });
    assert_eq!(beyond, Err(("deferred bytes", 16_385, 16_385)));
}

#[test]
fn header_beyond_slots_is_named() {
    let [one, two] = HEADER_BYTES;
    let full = take_entry(|slot| header_entry::HEADER_BYTES.set(slot, 96));
    assert_eq!(full.map(|(header, _)| header), Ok(96));
    let beyond = take_entry(|slot| header_entry::HEADER_BYTES.set(slot, 97));
    assert_eq!(beyond, Err(("header bytes", one + 1, one + 1)));
    let beyond = take_entry(|slot| {
        header_entry::TWO_SLOTS.set(slot, 1);
        header_entry::HEADER_BYTES.set(slot, 161);
    });
    assert_eq!(beyond, Err(("header bytes", two + 1, two + 1)));
}
