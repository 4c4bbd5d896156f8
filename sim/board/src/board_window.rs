//! A board window with all that a running card's board has, but flash chips: identity, pins, clocks
//! and the MAC's core.
//!
//! ```text
//!   read, write ─► pins, clocks, MAC's core
//!               └► all else: as a window before flash chips, of which there are none
//! ```

use std::time::Duration;

use abi::window::{
    BlockKind, CLOCK_BASE, CLOCK_FREE, CLOCK_MAC, CLOCK_USER, GPIO_IN, GPIO_IN_INTL,
    GPIO_IN_MODPRSL, GPIO_IN_WIRED, GPIO_LED, GPIO_OUT, GPIO_OUT_INITIAL, IDENTITY_CONFIG_WORDS,
};
use host_board::mac::{bring_up, LinkPlan};
use host_board::window::{Window, WindowError};

use crate::flash_window::FlashWindow;
use crate::mac_core::{MacCore, Wire};

/// Number of a board that is none.
pub const SIMULATED_BOARD: u32 = 0;
/// Bytes of the slot before which nothing is: there is no chip.
const NO_CHIP: u32 = 0;
const USER_KHZ: u32 = 250_000;
/// The MAC's clock, as far as the counter resolves it.
const MAC_KHZ: u32 = 322_264;
const BASE_KHZ: u32 = 100_000;

/// The window.
#[derive(Clone, Debug)]
pub struct BoardWindow {
    rest: FlashWindow,
    /// The MAC's core.
    pub mac: MacCore,
    has_module: bool,
    pins: u32,
    leds: u32,
}

impl BoardWindow {
    /// The window of a simulated board whose image has a configuration of this name, before a wire.
    pub fn new(configuration: &str, wire: Wire) -> Self {
        let mut rest = FlashWindow::new(SIMULATED_BOARD, Vec::new(), NO_CHIP, NO_CHIP);
        let mut words = [0; IDENTITY_CONFIG_WORDS];
        for (at, byte) in configuration.bytes().enumerate().take(4 * IDENTITY_CONFIG_WORDS) {
            words[at / 4] |= u32::from(byte) << (8 * (at % 4));
        }
        rest.set_config(words);
        let mac = MacCore::new(wire);
        Self { rest, mac, has_module: true, pins: GPIO_OUT_INITIAL, leds: 0 }
    }

    /// Puts the module in, or takes it out: nothing is heard then.
    pub fn set_module(&mut self, has_module: bool) {
        self.has_module = has_module;
    }

    /// Brings the link up, as a program would that runs after power-up. Where the wire does not
    /// allow it, the link stays down.
    pub fn bring_up(&mut self) {
        let plan = LinkPlan { limit: Duration::from_millis(20), ..LinkPlan::default() };
        let _ = bring_up(&mut OwnTime(self), &plan);
    }

    /// Lets time go by.
    pub fn pass(&mut self, time: Duration) {
        self.mac.pass(time);
    }

    fn place(offset: u32) -> Option<(BlockKind, u32)> {
        [BlockKind::Gpio, BlockKind::Clocks, BlockKind::Mac].into_iter().find_map(|kind| {
            let block = kind.block();
            let is_in = (block.offset..block.offset + 4 * block.words).contains(&offset);
            is_in.then(|| (kind, (offset - block.offset) / 4))
        })
    }

    fn pins_in(&self) -> u32 {
        let is_out = u32::from(!self.has_module);
        is_out << GPIO_IN_MODPRSL.offset | 1 << GPIO_IN_INTL.offset | 1 << GPIO_IN_WIRED.offset
    }

    /// Reads a word of BAR 0; all ones where nobody answers.
    pub fn read_word(&mut self, offset: u32) -> u32 {
        let khz = if self.mac.has_clock() { MAC_KHZ } else { 0 };
        match Self::place(offset) {
            Some((BlockKind::Mac, word)) => self.mac.read(word),
            Some((BlockKind::Gpio, GPIO_OUT)) => self.pins,
            Some((BlockKind::Gpio, GPIO_IN)) => self.pins_in(),
            Some((BlockKind::Gpio, GPIO_LED)) => self.leds,
            Some((BlockKind::Clocks, CLOCK_USER)) => USER_KHZ,
            Some((BlockKind::Clocks, CLOCK_MAC)) => khz,
            Some((BlockKind::Clocks, CLOCK_BASE | CLOCK_FREE)) => BASE_KHZ,
            _ => self.rest.read(offset).unwrap_or(u32::MAX),
        }
    }

    /// Writes a word of BAR 0.
    pub fn write_word(&mut self, offset: u32, value: u32) {
        match Self::place(offset) {
            Some((BlockKind::Mac, word)) => self.mac.write(word, value),
            Some((BlockKind::Gpio, GPIO_OUT)) => self.pins = value & 7,
            Some((BlockKind::Gpio, GPIO_LED)) => self.leds = value,
            Some(_) => {}
            None => {
                let _ = self.rest.write(offset, value);
            }
        }
    }
}

/// A window whose time is what is waited for.
pub struct OwnTime<'a>(pub &'a mut BoardWindow);

impl Window for OwnTime<'_> {
    fn read(&mut self, offset: u32) -> Result<u32, WindowError> {
        Ok(match offset {
            abi::registers::STATUS if self.0.mac.is_up() => abi::registers::STATUS_WIRE_UP,
            abi::registers::STATUS => 0,
            offset => self.0.read_word(offset),
        })
    }

    fn write(&mut self, offset: u32, value: u32) -> Result<(), WindowError> {
        self.0.write_word(offset, value);
        Ok(())
    }

    fn wait(&mut self, time: Duration) {
        self.0.pass(time);
    }
}

#[cfg(test)]
mod tests;
