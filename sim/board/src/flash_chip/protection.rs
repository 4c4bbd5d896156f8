//! What a flash chip does not let be changed.
//!
//! ```text
//!   status register, bits 6, 4:2 ─► how many sectors, 5 ─► from which end ─┬─► refused
//!   lock bits of sectors ──────────────────────────────────────────────────┘
//! ```

use std::collections::BTreeSet;
use std::ops::Range;

use super::memory::SECTOR_BYTES;

/// Bits of the status register that outlive the power.
const KEPT: u8 = 0xfc;
/// Bit of the flag status register: something protected was to be changed.
const REFUSED: u8 = 1 << 1;
/// Bit of the flag status register: a program failed.
const PROGRAM_FAILED: u8 = 1 << 4;
/// Bit of the flag status register: an erase failed.
const ERASE_FAILED: u8 = 1 << 5;

/// The protection of a chip.
#[derive(Clone, Debug, Default)]
pub struct Protection {
    status: u8,
    locked: BTreeSet<u32>,
    failures: u8,
}

impl Protection {
    /// Its bits of the status register.
    pub fn status(&self) -> u8 {
        self.status
    }

    /// Its bits of the flag status register.
    pub fn failures(&self) -> u8 {
        self.failures
    }

    /// Writes the status register.
    pub fn set(&mut self, status: u8) {
        self.status = status & KEPT;
    }

    /// Locks the sector of an address.
    pub fn lock(&mut self, address: u32) {
        self.locked.insert(address / SECTOR_BYTES);
    }

    /// Forgets failures.
    pub fn clear_failures(&mut self) {
        self.failures = 0;
    }

    /// Power-up and reset.
    pub fn restart(&mut self) {
        self.locked.clear();
        self.failures = 0;
    }

    /// What the status register protects of a chip of so many bytes.
    fn range(&self, size_bytes: u32) -> Range<u32> {
        let number = self.status >> 2 & 7 | self.status >> 3 & 8;
        let sectors = size_bytes / SECTOR_BYTES;
        let count = match number {
            0 => 0,
            number => sectors.min(1 << (number - 1)),
        };
        match self.status & 0x20 {
            0 => (sectors - count) * SECTOR_BYTES..size_bytes,
            _ => 0..count * SECTOR_BYTES,
        }
    }

    /// Whether a change of `bytes` from `first` on is refused; remembers that it was.
    pub fn refuses(&mut self, first: u32, bytes: u32, size_bytes: u32, is_program: bool) -> bool {
        let (last, range) = (first + (bytes - 1), self.range(size_bytes));
        let mut locked = self.locked.range(first / SECTOR_BYTES..=last / SECTOR_BYTES);
        let refused = (first < range.end && range.start <= last) || locked.next().is_some();
        if refused {
            self.failures |= REFUSED | if is_program { PROGRAM_FAILED } else { ERASE_FAILED };
        }
        refused
    }
}
