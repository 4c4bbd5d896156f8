//! The host's driver of the flash, over the window as it is emitted: an update of two chips, and
//! what the window refuses.

use std::time::Duration;

use abi::image::SYNC_WORD;
use abi::window::PortOperation;
use host::board::chips::slot_contents;
use host::board::flash::{Flash, FlashError, Layout};
use host::board::identity::identity;
use host::board::port::boot as load;
use host::board::update::{carry_out, prepare, steps};
use host::board::window::{Window, WindowError};
use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng};
use seed::seed;
use sim::boot::{boot, Booted};
use sim::flash_chip::FlashEvent;

use crate::device_pins::CHIP_BYTES;
use crate::rig::{Rig, BOARD, PLAN};

/// The window's response to what it carries out.
const OKAY: u64 = 0;
/// Nanoseconds of a cycle.
const CYCLE_NS: u128 = 4;
/// Most cycles of a wait: the chips of the tests are faster than real ones.
const CYCLES_MAX: u128 = 200;
/// The golden image.
const GOLDEN: [u8; 64] = [0x6b; 64];

/// The emitted window, as the host reaches it through the card.
struct Emitted(Rig);

impl Window for Emitted {
    fn read(&mut self, offset: u32) -> Result<u32, WindowError> {
        match self.0.read(offset) {
            (OKAY, word) => Ok(word),
            // The card's answer for a window that has none.
            _ => Ok(u32::MAX),
        }
    }

    fn write(&mut self, offset: u32, value: u32) -> Result<(), WindowError> {
        assert_eq!(self.0.write(offset, value), OKAY, "0x{offset:x}");
        Ok(())
    }

    fn wait(&mut self, time: Duration) {
        let cycles = (time.as_nanos() / CYCLE_NS).min(CYCLES_MAX);
        self.0.cycles(cycles as u64);
    }
}

fn window(seed: u64) -> Emitted {
    let mut rig = Rig::new(1, 1, seed, None);
    rig.leave_alone();
    rig.chips.chips[0].write_initial(0, &GOLDEN);
    Emitted(rig)
}

#[test]
fn the_driver_updates_the_flash_behind_the_emitted_window() {
    let seed = seed();
    let mut random = SmallRng::seed_from_u64(seed);
    let mut data: Vec<u8> = (0..9_001).map(|_| random.random()).collect();
    data[..0x50].fill(0xff);
    for offset in [0x50, 0x70] {
        data[offset..offset + 4].copy_from_slice(&SYNC_WORD.to_be_bytes());
    }
    let slot = PLAN.slot_bytes;
    let room = u64::from(CHIP_BYTES - slot);
    let contents = slot_contents(&data, 2, room).expect("it fits");
    let mut window = window(seed);
    let found = identity(&mut window).expect("an identity");
    assert_eq!((found.board, &found.config[..]), (BOARD, "small"));
    let layout = Layout {
        chips: 2,
        size_bytes: CHIP_BYTES,
        slot,
    };
    prepare(&mut window, layout).expect("the flash of the plan");
    for step in steps(&contents, slot) {
        carry_out(&mut window, &step, &contents, |_| {}).expect("a step");
    }
    let chips = &window.0.chips.chips;
    assert_eq!(boot(chips, &GOLDEN, slot, &[&data]), Booted::Image(0));
    for event in chips.iter().flat_map(|chip| chip.events()) {
        let (FlashEvent::Erase { address, .. } | FlashEvent::Program { address, .. }) = event
        else {
            panic!("{event:x?}");
        };
        assert!(*address >= slot, "{event:x?}");
    }
    load(&mut window, PortOperation::BootUser).expect("a load");
}

#[test]
fn the_driver_hears_what_the_emitted_window_refuses() {
    let mut window = window(seed());
    let slot = PLAN.slot_bytes;
    let mut flash = Flash::open(&mut window).expect("a flash");
    assert_eq!(flash.identify(1).expect("a chip")[..2], [0x20, 0xbb]);
    let refused = |result: Result<(), FlashError>| {
        let error = result.expect_err("refused");
        assert!(matches!(error, FlashError::Refused { .. }), "{error}");
    };
    for address in [0, slot - 1, CHIP_BYTES, u32::MAX] {
        refused(flash.program_page(0, address, &[0; 256]));
        refused(flash.erase_block(1, address));
        refused(flash.erase_sector(0, address));
    }
    // Its 64 KiB begin below the slot.
    refused(flash.erase_sector(1, slot));
    let chips = &window.0.chips.chips;
    assert!(chips.iter().all(|chip| chip.events().is_empty()));
}
