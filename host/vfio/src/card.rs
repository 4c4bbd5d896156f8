//! What a card is on either bus: its identity and command word, and the memory that it reaches.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::time::Duration;

use host::driver::bus::{BusError, DmaMemory, Result};
use host::driver::bus_memory::BusAddresses;
use host::memory::MemoryRange;

/// The command word of the configuration space: memory and bus mastering.
pub const COMMAND: u64 = 4;
pub const COMMAND_ON: u16 = 1 << 1 | 1 << 2;
/// How often a host that only looks at memory finds out whether the card is still there.
pub const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Vendor and device, of the first bytes of the configuration space.
pub fn ids(bytes: [u8; 4]) -> (u16, u16) {
    let [vendor, device] = [0, 2].map(|at| u16::from_le_bytes([bytes[at], bytes[at + 1]]));
    (vendor, device)
}

/// An error of the device as one of the bus.
pub fn device(error: impl Display) -> BusError {
    BusError::Device(error.to_string())
}

/// A piece of memory, and what is kept as long as the card reaches it.
struct Piece<K> {
    range: MemoryRange,
    is_control: bool,
    _kept: K,
}

/// The memory that a card reaches, by its address on the bus.
pub struct Reached<K> {
    pieces: BTreeMap<u64, Piece<K>>,
    addresses: BusAddresses,
}

impl<K> Default for Reached<K> {
    fn default() -> Self {
        Self { pieces: BTreeMap::new(), addresses: BusAddresses::default() }
    }
}

impl<K> Reached<K> {
    /// Adds memory at the next address of that alignment, where `map` lets the card reach it;
    /// returns the address.
    pub fn add(
        &mut self,
        is_control: bool,
        range: MemoryRange,
        align_bytes: u64,
        map: impl FnOnce(u64, &MemoryRange) -> Result<K>,
    ) -> Result<u64> {
        let address = self.addresses.next(align_bytes);
        let kept = map(address, &range)?;
        self.addresses.take(address, range.bytes());
        self.pieces.insert(address, Piece { range, is_control, _kept: kept });
        Ok(address)
    }

    /// Removes the memory at an address, once `unmap` has taken so many bytes from the card.
    pub fn remove(&mut self, address: u64, unmap: impl FnOnce(u64) -> Result<()>) -> Result<()> {
        let Some(piece) = self.pieces.get(&address) else {
            return Err(BusError::BadAddress { address, bytes: 0 });
        };
        unmap(piece.range.bytes() as u64)?;
        self.pieces.remove(&address);
        Ok(())
    }

    /// The pages of application memory.
    pub fn share(&self, memory: &DmaMemory) -> Result<MemoryRange> {
        match self.pieces.get(&memory.address) {
            Some(piece) if !piece.is_control => Ok(piece.range.clone()),
            _ => Err(BusError::BadAddress { address: memory.address, bytes: memory.bytes }),
        }
    }
}
