//! The board window of a golden image: as the card's, without what needs wire, module or LEDs.
//!
//! ```text
//!   m_axil ══► port ──► decoder ─┬─► directory, identity     ├─► flash
//!                                └─► system monitor          └─► configuration port
//! ```
//! Timing: an access takes five cycles.
//!
//! Invariants:
//! 1. Those of `crate::window`; the blocks that are not here are absent in the directory.
//!
//! Source: `abi::window`.

use crate::description::FlashPlan;
use crate::window::access::{WindowAccess, WindowReply};
use crate::window::build_words::BuildWords;
use crate::window::configuration_port::ConfigurationPort;
use crate::window::flash::Flash;
use crate::window::flash_serial::FlashLines;
use crate::window::monitor_bridge::MonitorBridge;
use crate::window::port_program::PortLines;
use crate::window::window_decoder::WindowDecoder;
use crate::window::window_directory::WindowDirectory;
use crate::window::window_port::WindowPort;
use abi::window::{golden_directory, GOLDEN_NAME};
use ip::axi_lite::AxiLiteSlave;
use ip::system_monitor::SystemMonitor;
use stream::prelude::*;

/// The window of a board with this number and flash.
///
/// See the module's head.
#[derive(LogicBlock, BlockDefault)]
#[new(board: u32, plan: FlashPlan)]
pub struct GoldenWindow {
    /// Clock of the window: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// The PCIe core is in reset: the completer has forgotten its access.
    pub reset: Signal<In, Bit>,
    /// Clock of the configuration port, 100 MHz.
    pub base_clock: Signal<In, Clock>,
    /// The completer's port.
    pub bus: AxiLiteSlave,
    /// Pins of the flash chips.
    pub flash: FlashLines,
    /// The device's configuration port.
    pub device: PortLines,

    port: WindowPort,
    #[value(WindowDecoder::new(golden_directory()))]
    decoder: WindowDecoder,
    words: BuildWords,
    #[value(WindowDirectory::new(board, GOLDEN_NAME, golden_directory()))]
    directory: WindowDirectory,
    monitor: MonitorBridge,
    sensors: SystemMonitor,
    #[value(Flash::new(plan))]
    chips: Flash,
    #[value(ConfigurationPort::new(plan))]
    images: ConfigurationPort,

    #[value(WindowReply::default())]
    no_reply: Constant<WindowReply>,
}

impl Logic for GoldenWindow {
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, port, decoder, directory, monitor, sensors, chips, images);
        self.port.reset.next = self.reset.val();
        self.decoder.reset.next = self.reset.val();
        self.images.base_clock.next = self.base_clock.val();
        self.images.is_flash_busy.next = self.chips.is_changing.val();
        self.chips.is_loading.next = self.images.is_loading.val();
        AxiLiteSlave::link(&mut self.bus, &mut self.port.bus);
        PulseSource::<WindowAccess>::join(&mut self.port.access, &mut self.decoder.access);
        PulseSource::<WindowReply>::join(&mut self.decoder.reply, &mut self.port.reply);

        self.directory.access.valid.next = self.decoder.to_identity.val();
        self.directory.access.payload.next = self.decoder.request.val();
        self.monitor.access.valid.next = self.decoder.to_monitor.val();
        self.monitor.access.payload.next = self.decoder.request.val();
        self.chips.access.valid.next = self.decoder.to_flash.val();
        self.chips.access.payload.next = self.decoder.request.val();
        self.images.access.valid.next = self.decoder.to_port.val();
        self.images.access.payload.next = self.decoder.request.val();
        PulseSource::<WindowReply>::join(&mut self.directory.reply, &mut self.decoder.identity);
        PulseSource::<WindowReply>::join(&mut self.monitor.reply, &mut self.decoder.monitor);
        PulseSource::<WindowReply>::join(&mut self.chips.reply, &mut self.decoder.flash);
        PulseSource::<WindowReply>::join(&mut self.images.reply, &mut self.decoder.port);
        self.decoder.gpio.valid.next = false;
        self.decoder.gpio.payload.next = self.no_reply.val();
        self.decoder.clocks.valid.next = false;
        self.decoder.clocks.payload.next = self.no_reply.val();
        self.decoder.i2c.valid.next = false;
        self.decoder.i2c.payload.next = self.no_reply.val();
        self.decoder.mac.valid.next = false;
        self.decoder.mac.payload.next = self.no_reply.val();

        self.directory.hash.next = self.words.hash.val();
        self.directory.built.next = self.words.built.val();
        self.directory.image_slot.next = self.words.image_slot.val();
        self.sensors.address.next = self.monitor.address.val();
        self.sensors.enable.next = self.monitor.enable.val();
        self.monitor.data.next = self.sensors.data.val();
        self.monitor.done.next = self.sensors.done.val();
        FlashLines::link(&mut self.flash, &mut self.chips.lines);
        PortLines::link(&mut self.device, &mut self.images.lines);
    }
}
