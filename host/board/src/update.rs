//! The order of an update: whenever it is interrupted, the device finds an image that it can load.
//!
//! ```text
//!   erase the first block of each chip      from here on: no sync word, the golden image boots
//!   erase, program, verify the rest
//!   program, verify the first blocks        the page with the sync word last of all
//!                                           from here on: the new image boots
//! ```
//! An interrupted erase or program leaves its own unit in any state. The device takes an image only
//! if the sync word and every byte behind it are right (its CRC), and loads the golden one
//! otherwise; so what is between is at worst a slow start.
//!
//! Invariants:
//! 1. While a byte of the rest is not as it will be, the block with the sync word is erased.
//! 2. Nothing below the slot is named, and no unit that reaches below it.

use std::fmt;
use std::ops::Range;

use abi::window::{FLASH_BLOCK_BYTES, FLASH_PAGE_BYTES, FLASH_SECTOR_BYTES};
use thiserror::Error;

use crate::flash::{Flash, FlashError, Layout, PAGE_BYTES};
use crate::window::Window;

/// What is done to a range of a chip, addresses in the chip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Erases it.
    Erase(u32, Range<u32>),
    /// Programs it, the last page first.
    Program(u32, Range<u32>),
    /// Reads it back and compares.
    Verify(u32, Range<u32>),
}

impl Step {
    fn chip_and_range(&self) -> (u32, &Range<u32>) {
        match self {
            Step::Erase(chip, range) | Step::Program(chip, range) | Step::Verify(chip, range) => {
                (*chip, range)
            }
        }
    }

    /// Bytes that it works on.
    pub fn bytes(&self) -> u64 {
        self.chip_and_range().1.len() as u64
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self {
            Step::Erase(..) => "erase  ",
            Step::Program(..) => "program",
            Step::Verify(..) => "verify ",
        };
        let (chip, range) = self.chip_and_range();
        let bytes = range.len();
        write!(f, "{what} chip {chip} from 0x{:08x}, {bytes} bytes", range.start)
    }
}

/// Why an update did not come to its end.
#[derive(Debug, Error)]
pub enum UpdateError {
    /// The flash did not do it.
    #[error(transparent)]
    Flash(#[from] FlashError),
    /// The card's flash is not that of the board.
    #[error("the card has {found:?}, to be {expected:?}")]
    Layout {
        /// What the card says.
        found: Layout,
        /// What the board has.
        expected: Layout,
    },
    /// No chip answers.
    #[error(
        "chip {chip} does not answer, or does not end what it does: its name is {identity:02x?}"
    )]
    NoChip {
        /// The chip.
        chip: u32,
        /// Its three bytes.
        identity: [u8; 3],
    },
    /// What was read is not what was written.
    #[error("chip {chip} has 0x{found:02x} at 0x{address:08x}, 0x{expected:02x} was written")]
    Verify {
        /// The chip.
        chip: u32,
        /// Where, bytes.
        address: u32,
        /// What is there.
        found: u8,
        /// What was written.
        expected: u8,
    },
}

/// The steps of an update with these contents of each chip's slot.
pub fn steps(contents: &[Vec<u8>], slot: u32) -> Vec<Step> {
    let chips = || 0..contents.len() as u32;
    let first = slot..slot + FLASH_BLOCK_BYTES;
    let mut steps: Vec<Step> = chips().map(|chip| Step::Erase(chip, first.clone())).collect();
    for (chip, contents) in chips().zip(contents) {
        let blocks = (contents.len() as u32).div_ceil(FLASH_BLOCK_BYTES);
        let rest = first.end..slot + blocks.max(1) * FLASH_BLOCK_BYTES;
        if !rest.is_empty() {
            steps.push(Step::Erase(chip, rest.clone()));
            steps.push(Step::Program(chip, rest.clone()));
            steps.push(Step::Verify(chip, rest));
        }
    }
    // The sync word is in the first chip.
    for chip in chips().rev() {
        steps.push(Step::Program(chip, first.clone()));
        steps.push(Step::Verify(chip, first.clone()));
    }
    steps
}

/// Asserts that the card has the board's flash, that its chips answer and rest, and that they do
/// not protect what these contents of their slots take.
pub fn prepare(
    window: &mut impl Window,
    expected: Layout,
    contents: &[Vec<u8>],
) -> Result<(), UpdateError> {
    let mut flash = Flash::open(window)?;
    let found = flash.layout();
    if found != expected {
        return Err(UpdateError::Layout { found, expected });
    }
    for chip in 0..found.chips {
        // Where there is no chip, its status reads as busy as well.
        let settled = flash.settle(chip);
        let identity = flash.identify(chip)?;
        if [[0; 3], [0xff; 3]].contains(&identity) {
            return Err(UpdateError::NoChip { chip, identity });
        }
        settled?;
        let bytes = contents.get(chip as usize).map_or(0, Vec::len) as u32;
        let taken = bytes.div_ceil(FLASH_BLOCK_BYTES).max(1) * FLASH_BLOCK_BYTES;
        flash.check_protection(chip, found.slot..found.slot + taken)?;
    }
    Ok(())
}

/// Carries a step out; `progress` hears of bytes that are done.
pub fn carry_out(
    window: &mut impl Window,
    step: &Step,
    contents: &[Vec<u8>],
    mut progress: impl FnMut(u64),
) -> Result<(), UpdateError> {
    let mut flash = Flash::open(window)?;
    let slot = flash.layout().slot;
    let (chip, range) = step.chip_and_range();
    let contents = contents.get(chip as usize).map_or(&[][..], Vec::as_slice);
    let pages = || range.clone().step_by(PAGE_BYTES);
    match step {
        Step::Erase(..) => {
            let mut at = range.start;
            while at < range.end {
                // A sector must be in the range as a whole.
                let is_whole =
                    at.is_multiple_of(FLASH_SECTOR_BYTES) && range.end - at >= FLASH_SECTOR_BYTES;
                at += if is_whole {
                    flash.erase_sector(chip, at)?;
                    FLASH_SECTOR_BYTES
                } else {
                    flash.erase_block(chip, at)?;
                    FLASH_BLOCK_BYTES
                };
                progress(u64::from(at - range.start));
            }
        }
        Step::Program(..) => {
            for address in pages().rev() {
                let page = page_of(contents, address - slot);
                if page != [0xff; PAGE_BYTES] {
                    flash.program_page(chip, address, &page)?;
                }
                progress(u64::from(range.end - address));
            }
        }
        Step::Verify(..) => {
            for address in pages() {
                let expected = page_of(contents, address - slot);
                let found = flash.read_page(chip, address)?;
                let mut pairs = (address..).zip(expected.into_iter().zip(found));
                if let Some((address, (expected, found))) = pairs.find(|(_, pair)| pair.0 != pair.1)
                {
                    return Err(UpdateError::Verify { chip, address, found, expected });
                }
                progress(u64::from(address - range.start + FLASH_PAGE_BYTES));
            }
        }
    }
    Ok(())
}

/// A page of the slot; what is behind the contents is erased.
fn page_of(contents: &[u8], offset: u32) -> [u8; PAGE_BYTES] {
    let mut page = [0xff; PAGE_BYTES];
    let rest = contents.get(offset as usize..).unwrap_or(&[]);
    let bytes = rest.len().min(PAGE_BYTES);
    page[..bytes].copy_from_slice(&rest[..bytes]);
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_block_is_erased_first_written_last() {
        let slot = 0x0100_2000;
        let contents = vec![vec![0; 0x1801]; 2];
        let (first, rest) = (slot..slot + 0x1000, slot + 0x1000..slot + 0x2000);
        let expected = [
            Step::Erase(0, first.clone()),
            Step::Erase(1, first.clone()),
            Step::Erase(0, rest.clone()),
            Step::Program(0, rest.clone()),
            Step::Verify(0, rest.clone()),
            Step::Erase(1, rest.clone()),
            Step::Program(1, rest.clone()),
            Step::Verify(1, rest),
            Step::Program(1, first.clone()),
            Step::Verify(1, first.clone()),
            Step::Program(0, first.clone()),
            Step::Verify(0, first.clone()),
        ];
        assert_eq!(steps(&contents, slot), expected);
        let small = [
            Step::Erase(0, first.clone()),
            Step::Program(0, first.clone()),
            Step::Verify(0, first),
        ];
        assert_eq!(steps(&[vec![0; 300]], slot), small);
    }
}
