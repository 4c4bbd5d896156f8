//! Flash and configuration port of the window, before chips and a port that know what they may be
//! told: nothing but what the contract allows ever reaches them.

mod port;

use abi::window as w;
use abi::window::{BlockKind, FlashOperation};
use board::description::FlashPlan;
use port::{expect_load_held, images, keys};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use seed::seed;
use sim::caught::caught_by;
use sim::switched::NO_FAULT;
use sim_board::flash_chip::{FlashEvent, FlashTimes};

use crate::device_pins::CHIP_BYTES;
use crate::rig::{Fault, Planted, Rig, PLAN};

const OKAY: u64 = 0;
const SLAVE_ERROR: u64 = 2;
const ALL: [FlashOperation; 6] = [
    FlashOperation::Identify,
    FlashOperation::Status,
    FlashOperation::Read,
    FlashOperation::Program,
    FlashOperation::EraseBlock,
    FlashOperation::EraseSector,
];

fn at(kind: BlockKind, word: u32) -> u32 {
    kind.block().offset + 4 * word
}

fn flash(word: u32) -> u32 {
    at(BlockKind::Flash, word)
}

/// What an operation is for a chip: the bytes it works on, and whether it changes them.
fn unit(operation: FlashOperation, address: u32) -> Option<(u32, u32, bool)> {
    let (bytes, changes) = match operation {
        FlashOperation::Identify | FlashOperation::Status => return None,
        FlashOperation::Read => (w::FLASH_PAGE_BYTES, false),
        FlashOperation::Program => (w::FLASH_PAGE_BYTES, true),
        FlashOperation::EraseBlock => (w::FLASH_BLOCK_BYTES, true),
        FlashOperation::EraseSector => (w::FLASH_SECTOR_BYTES, true),
    };
    Some((address / bytes * bytes, bytes, changes))
}

/// The operation of a command word, if it may be carried out at an address.
fn permitted_operation(command: u32, address: u32) -> Option<FlashOperation> {
    let operation = ALL.into_iter().find(|it| *it as u32 == command & 7)?;
    let is_inside = unit(operation, address).is_none_or(|(first, _, changes)| {
        first < CHIP_BYTES && (!changes || first >= PLAN.slot_bytes)
    });
    (command >> 4 == 0 && is_inside).then_some(operation)
}

/// Waits until no operation runs.
fn wait(rig: &mut Rig) -> u32 {
    for _ in 0..2_000 {
        let (response, status) = rig.read(flash(w::FLASH_STATUS));
        assert_eq!(response, OKAY);
        if status & 1 == 0 {
            return status;
        }
        rig.cycles(100);
    }
    panic!("the operation does not end");
}

/// Gives a command and waits for its end; the status.
fn command(rig: &mut Rig, command: u32, address: u32) -> u32 {
    assert_eq!(rig.write(flash(w::FLASH_ADDRESS), address), OKAY);
    assert_eq!(rig.write(flash(w::FLASH_COMMAND), command), OKAY);
    wait(rig)
}

/// Waits until a chip does not erase or program.
fn idle(rig: &mut Rig, chip: u32) {
    let asks = FlashOperation::Status as u32 | chip << 3;
    while command(rig, asks, 0) >> w::FLASH_CHIP_STATUS.offset & 1 == 1 {}
}

fn page(random: &mut SmallRng) -> Vec<u32> {
    (0..w::FLASH_PAGE_WORDS).map(|_| random.random()).collect()
}

/// An address, mostly beside a border, some beyond the chip.
fn address(random: &mut SmallRng) -> u32 {
    let border = match random.random_range(0..6) {
        0 => 0,
        1 => PLAN.slot_bytes,
        2 => CHIP_BYTES,
        3 => CHIP_BYTES << random.random_range(1..13u32),
        4 => random.random(),
        _ => random.random_range(0..CHIP_BYTES),
    };
    let beside = [0u32, 4, 255, 0x1000, 0x2000, 0x1_0000][random.random_range(0..6)];
    match random.random() {
        true => border.wrapping_add(beside),
        false => border.wrapping_sub(beside),
    }
}

/// Everything in a chip below the slot, and the chip's events, are as they must be.
fn check(rig: &Rig, before: &[Vec<u8>; 2]) {
    for (chip, before) in rig.chips.chips.iter().zip(before) {
        assert!(&chip.read_range(0, PLAN.slot_bytes) == before, "below the slot");
        for event in chip.events() {
            let (first, bytes) = match *event {
                FlashEvent::Erase { address, bytes } => (address, bytes),
                FlashEvent::Program { address, bytes } => (address, bytes),
                other => panic!("{other:?}"),
            };
            let inside = PLAN.slot_bytes..=CHIP_BYTES - bytes;
            assert!(inside.contains(&first), "{event:?}");
        }
    }
}

fn operations(fault: Fault) {
    let seed = seed();
    let mut random = SmallRng::seed_from_u64(seed ^ 7);
    let mut rig = Rig::new(1, 1, seed, fault);
    rig.leave_alone();
    for chip in &mut rig.chips.chips {
        let bytes: Vec<u8> = (0..CHIP_BYTES).map(|_| random.random()).collect();
        chip.write_initial(0, &bytes);
    }
    let contents = |rig: &Rig| {
        let chips = &rig.chips.chips;
        [0, 1].map(|chip: usize| chips[chip].read_range(0, CHIP_BYTES))
    };
    let mut cells = contents(&rig);
    let before = [0, 1].map(|chip: usize| cells[chip][..PLAN.slot_bytes as usize].to_vec());
    for _ in 0..150 {
        let address = address(&mut random);
        let chip = random.random_range(0..2u32);
        let mut word = random.random_range(0..8) | chip << 3;
        if random.random_ratio(1, 10) {
            word |= 1 << random.random_range(4..32);
        }
        let words = page(&mut random);
        for (place, word) in (0..).zip(&words) {
            assert_eq!(rig.write(flash(w::FLASH_PAGE + place), *word), OKAY);
        }
        let status = command(&mut rig, word, address);
        let operation = permitted_operation(word, address);
        let refused = status >> w::FLASH_REFUSED.offset & 1 == 1;
        assert_eq!(refused, operation.is_none(), "{word:#x} at {address:#x}");
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let mut expected = bytes.clone();
        if let Some(operation) = operation {
            let cells = &mut cells[chip as usize];
            let span = unit(operation, address)
                .map_or(0..0, |(first, bytes, _)| first as usize..(first + bytes) as usize);
            match operation {
                FlashOperation::Identify => {
                    expected[..4].copy_from_slice(&[0x20, 0xbb, 0x12, 0x10])
                }
                FlashOperation::Status => assert_eq!(status >> 8 & 0xff, 0),
                FlashOperation::Read => expected.copy_from_slice(&cells[span]),
                FlashOperation::Program => {
                    let pairs = cells[span].iter_mut().zip(&bytes);
                    pairs.for_each(|(cell, byte)| *cell &= byte);
                }
                _ => cells[span].fill(0xff),
            }
        }
        for (place, bytes) in (0..).zip(expected.chunks(4)) {
            let expected = u32::from_le_bytes(bytes.try_into().expect("four bytes"));
            assert_eq!(rig.read(flash(w::FLASH_PAGE + place)), (OKAY, expected), "word {place}");
        }
        idle(&mut rig, chip);
        assert!(contents(&rig) == cells, "{word:#x} at {address:#x}");
    }
    check(&rig, &before);
    let own = [(w::FLASH_SLOT, PLAN.slot_bytes), (w::FLASH_SIZE, CHIP_BYTES), (w::FLASH_CHIPS, 2)];
    for (word, value) in own {
        assert_eq!(rig.read(flash(word)), (OKAY, value));
        assert_eq!(rig.write(flash(word), !value), OKAY);
        assert_eq!(rig.read(flash(word)), (OKAY, value), "no register moves the slot");
    }
}

#[test]
fn operations_reach_chip_only_above_slot() {
    operations(None);
}

fn busy(fault: Fault) {
    let mut rig = Rig::new(1, 1, seed(), fault);
    rig.leave_alone();
    let program = FlashOperation::Program as u32;
    for place in 0..w::FLASH_PAGE_WORDS {
        assert_eq!(rig.write(flash(w::FLASH_PAGE + place), place), OKAY);
    }
    assert_eq!(rig.write(flash(w::FLASH_ADDRESS), PLAN.slot_bytes), OKAY);
    assert_eq!(rig.write(flash(w::FLASH_COMMAND), program), OKAY);
    // The operation is not disturbed, whatever is asked meanwhile.
    let answer = rig.write(flash(w::FLASH_PAGE), 0);
    assert_eq!(answer, SLAVE_ERROR, "the page is the operation's");
    assert_eq!(rig.read(flash(w::FLASH_PAGE)), (SLAVE_ERROR, 0), "the page is the operation's");
    assert_eq!(rig.write(flash(w::FLASH_ADDRESS), 0), OKAY);
    let erase = FlashOperation::EraseBlock as u32;
    assert_eq!(rig.write(flash(w::FLASH_COMMAND), erase), OKAY);
    assert_eq!(rig.read(flash(w::FLASH_STATUS)), (OKAY, 0b11));
    assert_eq!(wait(&mut rig) & 0b11, 0b10, "the second command was refused");
    idle(&mut rig, 0);
    let programmed = FlashEvent::Program { address: PLAN.slot_bytes, bytes: w::FLASH_PAGE_BYTES };
    assert_eq!(rig.chips.chips[0].events(), [programmed], "events of the chip");
    assert!(rig.chips.chips[1].events().is_empty());
    for place in 0..w::FLASH_PAGE_WORDS {
        let bytes = rig.chips.chips[0].read_range(PLAN.slot_bytes + 4 * place, 4);
        assert_eq!(bytes, place.to_le_bytes());
    }
}

#[test]
fn running_operation_is_not_disturbed() {
    busy(None);
}

/// The status is that of the chip asked, from its first bit to its last.
#[test]
fn erasing_chip_reports_until_done() {
    let mut rig = Rig::new(1, 1, seed(), None);
    rig.leave_alone();
    for chip in 0..2 {
        rig.chips.chips[chip as usize]
            .set_times(FlashTimes { block_ns: 100_000, ..FlashTimes::SHORT });
        let select = chip << w::FLASH_CHIP.offset;
        let erase = FlashOperation::EraseBlock as u32 | select;
        command(&mut rig, erase, PLAN.slot_bytes);
        let status = |rig: &mut Rig, chip: u32| {
            let asks = FlashOperation::Status as u32 | chip << w::FLASH_CHIP.offset;
            command(rig, asks, 0) >> w::FLASH_CHIP_STATUS.offset & 0xff
        };
        assert_eq!(status(&mut rig, chip) & 1, 1, "chip {chip} erases");
        assert_eq!(status(&mut rig, 1 - chip) & 1, 0, "the other one does not");
        let mut polls = 0;
        while status(&mut rig, chip) & 1 == 1 {
            polls += 1;
        }
        // A status takes 3 us.
        assert!((10..60).contains(&polls), "{polls} polls");
        assert!(!rig.chips.chips[chip as usize].is_busy());
    }
}

/// Where there is one chip, no command is one for a second.
#[test]
fn missing_second_chip_is_refused() {
    let plan = FlashPlan { chips: 1, ..PLAN };
    let mut rig = Rig::of(plan, 1, 1, seed(), None);
    rig.leave_alone();
    assert_eq!(rig.read(flash(w::FLASH_CHIPS)), (OKAY, 1));
    for operation in ALL {
        let refused = |rig: &mut Rig, chip: u32| {
            let word = operation as u32 | chip << w::FLASH_CHIP.offset;
            command(rig, word, 0x2_0000) >> w::FLASH_REFUSED.offset & 1
        };
        assert_eq!(refused(&mut rig, 1), 1, "{operation:?}");
        assert_eq!(refused(&mut rig, 0), 0, "{operation:?}");
        idle(&mut rig, 0);
    }
    assert!(rig.chips.chips[1].events().is_empty());
    assert_eq!(rig.chips.chips[0].events().len(), 3);
}

/// What a test does with a fault, what the test then says, and the fault.
pub const FAULTS: [Planted; 11] = [
    (operations, " at 0x", ("(~changes) | (place >= slot)", "1'd1")),
    (operations, " at 0x", ("(~has_place) | (place < size)", "1'd1")),
    (operations, " at 0x", ("place ^ byte_first", "place")),
    (busy, "the page is the operation's", ("is_sending | asks", "asks")),
    (
        busy,
        "events of the chip",
        ("if (taken[0]) begin\n            chip", "if (~taken[0]) begin\n            chip"),
    ),
    (images, "the words of a load", ("(step == load_address)", "(step == load)")),
    (
        images,
        "nothing else reaches the port",
        (
            "if (is_allowed) begin\n                command",
            "if (1'd1) begin\n                command",
        ),
    ),
    (keys, "a load without its key", ("keyed == 2'd2;", "keyed != 2'd0;")),
    (expect_load_held, "while the command is sent", ("(~is_flash_busy)", "1'd1")),
    (
        expect_load_held,
        "while it erases or programs",
        ("command_busy | changes_any", "command_busy"),
    ),
    (expect_load_held, "before a load", ("is_held & change", "1'd0 & change")),
];

#[test]
fn planted_flash_and_port_faults_found() {
    images(Some(NO_FAULT));
    for (scenario, words, fault) in FAULTS {
        caught_by(words, fault.1, || scenario(Some(fault)));
    }
}
