//! The golden device behind the registers. It takes no time: it has done everything when a call
//! returns.

use abi::config::CardConfig;
use abi::registers as r;
use golden::device::{GoldenDevice, Memory};
use golden::interrupts::Interrupts;

use crate::model::{ClientSide, Model};

/// The golden device, with its interrupts.
pub struct GoldenModel {
    config: CardConfig,
    device: GoldenDevice,
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
        act(&mut self.device, &mut ClientMemory { client, interrupts });
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
        self.device.read_register(offset)
    }

    fn write_register(&mut self, offset: u32, value: u32, client: &mut ClientSide<'_>) {
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
        self.act(client, |device, memory| device.receive(bytes, is_bad, memory));
    }

    fn take_sent(&mut self) -> Vec<Vec<u8>> {
        self.device.sent.drain(..).collect()
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
