//! Reads registers, and notices a card that is gone.
//!
//! ```text
//!   read ─ all ones? ─► id: all ones as well ─► gone
//! ```
//! A read that nothing answers returns ones on most machines: the card lost its power or its link,
//! or was taken out. A counter may read so for once; the id never does.

use abi::registers;

use super::bus::Bus;
use super::error::{DriverError, Result};

/// What a read returns that nothing answers.
const NOTHING: u32 = u32::MAX;

/// Reads a register of a card that is there.
pub(super) fn read(bus: &mut dyn Bus, offset: u32) -> Result<u32> {
    let word = bus.read_register(offset)?;
    if word == NOTHING && bus.read_register(registers::ID)? == NOTHING {
        return Err(DriverError::Gone);
    }
    Ok(word)
}
