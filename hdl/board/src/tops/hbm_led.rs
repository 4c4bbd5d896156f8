//! The top of boards whose satellite controller owns the pins of the QSFP module, with LEDs.
//!
//! ```text
//!   pads ══ shell ── led          CATTRIP = 0
//! ```
//! The controller takes the power away when CATTRIP is high. To the window a module is always
//! there, and the I2C bus is empty.
//!
//! The block only connects.
//!
//! Timing: that of the blocks.

use crate::description::Board;
use crate::pads::{ClockPads, SlotPads, WirePads};
use crate::placed::{clock_pads, pad, slot_pads, wire_pads};
use crate::shell::{Shell, ShellPlan};
use stream::prelude::*;

/// The top. See the module's head.
#[derive(LogicBlock, BlockDefault)]
#[new(board: &Board, plan: ShellPlan<'_>)]
pub struct HbmLedTop {
    /// Pads at the slot.
    #[value(slot_pads(board))]
    pub pcie: SlotPads,
    /// Pads at the QSFP connector.
    #[value(wire_pads(board))]
    pub qsfp: WirePads,
    /// Pads of the free-running clock.
    #[value(clock_pads(board))]
    pub free_clock: ClockPads,
    /// The memory in the package is too hot: always 0.
    #[value(pad(board, "hbm_cattrip"))]
    pub hbm_cattrip: Signal<Out, Bit>,
    /// LEDs.
    #[value(pad(board, "led"))]
    pub led: Signal<Out, Bits<6>>,

    #[value(Shell::new(plan))]
    shell: Shell,
}

impl Logic for HbmLedTop {
    #[hdl_gen]
    fn update(&mut self) {
        SlotPads::link(&mut self.pcie, &mut self.shell.pcie);
        WirePads::link(&mut self.qsfp, &mut self.shell.qsfp);
        ClockPads::link(&mut self.free_clock, &mut self.shell.free_clock);
        self.shell.flash.miso.next = true;
        self.hbm_cattrip.next = false;
        self.led.next = self.shell.pins.led.val().get_bits::<6>(0);
        self.shell.pins.modprsl.next = false;
        self.shell.pins.intl.next = true;
        self.shell.pins.scl.next = true;
        self.shell.pins.sda.next = true;
    }
}
