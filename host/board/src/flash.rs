//! The configuration flash, by the flash block of the board window.
//!
//! ```text
//!   address, command ─► busy? refused? ─► page
//!   erase, program ───► status of the chip until it is done
//! ```
//! Invariants:
//! 1. The block refuses what is below the slot; this driver does not look, so that it is the block
//!    that is relied on.
//! 2. Every wait has an end.
//! 3. What a chip has not carried out is an error that names its status register.
//!
//! A chip protects blocks by bits of its status register, which nothing but a programmer at a cable
//! can write: the card sends no such command, so that no program on the host can take away what
//! somebody has protected.
//!
//! Source: `abi::window`; data sheet of the MT25QU01G for times, status register and protection.

use std::ops::Range;
use std::time::Duration;

use abi::window::{
    BlockKind, FlashOperation, FLASH_ADDRESS, FLASH_BLOCK_BYTES, FLASH_BUSY, FLASH_CHIP,
    FLASH_CHIPS, FLASH_CHIP_STATUS, FLASH_COMMAND, FLASH_OPERATION, FLASH_PAGE, FLASH_PAGE_BYTES,
    FLASH_PAGE_WORDS, FLASH_REFUSED, FLASH_SECTOR_BYTES, FLASH_SIZE, FLASH_SLOT, FLASH_STATUS,
};
use thiserror::Error;

use crate::window::{
    field, find, read, read_word, write, write_words, Place, Wait, Window, WindowError,
};

/// Bytes of a page.
pub const PAGE_BYTES: usize = FLASH_PAGE_BYTES as usize;

/// How long the block may be busy with one operation: a page of 256 bytes over one line.
const OPERATION_WAIT: Wait =
    Wait { limit: Duration::from_millis(10), step: Duration::from_micros(5) };
/// How long a chip may take, three times the most that its data sheet says, and how often it is
/// looked at.
const PROGRAM_WAIT: Wait =
    Wait { limit: Duration::from_millis(6), step: Duration::from_micros(20) };
const BLOCK_WAIT: Wait =
    Wait { limit: Duration::from_millis(1200), step: Duration::from_micros(500) };
const SECTOR_WAIT: Wait = Wait { limit: Duration::from_secs(3), step: Duration::from_millis(1) };

/// Bit of the chip's status: it erases or programs.
const CHIP_BUSY: u32 = 1;
/// Bit of the chip's status: write enable. It ends with what it was for; where that was refused, it
/// stays.
const CHIP_ENABLED: u32 = 1 << 1;
/// Bit of the chip's status: blocks are protected from the bottom on; otherwise from the top.
const CHIP_FROM_BOTTOM: u32 = 1 << 5;

/// The bytes of a chip that its status register protects from program and erase.
///
/// Bits 6, 4, 3 and 2 are a number: 0 protects nothing, n protects 2^(n-1) sectors, at most all.
pub fn protected_range(status: u32, size_bytes: u32) -> Range<u32> {
    let number = (status >> 2 & 7) | (status >> 6 & 1) << 3;
    let sectors = match number {
        0 => 0,
        number => 1u32 << (number - 1),
    };
    let bytes = sectors.saturating_mul(FLASH_SECTOR_BYTES).min(size_bytes);
    match status & CHIP_FROM_BOTTOM {
        0 => size_bytes - bytes..size_bytes,
        _ => 0..bytes,
    }
}

/// Why the flash did not do it.
#[derive(Debug, Error)]
pub enum FlashError {
    /// The window does not answer.
    #[error(transparent)]
    Window(#[from] WindowError),
    /// The block does not do that there.
    #[error("the card refused {operation:?} of chip {chip} at 0x{address:08x}")]
    Refused {
        /// What was asked.
        operation: FlashOperation,
        /// The chip.
        chip: u32,
        /// Where, bytes.
        address: u32,
    },
    /// The block or the chip does not end.
    #[error("{operation:?} of chip {chip} at 0x{address:08x} runs for more than {limit:?}")]
    Busy {
        /// What was asked.
        operation: FlashOperation,
        /// The chip.
        chip: u32,
        /// Where, bytes.
        address: u32,
        /// How long it was waited for.
        limit: Duration,
    },
    /// The chip's status register protects what is to be changed.
    #[error(
        "chip {chip} protects 0x{:08x} to 0x{:08x} from {operation:?} at 0x{address:08x}: its \
         status register is 0x{status:02x}, and bits 6 and 4:2 of it (how much) and 5 (from which \
         end) must be cleared over a cable, as the card does not write this register",
        range.start,
        range.end - 1
    )]
    Protected {
        /// What was asked, or would have been.
        operation: FlashOperation,
        /// The chip.
        chip: u32,
        /// Where, bytes.
        address: u32,
        /// Its status register.
        status: u32,
        /// What it protects.
        range: Range<u32>,
    },
    /// The chip has not carried it out, and its status register says no reason.
    #[error(
        "chip {chip} did not carry {operation:?} at 0x{address:08x} out: its status register is \
         0x{status:02x}, with the write enable still set (bit 1). No bit of it protects this \
         place: look for a lock of its sector, over a cable"
    )]
    Locked {
        /// What was asked.
        operation: FlashOperation,
        /// The chip.
        chip: u32,
        /// Where, bytes.
        address: u32,
        /// Its status register.
        status: u32,
    },
    /// What the block says of itself cannot be.
    #[error("the card says {chips} chips of {size} bytes, slot at 0x{slot:08x}")]
    Layout {
        /// Chips.
        chips: u32,
        /// Bytes of each.
        size: u32,
        /// First byte of the slot in each.
        slot: u32,
    },
}

/// How the flash is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Chips.
    pub chips: u32,
    /// Bytes of each chip.
    pub size_bytes: u32,
    /// First byte of the user's slot in each chip.
    pub slot: u32,
}

/// The flash of a board.
pub struct Flash<'a, W> {
    window: &'a mut W,
    place: Place,
    layout: Layout,
}

impl<'a, W: Window> Flash<'a, W> {
    /// Finds the flash block.
    pub fn open(window: &'a mut W) -> Result<Self, FlashError> {
        let place = find(window, BlockKind::Flash)?;
        let layout = Layout {
            chips: read_word(window, place, FLASH_CHIPS)?,
            size_bytes: read_word(window, place, FLASH_SIZE)?,
            slot: read_word(window, place, FLASH_SLOT)?,
        };
        if !(1..=2).contains(&layout.chips) || layout.slot >= layout.size_bytes {
            return Err(FlashError::Layout {
                chips: layout.chips,
                size: layout.size_bytes,
                slot: layout.slot,
            });
        }
        Ok(Self { window, place, layout })
    }

    /// How it is laid out.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// The chip's three bytes of identification.
    pub fn identify(&mut self, chip: u32) -> Result<[u8; 3], FlashError> {
        self.operate(FlashOperation::Identify, chip, 0)?;
        let [first, second, third, _] = self.word(FLASH_PAGE)?.to_le_bytes();
        Ok([first, second, third])
    }

    /// The page that holds an address.
    pub fn read_page(&mut self, chip: u32, address: u32) -> Result<[u8; PAGE_BYTES], FlashError> {
        self.operate(FlashOperation::Read, chip, address)?;
        let mut page = [0; PAGE_BYTES];
        for (word, bytes) in (0..FLASH_PAGE_WORDS).zip(page.chunks_exact_mut(4)) {
            bytes.copy_from_slice(&self.word(FLASH_PAGE + word)?.to_le_bytes());
        }
        Ok(page)
    }

    /// Programs the page that holds an address.
    pub fn program_page(
        &mut self,
        chip: u32,
        address: u32,
        page: &[u8; PAGE_BYTES],
    ) -> Result<(), FlashError> {
        let words = page.chunks_exact(4).map(|bytes| {
            let bytes = bytes.iter().rev();
            bytes.fold(0, |word, byte| word << 8 | u32::from(*byte))
        });
        let words: Vec<u32> = words.collect();
        write_words(self.window, self.place, FLASH_PAGE, &words)?;
        self.change(FlashOperation::Program, chip, address, PROGRAM_WAIT)
    }

    /// Erases the 4 KiB that hold an address.
    pub fn erase_block(&mut self, chip: u32, address: u32) -> Result<(), FlashError> {
        self.change(FlashOperation::EraseBlock, chip, address, BLOCK_WAIT)
    }

    /// Erases the 64 KiB that hold an address.
    pub fn erase_sector(&mut self, chip: u32, address: u32) -> Result<(), FlashError> {
        self.change(FlashOperation::EraseSector, chip, address, SECTOR_WAIT)
    }

    /// Waits until block and chip rest: what somebody had begun before he was interrupted may still
    /// run. The chip's status register then.
    pub fn settle(&mut self, chip: u32) -> Result<u32, FlashError> {
        self.wait_for_block(FlashOperation::Status, chip, 0)?;
        self.wait_for_chip(FlashOperation::Status, chip, 0, SECTOR_WAIT)
    }

    /// Refuses what a chip protects, before anything is erased.
    pub fn check_protection(&mut self, chip: u32, range: Range<u32>) -> Result<(), FlashError> {
        let status = self.settle(chip)?;
        self.refuse_protected(FlashOperation::EraseBlock, chip, range, status)
    }

    fn refuse_protected(
        &self,
        operation: FlashOperation,
        chip: u32,
        unit: Range<u32>,
        status: u32,
    ) -> Result<(), FlashError> {
        let range = protected_range(status, self.layout.size_bytes);
        if unit.start >= range.end || range.start >= unit.end {
            return Ok(());
        }
        let address = unit.start.max(range.start);
        Err(FlashError::Protected { operation, chip, address, status, range })
    }

    fn pause(&mut self, time: Duration) {
        self.window.wait(time);
    }

    fn word(&mut self, word: u32) -> Result<u32, FlashError> {
        Ok(read(self.window, self.place, word)?)
    }

    /// An operation that changes the chip, to its end.
    fn change(
        &mut self,
        operation: FlashOperation,
        chip: u32,
        address: u32,
        wait: Wait,
    ) -> Result<(), FlashError> {
        self.operate(operation, chip, address)?;
        let status = self.wait_for_chip(operation, chip, address, wait)?;
        if status & CHIP_ENABLED == 0 {
            return Ok(());
        }
        let bytes = match operation {
            FlashOperation::EraseBlock => FLASH_BLOCK_BYTES,
            FlashOperation::EraseSector => FLASH_SECTOR_BYTES,
            _ => FLASH_PAGE_BYTES,
        };
        let first = address - address % bytes;
        self.refuse_protected(operation, chip, first..first + bytes, status)?;
        Err(FlashError::Locked { operation, chip, address, status })
    }

    /// Waits until the chip rests; its status register then.
    fn wait_for_chip(
        &mut self,
        operation: FlashOperation,
        chip: u32,
        address: u32,
        wait: Wait,
    ) -> Result<u32, FlashError> {
        let look = |flash: &mut Self| -> Result<Option<u32>, FlashError> {
            let status = flash.operate(FlashOperation::Status, chip, address)?;
            let status = field(status, FLASH_CHIP_STATUS);
            Ok((status & CHIP_BUSY == 0).then_some(status))
        };
        let rests = wait.until(self, Self::pause, look)?;
        rests.ok_or(FlashError::Busy { operation, chip, address, limit: wait.limit })
    }

    /// One operation of the block; the status word behind it.
    fn operate(
        &mut self,
        operation: FlashOperation,
        chip: u32,
        address: u32,
    ) -> Result<u32, FlashError> {
        write(self.window, self.place, FLASH_ADDRESS, address)?;
        let mut command = [0; 4];
        FLASH_OPERATION.set(&mut command, operation as u64);
        FLASH_CHIP.set(&mut command, u64::from(chip & 1));
        let command = u32::from_le_bytes(command);
        write(self.window, self.place, FLASH_COMMAND, command)?;
        let status = self.wait_for_block(operation, chip, address)?;
        if field(status, FLASH_REFUSED) == 1 {
            return Err(FlashError::Refused { operation, chip, address });
        }
        Ok(status)
    }

    /// Waits until the block is not busy; its status word then.
    fn wait_for_block(
        &mut self,
        operation: FlashOperation,
        chip: u32,
        address: u32,
    ) -> Result<u32, FlashError> {
        let look = |flash: &mut Self| -> Result<Option<u32>, FlashError> {
            let status = read_word(flash.window, flash.place, FLASH_STATUS)?;
            Ok((field(status, FLASH_BUSY) == 0).then_some(status))
        };
        let status = OPERATION_WAIT.until(self, Self::pause, look)?;
        status.ok_or(FlashError::Busy { operation, chip, address, limit: OPERATION_WAIT.limit })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of the data sheet's tables of protected areas, for 1 Gbit.
    #[test]
    fn status_register_reports_protection() {
        let size = 128 << 20;
        for (status, range) in [
            (0x00, size..size),
            (0x20, 0..0),
            (0x04, size - 0x1_0000..size),
            (0x24, 0..0x1_0000),
            (0x08, size - 0x2_0000..size),
            (0x3c, 0..0x40_0000),
            (0x40, size - 0x80_0000..size),
            (0x4c, size / 2..size),
            (0x6c, 0..size / 2),
            (0x50, 0..size),
            (0x7c, 0..size),
            // Busy, enabled, write protection of the register.
            (0x83, size..size),
        ] {
            assert_eq!(protected_range(status, size), range, "{status:#04x}");
        }
    }
}
