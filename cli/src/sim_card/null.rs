//! The null card as the model behind a socket: what a host is measured on, from another process.
//!
//! ```text
//!   registers, doorbells ─► NullBus ─► NullCard ─► rings in the client's memory
//!   orders ─► REGION_CONTROL ────────────┘
//! ```
//! It does nothing by itself from the first order on: whoever measures says when.

use abi::config::CardConfig;
use abi::registers as r;
use anyhow::Result;
use host::driver::bus::Bus;
use measure::null_card::order::{Order, ORDER_BYTES, OUTCOME_BYTES};
use measure::null_card::{FarMemory, NullBus, NullCard};
use served::{ClientSide, Model};
use vfio_user::codec::DmaMap;
use vfio_user::{Errno, RangeBytes};

use super::shown::Shown;

/// Bytes of the region that takes orders: an order is written at its start, and what the card says
/// is read there.
const CONTROL_BYTES: u64 = 4096;
const _: () = assert!(ORDER_BYTES <= 4096 && OUTCOME_BYTES <= 4096);

/// A range of the client's memory.
struct ClientRange(RangeBytes);

impl FarMemory for ClientRange {
    fn bytes(&self) -> usize {
        self.0.bytes()
    }

    fn read(&self, offset: usize, into: &mut [u8]) -> bool {
        self.0.read(offset, into).is_ok()
    }

    fn write(&self, offset: usize, from: &[u8]) -> bool {
        self.0.write(offset, from).is_ok()
    }
}

/// The card and its bus.
pub struct NullModel {
    config: CardConfig,
    card: NullCard,
    bus: NullBus,
    is_ordered: bool,
}

impl NullModel {
    /// A card of these sizes.
    pub fn new(config: CardConfig) -> Self {
        let (card, bus) = NullCard::new(config);
        Self { config, card, bus, is_ordered: false }
    }
}

impl Model for NullModel {
    fn config(&self) -> CardConfig {
        self.config
    }

    fn read_register(&mut self, offset: u32, _client: &mut ClientSide<'_>) -> u32 {
        self.bus.read_register(offset).unwrap_or(u32::MAX)
    }

    fn write_register(&mut self, offset: u32, value: u32, _client: &mut ClientSide<'_>) {
        // Nothing that is written to this bus fails.
        let _ = self.bus.write_register(offset, value);
    }

    fn receive(&mut self, _bytes: &[u8], _is_bad: bool, _client: &mut ClientSide<'_>) {}

    fn take_sent(&mut self) -> Vec<Vec<u8>> {
        Vec::new()
    }

    fn start_anew(&mut self) {
        let _ = self.bus.write_register(r::CONTROL, r::CONTROL_RESET);
    }

    fn run(&mut self, _client: &mut ClientSide<'_>) {
        if !self.is_ordered {
            self.card.step();
        }
    }

    fn memory_mapped(&mut self, map: &DmaMap, client: &ClientSide<'_>) {
        if let Some(bytes) = client.range_bytes(map.address) {
            self.bus.attach(map.address, Box::new(ClientRange(bytes)));
        }
    }

    fn memory_unmapped(&mut self, address: u64, _bytes: u64) {
        self.bus.detach(address);
    }

    fn client_left(&mut self) {
        *self = Self::new(self.config);
    }

    fn control_bytes(&self) -> u64 {
        CONTROL_BYTES
    }

    fn control(&mut self, order: &[u8], _client: &mut ClientSide<'_>) -> Result<Vec<u8>, Errno> {
        let order = Order::decode(order).ok_or(Errno::INVAL)?;
        self.is_ordered = true;
        Ok(self.card.carry_out(order).encode())
    }
}

impl Shown for NullModel {}
