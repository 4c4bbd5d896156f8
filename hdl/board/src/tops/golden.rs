//! The tops of the golden image.
//!
//! ```text
//!   pads ══ golden                      GoldenTop: one flash chip, at the device's own pins
//!             └══ flash_select_n, ...   GoldenFlashTop: a second one
//! ```
//! The blocks only connect.
//!
//! Timing: that of the blocks.

use crate::description::Board;
use crate::golden::Golden;
use crate::pads::{ClockPads, FlashPads, SlotPads};
use crate::placed::{clock_pads, flash_pads, slot_pads};
use stream::prelude::*;

/// The top of a board with one flash chip. See the module's head.
#[derive(LogicBlock, BlockDefault)]
#[new(board: &Board)]
pub struct GoldenTop {
    /// Pads at the slot.
    #[value(slot_pads(board))]
    pub pcie: SlotPads,
    /// Pads of the free-running clock.
    #[value(clock_pads(board))]
    pub free_clock: ClockPads,

    #[value(Golden::new(
        board.pcie.kind.core(),
        board.number,
        board.flash.plan(),
        board.free_clock_ps()
    ))]
    golden: Golden,
}

impl Logic for GoldenTop {
    #[hdl_gen]
    fn update(&mut self) {
        SlotPads::link(&mut self.pcie, &mut self.golden.pcie);
        ClockPads::link(&mut self.free_clock, &mut self.golden.free_clock);
        self.golden.flash.miso.next = true;
    }
}

/// The top of a board with two flash chips. See the module's head.
#[derive(LogicBlock, BlockDefault)]
#[new(board: &Board)]
pub struct GoldenFlashTop {
    /// Pads at the slot.
    #[value(slot_pads(board))]
    pub pcie: SlotPads,
    /// Pads of the free-running clock.
    #[value(clock_pads(board))]
    pub free_clock: ClockPads,
    /// Pads of the second flash chip.
    #[value(flash_pads(board))]
    pub flash: FlashPads,

    #[value(Golden::new(
        board.pcie.kind.core(),
        board.number,
        board.flash.plan(),
        board.free_clock_ps()
    ))]
    golden: Golden,
}

impl Logic for GoldenFlashTop {
    #[hdl_gen]
    fn update(&mut self) {
        SlotPads::link(&mut self.pcie, &mut self.golden.pcie);
        ClockPads::link(&mut self.free_clock, &mut self.golden.free_clock);
        FlashPads::link(&mut self.flash, &mut self.golden.flash);
    }
}
