//! Translation of bus addresses, page by page, with rights.
//!
//! ```text
//!   map(bus, len, memory, offset, rights)
//!   translate(bus, len, write) -> (memory, offset) or refusal
//! ```
//!
//! Invariants:
//! 1. mappings are aligned to [`PAGE_BYTES`] and never overlap;
//! 2. a translation lies within one mapping: no TLP can reach past it.
//!
//! Errors: [`IommuError`] for the host, [`Refusal`] for the bus (it goes to the fault log).

use crate::memory::{MemoryError, MemoryId};
use std::collections::BTreeMap;
use std::ops::Range;
use thiserror::Error;

/// Granularity of mappings in bytes.
pub const PAGE_BYTES: u64 = 4096;

/// What the card may do with a mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rights {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Both.
    ReadWrite,
}

impl Rights {
    fn allow(self, write: bool) -> bool {
        match self {
            Rights::ReadWrite => true,
            Rights::Write => write,
            Rights::Read => !write,
        }
    }
}

/// Why a mapping cannot be made or removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum IommuError {
    /// Address, offset or length is not a multiple of the page, or the length is zero.
    #[error("{bytes} bytes at bus address {bus_address:#x} are not whole pages")]
    Alignment {
        /// Bus address.
        bus_address: u64,
        /// Length.
        bytes: u64,
    },
    /// The range overlaps a mapping or the interrupt window.
    #[error("bus address {0:#x} is taken")]
    Overlap(u64),
    /// No mapping starts here with this length.
    #[error("nothing is mapped at bus address {0:#x} with that length")]
    NotMapped(u64),
    /// The memory is too small, or its BAR does not show it.
    #[error(transparent)]
    Memory(#[from] MemoryError),
}

/// Why an access of the card was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// No mapping covers the whole access.
    Unmapped,
    /// The mapping does not allow this direction.
    Rights,
    /// The GPU's BAR does not reach this far.
    BeyondBar,
    /// A write into the interrupt window that is not an aligned 4-byte write.
    MalformedInterrupt,
    /// The payload was poisoned.
    Poisoned,
    /// Bus mastering is off.
    NotBusMaster,
}

#[derive(Clone, Copy, Debug)]
struct Mapping {
    bytes: u64,
    memory: MemoryId,
    offset: u64,
    rights: Rights,
}

/// The table of mappings.
#[derive(Clone, Debug, Default)]
pub struct Iommu {
    mappings: BTreeMap<u64, Mapping>,
    denied: Vec<Range<u64>>,
}

impl Iommu {
    /// Maps `bytes` bytes of `memory` from `offset` on to `bus_address`.
    pub fn map(
        &mut self,
        bus_address: u64,
        bytes: u64,
        memory: MemoryId,
        offset: u64,
        rights: Rights,
    ) -> Result<(), IommuError> {
        let aligned = (bus_address | bytes | offset).is_multiple_of(PAGE_BYTES);
        let end = bus_address.checked_add(bytes);
        let (true, true, Some(end)) = (aligned, bytes > 0, end) else {
            return Err(IommuError::Alignment { bus_address, bytes });
        };
        let before = self.mappings.range(..end).next_back();
        if before.is_some_and(|(start, m)| start + m.bytes > bus_address) {
            return Err(IommuError::Overlap(bus_address));
        }
        self.mappings.insert(bus_address, Mapping { bytes, memory, offset, rights });
        Ok(())
    }

    /// Removes the mapping that starts at `bus_address` and has `bytes` bytes.
    pub fn unmap(&mut self, bus_address: u64, bytes: u64) -> Result<(), IommuError> {
        match self.mappings.get(&bus_address) {
            Some(mapping) if mapping.bytes == bytes => {
                self.mappings.remove(&bus_address);
                Ok(())
            }
            _ => Err(IommuError::NotMapped(bus_address)),
        }
    }

    /// Refuses every access of the card to these bus addresses from now on. The host still finds
    /// the memory behind them.
    pub fn deny(&mut self, bus_addresses: Range<u64>) {
        self.denied.push(bus_addresses);
    }

    /// The memory that an access of the card reaches.
    pub fn translate(
        &self,
        bus_address: u64,
        bytes: u64,
        write: bool,
    ) -> Result<(MemoryId, u64), Refusal> {
        let (start, mapping) = self.covering(bus_address, bytes).ok_or(Refusal::Unmapped)?;
        let end = bus_address + bytes;
        let hits = |denied: &Range<u64>| denied.start < end && bus_address < denied.end;
        match mapping.rights.allow(write) && !self.denied.iter().any(hits) {
            true => Ok((mapping.memory, mapping.offset + (bus_address - start))),
            false => Err(Refusal::Rights),
        }
    }

    /// The memory behind a bus address, whatever the rights of the card.
    pub fn locate(&self, bus_address: u64, bytes: u64) -> Result<(MemoryId, u64), IommuError> {
        let found = self.covering(bus_address, bytes);
        let (start, mapping) = found.ok_or(IommuError::NotMapped(bus_address))?;
        Ok((mapping.memory, mapping.offset + (bus_address - start)))
    }

    fn covering(&self, bus_address: u64, bytes: u64) -> Option<(u64, &Mapping)> {
        let (start, mapping) = self.mappings.range(..=bus_address).next_back()?;
        let inside = bus_address - start;
        (inside < mapping.bytes && bytes <= mapping.bytes - inside).then_some((*start, mapping))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map_pages() -> Iommu {
        let mut iommu = Iommu::default();
        iommu.map(0x10000, 0x2000, MemoryId::Dram, 0x4000, Rights::Read).unwrap();
        iommu
    }

    #[test]
    fn access_lies_inside_one_permitted_mapping() {
        let iommu = map_pages();
        assert_eq!(iommu.translate(0x11ffc, 4, false), Ok((MemoryId::Dram, 0x5ffc)));
        assert_eq!(iommu.translate(0x11ffc, 8, false), Err(Refusal::Unmapped));
        assert_eq!(iommu.translate(0xfffc, 4, false), Err(Refusal::Unmapped));
        assert_eq!(iommu.translate(0x10000, 4, true), Err(Refusal::Rights));
        assert_eq!(iommu.locate(0x10004, 4), Ok((MemoryId::Dram, 0x4004)));
    }

    #[test]
    fn denied_bytes_remain_for_the_host() {
        let mut iommu = map_pages();
        iommu.deny(0x11000..0x11800);
        assert_eq!(iommu.translate(0x11000, 4, false), Err(Refusal::Rights));
        assert_eq!(iommu.translate(0x10ffc, 8, false), Err(Refusal::Rights));
        assert!(iommu.translate(0x10ffc, 4, false).is_ok());
        assert!(iommu.translate(0x11800, 4, false).is_ok());
        assert!(iommu.locate(0x11000, 4).is_ok());
    }

    #[test]
    fn overlap_and_alignment_are_errors() {
        let mut iommu = map_pages();
        let mut map = |bus, bytes| iommu.map(bus, bytes, MemoryId::Dram, 0, Rights::Write);
        assert_eq!(map(0x11000, 0x1000), Err(IommuError::Overlap(0x11000)));
        assert_eq!(map(0xf000, 0x2000), Err(IommuError::Overlap(0xf000)));
        assert_eq!(map(0xf000, 0x1000), Ok(()));
        let alignment = IommuError::Alignment { bus_address: 0x800, bytes: 0x1000 };
        assert_eq!(map(0x800, 0x1000), Err(alignment));
    }

    #[test]
    fn unmap_needs_the_exact_mapping() {
        let mut iommu = map_pages();
        assert_eq!(iommu.unmap(0x10000, 0x1000), Err(IommuError::NotMapped(0x10000)));
        assert_eq!(iommu.unmap(0x10000, 0x2000), Ok(()));
        assert_eq!(iommu.translate(0x10000, 4, false), Err(Refusal::Unmapped));
    }
}
