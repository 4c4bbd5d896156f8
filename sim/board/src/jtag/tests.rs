//! The TAP, its identification, and the way to the flash.

use super::*;
use crate::flash_chip::FlashEvent;

/// A device that was reset and idles.
fn device() -> JtagDevice {
    let mut device = JtagDevice::new(0x14b3_1093, vec![FlashChip::new(16 << 20); 2]);
    walk(&mut device, &[true, true, true, true, true, false]);
    device
}

fn walk(device: &mut JtagDevice, states: &[bool]) {
    for tms in states {
        device.clock(*tms, true);
    }
}

/// Shifts bits, the last one with TMS high; what came out.
fn shift(device: &mut JtagDevice, bits: &[bool]) -> Vec<bool> {
    let last = bits.len() - 1;
    let out = bits.iter().enumerate();
    out.map(|(place, bit)| device.clock(place == last, *bit)).collect()
}

fn bits(value: u64, count: u32) -> Vec<bool> {
    (0..count).map(|bit| value >> bit & 1 == 1).collect()
}

fn value(bits: &[bool]) -> u64 {
    bits.iter().rev().fold(0, |value, bit| value << 1 | u64::from(*bit))
}

fn instruction(device: &mut JtagDevice, code: u32) -> u64 {
    walk(device, &[true, true, false, false]);
    let out = shift(device, &bits(u64::from(code), IR_BITS));
    walk(device, &[true, false]);
    value(&out)
}

fn data(device: &mut JtagDevice, send: &[bool]) -> Vec<bool> {
    walk(device, &[true, false, false]);
    let out = shift(device, send);
    walk(device, &[true, false]);
    out
}

/// The highest bit of each byte first.
fn reverse_bits(bytes: &[u8]) -> Vec<bool> {
    let bits = bytes.iter().flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1 == 1));
    bits.collect()
}

fn load(device: &mut JtagDevice, bytes: &[u8]) {
    instruction(device, JPROGRAM);
    while instruction(device, 0x3_ffff) & 0x10 == 0 {}
    instruction(device, CFG_IN);
    data(device, &reverse_bits(bytes));
    instruction(device, JSTART);
}

#[test]
fn device_identifies_after_reset_and_instruction() {
    let mut device = device();
    let out = data(&mut device, &bits(!0, 64));
    assert_eq!(value(&out), 0xffff_ffff_14b3_1093);
    instruction(&mut device, 0x3_ffff);
    assert_eq!(value(&data(&mut device, &bits(0b1011, 8))), 0b1_0110);
    instruction(&mut device, IDCODE);
    assert_eq!(value(&data(&mut device, &bits(0, 32))), 0x14b3_1093);
    // From the middle of a shift.
    walk(&mut device, &[true, false, false, false]);
    walk(&mut device, &[true; 5]);
    assert_eq!(device.state, State::Reset);
}

#[test]
fn data_load_and_show_when_running() {
    let mut device = device();
    assert_eq!(instruction(&mut device, JPROGRAM) & 0x30, 0x10);
    assert_eq!(instruction(&mut device, JSTART) & 0x30, 0x00);
    assert_eq!(device.loaded_image(), None);
    load(&mut device, &[0xaa, 0x99, 0x55, 0x66]);
    assert_eq!(device.loaded_image(), Some(&[0xaa, 0x99, 0x55, 0x66][..]));
    assert_eq!(instruction(&mut device, JPROGRAM) & 0x30, 0x30);
    assert_eq!(device.loaded_image(), None);
}

#[test]
fn bridge_reaches_each_chip_image_none() {
    let mut device = device();
    let identify = reverse_bits(&[0x9f, 0, 0, 0, 0]);
    let answer = |device: &mut JtagDevice, code: u32| {
        instruction(device, code);
        let out = data(device, &identify);
        // What comes back is a clock late.
        out[9..33].iter().fold(0, |value, bit| value << 1 | u32::from(*bit))
    };
    assert_eq!(answer(&mut device, USER1), 0);
    load(&mut device, &[1, 2, 3]);
    assert_eq!(answer(&mut device, USER1), 0x20_bb18);
    assert_eq!(answer(&mut device, USER2), 0x20_bb18);
    for (code, count) in [(USER2, 1), (USER1, 2)] {
        instruction(&mut device, code);
        data(&mut device, &reverse_bits(&[0xb7]));
        let told = |chip: &FlashChip| chip.events() == [FlashEvent::Other { opcode: 0xb7 }];
        assert_eq!(device.chips().iter().filter(|chip| told(chip)).count(), count);
    }
    device.expect_image(&[1, 2, 3]);
    assert_eq!(answer(&mut device, USER1), 0);
}
