//! The top of boards that bring the pins of the QSFP module, its I2C bus and LEDs to the device.
//!
//! ```text
//!   pads ══ shell ── modsell, resetl, lpmode, led
//!             ├── modprsl, intl
//!             └══ SCL, SDA (open drain)
//! ```
//! The block only connects.
//!
//! Timing: that of the blocks.

use crate::description::Board;
use crate::pads::{ClockPads, SlotPads, WirePads};
use crate::placed::{clock_pads, pad, slot_pads, wire_pads};
use crate::shell::{Shell, ShellPlan};
use ip::buffers::OpenDrain;
use stream::prelude::*;

/// The top, with LEDS LEDs. See the module's head.
#[derive(LogicBlock, BlockDefault)]
#[new(board: &Board, plan: ShellPlan<'_>)]
pub struct QsfpTop<const LEDS: usize> {
    /// Pads at the slot.
    #[value(slot_pads(board))]
    pub pcie: SlotPads,
    /// Pads at the QSFP connector.
    #[value(wire_pads(board))]
    pub qsfp: WirePads,
    /// Pads of the free-running clock.
    #[value(clock_pads(board))]
    pub free_clock: ClockPads,
    /// Selects the module on the I2C bus when low.
    #[value(pad(board, "qsfp_modsell"))]
    pub qsfp_modsell: Signal<Out, Bit>,
    /// Resets the module when low.
    #[value(pad(board, "qsfp_resetl"))]
    pub qsfp_resetl: Signal<Out, Bit>,
    /// Keeps the module in low power when high.
    #[value(pad(board, "qsfp_lpmode"))]
    pub qsfp_lpmode: Signal<Out, Bit>,
    /// Low: a module is there.
    #[value(pad(board, "qsfp_modprsl"))]
    pub qsfp_modprsl: Signal<In, Bit>,
    /// Low: the module wants attention.
    #[value(pad(board, "qsfp_intl"))]
    pub qsfp_intl: Signal<In, Bit>,
    /// Clock of the I2C bus.
    #[value(pad(board, "i2c_scl"))]
    pub i2c_scl: Signal<InOut, Bit>,
    /// Data of the I2C bus.
    #[value(pad(board, "i2c_sda"))]
    pub i2c_sda: Signal<InOut, Bit>,
    /// LEDs.
    #[value(pad(board, "led"))]
    pub led: Signal<Out, Bits<LEDS>>,

    #[value(Shell::new(plan))]
    shell: Shell,
    scl: OpenDrain,
    sda: OpenDrain,
}

impl<const LEDS: usize> Logic for QsfpTop<LEDS> {
    #[hdl_gen]
    fn update(&mut self) {
        SlotPads::link(&mut self.pcie, &mut self.shell.pcie);
        WirePads::link(&mut self.qsfp, &mut self.shell.qsfp);
        ClockPads::link(&mut self.free_clock, &mut self.shell.free_clock);
        self.shell.flash.miso.next = true;
        self.qsfp_modsell.next = self.shell.pins.modsell.val();
        self.qsfp_resetl.next = self.shell.pins.resetl.val();
        self.qsfp_lpmode.next = self.shell.pins.lpmode.val();
        self.shell.pins.modprsl.next = self.qsfp_modprsl.val();
        self.shell.pins.intl.next = self.qsfp_intl.val();
        self.led.next = self.shell.pins.led.val().get_bits::<LEDS>(0);
        Signal::<InOut, Bit>::link(&mut self.i2c_scl, &mut self.scl.pad);
        Signal::<InOut, Bit>::link(&mut self.i2c_sda, &mut self.sda.pad);
        self.scl.low.next = self.shell.pins.scl_low.val();
        self.sda.low.next = self.shell.pins.sda_low.val();
        self.shell.pins.scl.next = self.scl.level.val();
        self.shell.pins.sda.next = self.sda.level.val();
    }
}
