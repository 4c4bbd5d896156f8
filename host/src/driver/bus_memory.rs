//! What the buses to a card have in common that choose its addresses: those, and new memory.
//!
//! ```text
//!   next(align) ─► address ─► mapped there ─► take(address, bytes) ─► the next one lies behind it
//! ```
//! Invariants
//! 1. Behind each piece lies a page that is not mapped: an overrun is refused, and lands in no
//!    neighbour.

use super::bus::{BusError, Result};
use crate::memory::{MemoryFile, MemoryRange};

/// First address that is given out.
const FIRST: u64 = 0x1_0000_0000;
const PAGE_BYTES: u64 = 4096;

/// Bus addresses, each given out once.
#[derive(Debug)]
pub struct BusAddresses {
    next: u64,
}

impl Default for BusAddresses {
    fn default() -> Self {
        Self { next: FIRST }
    }
}

impl BusAddresses {
    /// The next address of an alignment, a power of two of at least a page.
    pub fn next(&self, align_bytes: u64) -> u64 {
        self.next.next_multiple_of(align_bytes)
    }

    /// So many bytes are mapped at an address that [`BusAddresses::next`] has returned.
    pub fn take(&mut self, address: u64, bytes: usize) {
        self.next = address + (bytes as u64).next_multiple_of(PAGE_BYTES) + PAGE_BYTES;
    }
}

/// New memory, full of zeros.
pub fn new_pages(bytes: usize) -> Result<MemoryRange> {
    let pages = MemoryFile::new(bytes).and_then(|file| file.all());
    pages.map_err(|error| BusError::Device(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_lies_between_two_pieces() {
        let mut addresses = BusAddresses::default();
        let first = addresses.next(PAGE_BYTES);
        assert_eq!(addresses.next(PAGE_BYTES), first, "nothing was taken");
        addresses.take(first, 1);
        assert_eq!(addresses.next(PAGE_BYTES), first + 2 * PAGE_BYTES);
        assert_eq!(addresses.next(1 << 30) % (1 << 30), 0);
    }
}
