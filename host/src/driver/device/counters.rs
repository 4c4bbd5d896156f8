//! Reads the counters of a card.
//!
//! ```text
//!   low word ─► latches the high one ─► 64 bits
//! ```

use abi::counters as n;
use abi::reason::{Disposition, DropReason, SendError};

use super::Device;
use crate::driver::bus::Bus;
use crate::driver::error::Result;
use crate::driver::read::read;

impl<B: Bus> Device<B> {
    /// Packets by disposition and by drop reason, failed sends, and the counters of each stage
    /// since power-up; then the peaks of this epoch. Names and meanings are in `abi::counters`.
    pub fn counters(&mut self) -> Result<Vec<(&'static str, u64)>> {
        let mut counters = Vec::new();
        for &code in Disposition::ALL {
            let at = n::COUNTERS_DISPOSITION + 8 * code as u32;
            counters.push((code.name(), self.read_counter(at)?));
        }
        for &code in DropReason::ALL {
            counters.push((code.name(), self.dropped(code)?));
        }
        for &code in SendError::ALL {
            let at = n::COUNTERS_SEND_ERROR + 8 * code as u32;
            counters.push((code.name(), self.read_counter(at)?));
        }
        let info = read(&mut self.bus, n::COUNTERS_INFO)?;
        for (at, counter) in n::stage_counters(info & 0xff, info >> 8 & 0xff) {
            counters.push((counter.name, self.read_counter(at)?));
        }
        Ok(counters)
    }

    /// Packets dropped for this reason since power-up: two reads, where all counters take hundreds.
    pub fn dropped(&mut self, reason: DropReason) -> Result<u64> {
        self.read_counter(n::COUNTERS_DROP + 8 * reason as u32)
    }

    fn read_counter(&mut self, offset: u32) -> Result<u64> {
        // Reading the low word latches the high one.
        let low = read(&mut self.bus, offset)?;
        let high = read(&mut self.bus, offset + 4)?;
        Ok(u64::from(high) << 32 | u64::from(low))
    }
}
