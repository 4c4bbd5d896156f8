//! The golden device behind the registers, and a board around it.
//!
//! ```text
//!   registers ─┬─► golden device ─► DMA, interrupts
//!              └─► board window: MAC, clocks, pins ─► wire: up?
//! ```
//! The device takes no time: it has done everything when a call returns. While the MAC's link is
//! down, frames are lost without a count or an event: the device knows a wire that is up.

use abi::config::CardConfig;
use abi::registers as r;
use golden::device::{GoldenDevice, Memory};
use golden::interrupts::Interrupts;

use crate::model::{ClientSide, Model};
use crate::wire::ServedWire;

/// The golden device, with its interrupts and its wire.
pub struct GoldenModel {
    config: CardConfig,
    device: GoldenDevice,
    wire: ServedWire,
    interrupts: Interrupts,
    states: Vec<(usize, u32)>,
}

/// Memory of the client, by bus address.
struct ClientMemory<'a, 'b> {
    client: &'a mut ClientSide<'b>,
    interrupts: &'a mut Interrupts,
}

impl Memory for ClientMemory<'_, '_> {
    fn read(&mut self, address: u64, bytes: usize) -> Option<Vec<u8>> {
        let mut into = vec![0; bytes];
        self.client.read_memory(address, &mut into).then_some(into)
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> bool {
        let is_written = self.client.write_memory(address, bytes);
        if is_written {
            self.interrupts.note_write(address, bytes);
        }
        is_written
    }
}

/// Memory of nobody.
struct NoMemory;

impl Memory for NoMemory {
    fn read(&mut self, _address: u64, _bytes: usize) -> Option<Vec<u8>> {
        None
    }

    fn write(&mut self, _address: u64, _bytes: &[u8]) -> bool {
        false
    }
}

impl GoldenModel {
    /// A card just powered up.
    pub fn new(config: CardConfig) -> Self {
        Self {
            config,
            device: GoldenDevice::new(config),
            wire: ServedWire::new(config.name),
            interrupts: Interrupts::new(1 << config.owner_bits),
            states: Vec::new(),
        }
    }

    /// Calls the device, and raises what it has to say.
    fn act(
        &mut self,
        client: &mut ClientSide<'_>,
        act: impl FnOnce(&mut GoldenDevice, &mut dyn Memory),
    ) {
        let interrupts = &mut self.interrupts;
        let mut memory = ClientMemory { client, interrupts };
        act(&mut self.device, &mut memory);
        self.wire.loop_sent(&mut self.device, &mut memory);
        while let Some(vector) = self.interrupts.take_next() {
            client.raise(vector);
        }
    }
}

impl Model for GoldenModel {
    fn config(&self) -> CardConfig {
        self.config
    }

    fn read_register(&mut self, offset: u32, _client: &mut ClientSide<'_>) -> u32 {
        match offset {
            r::STATUS => self.wire.status(self.device.read_register(offset)),
            offset if ServedWire::has(offset) => self.wire.read(offset),
            offset => self.device.read_register(offset),
        }
    }

    fn write_register(&mut self, offset: u32, value: u32, client: &mut ClientSide<'_>) {
        if ServedWire::has(offset) {
            self.wire.write(offset, value);
            return;
        }
        self.interrupts.note_register(offset, value);
        self.act(client, |device, memory| device.write_register(offset, value, memory));
        let Some(at) = offset.checked_sub(r::DOORBELLS) else { return };
        let owner = at / r::DOORBELL_STRIDE;
        if owner < 1 << self.config.owner_bits {
            let state = r::DOORBELLS + owner * r::DOORBELL_STRIDE + r::DOORBELL_STATUS;
            self.states.push((owner as usize, self.device.read_register(state)));
        }
    }

    fn receive(&mut self, bytes: &[u8], is_bad: bool, client: &mut ClientSide<'_>) {
        if self.wire.is_open() {
            self.act(client, |device, memory| device.receive(bytes, is_bad, memory));
        }
    }

    fn take_sent(&mut self) -> Vec<Vec<u8>> {
        let sent = self.device.sent.drain(..);
        match self.wire.is_open() {
            true => sent.collect(),
            false => Vec::new(),
        }
    }

    fn start_anew(&mut self) {
        // It reaches no memory for that.
        self.device.write_register(r::CONTROL, r::CONTROL_RESET, &mut NoMemory);
        self.interrupts = Interrupts::new(1 << self.config.owner_bits);
        self.states.clear();
    }

    fn take_states(&mut self, into: &mut Vec<(usize, u32)>) {
        into.append(&mut self.states);
    }
}
