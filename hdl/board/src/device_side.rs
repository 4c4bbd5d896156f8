//! What the device itself has beside its fabric: the pins of its flash, its configuration port, and
//! the pads of a second flash chip.
//!
//! ```text
//!   flash ══ STARTUPE3 (first chip), pads (second chip)
//!   port  ══ ICAPE3
//! ```
//! The block only connects.
//!
//! Timing: that of the blocks.
//!
//! Invariants:
//! 1. Write protection and hold of the second chip are off. Both chips have the clock of the first.

use crate::pads::FlashPads;
use crate::window::flash_serial::FlashSide;
use crate::window::port_program::PortSide;
use ip::configuration_access::ConfigurationAccess;
use ip::startup::Startup;
use stream::prelude::*;

/// The side. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct DeviceSide {
    /// Clock of the configuration port, 100 MHz.
    pub clock: Signal<In, Clock>,
    /// The flash block of a window.
    pub flash: FlashSide,
    /// The configuration port of a window.
    pub port: PortSide,
    /// Pads of the second chip.
    pub pads: FlashPads,

    startup: Startup,
    access: ConfigurationAccess,
}

impl Logic for DeviceSide {
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, access);
        self.startup.serial_clock.next = self.flash.serial_clock.val();
        self.startup.selected.next = self.flash.select.val().get_bit(0);
        self.startup.mosi.next = self.flash.mosi.val();
        self.pads.select_n.next = !self.flash.select.val().get_bit(1);
        self.pads.mosi.next = self.flash.mosi.val();
        self.pads.protect_n.next = true;
        self.pads.hold_n.next = true;
        self.flash.miso.next = bit_cast::<2, 1>(self.startup.miso.val().into())
            | (bit_cast::<2, 1>(self.pads.miso.val().into()) << 1);
        self.access.select.next = self.port.select.val();
        self.access.reads.next = self.port.reads.val();
        self.access.word.next = self.port.word.val();
        self.port.read_word.next = self.access.read_word.val();
    }
}
