//! The host's driver of the flash, over the window as it is emitted: what the window refuses. An
//! update: `update.rs`.

use std::time::Duration;

use host_board::flash::{Flash, FlashError};
use host_board::identity::identity;
use host_board::window::{Window, WindowError};
use seed::seed;

use crate::device_pins::CHIP_BYTES;
use crate::rig::{Rig, BOARD, PLAN};

/// The window's response to what it carries out.
const OKAY: u64 = 0;
/// Nanoseconds of a cycle.
const CYCLE_NS: u128 = 4;
/// Most cycles of a wait: the chips of the tests are faster than real ones.
const CYCLES_MAX: u128 = 200;

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
    Emitted(rig)
}

#[test]
fn driver_hears_emitted_windows_refusals() {
    let mut window = window(seed());
    let found = identity(&mut window).expect("an identity");
    assert_eq!((found.board, &found.config[..]), (BOARD, "small"));
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
