//! A chip as its data sheet describes it.

use super::*;

/// One command: bytes in, then bytes out.
fn command(chip: &mut FlashChip, bytes: &[u8], answer_bytes: usize) -> Vec<u8> {
    chip.select(true);
    for byte in bytes {
        send(chip, *byte);
    }
    let answer = (0..answer_bytes).map(|_| send(chip, 0)).collect();
    chip.select(false);
    answer
}

/// A byte, the highest bit first; the byte that came back.
fn send(chip: &mut FlashChip, byte: u8) -> u8 {
    (0..8).rev().fold(0, |answer, bit| answer << 1 | u8::from(chip.clock(byte >> bit & 1 == 1)))
}

/// Waits for the end of an operation by the status register; how often it was read.
fn wait(chip: &mut FlashChip) -> usize {
    let mut count = 0;
    while command(chip, &[0x05], 1)[0] & 1 == 1 {
        count += 1;
        assert!(count < 10_000);
    }
    count
}

fn with_address(opcode: u8, address: u32) -> Vec<u8> {
    [&[opcode][..], &address.to_be_bytes()].concat()
}

fn program(chip: &mut FlashChip, address: u32, data: &[u8]) {
    command(chip, &[0x06], 0);
    command(chip, &[&with_address(0x12, address)[..], data].concat(), 0);
}

fn erase(chip: &mut FlashChip, opcode: u8, address: u32) {
    command(chip, &[0x06], 0);
    command(chip, &with_address(opcode, address), 0);
}

fn chip() -> FlashChip {
    FlashChip::new(128 << 20)
}

#[test]
fn it_says_what_it_is() {
    let id = |size: u32| command(&mut FlashChip::new(size), &[0x9f], 3);
    assert_eq!(id(128 << 20), [0x20, 0xbb, 0x21]);
    assert_eq!(id(64 << 20), [0x20, 0xbb, 0x20]);
    assert_eq!(id(16 << 20), [0x20, 0xbb, 0x18]);
}

#[test]
fn all_reads_agree_across_blocks() {
    let mut chip = chip();
    let data: Vec<u8> = (0..64).map(|number: u8| number.wrapping_mul(37)).collect();
    chip.write_initial(0x0400_0fe0, &data);
    let address = 0x0400_0fe0;
    assert_eq!(command(&mut chip, &with_address(0x13, address), 64), data);
    let fast = [&with_address(0x0c, address)[..], &[0]].concat();
    assert_eq!(command(&mut chip, &fast, 64), data);
    // Line 1 of four: bits 5 and 1 of each byte.
    let quad = [&with_address(0x6c, address)[..], &[0]].concat();
    let lines = command(&mut chip, &quad, 16);
    let bits = |byte: &u8| byte >> 5 & 1 == 1;
    assert_eq!(lines[0] >> 7 == 1, bits(&data[0]));
    assert_eq!(lines[0] >> 6 & 1, data[0] >> 1 & 1);
    assert_eq!(lines[15] >> 1 & 1 == 1, bits(&data[63]));
    // Three bytes of address, then four.
    chip.write_initial(0x12_3456, &[0xa5]);
    assert_eq!(command(&mut chip, &[0x03, 0x12, 0x34, 0x56], 1), [0xa5]);
    command(&mut chip, &[0xb7], 0);
    assert_eq!(command(&mut chip, &[0x70], 1), [0x81]);
    assert_eq!(command(&mut chip, &with_address(0x03, address), 64), data);
    command(&mut chip, &[0xe9], 0);
    // The upper byte of a short address, from its register.
    command(&mut chip, &[0x06], 0);
    command(&mut chip, &[0xc5, 0x04], 0);
    let short = [&[0x03][..], &address.to_be_bytes()[1..]].concat();
    assert_eq!(command(&mut chip, &short, 64), data);
    // The two bytes of a command that no read, status or enable is.
    let others = [0xb7, 0xe9, 0xc5].map(|opcode| FlashEvent::Other { opcode });
    assert_eq!(chip.events(), others);
}

#[test]
fn page_is_programmed_within_itself_towards_zero() {
    let mut chip = chip();
    program(&mut chip, 0x0400_00f0, &[0x0f; 32]);
    assert_eq!(command(&mut chip, &[0x05], 1), [0x03]);
    assert!(wait(&mut chip) > 0);
    assert_eq!(command(&mut chip, &[0x05], 1), [0x00]);
    assert_eq!(chip.read_range(0x0400_00f0, 16), [0x0f; 16]);
    assert_eq!(chip.read_range(0x0400_0000, 17)[15..], [0x0f, 0xff]);
    assert_eq!(chip.read(0x0400_0100), 0xff);
    program(&mut chip, 0x0400_00f0, &[0xf3]);
    wait(&mut chip);
    assert_eq!(chip.read(0x0400_00f0), 0x03);
    let (address, bytes) = (0x0400_00f0, 32);
    assert_eq!(chip.events()[0], FlashEvent::Program { address, bytes });
}

#[test]
fn erases_take_exactly_the_unit() {
    for (opcode, bytes) in [(0x21, 4 << 10), (0x5c, 32 << 10), (0xdc, 64 << 10)] {
        let mut chip = chip();
        let base = 0x0401_0000;
        chip.write_initial(base - 1, &vec![0x00; bytes as usize + 2]);
        erase(&mut chip, opcode, base + 0x123);
        let address = base;
        assert_eq!(chip.events(), [FlashEvent::Erase { address, bytes }]);
        wait(&mut chip);
        assert!(chip.read_range(base, bytes).iter().all(|byte| *byte == 0xff));
        assert_eq!((chip.read(base - 1), chip.read(base + bytes)), (0, 0));
        assert_eq!(chip.used_blocks(), [base - 0x1000, base + bytes]);
    }
    let mut chip = chip();
    chip.write_initial(0, &[0]);
    chip.write_initial(0x0400_0000, &[0]);
    command(&mut chip, &[0x06], 0);
    command(&mut chip, &[0xb7], 0);
    command(&mut chip, &with_address(0xc4, 0x0400_0001), 0);
    wait(&mut chip);
    assert_eq!((chip.read(0), chip.read(0x0400_0000)), (0, 0xff));
    command(&mut chip, &[0x06], 0);
    command(&mut chip, &[0xc7], 0);
    wait(&mut chip);
    assert!(chip.used_blocks().is_empty());
}

#[test]
fn incomplete_or_disabled_command_does_nothing() {
    let mut chip = chip();
    chip.write_initial(0, &[0x5a]);
    let erase_block = with_address(0x21, 0);
    command(&mut chip, &erase_block, 0);
    command(&mut chip, &[0x06], 0);
    command(&mut chip, &[0x04], 0);
    command(&mut chip, &erase_block, 0);
    command(&mut chip, &[0x06], 0);
    command(&mut chip, &erase_block[..4], 0);
    command(&mut chip, &[&erase_block[..], &[0]].concat(), 0);
    command(&mut chip, &with_address(0x12, 0), 0);
    // A bit too many, and one too few.
    for bits in [39, 41] {
        chip.select(true);
        for bit in 0..bits {
            chip.clock(bit < 8 && 0x21 >> (7 - bit) & 1 == 1);
        }
        chip.select(false);
    }
    let refused: Vec<u8> = chip
        .events()
        .iter()
        .map(|event| match event {
            FlashEvent::Refused { opcode } => *opcode,
            event => panic!("{event:?}"),
        })
        .collect();
    assert_eq!(refused, [0x21, 0x21, 0x21, 0x21, 0x12, 0x21, 0x21]);
    assert_eq!(chip.read(0), 0x5a);
    // It was enabled all the time.
    command(&mut chip, &erase_block, 0);
    wait(&mut chip);
    assert_eq!(chip.read(0), 0xff);
}

#[test]
fn busy_chip_answers_status_alone() {
    let mut chip = chip();
    chip.set_times(FlashTimes { clock_ns: 0, ..FlashTimes::TYPICAL });
    erase(&mut chip, 0xdc, 0x0400_0000);
    assert_eq!(command(&mut chip, &[0x70], 2), [0x00, 0x00]);
    assert_eq!(command(&mut chip, &[0x9f], 2), [0xff, 0xff]);
    program(&mut chip, 0x0400_0000, &[0]);
    assert_eq!(chip.events()[1], FlashEvent::Refused { opcode: 0x12 });
    chip.pass_ns(149_999_999);
    assert!(chip.is_busy());
    chip.pass_ns(1);
    assert!(!chip.is_busy());
    assert_eq!(command(&mut chip, &[0x70], 1), [0x80]);
    assert_eq!(chip.read(0x0400_0000), 0xff);
}

#[test]
fn power_loss_damages_only_current_unit() {
    let base = 0x0400_0000;
    let run = |seed: u64, is_erase: bool| {
        let mut chip = chip();
        chip.set_seed(seed);
        chip.write_initial(base - 16, &[0x3c; 0x1_1000]);
        if is_erase {
            erase(&mut chip, 0x21, base);
        } else {
            program(&mut chip, base, &[0x00; 256]);
        }
        chip.cut_power();
        assert!(!chip.is_busy());
        chip
    };
    for is_erase in [true, false] {
        let bytes = if is_erase { 4096 } else { 256 };
        let chip = run(1, is_erase);
        let unit = chip.read_range(base, bytes);
        assert!(unit.iter().any(|byte| *byte != 0x3c));
        assert!(unit.iter().any(|byte| *byte != unit[0]));
        assert_eq!(chip.read_range(base - 16, 16), [0x3c; 16]);
        assert!(chip.read_range(base + bytes, 0x1000) == [0x3c; 0x1000]);
        assert!(is_erase || unit.iter().all(|byte| byte & !0x3c == 0));
        assert!(unit == run(1, is_erase).read_range(base, bytes));
        assert!(unit != run(2, is_erase).read_range(base, bytes));
    }
}

#[test]
fn reset_needs_enable_and_restores_modes() {
    let mut chip = chip();
    command(&mut chip, &[0xb7], 0);
    command(&mut chip, &[0x99], 0);
    assert_eq!(command(&mut chip, &[0x70], 1), [0x81]);
    command(&mut chip, &[0x66], 0);
    command(&mut chip, &[0x05], 1);
    command(&mut chip, &[0x99], 0);
    assert_eq!(command(&mut chip, &[0x70], 1), [0x81]);
    command(&mut chip, &[0x66], 0);
    command(&mut chip, &[0x99], 0);
    assert_eq!(command(&mut chip, &[0x70], 1), [0x80]);
    command(&mut chip, &[0xb9], 0);
    assert_eq!(command(&mut chip, &[0x9f], 1), [0xff]);
    command(&mut chip, &[0xab], 0);
    assert_eq!(command(&mut chip, &[0x9f], 1), [0x20]);
}

#[test]
fn a_worn_cell_reads_wrong() {
    let mut chip = chip();
    chip.write_initial(0x100, &[0xf0, 0xf0]);
    chip.wear(0x101, 0x10);
    assert_eq!(command(&mut chip, &with_address(0x13, 0x100), 2), [0xf0, 0xe0]);
}

/// Protected blocks, from either end, and a locked sector: nothing begins, and the chip says so.
#[test]
fn protected_range_stays_and_chip_reports() {
    let size = 128 << 20;
    for (status, inside, outside) in [
        (0x04, size - 1, size - 0x1_0001),
        (0x24, 0xffff, 0x1_0000),
        (0x4c, size / 2, size / 2 - 1),
        (0x6c, size / 2 - 1, size / 2),
    ] {
        let mut chip = chip();
        // Written by the command for it, and kept without power.
        command(&mut chip, &[0x06], 0);
        command(&mut chip, &[0x01, status], 0);
        chip.cut_power();
        assert_eq!(command(&mut chip, &[0x05], 1), [status]);
        for (opcode, bit) in [(0x21, 5), (0xdc, 5)] {
            erase(&mut chip, opcode, inside);
            assert_eq!(command(&mut chip, &[0x05], 1), [status | 2], "enabled, not busy");
            assert_eq!(command(&mut chip, &[0x70], 1), [0x82 | 1 << bit]);
            command(&mut chip, &[0x50], 0);
            assert_eq!(command(&mut chip, &[0x70], 1), [0x80]);
        }
        program(&mut chip, inside, &[0]);
        assert_eq!(command(&mut chip, &[0x70], 1), [0x92]);
        assert_eq!(chip.read(inside), 0xff);
        let last = chip.events().last();
        assert_eq!(last, Some(&FlashEvent::Protected { opcode: 0x12, address: inside }));
        program(&mut chip, outside, &[0]);
        wait(&mut chip);
        assert_eq!(chip.read(outside), 0);
        assert_eq!(command(&mut chip, &[0x05], 1), [status]);
    }
    // All of it: 2,048 sectors and more.
    let mut chip = chip();
    chip.protect(0x50);
    program(&mut chip, 0x400_0000, &[0]);
    assert_eq!(chip.read(0x400_0000), 0xff);
    // A lock, which goes with the power.
    chip.protect(0);
    chip.lock(0x400_ffff);
    program(&mut chip, 0x400_0000, &[0]);
    assert_eq!(command(&mut chip, &[0x05], 1), [0x02]);
    assert_eq!(chip.read(0x400_0000), 0xff);
    chip.cut_power();
    program(&mut chip, 0x400_0000, &[0]);
    wait(&mut chip);
    assert_eq!(chip.read(0x400_0000), 0);
}
