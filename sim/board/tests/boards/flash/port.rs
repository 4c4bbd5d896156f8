//! The configuration port of the window: its key, the two loads, and what keeps them back.

use abi::window as w;
use abi::window::{BlockKind, FlashOperation, PortOperation};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use seed::seed;
use sim_board::flash_chip::FlashTimes;

use super::{at, command, flash, idle, wait, OKAY};
use crate::rig::{Fault, Rig, PLAN};

fn port(word: u32) -> u32 {
    at(BlockKind::ConfigurationPort, word)
}

/// Writes both words of the key.
fn key(rig: &mut Rig) {
    for word in w::PORT_KEY_WORDS {
        assert_eq!(rig.write(port(w::PORT_KEY), word), OKAY);
    }
}

/// Gives the port a command and waits for its end; the status.
fn port_command(rig: &mut Rig, word: u32) -> u32 {
    assert_eq!(rig.write(port(w::PORT_COMMAND), word), OKAY);
    for _ in 0..1_000 {
        let status = rig.read(port(w::PORT_STATUS)).1;
        if status & 1 == 0 {
            return status;
        }
        rig.cycles(100);
    }
    panic!("the port does not end");
}

/// A window whose configuration port runs.
fn port_rig(fault: Fault) -> Rig {
    let mut rig = Rig::new(1, 1, seed(), fault);
    rig.leave_alone();
    rig.run_base_clock(true);
    rig
}

/// Longer than a load takes, in cycles.
const LOAD_CYCLES: u64 = 45_000;
/// The words of a load from an address.
fn load_words(address: u32) -> [u32; 8] {
    [
        0xffff_ffff,
        0xaa99_5566,
        0x2000_0000,
        0x3002_0001,
        address >> 8,
        0x3000_8001,
        0xf,
        0x2000_0000,
    ]
}

pub fn images(fault: Fault) {
    let mut random = SmallRng::seed_from_u64(seed());
    let mut rig = port_rig(fault);
    let loads = [
        (PortOperation::BootGolden, PLAN.golden_bytes),
        (PortOperation::BootUser, PLAN.slot_bytes),
    ];
    for (operation, address) in loads {
        rig.port.written.clear();
        key(&mut rig);
        assert_eq!(port_command(&mut rig, operation as u32), 0);
        rig.cycles(20);
        assert_eq!(rig.port.written, load_words(address), "the words of a load");
    }
    rig.port.written.clear();
    for _ in 0..50 {
        let word: u32 = if random.random() { random.random_range(4..64) } else { random.random() };
        if word != 0 && word <= 3 {
            continue;
        }
        if random.random() {
            key(&mut rig);
        }
        assert_eq!(port_command(&mut rig, word), 0b10, "{word:#x}");
    }
    rig.cycles(LOAD_CYCLES);
    assert!(rig.port.written.is_empty(), "nothing else reaches the port");
    rig.port.boot_status = random.random();
    assert_eq!(port_command(&mut rig, PortOperation::ReadStatus as u32), 0);
    let status = (OKAY, rig.port.boot_status);
    assert_eq!(rig.read(port(w::PORT_BOOT_STATUS)), status);
    rig.cycles(20);
    let words = [
        0xffff_ffff,
        0xaa99_5566,
        0x2000_0000,
        0x2802_c001,
        0x2000_0000,
        0x2000_0000,
        0x2000_0000,
        0x3000_8001,
        0xd,
        0x2000_0000,
        0x2000_0000,
        0x2000_0000,
    ];
    assert_eq!(rig.port.written, words, "the port is left as it was");
    // A command while one runs.
    rig.port.written.clear();
    key(&mut rig);
    assert_eq!(rig.write(port(w::PORT_COMMAND), PortOperation::BootUser as u32), OKAY);
    key(&mut rig);
    assert_eq!(rig.write(port(w::PORT_COMMAND), PortOperation::BootGolden as u32), OKAY);
    assert_eq!(rig.read(port(w::PORT_STATUS)), (OKAY, 0b11));
    rig.cycles(LOAD_CYCLES);
    assert_eq!(rig.port.written, load_words(PLAN.slot_bytes));
    assert!(!rig.port.aborted, "the direction changes while the port is selected");
}

/// No load without both words of the key directly before it, in their order.
pub fn keys(fault: Fault) {
    let mut rig = port_rig(fault);
    let [first, second] = w::PORT_KEY_WORDS;
    let other = !first & !second;
    let key = |word| (w::PORT_KEY, word);
    let wrong: [&[(u32, u32)]; 10] = [
        &[],
        &[key(first)],
        &[key(second)],
        &[key(second), key(first)],
        &[key(first), key(first)],
        &[key(first), key(other), key(second)],
        &[key(first), key(second), key(other)],
        &[key(first), key(second), (w::PORT_STATUS, 0)],
        &[key(first), (w::PORT_BOOT_STATUS, second), key(second)],
        &[(w::PORT_BOOT_STATUS, first), (w::PORT_BOOT_STATUS, second)],
    ];
    for operation in [PortOperation::BootGolden, PortOperation::BootUser] {
        for words in wrong {
            for (place, word) in words {
                assert_eq!(rig.write(port(*place), *word), OKAY);
            }
            let status = port_command(&mut rig, operation as u32);
            assert_eq!(status, 0b10, "a load without its key: {words:x?}");
        }
        // Both words are for one command, whatever becomes of it.
        for word in [first, second] {
            assert_eq!(rig.write(port(w::PORT_KEY), word), OKAY);
        }
        assert_eq!(rig.read(port(w::PORT_KEY)), (OKAY, 0));
        assert_eq!(port_command(&mut rig, 0), 0b10);
        assert_eq!(port_command(&mut rig, operation as u32), 0b10);
    }
    rig.cycles(LOAD_CYCLES);
    assert!(rig.port.written.is_empty());
    // Reads between them take nothing back.
    assert_eq!(rig.write(port(w::PORT_KEY), first), OKAY);
    assert_eq!(rig.read(port(w::PORT_STATUS)), (OKAY, 0b10));
    assert_eq!(rig.write(port(w::PORT_KEY), second), OKAY);
    assert_eq!(rig.read(port(w::PORT_BOOT_STATUS)).0, OKAY);
    assert_eq!(port_command(&mut rig, PortOperation::BootUser as u32), 0);
    assert_eq!(rig.port.written, load_words(PLAN.slot_bytes));
}

/// While a chip erases or programs, or may, no image is loaded; once a load is accepted, no chip
/// begins to.
pub fn expect_load_held(fault: Fault) {
    let changes =
        [FlashOperation::Program, FlashOperation::EraseBlock, FlashOperation::EraseSector];
    let boot = PortOperation::BootUser as u32;
    for (chip, operation) in (0..2).flat_map(|chip| changes.map(|change| (chip, change))) {
        let mut rig = port_rig(fault);
        let long = 60_000;
        rig.chips.chips[chip as usize].set_times(FlashTimes {
            program_ns: long,
            block_ns: long,
            sector_ns: long,
            ..FlashTimes::SHORT
        });
        assert_eq!(rig.read(port(w::PORT_STATUS)), (OKAY, 0));
        let change = operation as u32 | chip << w::FLASH_CHIP.offset;
        let place = PLAN.slot_bytes.next_multiple_of(w::FLASH_SECTOR_BYTES);
        assert_eq!(rig.write(flash(w::FLASH_ADDRESS), place), OKAY);
        assert_eq!(rig.write(flash(w::FLASH_COMMAND), change), OKAY);
        let refused = |rig: &mut Rig, what: &str| {
            key(rig);
            assert_eq!(port_command(rig, boot), 0b110, "{operation:?} of chip {chip}, {what}");
        };
        refused(&mut rig, "while the command is sent");
        wait(&mut rig);
        assert!(rig.chips.chips[chip as usize].is_busy());
        refused(&mut rig, "while it erases or programs");
        idle(&mut rig, 1 - chip);
        refused(&mut rig, "the other chip is idle");
        let asks = FlashOperation::Status as u32 | chip << w::FLASH_CHIP.offset;
        assert_eq!(command(&mut rig, asks, 0) >> w::FLASH_CHIP_STATUS.offset & 1, 1);
        refused(&mut rig, "it has said that it is busy");
        rig.cycles(2 * long / 4);
        assert!(!rig.chips.chips[chip as usize].is_busy());
        refused(&mut rig, "it has ended, and nobody knows");
        // BOOTSTS may be read all the while.
        assert_eq!(port_command(&mut rig, PortOperation::ReadStatus as u32), 0b100);
        idle(&mut rig, chip);
        rig.port.written.clear();
        key(&mut rig);
        assert_eq!(rig.write(port(w::PORT_COMMAND), boot), OKAY);
        assert_eq!(rig.read(port(w::PORT_STATUS)), (OKAY, 0b001));
        let events = rig.chips.chips.each_ref().map(|chip| chip.events().len());
        let others = [FlashOperation::Identify, FlashOperation::Status];
        for operation in changes.into_iter().chain(others) {
            for chip in 0..2 {
                let word = operation as u32 | chip << w::FLASH_CHIP.offset;
                let status = command(&mut rig, word, place);
                let is_refused = status >> w::FLASH_REFUSED.offset & 1 == 1;
                assert_eq!(is_refused, changes.contains(&operation), "{operation:?} before a load");
            }
        }
        assert_eq!(rig.read(port(w::PORT_STATUS)), (OKAY, 0b001), "the load has not ended yet");
        assert_eq!(rig.chips.chips.each_ref().map(|chip| chip.events().len()), events);
        rig.cycles(LOAD_CYCLES);
        assert_eq!(rig.port.written, load_words(PLAN.slot_bytes));
    }
}

#[test]
fn a_load_needs_its_key() {
    keys(None);
}

#[test]
fn image_load_and_chip_change_exclude() {
    expect_load_held(None);
}

/// Without its clock the port does nothing, says that it is busy, and goes on when the clock is
/// back.
#[test]
fn the_port_waits_for_its_clock() {
    let mut rig = port_rig(None);
    rig.run_base_clock(false);
    let asks = PortOperation::ReadStatus as u32;
    assert_eq!(rig.write(port(w::PORT_COMMAND), asks), OKAY);
    rig.cycles(LOAD_CYCLES);
    assert_eq!(rig.read(port(w::PORT_STATUS)), (OKAY, 0b01));
    assert_eq!(rig.write(port(w::PORT_COMMAND), asks), OKAY);
    assert_eq!(rig.read(port(w::PORT_STATUS)), (OKAY, 0b11));
    assert!(rig.port.written.is_empty());
    rig.port.boot_status = 0x1234_5678;
    rig.run_base_clock(true);
    rig.cycles(200);
    assert_eq!(rig.read(port(w::PORT_STATUS)), (OKAY, 0b10));
    assert_eq!(rig.read(port(w::PORT_BOOT_STATUS)), (OKAY, 0x1234_5678));
}

#[test]
fn port_loads_two_images_only() {
    images(None);
}
