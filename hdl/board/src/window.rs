//! The board window: what a board has besides PCIe and wire, at the card's AXI4-Lite port.
//!
//! ```text
//!   m_axil ══► port ──► decoder ─┬─► directory, identity     ├─► system monitor
//!                                ├─► GPIO, LEDs              ├─► I2C
//!                                ├─► clock counters          ├─► MAC's registers (crossing)
//!                                └─► flash                   └─► configuration port
//! ```
//! Timing: an access of a block of ours takes five cycles.
//!
//! Invariants:
//! 1. Every access is answered: a block that does not answer in 8 us is answered for.
//! 2. `reset` is that of the PCIe core, as the card's port has it: both ends of the port forget the
//!    access between them. It reaches port, decoder and the way to the MAC's registers alone: what
//!    the blocks hold, and what runs in them (an erase, the MAC), goes on. Resets of the card that
//!    software begins are none.
//! 3. No image is loaded while a flash chip erases or programs, and no chip is told to once a load
//!    has been accepted.
//!
//! Source: `abi::window`.

pub mod access;
pub mod build_words;
pub mod clock_counters;
pub mod clock_meter;
pub mod configuration_port;
pub mod core_access;
pub mod flash;
pub mod flash_changes;
pub mod flash_command;
pub mod flash_guard;
pub mod flash_sequence;
pub mod flash_serial;
pub mod gpio;
pub mod i2c;
pub mod i2c_bit;
pub mod i2c_transfer;
pub mod mac_bridge;
pub mod monitor_bridge;
pub mod port_key;
pub mod port_program;
pub mod window_decoder;
pub mod window_directory;
pub mod window_port;

use crate::description::FlashPlan;
use crate::pads::SidePins;
use abi::window::directory;
use access::{WindowAccess, WindowReply};
use build_words::BuildWords;
use clock_counters::ClockCounters;
use configuration_port::ConfigurationPort;
use flash::Flash;
use flash_serial::FlashLines;
use gpio::Gpio;
use i2c::I2c;
use ip::axi_lite::AxiLiteSlave;
use ip::mac_sides::CoreMaster;
use ip::system_monitor::SystemMonitor;
use mac_bridge::MacBridge;
use monitor_bridge::MonitorBridge;
use port_program::PortLines;
use stream::prelude::*;
use window_decoder::WindowDecoder;
use window_directory::WindowDirectory;
use window_port::WindowPort;

/// The window of a board with this number and flash and a card of this configuration; `wired`: the
/// board brings the pins of the QSFP module to the device.
///
/// See the module's head.
#[derive(LogicBlock, BlockDefault)]
#[new(board: u32, config: &str, wired: bool, plan: FlashPlan)]
pub struct Window {
    /// Clock of the window: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// The PCIe core is in reset: the card has forgotten its access.
    pub reset: Signal<In, Bit>,
    /// The card's port.
    pub bus: AxiLiteSlave,
    /// Clock of the MAC's registers and of the configuration port, 100 MHz.
    pub base_clock: Signal<In, Clock>,
    /// The MAC's clock, to be measured.
    pub mac_clock: Signal<In, Clock>,
    /// The board's free-running clock, to be measured.
    pub free_clock: Signal<In, Clock>,
    /// Registers of the MAC's core, in `base_clock`.
    pub core: CoreMaster,
    /// The MAC is aligned, in the MAC's clock.
    pub aligned: Signal<In, Bit>,
    /// The PCIe link is up.
    pub link_up: Signal<In, Bit>,
    /// Levels of the pads that are not serial.
    pub pins: SidePins,
    /// Pins of the flash chips.
    pub flash: FlashLines,
    /// The device's configuration port.
    pub device: PortLines,

    port: WindowPort,
    #[value(WindowDecoder::new(directory()))]
    decoder: WindowDecoder,
    words: BuildWords,
    #[value(WindowDirectory::new(board, config, directory()))]
    directory: WindowDirectory,
    #[value(Gpio::new(wired))]
    gpio: Gpio,
    clocks: ClockCounters,
    monitor: MonitorBridge,
    sensors: SystemMonitor,
    i2c: I2c,
    mac: MacBridge,
    #[value(Flash::new(plan))]
    chips: Flash,
    #[value(ConfigurationPort::new(plan))]
    images: ConfigurationPort,
}

impl Logic for Window {
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, port, decoder, directory, gpio, clocks, monitor, sensors, i2c, mac);
        clock!(self, clock, chips, images);
        self.port.reset.next = self.reset.val();
        self.decoder.reset.next = self.reset.val();
        self.mac.reset.next = self.reset.val();
        self.images.base_clock.next = self.base_clock.val();
        self.images.is_flash_busy.next = self.chips.is_changing.val();
        self.chips.is_loading.next = self.images.is_loading.val();
        AxiLiteSlave::link(&mut self.bus, &mut self.port.bus);
        PulseSource::<WindowAccess>::join(&mut self.port.access, &mut self.decoder.access);
        PulseSource::<WindowReply>::join(&mut self.decoder.reply, &mut self.port.reply);

        self.directory.access.valid.next = self.decoder.to_identity.val();
        self.directory.access.payload.next = self.decoder.request.val();
        self.gpio.access.valid.next = self.decoder.to_gpio.val();
        self.gpio.access.payload.next = self.decoder.request.val();
        self.clocks.access.valid.next = self.decoder.to_clocks.val();
        self.clocks.access.payload.next = self.decoder.request.val();
        self.monitor.access.valid.next = self.decoder.to_monitor.val();
        self.monitor.access.payload.next = self.decoder.request.val();
        self.i2c.access.valid.next = self.decoder.to_i2c.val();
        self.i2c.access.payload.next = self.decoder.request.val();
        self.mac.access.valid.next = self.decoder.to_mac.val();
        self.mac.access.payload.next = self.decoder.request.val();
        self.chips.access.valid.next = self.decoder.to_flash.val();
        self.chips.access.payload.next = self.decoder.request.val();
        self.images.access.valid.next = self.decoder.to_port.val();
        self.images.access.payload.next = self.decoder.request.val();
        PulseSource::<WindowReply>::join(&mut self.directory.reply, &mut self.decoder.identity);
        PulseSource::<WindowReply>::join(&mut self.gpio.reply, &mut self.decoder.gpio);
        PulseSource::<WindowReply>::join(&mut self.clocks.reply, &mut self.decoder.clocks);
        PulseSource::<WindowReply>::join(&mut self.monitor.reply, &mut self.decoder.monitor);
        PulseSource::<WindowReply>::join(&mut self.i2c.reply, &mut self.decoder.i2c);
        PulseSource::<WindowReply>::join(&mut self.mac.reply, &mut self.decoder.mac);
        PulseSource::<WindowReply>::join(&mut self.chips.reply, &mut self.decoder.flash);
        PulseSource::<WindowReply>::join(&mut self.images.reply, &mut self.decoder.port);
        FlashLines::link(&mut self.flash, &mut self.chips.lines);
        PortLines::link(&mut self.device, &mut self.images.lines);

        self.directory.hash.next = self.words.hash.val();
        self.directory.built.next = self.words.built.val();
        self.directory.image_slot.next = self.words.image_slot.val();
        self.clocks.mac_clock.next = self.mac_clock.val();
        self.clocks.base_clock.next = self.base_clock.val();
        self.clocks.free_clock.next = self.free_clock.val();
        self.sensors.address.next = self.monitor.address.val();
        self.sensors.enable.next = self.monitor.enable.val();
        self.monitor.data.next = self.sensors.data.val();
        self.monitor.done.next = self.sensors.done.val();
        self.mac.core_clock.next = self.base_clock.val();
        CoreMaster::link(&mut self.core, &mut self.mac.core);

        self.gpio.aligned.next = self.aligned.val();
        self.gpio.link_up.next = self.link_up.val();
        self.gpio.modprsl.next = self.pins.modprsl.val();
        self.gpio.intl.next = self.pins.intl.val();
        self.pins.modsell.next = self.gpio.modsell.val();
        self.pins.resetl.next = self.gpio.resetl.val();
        self.pins.lpmode.next = self.gpio.lpmode.val();
        self.pins.led.next = self.gpio.led.val();
        self.i2c.lines.scl.next = self.pins.scl.val();
        self.i2c.lines.sda.next = self.pins.sda.val();
        self.pins.scl_low.next = self.i2c.lines.scl_low.val();
        self.pins.sda_low.next = self.i2c.lines.sda_low.val();
    }
}
