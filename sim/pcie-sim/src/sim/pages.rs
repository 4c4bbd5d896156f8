//! Pages of host DRAM that programs bring and take away again.

use super::PcieSim;
use crate::memory::{MemoryBytes, MemoryId};

impl PcieSim {
    /// Adds pages of host DRAM that a program has brought, to be mapped with [`PcieSim::map`].
    pub fn attach(&mut self, bytes: MemoryBytes) -> MemoryId {
        self.root.memories.attach(bytes)
    }

    /// Gives such pages back, after they were unmapped. Reads of the card that were translated
    /// before return ones.
    pub fn detach(&mut self, memory: MemoryId) {
        self.root.memories.detach(memory);
    }
}
