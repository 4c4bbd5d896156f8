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
use crate::pads::SlotPads;
use crate::placed::{pad, slot_pads};
use stream::prelude::*;

/// The top of a board with one flash chip. See the module's head.
#[derive(LogicBlock, BlockDefault)]
#[new(board: &Board)]
pub struct GoldenTop {
    /// Pads at the slot.
    #[value(slot_pads(board))]
    pub pcie: SlotPads,

    #[value(Golden::new(board.pcie.kind.core(), board.number, board.flash.plan()))]
    golden: Golden,
}

impl Logic for GoldenTop {
    #[hdl_gen]
    fn update(&mut self) {
        SlotPads::link(&mut self.pcie, &mut self.golden.pcie);
        self.golden.second_flash.miso.next = true;
    }
}

/// The top of a board with two flash chips. See the module's head.
#[derive(LogicBlock, BlockDefault)]
#[new(board: &Board)]
pub struct GoldenFlashTop {
    /// Pads at the slot.
    #[value(slot_pads(board))]
    pub pcie: SlotPads,
    /// Selects the second flash when low.
    #[value(pad(board, "flash_select_n"))]
    pub flash_select_n: Signal<Out, Bit>,
    /// Data to the second flash.
    #[value(pad(board, "flash_mosi"))]
    pub flash_mosi: Signal<Out, Bit>,
    /// Data of the second flash.
    #[value(pad(board, "flash_miso"))]
    pub flash_miso: Signal<In, Bit>,
    /// Write protection of the second flash when low.
    #[value(pad(board, "flash_protect_n"))]
    pub flash_protect_n: Signal<Out, Bit>,
    /// Holds the second flash when low.
    #[value(pad(board, "flash_hold_n"))]
    pub flash_hold_n: Signal<Out, Bit>,

    #[value(Golden::new(board.pcie.kind.core(), board.number, board.flash.plan()))]
    golden: Golden,
}

impl Logic for GoldenFlashTop {
    #[hdl_gen]
    fn update(&mut self) {
        SlotPads::link(&mut self.pcie, &mut self.golden.pcie);
        self.flash_select_n.next = !self.golden.second_flash.select.val();
        self.flash_mosi.next = self.golden.second_flash.mosi.val();
        self.golden.second_flash.miso.next = self.flash_miso.val();
        self.flash_protect_n.next = true;
        self.flash_hold_n.next = true;
    }
}
