//! An update of the flash over the board window: what it leaves, what is refused, and what boots
//! when the power is lost at any point of it.

use abi::image::SYNC_WORD;
use abi::window::{
    BlockKind, FlashOperation, PortOperation, FLASH_ADDRESS, FLASH_CHIP, FLASH_COMMAND,
};
use host_board::chips::slot_contents;
use host_board::flash::{Flash, FlashError, Layout};
use host_board::identity::identity;
use host_board::port::{boot as port_boot, boot_status, PortError};
use host_board::update::{carry_out, prepare, steps, UpdateError};
use host_board::window::{Window, WindowError};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use sim_board::boot::{boot, Booted};
use sim_board::flash_chip::{FlashChip, FlashEvent, FlashTimes};
use sim_board::flash_window::{Change, FlashWindow};

/// Bytes of a chip.
const CHIP_BYTES: u32 = 128 << 20;
/// What the golden image is, in the first chip.
static GOLDEN: [u8; 0x3456] = [0x6b; 0x3456];
/// Bytes of the image in whose update the power is lost.
const LOST_BYTES: usize = 50_001;
/// Points at which the power is lost.
const POINTS: u64 = 64;

/// A board: its chips, and where the slot begins in each.
#[derive(Clone, Copy, Debug)]
struct Kind {
    chips: u32,
    slot: u32,
}

const KINDS: [Kind; 3] = [
    Kind { chips: 1, slot: 0x0400_0000 },
    // Not on a border of 64 KiB.
    Kind { chips: 1, slot: 0x0100_2000 },
    Kind { chips: 2, slot: 0x0400_0000 },
];

fn data(random: &mut SmallRng, bytes: usize) -> Vec<u8> {
    let mut data: Vec<u8> = (0..bytes).map(|_| random.random()).collect();
    data[..0x50].fill(0xff);
    // As in an image for several dies, there are sync words in the middle as well.
    for offset in [0x50, 0x70, bytes / 2, bytes / 2 + 0x20] {
        data[offset..offset + 4].copy_from_slice(&SYNC_WORD.to_be_bytes());
    }
    data
}

/// A board with a golden image, an old one in its slot, and a new one to come.
struct Rig {
    kind: Kind,
    window: FlashWindow,
    old: Vec<u8>,
    new: Vec<u8>,
    contents: Vec<Vec<u8>>,
}

impl Rig {
    /// `bytes` are those of the new image.
    fn new(kind: Kind, seed: u64, bytes: usize) -> Self {
        let mut random = SmallRng::seed_from_u64(seed);
        let old = data(&mut random, bytes / 2);
        let new = data(&mut random, bytes);
        let room = u64::from(CHIP_BYTES - kind.slot);
        let contents = |data: &[u8]| slot_contents(data, kind.chips, room).expect("it fits");
        let mut chips = vec![FlashChip::new(CHIP_BYTES); kind.chips as usize];
        chips[0].write_initial(0, &GOLDEN);
        for (chip, contents) in chips.iter_mut().zip(contents(&old)) {
            chip.set_seed(random.random());
            chip.write_initial(kind.slot - 0x2000, &[0x77; 0x2000]);
            chip.write_initial(kind.slot, &contents);
        }
        Self {
            kind,
            window: FlashWindow::new(1, chips, CHIP_BYTES, kind.slot),
            contents: contents(&new),
            old,
            new,
        }
    }

    fn layout(&self) -> Layout {
        Layout { chips: self.kind.chips, size_bytes: CHIP_BYTES, slot: self.kind.slot }
    }

    fn update(&mut self) -> Result<(), UpdateError> {
        let layout = self.layout();
        prepare(&mut self.window, layout, &self.contents)?;
        for step in steps(&self.contents, self.kind.slot) {
            carry_out(&mut self.window, &step, &self.contents, |_| {})?;
        }
        Ok(())
    }

    fn boots(&self) -> Booted {
        let images = [&self.old[..], &self.new];
        boot(self.window.chips(), &GOLDEN, self.kind.slot, &images)
    }

    /// The device does not even begin to load an image whose rest is not there: with a sync word in
    /// its place, all behind its page is the new image's, or nothing but the first block was begun.
    fn assert_no_sync_word_before_the_rest(&self) {
        let (slot, chips) = (self.kind.slot, self.window.chips());
        if chips[0].read_range(slot + 256 + 0x50, 4) != SYNC_WORD.to_be_bytes() {
            return;
        }
        let is_new = chips.iter().zip(&self.contents).all(|(chip, contents)| {
            let rest = &contents[0x200..];
            chip.read_range(slot + 0x200, rest.len() as u32) == rest
        });
        assert!(is_new || self.window.changes().len() <= 1);
    }

    /// Nothing below the slot was touched, by what was told and by what is there.
    fn assert_untouched_below(&self) {
        let slot = self.kind.slot;
        for (number, chip) in self.window.chips().iter().enumerate() {
            for event in chip.events() {
                match event {
                    FlashEvent::Erase { address, .. } | FlashEvent::Program { address, .. } => {
                        assert!(*address >= slot, "{event:x?}");
                    }
                    event => panic!("{event:x?}"),
                }
            }
            let golden = if number == 0 { &GOLDEN[..] } else { &[] };
            assert!(chip.read_range(0, golden.len() as u32) == golden);
            assert!(chip.read_range(slot - 0x2000, 0x2000) == [0x77; 0x2000]);
            let mut used = chip.used_blocks();
            used.retain(|block| *block < slot);
            let expected = golden.len().div_ceil(0x1000) + 2;
            assert_eq!(used.len(), expected);
        }
    }
}

#[test]
fn update_leaves_new_image_only() {
    for kind in KINDS {
        let mut rig = Rig::new(kind, 1, 300_001);
        assert_eq!(rig.boots(), Booted::Image(0));
        rig.update().expect("an update");
        assert_eq!(rig.boots(), Booted::Image(1));
        rig.assert_untouched_below();
        let erases = rig.window.chips()[0].events().iter();
        let sectors = erases
            .filter(|event| matches!(event, FlashEvent::Erase { bytes, .. } if *bytes == 0x1_0000));
        assert!(sectors.count() > 0, "{kind:?}: no sector was erased as one");
        // A second one finds the same order.
        rig.update().expect("an update");
        assert_eq!(rig.boots(), Booted::Image(1));
    }
}

/// Loses the power after so many accesses; what boots then.
fn lose_power(kind: Kind, seed: u64, after: u64) -> Booted {
    let mut rig = Rig::new(kind, seed, LOST_BYTES);
    rig.window.cut_after(after);
    let error = rig.update().expect_err("the power is gone");
    assert!(
        matches!(error, UpdateError::Flash(FlashError::Window(WindowError::Gone { .. }))),
        "{error}"
    );
    rig.assert_untouched_below();
    rig.assert_no_sync_word_before_the_rest();
    let booted = rig.boots();
    // Whatever has boot, the card can be given the image once more.
    rig.window.cut_after(u64::MAX);
    rig.update().expect("the second one");
    assert_eq!(rig.boots(), Booted::Image(1), "after {after}");
    booted
}

#[test]
fn power_loss_leaves_a_bootable_image() {
    let seed = seed::seed();
    std::thread::scope(|scope| {
        for kind in KINDS {
            scope.spawn(move || lost_at_any_point(kind, seed));
        }
    });
}

fn lost_at_any_point(kind: Kind, seed: u64) {
    let mut rig = Rig::new(kind, seed, LOST_BYTES);
    rig.update().expect("an update");
    let (all, changes) = (rig.window.accesses(), rig.window.changes().to_vec());
    let mut points: Vec<u64> = (0..POINTS).map(|point| point * all / POINTS).collect();
    // Around the first operation of each block, and around each of the last ones.
    let block = |change: &Change| (change.chip, change.address >> 12);
    let first_of = changes.windows(2).filter(|pair| block(&pair[0]) != block(&pair[1]));
    let last_ones = changes.len() - 16..;
    let borders = first_of.map(|pair| pair[1]).chain(changes[last_ones].iter().copied());
    for change in borders.chain(changes.first().copied()) {
        points.extend([-2, -1, 0, 4].map(|more| change.accesses.saturating_add_signed(more)));
    }
    points.extend([all - 1, all - 100]);
    let mut counts = [0; 3];
    for after in points {
        let booted = lose_power(kind, seed, after);
        println!("{kind:?}: after {after} of {all} accesses: {booted:?}");
        match booted {
            Booted::Golden => counts[0] += 1,
            Booted::Image(1) => counts[1] += 1,
            // Before anything was erased, or before it had an effect.
            Booted::Image(_) => {
                assert!(after <= changes[0].accesses + 16, "the old image after {after}");
                counts[2] += 1;
            }
            Booted::None => panic!("{kind:?}: nothing boots after {after} of {all} accesses"),
        }
    }
    assert!(counts.iter().all(|count| *count > 0), "{counts:?}");
}

#[test]
fn block_refuses_access_below_slot() {
    for kind in KINDS {
        let mut rig = Rig::new(kind, 1, 300_001);
        let slot = kind.slot;
        for chip in 0..kind.chips {
            let mut flash = Flash::open(&mut rig.window).expect("a flash");
            for address in [0, slot - 256, slot - 1, CHIP_BYTES, u32::MAX] {
                let refused = |result: Result<(), FlashError>| {
                    let error = result.expect_err("refused");
                    assert!(matches!(error, FlashError::Refused { .. }), "{error}");
                };
                refused(flash.program_page(chip, address, &[0; 256]));
                refused(flash.erase_block(chip, address));
                refused(flash.erase_sector(chip, address));
            }
            // Part of this sector is below the slot.
            let in_slot = flash.erase_sector(chip, slot);
            assert_eq!(in_slot.is_err(), !slot.is_multiple_of(0x1_0000));
            flash.read_page(chip, 0).expect("it may be read");
        }
        let mut flash = Flash::open(&mut rig.window).expect("a flash");
        let other = flash.erase_block(kind.chips, slot);
        assert_eq!(other.is_err(), kind.chips == 1);
        rig.assert_untouched_below();
    }
}

#[test]
fn wrong_cell_is_named_golden_boots() {
    for kind in KINDS {
        for (offset, boots) in [(0x9000, Booted::Golden), (0x200, Booted::Golden)] {
            let mut rig = Rig::new(kind, 1, 300_001);
            let address = kind.slot + offset;
            let chip = kind.chips - 1;
            rig.window.chips_mut()[chip as usize].wear(address, 0x20);
            let error = rig.update().expect_err("a worn cell");
            let name = format!("chip {chip} has 0x");
            let place = format!("at 0x{address:08x}");
            let text = error.to_string();
            assert!(text.contains(&name) && text.contains(&place), "{text}");
            assert_eq!(rig.boots(), boots);
        }
    }
}

#[test]
fn card_with_other_flash_stays() {
    let mut rig = Rig::new(KINDS[0], 1, 300_001);
    rig.kind.slot = 0x0200_0000;
    let error = rig.update().expect_err("another slot");
    assert!(matches!(error, UpdateError::Layout { .. }), "{error}");
    rig.kind.slot = KINDS[0].slot;
    rig.kind.chips = 2;
    let error = rig.update().expect_err("another chip");
    assert!(matches!(error, UpdateError::Layout { .. }), "{error}");
    assert!(rig.window.changes().is_empty());
}

/// What the card says of its flash is looked at before anything is done to it.
#[test]
fn impossible_layout_is_named() {
    let chips = |count| vec![FlashChip::new(CHIP_BYTES); count];
    for (count, slot) in [(3, 0x1000), (1, CHIP_BYTES), (2, CHIP_BYTES + 0x1000)] {
        let mut window = FlashWindow::new(1, chips(count), CHIP_BYTES, slot);
        let error = Flash::open(&mut window).err().expect("it cannot be");
        assert!(matches!(error, FlashError::Layout { .. }), "{error}");
    }
}

/// A page is 64 writes, a read behind each eight of them, and what the operation takes.
#[test]
fn page_takes_fewest_accesses() {
    let kind = KINDS[0];
    let mut window = FlashWindow::new(1, vec![FlashChip::new(CHIP_BYTES)], CHIP_BYTES, kind.slot);
    let mut flash = Flash::open(&mut window).expect("a flash");
    flash.program_page(0, kind.slot, &[0x11; 256]).expect("a page");
    let before = window.accesses();
    let mut flash = Flash::open(&mut window).expect("a flash");
    flash.program_page(0, kind.slot + 256, &[0x22; 256]).expect("a page");
    let taken = window.accesses() - before;
    assert!((64 + 9..128).contains(&taken), "{taken} accesses");
}

#[test]
fn hung_or_silent_chip_is_named() {
    let never = FlashTimes { block_ns: u64::MAX / 2, ..FlashTimes::SHORT };
    let mut rig = Rig::new(KINDS[2], 1, 300_001);
    rig.window.chips_mut()[1].set_times(never);
    let error = rig.update().expect_err("it does not end");
    let slot = KINDS[2].slot;
    assert!(
        matches!(
            error,
            UpdateError::Flash(FlashError::Busy { chip: 1, address, .. }) if address == slot
        ),
        "{error}"
    );
    rig.assert_untouched_below();
    // It is found busy by the next one, which does nothing.
    let before = rig.window.changes().len();
    let error = rig.update().expect_err("it is busy still");
    assert!(matches!(error, UpdateError::NoChip { chip: 1, .. }), "{error}");
    assert_eq!(rig.window.changes().len(), before);
    // Asleep (opcode 0xb9), a chip does not answer.
    let mut rig = Rig::new(KINDS[0], 1, 300_001);
    let chip = &mut rig.window.chips_mut()[0];
    chip.select(true);
    for bit in (0..8).rev() {
        chip.clock(0xb9 >> bit & 1 == 1);
    }
    chip.select(false);
    let error = rig.update().expect_err("no chip");
    assert!(matches!(error, UpdateError::NoChip { chip: 0, .. }), "{error}");
    assert!(rig.window.changes().is_empty());
}

#[test]
fn card_identifies_itself_and_loads_image() {
    let mut rig = Rig::new(KINDS[2], 1, 300_001);
    rig.window.set_hash([0x0123_4567, 0x89ab_cdef, 0, 0, 0x1]);
    let found = identity(&mut rig.window).expect("an identity");
    assert_eq!((found.board, found.slot), (1, 1));
    assert_eq!(found.git, format!("0123456789abcdef{:016x}{:08x}", 0, 1));
    let mut flash = Flash::open(&mut rig.window).expect("a flash");
    assert_eq!(flash.identify(1).expect("a chip"), [0x20, 0xbb, 0x21]);
    assert_eq!(boot_status(&mut rig.window).expect("a status"), 1);
    port_boot(&mut rig.window, PortOperation::BootUser).expect("a load");
    assert_eq!(rig.window.boots(), [PortOperation::BootUser]);
}

/// A load waits for a chip that somebody told to erase, and is refused while one does not end.
#[test]
fn no_image_loads_during_erase() {
    for chip in [0, 1] {
        let kind = KINDS[2];
        let mut rig = Rig::new(kind, 1, 300_001);
        erase_and_leave(&mut rig.window, chip, kind.slot);
        port_boot(&mut rig.window, PortOperation::BootUser).expect("it was waited for");
        assert_eq!(rig.window.boots(), [PortOperation::BootUser]);
        assert!(!rig.window.chips()[chip as usize].is_busy());

        let never = FlashTimes { block_ns: u64::MAX / 2, ..FlashTimes::SHORT };
        let mut rig = Rig::new(kind, 1, 300_001);
        rig.window.chips_mut()[chip as usize].set_times(never);
        erase_and_leave(&mut rig.window, chip, kind.slot);
        let error = port_boot(&mut rig.window, PortOperation::BootUser).expect_err("it erases");
        let PortError::Flash(FlashError::Busy { chip: found, .. }) = error else {
            panic!("{error}");
        };
        assert_eq!(found, chip);
        assert!(rig.window.boots().is_empty());
    }
}

/// Begins an erase, and does not wait for its end.
fn erase_and_leave(window: &mut FlashWindow, chip: u32, address: u32) {
    let offset = |word: u32| BlockKind::Flash.block().offset + 4 * word;
    let command = FlashOperation::EraseBlock as u32 | chip << FLASH_CHIP.offset;
    window.write(offset(FLASH_ADDRESS), address).expect("it is posted");
    window.write(offset(FLASH_COMMAND), command).expect("it is posted");
}

/// What a chip protects is named with its register, before anything is erased; what it does not
/// carry out for another reason, too.
#[test]
fn protected_block_names_its_register() {
    for kind in KINDS {
        let chip = kind.chips - 1;
        let register = |error: &UpdateError| match error {
            UpdateError::Flash(FlashError::Protected { chip, status, .. }) => (*chip, *status),
            other => panic!("{other}"),
        };
        // All of it; the upper half, which a slot at 0x0400_0000 begins; 64 KiB at the bottom.
        for (status, is_hit) in [(0x70, true), (0x4c, kind.slot == 0x0400_0000), (0x24, false)] {
            let mut rig = Rig::new(kind, 1, 300_001);
            rig.window.chips_mut()[chip as usize].protect(status);
            let result = rig.update();
            if !is_hit {
                result.expect("nothing of the slot is protected");
                assert_eq!(rig.boots(), Booted::Image(1));
                continue;
            }
            let error = result.expect_err("protected");
            assert_eq!(register(&error), (chip, u32::from(status)));
            let text = error.to_string();
            assert!(text.contains(&format!("register is 0x{status:02x}")), "{text}");
            assert!(rig.window.changes().is_empty(), "nothing was begun");
            assert_eq!(rig.boots(), Booted::Image(0));
            // The driver asked to do it all the same says why as well.
            let mut flash = Flash::open(&mut rig.window).expect("a flash");
            let slot = kind.slot.next_multiple_of(0x1_0000);
            for result in [
                flash.erase_block(chip, slot),
                flash.erase_sector(chip, slot),
                flash.program_page(chip, slot, &[0; 256]),
            ] {
                let error = result.expect_err("protected");
                assert!(matches!(error, FlashError::Protected { .. }), "{error}");
            }
        }
        // A lock of a sector is in no register that the card reads.
        let mut rig = Rig::new(kind, 1, 300_001);
        let address = kind.slot + 0x1_0000;
        rig.window.chips_mut()[chip as usize].lock(address);
        let error = rig.update().expect_err("locked");
        let UpdateError::Flash(FlashError::Locked { chip: found, status: 2, address: at, .. }) =
            error
        else {
            panic!("{error}");
        };
        assert_eq!((found, at >> 16), (chip, address >> 16));
        assert_eq!(rig.boots(), Booted::Golden);
    }
}

/// The name of the configuration is text in words, the first byte lowest, and ends with a zero or
/// with the last word.
#[test]
fn the_card_names_its_configuration() {
    let mut rig = Rig::new(KINDS[2], 1, 300_001);
    for (words, name) in [
        ([0x0062_616c, 0, 0, 0], "lab"),
        ([0x6168_6c61, 0x6174_6562, 0x6d6d_6167, 0x746c_6461], "alhabetagammadlt"),
        ([0, 0x6174_6562, 0, 0], ""),
    ] {
        rig.window.set_config(words);
        let found = identity(&mut rig.window).expect("an identity");
        assert_eq!(found.config, name);
    }
}
