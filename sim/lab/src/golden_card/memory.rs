//! Host memory as the golden card reaches it.

use std::collections::BTreeMap;

use golden::device::Memory;
use golden::interrupts::Interrupts;
use host::driver::bus::DmaFault;
use host::memory::{DeviceMapping, MemoryRange, SharedBytes};

/// One piece of memory, allocated or mapped.
pub(super) struct Piece {
    pub(super) is_control: bool,
    pub(super) range: MemoryRange,
    pub(super) bytes: DeviceMapping,
}

/// Host memory that the card reaches, and the accesses that were refused.
#[derive(Default)]
pub(super) struct HostMemory {
    pub(super) pieces: BTreeMap<u64, Piece>,
    pub(super) faults: Vec<DmaFault>,
    /// What is visible raises them.
    pub(super) interrupts: Interrupts,
}

impl HostMemory {
    fn window(&self, address: u64, bytes: usize) -> Option<SharedBytes<'_>> {
        let (&base, piece) = self.pieces.range(..=address).next_back()?;
        let (at, all) = ((address - base) as usize, piece.bytes.bytes());
        let fits = at.checked_add(bytes).is_some_and(|end| end <= all.len());
        fits.then(|| all.part(at, bytes))
    }

    /// Whether the card reaches these bytes.
    pub(super) fn holds(&self, address: u64, bytes: usize) -> bool {
        self.window(address, bytes).is_some()
    }
}

impl Memory for HostMemory {
    fn read(&mut self, address: u64, bytes: usize) -> Option<Vec<u8>> {
        self.window(address, bytes).map(|window| window.to_vec(0, bytes))
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> bool {
        match self.window(address, bytes.len()) {
            Some(window) => window.write(0, bytes),
            None => {
                self.faults.push(DmaFault { address });
                return false;
            }
        }
        self.interrupts.note_write(address, bytes);
        true
    }
}
