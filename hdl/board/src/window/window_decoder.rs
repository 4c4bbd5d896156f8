//! Leads each access to its block, and the block's reply back.
//!
//! ```text
//!   access ──► which block? ─┬─► identity ─┐
//!                            ├─► ...       ├──► reply
//!                            └─► no block ─┘
//! ```
//! Timing: combinational to a block and back; an address without a block is answered one cycle
//! later.
//!
//! Invariants:
//! 1. An access reaches one block at most.
//!
//! On error: an address of the window without a block is answered with DECERR, the place of an
//! absent block with SLVERR.
//!
//! Source: `abi::window`.

use crate::window::access::{WindowAccess, WindowReply, DECODE_ERROR, SLAVE_ERROR};
use abi::registers::BOARD_WINDOW;
use abi::window::{BlockKind, DIRECTORY_ENTRY_WORDS, DIRECTORY_WORDS};
use stream::prelude::*;

/// 4 KiB page of a block's offset.
fn page(kind: BlockKind) -> u64 {
    u64::from(kind.block().offset >> 12)
}

/// Whether a directory has the block.
fn has(directory: &[u32; DIRECTORY_WORDS], kind: BlockKind) -> bool {
    let entries = directory[2..].chunks(DIRECTORY_ENTRY_WORDS);
    let mut words = entries.filter(|entry| entry[0] == kind as u32);
    words.any(|entry| entry[3] > 0)
}

/// The decoder of the blocks in a directory.
///
/// See the module's head.
#[derive(LogicBlock, BlockDefault)]
#[new(directory: [u32; DIRECTORY_WORDS])]
pub struct WindowDecoder {
    /// Clock of the block.
    pub clock: Signal<In, Clock>,
    /// Forgets an access without a block.
    pub reset: Signal<In, Bit>,
    /// Accesses.
    pub access: PulseSink<WindowAccess>,
    /// Their ends.
    pub reply: PulseSource<WindowReply>,
    /// The access, for every block.
    pub request: Signal<Out, WindowAccess>,
    /// The access is for directory and identity.
    pub to_identity: Signal<Out, Bit>,
    /// The access is for the GPIO.
    pub to_gpio: Signal<Out, Bit>,
    /// The access is for the clock counters.
    pub to_clocks: Signal<Out, Bit>,
    /// The access is for the system monitor.
    pub to_monitor: Signal<Out, Bit>,
    /// The access is for the I2C block.
    pub to_i2c: Signal<Out, Bit>,
    /// The access is for the MAC's registers.
    pub to_mac: Signal<Out, Bit>,
    /// The access is for the flash.
    pub to_flash: Signal<Out, Bit>,
    /// The access is for the configuration port.
    pub to_port: Signal<Out, Bit>,
    /// Replies of directory and identity.
    pub identity: PulseSink<WindowReply>,
    /// Replies of the GPIO.
    pub gpio: PulseSink<WindowReply>,
    /// Replies of the clock counters.
    pub clocks: PulseSink<WindowReply>,
    /// Replies of the system monitor.
    pub monitor: PulseSink<WindowReply>,
    /// Replies of the I2C block.
    pub i2c: PulseSink<WindowReply>,
    /// Replies of the MAC's registers.
    pub mac: PulseSink<WindowReply>,
    /// Replies of the flash.
    pub flash: PulseSink<WindowReply>,
    /// Replies of the configuration port.
    pub port: PulseSink<WindowReply>,

    none: DFF<Bit>,
    none_response: DFF<Bits<2>>,

    address: Signal<Local, Bits<20>>,
    at: Signal<Local, Bits<8>>,
    /// The block of the access, from `to_gpio` on, and whether the window has it.
    gpio_at: Signal<Local, Bit>,
    clocks_at: Signal<Local, Bit>,
    i2c_at: Signal<Local, Bit>,
    mac_at: Signal<Local, Bit>,
    is_absent: Signal<Local, Bit>,
    #[value(u64::from(BOARD_WINDOW >> 12))]
    directory_page: Constant<Bits<8>>,
    #[value(page(BlockKind::Identity))]
    identity_page: Constant<Bits<8>>,
    #[value(page(BlockKind::Gpio))]
    gpio_page: Constant<Bits<8>>,
    #[value(page(BlockKind::Clocks))]
    clocks_page: Constant<Bits<8>>,
    #[value(page(BlockKind::Monitor))]
    monitor_page: Constant<Bits<8>>,
    #[value(page(BlockKind::I2c))]
    i2c_page: Constant<Bits<8>>,
    #[value(page(BlockKind::Flash))]
    flash_page: Constant<Bits<8>>,
    #[value(page(BlockKind::ConfigurationPort))]
    port_page: Constant<Bits<8>>,
    #[value(page(BlockKind::Mac) >> 4)]
    mac_part: Constant<Bits<4>>,
    #[value(has(&directory, BlockKind::Gpio))]
    has_gpio: Constant<Bit>,
    #[value(has(&directory, BlockKind::Clocks))]
    has_clocks: Constant<Bit>,
    #[value(has(&directory, BlockKind::I2c))]
    has_i2c: Constant<Bit>,
    #[value(has(&directory, BlockKind::Mac))]
    has_mac: Constant<Bit>,
    #[value(SLAVE_ERROR)]
    refused: Constant<Bits<2>>,
    #[value(DECODE_ERROR)]
    no_block: Constant<Bits<2>>,
}

impl Logic for WindowDecoder {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, none, none_response);
        self.request.next = self.access.payload.val();
        self.address.next = self.access.payload.val().address;
        self.at.next = self.address.val().get_bits::<8>(12);

        self.to_identity.next = self.access.valid.val()
            & ((self.at.val() == self.directory_page.val())
                | (self.at.val() == self.identity_page.val()));
        self.gpio_at.next = self.at.val() == self.gpio_page.val();
        self.clocks_at.next = self.at.val() == self.clocks_page.val();
        self.i2c_at.next = self.at.val() == self.i2c_page.val();
        self.mac_at.next = self.address.val().get_bits::<4>(16) == self.mac_part.val();
        self.to_gpio.next = self.access.valid.val() & self.gpio_at.val() & self.has_gpio.val();
        self.to_clocks.next =
            self.access.valid.val() & self.clocks_at.val() & self.has_clocks.val();
        self.to_monitor.next = self.access.valid.val() & (self.at.val() == self.monitor_page.val());
        self.to_i2c.next = self.access.valid.val() & self.i2c_at.val() & self.has_i2c.val();
        self.to_mac.next = self.access.valid.val() & self.mac_at.val() & self.has_mac.val();
        self.to_flash.next = self.access.valid.val() & (self.at.val() == self.flash_page.val());
        self.to_port.next = self.access.valid.val() & (self.at.val() == self.port_page.val());
        self.is_absent.next =
            self.gpio_at.val() | self.clocks_at.val() | self.i2c_at.val() | self.mac_at.val();
        self.none.d.next = self.access.valid.val()
            & !self.to_identity.val()
            & !self.to_gpio.val()
            & !self.to_clocks.val()
            & !self.to_monitor.val()
            & !self.to_i2c.val()
            & !self.to_mac.val()
            & !self.to_flash.val()
            & !self.to_port.val()
            & !self.reset.val();
        self.none_response.d.next = self.no_block.val();
        if self.is_absent.val() {
            self.none_response.d.next = self.refused.val();
        }

        self.reply.valid.next = self.none.q.val()
            | self.identity.valid.val()
            | self.gpio.valid.val()
            | self.clocks.valid.val()
            | self.monitor.valid.val()
            | self.i2c.valid.val()
            | self.mac.valid.val()
            | self.flash.valid.val()
            | self.port.valid.val();
        self.reply.payload.next.data = bits::<32>(0);
        self.reply.payload.next.response = self.none_response.q.val();
        if self.identity.valid.val() {
            self.reply.payload.next = self.identity.payload.val();
        } else if self.gpio.valid.val() {
            self.reply.payload.next = self.gpio.payload.val();
        } else if self.clocks.valid.val() {
            self.reply.payload.next = self.clocks.payload.val();
        } else if self.monitor.valid.val() {
            self.reply.payload.next = self.monitor.payload.val();
        } else if self.i2c.valid.val() {
            self.reply.payload.next = self.i2c.payload.val();
        } else if self.mac.valid.val() {
            self.reply.payload.next = self.mac.payload.val();
        } else if self.flash.valid.val() {
            self.reply.payload.next = self.flash.payload.val();
        } else if self.port.valid.val() {
            self.reply.payload.next = self.port.payload.val();
        }
    }
}
